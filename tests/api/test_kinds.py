"""The table of kinds: what is read, under which versions, and what somebody must have meant."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api import kinds
from schedctl.api.kinds import KINDS


def test_every_kind_is_named_like_its_struct_and_has_metadata():
    for kind in KINDS:
        assert kind.struct.__name__ == kind.name
        assert "metadata" in kind.struct.__struct_fields__


def test_names_and_versions_are_unique():
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    versions = [(version, kind.name) for kind in KINDS for version in kind.versions]
    assert len(set(versions)) == len(versions)


def test_the_cluster_scoped_kinds_are_these():
    assert {kind.name for kind in KINDS if not kind.namespaced} == {
        "CSIDriver",
        "CSINode",
        "DeviceClass",
        "DeviceTaintRule",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "ResourceSlice",
        "RuntimeClass",
        "StorageClass",
        "VolumeAttachment",
    }


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_struct_decodes_an_object_with_nothing_but_a_name(kind):
    obj = msgspec.json.decode(b'{"metadata":{"name":"a"},"unknown":{"field":[1]}}', type=kind.struct)
    assert obj.metadata.name == "a"


@pytest.mark.parametrize(
    ("api_version", "name", "found"),
    [
        pytest.param("v1", "Service", "Service", id="a core kind"),
        pytest.param("serving.knative.dev/v1", "Service", None, id="a kind of the same name in another group"),
        pytest.param("extensions/v1beta1", "Deployment", "Deployment", id="a version retired long ago"),
        pytest.param("resource.k8s.io/v1beta1", "ResourceSlice", "ResourceSlice", id="a version that is rewritten"),
        pytest.param("node.k8s.io/v1alpha1", "RuntimeClass", None, id="a version of another shape"),
        pytest.param("scheduling.k8s.io/v1alpha2", "PodGroup", None, id="an earlier API of the same name"),
        pytest.param("v1", "ConfigMap", None, id="a kind that scheduling does not read"),
        pytest.param("", "Pod", None, id="no version at all"),
    ],
)
def test_a_kind_is_found_by_version_and_name_together(api_version, name, found):
    kind = kinds.find(api_version, name)
    assert (kind.name if kind else None) == found


@pytest.mark.parametrize(
    ("api_version", "name", "meant"),
    [
        pytest.param("v1", "Deployment", "Deployment", id="the wrong group of Kubernetes"),
        pytest.param("app/v1", "Deployment", "Deployment", id="a group that cannot exist"),
        pytest.param("apps/v2", "Deployment", "Deployment", id="a version that does not exist"),
        pytest.param("storage.k8s.io/v1", "PersistentVolume", "PersistentVolume", id="another group with a dot"),
        pytest.param("v1", "pod", "Pod", id="lower case"),
        pytest.param("", "Pod", "Pod", id="no version at all"),
        pytest.param("serving.knative.dev/v1", "Service", None, id="somebody else's group"),
        pytest.param("v1", "Secret", None, id="a kind that is not read"),
    ],
)
def test_a_mistaken_kind_is_told_from_somebody_elses(api_version, name, meant):
    kind = kinds.intended_kind(api_version, name)
    assert (kind.name if kind else None) == meant


def test_names_are_camel_case_as_kubernetes_spells_them():
    spelled = set()

    def collect(struct: type[msgspec.Struct]) -> None:
        for field in msgspec.structs.fields(struct):
            spelled.add(field.encode_name)
            for inner in _structs(field.type):
                if inner not in seen:
                    seen.add(inner)
                    collect(inner)

    seen: set[type] = set()
    for kind in KINDS:
        collect(kind.struct)
    assert {"hostIP", "providerID", "volumeID", "diskURI", "nodeID", "shareID", "pdName", "topologyKey"} <= spelled
    assert not {name for name in spelled if name.endswith(("Id", "Ip", "Uri"))}


def _structs(annotation):
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _structs(part)


def test_a_device_request_of_v1beta1_is_put_under_exactly_and_the_original_left_alone():
    convert = kinds.kind_named("ResourceClaim").converted["resource.k8s.io/v1beta1"]
    old = {
        "spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "b"}, {"name": "c", "firstAvailable": []}]}}
    }
    kept = msgspec.json.encode(old)
    assert convert(old)["spec"]["devices"]["requests"] == [
        {"name": "a", "exactly": {"deviceClassName": "b"}},
        {"name": "c", "firstAvailable": []},
    ]
    assert msgspec.json.encode(old) == kept


@pytest.mark.parametrize("value", [{}, {"spec": None}, {"spec": {"devices": 5}}, {"spec": {"devices": [5, None, {}]}}])
def test_a_conversion_leaves_what_has_another_shape_for_the_checks(value):
    assert kinds.kind_named("ResourceSlice").converted["resource.k8s.io/v1beta1"](value) == value
