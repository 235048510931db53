"""Volumes: what is told of each refusal, and the next steps that were tried."""

import msgspec
import pytest

from schedctl.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeStatus,
    StorageClass,
    VolumeAttachment,
)
from schedctl.api.topology import HOSTNAME, ZONE
from schedctl.explain.pod_remedies import add_node
from schedctl.testing.builders import cluster, node, pod

DRIVER = "disks.example.com"
ONE_POD = "ReadWriteOncePod"
SELECTED = "volume.kubernetes.io/selected-node"


def claim(
    name="data", size="10Gi", of="zonal", *, to=None, asks_for="", modes=("ReadWriteOnce",), notes=None, phase=None
):
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if to else {}
    spec = {"accessModes": list(modes), "storageClassName": of, "resources": {"requests": {"storage": size}}}
    made = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": bound | (notes or {})},
        "spec": spec | {"volumeName": to or asks_for},
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


def recreated(field):
    """The command that recreates claim data with a field of its spec changed."""
    patch = 'kubectl patch pvc data -n default -p \'{"spec":{' + field + "}}'"
    return f" (`{patch} --dry-run=client -o yaml | kubectl replace --force -f -`)"


def released(name, *args, **options):
    """A volume of a claim that is gone."""
    return msgspec.structs.replace(
        volume(name, *args, claimed="gone", **options), status=PersistentVolumeStatus(phase="Released")
    )


def shared_volume(name):
    """A volume that many nodes can use at a time."""
    found = volume(name, claimed=name)
    return msgspec.structs.replace(found, spec=msgspec.structs.replace(found.spec, access_modes=["ReadWriteMany"]))


def attachment(name, on):
    """The attachment of the volume of a claim of that name."""
    source = {"persistentVolumeName": f"pv-{name}"}
    spec = {"attacher": DRIVER, "nodeName": on, "source": source}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, VolumeAttachment)


def storage_class(name="zonal", provisioner=DRIVER, *, mode="WaitForFirstConsumer", zones=None, default=False):
    notes = {"storageclass.kubernetes.io/is-default-class": "true"} if default else None
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}] if zones else None
    metadata = {"name": name, "annotations": notes}
    made = {"metadata": metadata, "provisioner": provisioner, "volumeBindingMode": mode}
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


