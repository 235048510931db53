"""Lets a new node of a group join a cluster in memory, with the pods of DaemonSets and what drivers publish."""

from __future__ import annotations

from schedctl.api.devices import ResourceSlice
from schedctl.api.storage import CSINode
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.node_groups.groups import NodeTemplate
from schedctl.workloads.node_daemons import copy_daemons, start_daemons, start_daemons_like


class Joining:
    """Adds nodes to a cluster; the first of a template is worked out, and further ones are copies of it.

    Used on one fork: a node that the end of a fork removes is no model any more.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._models: dict[int, str] = {}

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
        self._models = {each: model for each, model in self._models.items() if model != name}

    def _add(self, template: NodeTemplate) -> str:
        cluster = self._cluster
        name = new_name(cluster, template.node.metadata.name)
        cluster.add_node(node_edits.rename_node(template.node, name))
        if template.like:
            node_edits.publish_like(cluster, template.like, name)
        model = self._models.get(id(template))
        if model is not None:
            copy_daemons(cluster, model, name)
            return name
        start_daemons(cluster, name)
        if template.like and template.like in cluster.node_table.row_of:
            start_daemons_like(cluster, template.like, name)
        daemons = cluster.pod_table.on(cluster.node_table.row_of[name])
        if not any(info.pod.spec.resource_claims for info in daemons):
            self._models[id(template)] = name
        return name


def new_name(cluster: Cluster, group: str) -> str:
    """Return the name of the next new node of a group."""
    number = 1
    while f"{group}-new-{number}" in cluster.node_table.row_of:
        number += 1
    return f"{group}-new-{number}"
