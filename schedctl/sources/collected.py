"""What tools that collect clusters leave out or wrap: objects without a head, lists without one, pairs out of etcd.

OpenShift's Insights operator writes objects whose folder says what they are, troubleshoot.sh writes bare lists, Velero
the same object in several versions, and exports of etcd an object as the value of a key.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedctl.api.kinds import KINDS, Kind, kind_named

PROTOBUF = "is stored as protobuf, which is not read"
DECODE: Final = "decode the values with `auger decode`, or read the cluster with `kubectl get -o json`"

_SHORT: Final = {"pvs": "PersistentVolume", "pvcs": "PersistentVolumeClaim"}
_BY_NAME: Final = {name: kind for kind in KINDS for name in (kind.name.lower(), kind.resource)} | {
    short: kind_named(name) for short, name in _SHORT.items()
}
"""Kinds by what tools call the folders and files of their objects."""
_OTHER_VERSION = re.compile(r"(?:^|/)resources/[^/]+/v[0-9]+(?:(?:alpha|beta)[0-9]+)?/(?:namespaces|cluster)/[^/]+")
_STORED_AS_PROTOBUF = b"k8s\0"


def is_other_version(path: str) -> bool:
    """Return whether a file of a Velero backup holds an object in a version that is not the preferred one."""
    return _OTHER_VERSION.search(path) is not None


def kind_of(name: str, value: Any, *, listed: bool) -> Kind | None:
    """Return the kind of an object that does not say it, by where it is; None where that does not say it.

    Args:
        name: the file: ``config/node/worker-0.json``, ``config/pod/shop/web-0.json``, ``pods/web-0/web-0.json``.
        value: its fields.
        listed: whether it is an item of a list, so that the file may have the name of the kind: ``pvs.json``.
    """
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        return None
    namespace, object_name = metadata.get("namespace"), metadata.get("name")
    *folders, file = name.split("/")
    steps = [file.partition(".")[0], *reversed(folders[-2:])] if listed else [*reversed(folders[-2:])]
    for index, step in enumerate(steps):
        kind = _BY_NAME.get(step.replace("-", ""))
        # Between the folder of a kind and the file there is at most that of the namespace, or of the object.
        if (
            kind
            and kind.namespaced == bool(namespace)
            and all(each in (namespace, object_name) for each in steps[:index])
        ):
            return kind
    return None


def is_from_cluster(value: Any) -> bool:
    """Return whether an object has been to an API server, so that nobody forgot a field when writing it."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and bool(metadata.get("uid"))


def says_kind(value: Any) -> bool:
    """Return whether a value is an object that says what it is."""
    return isinstance(value, dict) and all(isinstance(value.get(field), str) for field in ("apiVersion", "kind"))


def pairs(value: Any) -> list[tuple[str, bytes]]:
    """Return the keys and values of an export of etcd; nothing for anything else.

    That is ``etcdctl get --prefix -w json``, with both in base64, or a list with the objects as values.
    """
    if isinstance(value, dict) and isinstance(value.get("kvs"), list):
        return [*_decode(value["kvs"])]
    if not isinstance(value, list) or not value or not all(map(_is_pair, value)):
        return []
    return [(one["key"], _text(one["value"])) for one in value]


def is_protobuf(value: bytes) -> bool:
    """Return whether a value of etcd is in the form in which API servers store objects by default."""
    return value.startswith(_STORED_AS_PROTOBUF)


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("key"), str)
        and isinstance(value.get("value"), str | dict)
        and not isinstance(value.get("kind"), str)
    )


def _text(value: str | dict[str, Any]) -> bytes:
    return value.encode(errors="replace") if isinstance(value, str) else msgspec.json.encode(value)


def _decode(entries: list[Any]) -> Iterator[tuple[str, bytes]]:
    for entry in entries:
        fields = entry if isinstance(entry, dict) else {}
        try:
            key, value = (base64.b64decode(fields.get(name, "")) for name in ("key", "value"))
        except (TypeError, ValueError):
            yield "", b""  # which is counted
        else:
            yield key.decode(errors="replace"), value
