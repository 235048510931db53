"""Hints about volumes and devices: which change of which object may help a pod."""

import msgspec
import pytest

from schedctl.api.devices import AllocationResult, ResourceClaim, ResourceClaimStatus
from schedctl.api.meta import ObjectMeta
from schedctl.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from schedctl.api.topology import BETA_ZONE, ZONE
from schedctl.framework.events import Action, ClusterEvent, Hint, Resource
from schedctl.plugins.dynamic_resources.events import registrations
from schedctl.plugins.node_volume_limits.events import NODE_VOLUME_LIMITS
from schedctl.plugins.volume_binding.events import VOLUME_BINDING
from schedctl.plugins.volume_restrictions.events import VOLUME_RESTRICTIONS
from schedctl.plugins.volume_zone.events import VOLUME_ZONE
from schedctl.releases import NEWEST
from schedctl.testing.builders import node, pod


def heard(registered, resource, action, refused, before=None, after=None):
    """What is made of an event: "queue", "skip", or "deaf" where nobody hears of it."""
    happened = ClusterEvent(resource, action)
    listening = [r for r in registered if r.event.covers(happened)]
    if not listening:
        return "deaf"
    hints = [Hint.QUEUE if r.hint is None else r.hint(refused, before, after) for r in listening]
    return "queue" if Hint.QUEUE in hints else "skip"


def made(kind, name="x", namespace="", labels=None, annotations=None, **fields):
    metadata = {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations}
    return msgspec.convert({"metadata": metadata, **fields}, kind)


def claim(name="data", namespace="default"):
    return made(PersistentVolumeClaim, name, namespace)


def volumes(*sources, **fields):
    return pod(volumes=[{"name": f"v{i}", **source} for i, source in enumerate(sources)], **fields)


USES = volumes({"persistentVolumeClaim": {"claimName": "data"}})
GENERATES = volumes({"ephemeral": {}})
MIGRATED = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}


def capacity(**fields):
    return made(CSIStorageCapacity, **fields)


def csi_node(limit=None, annotations=None):
    drivers = [{"name": "d", "allocatable": {"count": limit}}] if limit is not None else []
    return made(CSINode, annotations=annotations, spec={"drivers": drivers})


@pytest.mark.parametrize(
    ("resource", "action", "refused", "before", "after", "answer"),
    [
        pytest.param(Resource.STORAGE_CLASS, Action.ADD, USES, None, made(StorageClass), "queue", id="a class is new"),
        pytest.param(
            Resource.STORAGE_CLASS, Action.UPDATE, USES, made(StorageClass), made(StorageClass, allowedTopologies=[{}]),
            "queue", id="a class allows other topologies",
        ),
        pytest.param(
            Resource.STORAGE_CLASS, Action.UPDATE, USES, made(StorageClass), made(StorageClass, labels={"a": "b"}),
            "skip", id="a class is relabelled",
        ),
        pytest.param(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, USES, None, claim(), "queue", id="its claim is new"),
        pytest.param(
            Resource.PERSISTENT_VOLUME_CLAIM, Action.UPDATE, USES, claim("other"), claim("other"), "skip",
            id="another claim changes",
        ),
        pytest.param(
            Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, USES, None, claim(namespace="else"), "skip",
            id="a claim of that name is new elsewhere",
        ),
        pytest.param(
            Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, GENERATES, None, claim("web-v0"), "queue",
            id="its generated claim is new",
        ),
        pytest.param(
            Resource.PERSISTENT_VOLUME, Action.UPDATE, USES, made(PersistentVolume), made(PersistentVolume), "queue",
            id="any volume changes",
        ),
        pytest.param(
            Resource.NODE, Action.UPDATE_NODE_LABEL, USES, node("a"), node("a"), "queue", id="a node is relabelled"
        ),
        pytest.param(Resource.CSI_NODE, Action.ADD, USES, None, csi_node(), "queue", id="a CSINode is new"),
        pytest.param(
            Resource.CSI_NODE, Action.UPDATE, USES, csi_node(), csi_node(annotations=MIGRATED), "queue",
            id="a node has migrated a plugin",
        ),
        pytest.param(
            Resource.CSI_NODE, Action.UPDATE, USES, csi_node(1), csi_node(2), "skip", id="a node attaches more"
        ),
        pytest.param(
            Resource.CSI_DRIVER, Action.UPDATE, volumes({"csi": {"driver": "x"}}),
            made(CSIDriver, spec={"storageCapacity": True}), made(CSIDriver, spec={"storageCapacity": False}), "queue",
            id="its driver no longer publishes capacity",
        ),
        pytest.param(
            Resource.CSI_DRIVER, Action.UPDATE, USES, made(CSIDriver, spec={"storageCapacity": True}),
            made(CSIDriver, spec={}), "skip", id="a driver the pod does not name no longer does",
        ),
        pytest.param(
            Resource.CSI_STORAGE_CAPACITY, Action.UPDATE, USES, capacity(capacity="1Gi"), capacity(capacity="2Gi"),
            "queue", id="there is more capacity",
        ),
        pytest.param(
            Resource.CSI_STORAGE_CAPACITY, Action.UPDATE, USES, capacity(capacity="1Gi", maximumVolumeSize="1Gi"),
            capacity(capacity="2Gi", maximumVolumeSize="1Gi"), "skip", id="volumes are no larger",
        ),
        pytest.param(
            Resource.CSI_STORAGE_CAPACITY, Action.UPDATE, USES, capacity(), capacity(capacity="1Gi"), "queue",
            id="there is capacity for the first time",
        ),
        pytest.param(Resource.ASSIGNED_POD, Action.DELETE, USES, pod(on="a"), None, "deaf", id="a pod is gone"),
    ],
)  # fmt: skip
def test_hints_of_volume_binding(resource, action, refused, before, after, answer):
    assert heard(VOLUME_BINDING, resource, action, refused, before, after) == answer


