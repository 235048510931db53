"""Groups of nodes as a file describes them (``--node-groups``): new ones, and what is not known of those detected."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from schedctl.api import topology
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node, NodeSpec, NodeStatus, Taint
from schedctl.api.quantities import parse
from schedctl.api.tolerations import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE
from schedctl.autoscaling.detection import NodeGroups, with_price, without_zone
from schedctl.autoscaling.groups import Autoscaler, NodeGroup, NodeTemplate, TemplateField
from schedctl.autoscaling.instance_types import Catalogue
from schedctl.autoscaling.templates import in_zone, node_of, template_like, with_labels, with_taints
from schedctl.cache.cluster import Cluster
from schedctl.documents.heads import HEAD, open_document, place
from schedctl.documents.spelling import suggest_names
from schedctl.errors import ConfigError, InputError, Problem
from schedctl.reports import counts

KIND, API_VERSION = "NodeGroups", "schedctl.dev/v1alpha1"
_TAINT = re.compile(r"(?P<key>[^=:\s]+)(=(?P<value>[^:\s]*))?:(?P<effect>\w+)")
_EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
_EXAMPLE = "e.g. dedicated=database:NoSchedule"


class NodeGroupEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """A group of nodes; one of a group that was detected needs the name and what is to be different, and no more.

    Attributes:
        name: the name of the group.
        like: a node of the state that a new one is like; without it and `allocatable` the group has to be detected.
        instance_types: the types of `--instance-types` that a new node may be of.
        node_selector: the labels of the nodes that belong to the group.
        zones: where new nodes may be.
        labels: further labels of a new node.
        taints: the taints of a new node, as `key=value:effect`.
        startup_taints: taints that a new node has until it is ready.
        allocatable: what pods can have of a new node.
        min_size: how many nodes the group has at least.
        max_size: how many it has at most.
        priority: groups of higher priority come first under `--expander priority`.
        price_per_hour: what a node costs.
    """

    name: str
    like: str = ""
    instance_types: list[str] = []
    node_selector: dict[str, str] = {}
    zones: list[str] = []
    labels: dict[str, str] = {}
    taints: list[str] | None = None
    startup_taints: list[str] = []
    allocatable: dict[str, str] = {}
    min_size: int | None = None
    max_size: int | None = None
    priority: int | None = None
    price_per_hour: float | None = None


class NodeGroupsDocument(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Groups of nodes that could grow.

    Attributes:
        api_version: always `schedctl.dev/v1alpha1`.
        kind: always `NodeGroups`.
        groups: the groups.
    """

    api_version: Literal["schedctl.dev/v1alpha1"]
    kind: Literal["NodeGroups"]
    groups: list[NodeGroupEntry] = []


NodeGroupsDocument.__name__ = KIND


class WrittenGroups(msgspec.Struct, frozen=True):
    """What a file says.

    Attributes:
        entries: the groups, in order.
        source: the file.
        digest: ``sha256:...`` of that file.
        places: line and column of each field, by path.
    """

    entries: Sequence[NodeGroupEntry]
    source: str
    digest: str
    places: Mapping[str, tuple[int, int]]

    def problem(self, path: str, message: str, hint: str = "") -> Problem:
        """Return a problem with a field."""
        return replace(place(Problem(message, path=path, hint=hint), dict(self.places)), source=self.source)


