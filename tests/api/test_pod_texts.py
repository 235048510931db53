"""Pods out of text: the same as if each were decoded by itself, but for names that nobody reads."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api import pod_texts
from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_texts import PodTexts
from schedctl.api.pods import Pod
from schedctl.api.sharing import Sharing, lighten

TOKEN = '"volumes":[{"name":"kube-api-access-%s","projected":{}}]'
MOUNT = '"containers":[{"name":"c","volumeMounts":[{"name":"kube-api-access-%s","mountPath":"/token"}]}]'


def text(spec: str, name: str = "p") -> bytes:
    return f'{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","uid":"{name}"}},"spec":{spec}}}'.encode()


def read(*texts: bytes) -> list[Pod | None]:
    known = PodTexts(Sharing())
    return [known.pod(msgspec.Raw(each)) for each in texts]


def one_by_one(*texts: bytes) -> list[Pod]:
    found = [msgspec.json.decode(each, type=Pod) for each in texts]
    return [msgspec.structs.replace(pod, spec=lighten(pod.spec)) for pod in found]


def test_every_field_of_metadata_is_known():
    fields = {field.name for field in msgspec.structs.fields(ObjectMeta)}
    assert {field.name for field in msgspec.structs.fields(pod_texts._Metadata)} == fields


@pytest.mark.parametrize(
    "specs",
    [
        pytest.param(['{"nodeName":"a"}', '{"nodeName" : "b"}', "{}"], id="nodes"),
        pytest.param(
            ['{"nodeSelector":{"nodeName":"a"}}', '{"nodeSelector":{"nodeName":"b"}}'], id="a label of that name"
        ),
        pytest.param(
            ['{"nodeSelector":{"nodeName":"a"},"nodeName":"a"}', '{"nodeSelector":{"nodeName":"b"},"nodeName":"a"}'],
            id="a label of that name, and the field behind it",
        ),
        pytest.param(['{"nodeName":"a","nodeName":"b"}', '{"nodeName":"c","nodeName":"b"}'], id="twice"),
        pytest.param(['{"nodeName":"\\u0061"}', '{"nodeName":"b"}', '{"nodeName":""}'], id="escapes"),
        pytest.param(
            ['{"volumes":[{"name":"\\"nodeName\\":\\"a","emptyDir":{}}]}'], id="a text that looks like the field"
        ),
        pytest.param([f"{{{TOKEN % end}}}" for end in ("aaaaa", "bbbbb")], id="volumes of tokens"),
        pytest.param([f"{{{MOUNT % end},{TOKEN % end}}}" for end in ("aaaaa", "bbbbb")], id="mounts of tokens"),
        pytest.param(
            [
                f'{{{MOUNT % end},"nodeName":"a","nodeSelector":{{"kube-api-access-{end}":"x"}}}}'
                for end in ("aaaaa", "bbbbb")
            ],
            id="a label like the name of a token",
        ),
        pytest.param(
            [f'{{"volumes":[{{"name":"kube-api-access-{end}","emptyDir":{{}}}}]}}' for end in ("aaaaa", "bbbbb")],
            id="a volume like a token that is read",
        ),
        pytest.param(["{}"], id="nothing"),
    ],
)
def test_pods_are_decoded_as_they_would_be_one_by_one(specs):
    texts = [text(spec) for spec in (*specs, *specs)]
    assert read(*texts) == one_by_one(*texts)


def test_more_texts_than_are_remembered_are_decoded_all_the_same():
    texts = [text(f'{{"priority":{number}}}') for number in range(pod_texts._KEPT + 10)]
    assert read(*texts, *texts[:5]) == one_by_one(*texts, *texts[:5])


def test_pods_on_different_nodes_with_tokens_of_their_own_share_their_containers():
    a, b = read(*(text(f'{{{MOUNT % end},"nodeName":"{end}",{TOKEN % end}}}') for end in ("aaaaa", "bbbbb")))
    assert (a.spec.node_name, b.spec.node_name) == ("aaaaa", "bbbbb")
    assert a.spec.containers is b.spec.containers
    assert a.spec.volumes is None


def test_pods_on_no_node_share_the_spec_as_a_whole():
    a, b = read(*(text(f"{{{MOUNT % end}}}") for end in ("aaaaa", "bbbbb")))
    assert a.spec is b.spec


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}', id="written by hand"),
        pytest.param(b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"p","uid":"1"}}', id="another kind"),
        pytest.param(b'{"apiVersion":"v2","kind":"Pod","metadata":{"name":"p","uid":"1"}}', id="another version"),
        pytest.param(b'{"metadata":{"name":"p","uid":"1"}}', id="a pod that does not say so"),
    ],
)
def test_what_is_no_pod_of_a_cluster_is_left_to_others(other):
    assert read(other) == [None]


def test_a_list_of_pods_need_not_say_what_they_are():
    pod = PodTexts(Sharing()).pod(msgspec.Raw(b'{"metadata":{"name":"p","uid":"1"}}'), unnamed=True)
    assert pod == Pod(metadata=ObjectMeta(name="p", uid="1"))


@pytest.mark.parametrize("spec", ['{"priority":"x"}', '{"nodeName":5}', "null", '{"nodeName":"a","containers":7}'])
def test_what_is_of_the_wrong_type_is_an_error_each_time(spec):
    known = PodTexts(Sharing())
    for _ in range(2):
        with pytest.raises(msgspec.ValidationError):
            known.pod(msgspec.Raw(text(spec)))
