"""VolumeRestrictions."""

from types import SimpleNamespace

import msgspec
import pytest

from schedctl.api.storage import PersistentVolumeClaim
from schedctl.framework.cycles import Cycle
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status
from schedctl.plugins.volume_restrictions.plugin import STATE, VolumeRestrictions
from schedctl.plugins.volume_restrictions.sources import sources_in_use
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.plugin_answers import nodes_affected

PLUGIN = VolumeRestrictions(None, None)
CONFLICT = Status(Code.UNSCHEDULABLE, ("node(s) had no available disk",))
OCCUPIED = Status(
    Code.UNSCHEDULABLE,
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another"
        " pod",
    ),
)


def gce(name="d", **more):
    return {"gcePersistentDisk": {"pdName": name, **more}}


def ebs(name="v", **more):
    return {"awsElasticBlockStore": {"volumeID": name, **more}}


def iscsi(iqn="iqn.a", **more):
    return {"iscsi": {"targetPortal": "10.0.0.1", "iqn": iqn, **more}}


def rbd(*monitors, image="i", **more):
    return {"rbd": {"monitors": list(monitors), "image": image, **more}}


def claimed(name="data"):
    return {"persistentVolumeClaim": {"claimName": name}}


def with_volumes(*volumes, name="web", on=None, namespace="default"):
    named = [{"name": f"v{i}", **volume} for i, volume in enumerate(volumes)]
    return pod(name, namespace=namespace, on=on, volumes=named)


def claim(name="data", mode="ReadWriteOncePod", namespace="default"):
    return msgspec.convert(
        {"metadata": {"name": name, "namespace": namespace}, "spec": {"accessModes": [mode]}}, PersistentVolumeClaim
    )


def over_cluster(c):
    return VolumeRestrictions(None, SimpleNamespace(cluster=c))


def over(*objects):
    return over_cluster(cluster(*objects))


def statuses(incoming, nodes):
    """What is said of each node, or of all of them at once."""
    cycle = Cycle(incoming)
    answer = PLUGIN.pre_filter(cycle, nodes)
    if answer is not None:
        return answer
    if nodes.is_hypothetical:
        PLUGIN.with_pods(cycle, nodes)
    found = PLUGIN.filter(cycle, nodes)
    return [found.status(position) for position in range(len(nodes))]


@pytest.mark.parametrize(
    ("held", "volume", "free"),
    [
        pytest.param(gce(), gce(), False, id="a GCE disk is not shared"),
        pytest.param(gce(readOnly=True), gce(readOnly=True), True, id="unless both only read it"),
        pytest.param(gce(readOnly=True), gce(), False, id="one writer is one too many"),
        pytest.param(gce(), gce("other"), True, id="another disk is another matter"),
        pytest.param(ebs(), ebs(), False, id="an EBS volume is not shared"),
        pytest.param(ebs(readOnly=True), ebs(readOnly=True), False, id="not even by readers"),
        pytest.param(ebs("d"), gce("d"), True, id="disks of two kinds may have one name"),
        pytest.param(iscsi(), iscsi(targetPortal="10.0.0.2", lun=3), False, id="an iSCSI target is known by its name"),
        pytest.param(iscsi(readOnly=True), iscsi(readOnly=True), True, id="readers share it"),
        pytest.param(rbd("m1", "m2"), rbd("m2", "m3"), False, id="one monitor in common is one Ceph cluster"),
        pytest.param(rbd("m1"), rbd("m2"), True, id="none in common are two"),
        pytest.param(rbd(), rbd(), True, id="no monitors have none in common"),
        pytest.param(rbd("m"), rbd("m", pool="rbd"), False, id="the pool is rbd where none is given"),
        pytest.param(rbd("m"), rbd("m", pool="p"), True, id="an image of another pool is another image"),
        pytest.param(rbd("m", readOnly=True), rbd("m", readOnly=True), True, id="readers share an image"),
        pytest.param(claimed(), gce(), True, id="a claim is no disk"),
    ],
)
def test_disks_two_pods_may_share(held, volume, free):
    holder = with_volumes(held, name="x", on="b", namespace="other")
    nodes = cluster(node("a"), node("b"), holder, claim()).nodes
    assert statuses(with_volumes(volume), nodes) == [SUCCESS, SUCCESS if free else CONFLICT]


