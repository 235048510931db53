"""Pods out of a snapshot, each of their parts decoded once.

Nine tenths of a large snapshot are pods, and the pods of a template differ in little but their names and nodes. So of a
pod's text the parts are looked up before they are decoded: labels, owners and status as they are, the spec without the
name of the node. That is several times faster, and the pods share what is equal, as `schedctl.api.sharing` would have
them do. It pays because one program wrote them all, with the same fields in the same order.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from schedctl.api.meta import Int64, ObjectMeta, OwnerReference, Time
from schedctl.api.pods import Pod, PodSpec, PodStatus

_NODE = re.compile(rb'"nodeName":"([a-z0-9.-]+)"')
_ABSENT = msgspec.Raw()


class _Metadata(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The metadata of a pod, its maps and lists still text."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: msgspec.Raw = _ABSENT
    annotations: msgspec.Raw = _ABSENT
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 | None = None
    finalizers: msgspec.Raw = _ABSENT
    owner_references: msgspec.Raw = _ABSENT


class _Pod(msgspec.Struct, frozen=True, gc=False):
    """A pod, its parts still text."""

    metadata: _Metadata = _Metadata()
    spec: msgspec.Raw = _ABSENT
    status: msgspec.Raw = _ABSENT


_frames = msgspec.json.Decoder(list[_Pod])


class _Part:
    """Texts of one type, each decoded once."""

    def __init__(self, what: Any, absent: Any = None) -> None:
        self._decode = msgspec.json.Decoder(what).decode
        self._known: dict[bytes, Any] = {b"": absent}

    def __call__(self, text: bytes) -> Any:
        try:
            return self._known[text]
        except KeyError:
            found = self._known[text] = self._decode(text)
            return found


class _Specs:
    """The specs of pods: those that differ in the name of the node only share everything else.

    Of the first of a likeness both the whole and the rest are decoded, which shows whether what was cut out is the
    field; it is so for every other text that begins and ends in the same way.
    """

    def __init__(self) -> None:
        self._decode = msgspec.json.Decoder(PodSpec).decode
        self._known: dict[tuple[bytes, bytes], PodSpec | None] = {}
        self._whole = _Part(PodSpec, PodSpec())
        self._nodes: dict[bytes, str] = {}

    def __call__(self, text: bytes) -> PodSpec:
        found = _NODE.search(text)
        if found is None:
            return self._whole(text)  # type: ignore[no-any-return]
        begin, end = found.span(1)
        likeness, node = (text[:begin], text[end:]), found[1]
        if likeness not in self._known:
            whole, rest = self._decode(text), self._decode(likeness[0] + likeness[1])
            cut = rest.node_name == "" and whole.node_name == node.decode()
            self._known[likeness] = rest if cut else None
        shared = self._known[likeness]
        if shared is None:
            return self._decode(text)
        name = self._nodes.setdefault(node, node.decode())
        return msgspec.structs.replace(shared, node_name=name)


def decode(text: msgspec.Raw) -> list[Pod]:
    """Return the pods of a list.

    Raises:
        msgspec.ValidationError: something is of the wrong type.
    """
    try:
        return _decoded(text)
    except msgspec.ValidationError:
        msgspec.json.decode(text, type=list[Pod])  # says where
        raise


def _decoded(text: msgspec.Raw) -> list[Pod]:
    maps, names, namespaces = _Part(dict[str, str] | None), _Part(list[str] | None), dict[str, str]()
    owners, specs, statuses = _Part(list[OwnerReference] | None), _Specs(), _Part(PodStatus, PodStatus())
    return [
        Pod(
            metadata=ObjectMeta(
                name=metadata.name,
                generate_name=metadata.generate_name,
                namespace=namespaces.setdefault(metadata.namespace, metadata.namespace),
                uid=metadata.uid,
                labels=maps(bytes(metadata.labels)),
                annotations=maps(bytes(metadata.annotations)),
                creation_timestamp=metadata.creation_timestamp,
                deletion_timestamp=metadata.deletion_timestamp,
                deletion_grace_period_seconds=metadata.deletion_grace_period_seconds,
                finalizers=names(bytes(metadata.finalizers)),
                owner_references=owners(bytes(metadata.owner_references)),
            ),
            spec=specs(bytes(one.spec)),
            status=statuses(bytes(one.status)),
        )
        for one in _frames.decode(text)
        for metadata in (one.metadata,)
    ]
