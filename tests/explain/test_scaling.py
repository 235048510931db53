"""A workload with more replicas than its own rules leave places for may be scaled to those that run."""

import msgspec
import pytest

from schedctl.api.topology import ZONE
from schedctl.api.workloads import StatefulSet
from schedctl.testing.builders import cluster, node, pod

LABELS = {"app": "quorum"}
OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "quorum", "uid": "q", "controller": True}
TERM = {"topologyKey": ZONE, "labelSelector": {"matchLabels": LABELS}}
APART = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}}
SPREAD = {
    "maxSkew": 1,
    "minDomains": 3,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": LABELS},
}
NODES = [node("a", zone="x", cpu="4"), node("b", zone="y", cpu="4")]


def quorum(number, *, on="", **spec):
    return pod(f"quorum-{number}", on=on, labels=LABELS, metadata={"ownerReferences": [OWNER]}, **spec)


def of_replicas(replicas):
    made = {"metadata": {"name": "quorum", "namespace": "default"}, "spec": {"replicas": replicas}}
    return msgspec.convert(made, StatefulSet)


@pytest.mark.parametrize(
    ("running", "replicas", "spec", "scaled"),
    [
        pytest.param(["a", "b"], 5, APART, True, id="anti-affinity leaves two zones for five replicas"),
        pytest.param(["a", "b"], 5, {"topologySpreadConstraints": [SPREAD]}, True, id="so does minDomains"),
        pytest.param(["a", "b"], 5, {"cpu": "8"}, False, id="what is missing is room, not places"),
        pytest.param([], 5, APART | {"cpu": "8"}, False, id="no replica runs, so there is no number to scale to"),
        pytest.param(["a"], 2, APART | {"cpu": "8"}, False, id="the rule leaves places for all replicas"),
    ],
)
def test_the_replicas_that_run_are_offered_where_rules_leave_no_place_for_more(ask, running, replicas, spec, scaled):
    pods = [quorum(number, on=on, **APART) for number, on in enumerate(running)]
    found = ask(cluster(*NODES, of_replicas(replicas), *pods), quorum(9, **spec))
    assert found.verdict == "Unschedulable"
    hints = [hint for hint in found.hints if hint.type == "scale-workload"]
    expected = (
        "2 of 5 replicas run; if they are enough, scale StatefulSet default/quorum to 2",
        "kubectl scale statefulset/quorum -n default --replicas=2",
    )
    assert [(hint.text, hint.command) for hint in hints] == ([expected] if scaled else [])


def test_it_comes_after_fixes_that_place_the_pod(ask):
    pods = [quorum(number, on=on, **APART) for number, on in enumerate("ab")]
    hints = ask(cluster(*NODES, of_replicas(3), *pods), quorum(2, **APART)).hints
    assert [hint.type for hint in hints][-1] == "scale-workload"
    assert all(hint.fits for hint in hints[:-1])
