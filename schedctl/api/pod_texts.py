"""Pods out of JSON text, each of their parts decoded once.

Nine tenths of a large state are pods, and the pods of a template differ in little but their names, nodes and times. So
the parts of a pod's text are looked up before they are decoded, which is several times faster where one program wrote
them all, with the same fields in the same order; what is found is shared, as `schedctl.api.sharing` would have it.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from schedctl.api.meta import Int64, ObjectMeta, OwnerReference, Time
from schedctl.api.pods import Pod, PodSpec, PodStatus
from schedctl.api.sharing import Sharing, lighten

_KEPT: Final = 4096
"""How many texts of one sort are remembered; then all are forgotten."""
_V1_POD: Final = ("v1", "Pod")
_NO_HEAD: Final = ("", "")
_ABSENT = msgspec.Raw()
_NODE_KEY: Final = b'"nodeName"'
_NODE: Final = re.compile(_NODE_KEY + rb'[ \t\r\n]*:[ \t\r\n]*"([a-z0-9.-]+)"')
_TOKEN_NAME: Final = b'"kube-api-access-'
_TOKEN: Final = re.compile(_TOKEN_NAME + rb"[a-z0-9]{5}(?=\")")
_replace = msgspec.structs.replace


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


class _Pod(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A pod, what is alike in many of them still text."""

    api_version: str = ""
    kind: str = ""
    metadata: _Metadata = _Metadata()
    spec: msgspec.Raw = _ABSENT
    status: PodStatus = PodStatus()


_frame = msgspec.json.Decoder(_Pod).decode
_spec = msgspec.json.Decoder(PodSpec).decode


class _Part:
    """Texts of one type, each decoded once."""

    def __init__(self, field: str, kind: Any, sharing: Sharing) -> None:
        self._field, self._sharing = field, sharing
        self._decode = msgspec.json.Decoder(kind).decode
        self._known: dict[bytes, Any] = {}

    def __call__(self, text: msgspec.Raw) -> Any:
        if not text:  # an absent field, which is no JSON
            return None
        key = bytes(text)
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) >= _KEPT:
            self._known.clear()
        decoded = self._known[key] = self._sharing.part(self._field, self._decode(text))
        return decoded


class _Specs:
    """The specs of pods, known by their text around the name of the node and the random end of the token's name.

    Of the first such text both the whole and what is left are decoded, which shows whether what was cut out is the name
    of the node, and nothing else that is read; it is so for every other text that is the same around it.
    """

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._known: dict[tuple[bytes, bytes], PodSpec | None] = {}

    def __call__(self, raw: msgspec.Raw) -> PodSpec:
        text = bytes(raw)
        begin, end = _node_in(text)
        around = _without_token(text[:begin]), _without_token(text[end:])
        try:
            shared = self._known[around]
        except KeyError:
            shared = self._first(text, around, text[begin:end].decode())
        if shared is None:
            return self._sharing.spec(lighten(_spec(text)))
        return _replace(shared, node_name=self._sharing.text(text[begin:end].decode())) if begin < end else shared

    def _first(self, text: bytes, around: tuple[bytes, bytes], node: str) -> PodSpec | None:
        """Return the spec of all texts that are the same around the node; None where what differs in them is read."""
        whole = lighten(_spec(text))
        rest = lighten(_spec(around[0] + around[1]))
        alike = rest.node_name == "" and _replace(rest, node_name=node) == whole
        if len(self._known) >= _KEPT:
            self._known.clear()  # simpler than dropping the oldest, and a load that gets here has few equal texts
        known = self._known[around] = self._sharing.spec(rest) if alike else None
        return known


class PodTexts:
    """What is known of the texts of pods; one serves a whole load and is dropped with it.

    Args:
        sharing: what pods that come another way share their parts by.
    """

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._maps = _Part("labels", dict[str, str] | None, sharing)
        self._annotations = _Part("annotations", dict[str, str] | None, sharing)
        self._finalizers = _Part("finalizers", list[str] | None, sharing)
        self._owners = _Part("owner_references", list[OwnerReference] | None, sharing)
        self._specs = _Specs(sharing)

    def pod(self, text: msgspec.Raw, *, unnamed: bool = False) -> Pod | None:
        """Return the pod that a text is, None for one that is none or that an API server has not met.

        Of its volumes and mounts, those that say nothing but a name are dropped.

        Args:
            text: an object.
            unnamed: whether it is one of a list of pods, and need not say what it is.

        Raises:
            msgspec.DecodeError: something is of the wrong type, or the text is no object.
        """
        frame = _frame(text)
        metadata = frame.metadata
        if not metadata.uid or (frame.api_version, frame.kind) not in (_V1_POD, _NO_HEAD if unnamed else _V1_POD):
            return None
        share, created = self._sharing.text, metadata.creation_timestamp
        return Pod(
            metadata=ObjectMeta(
                name=metadata.name,
                generate_name=metadata.generate_name,
                namespace=share(metadata.namespace),
                uid=metadata.uid,
                labels=self._maps(metadata.labels),
                annotations=self._annotations(metadata.annotations),
                creation_timestamp=None if created is None else share(created),
                deletion_timestamp=metadata.deletion_timestamp,
                deletion_grace_period_seconds=metadata.deletion_grace_period_seconds,
                finalizers=self._finalizers(metadata.finalizers),
                owner_references=self._owners(metadata.owner_references),
            ),
            spec=self._specs(frame.spec) if frame.spec else PodSpec(),
            status=self._sharing.status(frame.status),
        )


def _node_in(text: bytes) -> tuple[int, int]:
    """Return where the name of the node is in a spec; twice the end where there is none, or one with escapes."""
    found = _NODE.match(text, position) if (position := text.find(_NODE_KEY)) >= 0 else None
    return found.span(1) if found else (len(text), len(text))


def _without_token(text: bytes) -> bytes:
    """Return a part of a spec without the random end of the first name that looks like that of a token's volume."""
    # the name stands in `volumes` and in every container's `volumeMounts`, and nothing reads it
    found = _TOKEN.match(text, position) if (position := text.find(_TOKEN_NAME)) >= 0 else None
    return text.replace(found[0], _TOKEN_NAME) if found else text
