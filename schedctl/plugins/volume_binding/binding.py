"""The end of the binding cycle in a dry run: what PreBind asks of controllers, done at once.

In a real cluster PreBind writes the assumed volumes and claims to the API server and waits for the controllers.
"""

from __future__ import annotations

import msgspec

from schedctl.api import annotation_keys, field_errors, meta, node_selectors, pods, storage
from schedctl.cache.cluster import Cluster
from schedctl.framework.csi_migration import BY_PLUGIN
from schedctl.plugins.volume_binding.assume_cache import BOUND_BY_CONTROLLER, with_annotations, with_claim_ref
from schedctl.plugins.volume_binding.migration import migrated_nodes, translate
from schedctl.plugins.volume_binding.search import PodVolumes
from schedctl.plugins.volume_binding.volumes import STORAGE

_PROVISIONER, _BETA_PROVISIONER = (
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
)
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


def bind(cluster: Cluster, found: PodVolumes, node_name: str) -> str:
    """Bind and provision what is to be done on a node; return what kube-scheduler complains of afterwards, or ""."""
    for claim, volume in found.static:
        _bind(cluster, with_claim_ref(volume, claim), claim)
    for claim, _ in found.dynamic:
        _provision(cluster, claim, node_name)
    # volumes that are provisioned are made where the pod goes: only those that were there can be out of reach
    problems = (_out_of_reach(cluster, volume, node_name) for _, volume in found.static)
    return next(filter(None, problems), "")


def _bind(cluster: Cluster, volume: storage.PersistentVolume, claim: storage.PersistentVolumeClaim) -> None:
    """Put a volume and its claim as the volume controller leaves them."""
    replace = msgspec.structs.replace
    cluster.put(replace(volume, status=replace(volume.status, phase="Bound")))
    spec, status = volume.spec, claim.status
    bound = with_annotations(claim, {annotation_keys.BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"})
    cluster.put(
        replace(
            bound,
            spec=replace(claim.spec, volume_name=volume.metadata.name),
            status=replace(status, phase="Bound", access_modes=spec.access_modes, capacity=spec.capacity),
        )
    )


def _provision(cluster: Cluster, claim: storage.PersistentVolumeClaim, node_name: str) -> None:
    """Make a volume for a claim and bind it; what is left of a capacity is for the driver to publish, so it stays."""
    storage_class = cluster.get(storage.StorageClass, storage.class_of(claim))
    assert storage_class is not None
    migration = BY_PLUGIN.get(storage_class.provisioner)
    driver = migration.driver if migration is not None else storage_class.provisioner
    spec, metadata = claim.spec, claim.metadata
    # named after the claim's uid, as provisioners do
    name = "pvc-" + (metadata.uid or f"{metadata.namespace}-{metadata.name}").removeprefix("uid-").replace("/", "-")
    requests = spec.resources.requests if spec.resources is not None else None
    volume = storage.PersistentVolume(
        metadata=meta.ObjectMeta(name=name, annotations={_PROVISIONED_BY: driver}),
        spec=storage.PersistentVolumeSpec(
            capacity={STORAGE: (requests or {}).get(STORAGE, "0")},
            access_modes=spec.access_modes,
            storage_class_name=storage_class.metadata.name,
            volume_mode=spec.volume_mode,
            volume_attributes_class_name=spec.volume_attributes_class_name,
            node_affinity=_topology(cluster, driver, node_name),
            csi=storage.CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
        status=storage.PersistentVolumeStatus(phase="Available"),
    )
    by = storage_class.provisioner
    annotated = with_annotations(claim, {storage.SELECTED_NODE: node_name, _PROVISIONER: by, _BETA_PROVISIONER: by})
    _bind(cluster, with_claim_ref(volume, claim), annotated)


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
