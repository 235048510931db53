"""What an API server makes of a pod; the expectations were taken from one."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from schedctl.api.devices import ResourceClaimTemplate
from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass, RuntimeClass
from schedctl.api.storage import PersistentVolumeClaim, StorageClass
from schedctl.cache.cluster import Cluster
from schedctl.releases import RELEASES
from schedctl.workloads import admission

OUTAGES = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]


def pod(metadata: dict[str, Any] | None = None, **spec: Any) -> Pod:
    named = {"name": "web-0", "namespace": "shop", **(metadata or {})}
    return msgspec.convert({"metadata": named, "spec": {"containers": [{"name": "main"}], **spec}}, Pod)


def cluster(*objects: Any) -> Cluster:
    made = Cluster()
    for obj in objects:
        made.put(obj)
    return made


def priority_class(name: str, value: int, **more: Any) -> PriorityClass:
    return msgspec.convert({"metadata": {"name": name}, "value": value, **more}, PriorityClass)


def storage_class(name: str, created: str = "", *, default: bool = True) -> StorageClass:
    annotations = {"storageclass.kubernetes.io/is-default-class": str(default).lower()}
    metadata = {"name": name, "annotations": annotations, "creationTimestamp": created or None}
    return msgspec.convert({"metadata": metadata, "provisioner": "disk"}, StorageClass)


def spec_of(pod: Pod) -> dict[str, Any]:
    return msgspec.to_builtins(pod.spec)


def test_a_pod_that_came_from_a_cluster_is_left_alone():
    stored = pod({"uid": "1"}, schedulerName="default-scheduler", priorityClassName="gone")
    assert admission.admit(stored, cluster()).pod == stored


# -- priority ----------------------------------------------------------------------------

LOW, HIGH = priority_class("low", 10), priority_class("high", 1000, preemptionPolicy="Never")
USUAL, RARE = priority_class("usual", 50, globalDefault=True), priority_class("rare", 70, globalDefault=True)


@pytest.mark.parametrize(
    ("classes", "spec", "priority", "policy"),
    [
        pytest.param([], {}, 0, "PreemptLowerPriority", id="without any class a pod counts 0 and may preempt"),
        pytest.param([LOW], {"priorityClassName": "low"}, 10, "PreemptLowerPriority", id="its class counts"),
        pytest.param([HIGH], {"priorityClassName": "high"}, 1000, "Never", id="its class says whether it may preempt"),
        pytest.param(
            [],
            {"priorityClassName": "system-node-critical"},
            2000001000,
            "PreemptLowerPriority",
            id="system classes exist",
        ),
        pytest.param([LOW, USUAL], {}, 50, "PreemptLowerPriority", id="the default class counts for pods without one"),
        pytest.param([RARE, USUAL], {}, 50, "PreemptLowerPriority", id="of two default classes the lower one counts"),
        pytest.param(
            [LOW, USUAL], {"priorityClassName": "low"}, 10, "PreemptLowerPriority", id="a class beats the default"
        ),
        pytest.param([], {"priority": 7}, 7, "PreemptLowerPriority", id="a stated priority is kept"),
        pytest.param(
            [],
            {"priority": 7, "priorityClassName": "gone"},
            7,
            "PreemptLowerPriority",
            id="a stated priority needs no class",
        ),
    ],
)
def test_priority(classes, spec, priority, policy):
    admitted = admission.admit(pod(**spec), cluster(*classes)).pod
    assert (admitted.spec.priority, admitted.spec.preemption_policy) == (priority, policy)


# -- tolerations -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        pytest.param([], OUTAGES, id="a pod stays on a lost node for five minutes"),
        pytest.param(
            [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
            [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}, OUTAGES[1]],
            id="unless it says itself how long",
        ),
        pytest.param([{"operator": "Exists"}], [{"operator": "Exists"}], id="a toleration of everything is enough"),
        pytest.param(
            [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}],
            [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}, *OUTAGES],
            id="a toleration of another effect says nothing about outages",
        ),
    ],
)
def test_default_toleration_seconds(stated, expected):
    assert spec_of(admission.admit(pod(tolerations=stated), cluster()).pod)["tolerations"] == expected


# -- runtime classes ---------------------------------------------------------------------

KATA = msgspec.convert(
    {
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {
            "nodeSelector": {"kata": "yes"},
            "tolerations": [{"key": "kata", "operator": "Exists"}, {"key": "spot", "operator": "Exists"}],
        },
    },
    RuntimeClass,
)


def test_a_runtime_class_adds_overhead_and_scheduling():
    stated = [{"key": "kata", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}]
    spec = spec_of(
        admission.admit(pod(runtimeClassName="kata", nodeSelector={"os": "x"}, tolerations=stated), cluster(KATA)).pod
    )
    assert spec["overhead"] == {"cpu": "250m"}
    assert spec["nodeSelector"] == {"kata": "yes", "os": "x"}
    assert spec["tolerations"] == [
        *OUTAGES,
        {"key": "kata", "operator": "Exists"},
        {"key": "spot", "operator": "Exists"},
    ], "a toleration that another one covers goes"


# -- matchLabelKeys ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraint", "expressions"),
    [
        pytest.param(
            {"matchLabelKeys": ["hash"], "labelSelector": {}},
            [{"key": "hash", "operator": "In", "values": ["h1"]}],
            id="the pod's value becomes part of the selector",
        ),
        pytest.param({"matchLabelKeys": ["none"], "labelSelector": {}}, None, id="a key the pod lacks is ignored"),
        pytest.param({"labelSelector": {}}, None, id="no keys, no change"),
    ],
)
def test_match_label_keys_of_a_spread_constraint(constraint, expressions):
    stated = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **constraint}
    admitted = admission.admit(pod({"labels": {"hash": "h1"}}, topologySpreadConstraints=[stated]), cluster()).pod
    (made,) = admitted.spec.topology_spread_constraints
    assert msgspec.to_builtins(made.label_selector).get("matchExpressions") == expressions


def test_match_label_keys_without_a_selector_select_nothing_still():
    stated = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["hash"]}
    admitted = admission.admit(pod({"labels": {"hash": "h1"}}, topologySpreadConstraints=[stated]), cluster()).pod
    assert admitted.spec.topology_spread_constraints[0].label_selector is None


def test_label_keys_of_affinity_terms():
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}, "mismatchLabelKeys": ["tenant"]}
    affinity = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{**term, "matchLabelKeys": ["hash"]}],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}],
        }
    }
    labels = {"hash": "h1", "tenant": "t1"}
    made = admission.admit(pod({"labels": labels}, affinity=affinity), cluster()).pod.spec.affinity.pod_anti_affinity
    required = made.required_during_scheduling_ignored_during_execution[0].label_selector
    preferred = made.preferred_during_scheduling_ignored_during_execution[0].pod_affinity_term.label_selector
    other_tenants = {"key": "tenant", "operator": "NotIn", "values": ["t1"]}
    assert msgspec.to_builtins(preferred) == {"matchLabels": {"app": "web"}, "matchExpressions": [other_tenants]}
    assert msgspec.to_builtins(required)["matchExpressions"] == [
        {"key": "hash", "operator": "In", "values": ["h1"]},
        other_tenants,
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_match_label_keys_of_spread_constraints_stay_out_of_the_selector_without_their_gates(release):
    stated = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["hash"]}
    made = pod({"labels": {"hash": "h1"}}, topologySpreadConstraints=[{**stated, "labelSelector": {}}])
    merge = {"MatchLabelKeysInPodTopologySpreadSelectorMerge": False}
    for switches in (merge, {**merge, "MatchLabelKeysInPodTopologySpread": False}):
        stored = admission.admit(made, Cluster(release.with_gates(switches))).pod
        assert stored.spec.topology_spread_constraints == made.spec.topology_spread_constraints


# -- tolerations that compare numbers ----------------------------------------------------

BOUND = {"key": "sla", "operator": "Gt", "value": "950"}


def test_a_toleration_that_compares_numbers_is_refused_while_its_gate_is_off():
    (refusal,) = admission.admit(pod(tolerations=[OUTAGES[0], BOUND]), cluster()).refusals
    assert refusal.message == 'spec.tolerations[1].operator: Unsupported value: "Gt"'
    assert "needs the feature gate TaintTolerationComparisonOperators" in refusal.warning


@pytest.mark.parametrize("release", RELEASES[1:])
def test_with_its_gate_on_it_is_let_in(release):
    made = Cluster(release.with_gates({"TaintTolerationComparisonOperators": True}))
    assert admission.admit(pod(tolerations=[BOUND]), made).refusals == ()


# -- pod-level resources -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("container", "stated", "requests"),
    [
        pytest.param({}, {"limits": {"memory": "1Gi"}}, {"memory": "1Gi"}, id="a limit of the pod is its request"),
        pytest.param(
            {"requests": {"cpu": "1500m", "memory": "64Mi"}},
            {"limits": {"memory": "1Gi"}},
            {"cpu": "1500m", "memory": "64Mi"},
            id="what its containers request comes before its limit",
        ),
        pytest.param(
            {"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}, {"cpu": "2"}, id="a request of the pod stays"
        ),
        pytest.param(
            {"limits": {"hugepages-2Mi": "4Mi"}},
            {"requests": {"cpu": "1"}},
            {"cpu": "1", "hugepages-2Mi": "4Mi"},
            id="huge pages come from the limits of the containers",
        ),
        pytest.param({"requests": {"cpu": "1"}}, {}, None, id="a pod that states nothing gets nothing"),
    ],
)
def test_pod_level_requests(container, stated, requests):
    containers = [{"name": "main", "resources": container}]
    admitted = admission.admit(pod(containers=containers, resources=stated), cluster()).pod
    assert admitted.spec.resources.requests == requests


@pytest.mark.parametrize("containers", [None, []], ids=["not stated", "an empty list"])
def test_a_pod_without_containers_keeps_the_requests_and_limits_of_its_own(containers):
    stated = {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}
    admitted = admission.admit(pod(containers=containers, resources=stated), cluster()).pod
    resources = admitted.spec.resources
    assert (resources.requests, resources.limits) == ({"cpu": "1", "memory": "1Gi"}, {"memory": "1Gi"})


# -- claims ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "spec", "expected"),
    [
        pytest.param([], {}, None, id="without a default class a claim has none"),
        pytest.param([storage_class("ssd")], {}, "ssd", id="a claim gets the default class"),
        pytest.param([storage_class("ssd")], {"storageClassName": ""}, "", id="a claim may want no class at all"),
        pytest.param([storage_class("hdd", default=False)], {}, None, id="other classes are not for everybody"),
        pytest.param(
            [storage_class("a", "2026-01-01T00:00:00Z"), storage_class("b", "2026-02-01T00:00:00Z")],
            {},
            "b",
            id="of two default classes the newer one counts",
        ),
        pytest.param([storage_class("b"), storage_class("a")], {}, "a", id="of two as old, the first by name"),
    ],
)
def test_the_class_of_a_claim(classes, spec, expected):
    claim = msgspec.convert({"metadata": {"name": "data"}, "spec": spec}, PersistentVolumeClaim)
    assert admission.claim(claim, cluster(*classes)).spec.storage_class_name == expected


def test_an_ephemeral_volume_brings_its_claim():
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
    (claim,) = admission.admit(pod(volumes=volumes), cluster(storage_class("ssd"))).claims
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "web-0", "controller": True}
    assert msgspec.to_builtins(claim.metadata) == {
        "name": "web-0-scratch",
        "namespace": "shop",
        "labels": {"a": "b"},
        "ownerReferences": [owner],
    }
    assert claim.spec.storage_class_name == "ssd"
    assert admission.admit(pod(volumes=volumes), cluster(claim)).claims == (), "once is enough"


def test_a_resource_claim_template_makes_a_claim_for_the_pod():
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    template = {
        "metadata": {"name": "t", "namespace": "shop"},
        "spec": {"metadata": {"labels": {"a": "b"}}, "spec": spec},
    }
    references = [
        {"name": "gpu", "resourceClaimTemplateName": "t"},
        {"name": "nic", "resourceClaimTemplateName": "gone"},
        {"name": "shared", "resourceClaimName": "mine"},
    ]
    c = cluster(msgspec.convert(template, ResourceClaimTemplate))
    admitted = admission.admit(pod(resourceClaims=references), c)
    (claim,) = admitted.claims
    assert msgspec.to_builtins(claim) == {
        "metadata": {
            "name": claim.metadata.name,
            "namespace": "shop",
            "labels": {"a": "b"},
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "web-0", "controller": True}],
        },
        "spec": spec,
    }
    assert msgspec.to_builtins(admitted.pod.status.resource_claim_statuses) == [
        {"name": "gpu", "resourceClaimName": claim.metadata.name}
    ]
    assert re.fullmatch(r"web-0-gpu-[a-z0-9]{5}", claim.metadata.name)
    assert admission.admit(admitted.pod, c).claims == (), "once is enough"


# -- what the API server would refuse ------------------------------------------------------


@pytest.mark.parametrize(
    ("objects", "spec", "warning"),
    [
        pytest.param([], {"priorityClassName": "gone"}, 'PriorityClass "gone" not found', id="a class nobody knows"),
        pytest.param(
            [LOW],
            {"priorityClassName": "low", "priority": 11},
            "spec.priority is 11 but its PriorityClass gives 10",
            id="a priority that is not its class's",
        ),
        pytest.param(
            [],
            {"priority": 11},
            "spec.priority is 11 but a pod without a PriorityClass gets 0",
            id="a priority without a class",
        ),
        pytest.param([], {"runtimeClassName": "gone"}, 'RuntimeClass "gone" not found', id="a runtime nobody knows"),
        pytest.param([], {"overhead": {"cpu": "1"}}, "without a RuntimeClass", id="overhead of no runtime"),
        pytest.param(
            [KATA],
            {"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
            "spec.overhead is not that of RuntimeClass kata",
            id="overhead that is not the runtime's",
        ),
        pytest.param(
            [KATA],
            {"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}},
            "spec.nodeSelector requires kata=no but RuntimeClass kata requires kata=yes",
            id="a place where the runtime is not",
        ),
    ],
)
def test_what_an_api_server_would_refuse_is_a_warning(objects, spec, warning):
    (only,) = admission.admit(pod(**spec), cluster(*objects)).warnings
    assert warning in only


def test_an_equal_overhead_in_another_notation_is_admitted():
    assert admission.admit(pod(runtimeClassName="kata", overhead={"cpu": "0.25"}), cluster(KATA)).warnings == ()
