"""The journal as a user's PreBind plugin sees it: objects by kind and key, written so that they can be taken back."""

from __future__ import annotations

import copy
from collections.abc import Callable

import msgspec

from schedctl.api.kinds import Kind
from schedctl.errors import ClusterError
from schedctl.live.connections import Connection
from schedctl.live.journal import Journal
from schedctl.live.objects import Object, collection, decode_object, get_current, path_of


class PluginWrite(msgspec.Struct, frozen=True):
    """Something that a plugin has written.

    Attributes:
        kind: of the object.
        key: ``namespace/name`` of the object, or its name.
        text: what was done, in words.
    """

    kind: Kind
    key: str
    text: str


class PluginJournal:
    """Implements `schedctl.framework.live_binds.ObjectJournal`.

    Attributes:
        writes: what was written, in order.
    """

    def __init__(self, connection: Connection, journal: Journal, owner: str) -> None:
        self.writes: list[PluginWrite] = []
        self._connection, self._journal, self._owner = connection, journal, owner

    def read(self, kind: Kind, key: str) -> Object | None:
        """Return an object by ``namespace/name``, or by the name alone; None where there is none.

        Raises:
            ClusterError: it cannot be read.
        """
        body = get_current(self._connection, kind, key)
        return decode_object(body) if body is not None else None

    def create(self, kind: Kind, obj: Object) -> Object:
        """Create an object and return it as it is stored.

        Raises:
            ClusterError: it was refused, or nobody knows whether it was done.
        """
        metadata = obj.get("metadata") or {}
        namespace = metadata.get("namespace", "") if kind.namespaced else ""
        head = {"apiVersion": kind.api_version, "kind": kind.name}
        name = metadata.get("name") or f"{metadata.get('generateName', '')}*"
        what = f"{kind.name} {namespace}/{name}" if namespace else f"{kind.name} {name}"
        self._journal.owner = self._owner
        stored = self._journal.create(what, collection(kind, namespace), {**obj, **head})
        name = stored["metadata"]["name"]
        key = f"{namespace}/{name}" if namespace else name
        self.writes.append(PluginWrite(kind, key, f"create {kind.name} {key}"))
        return stored

    def update(self, kind: Kind, key: str, change: Callable[[Object], None]) -> Object:
        """Read an object, change it in place, write it as a whole, and return it as it is stored.

        Raises:
            ClusterError: there is none, it was refused, or nobody knows whether it was done.
        """
        before = self.read(kind, key)
        if before is None:
            raise ClusterError(f"{kind.name} {key} not found")
        after = copy.deepcopy(before)
        change(after)
        self._journal.owner = self._owner
        stored = self._journal.put(f"{kind.name} {key}", path_of(kind, key), before, after)
        self.writes.append(PluginWrite(kind, key, f"update {kind.name} {key}"))
        return stored
