"""In-tree volumes on nodes that have handed them over to CSI drivers, as ``csi-translation-lib`` translates them.

There a volume has the topology of the CSI volume that it has become; unlike NodeVolumeLimits, VolumeBinding does not
take the migration for granted on every node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from schedctl.api import annotation_keys, pods, storage, topology
from schedctl.api.nodes import Node
from schedctl.cache.arrays import BoolArray
from schedctl.cache.nodes import ClusterView
from schedctl.framework import csi_migration

_LOOKED_THROUGH = (
    csi_migration.EBS,
    csi_migration.GCE_PD,
    csi_migration.AZURE_DISK,
    csi_migration.CINDER,
    csi_migration.PORTWORX,
)
"""The plugins whose volumes VolumeBinding translates; Azure files and vSphere disks it takes as they are."""
_ZONED = (csi_migration.EBS, csi_migration.GCE_PD, csi_migration.CINDER)
"""Those among them whose volumes change their topology in translation."""


class Translation(NamedTuple):
    """An in-tree volume as nodes see it that have migrated its plugin.

    Attributes:
        plugin: the in-tree plugin.
        required: the node affinity of the CSI volume.
        fault: why there is no such volume, "" where there is one.
    """

    plugin: str
    required: pods.NodeSelector | None
    fault: str = ""


def translate(volume: storage.PersistentVolume) -> Translation | None:
    """Return what migration makes of a volume, None where it makes no difference on any node."""
    migration = csi_migration.migration_of(volume.spec)
    if migration not in _LOOKED_THROUGH:
        return None
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    try:
        csi_migration.volume_handle(volume)
    except csi_migration.UntranslatableError as fault:
        return Translation(migration.plugin, required, f"could not translate pv: {fault}")
    zoned = _translate_topology(volume, required, migration.topology_key) if migration in _ZONED else required
    return Translation(migration.plugin, zoned) if zoned != required else None


def reached_everywhere(volume: storage.PersistentVolume) -> bool:
    """Return whether a volume keeps no node away, whatever its labels and the plugins it has migrated."""
    affinity = volume.spec.node_affinity
    return (affinity is None or affinity.required is None) and translate(volume) is None


def migrated_nodes(cluster: ClusterView, plugin: str) -> BoolArray:
    """Return which nodes have migrated an in-tree plugin, bool (rows,)."""
    nodes = cluster.derive(_by_plugin, Node, storage.CSINode).get(plugin)
    return nodes if nodes is not None else np.zeros(len(cluster.node_table), np.bool_)


def _by_plugin(cluster: ClusterView) -> Mapping[str, BoolArray]:
    table = cluster.node_table
    nodes: dict[str, BoolArray] = {}
    for name, node in cluster.every(storage.CSINode).items():
        row = table.row_of.get(name)
        listed = (node.metadata.annotations or {}).get(annotation_keys.MIGRATED_PLUGINS)
        if row is not None and listed:
            for plugin in listed.split(","):
                nodes.setdefault(plugin, np.zeros(len(table), np.bool_))[row] = True
    return nodes


def _translate_topology(
    volume: storage.PersistentVolume, required: pods.NodeSelector | None, topology_key: str
) -> pods.NodeSelector | None:
    """Return the node affinity with zones under the driver's label, and regions under their present one."""
    # EBS, GCE and Cinder: the zone, from the affinity or else the labels, is looked for under the driver's own label
    labels = volume.metadata.labels or {}
    zone, region = _spelling(required, labels)
    if any(each.key == zone and each.values for each in _expressions(required)):
        required = _rename_key(required, zone, topology_key)
    elif zone in labels:
        named = {name.strip() for name in labels[zone].split(topology.ZONE_SEPARATOR)} - {""}
        if named:
            required = _add_condition(
                required, pods.NodeSelectorRequirement(key=topology_key, operator="In", values=sorted(named))
            )
    if region == topology.BETA_REGION and any(each.key == region and each.values for each in _expressions(required)):
        required = _rename_key(required, region, topology.REGION)
    return required


def _spelling(required: pods.NodeSelector | None, labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the labels by which a volume tells zones and regions: in its affinity, else in its own labels."""
    used = {each.key for each in _expressions(required)}
    for zone, region in ((topology.ZONE, topology.REGION), (topology.BETA_ZONE, topology.BETA_REGION)):
        if zone in used:
            return zone, region
    beta = topology.BETA_ZONE in labels and topology.ZONE not in labels
    return (topology.BETA_ZONE, topology.BETA_REGION) if beta else (topology.ZONE, topology.REGION)


def _expressions(required: pods.NodeSelector | None) -> Iterator[pods.NodeSelectorRequirement]:
    for term in (required.node_selector_terms if required is not None else None) or ():
        yield from term.match_expressions or ()


def _rename_key(required: pods.NodeSelector | None, key: str, new: str) -> pods.NodeSelector:
    terms = []
    for term in (required.node_selector_terms if required is not None else None) or ():
        expressions = [
            msgspec.structs.replace(each, key=new) if each.key == key else each for each in term.match_expressions or ()
        ]
        terms.append(msgspec.structs.replace(term, match_expressions=expressions))
    return pods.NodeSelector(node_selector_terms=terms)


def _add_condition(required: pods.NodeSelector | None, condition: pods.NodeSelectorRequirement) -> pods.NodeSelector:
    """Return the affinity with one more condition in each term, or of that condition alone where there is no term."""
    terms = (required.node_selector_terms if required is not None else None) or [pods.NodeSelectorTerm()]
    return pods.NodeSelector(
        node_selector_terms=[
            msgspec.structs.replace(term, match_expressions=[*(term.match_expressions or ()), condition])
            for term in terms
        ]
    )
