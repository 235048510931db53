"""Equal parts of pods and nodes, kept once, and parts that nobody reads, not kept at all.

`Sharing` replaces the parts that thousands of pods or nodes have in common by one object each, so that a cluster of
150,000 running pods takes hundreds of bytes a pod instead of thousands. API structs are immutable, which is what makes
this safe.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from schedctl.api import pods
from schedctl.api.nodes import ContainerImage, Node, NodeStatus

T = TypeVar("T")
C = TypeVar("C", pods.Container, pods.EphemeralContainer)
_STATUSES_KEPT = 4096
"""How many statuses are remembered; then all are forgotten, as most pods have times of their own."""
_encode = msgspec.json.Encoder().encode
_replace = msgspec.structs.replace


def content(part: Any) -> bytes | None:
    """Return bytes by which parts of one type compare, None where there are none.

    There are none for a quantity written as an integer beyond 64 bits, which is rare and not worth sharing.
    """
    try:
        return _encode(part)
    except OverflowError:
        return None


def lighten(spec: pods.PodSpec) -> pods.PodSpec:
    """Return the spec of a pod without volumes and mounts that say nothing but a name; itself if it has none."""
    # every pod of a cluster mounts its token under a name of its own, for which its containers would be like no others
    changes: dict[str, Any] = {}
    if spec.volumes and (volumes := volumes_that_matter(spec.volumes)) is not spec.volumes:
        changes["volumes"] = volumes
    for name in ("containers", "init_containers", "ephemeral_containers"):
        before = getattr(spec, name)
        after = [_with_mounts_that_matter(container) for container in before or ()]
        if any(a is not b for a, b in zip(after, before or (), strict=True)):
            changes[name] = after
    return _replace(spec, **changes) if changes else spec


def volumes_that_matter(volumes: list[pods.Volume]) -> list[pods.Volume] | None:
    """Return the volumes with a source that scheduling reads: the list itself if all have one, None if none has."""
    kept = [volume for volume in volumes if volume != pods.Volume(name=volume.name)]
    return kept or None if len(kept) < len(volumes) else volumes


def mounts_that_matter(mounts: list[pods.VolumeMount]) -> list[pods.VolumeMount] | None:
    """Return the mounts with options that scheduling reads: the list itself if all have some, None if none has."""
    kept = [mount for mount in mounts if mount.bind_mount_options]
    return kept or None if len(kept) < len(mounts) else mounts


class Sharing:
    """A store of parts by content; one serves a whole load and is dropped with it."""

    __slots__ = ("_conditions", "_images", "_node_statuses", "_parts", "_statuses", "_texts")

    def __init__(self) -> None:
        self._parts: defaultdict[str, dict[bytes, Any]] = defaultdict(dict)
        self._conditions: dict[tuple[str, ...], pods.PodCondition] = {}
        self._statuses: dict[bytes, pods.PodStatus] = {}
        self._images: dict[tuple[int, tuple[str, ...] | None], ContainerImage] = {}
        self._node_statuses: dict[tuple[int, ...], tuple[NodeStatus, NodeStatus]] = {}
        self._texts: dict[str, str] = {}

    def pod(self, pod: pods.Pod) -> pods.Pod:
        """Return an equal pod that shares its parts with the pods before it."""
        part, text, metadata = self.part, self.text, pod.metadata
        return pods.Pod(
            metadata=_replace(
                metadata,
                namespace=text(metadata.namespace),
                labels=part("labels", metadata.labels),
                annotations=part("annotations", metadata.annotations),
                creation_timestamp=metadata.creation_timestamp and text(metadata.creation_timestamp),
                owner_references=part("owner_references", metadata.owner_references),
            ),
            spec=self.spec(pod.spec),
            status=self.status(pod.status),
        )

    def node(self, node: Node) -> Node:
        """Return an equal node that shares its status with the nodes before it, or at least the images in it."""
        images = node.status.images
        rest = self.part("node status", _replace(node.status, images=None))
        if images is None:
            return _replace(node, status=rest)
        shared = [self._image(each) for each in images]
        key = (id(rest), *map(id, shared))
        known = self._node_statuses.get(key)
        if known is None:
            known = self._node_statuses[key] = rest, _replace(rest, images=shared)  # holds what the key names
        return _replace(node, status=known[1])

    def _image(self, image: ContainerImage) -> ContainerImage:
        key = (image.size_bytes, None if image.names is None else tuple(image.names))
        return self._images.setdefault(key, image)

    def spec(self, spec: pods.PodSpec) -> pods.PodSpec:
        """Return an equal spec, the same for equal ones on no node; on a node it shares all else with them."""
        node = spec.node_name
        # specs of pods on no node are one object, by which pods of one template can be told (`requests_identity`)
        rest = _replace(spec, node_name="") if node else spec
        encoded = content(rest)
        if encoded is None:
            return spec
        specs = self._parts["spec"]
        shared: pods.PodSpec | None = specs.get(encoded)
        if shared is None:
            parts = {name: self.part(name, value) for name in _PARTS if (value := getattr(rest, name)) is not None}
            shared = specs[encoded] = _replace(rest, **parts)
        return _replace(shared, node_name=self.text(node)) if node else shared

    def status(self, status: pods.PodStatus) -> pods.PodStatus:
        """Return an equal status, the same for equal ones that come near one another; most have times of their own."""
        encoded = content(status)
        if encoded is None:
            return status
        known = self._statuses.get(encoded)
        if known is None:
            if len(self._statuses) >= _STATUSES_KEPT:
                self._statuses.clear()
            known = self._statuses[encoded] = self._with_shared_parts(status)
        return known

    def _with_shared_parts(self, status: pods.PodStatus) -> pods.PodStatus:
        changes: dict[str, Any] = {}
        if status.start_time is not None:
            changes["start_time"] = self.text(status.start_time)
        if status.conditions is not None:
            changes["conditions"] = [*map(self._condition, status.conditions)]
        for name in _REPORTED:
            if (reported := getattr(status, name)) is not None:
                changes[name] = self.part(name, reported)
        return _replace(status, **changes) if changes else status

    def part(self, field: str, value: T) -> T:
        """Return a value equal to one, the same for equal ones.

        Args:
            field: what it is; parts of different types may have the same content, so they are told apart by it.
            value: the value.
        """
        if value is None:
            return value
        encoded = content(value)
        if encoded is None:
            return value
        known: T = self._parts[field].setdefault(encoded, value)
        return known

    def text(self, value: str) -> str:
        """Return a text equal to one, the same for equal ones."""
        return self._texts.setdefault(value, value)

    def _condition(self, condition: pods.PodCondition) -> pods.PodCondition:
        """Return an equal condition whose texts are those of others; most have a time that no other has."""
        time = condition.last_transition_time
        key = (condition.type, condition.status, condition.reason, condition.message)
        known = self._conditions.get(key)
        if known is None:
            known = self._conditions[key] = _replace(condition, last_transition_time=None)
        return _replace(known, last_transition_time=self._texts.setdefault(time, time)) if time else known


def _with_mounts_that_matter(container: C) -> C:
    mounts = container.volume_mounts
    kept = mounts_that_matter(mounts) if mounts else mounts
    return container if kept is mounts else _replace(container, volume_mounts=kept)


_PARTS: Sequence[str] = tuple(
    field.name
    for field in msgspec.structs.fields(pods.PodSpec)
    if field.name not in ("node_name", "scheduler_name") and field.default is None
)
"""The fields of a spec that hold more than a word."""
_REPORTED: Sequence[str] = tuple(
    field.name
    for field in msgspec.structs.fields(pods.PodStatus)
    if field.name not in ("conditions", "start_time") and field.default is None
)
"""The fields of a status that hold more than a word or a time."""
