"""Volumes: what is told of each refusal, and the next steps that were tried."""

import msgspec
import pytest

from schedctl.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from schedctl.explain.cluster_changes import AddNode
from schedctl.testing.builders import cluster, node, pod

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
DRIVER = "disks.example.com"
ONE_POD = "ReadWriteOncePod"
SELECTED = "volume.kubernetes.io/selected-node"


def claim(name="data", size="10Gi", of="zonal", *, to=None, modes=("ReadWriteOnce",), notes=None, phase=None):
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if to else {}
    spec = {"accessModes": list(modes), "storageClassName": of, "resources": {"requests": {"storage": size}}}
    made = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": bound | (notes or {})},
        "spec": spec | {"volumeName": to or ""},
        "status": {"phase": phase or ("Bound" if to else "Pending")},
    }
    return msgspec.convert(made, PersistentVolumeClaim)


def volume(name, of="zonal", size="10Gi", *, only=None, labels=None, claimed=None, handle=None):
    """A volume within reach of nodes with the labels `only`, claimed by the claim of that name."""
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": of}
    if only:
        terms = [{"key": key, "operator": "In", "values": [value]} for key, value in only.items()]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": terms}]}}
    if claimed:
        spec["claimRef"] = {"namespace": "default", "name": claimed, "uid": f"uid-{claimed}"}
    spec["csi"] = {"driver": DRIVER, "volumeHandle": handle or name}
    status = {"phase": "Bound" if claimed else "Available"}
    return msgspec.convert(
        {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}, PersistentVolume
    )


def bound(name, **options):
    """A claim and the volume it is bound to."""
    return claim(name, to=f"pv-{name}"), volume(f"pv-{name}", claimed=name, **options)


def storage_class(name="zonal", provisioner=DRIVER, *, mode="WaitForFirstConsumer", zones=None):
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}] if zones else None
    made = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    return msgspec.convert(made | {"allowedTopologies": terms}, StorageClass)


def csi_node(name, limit=None):
    driver = {"name": DRIVER, "nodeID": name, "allocatable": None if limit is None else {"count": limit}}
    return msgspec.convert({"metadata": {"name": name}, "spec": {"drivers": [driver]}}, CSINode)


def csi_driver(**spec):
    return msgspec.convert({"metadata": {"name": DRIVER}, "spec": spec}, CSIDriver)


def capacity(on, left, of="zonal"):
    topology = {"matchLabels": {HOSTNAME: on}}
    made = {"metadata": {"name": f"left-{on}", "namespace": "kube-system"}, "storageClassName": of, "capacity": left}
    return msgspec.convert(made | {"nodeTopology": topology}, CSIStorageCapacity)


def using(*claims, name="web", **spec):
    volumes = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": each}} for i, each in enumerate(claims)]
    return pod(name, volumes=volumes, **spec)


LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
A, B = node("a", zone="zone-a"), node("b", zone="zone-b")


