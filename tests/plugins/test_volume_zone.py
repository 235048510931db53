"""VolumeZone."""

from types import SimpleNamespace

import msgspec
import pytest

from schedctl.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from schedctl.api.topology import BETA_REGION, BETA_ZONE, REGION, ZONE
from schedctl.framework.cycles import Cycle
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status
from schedctl.plugins.volume_zone.plugin import VolumeZone
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.plugin_answers import parts_read

PLUGIN = VolumeZone(None, None)
ELSEWHERE = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had no available volume zone",))
WEB = pod(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])


def volume(name="pv", **labels):
    return msgspec.convert({"metadata": {"name": name, "labels": labels}}, PersistentVolume)


def claim(name="data", namespace="default", annotations=None, **spec):
    metadata = {"name": name, "namespace": namespace, "annotations": annotations}
    return msgspec.convert({"metadata": metadata, "spec": spec}, PersistentVolumeClaim)


def storage_class(name, mode):
    return msgspec.convert({"metadata": {"name": name}, "volumeBindingMode": mode}, StorageClass)


def over(*objects):
    return VolumeZone(None, SimpleNamespace(cluster=cluster(*objects)))


def verdicts(nodes, incoming=WEB):
    cycle = Cycle(incoming)
    assert PLUGIN.pre_filter(cycle, nodes) is None
    return PLUGIN.filter(cycle, nodes)


@pytest.mark.parametrize(
    ("volume_labels", "node_labels", "fits"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "a"}, True, id="a node of the volume's zone will do"),
        pytest.param({ZONE: "a"}, {ZONE: "b"}, False, id="one of another zone will not"),
        pytest.param({ZONE: "a"}, {REGION: "a"}, False, id="one that says its region alone will not"),
        pytest.param({ZONE: "a"}, {}, True, id="a node in no zone or region at all will do"),
        pytest.param({ZONE: "a__b"}, {ZONE: "b"}, True, id="a volume may be in several zones"),
        pytest.param({ZONE: "a__"}, {ZONE: "b"}, True, id="a list with an empty zone is overlooked"),
        pytest.param({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False, id="the region must fit as well"),
        pytest.param({BETA_ZONE: "a"}, {ZONE: "a"}, True, id="the old label of a volume is met by the new one"),
        pytest.param({BETA_ZONE: "a"}, {BETA_ZONE: "b", ZONE: "a"}, False, id="unless the node has the old one too"),
        pytest.param({ZONE: "a"}, {BETA_ZONE: "a"}, False, id="the new label is not met by the old one"),
        pytest.param({BETA_REGION: "r"}, {REGION: "r"}, True, id="regions have an old label too"),
        pytest.param({ZONE: "a"}, {ZONE: ""}, False, id="an empty zone is a zone of its own"),
    ],
)
def test_nodes_outside_the_zone_of_a_volume_are_refused(volume_labels, node_labels, fits):
    shelf = (volume(**volume_labels), claim(volumeName="pv"), volume("other", **{ZONE: "x"}))
    c = cluster(node("n", labels=node_labels), *shelf)
    cycle = Cycle(WEB)
    if PLUGIN.pre_filter(cycle, c.nodes) == SKIP:
        assert fits
    else:
        assert PLUGIN.filter(cycle, c.nodes).status(0) == (SUCCESS if fits else ELSEWHERE)


@pytest.mark.parametrize(
    "shelf",
    [
        pytest.param([volume(app="db"), claim(volumeName="pv")], id="a volume without such labels"),
        pytest.param(
            [storage_class("late", "WaitForFirstConsumer"), claim(storageClassName="late")],
            id="a claim that waits for its first consumer",
        ),
    ],
)
def test_pods_that_are_skipped(shelf):
    assert PLUGIN.pre_filter(Cycle(WEB), cluster(node("a"), *shelf).nodes) == SKIP


def test_a_pod_without_claims_is_skipped():
    assert PLUGIN.pre_filter(Cycle(pod(volumes=[{"name": "x", "emptyDir": {}}])), cluster(node("a")).nodes) == SKIP


