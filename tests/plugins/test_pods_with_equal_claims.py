"""Volumes and devices: pods with claims of their own but equal ones get from memory what they would get anew."""

import random

import msgspec
import pytest

from schedctl.api.devices import DeviceClass, ResourceClaim, ResourceSlice
from schedctl.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, VolumeAttachment
from schedctl.api.topology import ZONE
from schedctl.engine.fit_error import message
from schedctl.engine.queue.hints import Hints
from schedctl.engine.reporters import Reporter
from schedctl.errors import Inconclusive
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

CSI, EBS = "csi.example.com", "ebs.csi.aws.com"
NODES = ("a", "b", "c", "d")
COMPLETED = {"pv.kubernetes.io/bind-completed": "yes"}


def volume(name, pick):
    """A volume that is mostly one like the others."""
    source = {"csi": {"driver": CSI, "volumeHandle": pick.choice([name, name, "same"])}}
    spec = pick.choice([source, source, {"awsElasticBlockStore": {"volumeID": pick.choice(["vol-1", name])}}])
    if pick.random() < 0.15:
        here = {"key": ZONE, "operator": "In", "values": ["z1"]}
        spec = {**spec, "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}}
    labels = {ZONE: "z1"} if pick.random() < 0.15 else {}
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "spec": spec}, PersistentVolume)


def claim(name, pick):
    metadata = {"name": name, "namespace": "default", "annotations": COMPLETED if pick.random() < 0.9 else {}}
    modes = [pick.choice(["ReadWriteMany", "ReadWriteMany", "ReadWriteOncePod"])]
    return msgspec.convert(
        {"metadata": metadata, "spec": {"volumeName": name, "accessModes": modes}}, PersistentVolumeClaim
    )


def csi_node(name, pick):
    drivers = [
        {"name": driver, "nodeID": name, "allocatable": {"count": pick.randrange(1, 4)}}
        for driver in pick.sample([CSI, EBS], pick.choice([1, 2]))
    ]
    return msgspec.convert({"metadata": {"name": name}, "spec": {"drivers": drivers}}, CSINode)


def attachment(number, pick):
    spec = {
        "attacher": CSI,
        "nodeName": pick.choice(NODES),
        "source": {"persistentVolumeName": f"v{pick.randrange(6)}"},
    }
    return msgspec.convert({"metadata": {"name": f"va{number}"}, "spec": spec}, VolumeAttachment)


def devices(name, pick):
    """The devices of a node, or some that all nodes see."""
    where = {"allNodes": True} if name == "any" else {"nodeName": name}
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    listed = [{"name": f"dev-{i}", "allowMultipleAllocations": i == 3} for i in range(pick.randrange(1, 5))]
    spec = {"driver": "d", **where, "pool": pool, "devices": listed}
    return msgspec.convert({"metadata": {"name": f"slice-{name}"}, "spec": spec}, ResourceSlice)


def resource_claim(name, pick):
    def exactly(count):
        return {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}

    one, two = {"name": "r", "exactly": exactly(1)}, {"name": "r", "exactly": exactly(2)}
    either = {"name": "r", "firstAvailable": [{"name": "two", **exactly(2)}, {"name": "one", **exactly(1)}]}
    metadata = {"name": name, "namespace": "default", "uid": f"{name}-{pick.randrange(2)}"}
    spec = {"devices": {"requests": [pick.choice([one, one, two, either])]}}
    return msgspec.convert({"metadata": metadata, "spec": spec}, ResourceClaim)


def device_class():
    return msgspec.convert({"metadata": {"name": "gpu"}, "spec": {}}, DeviceClass)


def using(number, pick):
    """A pod with claims for volumes, for devices, or both."""
    volumes = [f"v{i}" for i in pick.sample(range(6), pick.choice([0, 1, 1, 2]))]
    claims = [f"c{i}" for i in pick.sample(range(8), pick.choice([0, 1, 1, 2]))]
    return pod(
        f"p{number}",
        metadata={"uid": f"uid-{number}"},
        volumes=[{"name": f"n{i}", "persistentVolumeClaim": {"claimName": each}} for i, each in enumerate(volumes)],
        resourceClaims=[{"name": f"n{i}", "resourceClaimName": each} for i, each in enumerate(claims)],
    )


