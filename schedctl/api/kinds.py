"""The kinds that scheduling reads, under every API version they can be written in.

A manifest names its kind by ``apiVersion`` and ``kind`` together: ``v1`` Service is read, ``serving.knative.dev/v1``
Service is somebody else's and is not. Per kind one version is the one kube-scheduler v1.37.1 lists; others are read
when they mean the same thing, and no version outside these lists is read on a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from schedctl.api import devices, policies, storage, workloads
from schedctl.api.meta import Namespace, Struct
from schedctl.api.nodes import Node
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod, PodTemplate

Conversion = Callable[[dict[str, Any]], dict[str, Any]]
"""An object as it was written to the same object in the fields of the version we read; the argument is left alone."""


class Kind(msgspec.Struct, frozen=True, eq=False):
    """A kind that is read, and how.

    Attributes:
        api_version: the version kube-scheduler lists, e.g. ``apps/v1``; its fields are the struct's.
        name: the kind, e.g. ``Deployment``.
        struct: what an object of it is decoded into.
        namespaced: whether its objects live in a namespace.
        served: other versions with the same fields that an API server still offers.
        retired: other versions with the same fields that no API server of this Kubernetes offers.
        converted: versions with other fields, and how to rewrite an object of one.
        only: the one object that a cluster is asked for, ``namespace/name``; "" for all.
    """

    api_version: str
    name: str
    struct: type[Struct]
    namespaced: bool = True
    served: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    converted: Mapping[str, Conversion] = msgspec.field(default_factory=dict)
    only: str = ""

    @property
    def versions(self) -> tuple[str, ...]:
        """Every ``apiVersion`` under which the kind is read."""
        return (self.api_version, *self.served, *self.retired, *self.converted)

    @property
    def resource(self) -> str:
        """What the API server calls its objects, in the plural: ``deployments``."""
        return plural(self.name).lower()

    def __str__(self) -> str:
        return self.name


def plural(name: str) -> str:
    """Return the name of a kind for several objects: ``Services``, ``DeviceClasses``, ``CSIStorageCapacities``."""
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"


def _flat_devices(slice_: dict[str, Any]) -> dict[str, Any]:
    """Lift what ``v1beta1`` keeps under a device's ``basic`` to the device itself."""

    def device(value: Any) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get("basic"), dict):
            return value
        return {**{k: v for k, v in value.items() if k != "basic"}, **value["basic"]}

    result: dict[str, Any] = _within(slice_, ("spec", "devices"), device)
    return result


def _exact_requests(*path: str) -> Conversion:
    """Put what ``v1beta1`` keeps in a device request itself under ``exactly``."""

    def request(value: Any) -> Any:
        if not isinstance(value, dict) or "firstAvailable" in value or "exactly" in value:
            return value
        return {"name": value.get("name"), "exactly": {k: v for k, v in value.items() if k != "name"}}

    return lambda claim: _within(claim, (*path, "devices", "requests"), request)


