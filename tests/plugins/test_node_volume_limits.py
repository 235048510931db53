"""NodeVolumeLimits."""

import random
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from schedctl.api import storage
from schedctl.cache.changes import Change, ChangeKind
from schedctl.framework.cycles import Cycle
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status
from schedctl.plugins.node_volume_limits.plugin import NodeVolumeLimits
from schedctl.plugins.node_volume_limits.usage import VolumesInUse, volumes_in_use
from schedctl.testing.builders import cluster, handle, node, pod
from schedctl.testing.plugin_answers import nodes_affected

PLUGIN = NodeVolumeLimits(None, handle())
FULL = Status(Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))
CSI, EBS, GCE = "csi.example.com", "ebs.csi.aws.com", "pd.csi.storage.gke.io"


def volume(name, source=None, **labels):
    spec = source or {"csi": {"driver": CSI, "volumeHandle": name}}
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "spec": spec}, storage.PersistentVolume)


def claim(name, bound_to=None, of_class=None, owner=None, namespace="default", **annotations):
    owners = [{"kind": "Pod", "name": "web", "uid": owner, "controller": True}] if owner else None
    metadata = {"name": name, "namespace": namespace, "ownerReferences": owners, "annotations": annotations}
    spec = {"volumeName": bound_to or "", "storageClassName": of_class}
    return msgspec.convert({"metadata": metadata, "spec": spec}, storage.PersistentVolumeClaim)


def storage_class(name, provisioner):
    return msgspec.convert({"metadata": {"name": name}, "provisioner": provisioner}, storage.StorageClass)


def csi_node(name, **limits):
    """The CSINode of a node; drivers with "." in their names are spelt with "_", None is no limit."""
    drivers = [
        {"name": driver.replace("_", "."), "nodeID": name, **({} if n is None else {"allocatable": {"count": n}})}
        for driver, n in limits.items()
    ]
    return msgspec.convert({"metadata": {"name": name}, "spec": {"drivers": drivers}}, storage.CSINode)


def csi_driver(name, required=True):
    spec = {"preventPodSchedulingIfMissing": required}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, storage.CSIDriver)


def attachment(name, on, of, attacher=CSI):
    spec = {"attacher": attacher, "nodeName": on, "source": {"persistentVolumeName": of}}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, storage.VolumeAttachment)


def claimed(name):
    return {"persistentVolumeClaim": {"claimName": name}}


def with_volumes(*volumes, name="web", on=None, **more):
    named = [{"name": f"v{i}", **each} for i, each in enumerate(volumes)]
    return pod(name, on=on, volumes=named, metadata={"uid": f"uid-{name}", **more})


def bound(*names):
    """A CSI volume of each of these names, with a claim of that name bound to it."""
    return [each for name in names for each in (volume(name), claim(name, name))]


def over(c):
    return NodeVolumeLimits(None, SimpleNamespace(cluster=c))


def verdicts(incoming, nodes):
    cycle = Cycle(incoming)
    assert PLUGIN.pre_filter(cycle, nodes) is None
    return PLUGIN.filter(cycle, nodes)


def statuses(incoming, nodes):
    found = verdicts(incoming, nodes)
    return [found.status(position) for position in range(len(nodes))]


# -- counting --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "held", "claims", "fits"),
    [
        pytest.param(2, ["a"], ["b"], True, id="a node takes as many volumes as its limit"),
        pytest.param(1, ["a"], ["b"], False, id="and not one more"),
        pytest.param(2, ["a"], ["b", "c"], False, id="all volumes of the pod count"),
        pytest.param(1, ["a"], ["a"], True, id="a volume that is attached already is no new one"),
        pytest.param(0, ["a"], ["a"], True, id="nor is it where the limit is passed already"),
        pytest.param(1, [], ["a", "a"], True, id="a volume counts once however often it is mounted"),
        pytest.param(None, ["a"], ["b"], True, id="a driver without a limit has none"),
        pytest.param(2, ["a", "b", "b"], ["c"], False, id="volumes of all pods count"),
    ],
)
def test_how_many_volumes_a_node_takes(limit, held, claims, fits):
    pods = [with_volumes(claimed(name), name=f"x{i}", on="n") for i, name in enumerate(held)]
    nodes = cluster(node("n"), csi_node("n", csi_example_com=limit), *bound("a", "b", "c"), *pods).nodes
    assert statuses(with_volumes(*map(claimed, claims)), nodes) == [SUCCESS if fits else FULL]