def something_happens(c, pick):
    match pick.randrange(9):
        case 0:
            c.put(claim(f"v{pick.randrange(6)}", pick))
        case 1:
            c.put(volume(f"v{pick.randrange(6)}", pick))
        case 2:
            c.put(csi_node(pick.choice(NODES), pick))
        case 3:
            c.put(attachment(pick.randrange(2), pick))
        case 4:
            c.put(devices(pick.choice([*NODES, *NODES, "any"]), pick))
        case 5 | 6:
            c.put(resource_claim(f"c{pick.randrange(8)}", pick))
        case 7 if len(c.pod_table):
            c.remove_pod(pick.choice(sorted(c.pod_table, key=lambda info: info.key)))
        case 8:
            c.add_node(node(pick.choice(NODES), zone=pick.choice(["z1", "z2"])))


def facts(scheduler, incoming):
    """What is decided about a pod and said of it, and the attempt; only the first where nothing can be decided."""
    try:
        outcome = scheduler.attempt(incoming)
    except Inconclusive as fault:
        return str(fault), None
    scores = outcome.scoring and {each.plugin: each.raw.tolist() for each in outcome.scoring.plugins}
    return (outcome.ties, message(outcome), outcome.error, outcome.unschedulable_plugins, scores), outcome


def given(c):
    """What claims have, and what is noted of those that are not written yet."""
    return {key: held for key, held in c.every(ResourceClaim).items() if held.status.allocation is not None}


@pytest.mark.parametrize("seed", range(30))
def test_cached_answers_for_pods_with_equal_claims_equal_new_ones(seed):
    pick = random.Random(seed)
    c = cluster(
        *(node(name, zone=pick.choice(["z1", "z2"])) for name in NODES),
        *(csi_node(name, pick) for name in NODES[:3]),
        *(make(f"v{i}", pick) for i in range(6) for make in (volume, claim)),
        *(devices(name, pick) for name in NODES),
        *(resource_claim(f"c{i}", pick) for i in range(8)),
        device_class(),
    )
    remembering = Scheduler(c)
    for number in range(60):
        incoming = using(number, pick)
        c.add_pod(incoming)
        found, outcome = facts(remembering, incoming)
        assert found == facts(Scheduler(c), incoming)[0], number
        if outcome is not None and outcome.chosen and pick.random() < 0.7:
            placed = remembering.place(outcome)
            with_note = facts(remembering, using(1000 + number, pick))[0]
            assert with_note is not None
            if placed.status.successful and pick.random() < 0.7:
                remembering.bind(outcome)
            elif placed.status.successful and pick.random() < 0.5:
                remembering.release(outcome, outcome.chosen, placed.status)
        if pick.random() < 0.5:
            something_happens(c, pick)
        if pick.random() < 0.2:
            with c.fork():
                something_happens(c, pick)
                inside = using(2000 + number, pick)
                assert facts(remembering, inside)[0] == facts(Scheduler(c), inside)[0], number


@pytest.mark.parametrize("seed", range(12))
def test_pods_with_equal_claims_get_the_devices_of_a_new_search(seed):
    def run(reusing):
        pick = random.Random(seed)
        c = cluster(
            *(node(name, zone="z1") for name in NODES),
            *(devices(name, pick) for name in NODES),
            *(resource_claim(f"c{i}", pick) for i in range(12)),
            device_class(),
        )
        scheduler, taken = Scheduler(c), []
        for number in range(12):
            incoming = pod(f"p{number}", resourceClaims=[{"name": "n", "resourceClaimName": f"c{number}"}])
            c.add_pod(incoming)
            scheduler = scheduler if reusing else Scheduler(c)
            outcome = scheduler.attempt(incoming)
            if outcome.chosen:
                assert scheduler.place(outcome).status.successful
                if number % 3:
                    assert scheduler.bind(outcome).successful
                taken.append((outcome.chosen, given(c)))
        return taken

    assert run(reusing=True) == run(reusing=False) != []


