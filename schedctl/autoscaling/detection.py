"""Finds the groups of nodes of a cluster: by what their autoscaler keeps, by labels of nodes, else by likeness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.api import autoscalers, node_labels, topology
from schedctl.api.amounts import quantity
from schedctl.api.resources import CPU, MEMORY, PODS, allocatable
from schedctl.api.tolerations import is_automatic
from schedctl.autoscaling import cluster_autoscaler, karpenter, machines
from schedctl.autoscaling.groups import NodeGroup, NodeTemplate
from schedctl.autoscaling.instance_types import NO_TYPES, Catalogue
from schedctl.autoscaling.templates import node_of, templates_like
from schedctl.cache.cluster import Cluster
from schedctl.reports import counts


class NodeGroups(msgspec.Struct, frozen=True):
    """The groups there are.

    Attributes:
        groups: by name.
        notes: what answers about them do not consider.
    """

    groups: tuple[NodeGroup, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def autoscaled(self) -> bool:
        """Whether something in the cluster says that an autoscaler may add nodes."""
        return any(group.autoscaler != "Unknown" for group in self.groups)

    def group_of(self, node: str) -> NodeGroup | None:
        """Return the group that a node belongs to, None for none."""
        return next((group for group in self.groups if node in group.nodes), None)


def detect(cluster: Cluster, catalogue: Catalogue = NO_TYPES) -> NodeGroups:
    """Return the groups of nodes of a cluster.

    Args:
        cluster: the nodes, and what autoscalers keep.
        catalogue: the instance types there are, by which prices are known and NodePools have further types.
    """
    found = _with_own_names([*karpenter.groups(cluster, catalogue), *machines.groups(cluster)])
    taken = {name for group in found for name in group.nodes}
    rest = [
        name
        for name in sorted(cluster.node_table.row_of)
        if name not in taken and not node_labels.is_control_plane(node_of(cluster, name).metadata.labels)
    ]
    found = _with_own_names([*found, *_by_label_or_likeness(cluster, rest)])
    reported, problems = cluster_autoscaler.reported_groups(cluster)
    found, unmatched = cluster_autoscaler.with_sizes(found, reported)
    groups = [_with_prices(group, catalogue) for group in found]
    notes = [
        *_unlisted(cluster),
        *problems,
        *unmatched,
        *_exceeded(groups),
        *without_zone(cluster, groups),
        *_unknown_types(groups, catalogue),
    ]
    return NodeGroups(tuple(sorted(groups, key=lambda group: group.name)), tuple(notes))


def _unlisted(cluster: Cluster) -> Iterator[str]:
    """Say which kinds could not be listed that would have told of groups."""
    names = [kind.name for kind in autoscalers.KINDS if kind.struct in cluster.missing]
    if names:
        yield f"could not list {', '.join(names)}: groups and limits that only these tell of are not considered"


def _by_label_or_likeness(cluster: Cluster, names: Sequence[str]) -> Iterator[NodeGroup]:
    by_label: dict[tuple[str, str], list[str]] = {}
    others: dict[object, list[str]] = {}
    for name in names:
        labels = node_of(cluster, name).metadata.labels or {}
        label = next((each for each in node_labels.POOL_LABELS if labels.get(each)), "")
        if label:
            by_label.setdefault((label, labels[label]), []).append(name)
        else:
            others.setdefault(_likeness(cluster, name), []).append(name)
    for (label, value), nodes in by_label.items():
        templates = templates_like(cluster, nodes, value)
        yield NodeGroup(value, f"label {label}", templates=templates, nodes=tuple(nodes))
    for nodes in others.values():
        name = _common_name(nodes)
        templates = templates_like(cluster, nodes, name)
        yield NodeGroup(name, "nodes of equal size, type and taints", templates=templates, nodes=tuple(nodes))


def _likeness(cluster: Cluster, name: str) -> object:
    """Return what is equal for nodes of one make."""
    node = node_of(cluster, name)
    offered = allocatable(node.status.allocatable)
    taints = frozenset(each for each in node.spec.taints or () if not is_automatic(each.key))
    # kubelets of one type report memory that differs by a little
    size = offered.get(CPU, 0), round(offered.get(MEMORY, 0) / (1 << 28)), offered.get(PODS, 0)
    special = frozenset(item for item in offered.items() if "/" in item[0])
    labels = node.metadata.labels or {}
    roles = frozenset(key for key in labels if key.startswith("node-role.kubernetes.io/"))
    return node_labels.instance_type_of(labels), taints, size, special, roles


def _common_name(names: Sequence[str]) -> str:
    """Return what the names of nodes begin with, else the first of them."""
    first, last = min(names), max(names)
    length = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    common = first[:length].rstrip("-.0123456789") if len(names) > 1 else ""
    return common or first


def _with_own_names(groups: Iterable[NodeGroup]) -> list[NodeGroup]:
    """Return groups of which no two have a name in common."""
    found: dict[str, NodeGroup] = {}
    for group in groups:
        name, number = group.name, 1
        while name in found:
            number += 1
            name = f"{group.name}-{number}"
        templates = group.templates if name == group.name else tuple(_renamed(each, name) for each in group.templates)
        found[name] = replace(group, name=name, templates=templates)
    return list(found.values())


def _renamed(template: NodeTemplate, name: str) -> NodeTemplate:
    metadata = msgspec.structs.replace(template.node.metadata, name=name)
    return replace(template, node=msgspec.structs.replace(template.node, metadata=metadata))


def _with_prices(group: NodeGroup, catalogue: Catalogue) -> NodeGroup:
    """Return a group whose templates cost what the catalogue says of their types."""
    return replace(group, templates=tuple(with_price(each, catalogue) for each in group.templates))


def with_price(template: NodeTemplate, catalogue: Catalogue) -> NodeTemplate:
    """Return a template that costs what a catalogue says of its type, if it says so."""
    known = catalogue.types.get(template.instance_type)
    if known is None or template.price is not None:
        return template
    return replace(template, price=known.price(template.zone, spot=template.spot))


def _exceeded(groups: Iterable[NodeGroup]) -> Iterator[str]:
    """Say which groups are larger than they may be already."""
    for group in groups:
        size = len(group.nodes)
        if group.max_size is not None and size > group.max_size:
            yield f"group {group.name} has {counts.nodes(size)}, more than its maximum size {group.max_size}"
        for resource, limit in group.limits.items():
            if (used := group.used.get(resource, 0)) > limit:
                has, may = quantity(resource, used), quantity(resource, limit)
                yield f"group {group.name} has {resource} {has} already, more than its limit {may}"
        if size < group.min_size:
            yield f"group {group.name} has {counts.nodes(size)}, fewer than its minimum size {group.min_size}"


def without_zone(cluster: Cluster, groups: Iterable[NodeGroup]) -> Iterator[str]:
    """Say which groups make nodes without a zone where others have one."""
    if not any(topology.zone_of(node_of(cluster, name).metadata.labels) for name in cluster.node_table.row_of):
        return
    for group in groups:
        if group.templates and not any(template.zone for template in group.templates):
            yield f"a new node of group {group.name} has no zone: what is spread over zones would not fit there"


def _unknown_types(groups: Iterable[NodeGroup], catalogue: Catalogue) -> Iterator[str]:
    """Say of which types of nodes a catalogue says nothing."""
    if not catalogue:
        return
    for group in groups:
        unknown = {each.instance_type for each in group.templates if each.instance_type not in catalogue.types}
        for name in sorted(unknown):
            if not name:
                yield f"group {group.name}: no label names an instance type, so that the price is not known"
                continue
            yield (
                f"group {group.name}: instance type {name} is not in {catalogue.source}, so that its price is not known"
            )