def test_a_pod_without_disks_and_claims_is_skipped():
    c = cluster(node("a"), with_volumes(gce(), name="x", on="a"))
    assert PLUGIN.pre_filter(Cycle(with_volumes({"emptyDir": {}})), c.nodes) == SKIP


@pytest.mark.parametrize(
    ("mode", "user", "free"),
    [
        pytest.param("ReadWriteOncePod", "default", False, id="a claim for one pod that another uses"),
        pytest.param("ReadWriteOncePod", "other", True, id="a claim of another namespace is another claim"),
        pytest.param("ReadWriteOnce", "default", True, id="a claim for one node is for any number of pods"),
    ],
)
def test_claims_two_pods_may_share(mode, user, free):
    holder = with_volumes(claimed(), name="x", on="b", namespace=user)
    nodes = cluster(node("a"), node("b"), holder, claim(mode=mode)).nodes
    assert statuses(with_volumes(claimed()), nodes) == (SKIP if free else [OCCUPIED, OCCUPIED])


def test_a_claim_that_is_not_there_refuses_the_pod():
    nodes = cluster(node("a"), claim(namespace="other")).nodes
    assert PLUGIN.pre_filter(Cycle(with_volumes(claimed())), nodes) == Status(
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ('persistentvolumeclaim "data" not found',)
    )


def test_a_taken_disk_is_reported_before_a_taken_claim():
    holder = with_volumes(claimed(), gce(), name="x", on="b")
    nodes = cluster(node("a"), node("b"), holder, claim()).nodes
    assert statuses(with_volumes(claimed(), gce()), nodes) == [OCCUPIED, CONFLICT]


def test_what_preemption_sees_of_disks():
    holder, reader = with_volumes(gce(), name="x", on="a"), with_volumes(gce(readOnly=True), name="y", on="a")
    nodes = cluster(node("a"), node("b"), holder, reader).nodes
    column = nodes.take([0, 0, 0, 1]).hypothetical([1, 2, 2, 3], [holder, holder, reader, holder], [-1, -1, -1, 1])
    assert statuses(with_volumes(gce(readOnly=True)), column) == [CONFLICT, SUCCESS, SUCCESS, CONFLICT]
    assert statuses(with_volumes(gce()), column) == [CONFLICT, CONFLICT, SUCCESS, CONFLICT]


def test_what_preemption_sees_of_claims():
    holder = with_volumes(claimed(), name="x", on="a")
    bystander = with_volumes(claimed("logs"), name="y", on="b")
    nodes = cluster(node("a"), node("b"), holder, bystander, claim()).nodes
    column = nodes.hypothetical([0, 1], [holder, bystander], -1)
    assert statuses(with_volumes(claimed()), column) == [SUCCESS, OCCUPIED]


def test_a_pod_counts_once_for_each_volume_of_the_claim_when_it_goes_but_once_in_all_when_it_is_counted():
    twice = with_volumes(claimed(), claimed(), name="x", on="a")
    other = with_volumes(claimed(), name="y", on="b")
    nodes = cluster(node("a"), node("b"), twice, other, claim()).nodes
    column = nodes.hypothetical([0, 1], [twice, other], -1)
    cycle = Cycle(with_volumes(claimed()))
    assert PLUGIN.pre_filter(cycle, nodes) is None
    assert cycle.state[STATE].in_use == 1
    PLUGIN.with_pods(cycle, column)
    assert cycle.state[STATE].supposed.tolist() == [-2, -1]


def test_add_pod_and_remove_pod_count_claims_of_the_same_name_in_other_namespaces():
    holder = with_volumes(claimed(), name="x", on="a")
    namesake = with_volumes(claimed(), name="y", on="b", namespace="other")
    nodes = cluster(node("a"), node("b"), holder, namesake, claim()).nodes
    assert statuses(with_volumes(claimed()), nodes.hypothetical([1], [namesake], -1)) == [OCCUPIED, SUCCESS]


def test_a_nominated_pod_takes_a_claim_where_it_is_counted_on_only():
    rival = with_volumes(claimed(), name="rival")
    nodes = cluster(node("a"), node("b"), claim()).nodes
    assert statuses(with_volumes(claimed(), gce()), nodes.hypothetical([1], [rival], 1)) == [SUCCESS, OCCUPIED]