@pytest.mark.parametrize(
    ("shelf", "text"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="a claim that is not there"),
        pytest.param([claim(volumeName="pv")], 'persistentvolume "pv" not found', id="a volume that is not there"),
        pytest.param(
            [claim()], "PersistentVolumeClaim had no pv name and storageClass name", id="a claim without a class"
        ),
        pytest.param(
            [claim(storageClassName="gone")],
            'storageclass.storage.k8s.io "gone" not found',
            id="a class that is not there",
        ),
        pytest.param(
            [storage_class("x", None), claim(storageClassName="x")],
            'VolumeBindingMode not set for StorageClass "x"',
            id="a class without a binding mode",
        ),
        pytest.param(
            [storage_class("now", "Immediate"), claim(storageClassName="now")],
            "PersistentVolume had no name",
            id="a claim that should be bound by now",
        ),
        pytest.param(
            [
                storage_class("late", "WaitForFirstConsumer"),
                claim(storageClassName="late", annotations={"volume.beta.kubernetes.io/storage-class": "old"}),
            ],
            'storageclass.storage.k8s.io "old" not found',
            id="the class of the old annotation goes first",
        ),
        pytest.param(
            [claim(namespace="other", volumeName="pv")],
            'persistentvolumeclaim "data" not found',
            id="a claim of another namespace",
        ),
    ],
)
def test_pods_that_pre_filter_refuses(shelf, text):
    nodes = cluster(node("a"), *shelf).nodes
    refused = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
    assert PLUGIN.pre_filter(Cycle(WEB), nodes) == refused
    assert PLUGIN.filter(Cycle(WEB), nodes).status(0) == refused  # as where the profile leaves PreFilter out


def test_a_claim_without_a_name_is_none():
    nameless = pod(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": ""}}])
    refused = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("PersistentVolumeClaim had no name",))
    assert PLUGIN.pre_filter(Cycle(nameless), cluster(node("a")).nodes) == refused


def test_the_evidence_is_the_volume_the_label_and_both_values():
    c = cluster(node("a", zone="a"), node("c", zone="c"), volume(**{ZONE: "b__a"}), claim(volumeName="pv"))
    found = verdicts(c.nodes)
    assert found.mask.tolist() == [False, True]
    (part,) = found.at(1)
    assert part.at(1) == {"claim": "data", "volume": "pv", "label": ZONE, "wanted": ("a", "b"), "has": "c"}


def test_the_first_label_that_does_not_match_is_reported():
    labels = {ZONE: "x", REGION: "y"}
    c = cluster(node("a", labels=labels), volume(**{ZONE: "a", REGION: "r"}), claim(volumeName="pv"))
    (part,) = verdicts(c.nodes).at(0)
    assert part.at(0)["label"] == ZONE


def test_a_volume_in_the_zone_of_all_nodes_refuses_none():
    c = cluster(node("a", zone="a"), node("b", zone="a"), volume(**{ZONE: "a"}), claim(volumeName="pv"))
    assert verdicts(c.nodes) is ACCEPT


def test_a_pod_held_to_a_zone_rests_on_its_claims_and_on_the_labels_of_nodes():
    c = cluster(node("a", zone="a"), node("b", zone="b"), volume(**{ZONE: "a"}), claim(volumeName="pv"))
    plugin = VolumeZone(None, SimpleNamespace(cluster=c))
    assert parts_read(plugin, WEB, c.nodes) == {"description", "objects"}
    assert parts_read(plugin, pod(), c.nodes) == set()


def test_pods_of_one_claim_have_one_signature():
    plugin = over(volume(**{ZONE: "a"}), claim(volumeName="pv"))
    volumes = [{"name": "other", "persistentVolumeClaim": {"claimName": "data"}}]
    assert plugin.signature(WEB) == plugin.signature(pod("other", volumes=volumes))
    assert plugin.signature(WEB) != plugin.signature(pod(namespace="other", volumes=volumes))
    assert plugin.signature(pod()) == ()


def test_pods_held_to_no_zone_have_one_signature():
    c = cluster(volume(), claim(volumeName="pv"))
    plugin = VolumeZone(None, SimpleNamespace(cluster=c))
    assert plugin.signature(WEB) == plugin.signature(pod()) == ()
    c.put(volume(**{ZONE: "a"}))
    assert plugin.signature(WEB) == ("default", "data")
    c.delete(claim(volumeName="pv"))
    assert plugin.signature(WEB) == ("default", "data")
