"""Objects as an API server writes them: where it keeps them, how they are read, and what tells two states apart.

The structs that scheduling reads have no ``resourceVersion``, because no plugin may read one; what is written back has
to have all that was there. So what a bind touches is kept as JSON, and read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from schedctl.api.kinds import Kind, kind_named
from schedctl.errors import ClusterError
from schedctl.live.codes import NOT_FOUND
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused
from schedctl.live.pages import pages

POD, NODE = kind_named("Pod"), kind_named("Node")


Object = dict[str, Any]
"""An object as the API server writes it."""


class Metadata(msgspec.Struct, rename="camel"):
    """What tells one state of an object from another."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class Head(msgspec.Struct):
    """The part of an object that every kind has."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)

    @property
    def key(self) -> str:
        """``namespace/name``, or the name of an object that is in no namespace."""
        metadata = self.metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def decode(body: bytes | msgspec.Raw, kind: type[Any]) -> Any:
    """Return what a JSON text says, as far as a struct asks.

    Raises:
        ClusterError: it is something else.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise ClusterError(f"the API server returned something else than requested: {fault}") from None


def decode_object(body: bytes | msgspec.Raw) -> Object:
    """Return an object as the API server writes it, whose metadata are in order.

    Raises:
        ClusterError: it is something else.
    """
    head: Head = decode(body, Head)
    found: Object = decode(body, dict[str, Any])
    if "metadata" not in found or not head.metadata.name:
        raise ClusterError("the API server returned something else than requested: an object without a name")
    return found


def get_current(connection: Connection, kind: Kind, key: str) -> bytes | None:
    """Return an object as it is now, None where there is none.

    Raises:
        ClusterError: it cannot be read.
    """
    try:
        return connection.get(path_of(kind, key)).body
    except Refused as fault:
        if fault.code == NOT_FOUND:
            return None
        raise


def list_current(connection: Connection, kind: Kind, query: Mapping[str, str] | None = None) -> list[bytes]:
    """Return the objects of a kind as they are now, page by page.

    Raises:
        ClusterError: they cannot be read.
    """
    return [bytes(item) for page in pages(connection, collection(kind), query) for item in page.items]


def collection(kind: Kind, namespace: str = "") -> str:
    """Return the path of the objects of a kind, of one namespace where one is given."""
    root = "/apis" if "/" in kind.api_version else "/api"
    within = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{root}/{kind.api_version}{within}/{kind.resource}"


def path_of(kind: Kind, key: str) -> str:
    """Return the path of one object by ``namespace/name``, or by the name alone where its kind is in no namespace."""
    namespace, _, name = key.rpartition("/")
    return f"{collection(kind, namespace)}/{quote(name, safe='')}"


VOLUME, CLAIM = kind_named("PersistentVolume"), kind_named("PersistentVolumeClaim")


RESOURCE_CLAIM, DEVICE_CLASS, SLICE = (
    kind_named("ResourceClaim"),
    kind_named("DeviceClass"),
    kind_named("ResourceSlice"),
)
