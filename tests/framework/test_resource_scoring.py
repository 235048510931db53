"""A few nodes are rated one by one, some at once, all by columns: each gives the same scores."""

import random

import pytest

from schedctl.config.args import ResourceSpec
from schedctl.framework import resource_scoring
from schedctl.framework.resource_scoring import FEW_ROWS, PlainResources, resource_columns
from schedctl.testing.builders import cluster, node, pod

MANY = 8 * FEW_ROWS
SOME = [1, FEW_ROWS, FEW_ROWS + 1, MANY - 1]
"""Of how many nodes."""
HUGE = 2**53


def a_cluster(seed=0, **node_0):
    """Nodes of which pods have taken little, much, or more than there is, and containers that ask for nothing."""
    chance = random.Random(seed)

    def offer():
        return {"cpu": f"{chance.choice((1, 3, 4000, 32000))}m", "memory": f"{chance.choice((1, 2**20 + 7, 2**35))}"}

    def request():
        return (
            {"cpu": f"{chance.randrange(6000)}m", "memory": f"{chance.randrange(2**33)}"}
            if chance.random() < 0.8
            else {}
        )

    nodes = [node(f"n{i}", **(offer() | (node_0 if not i else {}))) for i in range(MANY)]
    return cluster(*nodes, *(pod(f"p{i}", on=f"n{i % MANY}", **request()) for i in range(2 * MANY)))


def specs(*weights):
    return [ResourceSpec(name=name, weight=weight) for name, weight in zip(("cpu", "memory"), weights, strict=True)]


REQUESTS = {"cpu": 700, "memory": 2**31 + 5}


@pytest.mark.parametrize("minimum", [True, False])
@pytest.mark.parametrize("weights", [(1, 1), (3, 2)])
@pytest.mark.parametrize("rate", [resource_scoring.least_allocated, resource_scoring.most_allocated])
@pytest.mark.parametrize("some", SOME)
def test_the_mean_of_some_nodes_is_that_of_all(some, rate, weights, minimum):
    nodes = a_cluster().nodes
    columns = resource_columns(nodes, specs(*weights), REQUESTS, minimum=minimum)
    expected = resource_scoring.weighted_mean(columns, rate, MANY).tolist()
    plain = PlainResources(specs(*weights), minimum=minimum)
    backwards = range(MANY - 1, MANY - some - 1, -1)
    assert plain.weighted_mean(nodes.take(backwards), REQUESTS, rate).tolist() == [expected[i] for i in backwards]
    assert plain.weighted_mean(nodes, REQUESTS, rate).tolist() == expected
    assert len(set(expected)) > 10


@pytest.mark.parametrize("improves", [True, False])
@pytest.mark.parametrize("some", SOME)
def test_the_balance_of_some_nodes_is_that_of_all(some, improves):
    nodes = a_cluster().nodes
    columns = resource_columns(nodes, specs(1, 1), REQUESTS, minimum=False)
    rate = resource_scoring.improvement if improves else resource_scoring.evenness
    expected = rate(columns, MANY).tolist()
    plain = PlainResources(specs(1, 1), minimum=False)
    assert plain.balance(nodes.take(range(some)), REQUESTS, improves=improves).tolist() == expected[:some]
    assert plain.balance(nodes, REQUESTS, improves=improves).tolist() == expected
    assert len(set(expected)) > 5


@pytest.mark.parametrize(
    ("nodes", "requests"),
    [
        pytest.param(a_cluster(memory=str(HUGE)).nodes.take([0]), REQUESTS, id="an offer that float64 may round"),
        pytest.param(a_cluster().nodes.take([0]), {"memory": HUGE}, id="a request that float64 may round"),
        pytest.param(a_cluster(cpu="0").nodes.take([0]), REQUESTS, id="a resource that is not offered"),
        pytest.param(
            a_cluster().nodes.take([0]).hypothetical([0], [pod("more", cpu="1")], 1), REQUESTS, id="a supposed pod"
        ),
    ],
)
def test_where_there_is_more_to_it_resources_are_rated_column_by_column(nodes, requests):
    plain = PlainResources(specs(1, 1), minimum=True)
    assert plain.weighted_mean(nodes, requests, resource_scoring.least_allocated) is None
    assert plain.balance(nodes, requests, improves=True) is None


def test_amounts_that_become_large_while_pods_run_are_noticed():
    c = a_cluster()
    assert not c.node_table.has_large_amounts
    with c.fork():
        c.assume(pod("large", memory=str(HUGE)), "n0")
        assert c.nodes.take([0]).amounts(("memory",)) is None