def test_each_driver_has_its_own_limit():
    shelf = [volume("e", {"csi": {"driver": EBS, "volumeHandle": "vol-1"}}), claim("e", "e"), *bound("a", "b")]
    limits = csi_node("n", csi_example_com=1, ebs_csi_aws_com=1)
    nodes = cluster(node("n"), limits, *shelf, with_volumes(claimed("a"), name="x", on="n")).nodes
    assert statuses(with_volumes(claimed("e")), nodes) == [SUCCESS]
    assert statuses(with_volumes(claimed("e"), claimed("b")), nodes) == [FULL]


def test_a_node_without_a_csi_node_has_no_limits():
    nodes = cluster(node("a"), node("b"), csi_node("a", csi_example_com=0), *bound("a")).nodes
    assert statuses(with_volumes(claimed("a")), nodes) == [FULL, SUCCESS]


@pytest.mark.parametrize(
    ("attached", "fits"),
    [
        pytest.param(attachment("va", "n", "b"), False, id="a volume that is attached though nobody mounts it counts"),
        pytest.param(attachment("va", "n", "a"), True, id="one that a pod mounts counts once"),
        pytest.param(attachment("va", "m", "b"), True, id="one of another node does not count"),
        pytest.param(attachment("va", "n", "gone"), True, id="nor does one that is not there"),
        pytest.param(attachment("va", "n", "b", attacher=""), True, id="nor one that nobody attached"),
        pytest.param(attachment("va", "n", "ebs"), True, id="nor an in-tree volume"),
        pytest.param(attachment("va", "n", "c"), False, id="the new volume counts twice if only the attacher has it"),
    ],
)
def test_volumes_that_are_attached(attached, fits):
    shelf = [*bound("a", "b", "c"), volume("ebs", {"awsElasticBlockStore": {"volumeID": "vol-1"}}), attached]
    limits, holder = csi_node("n", csi_example_com=2), with_volumes(claimed("a"), name="x", on="n")
    nodes = cluster(node("n"), limits, holder, *shelf).nodes
    assert statuses(with_volumes(claimed("c")), nodes) == [SUCCESS if fits else FULL]


# -- what is a volume ------------------------------------------------------------


@pytest.mark.parametrize(
    ("shelf", "driver"),
    [
        pytest.param([volume("v"), claim("c", "v")], CSI, id="a claim is the volume it is bound to"),
        pytest.param([storage_class("s", CSI), claim("c", of_class="s")], CSI, id="or one that its class will make"),
        pytest.param([storage_class("s", CSI), claim("c", "gone", "s")], CSI, id="also if its volume is gone"),
        pytest.param(
            [storage_class("s", "kubernetes.io/aws-ebs"), claim("c", of_class="s")],
            EBS,
            id="an in-tree class makes volumes of its CSI driver",
        ),
        pytest.param(
            [
                storage_class("s", CSI),
                claim("c", of_class="x", **{"volume.beta.kubernetes.io/storage-class": "s"}),
            ],
            CSI,
            id="the class of the old annotation goes first",
        ),
        pytest.param(
            [volume("v", {"awsElasticBlockStore": {"volumeID": "vol-1"}}), claim("c", "v")],
            EBS,
            id="an in-tree volume is one of its CSI driver",
        ),
        pytest.param(
            [volume("v", {"gcePersistentDisk": {"pdName": "d"}}), claim("c", "v")], GCE, id="so is a GCE disk"
        ),
    ],
)
def test_what_counts(shelf, driver):
    c = cluster(node("n"), csi_node("n", **{driver.replace(".", "_"): 0}), *shelf)
    assert statuses(with_volumes(claimed("c")), c.nodes) == [FULL]


