"""Equal parts of pods, kept once.

Pods of one template differ in their names and nodes and in little else, yet each is decoded on its own. `Sharing`
replaces the parts that thousands of pods have in common by one object each, so that a cluster of 50,000 running pods
takes hundreds of bytes a pod instead of thousands. API structs are immutable, which is what makes this safe.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeVar

import msgspec

from schedctl.api.pods import Pod, PodSpec

T = TypeVar("T")
_encode = msgspec.json.Encoder().encode


def content(part: Any) -> bytes | None:
    """Return bytes by which parts of one type compare, None where there are none.

    There are none for a quantity written as an integer beyond 64 bits, which is rare and not worth sharing.
    """
    try:
        return _encode(part)
    except OverflowError:
        return None


class Sharing:
    """A store of parts by content; one serves a whole load and is dropped with it."""

    __slots__ = ("_parts", "_texts")

    def __init__(self) -> None:
        self._parts: defaultdict[str, dict[bytes, Any]] = defaultdict(dict)
        self._texts: dict[str, str] = {}

    def pod(self, pod: Pod) -> Pod:
        """Return an equal pod that shares its parts with the pods before it."""
        part, text, metadata, spec = self._part, self._text, pod.metadata, pod.spec
        replace = msgspec.structs.replace
        return Pod(
            metadata=replace(
                metadata,
                namespace=text(metadata.namespace),
                labels=part("labels", metadata.labels),
                annotations=part("annotations", metadata.annotations),
                owner_references=part("owner_references", metadata.owner_references),
            ),
            spec=replace(
                spec,
                node_name=text(spec.node_name),
                scheduler_name=text(spec.scheduler_name),
                **{name: part(name, value) for name in _PARTS if (value := getattr(spec, name)) is not None},
            ),
            status=part("status", pod.status),
        )

    def _part(self, field: str, value: T) -> T:
        """Parts are told apart by field, since parts of different types may have the same content."""
        if value is None:
            return value
        likeness = content(value)
        if likeness is None:
            return value
        known: T = self._parts[field].setdefault(likeness, value)
        return known

    def _text(self, value: str) -> str:
        return self._texts.setdefault(value, value)


_PARTS = tuple(
    field.name
    for field in msgspec.structs.fields(PodSpec)
    if field.name not in ("node_name", "scheduler_name") and field.default is None
)
"""The fields of a spec that hold more than a word."""
