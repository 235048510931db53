"""Sharing changes how much memory pods take, and nothing else."""

import gzip
import json
from pathlib import Path

import msgspec

from schedctl import KUBERNETES_VERSION
from schedctl.api.pods import Pod
from schedctl.api.sharing import Sharing

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


def test_parts_with_the_same_text_but_of_different_types_are_kept_apart():
    text = b'{"metadata":{"name":"a"},"spec":{"volumes":[{"name":"x"}],"schedulingGates":[{"name":"x"}]}}'
    pod = Sharing().pod(msgspec.json.decode(text, type=Pod))
    assert type(pod.spec.volumes[0]) is not type(pod.spec.scheduling_gates[0])