def test_the_evidence_is_who_has_the_disk():
    reader = with_volumes(gce(readOnly=True), name="reader", on="b")
    writer = with_volumes(gce(), rbd("m"), name="writer", on="b")
    c = cluster(node("a"), node("b"), reader, writer)
    cycle = Cycle(with_volumes(gce(readOnly=True), rbd("m"), ebs()))
    assert PLUGIN.pre_filter(cycle, c.nodes) is None
    (part,) = PLUGIN.filter(cycle, c.nodes).at(1)
    assert part.at(1)["disks"] == (
        ("gcePersistentDisk", "d", ("default/writer",)),
        ("rbd", "i", ("default/writer",)),
    )


def test_the_evidence_is_who_uses_the_claim():
    c = cluster(node("a"), node("b"), with_volumes(claimed(), name="x", on="b"), claim(), claim("free"))
    cycle = Cycle(with_volumes(claimed("free"), claimed()))
    assert PLUGIN.pre_filter(cycle, c.nodes) is None
    (part,) = PLUGIN.filter(cycle, c.nodes).at(0)
    assert part.at(0)["claims"] == (("persistentVolumeClaim", "data", ("default/x",)),)


def test_filter_without_pre_filter_fails_but_for_taken_disks():
    nodes = cluster(node("a"), node("b"), with_volumes(gce(), name="x", on="b")).nodes
    found = PLUGIN.filter(Cycle(with_volumes(gce())), nodes)
    assert found.status(0) == Status(Code.ERROR, ('cannot read "PreFilterVolumeRestrictions" from cycleState',))
    assert found.status(1) == CONFLICT


def test_disks_nobody_has_are_free_everywhere():
    nodes = cluster(node("a"), with_volumes(gce("other"), name="x", on="a")).nodes
    cycle = Cycle(with_volumes(gce()))
    assert PLUGIN.pre_filter(cycle, nodes) is None
    assert PLUGIN.filter(cycle, nodes) is ACCEPT


def test_sources_in_use_follow_the_cluster():
    c = cluster(node("a"), node("b"), claim())
    first, second = with_volumes(gce(), name="x", on="a"), with_volumes(gce(), claimed(), name="y", on="b")
    incoming = with_volumes(gce())
    assert statuses(incoming, c.nodes) == [SUCCESS, SUCCESS]
    c.add_pod(first)
    with c.fork():
        c.add_pod(second)
        assert statuses(incoming, c.nodes) == [CONFLICT, CONFLICT]
        c.remove_pod(first)
        assert statuses(incoming, c.nodes) == [SUCCESS, CONFLICT]
    assert statuses(incoming, c.nodes) == [CONFLICT, SUCCESS]
    assert sources_in_use(c) is sources_in_use(c)


@pytest.mark.parametrize(
    ("happens", "affected"),
    [
        pytest.param(lambda c: c.put(claim()), None, id="the pod's claim"),
        pytest.param(lambda c: c.put(claim("other")), set(), id="another claim"),
        pytest.param(lambda c: c.assume(with_volumes(claimed(), name="x"), "a"), None, id="a pod of the same claim"),
        pytest.param(lambda c: c.assume(with_volumes(gce(), name="x"), "a"), {"a"}, id="a pod of the same disk"),
        pytest.param(lambda c: c.add_node(node("b", labels={"x": "y"})), set(), id="a node"),
    ],
)
def test_which_changes_affect_a_pod_with_a_claim_and_a_disk(happens, affected):
    c = cluster(node("a"), node("b"), claim())
    assert nodes_affected(over_cluster(c), with_volumes(claimed(), gce()), c, happens) == affected


def test_pods_with_equal_volumes_have_one_signature():
    plugin = over()
    assert plugin.signature(with_volumes(gce(), claimed())) == plugin.signature(
        with_volumes(gce(), claimed(), name="x")
    )
    assert plugin.signature(with_volumes(claimed())) != plugin.signature(with_volumes(claimed(), namespace="other"))
    assert plugin.signature(pod()) == ()


def test_pods_whose_claims_are_free_have_one_signature_until_one_is_taken():
    c = cluster(node("a"), claim(), claim("shared", "ReadWriteMany"))
    plugin, first, second = over_cluster(c), with_volumes(claimed()), with_volumes(claimed("shared"), name="second")
    assert plugin.signature(first) == plugin.signature(second) == ()
    c.add_pod(with_volumes(claimed(), claimed("shared"), name="user", on="a"))
    assert plugin.signature(first) != ()
    assert plugin.signature(second) == ()
