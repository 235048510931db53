"""A few nodes are rated one by one, many at once: both give the same scores."""

import random

import pytest

from schedctl.cache.nodes import FEW_ROWS
from schedctl.config.args import ResourceSpec
from schedctl.framework import resource_scoring
from schedctl.framework.resource_scoring import FewRows, resource_columns
from schedctl.testing.builders import cluster, node, pod

MANY = 2 * FEW_ROWS
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
def test_the_mean_of_a_few_nodes_is_that_of_many(rate, weights, minimum):
    nodes = a_cluster().nodes
    columns = resource_columns(nodes, specs(*weights), REQUESTS, minimum=minimum)
    expected = resource_scoring.weighted_mean(columns, rate, MANY).tolist()
    few = FewRows(specs(*weights), minimum=minimum)
    assert (
        few.weighted_mean(nodes.take(range(MANY - 1, MANY - FEW_ROWS - 1, -1)), REQUESTS, rate).tolist()
        == (expected[: MANY - FEW_ROWS - 1 : -1])
    )
    assert len(set(expected)) > 10


@pytest.mark.parametrize("improves", [True, False])
def test_the_balance_of_a_few_nodes_is_that_of_many(improves):
    nodes = a_cluster().nodes
    columns = resource_columns(nodes, specs(1, 1), REQUESTS, minimum=False)
    rate = resource_scoring.improvement if improves else resource_scoring.evenness
    few = FewRows(specs(1, 1), minimum=False).balance(nodes.take(range(FEW_ROWS)), REQUESTS, improves=improves)
    assert few.tolist() == rate(columns, MANY)[:FEW_ROWS].tolist()
    assert len(set(few.tolist())) > 5


@pytest.mark.parametrize(
    ("nodes", "requests"),
    [
        pytest.param(a_cluster().nodes, REQUESTS, id="many nodes"),
        pytest.param(a_cluster(memory=str(HUGE)).nodes.take([0]), REQUESTS, id="an offer that float64 may round"),
        pytest.param(a_cluster().nodes.take([0]), {"memory": HUGE}, id="a request that float64 may round"),
        pytest.param(a_cluster(cpu="0").nodes.take([0]), REQUESTS, id="a resource that is not offered"),
        pytest.param(
            a_cluster().nodes.take([0]).hypothetical([0], [pod("more", cpu="1")], 1), REQUESTS, id="a supposed pod"
        ),
    ],
)
def test_where_there_is_more_to_it_whole_columns_are_asked_for(nodes, requests):
    few = FewRows(specs(1, 1), minimum=True)
    assert few.weighted_mean(nodes, requests, resource_scoring.least_allocated) is None
    assert few.balance(nodes, requests, improves=True) is None


def test_amounts_that_become_large_while_pods_run_are_noticed():
    c = a_cluster()
    assert not c.node_table.has_large_amounts
    with c.fork():
        c.assume(pod("large", memory=str(HUGE)), "n0")
        assert c.nodes.take([0]).numbers(("memory",)) is None
