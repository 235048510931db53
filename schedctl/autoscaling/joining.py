"""Lets a new node of a group join a cluster in memory, with the pods of DaemonSets and what drivers publish."""

from __future__ import annotations

from schedctl.api.devices import ResourceSlice
from schedctl.api.storage import CSINode
from schedctl.autoscaling.groups import NodeTemplate
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads.node_daemons import copy_daemons, start_daemons, start_daemons_like


class Joining:
    """Adds nodes to a cluster; the DaemonSets' pods of a template are worked out once, and copied for further nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._daemons: dict[int, list[PodInfo]] = {}

    def add(self, template: NodeTemplate, number: int = 1) -> list[str]:
        """Add new nodes and return their names: ``GROUP-new-1`` and so on."""
        return [self._add(template) for _ in range(number)]

    def remove(self, name: str) -> None:
        """Remove a node that was added, with all that came with it."""
        cluster = self._cluster
        cluster.remove_node(name)
        csi_node = cluster.get(CSINode, name)
        slices = [each for each in cluster.every(ResourceSlice).values() if each.spec.node_name == name]
        for obj in (*slices, *((csi_node,) if csi_node is not None else ())):
            cluster.delete(obj)

    def _add(self, template: NodeTemplate) -> str:
        cluster = self._cluster
        name = new_name(cluster, template.node.metadata.name)
        cluster.add_node(node_edits.rename_node(template.node, name))
        if template.like:
            node_edits.publish_like(cluster, template.like, name)
        known = self._daemons.get(id(template))
        if known is not None:
            copy_daemons(cluster, known, name)
            return name
        start_daemons(cluster, name)
        if template.like and template.like in cluster.node_table.row_of:
            start_daemons_like(cluster, template.like, name)
        daemons = cluster.pod_table.on(cluster.node_table.row_of[name])
        if not any(info.pod.spec.resource_claims for info in daemons):
            self._daemons[id(template)] = list(daemons)
        return name


def new_name(cluster: Cluster, group: str) -> str:
    """Return the name of the next new node of a group."""
    number = 1
    while f"{group}-new-{number}" in cluster.node_table.row_of:
        number += 1
    return f"{group}-new-{number}"
