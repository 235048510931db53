"""Devices that take some of what their node has for pods (DRANodeAllocatableResources)."""

import msgspec
import pytest

from schedctl.api.devices import DeviceClass, ResourceClaim, ResourceSlice
from schedctl.config.loading import default
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, RELEASES, UnmodelledGateError
from schedctl.scheduler import Scheduler
from schedctl.session.decisions import decide, reserve
from schedctl.testing.builders import cluster, node, pod

RELEASE = NEWEST.with_gates({"DRANodeAllocatableResources": True})
CLASS = msgspec.convert({"metadata": {"name": "part"}}, DeviceClass)
HALF = {"memory": {"mapping": {"capacityKey": "bytes", "capacityMultiplier": "0.5"}}}


def devices(on, *charged, **more):
    """The slice of a node; `charged` says of each device what it takes of the node."""
    pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
    listed = [{"name": f"dev-{i}", "nodeAllocatableResources": each} | more for i, each in enumerate(charged)]
    spec = {"driver": "d", "nodeName": on, "pool": pool, "devices": listed}
    return msgspec.convert({"metadata": {"name": f"slice-{on}"}, "spec": spec}, ResourceSlice)


def claim(name="part", *, number=1, held=None, users=(), consumed=None):
    """A claim for some devices; `held` is the node whose first device it has, `users` may use it."""
    status = {}
    if held:
        result = {"request": "r", "driver": "d", "pool": held, "device": "dev-0", "consumedCapacity": consumed}
        status = {"allocation": {"devices": {"results": [result]}}}
        status["reservedFor"] = [{"resource": "pods", "name": user, "uid": f"default/{user}"} for user in users]
    exactly = {"deviceClassName": "part", "allocationMode": "ExactCount", "count": number}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, ResourceClaim)


def user(name="web", claims=("part",), *, cpu="1", memory="1Gi", references=1, limits=None, **spec):
    """A pod that uses claims, the first of which its container names so many times."""
    used = [{"name": claims[0], "request": f"r{i}"} for i in range(references)]
    resources = {"requests": {"cpu": cpu, "memory": memory}, "claims": used, "limits": limits}
    containers = [{"name": "main", "image": "x", "resources": resources}]
    named = [{"name": each, "resourceClaimName": each} for each in claims]
    return pod(name, containers=containers, resourceClaims=named, **spec)


def scheduler(*objects, release=RELEASE):
    return Scheduler(cluster(*objects, CLASS, release=release), default(release), plugins_of(release))


def refusal(scheduling, incoming, on="a"):
    outcome = scheduling.attempt(incoming)
    return outcome.filtering.status(outcome.filtering.nodes.names.index(on))


CPU = {"cpu": {"mapping": {"deviceMultiplier": "2"}}}
OVERHEAD = {"cpu": {"overhead": {"perPod": "1", "perContainer": "500m"}}}


@pytest.mark.parametrize(
    ("free", "charged", "more", "reasons"),
    [
        pytest.param("3", CPU, {}, (), id="a device that stands for cpu fits beside what the pod requests"),
        pytest.param("2900m", CPU, {}, ("Insufficient cpu",), id="it does not fit where less is left"),
        pytest.param("2500m", OVERHEAD, {}, (), id="overhead counts once and for each container"),
        pytest.param("2900m", OVERHEAD, {"references": 2}, ("Insufficient cpu",), id="each time a container names it"),
        pytest.param("2", OVERHEAD, {"references": 0}, (), id="and once where no container does"),
        pytest.param("3", {}, {"cpu": "3"}, (), id="other devices take nothing"),
        pytest.param("4", {"cpu": {"overhead": {}}}, {"cpu": "4"}, (), id="nor does an overhead of nothing"),
        pytest.param(
            "8", {"memory": {"mapping": {"deviceMultiplier": "64Gi"}}}, {}, ("Insufficient memory",), id="memory"
        ),
    ],
)
def test_a_pod_needs_room_for_what_its_devices_take(free, charged, more, reasons):
    incoming = user(**more)
    status = refusal(scheduler(node("a", cpu=free), devices("a", charged), claim(), incoming), incoming)
    assert status.reasons == reasons
    assert status.plugin == ("DynamicResources" if reasons else "")


def test_while_the_gate_is_off_devices_take_nothing():
    incoming = user()
    assert scheduler(node("a", cpu="1"), devices("a", CPU), claim(), incoming, release=NEWEST).attempt(incoming).chosen


def test_the_share_of_a_capacity_is_multiplied():
    taken = claim(held="a", consumed={"bytes": "8Gi"})
    incoming = user(memory="1Gi")
    assert refusal(scheduler(node("a", memory="5Gi"), devices("a", HALF), taken, incoming), incoming).successful
    assert refusal(scheduler(node("a", memory="4Gi"), devices("a", HALF), taken, incoming), incoming).reasons == (
        "Insufficient memory",
    )


