"""What a snapshot keeps of an object, and what it does not."""

from __future__ import annotations

import importlib
import json
import operator
import re

import msgspec
import pytest

from schedctl import sources
from schedctl.api import annotation_keys, pods
from schedctl.api.kinds import KINDS
from schedctl.reports.snapshots import Header
from schedctl.snapshots import documents
from schedctl.snapshots.allow_list import keep_allowed
from tests.snapshots.states import CORPUS, ROOT, cases, keep, objects_in, objects_of, state

SECRET = "hunter2"
STATE = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "data": {"password": SECRET}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"url": f"x:{SECRET}@db"}},
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "web",
                "uid": "1",
                "annotations": {
                    "kubectl.kubernetes.io/last-applied-configuration": f'{{"env": "{SECRET}"}}',
                    "note": SECRET,
                },
                "finalizers": [f"{SECRET}.io/f"],
                "managedFields": [{"manager": SECRET}],
            },
            "spec": {
                "serviceAccountName": SECRET,
                "containers": [
                    {
                        "name": "web",
                        "image": "web:1",
                        "env": [{"name": "PASSWORD", "value": SECRET}],
                        "envFrom": [{"secretRef": {"name": SECRET}}],
                        "command": ["run", SECRET],
                        "args": [SECRET],
                        "livenessProbe": {"exec": {"command": [SECRET]}},
                        "lifecycle": {"postStart": {"exec": {"command": [SECRET]}}},
                    }
                ],
                "volumes": [
                    {"name": "v", "secret": {"secretName": SECRET}},
                    {
                        "name": "scratch",
                        "ephemeral": {
                            "volumeClaimTemplate": {
                                "metadata": {"annotations": {"note": SECRET}, "labels": {"app": "web"}},
                                "spec": {"accessModes": ["ReadWriteOnce"]},
                            }
                        },
                    },
                ],
            },
            "status": {
                "message": SECRET,
                "conditions": [
                    {"type": "Ready", "status": "False", "message": SECRET},
                    {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"},
                ],
                "containerStatuses": [{"name": "web", "state": {"waiting": {"message": SECRET}}}],
            },
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "uid": "2"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}, "annotations": {"token": SECRET}},
                    "spec": {"containers": [{"name": "web", "image": "web:1", "args": [SECRET]}]},
                },
            },
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "fast", "uid": "3"},
            "provisioner": "p.io",
            "parameters": {"secret": SECRET},
        },
    ],
}


def snapshot_of(manifests) -> bytes:
    return documents.encode(Header(), documents.by_kind(keep(objects_of(manifests))))


def test_what_is_secret_cannot_get_in():
    manifests = sources.load_text(json.dumps(STATE).encode(), "state.json")
    written = snapshot_of(manifests)
    assert SECRET.encode() not in written
    assert b"0/1 nodes are available" in written, "what kube-scheduler said of the pod stays"


def test_volume_with_nothing_but_a_name_is_left_out():
    volumes = [pods.Volume(name="kube-api-access-x1"), pods.Volume(name="data", empty_dir=pods.EmptyDirVolumeSource())]
    mounts = [pods.VolumeMount(name="kube-api-access-x1"), pods.VolumeMount(name="data", bind_mount_options=["exec"])]
    spec = pods.PodSpec(volumes=volumes, containers=[pods.Container(name="web", volume_mounts=mounts)])
    kept_spec = keep_allowed(pods.Pod(spec=spec)).spec
    assert kept_spec.volumes == volumes[1:]
    assert kept_spec.containers[0].volume_mounts == mounts[1:]
    template = keep_allowed(pods.PodTemplate(template=pods.PodTemplateSpec(spec=spec))).template
    assert template.spec == spec, "templates compare with what somebody has written"


def test_secrets_and_config_maps_are_no_kinds_that_are_read():
    assert {"Secret", "ConfigMap"}.isdisjoint(kind.name for kind in KINDS)


def test_templates_that_differ_in_an_annotation_only_still_differ():
    def template(note: str):
        text = json.dumps(STATE).replace(f'"token": "{SECRET}"', f'"token": "{note}"')
        found = objects_of(sources.load_text(text.encode(), "state.json"))
        return next(keep_allowed(obj).spec.template for kind, obj in found if kind.name == "Deployment")

    assert template("a") == template("a")
    assert template("a") != template("b")


@pytest.mark.parametrize("paths", [("fixtures/clusters/shop",), ("fixtures/clusters/lab",), ("fixtures/pods",)])
def test_what_is_allowed_comes_back_as_it_was(paths):
    objects = documents.by_kind(keep(objects_of(state(*paths))))
    written = documents.encode(Header(), objects)
    read = documents.by_kind((kind, obj) for kind, found in documents.decode(written).objects for obj in found)
    assert read == objects
    assert all(keep_allowed(obj) == obj for found in read.values() for obj in found), (
        "what is allowed once is allowed again"
    )


@pytest.mark.parametrize("family", CORPUS, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_objects_of_the_corpus_come_back_as_they_were(family):
    for case in cases(family, 5):
        objects = documents.by_kind(keep(objects_in(case)))
        read = documents.decode(documents.encode(Header(), objects))
        assert read.intact
        assert documents.by_kind((kind, obj) for kind, found in read.objects for obj in found) == objects


_ASKED = re.compile(
    r"annotations(?: or \{\})?\)?(?:\.get\(|\[)((?:\w+\.)*[A-Z_]+|\"[^\"]+\")"
    r"|((?:\w+\.)*[A-Z_]+) (?:not )?in \(?(?:\w+\.)*annotations\b"
)
"""How the code asks for an annotation: by a constant, of its own or of another module, or by its name."""


OF_MANIFESTS = {"alpha.jobset.sigs.k8s.io/node-selector", "config.kubernetes.io/origin"}
"""What is read of manifests to be placed, never of a state."""


def test_every_annotation_that_is_read_is_allowed():
    found = set()
    for path in (ROOT / "schedctl").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for names in _ASKED.findall(path.read_text()):
            name = names[0] or names[1]
            if name.startswith('"'):
                found.add(name.strip('"'))
            else:
                found.add(operator.attrgetter(name)(importlib.import_module(module)))
    assert len(found) > 8
    assert found - OF_MANIFESTS <= annotation_keys.READ


def test_digest_replaces_the_annotations_of_a_template():
    keep = annotation_keys.comparable_annotations({"b": "2", "a": "1", annotation_keys.RESTARTED: "now"})
    assert keep == annotation_keys.comparable_annotations({"a": "1", "b": "2"})
    assert annotation_keys.comparable_annotations(keep) == keep
    assert annotation_keys.comparable_annotations({annotation_keys.RESTARTED: "now"}) is None
    assert msgspec.json.encode(keep).count(b"sha256:") == 1
