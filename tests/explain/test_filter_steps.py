"""The search for feasible nodes step by step, and how the pods that a pod is to be spread among are spread."""

from __future__ import annotations

import pytest

from schedctl.explain.explanations import explain
from schedctl.reports.explanations import DomainPods
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import ZONE, cluster, node, pod

FENCE = [{"key": "team", "value": "a", "effect": "NoSchedule"}]


def explained(state, asked, **options):
    return explain(Scheduler(state), asked, **options)


def steps(state, asked):
    """Return what each filter that refuses a node refuses and leaves."""
    return [(step.plugin, step.refused, step.left) for step in explained(state, asked).filters if step.refused]


@pytest.mark.parametrize(
    ("nodes", "asked", "expected"),
    [
        pytest.param([node("a"), node("b")], pod(), [], id="nobody refuses a node"),
        pytest.param(
            [node("a", unschedulable=True), node("b", taints=FENCE), node("c", cpu="1"), node("d")],
            pod(cpu="2"),
            [("NodeUnschedulable", 1, 3), ("TaintToleration", 1, 2), ("NodeResourcesFit", 1, 1)],
            id="each filter refuses of what the ones before it left",
        ),
        pytest.param(
            [node("a", unschedulable=True, taints=FENCE, cpu="1")],
            pod(cpu="2"),
            [("NodeUnschedulable", 1, 0)],
            id="a node that several would refuse counts for the first",
        ),
        pytest.param(
            [node("a", cpu="1", memory="1Gi")],
            pod(cpu="2", memory="2Gi"),
            [("NodeResourcesFit", 1, 0)],
            id="a node that one refuses for two reasons counts once",
        ),
    ],
)
def test_the_nodes_that_each_filter_leaves(nodes, asked, expected):
    assert steps(cluster(*nodes), asked) == expected


def test_the_steps_end_with_the_feasible_nodes():
    answer = explained(cluster(node("a"), node("b", taints=FENCE), node("c")), pod())
    assert answer.filters[-1].left == answer.nodes.feasible == 2


def test_nodes_that_prefilter_leaves_out_are_the_first_step():
    name = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": name}}}
    answer = explained(cluster(node("a"), node("b"), node("c")), pod(affinity=affinity))
    first, *others = answer.filters
    assert (first.plugin, first.refused, first.left) == ("NodeAffinity", 2, 1)
    assert [step for step in others if step.refused] == []


def test_a_filter_that_skips_says_so():
    answer = explained(cluster(node("a")), pod())
    assert {step.plugin: step.skipped for step in answer.filters}["InterPodAffinity"]
    assert not {step.plugin: step.skipped for step in answer.filters}["NodeResourcesFit"]


def test_a_gated_pod_has_no_steps():
    answer = explained(cluster(node("a")), pod(schedulingGates=[{"name": "wait"}]))
    assert answer.filters == []
    assert answer.spread == []


def constraint(key=ZONE, skew=1, action="DoNotSchedule", **more):
    selector = {"matchLabels": {"app": "web"}}
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": action, "labelSelector": selector, **more}


def spread(*constraints, nodes=(), app="web"):
    zones = [node("a", zone="z1"), node("b", zone="z2"), node("c", zone="z3")]
    running = [pod(f"web-{number}", on=on, labels={"app": "web"}) for number, on in enumerate("aab")]
    asked = pod(labels={"app": app}, topologySpreadConstraints=[*constraints])
    return explained(cluster(*(nodes or zones), *running), asked).spread


def test_the_pods_of_each_domain_are_counted_the_fullest_first():
    (found,) = spread(constraint())
    assert found.domains == [DomainPods("z1", 2), DomainPods("z2", 1), DomainPods("z3", 0)]
    assert (found.plugin, found.topology_key, found.hard) == ("PodTopologySpread", ZONE, True)
    assert (found.max_skew, found.adds, found.minimum, found.number) == (1, 1, 0, 3)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(spread(constraint(action="ScheduleAnyway")), [("soft", 0)], id="a rule that only scores"),
        pytest.param(
            spread(constraint(), constraint("kubernetes.io/hostname", action="ScheduleAnyway")),
            [("hard", 0), ("soft", 0)],
            id="several rules, those that reject first",
        ),
        pytest.param(spread(constraint(minDomains=5)), [("hard", 0)], id="too few domains: counted from 0"),
        pytest.param(spread(), [], id="no rule"),
    ],
)
def test_rules(found, expected):
    assert [("hard" if each.hard else "soft", each.minimum) for each in found] == expected


def test_a_pod_that_the_rule_does_not_count_adds_nothing():
    (found,) = spread(constraint(), app="other")
    assert found.adds == 0


def test_of_many_domains_the_emptiest_and_the_fullest_are_told():
    nodes = [node(f"n{number:03}", zone=f"z{number:03}") for number in range(100)]
    running = [pod(f"w{number}", on=f"n{number:03}", labels={"app": "web"}) for number in range(50)]
    asked = pod(labels={"app": "web"}, topologySpreadConstraints=[constraint()])
    (found,) = explained(cluster(*nodes, *running), asked).spread
    assert found.number == 100
    assert [each.pods for each in found.domains] == [1] * 20 + [0] * 20
