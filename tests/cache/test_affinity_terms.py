"""The table of distinct terms says, at any time, what the running pods say."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.cache.affinity_terms import TermTable, carried_terms
from schedctl.cache.cluster import Cluster
from schedctl.testing.builders import ZONE, cluster, node, pod

TERM = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}

WEB = {"app": "web"}


def in_namespace(namespace):
    """Whether a term is about a pod with the labels `WEB` there."""
    return lambda term: term.matches(namespace, None, WEB)


def avoiding(*terms):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def preferring(*weighted):
    terms = [{"weight": weight, "podAffinityTerm": term} for weight, term in weighted]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def contents(table: TermTable, c: Cluster):
    """Every term with what it counts on each node, found without the index."""
    names = c.node_table.names
    return {
        carriers.term: {
            names[row]: (int(count), int(weight))
            for row, count, weight in zip(carriers.nodes, carriers.counts, carriers.weights, strict=True)
            if count
        }
        for carriers in table._carriers.values()
    }


def recounted(c: Cluster, kind: str):
    """The same, from the pods themselves."""
    found: dict = {}
    for info in c.pod_table:
        where = c.node_table.names[c.pod_table.node[c.pod_table.row_of[info.key]]]
        for each in getattr(carried_terms(info), kind):
            term, weight = each if kind.startswith("preferred") else (each, 1)
            before = found.setdefault(term, {}).get(where, (0, 0))
            found[term][where] = (before[0] + 1, before[1] + weight)
    return found


def test_equal_terms_of_many_pods_are_one():
    c = cluster(node("a"), node("b"), *(pod(f"p{i}", on="ab"[i % 2], affinity=avoiding(TERM)) for i in range(10)))
    assert len(c.affinity_terms.required_anti) == 1
    (carriers,) = c.affinity_terms.required_anti.about(WEB, in_namespace("default"))
    assert carriers.pods == 10
    assert carriers.counts.tolist() == [5, 5]


def test_a_term_belongs_to_the_namespace_of_the_pod_that_carries_it():
    c = cluster(*(pod(f"p{ns}", namespace=ns, on="a", affinity=avoiding(TERM)) for ns in "xy"), node("a"))
    assert len(c.affinity_terms.required_anti) == 2
    assert len(c.affinity_terms.required_anti.about(WEB, in_namespace("x"))) == 1


def test_a_pod_that_states_a_term_twice_counts_twice():
    c = cluster(node("a"), pod(on="a", affinity=avoiding(TERM, TERM)))
    assert [carriers.pods for carriers in c.affinity_terms.required_anti.about(WEB, in_namespace("default"))] == [2]


def test_weights_of_a_preferred_term_are_summed():
    c = cluster(node("a"), *(pod(f"p{w}", on="a", affinity=preferring((w, TERM))) for w in (3, 40)))
    (carriers,) = c.affinity_terms.preferred.about(WEB, in_namespace("default"))
    assert (carriers.counts.tolist(), carriers.weights.tolist()) == ([2], [43])


def test_a_term_nobody_carries_any_more_is_forgotten():
    info = pod(on="a", affinity=avoiding(TERM))
    c = cluster(node("a"), info)
    c.remove_pod(info)
    assert not c.affinity_terms
    assert c.affinity_terms.required_anti.about(WEB, in_namespace("default")) == []


SELECTORS = {
    "one of several values": ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}, True),
    "a value twice": ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "web"]}]}, True),
    "another value": ({"matchLabels": {"app": "db"}}, False),
    "a label that must be there": ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
    "a label that must not": ({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, True),
    "everything": ({}, True),
    "nothing, for want of a selector": (None, False),
}


@pytest.mark.parametrize(("selector", "about"), SELECTORS.values(), ids=SELECTORS)
def test_a_term_is_found_whatever_it_demands(selector, about):
    c = cluster(node("a"), pod(on="a", affinity=avoiding({"topologyKey": ZONE, "labelSelector": selector})))
    assert bool(c.affinity_terms.required_anti.about(WEB, in_namespace("default"))) is about


def test_a_list_with_a_malformed_term_counts_as_empty_and_the_others_stand():
    broken = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In"}]}}
    c = cluster(node("a"), pod(on="a", affinity={**avoiding(TERM, broken), **preferring((5, TERM))}))
    assert (len(c.affinity_terms.required_anti), len(c.affinity_terms.preferred)) == (0, 1)


def test_loading_many_pods_at_once_counts_them_all():
    many, one_by_one = cluster(node("a"), node("b")), cluster(node("a"), node("b"))
    pods = [pod(f"p{i}", on="ab"[i % 2], affinity=avoiding(TERM)) for i in range(6)]
    many.add_pods(pods)
    for info in pods:
        one_by_one.add_pod(info)
    expected = contents(one_by_one.affinity_terms.required_anti, one_by_one)
    assert contents(many.affinity_terms.required_anti, many) == expected


actions = st.lists(st.tuples(st.sampled_from(["add", "remove", "fork", "drop node"]), st.integers(0, 11)), max_size=30)


@given(actions)
def test_after_any_changes_and_forks_the_tables_say_what_the_pods_say(steps):
    c = cluster(node("a"), node("b"), node("c"))
    other = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}

    def run(steps):
        for number, (action, i) in enumerate(steps):
            pods, names = list(c.pod_table), sorted(c.node_table.row_of)
            if action == "add" and names:
                affinity = [avoiding(TERM), avoiding(TERM, other), preferring((i, TERM)), None][i % 4]
                c.add_pod(pod(f"p-{len(steps)}-{number}", on=names[i % len(names)], affinity=affinity))
            elif action == "remove" and pods:
                c.remove_pod(pods[i % len(pods)])
            elif action == "drop node" and names:
                c.remove_node(names[i % len(names)])
            elif action == "fork":
                with c.fork():
                    run(steps[number + 1 :])
                return

    run(steps)
    for kind in ("required_anti", "preferred"):
        assert contents(getattr(c.affinity_terms, kind), c) == recounted(c, kind)
    assert Counter(len(table) for table in (c.affinity_terms.required, c.affinity_terms.preferred_anti)) == {0: 2}