@pytest.mark.parametrize(
    "shelf",
    [
        pytest.param([claim("c")], id="a claim without a class"),
        pytest.param([claim("c", of_class="gone")], id="a claim of a class that is not there"),
        pytest.param([volume("v", {"nfs": {"server": "s"}}), claim("c", "v")], id="a volume of no driver"),
        pytest.param(
            [volume("v", {"csi": {"driver": CSI, "volumeHandle": ""}}), claim("c", "v")], id="a volume without a handle"
        ),
        pytest.param(
            [volume("v", {"vsphereVolume": {"volumePath": "p"}}), claim("c", "v")], id="a vSphere disk, migrated or not"
        ),
        pytest.param(
            [storage_class("s", "kubernetes.io/azure-file"), claim("c", of_class="s")], id="an Azure file share to come"
        ),
        pytest.param(
            [volume("v", {"azureDisk": {"diskName": "d", "diskURI": "u", "kind": "Dedicated"}}), claim("c", "v")],
            id="an Azure disk that cannot be migrated",
        ),
    ],
)
def test_what_does_not_count(shelf):
    drivers = {
        name.replace(".", "_"): 0
        for name in (CSI, EBS, GCE, "csi.vsphere.vmware.com", "file.csi.azure.com", "disk.csi.azure.com")
    }
    assert statuses(with_volumes(claimed("c")), cluster(node("n"), csi_node("n", **drivers), *shelf).nodes) == [SUCCESS]


