"""Sharing changes how much memory pods take, and nothing else."""

import gzip
import json
from pathlib import Path

import msgspec

from schedctl import KUBERNETES_VERSION
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import ContainerImage, Node, NodeStatus
from schedctl.api.pods import Pod, PodSpec
from schedctl.api.sharing import Sharing, lighten

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION


def pods():
    for path in sorted(CORPUS.glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines()[:20]:
            for obj in json.loads(line)["case"]["objects"]:
                if obj["kind"] == "Pod":
                    yield msgspec.convert(obj, Pod)


def test_a_shared_pod_equals_the_one_it_was_made_from():
    sharing = Sharing()
    for pod in pods():
        assert sharing.pod(pod) == pod


def test_equal_parts_of_two_pods_are_one_object():
    text = b'{"metadata":{"name":"%s","labels":{"app":"web"}},"spec":{"containers":[{"name":"c"}]}}'
    sharing = Sharing()
    a, b = (sharing.pod(msgspec.json.decode(text % name, type=Pod)) for name in (b"a", b"b"))
    assert a.metadata.labels is b.metadata.labels
    assert a.spec.containers is b.spec.containers


def test_pods_on_no_node_with_equal_specs_share_the_spec_as_a_whole():
    """By which pods of one template can be told."""
    text = b'{"metadata":{"name":"%s"},"spec":{"priority":3,"containers":[{"name":"c"}]}}'
    sharing = Sharing()
    a, b = (sharing.pod(msgspec.json.decode(text % name, type=Pod)) for name in (b"a", b"b"))
    assert a.spec is b.spec


def test_running_pods_share_all_of_their_specs_but_the_node():
    text = b'{"spec":{"nodeName":"%s","tolerations":[{"key":"a"}],"schedulerName":"mine"}}'
    sharing = Sharing()
    a, b = (sharing.pod(msgspec.json.decode(text % name, type=Pod)) for name in (b"a", b"b"))
    assert (a.spec.node_name, b.spec.node_name) == ("a", "b")
    assert a.spec.tolerations is b.spec.tolerations
    assert a.spec.scheduler_name is b.spec.scheduler_name


def test_conditions_that_changed_at_different_times_share_their_texts():
    text = (
        b'{"status":{"conditions":[{"type":"Ready","message":"it is","lastTransitionTime":"2026-03-01T10:00:0%sZ"}]}}'
    )
    sharing = Sharing()
    (a,), (b,) = (sharing.pod(msgspec.json.decode(text % each, type=Pod)).status.conditions for each in (b"0", b"1"))
    assert a.last_transition_time != b.last_transition_time
    assert a.message is b.message


def test_volumes_and_mounts_of_which_a_name_is_left_are_dropped():
    spec = msgspec.convert(
        {
            "volumes": [{"name": "token", "projected": {}}, {"name": "scratch", "emptyDir": {}}],
            "containers": [
                {"name": "a", "volumeMounts": [{"name": "token"}, {"name": "scratch", "bindMountOptions": ["x"]}]},
                {"name": "b", "volumeMounts": [{"name": "token"}]},
            ],
        },
        PodSpec,
    )
    light = lighten(spec)
    assert [volume.name for volume in light.volumes] == ["scratch"]
    assert [mount.name for mount in light.containers[0].volume_mounts] == ["scratch"]
    assert light.containers[1].volume_mounts is None
    assert lighten(light) is light


def test_parts_with_the_same_text_but_of_different_types_are_kept_apart():
    text = b'{"metadata":{"name":"a"},"spec":{"volumes":[{"name":"x"}],"schedulingGates":[{"name":"x"}]}}'
    pod = Sharing().pod(msgspec.json.decode(text, type=Pod))
    assert type(pod.spec.volumes[0]) is not type(pod.spec.scheduling_gates[0])


def test_nodes_share_the_status_where_it_is_equal_and_else_the_images_in_it():
    def node(name: str, cpu: str) -> Node:
        images = [ContainerImage(names=["web:1"], size_bytes=7), ContainerImage(names=None)]
        return Node(metadata=ObjectMeta(name=name), status=NodeStatus(allocatable={"cpu": cpu}, images=images))

    sharing, made = Sharing(), [node("a", "4"), node("b", "4"), node("c", "8")]
    a, b, c = shared = [sharing.node(each) for each in made]
    assert shared == made
    assert a.status is b.status
    assert c.status.images[0] is a.status.images[0]


def test_nodes_with_amounts_beyond_64_bits_stay_as_they_are():
    sharing = Sharing()
    for number in range(50):
        images = [ContainerImage(names=[])] if number % 2 else None
        node = Node(status=NodeStatus(allocatable={"cpu": 10**25 + number}, images=images))
        assert sharing.node(node) == node