def details(answer):
    """What stands below the reasons: summaries, then details."""
    summaries = [reason.summary for reason in answer.reasons if reason.summary]
    return summaries + [group.detail for reason in answer.reasons for group in reason.groups]


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [A, *bound("data", only={ZONE: "zone-b"})],
            using("data"),
            [f"volume pv-data of claim data is reachable only from {ZONE}=zone-b"],
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
            [
                "claim data: 10Gi of class local requested, no volume matches (1 too small), the class provisions none",
                "volume small is too small: 1Gi, 9Gi missing",
            ],
            id="the only volume of a class is too small",
        ),
        pytest.param(
            [A, B, node("c", zone="zone-c"), claim(of="local"), LOCAL,
             volume("small", "local", "1Gi", only={HOSTNAME: "a"}),
             released("old", "local", only={HOSTNAME: "b"})],
            using("data"),
            [
                "claim data: 10Gi of class local requested,"
                " no volume matches (1 too small, 1 released by another claim), the class provisions none",
                "volume old is Released: its claimRef still names claim default/gone",
                "volume small is too small: 1Gi, 9Gi missing",
                "no volume of the class is reachable from here",
            ],
            id="of each node the nearest volume is named, with what is wrong with it",
        ),
        pytest.param(
            [A, claim(of="local", modes=["ReadWriteMany"]), LOCAL, volume("own", "local"),],
            using("data"),
            [
                "claim data: 10Gi of class local requested,"
                " no volume matches (1 without the access modes), the class provisions none",
                "volume own has only access mode ReadWriteOnce",
            ],
            id="the only volume of a class is for one node at a time",
        ),
        pytest.param(
            [A, claim(of="local"), claim("log", of="local"), LOCAL, volume("only", "local")],
            using("data", "log"),
            [
                "claim log: 10Gi of class local requested,"
                " no volume matches (1 unreachable), the class provisions none",
                "volume only goes to another claim of the pod",
            ],
            id="the only volume of a class goes to another claim of the pod",
        ),
        pytest.param(
            [A, claim(of="local"), LOCAL],
            using("data"),
            ["claim data: 10Gi of class local requested, there is no volume, the class provisions none", ""],
            id="a class without volumes or a provisioner",
        ),
        pytest.param(
            [A, claim(of="local", notes={SELECTED: "a"}), LOCAL],
            using("data"),
            ["claim data: 10Gi of class local requested, one is to be provisioned, the class provisions none", ""],
            id="a volume is to be made of a class that makes none",
        ),
        pytest.param(
            [A, claim(), storage_class(zones=["zone-b", "zone-c"])],
            using("data"),
            [f"class zonal provisions volumes (claim data) only in {ZONE} in (zone-b,zone-c)"],
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
            ["a volume for claim data is being provisioned for b", f"label {ZONE}=zone-a missing"],
            id="a claim that was promised another node",
        ),
        pytest.param(
            [A, csi_node("a", 1), *bound("data"), *bound("log"), using("log", name="other", on="a")],
            using("data"),
            [f"{DRIVER}: 1 more for volume v0", "1 of at most 1 volumes attached, by default/other"],
            id="a node that has as many volumes attached as it can",
        ),
        pytest.param(
            [A, csi_node("a", 1), *bound("data"), *bound("log"), attachment("log", on="a")],
            using("data"),
            [f"{DRIVER}: 1 more for volume v0", "1 of at most 1 volumes attached; used by no pod: pv-log"],
            id="a node with a volume attached that no pod there uses",
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
    assert details(ask(cluster(*objects), subject)) == texts


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [A, *bound("data", only={ZONE: "zone-b"})],
            using("data"),
            [f"would fit on a if volume pv-data of claim data is moved to {ZONE}=zone-a"],
            id="the volume is moved to the nodes",
        ),
        pytest.param(
            [A, *bound("data", labels={ZONE: "zone-b"})],
            using("data"),
            [f"would fit on a if volume pv-data of claim data is moved to {ZONE}=zone-a"],
            id="also one that only its labels keep away",
        ),
        pytest.param(
            [A, B, *bound("data", only={ZONE: "zone-b"})],
            using("data", nodeSelector={ZONE: "zone-a"}),
            [
                f"would fit on b if its nodeSelector does not require {ZONE}=zone-a",
                f"would fit on a if volume pv-data of claim data is moved to {ZONE}=zone-a",
            ],
            id="a selector in conflict with the zone of the volume goes, or the volume does",
        ),
        pytest.param(
            [A, claim(size="12Gi"), storage_class(), csi_driver(storageCapacity=True), capacity("a", "10Gi")],
            using("data"),
            [
                "would fit on a if claim data is recreated with at most 10Gi"
                + recreated('"resources":{"requests":{"storage":"10Gi"}}')
            ],
            id="a claim asks for what is left",
        ),
        pytest.param(
            [A, claim(of="local"), LOCAL, storage_class(), storage_class("now", mode="Immediate")],
            using("data"),
            ["would fit on a if claim data is recreated with class zonal" + recreated('"storageClassName":"zonal"')],
            id="another class that waits for its pod",
        ),
        pytest.param(
            [A, claim(of="local", size="12Gi"), LOCAL, volume("small", "local", "1Gi"), volume("less", "local", "1Mi")],
            using("data"),
            [
                "would fit on a if claim data is recreated with at most 1Gi"
                + recreated('"resources":{"requests":{"storage":"1Gi"}}')
            ],
            id="a claim asks for what the largest volume has",
        ),
        pytest.param(
            [A, claim(of="local"), LOCAL, released("old", "local")],
            using("data"),
            [
                "would fit on a if the claimRef of Released volume old is cleared, its data no longer needed"
                """ (`kubectl patch pv old --type=json -p '[{"op":"remove","path":"/spec/claimRef"}]'`)"""
            ],
            id="a released volume is made available again",
        ),
        pytest.param(
            [A, claim(of="local", modes=["ReadWriteMany"]), LOCAL, storage_class(), volume("own", "local")],
            using("data"),
            [
                "would fit on a if claim data is recreated with access mode ReadWriteOnce"
                + recreated('"accessModes":["ReadWriteOnce"]')
            ],
            id="a claim asks for the access mode that there is, not for a class that is not known to have its own",
        ),
        pytest.param(
            [A, claim(of="local", modes=["ReadWriteMany"]), LOCAL, storage_class(), shared_volume("other")],
            using("data"),
            ["would fit on a if claim data is recreated with class zonal" + recreated('"storageClassName":"zonal"')],
            id="a class whose volumes are shared between nodes",
        ),
        pytest.param(
            [A, B, *bound("data", only={HOSTNAME: "b"})],
            using("data", nodeSelector={ZONE: "zone-a"}),
            [f"would fit on b if its nodeSelector does not require {ZONE}=zone-a"],
            id="a volume is not moved from one node to another",
        ),
        pytest.param(
            [A, claim(of=None), storage_class(), storage_class("first")],
            using("data"),
            [
                "would fit if claim data is of class first"
                """ (`kubectl patch pvc data -n default -p '{"spec":{"storageClassName":"first"}}'`)"""
            ],
            id="a claim that names no class is given one",
        ),
        pytest.param(
            [A, claim(of=None), storage_class("first"), storage_class(default=True)],
            using("data"),
            [
                "would fit if claim data is of class zonal"
                """ (`kubectl patch pvc data -n default -p '{"spec":{"storageClassName":"zonal"}}'`)"""
            ],
            id="and that is the default, if there is one",
        ),
        pytest.param(
            [A, claim(of=""), storage_class()],
            using("data"),
            ["would fit if claim data is recreated with class zonal" + recreated('"storageClassName":"zonal"')],
            id="a claim that wants no class cannot be given one, only be made anew",
        ),
        pytest.param(
            [A, claim(of="xyz"), storage_class()],
            using("data"),
            ["would fit if claim data is recreated with class zonal" + recreated('"storageClassName":"zonal"')],
            id="a class that does not exist and is like no other",
        ),
        pytest.param(
            [A, claim(asks_for="pv-1"), storage_class()],
            using("data"),
            ["would fit if claim data is recreated without a volumeName" + recreated('"volumeName":null')],
            id="a claim that names a volume which does not exist",
        ),
        pytest.param(
            [A, claim(notes={SELECTED: "gone"}), storage_class()],
            using("data"),
            [
                "would fit on a if claim data is no longer tied to its selected node "
                f"(`kubectl annotate pvc data -n default {SELECTED}-`)"
            ],
            id="a claim is promised a node that is gone",
        ),
        pytest.param(
            [A, csi_node("a", 2), *bound("data"), *bound("one"), *bound("two"),
             using("one", "two", name="big", on="a")],
            using("data"),
            [
                "would fit if another node like a is added",
                "would fit on a if pod default/big is deleted",
            ],
            id="a pod whose volumes make room",
        ),
        pytest.param(
            [A, csi_node("a", 1), *bound("data"), *bound("log"), using("log", name="other", on="a"),
             attachment("log", on="a")],
            using("data"),
            [
                "would fit if another node like a is added",
                "would fit if pod default/other is deleted and volume pv-log is detached from a",
            ],
            id="a pod whose volume must also be detached",
        ),
        pytest.param(
            [A, csi_node("a", 2), *bound("data"), *bound("log"), *bound("own"), using("own", name="other", on="a"),
             attachment("log", on="a")],
            using("data"),
            ["would fit if volume pv-log is detached from a", "would fit on a if pod default/other is deleted"],
            id="a volume that no pod uses is detached, or a pod goes",
        ),
        pytest.param(
            [A, csi_driver(preventPodSchedulingIfMissing=True), *bound("data")],
            using("data"),
            [f"would fit if CSI driver {DRIVER} is installed on a"],
            id="a missing driver is installed",
        ),
        pytest.param(
            [A, claim(to="pv", modes=[ONE_POD]), volume("pv", claimed="data"), using("data", name="x", on="a")],
            using("data"),
            ["would fit on a if pod default/x is deleted"],
            id="the one pod that may use a claim goes",
        ),
        pytest.param(
            [A, *bound("invoices")],
            using("invoice"),
            ['claim "invoice" is not in namespace default (did you mean "invoices"?);'
             ' if fixed, the pod would be placed on a'],
            id="a misspelt claim",
        ),
        pytest.param(
            [A, claim(of="zonnal"), storage_class()],
            using("data"),
            ['storage class "zonnal" of claim data is not in the cluster (did you mean "zonal"?);'
             " if claim data is recreated with class zonal, the pod would be placed on a"
             + recreated('"storageClassName":"zonal"')],
            id="a misspelt storage class",
        ),
    ],
)  # fmt: skip
def test_a_next_step_is_told_after_it_was_tried(ask, objects, subject, texts):
    hints = ask(cluster(*objects), subject).hints
    commands = [f" (`{hint.command}`)" if hint.command and not hint.patches else "" for hint in hints]
    assert [hint.text + command for hint, command in zip(hints, commands, strict=True) if hint.fits] == texts