def told(answer):
    """What stands below the reasons: summaries, then details."""
    summaries = [reason.summary for reason in answer.reasons if reason.summary]
    return summaries + [group.detail for reason in answer.reasons for group in reason.groups]


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [A, *bound("data", only={ZONE: "zone-b"})],
            using("data"),
            [f"volume pv-data of claim data is within reach only of {ZONE}=zone-b"],
            id="the volume of a bound claim is out of reach",
        ),
        pytest.param(
            [A, *bound("data", labels={ZONE: "zone-b"})],
            using("data"),
            [f"volume pv-data of claim data is in {ZONE}=zone-b, the node in zone-a"],
            id="the labels of a volume are those of another zone",
        ),
        pytest.param(
            [A, claim(of="local"), LOCAL, volume("small", "local", "1Gi")],
            using("data"),
            ["claim data: no volume of class local will do (1 too small), and class local makes none"],
            id="the only volume of a class is too small",
        ),
        pytest.param(
            [A, claim(of="local"), LOCAL],
            using("data"),
            ["claim data: there is no volume, and class local makes none"],
            id="a class without volumes or a provisioner",
        ),
        pytest.param(
            [A, claim(), storage_class(zones=["zone-b", "zone-c"])],
            using("data"),
            [f"class zonal makes volumes, here for claim data, only in {ZONE} in (zone-b,zone-c)"],
            id="a class that makes volumes in other zones",
        ),
        pytest.param(
            [A, B, claim(size="12Gi"), storage_class(), csi_driver(storageCapacity=True), capacity("b", "10Gi")],
            using("data"),
            [
                "claim data: 12Gi of class zonal requested, 10Gi at most on a node",
                "at most 10Gi left, 2Gi missing",
                "no capacity is known here",
            ],
            id="the nearest miss comes first where storage is short",
        ),
        pytest.param(
            [A, B, claim(notes={SELECTED: "b"}), storage_class()],
            using("data", nodeSelector={ZONE: "zone-a"}),
            ["a volume for claim data is being made for b", f"does not have nodeSelector {ZONE}=zone-a"],
            id="a claim that was promised another node",
        ),
        pytest.param(
            [A, csi_node("a", 1), *bound("data"), *bound("log"), using("log", name="other", on="a")],
            using("data"),
            [f"{DRIVER}: 1 more for volume v0", "1 of at most 1 volumes attached, for default/other"],
            id="a node that has as many volumes attached as it can",
        ),
        pytest.param(
            [A, csi_driver(preventPodSchedulingIfMissing=True), *bound("data")],
            using("data"),
            ["volume v0 needs it"],
            id="a driver that is not installed",
        ),
        pytest.param(
            [A, claim(to="pv", modes=[ONE_POD]), volume("pv", claimed="data"), using("data", name="x", on="a")],
            using("data"),
            ["claim data is in use by default/x"],
            id="a claim for one pod at a time",
        ),
        pytest.param(
            [A, pod("x", on="a", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "disk"}}])],
            pod(volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "disk"}}]),
            ["gcePersistentDisk disk is in use by default/x"],
            id="a disk of another pod",
        ),
    ],
)  # fmt: skip
def test_what_stands_behind_a_refusal_is_told(ask, objects, subject, texts):
    assert told(ask(cluster(*objects), subject)) == texts


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [A, *bound("data", only={ZONE: "zone-b"})],
            using("data"),
            [f"would fit on a if volume pv-data of claim data were moved to {ZONE}=zone-a"],
            id="the volume is moved to the nodes",
        ),
        pytest.param(
            [A, *bound("data", labels={ZONE: "zone-b"})],
            using("data"),
            [f"would fit on a if volume pv-data of claim data were moved to {ZONE}=zone-a"],
            id="also one that only its labels keep away",
        ),
        pytest.param(
            [A, B, *bound("data", only={ZONE: "zone-b"})],
            using("data", nodeSelector={ZONE: "zone-a"}),
            [
                f"would fit on b if its nodeSelector did not ask for {ZONE}=zone-a",
                f"would fit on a if volume pv-data of claim data were moved to {ZONE}=zone-a",
            ],
            id="a selector in conflict with the zone of the volume goes, or the volume does",
        ),
        pytest.param(
            [A, claim(size="12Gi"), storage_class(), csi_driver(storageCapacity=True), capacity("a", "10Gi")],
            using("data"),
            ["would fit on a if claim data asked for 10Gi or less"],
            id="a claim asks for what is left",
        ),
        pytest.param(
            [A, claim(of="local"), LOCAL, storage_class(), storage_class("now", mode="Immediate")],
            using("data"),
            ["would fit on a if claim data were of class zonal"],
            id="another class that waits for its pod",
        ),
        pytest.param(
            [A, claim(of="now"), storage_class("now", mode="Immediate")],
            using("data"),
            ["would fit if class now had volumeBindingMode WaitForFirstConsumer"],
            id="a class that binds too early",
        ),
        pytest.param(
            [A, claim(notes={SELECTED: "gone"}), storage_class()],
            using("data"),
            [
                "would fit on a if claim data were free to go to another node "
                f"(`kubectl annotate pvc data -n default {SELECTED}-`)"
            ],
            id="a claim is promised a node that is gone",
        ),
        pytest.param(
            [A, csi_node("a", 2), *bound("data"), *bound("one"), *bound("two"),
             using("one", "two", name="big", on="a")],
            using("data"),
            ["would fit on a if pod default/big were not there"],
            id="a pod whose volumes make room",
        ),
        pytest.param(
            [A, csi_driver(preventPodSchedulingIfMissing=True), *bound("data")],
            using("data"),
            [f"would fit on a if CSI driver {DRIVER} were installed on a"],
            id="a missing driver is installed",
        ),
        pytest.param(
            [A, claim(to="pv", modes=[ONE_POD]), volume("pv", claimed="data"), using("data", name="x", on="a")],
            using("data"),
            [
                "would fit on a if pod default/x were not there",
                "would fit on a if claim data had access mode ReadWriteOnce",
            ],
            id="the one pod goes, or the claim is shared",
        ),
        pytest.param(
            [A, *bound("invoices")],
            using("invoice"),
            ['claim "invoice" is not in namespace default (did you mean "invoices"?); with it the pod would go to a'],
            id="a misspelt claim",
        ),
        pytest.param(
            [A, claim(of="zonnal"), storage_class()],
            using("data"),
            ['storage class "zonnal" of claim data is not in the cluster (did you mean "zonal"?);'
             " with it the pod would go to a"],
            id="a misspelt storage class",
        ),
    ],
)  # fmt: skip
def test_a_next_step_is_told_after_it_was_tried(ask, objects, subject, texts):
    hints = ask(cluster(*objects), subject).hints
    assert [hint.text for hint in hints if hint.fits] == texts


def test_a_claim_that_binds_too_early_is_told_though_no_node_was_asked(ask):
    answer = ask(cluster(A, claim(of="now"), storage_class("now", mode="Immediate")), using("data"))
    (reason,) = answer.reasons
    assert reason.whole_pod
    assert reason.summary == "claim data is not bound yet, and its class does not wait for a pod"


def test_trying_leaves_claims_and_volumes_as_they_were(ask):
    objects = [A, *bound("data", only={ZONE: "zone-b"}), claim("log"), storage_class(zones=["zone-b"])]
    c = cluster(*objects)
    before = {kind: dict(c.every(kind)) for kind in (PersistentVolume, PersistentVolumeClaim, StorageClass)}
    ask(c, using("data", "log"))
    assert {kind: dict(c.every(kind)) for kind in before} == before


def test_another_node_has_the_drivers_of_the_one_it_is_like():
    c = cluster(A, csi_node("a", 3))
    AddNode("a").apply(using("data").pod, c)
    assert c.get(CSINode, "another-a").spec == csi_node("a", 3).spec
