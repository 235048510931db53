"""What kubectl, the node controller and drivers do to a node, as functions from a node to the changed node.

What-ifs of `simulation` and the fixes that `explain` tries are made of these; `edit_node` changes the cluster.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedctl.api import topology
from schedctl.api.devices import ResourceSlice
from schedctl.api.nodes import Node, Taint
from schedctl.api.storage import CSINode
from schedctl.api.tolerations import is_automatic
from schedctl.cache.cluster import Cluster

UNSCHEDULABLE_TAINT = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""What the node controller puts on a cordoned node."""
_replace = msgspec.structs.replace


def edit_node(cluster: Cluster, name: str, edit: Callable[[Node], Node]) -> None:
    """Replace a node of the cluster by its edited form, unless nothing changes."""
    before = cluster.node_table.objects[cluster.node_table.row_of[name]]
    after = edit(before)
    if after != before:
        cluster.add_node(after)


def cordon(node: Node) -> Node:
    """Return a node cordoned, with the taint that the node controller adds."""
    return add_taint(_replace(node, spec=_replace(node.spec, unschedulable=True)), UNSCHEDULABLE_TAINT)


def uncordon(node: Node) -> Node:
    """Return a node that takes pods again, without the taint that came with the cordon."""
    node = remove_taints(node, UNSCHEDULABLE_TAINT.key)
    return _replace(node, spec=_replace(node.spec, unschedulable=False))


def add_taint(node: Node, taint: Taint) -> Node:
    """Return a node with a taint, in place of the one of that key and effect."""
    others = [each for each in node.spec.taints or () if (each.key, each.effect) != (taint.key, taint.effect)]
    return _replace(node, spec=_replace(node.spec, taints=[*others, taint]))


def remove_taints(node: Node, key: str, effect: str = "") -> Node:
    """Return a node without the taints of a key and effect, "" for any effect."""
    others = [taint for taint in node.spec.taints or () if taint.key != key or effect not in ("", taint.effect)]
    return _replace(node, spec=_replace(node.spec, taints=others or None))


def set_label(node: Node, key: str, value: str | None) -> Node:
    """Return a node with a label, or with None without it."""
    labels = {name: each for name, each in (node.metadata.labels or {}).items() if name != key}
    if value is not None:
        labels[key] = value
    return _replace(node, metadata=_replace(node.metadata, labels=labels))


def rename_node(node: Node, name: str) -> Node:
    """Return a node as a machine of its own: under another name and hostname label, without uid and provider id."""
    labels = {**(node.metadata.labels or {}), topology.HOSTNAME: name}
    metadata = _replace(node.metadata, name=name, uid="", labels=labels, creation_timestamp=None)
    return _replace(node, metadata=metadata, spec=_replace(node.spec, provider_id=""))


def as_new(node: Node) -> Node:
    """Return a node as it was when it joined and was ready: not cordoned, and only with taints that people set."""
    taints = [taint for taint in node.spec.taints or () if not is_automatic(taint.key)]
    return _replace(node, spec=_replace(node.spec, unschedulable=False, taints=taints or None))


def publish_like(cluster: Cluster, model: str, name: str) -> None:
    """Add for a node what drivers publish about another: which volumes it can attach, and its devices."""
    csi_node = cluster.get(CSINode, model)
    if csi_node is not None:
        cluster.put(_replace(csi_node, metadata=_replace(csi_node.metadata, name=name, uid="")))
    for resource_slice in list(cluster.every(ResourceSlice).values()):
        if resource_slice.spec.node_name == model:
            cluster.put(_slice_of(resource_slice, model, name))


def _slice_of(resource_slice: ResourceSlice, model: str, name: str) -> ResourceSlice:
    """Return a slice as the driver on another node would publish it; its pool is that node's own."""
    metadata, pool = resource_slice.metadata, resource_slice.spec.pool
    # drivers name slices and pools after their node; where one does not, the other node's name makes it another
    slice_name = metadata.name.replace(model, name) if model in metadata.name else f"{name}-{metadata.name}"
    pool_name = pool.name.replace(model, name) or name
    if pool_name == pool.name:
        pool_name = f"{name}-{pool.name}"
    spec = _replace(resource_slice.spec, node_name=name, pool=_replace(pool, name=pool_name))
    return _replace(resource_slice, metadata=_replace(metadata, name=slice_name, uid=""), spec=spec)