@pytest.mark.parametrize(
    ("inline", "driver"),
    [
        pytest.param({"awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}, EBS, id="EBS"),
        pytest.param({"gcePersistentDisk": {"pdName": "d"}}, GCE, id="GCE"),
        pytest.param(
            {"azureDisk": {"diskName": "d", "diskURI": "u", "kind": "Managed"}}, "disk.csi.azure.com", id="Azure"
        ),
        pytest.param({"cinder": {"volumeID": "c"}}, "cinder.csi.openstack.org", id="Cinder"),
        pytest.param({"portworxVolume": {"volumeID": "p"}}, "pxd.portworx.com", id="Portworx"),
    ],
)
def test_disks_in_the_pod_count_where_there_is_a_csi_node(inline, driver):
    limits = csi_node("a", **{driver.replace(".", "_"): 0})
    nodes = cluster(node("a"), node("b"), limits, csi_driver(driver)).nodes
    assert statuses(with_volumes(inline), nodes) == [FULL, SUCCESS]


def test_a_disk_is_one_volume_however_it_is_named():
    shelf = [volume("v", {"awsElasticBlockStore": {"volumeID": "aws://zone-a/vol-1"}}), claim("c", "v")]
    shelf += [volume("w", {"csi": {"driver": EBS, "volumeHandle": "vol-1"}}), claim("d", "w")]
    holder = with_volumes({"awsElasticBlockStore": {"volumeID": "vol-1"}}, name="x", on="n")
    nodes = cluster(node("n"), csi_node("n", ebs_csi_aws_com=1), holder, *shelf).nodes
    assert statuses(with_volumes(claimed("c"), claimed("d")), nodes) == [SUCCESS]
    assert statuses(with_volumes({"awsElasticBlockStore": {"volumeID": "vol-2"}}), nodes) == [FULL]


@pytest.mark.parametrize(
    "volume_source",
    [
        pytest.param({"emptyDir": {}}, id="a scratch folder"),
        pytest.param({"csi": {"driver": CSI}}, id="a CSI volume in line"),
        pytest.param({"rbd": {"monitors": ["m"], "image": "i"}}, id="a Ceph image"),
    ],
)
def test_pods_that_are_skipped(volume_source):
    assert PLUGIN.pre_filter(Cycle(with_volumes(volume_source)), cluster(node("a")).nodes) == SKIP


@pytest.mark.parametrize(
    "volume_source",
    [
        pytest.param({"azureFile": {"shareName": "s", "secretName": "x"}}, id="an Azure file share"),
        pytest.param({"vsphereVolume": {"volumePath": "p"}}, id="a vSphere disk"),
    ],
)
def test_pods_that_are_not_skipped_and_fit(volume_source):
    limits = csi_node("a", csi_vsphere_vmware_com=0, file_csi_azure_com=0)
    assert verdicts(with_volumes(volume_source), cluster(node("a"), limits).nodes) is ACCEPT


# -- missing drivers -------------------------------------------------------------


def test_a_driver_that_must_be_there_keeps_pods_from_nodes_without_it():
    c = cluster(node("a"), node("b"), node("c"), csi_node("a", csi_example_com=None), csi_node("b"), *bound("v"))
    incoming = with_volumes(claimed("v"))
    assert statuses(incoming, c.nodes) == [SUCCESS, SUCCESS, SUCCESS]
    c.put(csi_driver(CSI, required=False))
    assert statuses(incoming, c.nodes) == [SUCCESS, SUCCESS, SUCCESS]
    c.put(csi_driver(CSI))
    missing = Status(Code.UNSCHEDULABLE, ("csi.example.com CSI driver is not installed on the node",))
    assert statuses(incoming, c.nodes) == [SUCCESS, missing, missing]
    (part,) = verdicts(incoming, c.nodes).at(1)
    assert part.at(1) == {"driver": CSI, "volumes": ("v0",)}


# -- faults ----------------------------------------------------------------------

EPHEMERAL = {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
AZURE_OF_NO_KIND = {"azureDisk": {"diskName": "d", "diskURI": "u"}}


@pytest.mark.parametrize(
    ("incoming", "shelf", "status"),
    [
        pytest.param(
            with_volumes(claimed("c")),
            [],
            Status(
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                ('looking up PVC default/c: persistentvolumeclaim "c" not found',),
            ),
            id="a claim that is not there",
        ),
        pytest.param(
            with_volumes(claimed("")),
            [],
            Status(Code.ERROR, ("PersistentVolumeClaim had no name",)),
            id="a claim without a name",
        ),
        pytest.param(
            with_volumes(EPHEMERAL),
            [],
            Status(
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                ('looking up PVC default/web-v0: persistentvolumeclaim "web-v0" not found',),
            ),
            id="an ephemeral volume whose claim is not made yet",
        ),
        pytest.param(
            with_volumes(EPHEMERAL),
            [claim("web-v0", owner="somebody")],
            Status(Code.ERROR, ("PVC default/web-v0 was not created for pod default/web (pod is not owner)",)),
            id="an ephemeral volume whose claim is somebody else's",
        ),
        pytest.param(
            with_volumes(AZURE_OF_NO_KIND),
            [],
            Status(
                Code.ERROR,
                ("converting volume(v0) from inline to csi: kind(Shared) is not supported in csi migration",),
            ),
            id="an Azure disk of no kind, which is Shared",
        ),
        pytest.param(
            with_volumes({"awsElasticBlockStore": {"volumeID": "aws://zone/disk"}}),
            [],
            Status(
                Code.ERROR,
                (
                    "converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID"
                    " Invalid format for AWS volume (aws://zone/disk)",
                ),
            ),
            id="an EBS volume whose ID is malformed",
        ),
    ],
)
def test_volumes_that_cannot_be_read(incoming, shelf, status):
    assert statuses(incoming, cluster(node("a"), csi_node("a"), *shelf).nodes) == [status]


def test_an_ephemeral_volume_is_its_claim():
    shelf = [volume("v"), claim("web-v0", "v", owner="uid-web")]
    nodes = cluster(node("a"), csi_node("a", csi_example_com=0), *shelf).nodes
    assert statuses(with_volumes(EPHEMERAL), nodes) == [FULL]


def test_disks_in_the_pod_are_no_fault_without_a_csi_node():
    assert statuses(with_volumes(AZURE_OF_NO_KIND), cluster(node("a")).nodes) == [SUCCESS]


def test_unreadable_volumes_of_running_pods_are_a_fault_on_nodes_with_limits():
    faulty = [with_volumes(AZURE_OF_NO_KIND, name=name, on=on) for name, on in (("x", "a"), ("z", "b"), ("y", "c"))]
    missing = with_volumes(claimed("gone"), name="w", on="d")
    limits = [csi_node(name, **({} if name == "b" else {"csi_example_com": 5})) for name in "abcd"]
    c = cluster(*map(node, "abcd"), *limits, *faulty, missing, *bound("v"))
    fault = Status(
        Code.ERROR, ("converting volume(v0) from inline to csi: kind(Shared) is not supported in csi migration",)
    )
    incoming = with_volumes(claimed("v"))
    assert statuses(incoming, c.nodes) == [fault, SUCCESS, fault, SUCCESS]
    assert verdicts(incoming, c.nodes).at(2)[0].at(2)["pod"] == "default/y"
    assert statuses(incoming, c.nodes.hypothetical([0, 3], [faulty[0], faulty[1]], [-1, 1])) == [
        SUCCESS,
        SUCCESS,
        fault,
        fault,
    ]


# -- supposed pods ---------------------------------------------------------------


def test_pods_supposed_to_come_or_go_count():
    first, second = with_volumes(claimed("a"), name="x", on="n"), with_volumes(claimed("a"), name="y", on="n")
    third = with_volumes(claimed("b"), name="z", on="n")
    limits = [csi_node("n", csi_example_com=2), csi_node("m", csi_example_com=1)]
    c = cluster(node("n"), node("m"), *limits, *bound("a", "b", "c"), first, second, third)
    nodes = c.nodes.take([0, 0, 0, 0, 1, 1, 1])
    rival = with_volumes(claimed("c"), name="rival")
    column = nodes.hypothetical(
        [1, 2, 2, 3, 5, 6, 6], [first, first, second, third, third, rival, first], [-1, -1, -1, -1, 1, 1, 1]
    )
    incoming = with_volumes(claimed("c"))
    assert statuses(incoming, column) == [FULL, FULL, SUCCESS, SUCCESS, SUCCESS, FULL, SUCCESS]


def test_a_volume_that_stays_attached_makes_no_room_when_its_pod_goes():
    holder = with_volumes(claimed("a"), name="x", on="n")
    shelf = [csi_node("n", csi_example_com=1), attachment("va", "n", "a"), *bound("a", "b")]
    nodes = cluster(node("n"), *shelf, holder).nodes
    assert statuses(with_volumes(claimed("b")), nodes.hypothetical([0], [holder], -1)) == [FULL]


def test_a_pod_that_does_not_run_may_bring_a_driver_along():
    rival = with_volumes({"cinder": {"volumeID": "c1"}}, name="rival")
    nodes = cluster(node("n"), csi_node("n", cinder_csi_openstack_org=1)).nodes
    incoming = with_volumes({"cinder": {"volumeID": "c2"}})
    assert statuses(incoming, nodes.hypothetical([0], [rival], 1)) == [FULL]


# -- evidence --------------------------------------------------------------------


def test_the_evidence_is_the_driver_the_limit_and_what_counts_against_it():
    holders = [
        with_volumes(claimed("a"), claimed("b"), name="x", on="n"),
        with_volumes({"emptyDir": {}}, name="y", on="n"),
        with_volumes(claimed("b"), name="z", on="n"),
    ]
    nodes = cluster(node("n"), csi_node("n", csi_example_com=2), *bound("a", "b", "c", "d"), *holders).nodes
    (part,) = verdicts(with_volumes(claimed("a"), {"emptyDir": {}}, claimed("c"), claimed("d")), nodes).at(0)
    assert part.at(0) == {
        "driver": CSI,
        "limit": 2,
        "used": 2,
        "new": 2,
        "volumes": ("v0", "v2", "v3"),
        "holders": {"default/x": 2, "default/z": 1},
        "attached": [],
    }


def test_the_evidence_has_the_volumes_that_stay_attached_and_who_uses_them():
    held = with_volumes(claimed("a"), name="x", on="n")
    kept = [attachment("1", "n", "a"), attachment("2", "n", "b"), attachment("3", "n", "c", "other")]
    nodes = cluster(node("n"), csi_node("n", csi_example_com=2), *bound("a", "b", "c", "d"), held, *kept).nodes
    (part,) = verdicts(with_volumes(claimed("d")), nodes).at(0)
    assert [(each.volume, each.pods) for each in part.at(0)["attached"]] == [("a", ("default/x",)), ("b", ())]


# -- reuse -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("happens", "affected"),
    [
        pytest.param(lambda c: c.assume(with_volumes(claimed("b"), name="x"), "m"), {"m"}, id="a pod with volumes"),
        pytest.param(lambda c: c.remove_pod(c.pod_table.pod("default/yn")), {"n"}, id="a pod that goes"),
        pytest.param(lambda c: c.assume(pod("x"), "n"), set(), id="a pod without volumes"),
        pytest.param(lambda c: c.put(claim("z")), set(), id="a claim nobody uses"),
        pytest.param(lambda c: c.put(claim("b")), {"n", "m"}, id="a claim two nodes use"),
        pytest.param(lambda c: c.put(volume("b")), {"n", "m"}, id="its volume"),
        pytest.param(lambda c: c.put(attachment("1", "m", "a")), {"m"}, id="an attachment"),
        pytest.param(lambda c: c.put(csi_node("m")), None, id="what the CSINode of a node says"),
        pytest.param(lambda c: c.add_node(node("n", labels={"x": "y"})), None, id="a node"),
    ],
)
def test_which_changes_affect_a_pod_with_a_claim(happens, affected):
    holders = [with_volumes(claimed("b"), name=f"y{name}", on=name) for name in "nm"]
    nodes = [node("n"), node("m"), csi_node("n", csi_example_com=2), csi_node("m", csi_example_com=1)]
    c = cluster(*nodes, *bound("a", "b"), *holders)
    assert nodes_affected(over(c), with_volumes(claimed("a")), c, happens) == affected


def test_without_limits_pods_affect_nothing():
    c = cluster(node("n"), csi_node("n", csi_example_com=None), *bound("a"))
    added = with_volumes(claimed("a"), name="x")
    assert nodes_affected(over(c), with_volumes(claimed("a")), c, lambda c: c.assume(added, "n")) == set()


def test_pods_whose_volumes_no_pod_mounts_have_one_signature():
    c = cluster(node("n"), csi_node("n", csi_example_com=2), *bound("a", "b"))
    plugin = over(c)
    first, second = with_volumes(claimed("a")), with_volumes(claimed("b"), name="second")
    assert plugin.signature(first) == plugin.signature(second) != ()
    assert plugin.signature(first) != plugin.signature(with_volumes(claimed("a"), claimed("b")))
    user = with_volumes(claimed("a"), name="user", on="n")
    c.add_pod(user)
    assert plugin.signature(first) != plugin.signature(second)
    assert plugin.signature(first) == plugin.signature(with_volumes(claimed("a"), name="third"))
    c.remove_pod(user)
    assert plugin.signature(first) == plugin.signature(second)


def test_a_pod_whose_claim_is_missing_has_a_signature_of_its_own():
    c = cluster(node("n"), csi_node("n", csi_example_com=2), *bound("a", "b"))
    plugin = over(c)
    c.delete(claim("a", "a"))
    assert plugin.signature(with_volumes(claimed("a"))) != plugin.signature(with_volumes(claimed("b")))
    assert plugin.signature(with_volumes(EPHEMERAL)) != plugin.signature(with_volumes(EPHEMERAL, name="other"))
    assert plugin.signature(with_volumes({"rbd": {"monitors": ["m"], "image": "i"}})) == ()


def test_a_pod_whose_volumes_count_nowhere_is_not_taken_for_one_that_is_skipped():
    file_share = with_volumes({"azureFile": {"shareName": "s", "secretName": "x"}})
    plugin = over(cluster(node("n")))
    assert plugin.signature(file_share) not in (None, plugin.signature(with_volumes({"emptyDir": {}})))


# -- keeping current -------------------------------------------------------------


def counts(volumes, c):
    """By driver, the volumes on each node, without drivers that have none."""
    found = {driver: volumes.used(c.nodes, driver, None).tolist() for driver in (CSI, EBS, GCE)}
    return {driver: numbers for driver, numbers in found.items() if any(numbers)}


def something_happens(c, pick, number):
    names, running = sorted(c.node_table.row_of), sorted(c.pod_table, key=lambda info: info.key)
    name, of = f"c{pick.randrange(5)}", pick.choice(["v0", "v1", "v2", "v3", None])
    match pick.randrange(8):
        case 0 | 1 | 2:
            sources = [claimed(f"c{pick.randrange(5)}"), {"awsElasticBlockStore": {"volumeID": pick.choice("ab")}}]
            c.add_pod(with_volumes(*pick.sample(sources, 2), name=f"x{number}", on=pick.choice(names)))
        case 3 if running:
            c.remove_pod(pick.choice(running))
        case 4:
            c.put(claim(name, of, pick.choice(["s", None])))
        case 5:
            of_driver = {"csi": {"driver": pick.choice([CSI, GCE]), "volumeHandle": pick.choice("ab")}}
            c.put(volume(f"v{pick.randrange(4)}", of_driver))
        case 6:
            c.put(attachment(f"va{pick.randrange(3)}", pick.choice(names), of or "v0", pick.choice([CSI, EBS])))
        case 7:
            c.put(storage_class("s", pick.choice([CSI, "kubernetes.io/aws-ebs"])))


@pytest.mark.parametrize("seed", range(12))
def test_volumes_in_use_are_those_a_new_count_would_find(seed):
    pick = random.Random(seed)
    c = cluster(*map(node, "abc"))
    for number in range(60):
        something_happens(c, pick, number)
        if pick.random() < 0.3:
            with c.fork():
                something_happens(c, pick, 100 + number)
                assert volumes_in_use(c) is volumes_in_use(c)
                if pick.random() < 0.3:
                    c.add_node(node(f"n{number}"))
                    something_happens(c, pick, 200 + number)
        if pick.random() < 0.5:
            anew = VolumesInUse(c)
            anew.catch_up(c)
            assert counts(volumes_in_use(c), c) == counts(anew, c)


@pytest.mark.parametrize("seed", range(12))
def test_supposed_pods_count_like_placed_ones(seed):
    pick = random.Random(100 + seed)
    c = cluster(*map(node, "abc"))
    for number in range(30):
        something_happens(c, pick, number)
    running, names = list(c.pod_table), ["a", "b", "c"]
    gone = [(info, -1) for info in pick.sample(running, len(running) // 2)]
    come = [(with_volumes(claimed(f"c{i}"), name=f"new{i}", on=pick.choice(names)), 1) for i in range(4)]
    changes = [*gone, *come]
    positions = [names.index(info.pod.spec.node_name) for info, _ in changes]
    column = c.nodes.hypothetical(np.array(positions), [info for info, _ in changes], [sign for _, sign in changes])
    volumes = volumes_in_use(c)
    supposed = volumes.hypothetical_mounts(column)
    found = {driver: volumes.used(column, driver, supposed).tolist() for driver in (CSI, EBS, GCE)}
    for info, sign in changes:
        (c.add_pod if sign > 0 else c.remove_pod)(info)
    assert {driver: numbers for driver, numbers in found.items() if any(numbers)} == counts(volumes_in_use(c), c)


def test_pods_that_are_gone_are_forgotten():
    c = cluster(node("n"), csi_node("n", csi_example_com=1), *bound("a"))
    changes = [Change(ChangeKind.OBJECT, subject=subject) for subject in bound("a")]
    for number in range(3):
        pod = with_volumes(claimed("a"), name=f"x{number}", on="n")
        c.add_pod(pod)
        assert [list(volumes_in_use(c).affected_pods(change)) for change in changes] == [[pod.key], [pod.key]]
        c.remove_pod(pod)
        assert [list(volumes_in_use(c).affected_pods(change)) for change in changes] == [[], []]