def _within(value: Any, path: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    """Return the value with the items of the list at `path` changed; what has another shape stays as it is."""
    if not path:
        return [change(item) for item in value] if isinstance(value, list) else value
    if not isinstance(value, dict) or path[0] not in value:
        return value
    return {**value, path[0]: _within(value[path[0]], path[1:], change)}


_OLD_APPS = ("apps/v1beta2", "apps/v1beta1", "extensions/v1beta1")
_STORAGE_BETA = ("storage.k8s.io/v1beta1",)
_DRA, _DRA_BETA1, _DRA_BETA2 = "resource.k8s.io/v1", "resource.k8s.io/v1beta1", ("resource.k8s.io/v1beta2",)

KINDS: tuple[Kind, ...] = (
    Kind("v1", "Pod", Pod),
    Kind("v1", "Node", Node, namespaced=False),
    Kind("v1", "Namespace", Namespace, namespaced=False),
    Kind("v1", "Service", workloads.Service),
    Kind("v1", "ReplicationController", workloads.ReplicationController),
    Kind("v1", "PodTemplate", PodTemplate),
    Kind("v1", "LimitRange", policies.LimitRange),
    Kind("v1", "ResourceQuota", policies.ResourceQuota),
    Kind("v1", "PersistentVolume", storage.PersistentVolume, namespaced=False),
    Kind("v1", "PersistentVolumeClaim", storage.PersistentVolumeClaim),
    Kind("apps/v1", "Deployment", workloads.Deployment, retired=_OLD_APPS),
    Kind("apps/v1", "ReplicaSet", workloads.ReplicaSet, retired=_OLD_APPS),
    Kind("apps/v1", "DaemonSet", workloads.DaemonSet, retired=_OLD_APPS),
    Kind("apps/v1", "StatefulSet", workloads.StatefulSet, retired=("apps/v1beta2", "apps/v1beta1")),
    Kind("batch/v1", "Job", workloads.Job),
    Kind("batch/v1", "CronJob", workloads.CronJob, retired=("batch/v1beta1",)),
    Kind(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        workloads.HorizontalPodAutoscaler,
        served=("autoscaling/v1",),
        retired=("autoscaling/v2beta2", "autoscaling/v2beta1"),
    ),
    Kind("policy/v1", "PodDisruptionBudget", policies.PodDisruptionBudget, retired=("policy/v1beta1",)),
    Kind(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        policies.PriorityClass,
        namespaced=False,
        retired=("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha1"),
    ),
    # kube-scheduler reads it with GenericWorkload only; earlier versions of the API are other objects
    Kind("scheduling.k8s.io/v1beta1", "PodGroup", PodGroup),
    Kind("node.k8s.io/v1", "RuntimeClass", policies.RuntimeClass, namespaced=False, retired=("node.k8s.io/v1beta1",)),
    Kind("storage.k8s.io/v1", "StorageClass", storage.StorageClass, namespaced=False, retired=_STORAGE_BETA),
    Kind("storage.k8s.io/v1", "CSINode", storage.CSINode, namespaced=False, retired=_STORAGE_BETA),
    Kind("storage.k8s.io/v1", "CSIDriver", storage.CSIDriver, namespaced=False, retired=_STORAGE_BETA),
    Kind(
        "storage.k8s.io/v1",
        "CSIStorageCapacity",
        storage.CSIStorageCapacity,
        retired=(*_STORAGE_BETA, "storage.k8s.io/v1alpha1"),
    ),
    Kind(
        "storage.k8s.io/v1",
        "VolumeAttachment",
        storage.VolumeAttachment,
        namespaced=False,
        retired=(*_STORAGE_BETA, "storage.k8s.io/v1alpha1"),
    ),
    Kind(
        _DRA,
        "ResourceSlice",
        devices.ResourceSlice,
        namespaced=False,
        served=_DRA_BETA2,
        converted={_DRA_BETA1: _flat_devices},
    ),
    Kind(
        _DRA, "ResourceClaim", devices.ResourceClaim, served=_DRA_BETA2, converted={_DRA_BETA1: _exact_requests("spec")}
    ),
    Kind(
        _DRA,
        "ResourceClaimTemplate",
        devices.ResourceClaimTemplate,
        served=_DRA_BETA2,
        converted={_DRA_BETA1: _exact_requests("spec", "spec")},
    ),
    Kind(_DRA, "DeviceClass", devices.DeviceClass, namespaced=False, served=(*_DRA_BETA2, _DRA_BETA1)),
    Kind(
        _DRA,
        "DeviceTaintRule",
        devices.DeviceTaintRule,
        namespaced=False,
        served=(*_DRA_BETA2, "resource.k8s.io/v1alpha3"),
    ),
)
"""Every kind that is read, in the order in which outputs list them."""

_READ = {(version, kind.name): kind for kind in KINDS for version in kind.versions}
_NAMED = {kind.name: kind for kind in KINDS}
_LOWERED = {kind.name.lower(): kind for kind in KINDS}
_GROUPS = frozenset(version.rpartition("/")[0] for version, _ in _READ)


def kind_named(name: str) -> Kind:
    """Return the kind of that exact name; names are unique among the kinds that are read.

    Raises:
        KeyError: no kind that is read has this name.
    """
    return _NAMED[name]


def find(api_version: str, name: str) -> Kind | None:
    """Return the kind of an object, None when it is of a kind, group or version that is not read."""
    return _READ.get((api_version, name))


def intended_kind(api_version: str, name: str) -> Kind | None:
    """Return the kind that somebody who wrote this must have meant, None when it is a kind of their own.

    Only Kubernetes' own API groups are closed, so only there can a name or version be *wrong*: ``v1`` Deployment,
    ``app/v1`` Deployment, ``v1`` pod, ``apps/v2`` StatefulSet. Other people's groups have a dot in their name.
    """
    group = api_version.rpartition("/")[0]
    if "." in group and group not in _GROUPS:
        return None
    if name == "PodGroup" and group == "scheduling.k8s.io":  # earlier APIs of that name are other objects
        return None
    return _NAMED.get(name) or _LOWERED.get(name.lower().strip())