@pytest.mark.parametrize(
    ("objects", "summary", "step"),
    [
        pytest.param(
            [claim(of="now"), storage_class("now", mode="Immediate")],
            f"claim data is not bound yet: class now binds immediately, and {DRIVER} has not provisioned a volume",
            f"find out why {DRIVER} has not made a volume for claim data:"
            " `kubectl describe pvc data -n default` shows its events",
            id="its class binds immediately, and the provisioner has not acted",
        ),
        pytest.param(
            [claim(of="now"), storage_class("now", "kubernetes.io/no-provisioner", mode="Immediate")],
            "claim data is not bound yet: class now binds immediately and provisions no volumes,"
            " and none is bound to it",
            "create a volume of class now for claim data",
            id="its class binds immediately, and nobody makes volumes",
        ),
        pytest.param(
            [claim(of="xyz")],
            "claim data is not bound yet: its class xyz does not exist, and no volume of that class matches",
            'storage class "xyz" of claim data is not in the cluster',
            id="its class does not exist",
        ),
        pytest.param(
            [claim(of=None)],
            "claim data is not bound yet: it has no storage class, and no volume is bound to it",
            "schedctl knows no change that helps",
            id="it has no class",
        ),
        pytest.param(
            [claim(asks_for="pv-1"), storage_class(), volume("pv-2")],
            "claim data is not bound yet: it names volume pv-1, which does not exist",
            'create volume pv-1 for claim data (did you mean "pv-2"?)',
            id="the volume it names does not exist, though its class waits",
        ),
        pytest.param(
            [claim(asks_for="pv-1"), storage_class(), volume("pv-1", claimed="log")],
            "claim data is not bound yet: it names volume pv-1, which is reserved for claim default/log",
            "would fit if claim data is recreated without a volumeName",
            id="the volume it names is reserved for another claim",
        ),
        pytest.param(
            [claim(asks_for="pv-1"), storage_class(), volume("pv-1", claimed="data")],
            "claim data is not bound yet: its binding to volume pv-1 is not completed",
            "the volume controller should complete the binding of claim data to volume pv-1;"
            " `kubectl describe pvc data -n default` shows what it says",
            id="its binding is under way",
        ),
    ],
)  # fmt: skip
def test_why_a_claim_holds_the_whole_pod_back_is_told_with_a_next_step(ask, objects, summary, step):
    answer = ask(cluster(A, *objects), using("data"))
    (reason,) = answer.reasons
    assert reason.whole_pod
    assert reason.summary == summary
    assert step in [hint.text for hint in answer.hints]


