"""What PreBind writes is what kube-scheduler writes, and it is taken back if the pod is not bound after all."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest

from schedctl import sources
from schedctl.config import loading
from schedctl.errors import ClusterError
from schedctl.live.connections import Answer
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, Refusal
from schedctl.live.prebind_volumes import wait_for_volumes
from schedctl.live.prebinds import steps
from schedctl.scheduler import Scheduler
from schedctl.workloads.clusters import assemble
from tests.live.binds import bind, plan_of
from tests.live.pretend_servers import Object, PretendServer
from tests.live.test_binding import BINDING, WEB, node, pod

VOLUME, CLAIM = "/api/v1/persistentvolumes/disk", "/api/v1/namespaces/shop/persistentvolumeclaims/data"
DEVICES = "/apis/resource.k8s.io/v1"
GPUS = f"{DEVICES}/namespaces/shop/resourceclaims/gpus"
CONFIGURATION = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: ours}]
"""


def storage(provisioner: str = "kubernetes.io/no-provisioner", *, volume: bool = True) -> list[Object]:
    """A pod with a claim that waits for it, and perhaps a volume."""
    made = [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "slow"},
            "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": "shop", "name": "data"},
            "spec": {
                "storageClassName": "slow",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
            "status": {"phase": "Pending"},
        },
        pod("web", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]),
    ]
    disk = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk"},
        "spec": {
            "storageClassName": "slow",
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": "d", "volumeHandle": "h", "unknown": "kept"},
        },
        "status": {"phase": "Available"},
    }
    return [*made, disk] if volume else made


def devices(**of_device: Any) -> list[Object]:
    """A pod with a claim for a device, and one that has it."""
    parameters = {"opaque": {"driver": "d", "parameters": {"mode": "fast"}}}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu"},
            "spec": {"config": [parameters], "extendedResourceName": "example.com/gpu"},
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": "slice"},
            "spec": {
                "driver": "d",
                "nodeName": "node-1",
                "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0", **of_device}],
            },
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"namespace": "shop", "name": "gpus"},
            "spec": {
                "devices": {
                    "requests": [
                        {
                            "name": "one",
                            "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1},
                        }
                    ]
                }
            },
            "status": {},
        },
        pod("web", resourceClaims=[{"name": "gpus", "resourceClaimName": "gpus"}]),
    ]


def with_extended_resources() -> list[Object]:
    """A pod that asks for an extended resource for which a device stands in."""
    amounts = {"cpu": "1", "example.com/gpu": "1"}
    containers = [{"name": "app", "image": "app", "resources": {"requests": amounts, "limits": amounts}}]
    return [
        *(each for each in devices() if each["kind"] not in ("Pod", "ResourceClaim")),
        pod("web", containers=containers),
    ]


def plan_bind(*objects: Object) -> tuple[PretendServer, BindPlan, ObservedState]:
    """A decision about the pod ``web`` on a cluster of two nodes and these objects."""
    server = PretendServer(node("node-1"), node("node-2"), *objects)
    listing = server.list_objects()
    manifests = sources.load_listed(server.name, (page.body for page in listing.pages))
    cluster = assemble(one.object for one in manifests.objects).cluster
    scheduler = Scheduler(cluster, loading.load(CONFIGURATION, "test"))
    return server, plan_of(scheduler, "shop/web"), ObservedState(listing)


