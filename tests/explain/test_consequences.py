"""What a fix would cause besides: spreads that are lost, and pods that lose their place."""

import pytest

from schedctl.api.meta import LabelSelector, ObjectMeta
from schedctl.api.policies import PodDisruptionBudget, PodDisruptionBudgetSpec
from schedctl.api.topology import ZONE
from schedctl.testing.builders import cluster, node, pod


def spread(when="DoNotSchedule", **labels):
    selector = {"matchLabels": labels}
    return [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": when, "labelSelector": selector}]


def owned_by(kind, name):
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "1", "controller": True}
    return {"ownerReferences": [reference]}


def repelled_by(**labels):
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": labels}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def web(name, when, **options):
    constraints = spread(when, app="web")
    return pod(
        name,
        labels={"app": "web"},
        metadata=owned_by("StatefulSet", "web"),
        topologySpreadConstraints=constraints,
        **options,
    )


@pytest.mark.parametrize(
    ("objects", "subject", "fix", "consequences"),
    [
        pytest.param(
            [node("a", zone="x"), node("b", zone="y", cpu="1"), web("web-0", "DoNotSchedule", on="a")],
            web("web-1", "DoNotSchedule", cpu="2"),
            f"would fit on a if maxSkew over {ZONE} is 2",
            [f"StatefulSet default/web has skew 2 over {ZONE} (maxSkew 1)"],
            id="the pod's own workload loses its spread where more skew is allowed",
        ),
        pytest.param(
            [
                node("a", zone="x"),
                node("b", zone="y", taints=[{"key": "team", "effect": "NoSchedule"}]),
                web("web-0", "DoNotSchedule", on="a"),
            ],
            web("web-1", "DoNotSchedule"),
            f"would fit on a if the spread over {ZONE} has `nodeTaintsPolicy: Honor`",
            [],
            id="a spread that leaves reserved nodes out is kept",
        ),
        pytest.param(
            [node("a", zone="x", cpu="1"), node("b", zone="y", cpu="500m"), web("web-0", "ScheduleAnyway", on="a")],
            web("web-1", "ScheduleAnyway", cpu="2"),
            "would fit on a if cpu <= 1",
            [f"StatefulSet default/web has skew 2 over {ZONE} (maxSkew 1)"],
            id="a spread that is only preferred is lost as well",
        ),
        pytest.param(
            [node("a", zone="x", cpu="1"), node("b", zone="y", cpu="500m"), web("web-0", "DoNotSchedule", on="a")],
            pod("lone", cpu="2", labels={"app": "web"}),
            "would fit on a if cpu <= 1",
            [f"StatefulSet default/web has skew 2 over {ZONE} (maxSkew 1)"],
            id="another workload counts the pod too",
        ),
        pytest.param(
            [
                node("a", zone="x", cpu="1"),
                node("b", zone="y", cpu="500m"),
                web("web-0", "ScheduleAnyway", on="a"),
                web("web-1", "ScheduleAnyway", on="a"),
            ],
            pod("lone", cpu="2", labels={"app": "web"}),
            "would fit on a if cpu <= 1",
            [],
            id="a spread that was lost before is no consequence",
        ),
        pytest.param(
            [node("a", cpu="1"), pod("waiting", cpu="1", priority=5)],
            pod("lone", cpu="2"),
            "would fit on a if cpu <= 1",
            ["pending pod default/waiting, which would go to a now, would fit nowhere"],
            id="a pending pod that would have had the room",
        ),
        pytest.param(
            [node("a", cpu="1"), pod("waiting", cpu="3")],
            pod("lone", cpu="2"),
            "would fit on a if cpu <= 1",
            [],
            id="a pending pod that fits nowhere anyhow is no consequence",
        ),
        pytest.param(
            [
                node("a", zone="x"),
                node("b", zone="y", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]),
                pod("db", on="a", affinity=repelled_by(app="web")),
            ],
            pod("lone", labels={"app": "web"}),
            "would fit on a if pod default/db is deleted",
            ["pod default/db is lost: no controller recreates it"],
            id="a pod that goes and that nobody recreates",
        ),
    ],
)
def test_a_fix_says_what_else_it_would_cause(ask, objects, subject, fix, consequences):
    found = {hint.text: hint.consequences for hint in ask(cluster(*objects), subject).hints}
    assert found[fix] == consequences


def test_no_fix_takes_the_place_of_a_pod_that_finds_no_other(ask):
    not_ready = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    holder = pod("db-0", on="a", affinity=repelled_by(app="web"), metadata=owned_by("StatefulSet", "db"))
    state = cluster(node("a", zone="x"), node("b", zone="y", taints=not_ready), holder)
    texts = [hint.text for hint in ask(state, pod("lone", labels={"app": "web"})).hints]
    assert texts
    assert [text for text in texts if "deleted" in text] == []


def test_the_cluster_is_as_before(ask):
    lone = pod("lone", cpu="2")
    state = cluster(node("a", cpu="1"), lone, pod("waiting", cpu="1"), web("web-0", "ScheduleAnyway", on="a"))
    before = (list(state.pending.values()), sorted(state.pod_table.row_of))
    assert ask(state, lone).hints[0].consequences
    assert [each is old for each, old in zip(state.pending.values(), before[0], strict=True)] == [True, True]
    assert sorted(state.pod_table.row_of) == before[1]


@pytest.mark.parametrize(
    ("min_available", "offered"),
    [
        pytest.param(1, [], id="the budget allows no disruption"),
        pytest.param(0, ["would fit on a if pod default/db-0 is deleted"], id="the budget allows one"),
    ],
)
def test_no_fix_deletes_a_pod_whose_eviction_a_budget_refuses(ask, min_available, offered):
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="db", namespace="default"),
        spec=PodDisruptionBudgetSpec(min_available=min_available, selector=LabelSelector(match_labels={"app": "db"})),
    )
    rules, owner = repelled_by(app="web"), owned_by("StatefulSet", "db")
    holder = pod("db-0", on="a", labels={"app": "db"}, affinity=rules, metadata=owner)
    state = cluster(node("a", zone="x"), node("b", zone="y", cpu="200m"), holder, budget)
    texts = [hint.text for hint in ask(state, pod("lone", cpu="1", labels={"app": "web"})).hints]
    assert [text for text in texts if "deleted" in text] == offered
