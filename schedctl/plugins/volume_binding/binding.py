"""The end of the binding cycle in a dry run: what PreBind asks of controllers, done at once.

In a real cluster PreBind writes the assumed volumes and claims to the API server and waits for the controllers.
"""

from __future__ import annotations

from schedctl.api import field_errors, node_selectors, pods, storage
from schedctl.cache.cluster import Cluster
from schedctl.framework import claim_binding
from schedctl.plugins.volume_binding.migration import migrated_nodes, translate
from schedctl.plugins.volume_binding.search import PodVolumes


def bind(cluster: Cluster, found: PodVolumes, node_name: str) -> str:
    """Bind and provision what is to be done on a node; return what kube-scheduler complains of afterwards, or ""."""
    for claim, volume in found.static:
        claim_binding.bind(cluster, volume, claim)
    for claim, _ in found.dynamic:
        storage_class = cluster.get(storage.StorageClass, storage.class_of(claim))
        assert storage_class is not None
        selected = claim_binding.with_annotations(claim, {storage.SELECTED_NODE: node_name})
        reach = _topology(cluster, claim_binding.driver_of(storage_class), node_name)
        claim_binding.provision(cluster, selected, storage_class, reach)
    # volumes that are provisioned are made where the pod goes: only those that were there can be out of reach
    problems = (_out_of_reach(cluster, volume, node_name) for _, volume in found.static)
    return next(filter(None, problems), "")


def _topology(cluster: Cluster, driver: str, node_name: str) -> storage.VolumeNodeAffinity | None:
    """Return from where a volume can be reached that a driver makes for a node, None for everywhere."""
    node = cluster.get(storage.CSINode, node_name)
    drivers = (node.spec.drivers if node is not None else None) or ()
    keys = next((each.topology_keys for each in drivers if each.name == driver), None) or ()
    labels = cluster.node_table.labels.maps[cluster.node_table.row_of[node_name]]
    known = [key for key in keys if key in labels]  # a driver that names no keys makes volumes for all nodes
    if not known:
        return None
    conditions = [pods.NodeSelectorRequirement(key=key, operator="In", values=[labels[key]]) for key in known]
    term = pods.NodeSelectorTerm(match_expressions=conditions)
    return storage.VolumeNodeAffinity(required=pods.NodeSelector(node_selector_terms=[term]))


def _out_of_reach(cluster: Cluster, volume: storage.PersistentVolume, node_name: str) -> str:
    """Return why a volume that was bound cannot be reached, now that it is looked at as its CSI driver does."""
    row = cluster.node_table.row_of[node_name]
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    migration = translate(volume)
    if migration is not None and migrated_nodes(cluster, migration.plugin)[row]:
        if migration.fault:
            return f"failed to translate pv to csi: {migration.fault}"
        required = migration.required
    if required is None:
        return ""
    query = node_selectors.compile_node_selector(required)
    labels = cluster.node_table.labels.maps[row]
    if any(term.labels.matches(labels) for term in query.terms):
        return ""
    cause = field_errors.aggregate(query.problems) if query.problems else "no matching NodeSelectorTerms"
    name, node = field_errors.quote(volume.metadata.name), field_errors.quote(node_name)
    return f"pv {name} node affinity doesn't match node {node}: {cause}"