class Controllers:
    """Does what the volume controller and a provisioner do, once somebody waits for them."""

    def __init__(self, server: PretendServer) -> None:
        self.server = server

    def work(self, seconds: float) -> None:
        server = self.server
        if VOLUME not in server.objects:
            made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {}}
            server.put({**made, "status": {"phase": "Bound"}})
        else:
            server.change(VOLUME, lambda obj: obj["status"].update(phase="Bound"))

        def bound(claim: Object) -> None:
            claim["spec"]["volumeName"] = "disk"
            claim["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"

        server.change(CLAIM, bound)


def patient(server: PretendServer):
    return partial(wait_for_volumes, sleep=Controllers(server).work)


def impatient(moves=lambda seconds: None):
    ticks = iter(range(100))
    return partial(wait_for_volumes, now=lambda: float(next(ticks)), sleep=moves)


def test_claim_ref_is_written_before_the_bind():
    server, plan, observed = plan_bind(*storage())
    before = copy.deepcopy(server.objects)
    bind(server, plan, observed, wait=patient(server))
    volume, claim = server.objects[VOLUME], before[CLAIM]
    assert volume["spec"]["claimRef"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "shop",
        "name": "data",
        "uid": claim["metadata"]["uid"],
        "resourceVersion": claim["metadata"]["resourceVersion"],
    }
    assert volume["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert volume["spec"]["csi"] == before[VOLUME]["spec"]["csi"]
    assert server.writes()[:2] == [f"PUT {VOLUME}", f"POST {BINDING}"]


def test_selected_node_is_annotated_for_provisioning():
    server, plan, observed = plan_bind(*storage("disks.example.com", volume=False))
    bind(server, plan, observed, wait=patient(server))
    assert server.objects[CLAIM]["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == plan.node
    assert server.writes()[:2] == [f"PUT {CLAIM}", f"POST {BINDING}"]


def test_claim_is_allocated_with_configuration_and_reserved():
    server, plan, observed = plan_bind(*devices())
    bind(server, plan, observed)
    claim = server.objects[GPUS]
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    allocation = claim["status"]["allocation"]
    assert allocation["devices"] == {
        "results": [{"request": "one", "driver": "d", "pool": "node-1", "device": "gpu-0"}],
        "config": [{"source": "FromClass", "opaque": {"driver": "d", "parameters": {"mode": "fast"}}}],
    }
    assert allocation["allocationTimestamp"].endswith("Z")
    assert claim["status"]["reservedFor"] == [{"resource": "pods", "name": "web", "uid": plan.pod.metadata.uid}]
    assert server.writes()[:3] == [f"PUT {GPUS}", f"PUT {GPUS}/status", f"POST {BINDING}"]


def test_extended_resource_claim_is_created_and_named_in_pod_status():
    server, plan, observed = plan_bind(*with_extended_resources())
    bind(server, plan, observed)
    claim_status = server.objects[WEB]["status"]["extendedResourceClaimStatus"]
    assert claim_status["requestMappings"] == [
        {"containerName": "app", "resourceName": "example.com/gpu", "requestName": "container-0-request-1"}
    ]
    claim = server.objects[f"{DEVICES}/namespaces/shop/resourceclaims/{claim_status['resourceClaimName']}"]
    assert claim["metadata"]["ownerReferences"][0]["uid"] == plan.pod.metadata.uid
    assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"


EVERYTHING = {"volume": storage, "devices": devices, "extended resources": with_extended_resources}


def _bound_elsewhere(server: PretendServer) -> None:
    server.change(WEB, lambda obj: obj["spec"].update(nodeName="node-2"))


def _plain(objects: dict[str, Object]) -> dict[str, Object]:
    """Objects without what every write changes, and without the pod."""
    plain = copy.deepcopy({path: obj for path, obj in objects.items() if path != WEB})
    for obj in plain.values():
        obj["metadata"].pop("resourceVersion")
    return plain


@pytest.mark.parametrize("what", EVERYTHING)
def test_failed_bind_reverts_prebind_writes(what):
    server, plan, observed = plan_bind(*EVERYTHING[what]())
    before = _plain(server.objects)

    def hook(method: str, path: str) -> None:
        if (method, path) == ("POST", BINDING):
            _bound_elsewhere(server)

    server.before = hook
    with pytest.raises(Refusal, match="is not bound to node-1") as refused:
        bind(server, plan, observed, wait=lambda connection, plan: None)
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"
    lasting = "extendedResourceClaimStatus" in server.objects[WEB]["status"]
    assert (
        lasting == ("the API server does not allow to clear it" in str(refused.value)) == (what == "extended resources")
    )
    assert _plain(server.objects) == before


def test_refused_status_reverts_the_finalizer_of_the_claim():
    server, plan, observed = plan_bind(*devices())
    before = _plain(server.objects)

    def hook(method: str, path: str) -> None:
        if (method, path) == ("PUT", f"{GPUS}/status"):
            raise server.forbid(method, path)

    server.before = hook
    with pytest.raises(ClusterError, match="403") as raised:
        bind(server, plan, observed)
    assert "could not be changed back" not in str(raised.value)
    assert _plain(server.objects) == before


@pytest.mark.parametrize("what", EVERYTHING)
def test_no_write_if_the_pod_has_changed(what):
    server, plan, observed = plan_bind(*EVERYTHING[what]())
    _bound_elsewhere(server)
    with pytest.raises(Refusal):
        bind(server, plan, observed)
    assert server.writes() == []


@pytest.mark.parametrize("what", EVERYTHING)
def test_no_write_if_a_later_permission_is_missing(what):
    server, plan, observed = plan_bind(*EVERYTHING[what]())

    def hook(method: str, path: str) -> None:
        if path == BINDING:
            raise server.forbid("POST", path)

    server.before = hook
    with pytest.raises(ClusterError, match="403"):
        bind(server, plan, observed, wait=lambda connection, plan: None)
    assert server.writes() == []


@pytest.mark.parametrize("what", EVERYTHING)
def test_a_dry_run_writes_nothing(what):
    server, plan, observed = plan_bind(*EVERYTHING[what]())
    before = copy.deepcopy(server.objects)
    bind(server, plan, observed, dry_run=True)
    assert server.objects == before
    assert server.writes() == []


def test_bind_timeout_reverts_volumes():
    server, plan, observed = plan_bind(*storage())
    before = _plain(server.objects)
    with pytest.raises(Refusal, match=r"the volumes of shop/data are not bound after 5 s"):
        bind(server, plan, observed, wait=impatient())
    assert _plain(server.objects) == before


def test_interrupt_reverts_writes():
    server, plan, observed = plan_bind(*storage())
    before = _plain(server.objects)

    def raise_interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bind(server, plan, observed, wait=impatient(raise_interrupt))
    assert _plain(server.objects) == before


@pytest.mark.parametrize("what", EVERYTHING)
@pytest.mark.parametrize("body", [b"", None], ids=["an empty answer", "an interrupt"])
def test_bound_pod_keeps_its_prebind_writes(what, body):
    server, plan, observed = plan_bind(*EVERYTHING[what]())
    real = server.send

    def send(method: str, path: str, *rest: Any) -> Answer:
        answer = real(method, path, *rest)
        if (path, *rest[1:2]) != (BINDING, None):
            return answer
        if body is None:
            raise KeyboardInterrupt
        return Answer(body, {})

    server.send = send
    bind(server, plan, observed, wait=lambda connection, plan: None)
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"
    assert server.writes()[-2:] == [
        f"POST {BINDING}",
        "POST /apis/events.k8s.io/v1/namespaces/shop/events",
    ]


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), b"", b"[]", ValueError("odd")], ids=repr)
def test_failing_revert_is_reported_and_others_continue(fault):
    server, plan, observed = plan_bind(*devices())
    real, undone = server.send, []

    def send(method: str, path: str, *rest: Any) -> Answer:
        if path == BINDING and rest[1] is None:
            raise server.forbid(method, path)
        undoing = any(request[:2] == ("PUT", f"{GPUS}/status") and not request[2] for request in server.requests)
        if undoing and method == "PUT" and rest[1] is None:
            undone.append(path)
            if len(undone) == 1 and isinstance(fault, BaseException):
                raise fault
        answer = real(method, path, *rest)
        return Answer(fault, {}) if len(undone) == 1 and isinstance(fault, bytes) else answer

    server.send = send
    with pytest.raises(ClusterError, match="resource claim shop/gpus could not be changed back") as raised:
        bind(server, plan, observed)
    assert "403" in str(raised.value)
    assert undone[:2] == [f"{GPUS}/status", GPUS]


