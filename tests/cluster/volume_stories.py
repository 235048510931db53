"""Stories about storage: what a person writes, which volume each claim gets, and where the pods go.

kube-controller-manager, a provisioner and kube-scheduler act them out in ``test_real_volumes``, and agree with what is
written here; ``tests/simulation`` holds a run to the same. A story has a namespace and a class name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]

PROVISIONER = "disks.example.com"
PROVISIONED = "provisioned"
"""What stands for the name of a volume that the provisioner made."""
ANYWHERE = "anywhere"
"""What stands for the node of a pod that may be on any."""
PENDING = ""
WAITS, IMMEDIATE = "WaitForFirstConsumer", "Immediate"
_HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True)
class Story:
    """One story.

    Attributes:
        name: a sentence, for reading.
        space: its namespace, which is also how its volumes and classes begin.
        objects: what is created, in order.
        volumes: by claim, the volume it gets, `PROVISIONED`, or "" for none.
        nodes: by pod, its node, `ANYWHERE`, or `PENDING`.
        alone: whether objects of other stories would change it, because of a default class or claims without a class.
    """

    name: str
    space: str
    objects: list[Object]
    volumes: dict[str, str]
    nodes: dict[str, str] = field(default_factory=dict)
    alone: bool = False


def nodes() -> list[Object]:
    """Return the nodes of all stories."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {_HOSTNAME: name}},
            "status": {"allocatable": {"cpu": "16", "memory": "32Gi", "pods": "110"}},
        }
        for name in ("a", "b")
    ]


def volume(
    name: str,
    size: str = "10Gi",
    storage_class: str = "",
    *,
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    node: str = "",
    labels: dict[str, str] | None = None,
    claim: str = "",
    uid: str = "",
    **spec: Any,
) -> Object:
    """Return a volume; `claim` is the claim that it is kept for, as ``namespace/name``."""
    spec |= {
        "capacity": {"storage": size},
        "accessModes": list(modes),
        "storageClassName": storage_class,
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/mnt"},
    }
    if node:
        expression = {"key": _HOSTNAME, "operator": "In", "values": [node]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    if claim:
        namespace, _, claim_name = claim.partition("/")
        reference = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": namespace, "name": claim_name}
        spec["claimRef"] = {**reference, "uid": uid} if uid else reference
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


def claim(
    space: str,
    name: str = "data",
    size: str = "3Gi",
    storage_class: str | None = None,
    *,
    mode: str = "ReadWriteOnce",
    **spec: Any,
) -> Object:
    """Return a claim; without a class it names none at all."""
    spec |= {"accessModes": [mode], "resources": {"requests": {"storage": size}}}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    metadata = {"name": name, "namespace": space}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def storage_class(name: str, mode: str = IMMEDIATE, provisioner: str = PROVISIONER, *, default: bool = False) -> Object:
    """Return a class."""
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def pod(space: str, *claims: str, name: str = "web", node: str = "") -> Object:
    """Return a pod that mounts claims; with `node` it asks for that one."""
    spec: Object = {
        "containers": [{"name": "main", "image": "example.com/main"}],
        "volumes": [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims or ("data",)],
    }
    if node:
        spec["nodeSelector"] = {_HOSTNAME: node}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space}, "spec": spec}


def stateful_set(space: str, replicas: int, storage_class: str) -> Object:
    """Return a StatefulSet with a claim for each pod."""
    template = claim(space, storage_class=storage_class)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": space},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "main", "image": "example.com/main"}]},
            },
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": template["spec"]}],
        },
    }


def bound(volume_name: str, node: str = ANYWHERE) -> dict[str, dict[str, str]]:
    """Return what a story ends with in which the claim gets a volume."""
    return {"volumes": {"data": volume_name}, "nodes": {"web": node}}


UNBOUND = {"volumes": {"data": ""}, "nodes": {"web": PENDING}}