def load(path: str) -> WrittenGroups:
    """Return the groups that a file describes.

    Raises:
        InputError: it cannot be read or understood; with every problem.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise InputError([Problem(f"cannot be read: {(error.strerror or str(error)).lower()}", path)]) from None
    try:
        node, decoder = open_document(text, path, KIND, API_VERSION)
    except ConfigError as error:
        raise InputError(error.problems) from None
    document = None
    if not decoder.problems:
        document = decoder.struct(node, NodeGroupsDocument, also=HEAD)
    entries = document.groups if document is not None else ()
    written = WrittenGroups(entries, path, f"sha256:{hashlib.sha256(text).hexdigest()}", decoder.places)
    problems = [replace(each, source=path) for each in decoder.problems]
    if not problems:
        problems = [each for number, entry in enumerate(written.entries) for each in _problems(written, number, entry)]
    if not (problems or written.entries):
        problems = [Problem("no group in the file", path, hint="write them under `groups:`")]
    if problems:
        raise InputError(problems)
    return written


def _problems(written: WrittenGroups, number: int, entry: NodeGroupEntry) -> Iterator[Problem]:
    path = f"groups[{number}]"
    if not entry.name:
        yield written.problem(path, "a group has no name", "add `name:`")
    if any(entry.name == other.name for other in written.entries[:number]):
        yield written.problem(f"{path}.name", f'group "{entry.name}" is written twice')
    for field in ("taints", "startupTaints"):
        texts = entry.taints if field == "taints" else entry.startup_taints
        for index, text in enumerate(texts or ()):
            match = _TAINT.fullmatch(text)
            if match is None or match["effect"] not in _EFFECTS:
                yield written.problem(f"{path}.{field}[{index}]", f'"{text}" is not a taint', _EXAMPLE)
    for resource, amount in entry.allocatable.items():
        try:
            usable = parse(amount).milli_value >= 0
        except ValueError:
            usable = False
        if not usable:
            yield written.problem(f"{path}.allocatable.{resource}", f'"{amount}" is not an amount', "e.g. 4 or 16Gi")
    low, high = entry.min_size, entry.max_size
    if min(low or 0, high or 0) < 0:
        yield written.problem(path, "a size is below 0")
    if low is not None and high is not None and low > high:
        yield written.problem(f"{path}.maxSize", f"the maximum size {high} is below the minimum size {low}")
    if entry.price_per_hour is not None and entry.price_per_hour < 0:
        yield written.problem(f"{path}.pricePerHour", "a price is below 0")


def with_written(found: NodeGroups, written: WrittenGroups, cluster: Cluster, catalogue: Catalogue) -> NodeGroups:
    """Return the groups that were detected, changed and completed by what a file says.

    Raises:
        InputError: the file names a node, a type or a group that is not there; with every problem.
    """
    problems: list[Problem] = []
    groups = {group.name: group for group in found.groups}
    for number, entry in enumerate(written.entries):
        before = groups.get(entry.name)
        group = _group(cluster, catalogue, written, number, before, problems)
        if group is not None:
            groups[entry.name] = group
    if problems:
        raise InputError(problems)
    changed = [groups[entry.name] for entry in written.entries]
    notes = [*found.notes, *_contradictions(written, groups, cluster), *without_zone(cluster, changed)]
    return NodeGroups(tuple(groups[name] for name in sorted(groups)), tuple(dict.fromkeys(notes)))


def _group(
    cluster: Cluster,
    catalogue: Catalogue,
    written: WrittenGroups,
    number: int,
    before: NodeGroup | None,
    problems: list[Problem],
) -> NodeGroup | None:
    entry, path = written.entries[number], f"groups[{number}]"
    templates = _templates(cluster, catalogue, written, number, problems)
    if templates is None:
        return None
    if not templates and before is None:
        hint = "add `like: NODE`, `instanceTypes: […]` or `allocatable: {cpu: …, memory: …}`"
        problems.append(
            written.problem(path, f'group "{entry.name}" was not detected, and nothing says what it is', hint)
        )
        return None
    base = before or NodeGroup(entry.name, written.source, Autoscaler.UNKNOWN)
    nodes = _members(cluster, entry) if entry.node_selector else base.nodes
    changed = [_changed(each, entry, written.source) for each in templates or base.templates]
    if entry.zones:
        changed = _in_zones(changed, entry.zones)
    return replace(
        base,
        origin=base.origin if before is None else f"{base.origin}, {written.source}",
        templates=tuple(with_price(each, catalogue) for each in changed),
        nodes=tuple(nodes),
        min_size=base.min_size if entry.min_size is None else entry.min_size,
        max_size=base.max_size if entry.max_size is None else entry.max_size,
        priority=base.priority if entry.priority is None else entry.priority,
        startup_taints=tuple(map(_taint, entry.startup_taints)) or base.startup_taints,
        notes=base.notes if not templates else (),
    )


def _templates(
    cluster: Cluster, catalogue: Catalogue, written: WrittenGroups, number: int, problems: list[Problem]
) -> list[NodeTemplate] | None:
    """Return the templates that an entry describes anew, none if it does not; None where it cannot be understood."""
    entry, path, before = written.entries[number], f"groups[{number}]", len(problems)
    found: list[NodeTemplate] = []
    if entry.like and entry.like not in cluster.node_table.row_of:
        hint = suggest_names(entry.like, sorted(cluster.node_table.row_of), "nodes")
        problems.append(written.problem(f"{path}.like", f'node "{entry.like}" not found', hint))
    elif entry.like:
        found.append(template_like(cluster, entry.like, entry.name))
    for index, name in enumerate(entry.instance_types):
        where = f"{path}.instanceTypes[{index}]"
        known = catalogue.types.get(name)
        if known is None:
            hint = catalogue.hint(name) if catalogue else "`--instance-types FILE` says what they are"
            problems.append(written.problem(where, f'unknown instance type "{name}"', hint))
            continue
        zones = entry.zones or known.zones or ("",)
        if wrong := [zone for zone in zones if known.zones and zone not in known.zones]:
            problems.append(written.problem(where, f"{name} cannot be had in zone {', '.join(wrong)}"))
        for spot in sorted({each.spot for each in known.offerings}):
            found += [known.template(entry.name, zone, spot=spot) for zone in zones]
    if entry.allocatable and not found:
        found.append(_described(entry, written.source))
    return found if len(problems) == before else None


def _described(entry: NodeGroupEntry, source: str) -> NodeTemplate:
    offered = {"pods": "110"} | entry.allocatable
    labels = {"kubernetes.io/os": "linux"}
    node = Node(
        metadata=ObjectMeta(name=entry.name, labels=labels),
        spec=NodeSpec(),
        status=NodeStatus(allocatable=dict(offered), capacity=dict(offered)),
    )
    fields = [TemplateField(part, source) for part in ("labels", "taints", "allocatable")]
    zone = entry.labels.get(topology.ZONE, "")
    return NodeTemplate(node, zone, fields=(*fields, TemplateField("daemons", "DaemonSets of the cluster")))


def _changed(template: NodeTemplate, entry: NodeGroupEntry, source: str) -> NodeTemplate:
    zone = entry.labels.get(topology.ZONE)
    changed = template if zone is None else in_zone(template, zone)
    changed = with_labels(changed, {**entry.node_selector, **entry.labels}, source)
    if entry.taints is not None:
        changed = with_taints(changed, map(_taint, entry.taints), source)
    if entry.allocatable and template.like:
        status = changed.node.status
        offered = {**(status.allocatable or {}), **entry.allocatable}
        changed = replace(changed, node=msgspec.structs.replace(changed.node, status=_with(status, offered)))
    return changed if entry.price_per_hour is None else replace(changed, price=entry.price_per_hour)


def _with(status: NodeStatus, offered: Mapping[str, object]) -> NodeStatus:
    return msgspec.structs.replace(status, allocatable=dict(offered), capacity=None)


def _in_zones(templates: Sequence[NodeTemplate], zones: Sequence[str]) -> list[NodeTemplate]:
    """Return templates of each sort in each of some zones."""
    sorts: dict[tuple[str, bool], dict[str, NodeTemplate]] = {}
    for each in templates:
        sorts.setdefault((each.instance_type, each.spot), {})[each.zone] = each
    return [
        by_zone.get(zone) or in_zone(next(iter(by_zone.values())), zone) for by_zone in sorts.values() for zone in zones
    ]


def _members(cluster: Cluster, entry: NodeGroupEntry) -> list[str]:
    selector = entry.node_selector.items()
    return [
        name
        for name in sorted(cluster.node_table.row_of)
        if selector <= (node_of(cluster, name).metadata.labels or {}).items()
    ]


def _contradictions(written: WrittenGroups, groups: Mapping[str, NodeGroup], cluster: Cluster) -> Iterator[str]:
    """Say where a file does not agree with the nodes; what two groups share, once."""
    seen: set[str] = set()
    for entry in written.entries:
        group = groups[entry.name]
        if entry.max_size is not None and len(group.nodes) > entry.max_size:
            more = f"more than maxSize {entry.max_size} of {written.source}"
            yield f"group {entry.name} has {counts.nodes(len(group.nodes))}, {more}"
        yield from _contradicted_labels(written, entry, cluster, group)
        if entry.node_selector and not group.nodes:
            yield f"no node has the labels of group {entry.name} in {written.source}"
        seen.add(entry.name)
        others = [name for name, other in groups.items() if name not in seen and {*other.nodes} & {*group.nodes}]
        if others:
            yield f"nodes of group {entry.name} in {written.source} are of group {', '.join(others)} as well"


def _contradicted_labels(
    written: WrittenGroups, entry: NodeGroupEntry, cluster: Cluster, group: NodeGroup
) -> Iterator[str]:
    """Say which labels of new nodes no node of the group has, and others have another value of."""
    for key, value in entry.labels.items():
        there = {(node_of(cluster, name).metadata.labels or {}).get(key) for name in group.nodes} - {None}
        if there and value not in there:
            values = ", ".join(sorted(map(str, there)))
            yield f"label {key} of group {entry.name} is {value} in {written.source}, and {values} on its nodes"


def _taint(text: str) -> Taint:
    match = _TAINT.fullmatch(text)
    assert match is not None, "checked when the file was read"
    return Taint(key=match["key"], value=match["value"] or "", effect=match["effect"])