def test_claim_of_unknown_outcome_is_reported():
    server, plan, observed = plan_bind(*with_extended_resources())
    real = server.send

    def send(method: str, path: str, *rest: Any) -> Answer:
        answer = real(method, path, *rest)
        return Answer(b"", {}) if path.endswith("/resourceclaims") and rest[1] is None else answer

    server.send = send
    with pytest.raises(ClusterError, match="could not be changed back: it is unknown whether it was created"):
        bind(server, plan, observed)


def test_volume_bound_meanwhile_is_kept_and_reported():
    server, plan, observed = plan_bind(*storage())

    def bound_and_gone(seconds: float) -> None:
        Controllers(server).work(seconds)
        server.delete(WEB)

    with pytest.raises(ClusterError, match=r"volume disk could not be changed back: it has changed since"):
        bind(server, plan, observed, wait=impatient(bound_and_gone))
    assert server.objects[VOLUME]["spec"]["claimRef"]["name"] == "data"


def test_claim_reserved_meanwhile_keeps_its_allocation():
    server, plan, observed = plan_bind(*devices())
    other = {"resource": "pods", "name": "other", "uid": "other"}

    def hook(method: str, path: str) -> None:
        if (method, path) == ("POST", BINDING):
            server.change(GPUS, lambda obj: obj["status"]["reservedFor"].append(other))
            _bound_elsewhere(server)

    server.before = hook
    with pytest.raises(Refusal):
        bind(server, plan, observed)
    claim = server.objects[GPUS]
    assert claim["status"]["reservedFor"] == [other]
    assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]


