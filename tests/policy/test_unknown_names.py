"""Names in a check that match nothing in the cluster are inconclusive, for every built-in alike."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedctl.policy import documents
from schedctl.testing.builders import ZONE, cluster, node
from tests.policy.evaluating import LOSE_ZONE, check, deployment, manifests_of, outcomes_of, policy, report

GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
NODES = (
    node("a", zone="eu-1a", labels={"pool": "general"}),
    node("b", zone="eu-1b", labels={"pool": "gpu"}, taints=[GPU], **{"nvidia.com/gpu": "2"}),
)
POOOL = {"poool": "gpu"}
ACCEPTED = "`allowUnknownNames: true` in the check accepts names that match nothing"


def label(key: str) -> str:
    return f'no node has a label "{key}"'


@pytest.mark.parametrize(
    ("builtin", "arguments", "message", "hint"),
    [
        (
            "spread",
            documents.Spread(topology_key="topology.kubernetes.io/zon"),
            label("topology.kubernetes.io/zon"),
            "with.topologyKey: did you mean kubernetes.io/hostname, topology.kubernetes.io/zone?",
        ),
        (
            "headroom",
            documents.Headroom(resource="cpu", percent=1, by="zon"),
            label("zon"),
            "with.by: did you mean zone?",
        ),
        ("max-utilization", documents.MaxUtilization(by="zon"), label("zon"), "with.by: did you mean zone?"),
        (
            "headroom",
            documents.Headroom(resource="cpu", percent=1, node_selector=POOOL),
            label("poool"),
            "with.nodeSelector: did you mean pool?",
        ),
        (
            "max-utilization",
            documents.MaxUtilization(node_selector={"pool": "gpuu"}),
            "no node has pool=gpuu",
            "with.nodeSelector: did you mean gpu?",
        ),
        (
            "drain-safe",
            documents.DrainSafe(node_selector=POOOL),
            label("poool"),
            "with.nodeSelector: did you mean pool?",
        ),
        (
            "drain-safe",
            documents.DrainSafe(node_selector={ZONE: "eu-1c"}),
            f"no node has {ZONE}=eu-1c",
            "with.nodeSelector: did you mean eu-1a, eu-1b?",
        ),
        (
            "placement",
            documents.Placement(must=documents.NodeDemand(node_selector={"pool": "genral"})),
            "no node has pool=genral",
            "with.must.nodeSelector: did you mean general?",
        ),
        (
            "placement",
            documents.Placement(must_not=documents.NodeDemand(taint="nvidia.com/gpuu")),
            'no node has a taint "nvidia.com/gpuu"',
            "with.mustNot.taint: did you mean nvidia.com/gpu?",
        ),
        (
            "placement",
            documents.Placement(must_not=documents.NodeDemand(taint="nvidia.com/gpu=presnt")),
            "no node has the taint nvidia.com/gpu=presnt",
            "with.mustNot.taint: did you mean nvidia.com/gpu=present:NoSchedule?",
        ),
        (
            "headroom",
            documents.Headroom(resource="nvidia.com/gpuu", percent=10),
            "no node offers nvidia.com/gpuu",
            "with.resource: did you mean nvidia.com/gpu?",
        ),
        (
            "max-utilization",
            documents.MaxUtilization(resource="memry"),
            "no node offers memry",
            "with.resource: did you mean memory?",
        ),
        (
            "headroom",
            documents.Headroom(replicas_of="deploy/shop/wbe", absolute="1"),
            "deploy/shop/wbe is neither in the manifests nor in the cluster",
            "with.replicasOf: did you mean web?",
        ),
    ],
)
def test_a_name_that_matches_nothing_is_inconclusive_with_the_one_that_was_meant(
    builtin: str, arguments: Any, message: str, hint: str
) -> None:
    found = report(cluster(*NODES), manifests_of(deployment(replicas=1)), policy(check(builtin, arguments)))
    assert outcomes_of(found.results) == [("the run", "Inconclusive", message)]
    assert found.results[0].hints == [hint, ACCEPTED]


def test_labels_that_no_node_has_together_match_nothing() -> None:
    both = documents.Headroom(resource="cpu", percent=1, node_selector={"pool": "gpu", ZONE: "eu-1a"})
    found = report(cluster(*NODES), manifests_of(deployment(replicas=1)), policy(check("headroom", both)))
    assert outcomes_of(found.results) == [("the run", "Inconclusive", f"no node has pool=gpu and {ZONE}=eu-1a")]


def test_every_name_of_a_check_that_matches_nothing_is_told() -> None:
    wrong = documents.Headroom(resource="cpuu", percent=1, by="zon")
    found = report(cluster(*NODES), manifests_of(deployment(replicas=1)), policy(check("headroom", wrong)))
    assert found.results[0].message == f"no node offers cpuu; {label('zon')}"


def test_a_check_can_allow_names_that_match_nothing() -> None:
    nowhere = documents.Placement(must_not=documents.NodeDemand(taint="spot"))
    allowed = check("placement", nowhere, allow_unknown_names=True)
    found = report(cluster(*NODES), manifests_of(deployment(replicas=1)), policy(allowed))
    assert outcomes_of(found.results) == [("Deployment shop/web", "Passed", "1 pod on allowed nodes")]


def test_what_a_scenario_takes_away_is_a_known_name() -> None:
    zone = documents.Headroom(resource="nvidia.com/gpu", percent=10)
    checked = check("headroom", zone, scenarios=("lose-zone",))
    found = report(
        cluster(*NODES[:1], node("b", zone="eu-1b", **{"nvidia.com/gpu": "2"})),
        manifests_of(deployment(replicas=1)),
        policy(checked, scenarios=[LOSE_ZONE]),
    )
    assert [(result.scenario, result.outcome.value) for result in found.results] == [
        ("lose-zone=eu-1a", "Passed"),
        ("lose-zone=eu-1b", "Violated"),
    ]


def test_what_a_scenario_adds_is_a_known_name() -> None:
    taints = ({"taint": {"a": "spot=true:NoExecute"}},)
    spot = documents.Placement(must_not=documents.NodeDemand(taint="spot"))
    checked = check("placement", spot, scenarios=("spot",))
    manifests = manifests_of(deployment(replicas=1, tolerations=[{"key": "spot", "operator": "Exists"}]))
    found = report(cluster(*NODES), manifests, policy(checked, scenarios=[documents.Scenario("spot", changes=taints)]))
    assert [result.outcome.value for result in found.results] == ["Violated"]


def test_every_text_among_the_arguments_of_built_ins_declares_what_it_names() -> None:
    names_nothing = {"per", "allow_pending", "absolute", "scenario", "by_pod_label", "limits"}
    structs = [documents.NodeDemand, *(builtin.arguments for builtin in documents.BUILTINS.values())]
    silent = {
        (struct.__name__, field.name)
        for struct in structs
        for field in msgspec.structs.fields(struct)
        if field.type in (str, dict[str, str])
    }
    assert {name for _, name in silent} <= names_nothing
