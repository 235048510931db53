"""What goes when a pod is gone: objects that it owned, and its use of resource claims, whose devices others get."""

from __future__ import annotations

import json

import msgspec
import pytest

from schedctl.api.devices import ResourceClaim
from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta, OwnerReference, Struct
from schedctl.api.pods import Pod
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.cluster import Cluster
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import ACCEPT
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.replacement import ReplacementController
from schedctl.simulation.runs import run
from schedctl.testing import cluster, node, pod
from schedctl.workloads.garbage import sweep

GONE = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
OTHER = {**GONE, "name": "q", "uid": "uid-q"}
DEVICES = {"devices": {"results": [{"request": "gpu", "driver": "d", "pool": "p", "device": "gpu-0"}]}}
PROTECTION = "resource.kubernetes.io/delete-protection"


def user(name):
    return {"resource": "pods", "name": name, "uid": f"uid-{name}"}


def claim(*users, owners=()):
    return msgspec.convert(
        {
            "metadata": {
                "name": "c", "namespace": "default", "ownerReferences": list(owners),
                "finalizers": [PROTECTION, "mine"],
            },
            "status": {"allocation": DEVICES, "reservedFor": [user(name) for name in users]},
        },
        ResourceClaim,
    )  # fmt: skip


PET = msgspec.convert(
    {
        "metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
        "spec": {
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
            "volumes": [
                {"name": "scratch", "ephemeral": {}}, {"name": "data", "persistentVolumeClaim": {"claimName": "d"}},
            ],
            "containers": [],
        },
    },
    Pod,
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "users", "allocated"),
    [
        pytest.param(claim("p", owners=[GONE]), None, False, id="a claim made for the pod goes with it"),
        pytest.param(claim("p"), [], False, id="the last user leaves a claim of its own without devices"),
        pytest.param(claim("p", "q"), ["q"], True, id="others keep the devices"),
        pytest.param(claim("q"), ["q"], True, id="a claim that the pod did not use is left alone"),
        pytest.param(claim("p", owners=[OTHER]), [], False, id="a claim made for another pod stays"),
        pytest.param(claim("p", owners=[GONE, OTHER]), [], False, id="and so does one that another owns, too"),
    ],
)
def test_claim_of_a_pod_that_is_gone(before, users, allocated):
    made = Cluster.of([before])
    sweep(PET, made)
    after = made.get(ResourceClaim, "default/c")
    if users is None:
        assert after is None
        return
    assert [each.name for each in after.status.reserved_for or ()] == users
    assert (after.status.allocation is not None) == allocated
    assert after.metadata.finalizers == ([PROTECTION, "mine"] if allocated else ["mine"])


def test_claims_of_ephemeral_volumes_go_and_others_stay():
    owner = msgspec.convert(GONE, OwnerReference)
    claims = [
        PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace="default", owner_references=[owner]))
        for name in ("p-scratch", "d")
    ]
    made = Cluster.of(claims)
    sweep(PET, made)
    sweep(PET, made)
    assert list(made.every(PersistentVolumeClaim)) == ["default/d"]


class Lease(Struct, frozen=True):
    """Something that a plugin keeps for a pod."""

    metadata: ObjectMeta = ObjectMeta()


class Leases(FilterPlugin):
    """Reads leases."""

    kinds = (Kind("example.com/v1", "Lease", Lease),)
    reads = (Lease,)

    def filter(self, cycle, nodes):
        return ACCEPT


@pytest.mark.parametrize(("plugins", "left"), [([Leases], []), ([], ["default/for-p"])])
def test_objects_of_a_plugins_own_kind_go_with_the_pod_that_owns_them(plugins, left):
    owner = msgspec.convert(GONE, OwnerReference)
    lease = Lease(metadata=ObjectMeta(name="for-p", namespace="default", owner_references=[owner]))
    running = pod("p", on="a", metadata={"uid": "uid-p"}, terminationGracePeriodSeconds=0)
    scheduler = Scheduler.configured(cluster(node("a"), running, lease), plugins=plugins)
    run(scheduler, events=[SimulatedEvent(running, EventAction.DELETE)], controller=ReplacementController(scheduler))
    assert list(scheduler.cluster.every(Lease)) == left


STATE = {
    "slices": {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "a-gpus"},
        "spec": {
            "driver": "d", "nodeName": "a", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        },
    },
    "class": {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
    "template": {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}},
    },
    "node": {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    },
}  # fmt: skip


def listing(*objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def stateful_set(image):
    """A workload of one pod that takes the only device, by a claim made for it."""
    spec = {
        "terminationGracePeriodSeconds": 5,
        "containers": [{"name": "a", "image": image, "resources": {"claims": [{"name": "gpu"}]}}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}],
    }
    return {
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "uid-w"},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": spec},
        },
    }  # fmt: skip


def running(name):
    """Its pod, and the claim that was made for it."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "uid-w", "controller": True}
    metadata = {
        "name": "web-0",
        "namespace": "default",
        "uid": "uid-web-0",
        "labels": {"app": "a"},
        "ownerReferences": [owner],
    }
    status = {"phase": "Running", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": name}]}
    spec = {**stateful_set("a")["spec"]["template"]["spec"], "nodeName": "a"}
    owned = {"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": "uid-web-0", "controller": True}
    of_claim = {"name": name, "namespace": "default", "uid": "uid-c", "ownerReferences": [owned]}
    return (
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status},
        {
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": of_claim,
            "spec": STATE["template"]["spec"]["spec"],
            "status": {"allocation": DEVICES, "reservedFor": [user("web-0")]},
        },
    )  # fmt: skip


@pytest.mark.parametrize("rollout", ["rolling", "replace"])
def test_pod_that_is_replaced_leaves_its_device_to_the_next(simulate, rollout):
    state = [*STATE.values(), stateful_set("a"), *running("web-0-gpu-old")]
    release = simulate(listing(*state), listing(stateful_set("b")), strategy=rollout)
    assert release.facts.run.pods["default/web-0"].node == "a"
    (claim_of_next,) = release.scheduler.cluster.every(ResourceClaim).values()
    assert claim_of_next.metadata.name != "web-0-gpu-old"
    assert claim_of_next.status.allocation is not None