@pytest.mark.parametrize(
    ("move", "why"),
    [
        (
            lambda server: server.change(CLAIM, lambda obj: obj["metadata"].update(annotations={})),
            "no volume could be provisioned for claim shop/data",
        ),
        (lambda server: server.delete(WEB), "pod shop/web is gone"),
        (lambda server: server.delete("/api/v1/nodes/node-1"), "node node-1 is gone"),
    ],
)
def test_waiting_stops_when_volumes_cannot_be_bound(move, why):
    server, plan, observed = plan_bind(*storage("disks.example.com", volume=False))
    with pytest.raises(ClusterError, match=why):
        bind(server, plan, observed, wait=impatient(lambda seconds: move(server)))


@pytest.mark.parametrize(
    ("objects", "path", "words"),
    [
        (storage, VOLUME, "volume disk has changed"),
        (storage, CLAIM, "claim shop/data has changed"),
        (devices, GPUS, "resource claim shop/gpus has changed"),
        (devices, f"{DEVICES}/resourceslices/slice", "the devices of pool d/node-1 have changed"),
        (with_extended_resources, f"{DEVICES}/resourceslices/slice", "the devices of pool d/node-1 have changed"),
    ],
)
def test_no_write_if_an_object_to_write_has_changed(objects, path, words):
    server, plan, observed = plan_bind(*objects())
    server.change(path, lambda obj: obj["metadata"].update(labels={"a": "b"}))
    with pytest.raises(Refusal, match=words):
        bind(server, plan, observed)
    assert server.writes() == []


def test_no_write_if_a_device_of_the_pool_was_allocated():
    server, plan, observed = plan_bind(*devices())
    taken = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "node-1", "device": "gpu-0"}]}}
    other = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": {}, "status": {"allocation": taken}}
    server.put({**other, "metadata": {"namespace": "lab", "name": "theirs"}})
    with pytest.raises(Refusal, match="other devices of pool d/node-1 are allocated now"):
        bind(server, plan, observed)
    assert server.writes() == []


def test_device_with_binding_conditions_is_refused():
    conditions = {"bindsToNode": True, "bindingConditions": ["Ready"], "bindingFailureConditions": ["Failed"]}
    _, plan, _ = plan_bind(*devices(**conditions))
    with pytest.raises(Refusal, match="must be prepared by its driver before the bind"):
        steps(plan)
