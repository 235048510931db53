"""A decision that can be carried out: the pod, the node, and what is to be written before the bind.

`prebinds` makes the steps of it, `binding` carries them out. What a step changes it reads first, whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta
from schedctl.api.pods import ContainerExtendedResourceRequest, Pod
from schedctl.errors import ClusterError
from schedctl.live.connections import Connection
from schedctl.live.journal import Journal
from schedctl.live.objects import Object, decode, decode_object, get_current


class ChangedObject(msgspec.Struct, frozen=True):
    """An object that the dry run of PreBind has changed.

    Attributes:
        before: as it was listed, None for one that was made.
        after: as the dry run left it.
        plugin: whose PreBind has changed it.
    """

    before: Any
    after: Any
    plugin: str


class BindPlan(msgspec.Struct, frozen=True):
    """A decision that can be carried out.

    Attributes:
        pod: the pod, as the decision was made on it.
        node: the name of the node.
        changed: the objects that PreBind has changed, in order.
        mappings: which container gets which extended resource from which request, where devices stand in for them.
        patience: how many seconds volumes may take to be bound.
    """

    pod: Pod
    node: str
    changed: tuple[ChangedObject, ...] = ()
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    patience: float = 600.0


class Step(msgspec.Struct, frozen=True):
    """A change that is to be written.

    Attributes:
        kind: of the object.
        key: ``namespace/name`` of the object, or its name; "" for one that is made.
        text: what is done, in words.
        plugin: in whose PreBind.
        write: writes it.
    """

    kind: Kind
    key: str
    text: str
    plugin: str
    write: Callable[[Connection, Journal], None]


class Refusal(ClusterError):
    """A bind that is not carried out, because something is not as the decision found it or cannot be done."""


def existing_body(connection: Connection, kind: Kind, key: str) -> bytes:
    """Return an object as it is now, JSON.

    Raises:
        Refusal: there is none.
    """
    found = get_current(connection, kind, key)
    if found is None:
        raise Refusal(f"{kind.name} {key} is gone")
    return found


def existing_object(connection: Connection, kind: Kind, key: str, *, verbatim: str = "") -> Object:
    """Return an object as the API server writes it.

    Args:
        connection: the cluster.
        kind: of the object.
        key: of the object.
        verbatim: a field that goes back byte for byte. The parameters in the spec of a claim are for drivers, and the
            API server takes the same ones in another spelling for others.

    Raises:
        Refusal: there is none.
    """
    body = existing_body(connection, kind, key)
    found = decode_object(body)
    if verbatim in found:
        found[verbatim] = decode(body, dict[str, msgspec.Raw])[verbatim]
    return found


def added_annotations(before: ObjectMeta, after: ObjectMeta) -> dict[str, str]:
    """Return the annotations that the dry run has added or changed."""
    known = before.annotations or {}
    return {key: value for key, value in (after.annotations or {}).items() if known.get(key) != value}


def with_annotations(obj: Object, annotations: dict[str, str]) -> Object:
    """Return an object with some annotations more."""
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotations}}}