STORIES = (
    Story(
        "a claim and a volume with the same class name bind without a StorageClass",
        "same",
        [volume("same-1", "10Gi", "same"), claim("same", storage_class="same"), pod("same")],
        **bound("same-1"),
    ),
    Story(
        "the smallest volume that is large enough is taken",
        "small",
        [
            *(volume(f"small-{size}", f"{size}Gi", "small") for size in (10, 2, 5)),
            claim("small", storage_class="small"),
            pod("small"),
        ],
        **bound("small-5"),
    ),
    Story(
        "no volume that is too small is taken",
        "large",
        [volume("large-1", "2Gi", "large"), claim("large", storage_class="large"), pod("large")],
        **UNBOUND,
    ),
    Story(
        "no volume of another class is taken",
        "other",
        [volume("other-1", "10Gi", "other-class"), claim("other", storage_class="other"), pod("other")],
        **UNBOUND,
    ),
    Story(
        "no volume without the access mode is taken",
        "access",
        [
            volume("access-1", "10Gi", "access"),
            claim("access", storage_class="access", mode="ReadWriteMany"),
            pod("access"),
        ],
        **UNBOUND,
    ),
    Story(
        "a volume with just the access modes goes before a smaller one with more of them",
        "modes",
        [
            volume("modes-more", "5Gi", "modes", modes=("ReadWriteOnce", "ReadWriteMany")),
            volume("modes-just", "10Gi", "modes"),
            claim("modes", storage_class="modes"),
            pod("modes"),
        ],
        **bound("modes-just"),
    ),
    Story(
        "a claim for a Block device takes a Block volume only",
        "block",
        [
            volume("block-files", "5Gi", "block"),
            volume("block-device", "10Gi", "block", volumeMode="Block"),
            claim("block", storage_class="block", volumeMode="Block"),
        ],
        volumes={"data": "block-device"},
    ),
    Story(
        "a selector chooses by the labels of volumes",
        "labels",
        [
            volume("labels-1", "5Gi", "labels", labels={"tier": "slow"}),
            volume("labels-2", "10Gi", "labels", labels={"tier": "fast"}),
            claim("labels", storage_class="labels", selector={"matchLabels": {"tier": "fast"}}),
            pod("labels"),
        ],
        **bound("labels-2"),
    ),
    Story(
        "a claim gets the volume it names, though a smaller one would do",
        "named",
        [
            volume("named-1", "5Gi", "named"),
            volume("named-2", "10Gi", "named"),
            claim("named", storage_class="named", volumeName="named-2"),
            pod("named"),
        ],
        **bound("named-2"),
    ),
    Story(
        "a claim does not get the volume it names if that is of another class",
        "wrong",
        [
            volume("wrong-1", "5Gi", "wrong-class"),
            claim("wrong", storage_class="wrong", volumeName="wrong-1"),
            pod("wrong"),
        ],
        volumes={"data": ""},
        nodes={"web": PENDING},
    ),
    Story(
        "a claim gets the volume it names though its selector does not match it",
        "unselected",
        [
            volume("unselected-1", "5Gi", "unselected"),
            claim(
                "unselected",
                storage_class="unselected",
                volumeName="unselected-1",
                selector={"matchLabels": {"tier": "fast"}},
            ),
            pod("unselected"),
        ],
        **bound("unselected-1"),
    ),
    Story(
        "a volume whose claimRef names another claim is not taken",
        "kept",
        [
            volume("kept-1", "5Gi", "kept", claim="kept/other"),
            claim("kept", storage_class="kept"),
            pod("kept"),
        ],
        **UNBOUND,
    ),
    Story(
        "a volume whose claimRef names the claim goes to it, though a smaller one would do",
        "reserved",
        [
            volume("reserved-1", "5Gi", "reserved"),
            volume("reserved-2", "10Gi", "reserved", claim="reserved/data"),
            claim("reserved", storage_class="reserved"),
            pod("reserved"),
        ],
        **bound("reserved-2"),
    ),
    Story(
        "a volume whose claimRef names the claim is bound to it though it is of another class",
        "crossed",
        [
            volume("crossed-1", "5Gi", "crossed-class", claim="crossed/data"),
            claim("crossed", storage_class="crossed"),
            pod("crossed"),
        ],
        **bound("crossed-1"),
    ),
    Story(
        "a volume whose claimRef names a claim that is gone is not taken",
        "released",
        [
            volume(
                "released-1", "5Gi", "released", claim="released/before", uid="6e1c4a5e-0000-4000-8000-000000000000"
            ),
            claim("released", storage_class="released"),
            pod("released"),
        ],
        **UNBOUND,
    ),
    Story(
        "the pod goes where its volume is",
        "local",
        [volume("local-1", "5Gi", "local", node="b"), claim("local", storage_class="local"), pod("local")],
        **bound("local-1", "b"),
    ),
    Story(
        "the volume is chosen by size before the pod is, even where the pod cannot reach it",
        "astray",
        [
            volume("astray-1", "5Gi", "astray", node="a"),
            volume("astray-2", "10Gi", "astray", node="b"),
            claim("astray", storage_class="astray"),
            pod("astray", node="b"),
        ],
        **bound("astray-1", PENDING),
    ),
    Story(
        "a class that waits for a pod leaves the choice of the volume to the scheduler",
        "waits",
        [
            storage_class("waits", WAITS, "kubernetes.io/no-provisioner"),
            volume("waits-1", "5Gi", "waits", node="a"),
            volume("waits-2", "10Gi", "waits", node="b"),
            claim("waits", storage_class="waits"),
            pod("waits", node="b"),
        ],
        **bound("waits-2", "b"),
    ),
    Story(
        "a class that waits for a pod leaves a claim that no pod uses alone",
        "unused",
        [
            storage_class("unused", WAITS),
            volume("unused-1", "5Gi", "unused"),
            claim("unused", storage_class="unused"),
        ],
        volumes={"data": ""},
    ),
    Story(
        "a class that waits for a pod does not hold up a volume whose claimRef names the claim",
        "early",
        [
            storage_class("early", WAITS),
            volume("early-1", "5Gi", "early", claim="early/data"),
            claim("early", storage_class="early"),
        ],
        volumes={"data": "early-1"},
    ),
    Story(
        "a class that binds immediately takes a volume that is there before any is provisioned",
        "present",
        [
            storage_class("present"),
            volume("present-1", "5Gi", "present"),
            claim("present", storage_class="present"),
            pod("present"),
        ],
        **bound("present-1"),
    ),
    Story(
        "a class that binds immediately is provisioned when the claim is made",
        "made",
        [storage_class("made"), claim("made", storage_class="made"), pod("made")],
        **bound(PROVISIONED),
    ),
    Story(
        "each pod of a StatefulSet gets a volume of its own",
        "set",
        [storage_class("set"), stateful_set("set", 3, "set")],
        volumes={f"data-db-{i}": PROVISIONED for i in range(3)},
        nodes={f"db-{i}": ANYWHERE for i in range(3)},
    ),
    Story(
        "a class that nobody provisions leaves the claim pending",
        "nobody",
        [
            storage_class("nobody", IMMEDIATE, "kubernetes.io/no-provisioner"),
            claim("nobody", storage_class="nobody"),
            pod("nobody"),
        ],
        **UNBOUND,
    ),
    Story(
        "an in-tree provisioner that is gone leaves the claim pending",
        "intree",
        [
            storage_class("intree", IMMEDIATE, "kubernetes.io/glusterfs"),
            claim("intree", storage_class="intree"),
            pod("intree"),
        ],
        **UNBOUND,
    ),
    Story(
        'a claim of class "" takes a volume without a class',
        "empty",
        [volume("empty-1", "5Gi"), claim("empty", storage_class=""), pod("empty")],
        **bound("empty-1"),
        alone=True,
    ),
    Story(
        "a claim without a class takes a volume without one where there is no default",
        "classless",
        [volume("classless-1", "5Gi"), claim("classless"), pod("classless")],
        **bound("classless-1"),
        alone=True,
    ),
    Story(
        "a claim without a class gets the default class and a volume of it",
        "given",
        [
            storage_class("given-class", default=True),
            volume("given-1", "5Gi", "given-class"),
            volume("given-2", "4Gi"),
            claim("given"),
            pod("given"),
        ],
        **bound("given-1"),
        alone=True,
    ),
    Story(
        'a claim of class "" is not given the default class',
        "refused",
        [storage_class("refused-class", default=True), claim("refused", storage_class=""), pod("refused")],
        **UNBOUND,
        alone=True,
    ),
    Story(
        "a claim that was there before the default class gets it later",
        "later",
        [claim("later"), pod("later"), storage_class("later-class", default=True)],
        **bound(PROVISIONED),
        alone=True,
    ),
)