def test_a_capacity_of_which_nothing_was_taken_ends_the_cycle():
    incoming = user()
    outcome = scheduler(node("a"), devices("a", HALF), claim(held="a"), incoming).attempt(incoming)
    assert outcome.error.endswith(
        "claim default/part, device dev-0: ConsumedCapacity is nil, but Capacity key 'bytes' is set in"
        " NodeAllocatableResources for resource memory"
    )


def test_what_devices_take_is_gone_for_the_next_pod_and_back_when_the_pod_is_taken_back():
    first, second = user(), pod("plain", cpu="2")
    scheduling = scheduler(node("a", cpu="4"), devices("a", CPU), claim(), first, second)
    outcome = scheduling.attempt(first)
    scheduling.place(outcome)
    (running,) = scheduling.cluster.pod_table
    assert running.requests.exact["cpu"] == 3000
    assert refusal(scheduling, second).reasons == ("Insufficient cpu",)
    scheduling.release(outcome, "a", refusal(scheduling, second))
    assert scheduling.cluster.pending[first.key] is first
    assert refusal(scheduling, second).successful


def test_a_running_pod_takes_what_its_status_says():
    mapped = {"resourceClaimName": "part", "mapping": [{"name": "cpu", "quantity": "3"}]}
    running = pod("old", on="a", cpu="500m", status={"nodeAllocatableResourceClaimStatuses": [mapped]})
    incoming = pod("new", cpu="1")
    assert refusal(scheduler(node("a"), running, incoming), incoming).reasons == ("Insufficient cpu",)
    assert refusal(scheduler(node("a"), running, incoming, release=NEWEST), incoming).successful


def test_a_pod_that_takes_room_with_its_devices_is_preempted_for_them():
    mapped = {"resourceClaimName": "other", "mapping": [{"name": "cpu", "quantity": "3"}]}
    victim = pod("old", on="a", cpu="500m", priority=0, status={"nodeAllocatableResourceClaimStatuses": [mapped]})
    incoming = user(priority=100)
    outcome = scheduler(node("a"), devices("a", CPU), claim(), victim, incoming).attempt(incoming)
    assert outcome.post_filter.nominated_node == "a"
    assert outcome.post_filter.victims == (victim,)


@pytest.mark.parametrize(
    ("charged", "users", "reasons"),
    [
        pytest.param(
            CPU, ["other"],
            ("node allocatable resource claim part has a mapped device and cannot be shared across pods",),
            id="a claim with a device that stands for cpu is one pod's alone",
        ),
        pytest.param(CPU, ["other", "web"], (), id="its own pod may use it"),
        pytest.param(CPU, [], (), id="so may the first one"),
        pytest.param(OVERHEAD, ["other"], (), id="devices that only cost something may be shared"),
    ],
)  # fmt: skip
def test_claims_are_shared_between_pods(charged, users, reasons):
    incoming = user()
    status = refusal(scheduler(node("a"), devices("a", charged), claim(held="a", users=users), incoming), incoming)
    assert status.reasons == reasons


@pytest.mark.parametrize(
    ("resources", "limits", "reasons"),
    [
        pytest.param({"requests": {"cpu": "3"}}, None, (), id="requests that cover containers and devices"),
        pytest.param(
            {"requests": {"cpu": "2"}}, None,
            "pod level request for cpu is insufficient to cover the aggregated container and node-allocatable DRA"
            " requests",
            id="requests that do not",
        ),
        pytest.param(
            {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}}, {"cpu": "2"},
            "pod level limit for cpu is insufficient to cover the limit and DRA overhead for container main",
            id="a limit that a container could exceed",
        ),
    ],
)  # fmt: skip
def test_resources_of_a_pod_as_a_whole_have_to_cover_its_devices(resources, limits, reasons):
    incoming = user(resources=resources, limits=limits)
    status = refusal(scheduler(node("a", cpu="8"), devices("a", CPU), claim(), incoming), incoming)
    assert status.reasons == ((reasons,) if reasons else ())


def test_a_claim_that_is_named_twice_counts_once():
    incoming = user(claims=("part", "part"))
    assert refusal(scheduler(node("a", cpu="3"), devices("a", CPU), claim(held="a"), incoming), incoming).successful


@pytest.mark.parametrize(
    ("charged", "refusal"),
    [
        pytest.param(
            CPU,
            "what the devices of claim part take of the node has to be written into the status of the pod before the"
            " bind, and schedctl does not write that; leave the pod to kube-scheduler",
            id="a pod whose devices take something",
        ),
        pytest.param({}, "", id="any other pod"),
    ],
)
def test_a_bind_that_would_leave_out_what_devices_take_is_refused(charged, refusal):
    incoming = user()
    scheduling = scheduler(node("a"), devices("a", charged), claim(), incoming)
    assert decide(reserve(scheduling, incoming, "a")).refusal == refusal


def test_v1_36_writes_it_down_in_another_way_that_is_not_modelled():
    older = next(release for release in RELEASES if release.minor == (1, 36))
    with pytest.raises(UnmodelledGateError):
        older.with_gates({"DRANodeAllocatableResources": True})
