"""Nodes in a snapshot: what they have in common written once, and a line for each with what is its own.

Nodes of one machine type differ in their names, in the label that repeats the name, in what their cloud calls them, and
in which images they have pulled. All else, and above all the long lists of images, stands in tables in front of them::

    {"times": [...], "images": [...], "pulled": [...], "metadata": [...], "specs": [...], "statuses": [...],
    "nodes": [
    ["node-0", "81aa...", 0, 1, "node-0", 0, "aws:///...", 0, 3],
    ...
    ]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from schedctl.api import topology
from schedctl.api.meta import ObjectMeta, Time
from schedctl.api.nodes import ContainerImage, Node, NodeSpec, NodeStatus
from schedctl.snapshots.tables import Place, Table, encode_tables, is_tabled

_replace = msgspec.structs.replace


class Row(NamedTuple):
    """What is a node's own.

    Attributes:
        name, uid: its own.
        metadata: a place in that table.
        created: when, as a place among the times.
        hostname: the value of that label, "" where there is no such label.
        spec: a place in that table.
        provider_id: of its spec.
        status, pulled: places in these tables.
    """

    name: str
    uid: str
    metadata: Place
    created: Place
    hostname: str
    spec: Place
    provider_id: str
    status: Place
    pulled: Place


class Tables(msgspec.Struct, frozen=True, gc=False):
    """The nodes of a snapshot.

    Attributes:
        times: of which the first stands for none.
        images: distinct images.
        pulled: which of them are on a node, the first standing for a status without images.
        metadata: without name, uid and time of creation, and with an empty hostname.
        specs: without the provider's id.
        statuses: without images.
        nodes: a row for each.
    """

    times: list[Time | None] = []
    images: list[ContainerImage] = []
    pulled: list[list[Place] | None] = []
    metadata: list[ObjectMeta] = []
    specs: list[NodeSpec] = []
    statuses: list[NodeStatus] = []
    nodes: list[Row] = []


def encode_list(nodes: Sequence[Any], encode: Callable[[Any], bytes]) -> bytes:
    """Return nodes as JSON: tables and rows of structs, a plain list of anything else.

    Args:
        nodes: all of them structs, or none.
        encode: what makes JSON of a part.
    """
    if not all(isinstance(node, Node) for node in nodes):
        return b"[\n%s\n]" % b",\n".join(map(encode, nodes))
    # Place 0 of the times and of the lists of images stands for none.
    times, images = Table[str | None](encode, None), Table[ContainerImage](encode)
    pulled = Table[list[int] | None](encode, None)
    metadata, specs, statuses = Table[ObjectMeta](encode), Table[NodeSpec](encode), Table[NodeStatus](encode)
    rows = []
    for node in nodes:
        meta, spec, status = node.metadata, node.spec, node.status
        labels, on_it = meta.labels or {}, status.images
        nameless = {**labels, topology.HOSTNAME: ""} if topology.HOSTNAME in labels else meta.labels
        rows.append(
            Row(
                name=meta.name,
                uid=meta.uid,
                metadata=metadata.place(_replace(meta, name="", uid="", creation_timestamp=None, labels=nameless)),
                created=times.place(meta.creation_timestamp),
                hostname=labels.get(topology.HOSTNAME, ""),
                spec=specs.place(_replace(spec, provider_id="")),
                provider_id=spec.provider_id,
                status=statuses.place(_replace(status, images=None)),
                pulled=pulled.place(None if on_it is None else [images.place(image) for image in on_it]),
            )
        )
    tables: dict[str, Iterable[bytes]] = {
        "times": times,
        "images": images,
        "pulled": pulled,
        "metadata": metadata,
        "specs": specs,
        "statuses": statuses,
    }
    return encode_tables(tables, "nodes", rows)


_whole = msgspec.json.Decoder(list[Node])
_tabled = msgspec.json.Decoder(Tables)


def decode(text: msgspec.Raw) -> list[Node]:
    """Return the nodes of a snapshot, however they are written.

    Raises:
        msgspec.ValidationError: something is of the wrong type, or a row names a place that is in no table.
    """
    if not is_tabled(text):  # nodes as an API server sent them (level "none"), or of an older snapshot
        return _whole.decode(text)
    tables = _tabled.decode(text)
    try:
        return _join(tables)
    except IndexError:
        raise msgspec.ValidationError("A row has a place that is in no table - at `$.nodes`") from None


def _join(tables: Tables) -> list[Node]:
    """Return the nodes of tables.

    Raises:
        IndexError: a row names a place that is in no table.
    """
    times, metadata, specs, statuses = tables.times, tables.metadata, tables.specs, tables.statuses
    images = tables.images
    pulled = [None if places is None else [images[place] for place in places] for places in tables.pulled]
    # Equal statuses become one object, so that what is worked out of a status is worked out once.
    full: dict[tuple[int, int], NodeStatus] = {}
    nodes = []
    for name, uid, meta, created, hostname, spec, provider_id, status, on_it in tables.nodes:
        key = (status, on_it)
        known = full.get(key)
        if known is None:
            known = full[key] = _replace(statuses[status], images=pulled[on_it])
        labels = metadata[meta].labels
        if labels and topology.HOSTNAME in labels:
            labels = {**labels, topology.HOSTNAME: hostname}
        nodes.append(
            Node(
                metadata=_replace(metadata[meta], name=name, uid=uid, creation_timestamp=times[created], labels=labels),
                spec=_replace(specs[spec], provider_id=provider_id) if provider_id else specs[spec],
                status=known,
            )
        )
    return nodes