@pytest.mark.parametrize(
    ("resource", "action", "before", "after", "answer"),
    [
        pytest.param(
            Resource.STORAGE_CLASS, Action.ADD, None, made(StorageClass, volumeBindingMode="WaitForFirstConsumer"),
            "queue", id="a class waits for its consumer",
        ),
        pytest.param(Resource.STORAGE_CLASS, Action.ADD, None, made(StorageClass), "skip", id="a class binds"),
        pytest.param(Resource.PERSISTENT_VOLUME_CLAIM, Action.UPDATE, claim(), claim(), "queue", id="its claim"),
        pytest.param(
            Resource.PERSISTENT_VOLUME, Action.UPDATE, made(PersistentVolume),
            made(PersistentVolume, labels={ZONE: "a"}), "queue", id="a volume gets a zone",
        ),
        pytest.param(
            Resource.PERSISTENT_VOLUME, Action.UPDATE, made(PersistentVolume, labels={ZONE: "a__b"}),
            made(PersistentVolume, labels={ZONE: "b__a", "x": "y"}), "skip", id="a volume stays in its zones",
        ),
        pytest.param(
            Resource.PERSISTENT_VOLUME, Action.UPDATE, made(PersistentVolume, labels={ZONE: "a", BETA_ZONE: "__"}),
            made(PersistentVolume, labels={ZONE: "a"}), "skip", id="a label without zones goes",
        ),
    ],
)  # fmt: skip
def test_hints_of_volume_zone(resource, action, before, after, answer):
    assert heard(VOLUME_ZONE, resource, action, USES, before, after) == answer


GCE = {"gcePersistentDisk": {"pdName": "d"}}
READS_GCE = {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}
EBS = {"awsElasticBlockStore": {"volumeID": "v"}}


def rbd(*monitors, **more):
    return {"rbd": {"monitors": list(monitors), "image": "i", **more}}


@pytest.mark.parametrize(
    ("mine", "theirs", "answer"),
    [
        pytest.param(GCE, READS_GCE, "queue", id="a disk that one of both writes to"),
        pytest.param(READS_GCE, READS_GCE, "skip", id="a disk that both read"),
        pytest.param(EBS, EBS, "queue", id="an EBS volume"),
        pytest.param(EBS, GCE, "skip", id="two disks of different kinds"),
        pytest.param({"iscsi": {"iqn": "q"}}, {"iscsi": {"iqn": "q"}}, "queue", id="an iSCSI target"),
        pytest.param(rbd("a", "b"), rbd("b", "c"), "queue", id="an RBD image seen through a common monitor"),
        pytest.param(rbd("a"), rbd("c"), "skip", id="an RBD image of another cluster"),
        pytest.param(rbd("a"), rbd("a", pool="rbd"), "queue", id="an RBD image of the default pool"),
        pytest.param(
            {"persistentVolumeClaim": {"claimName": "c"}}, {"persistentVolumeClaim": {"claimName": "c"}}, "queue",
            id="a claim",
        ),
    ],
)  # fmt: skip
def test_hints_of_volume_restrictions_about_a_deleted_pod(mine, theirs, answer):
    gone = volumes(theirs, on="a")
    assert heard(VOLUME_RESTRICTIONS, Resource.ASSIGNED_POD, Action.DELETE, volumes(mine), gone) == answer
    elsewhere = volumes(theirs, on="a", namespace="else")
    assert heard(VOLUME_RESTRICTIONS, Resource.ASSIGNED_POD, Action.DELETE, volumes(mine), elsewhere) == "skip"


def attachment(attacher):
    return made(VolumeAttachment, spec={"attacher": attacher})


