"""Pods in a snapshot: what they have in common written once, and a line for each with what is its own.

Nine tenths of a large snapshot are pods, and the pods of a template differ in their names, nodes and times and in
little else. So what they share stands in tables in front of them, and a pod is a row of its name, its uid and places in
these tables, which is several times smaller and read several times faster::

    {"times": [...], "nodes": [...], "metadata": [...], "specs": [...], "statuses": [...], "dated": [...],
    "pods": [
    ["web-0", "5f0c...", 0, 3, 17, 8, 5],
    ...
    ]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from schedctl.api.meta import ObjectMeta, Time
from schedctl.api.pod_texts import PodTexts
from schedctl.api.pods import Pod, PodSpec, PodStatus
from schedctl.api.sharing import Sharing
from schedctl.snapshots.tables import Place, Table, encode_tables, is_tabled

_replace = msgspec.structs.replace


class Row(NamedTuple):
    """What is a pod's own.

    Attributes:
        name, uid: its own.
        metadata, spec, node: places in the tables.
        created: when, as a place among the times.
        dated: a place in that table, its status.
    """

    name: str
    uid: str
    metadata: Place
    spec: Place
    node: Place
    created: Place
    dated: Place


class Dated(NamedTuple):
    """A status with its times.

    Attributes:
        status: a place in that table.
        started: when, as a place among the times.
        changed: when each of its conditions last did.
    """

    status: Place
    started: Place
    changed: tuple[Place, ...]


class Tables(msgspec.Struct, frozen=True, gc=False):
    """The pods of a snapshot.

    Attributes:
        times, nodes: texts, of which the first stands for none.
        metadata: without name, uid and time of creation.
        specs: without the name of the node.
        statuses: without times.
        dated: with times.
        pods: a row for each.
    """

    times: list[Time | None] = []
    nodes: list[str] = []
    metadata: list[ObjectMeta] = []
    specs: list[PodSpec] = []
    statuses: list[PodStatus] = []
    dated: list[Dated] = []
    pods: list[Row] = []


def encode_list(pods: Sequence[Any], encode: Callable[[Any], bytes]) -> bytes:
    """Return pods as JSON: tables and rows of structs, a plain list of anything else.

    Args:
        pods: all of them structs, or none.
        encode: what makes JSON of a part.
    """
    if not all(isinstance(pod, Pod) for pod in pods):
        return b"[\n%s\n]" % b",\n".join(map(encode, pods))
    # Place 0 of the times and of the nodes stands for none.
    times, nodes = Table[str | None](encode, None), Table[str](encode, "")
    metadata, specs, statuses = Table[ObjectMeta](encode), Table[PodSpec](encode), Table[PodStatus](encode)
    dated = Table[Dated](msgspec.json.encode)
    rows = []
    for pod in pods:
        meta, spec, status = pod.metadata, pod.spec, pod.status
        conditions = status.conditions
        timeless = conditions and [_replace(condition, last_transition_time=None) for condition in conditions]
        dates = Dated(
            status=statuses.place(_replace(status, start_time=None, conditions=timeless)),
            started=times.place(status.start_time),
            changed=tuple(times.place(condition.last_transition_time) for condition in conditions or ()),
        )
        rows.append(
            Row(
                name=meta.name,
                uid=meta.uid,
                metadata=metadata.place(_replace(meta, name="", uid="", creation_timestamp=None)),
                spec=specs.place(_replace(spec, node_name="")),
                node=nodes.place(spec.node_name),
                created=times.place(meta.creation_timestamp),
                dated=dated.place(dates),
            )
        )
    tables: dict[str, Iterable[bytes]] = {
        "times": times,
        "nodes": nodes,
        "metadata": metadata,
        "specs": specs,
        "statuses": statuses,
        "dated": dated,
    }
    return encode_tables(tables, "pods", rows)


_listed = msgspec.json.Decoder(list[msgspec.Raw])
_whole = msgspec.json.Decoder(list[Pod])
_one = msgspec.json.Decoder(Pod)
_tabled = msgspec.json.Decoder(Tables)


def decode(text: msgspec.Raw) -> list[Pod]:
    """Return the pods of a snapshot, however they are written.

    Raises:
        msgspec.ValidationError: something is of the wrong type, or a row names a place that is in no table.
    """
    if not is_tabled(text):  # pods as an API server sent them (level "none"), or of an older snapshot
        return _in_list(text)
    tables = _tabled.decode(text)
    try:
        return _join(tables)
    except IndexError:
        raise msgspec.ValidationError("A row has a place that is in no table - at `$.pods`") from None


def _in_list(text: msgspec.Raw) -> list[Pod]:
    sharing = Sharing()
    texts = PodTexts(sharing)
    try:
        return [texts.pod(each, unnamed=True) or sharing.pod(_one.decode(each)) for each in _listed.decode(text)]
    except msgspec.ValidationError:
        _whole.decode(text)  # raises the same with the place in the list
        raise


def _join(tables: Tables) -> list[Pod]:
    """Return the pods of tables.

    Raises:
        IndexError: a row names a place that is in no table.
    """
    times, nodes, metadata, specs = tables.times, tables.nodes, tables.metadata, tables.specs
    statuses = [
        _with_times(tables.statuses[status], times, started, changed) for status, started, changed in tables.dated
    ]
    return [
        Pod(
            metadata=_replace(metadata[meta], name=name, uid=uid, creation_timestamp=times[created]),
            spec=_replace(specs[spec], node_name=nodes[node]) if node else specs[spec],
            status=statuses[status],
        )
        for name, uid, meta, spec, node, created, status in tables.pods
    ]


def _with_times(status: PodStatus, times: Sequence[str | None], started: int, changed: Sequence[int]) -> PodStatus:
    """Return a status with its times, which may be of fewer conditions than it has.

    Raises:
        IndexError: a place is not among the times.
    """
    if not (started or changed):
        return status
    conditions = None if status.conditions is None else [*status.conditions]
    for index, place in enumerate(changed[: len(conditions or ())]):
        if place and conditions is not None:
            conditions[index] = _replace(conditions[index], last_transition_time=times[place])
    return _replace(status, start_time=times[started], conditions=conditions)
