"""Templates from nodes that are there: a new node of a group is like one of it when that was new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from schedctl.api import node_labels, topology
from schedctl.api.devices import ResourceSlice
from schedctl.api.nodes import Node, Taint
from schedctl.api.resources import MEMORY, allocatable
from schedctl.api.storage import CSINode
from schedctl.autoscaling.groups import NodeTemplate, TemplateField
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster

_replace = msgspec.structs.replace
_Sort = tuple[str, str, bool]
"""Zone, instance type and whether it is spot capacity: what tells the templates of a group apart."""


def node_of(cluster: Cluster, name: str) -> Node:
    """Return a node of the cluster by its name."""
    return cluster.node_table.objects[cluster.node_table.row_of[name]]


def template_like(cluster: Cluster, name: str, group: str) -> NodeTemplate:
    """Return what a new node of a group is like if it is made as one of its nodes was.

    Args:
        cluster: the cluster.
        name: that node.
        group: the name of the group.
    """
    model = node_of(cluster, name)
    spec, status = model.spec, model.status
    bare = _replace(model, spec=_replace(spec, provider_id=""), status=_replace(status, images=None, conditions=None))
    fresh = node_edits.as_new(bare)
    labels = {key: value for key, value in (fresh.metadata.labels or {}).items() if value != name}
    metadata = _replace(fresh.metadata, name=group, labels=labels, annotations=None, uid="")
    origin = f"node {name}"
    fields = [TemplateField(part, origin) for part in ("labels", "taints", "allocatable")]
    if cluster.get(CSINode, name) is not None:
        fields.append(TemplateField("volume limits", f"CSINode {name}"))
    if any(each.spec.node_name == name for each in cluster.every(ResourceSlice).values()):
        fields.append(TemplateField("devices", f"ResourceSlices of {origin}"))
    return NodeTemplate(
        _replace(fresh, metadata=metadata),
        topology.zone_of(labels),
        node_labels.instance_type_of(labels),
        node_labels.is_spot(labels),
        name,
        fields=(*fields, TemplateField("daemons", "DaemonSets of the cluster")),
    )


def templates_like(cluster: Cluster, names: Iterable[str], group: str) -> tuple[NodeTemplate, ...]:
    """Return a template for each zone and instance type that the nodes of a group have.

    Of several nodes of one sort the one with the least memory is the model, as kubelets of one type report slightly
    different amounts; and a ready one that takes pods before one that does not.
    """
    models: dict[_Sort, tuple[bool, int, str]] = {}
    for name in names:
        node = node_of(cluster, name)
        labels = node.metadata.labels
        sort = topology.zone_of(labels), node_labels.instance_type_of(labels), node_labels.is_spot(labels)
        rank = node.spec.unschedulable, allocatable(node.status.allocatable).get(MEMORY, 0), name
        models[sort] = min(models.get(sort, rank), rank)
    return tuple(template_like(cluster, name, group) for _, (*_, name) in sorted(models.items()))


def in_zone(template: NodeTemplate, zone: str) -> NodeTemplate:
    """Return a template for another zone: every label that names the old zone names the new one."""
    metadata = template.node.metadata
    labels = {
        key: zone if template.zone and value == template.zone else value
        for key, value in (metadata.labels or {}).items()
    }
    labels[topology.ZONE] = zone
    node = _replace(template.node, metadata=_replace(metadata, labels=labels))
    return replace(template, node=node, zone=zone)


def with_labels(template: NodeTemplate, labels: Mapping[str, str], origin: str) -> NodeTemplate:
    """Return a template with further labels."""
    if not labels:
        return template
    metadata = template.node.metadata
    node = _replace(template.node, metadata=_replace(metadata, labels={**(metadata.labels or {}), **labels}))
    fields = tuple(
        TemplateField(each.name, f"{each.origin}, {origin}") if each.name == "labels" else each
        for each in template.fields
    )
    return replace(template, node=node, fields=fields)


def with_taints(template: NodeTemplate, taints: Iterable[Taint] | None, origin: str) -> NodeTemplate:
    """Return a template with other taints."""
    node = _replace(template.node, spec=_replace(template.node.spec, taints=list(taints or ()) or None))
    fields = tuple(TemplateField("taints", origin) if each.name == "taints" else each for each in template.fields)
    return replace(template, node=node, fields=fields)