PROTECTED, GOING = ["kubernetes.io/pvc-protection"], "2026-01-01T00:00:00Z"


def leaving(made):
    """A claim that is being deleted, and is kept by a finalizer."""
    metadata = msgspec.structs.replace(made.metadata, deletion_timestamp=GOING, finalizers=PROTECTED)
    return msgspec.structs.replace(made, metadata=metadata)


@pytest.mark.parametrize(
    ("objects", "step", "command"),
    [
        pytest.param(
            [leaving(claim()), storage_class()],
            "a deletion cannot be undone: create claim data again once it is gone",
            "kubectl describe pvc data -n default",
            id="without a volume, nothing is lost",
        ),
        pytest.param(
            [leaving(bound("data")[0]), bound("data")[1], using("data", name="old", on="a")],
            "a deletion cannot be undone: to keep the data, set the reclaim policy of volume pv-data to Retain;"
            " create claim data again once pod default/old is gone",
            """kubectl patch pv pv-data -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'""",
            id="with a volume, its data is kept first, and the pod that holds the claim is named",
        ),
    ],
)
def test_a_claim_that_is_being_deleted_is_the_cause_with_its_finalizer(ask, objects, step, command):
    answer = ask(cluster(A, *objects), using("data", name="new"))
    (reason,) = answer.reasons
    assert reason.summary == "finalizer kubernetes.io/pvc-protection keeps it"
    assert [(hint.text, hint.command) for hint in answer.hints] == [(step, command)]


