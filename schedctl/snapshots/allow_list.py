"""What a snapshot keeps of an object: what scheduling reads, and no more.

The structs of `schedctl.api` are most of the allow-list, since a field that they do not have is gone once an object is
decoded. What is left out here are texts that some structs hold for other reasons: annotations that nobody reads, the
messages of conditions (PodScheduled's is kept, which is what kube-scheduler said of the pod), the states of containers,
finalizers, where a volume is to be found by those who mount it, and volumes of pods of which nothing but the name would
be left, such as those for tokens, whose names are all different.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedctl.api import annotation_keys, autoscalers, devices, nodes, pods, storage
from schedctl.api.meta import ObjectMeta
from schedctl.api.sharing import mounts_that_matter, volumes_that_matter
from schedctl.documents.autoscaler_status import read_status, write_status
from schedctl.snapshots.rewriters import Rewrite, Rewriter

_replace = msgspec.structs.replace
SCHEDULED = "PodScheduled"
"""The condition whose message kube-scheduler writes."""

_UNREAD: Final[tuple[tuple[type[msgspec.Struct], str], ...]] = (
    (ObjectMeta, "finalizers"),
    (devices.DeviceCondition, "message"),
    (nodes.NodeSpec, "provider_id"),
    (pods.ContainerStatus, "state"),
    (pods.ContainerStatus, "last_state"),
    (pods.ContainerStatus, "restart_count"),
    (pods.PodStatus, "message"),
    (storage.CSINodeDriver, "node_id"),
    (storage.LocalVolumeSource, "path"),
    (storage.PersistentVolumeAzureDisk, "disk_name"),
    (storage.PersistentVolumeAzureFile, "secret_name"),
    (storage.PersistentVolumeAzureFile, "secret_namespace"),
    (storage.PersistentVolumeAzureFile, "share_name"),
    (storage.PersistentVolumeVsphere, "volume_path"),
    (storage.StorageClass, "parameters"),
)


def _reset_to_default(struct: type[msgspec.Struct], name: str) -> Rewrite:
    default = next(field.default for field in msgspec.structs.fields(struct) if field.name == name)
    return lambda value: value if value == default else default


def _annotations(value: dict[str, str]) -> dict[str, str] | None:
    read = annotation_keys.relevant_annotations(value)
    return value if read == value else read


def _status(data: dict[str, str]) -> dict[str, str]:
    """Return the status of Cluster Autoscaler with nothing but the sizes of its groups."""
    kept = {key: write_status(read_status(text)) for key, text in data.items() if key == "status"}
    return data if data == kept else kept


def _condition(condition: pods.PodCondition) -> pods.PodCondition:
    if condition.type == SCHEDULED or not condition.message:
        return condition
    return _replace(condition, message="")


_UNCONDITIONAL = {(struct, name): _reset_to_default(struct, name) for struct, name in _UNREAD}
_OF_TEMPLATES = Rewriter(_UNCONDITIONAL, {pods.PodCondition: _condition})


def _template(template: pods.PodTemplateSpec) -> pods.PodTemplateSpec:
    """Return a template that still compares with others: what is left out of its annotations leaves a digest."""
    kept = annotation_keys.comparable_annotations(template.metadata.annotations)
    metadata = _replace(_OF_TEMPLATES(template.metadata), annotations=kept)
    return _replace(template, metadata=metadata, spec=keep_allowed(template.spec))


_REWRITING = Rewriter(
    {
        **_UNCONDITIONAL,
        (ObjectMeta, "annotations"): _annotations,
        (autoscalers.ConfigMap, "data"): _status,
    },
    {pods.PodCondition: _condition, pods.PodTemplateSpec: _template},
)


def _volumes(volumes: list[pods.Volume]) -> list[pods.Volume] | None:
    """Return the volumes of a pod that matter; what they hold, such as a template of a claim, has the same rules."""
    kept = volumes_that_matter(volumes)
    rewritten = [_REWRITING(volume) for volume in kept or ()]
    return rewritten if any(a is not b for a, b in zip(rewritten, kept or (), strict=True)) else kept


_OF_PODS = Rewriter(
    {
        **_UNCONDITIONAL,
        (ObjectMeta, "annotations"): _annotations,
        (pods.PodSpec, "volumes"): _volumes,
        (pods.Container, "volume_mounts"): mounts_that_matter,
        (pods.EphemeralContainer, "volume_mounts"): mounts_that_matter,
    },
    {pods.PodCondition: _condition},
)


def keep_allowed(obj: Any) -> Any:
    """Return what a snapshot keeps of an object; what is allowed once is allowed again."""
    return _OF_PODS(obj) if isinstance(obj, pods.Pod) else _REWRITING(obj)