@pytest.mark.parametrize(
    ("resource", "action", "refused", "before", "after", "answer"),
    [
        pytest.param(Resource.CSI_NODE, Action.UPDATE, USES, csi_node(1), csi_node(2), "queue", id="a limit is raised"),
        pytest.param(Resource.CSI_NODE, Action.UPDATE, USES, csi_node(2), csi_node(1), "skip", id="a limit is lowered"),
        pytest.param(Resource.CSI_NODE, Action.UPDATE, USES, csi_node(), csi_node(1), "queue", id="a driver is new"),
        pytest.param(
            Resource.ASSIGNED_POD, Action.DELETE, USES, volumes({"ephemeral": {}}, on="a"), None, "queue",
            id="a pod with a claim is gone",
        ),
        pytest.param(
            Resource.ASSIGNED_POD, Action.DELETE, USES, volumes(EBS, on="a"), None, "queue",
            id="a pod with a migrated disk is gone",
        ),
        pytest.param(
            Resource.ASSIGNED_POD, Action.DELETE, USES, volumes({}, on="a"), None, "skip",
            id="a pod with other volumes is gone",
        ),
        pytest.param(Resource.ASSIGNED_POD, Action.DELETE, USES, volumes(EBS), None, "skip", id="a pending pod"),
        pytest.param(
            Resource.VOLUME_ATTACHMENT, Action.DELETE, USES, attachment("d"), None, "queue",
            id="a volume is detached, and the pod has a claim",
        ),
        pytest.param(
            Resource.VOLUME_ATTACHMENT, Action.DELETE, volumes(EBS), attachment("ebs.csi.aws.com"), None, "queue",
            id="a volume of its disk's driver is detached",
        ),
        pytest.param(
            Resource.VOLUME_ATTACHMENT, Action.DELETE, volumes(EBS), attachment("d"), None, "skip",
            id="a volume of another driver is detached",
        ),
        pytest.param(
            Resource.VOLUME_ATTACHMENT, Action.DELETE, volumes({}), attachment(""), None, "skip",
            id="a volume of no driver is detached",
        ),
    ],
)  # fmt: skip
def test_hints_of_node_volume_limits(resource, action, refused, before, after, answer):
    assert heard(NODE_VOLUME_LIMITS, resource, action, refused, before, after) == answer


def device_claim(name, allocated=False):
    status = ResourceClaimStatus(allocation=AllocationResult() if allocated else None)
    return ResourceClaim(metadata=ObjectMeta(name=name, namespace="default", uid=name), status=status)


MINE, OTHER = device_claim("mine"), device_claim("other")
HOLDING, OTHER_HOLDING = device_claim("mine", True), device_claim("other", True)


@pytest.mark.parametrize(
    ("action", "before", "after", "answer"),
    [
        pytest.param(Action.ADD, None, MINE, "queue", id="its claim is new"),
        pytest.param(Action.ADD, None, OTHER, "skip", id="another claim is new"),
        pytest.param(Action.UPDATE, MINE, HOLDING, "queue", id="its claim has devices now"),
        pytest.param(Action.UPDATE, MINE, MINE, "skip", id="its claim stands as before"),
        pytest.param(Action.UPDATE, OTHER_HOLDING, OTHER, "queue", id="another claim gave devices up"),
        pytest.param(Action.UPDATE, OTHER, OTHER_HOLDING, "skip", id="another claim took devices"),
        pytest.param(Action.DELETE, OTHER_HOLDING, None, "queue", id="a claim with devices is gone"),
        pytest.param(Action.DELETE, OTHER, None, "skip", id="a claim without devices is gone"),
    ],
)
def test_hints_of_dynamic_resources_about_a_claim(action, before, after, answer):
    assert (
        heard(registrations(lambda pod: (MINE,), NEWEST), Resource.RESOURCE_CLAIM, action, pod(), before, after)
        == answer
    )


def test_another_claim_does_not_queue_a_pod_whose_own_claim_is_missing():
    registered = registrations(lambda pod: None, NEWEST)
    assert heard(registered, Resource.RESOURCE_CLAIM, Action.UPDATE, pod(), OTHER_HOLDING, OTHER) == "skip"
    generated = Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    assert heard(registered, Resource.TARGET_POD, generated, pod(), pod(), pod()) == "skip"
    assert heard(registrations(lambda pod: (), NEWEST), Resource.TARGET_POD, generated, pod(), pod(), pod()) == "queue"


def test_slices_classes_and_nodes_queue_without_a_hint():
    registered = registrations(lambda pod: (), NEWEST)
    assert heard(registered, Resource.RESOURCE_SLICE, Action.ADD, pod()) == "queue"
    assert heard(registered, Resource.DEVICE_CLASS, Action.UPDATE, pod()) == "queue"
    assert heard(registered, Resource.NODE, Action.UPDATE_NODE_ALLOCATABLE, pod()) == "queue"
    assert heard(registered, Resource.NODE, Action.UPDATE_NODE_TAINT, pod()) == "deaf"