def test_volumes_that_would_stay_attached_on_an_empty_node_are_noted(ask):
    objects = [A, csi_node("a", 1), *bound("data"), *bound("log"), using("log", name="other", on="a")]
    nowhere = "the pod would fit on no node, even if it were empty"
    stay = f"{nowhere}; volumes would stay attached until they are detached"
    assert stay in ask(cluster(*objects, attachment("log", on="a")), using("data")).notes
    assert not any("stay attached" in note for note in ask(cluster(*objects), using("data")).notes)
    too_few = [A, csi_node("a", 0), *bound("data")]
    assert nowhere in ask(cluster(*too_few), using("data")).notes


@pytest.mark.parametrize(
    ("objects", "claims", "noted"),
    [
        pytest.param([*bound("data")], ["data"], True, id="a volume of a CSI driver"),
        pytest.param([*bound("data"), csi_node("a")], ["data"], False, id="a CSINode is there"),
        pytest.param([], [], False, id="a pod without volumes"),
        pytest.param([claim(of="local"), LOCAL, volume("own", "local")], ["data"], False, id="a volume made by hand"),
        pytest.param(
            [*bound("data"), csi_driver(attachRequired=False)], ["data"], False, id="a driver that attaches nothing"
        ),
    ],
)  # fmt: skip
def test_attach_limits_that_nobody_told_are_noted(ask, objects, claims, noted):
    notes = ask(cluster(A, *objects), using(*claims)).notes
    note = f"the state has no CSINode: how many volumes of {DRIVER} a node can attach is unknown and not checked"
    assert (note in notes) is noted
    assert any("CSINode" in each for each in notes) is noted


@pytest.mark.parametrize(
    ("objects", "takes"),
    [
        pytest.param(
            [claim(of="local"), LOCAL, volume("own", "local", "12Gi")],
            [(["own"], False, "claim data is bound to volume own (12Gi for 10Gi)")],
            id="a volume that is there",
        ),
        pytest.param(
            [claim(), storage_class()],
            [([], True, f"a volume is provisioned by {DRIVER} for claim data: 10Gi of class zonal")],
            id="a volume that is made",
        ),
        pytest.param(
            [claim(), storage_class(), csi_driver(storageCapacity=True), capacity("a", "100Gi")],
            [
                (
                    [],
                    True,
                    f"a volume is provisioned by {DRIVER} for claim data: 10Gi of class zonal, where 100Gi is left",
                )
            ],
            id="a volume that is made where there is room",
        ),
        pytest.param([*bound("data")], [], id="nothing, since the claim is bound already"),
    ],
)
def test_what_becomes_of_waiting_claims_on_the_chosen_node_is_told(ask, objects, takes):
    answer = ask(cluster(A, *objects), using("data"), node="a")
    assert answer.chosen == "a"
    assert [(taking.names, taking.made, taking.text) for taking in answer.takes] == takes
    assert answer.node.takes == answer.takes
    assert all((taking.plugin, taking.claim) == ("VolumeBinding", "default/data") for taking in answer.takes)


def test_a_pod_that_fits_nowhere_takes_nothing(ask):
    assert ask(cluster(A, claim(of="local"), LOCAL), using("data")).takes == []


def test_trying_leaves_claims_and_volumes_as_they_were(ask):
    objects = [A, *bound("data", only={ZONE: "zone-b"}), claim("log"), storage_class(zones=["zone-b"])]
    c = cluster(*objects)
    before = {kind: dict(c.every(kind)) for kind in (PersistentVolume, PersistentVolumeClaim, StorageClass)}
    ask(c, using("data", "log"))
    assert {kind: dict(c.every(kind)) for kind in before} == before


def test_another_node_has_the_drivers_of_the_one_it_is_like():
    c = cluster(A, csi_node("a", 3))
    add_node("a").apply(using("data").pod, c)
    assert c.get(CSINode, "another-a").spec == csi_node("a", 3).spec