def test_hints_about_a_claim_are_not_shared_by_pods_with_different_claims():
    pick = random.Random(1)
    made = [resource_claim(f"c{i}", pick) for i in range(2)]
    c = cluster(node("a"), device_class(), *made, *(make(f"v{i}", pick) for i in range(2) for make in (volume, claim)))
    hints = Hints(Scheduler(c).profiles.values(), Reporter())
    for first, other in (
        ({"resourceClaims": [{"name": "n", "resourceClaimName": f"c{i}"}]} for i in range(2)),
        ({"volumes": [{"name": "n", "persistentVolumeClaim": {"claimName": f"v{i}"}}]} for i in range(2)),
    ):
        for plugin in (
            ("DynamicResources",) if "resourceClaims" in first else ("NodeVolumeLimits", "VolumeRestrictions")
        ):
            alike = [hints.equivalence_key(pod(name, **spec), [plugin]) for name, spec in (("x", first), ("y", other))]
            assert alike[0] != alike[1], plugin
    assert hints.equivalence_key(pod("x"), ["NodeVolumeLimits"]) == hints.equivalence_key(
        pod("y"), ["NodeVolumeLimits"]
    )


def test_pods_with_equal_claims_respect_the_volume_limit_of_each_node():
    pick = random.Random(0)
    limits = {"a": 3, "b": 1}
    drivers = [
        msgspec.convert(
            {"metadata": {"name": on}, "spec": {"drivers": [{"name": CSI, "nodeID": on, "allocatable": {"count": n}}]}},
            CSINode,
        )
        for on, n in limits.items()
    ]
    bound = [claim(f"v{i}", pick) for i in range(4)]
    bound = [
        msgspec.structs.replace(each, spec=msgspec.structs.replace(each.spec, access_modes=None)) for each in bound
    ]
    of_csi = [
        msgspec.convert(
            {"metadata": {"name": f"v{i}"}, "spec": {"csi": {"driver": CSI, "volumeHandle": f"v{i}"}}}, PersistentVolume
        )
        for i in range(4)
    ]
    c = cluster(node("a"), node("b"), *drivers, *bound, *of_csi)
    scheduler = Scheduler(c)

    def mounting(name, of):
        return pod(name, volumes=[{"name": "n", "persistentVolumeClaim": {"claimName": of}}])

    assert scheduler.attempt(mounting("first", "v0")).ties == ["a", "b"]
    c.assume(mounting("shared-a", "v3"), "a")
    scheduler.attempt(mounting("second", "v1"))
    c.assume(mounting("shared-b", "v3"), "b")
    assert scheduler.attempt(mounting("third", "v2")).ties == ["a"]


def test_a_node_scores_less_after_its_better_alternative_is_allocated():
    def kind(name):
        selector = {"cel": {"expression": f"device.attributes['d'].kind == '{name}'"}}
        return msgspec.convert({"metadata": {"name": name}, "spec": {"selectors": [selector]}}, DeviceClass)

    def slice_of(on):
        kinds = ["big", "small", "small"]
        listed = [{"name": f"g{i}", "attributes": {"kind": {"string": kind}}} for i, kind in enumerate(kinds)]
        pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "d", "nodeName": on, "pool": pool, "devices": listed}
        return msgspec.convert({"metadata": {"name": f"s-{on}"}, "spec": spec}, ResourceSlice)

    def wanting(name):
        either = [
            {"name": each, "deviceClassName": each, "allocationMode": "ExactCount", "count": 1}
            for each in ("big", "small")
        ]
        requests = [{"name": "r", "firstAvailable": either}]
        metadata = {"name": name, "namespace": "default"}
        return msgspec.convert({"metadata": metadata, "spec": {"devices": {"requests": requests}}}, ResourceClaim)

    busy = [pod(f"x-{on}", on=on, cpu="6", memory="1Gi") for on in ("b", "c")]
    c = cluster(
        *(node(on, cpu="64") for on in ("a", "b", "c")),
        *busy,
        kind("big"),
        kind("small"),
        *map(slice_of, ("a", "b", "c")),
        *(wanting(f"c{i}") for i in range(3)),
    )
    scheduler = Scheduler(c)
    for number in range(3):
        claims = [{"name": "r", "resourceClaimName": f"c{number}"}]
        incoming = pod(f"p{number}", cpu="1", memory="256Mi", resourceClaims=claims)
        outcome = scheduler.attempt(incoming)
        assert outcome.ties == Scheduler(c).attempt(incoming).ties
        assert scheduler.place(outcome).status.successful
        assert scheduler.bind(outcome).successful
