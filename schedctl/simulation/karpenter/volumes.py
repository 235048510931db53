"""What the volumes of a pod require of a node, as Karpenter reads it: the first of alternatives counts."""

from __future__ import annotations

from schedctl.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass, claim_name
from schedctl.api.topology import HOSTNAME
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.simulation.karpenter.value_sets import Requirements, ValueSet, narrow, value_set


def volume_requirements(cluster: Cluster, info: PodInfo) -> Requirements:
    """Return what the volumes of a pod require of its node; nothing for those that are not there."""
    found: dict[str, ValueSet] = {}
    for volume in info.pod.spec.volumes or ():
        name = claim_name(info.pod, volume)
        claim = cluster.get(PersistentVolumeClaim, f"{info.namespace}/{name}") if name is not None else None
        if claim is None:
            continue
        if claim.spec.volume_name:
            found = narrow(found, _of_volume(cluster.get(PersistentVolume, claim.spec.volume_name)))
        elif claim.spec.storage_class_name:
            found = narrow(found, _of_class(cluster.get(StorageClass, claim.spec.storage_class_name)))
    return found


def _of_volume(volume: PersistentVolume | None) -> list[tuple[str, ValueSet]]:
    affinity = volume.spec.node_affinity if volume is not None else None
    terms = affinity.required.node_selector_terms if affinity is not None and affinity.required is not None else None
    if volume is None or not terms:
        return []
    # a local volume would be made anew on the new node
    passed = (HOSTNAME,) if volume.spec.local is not None else ()
    return [
        (each.key, value_set(each.operator, each.values))
        for each in terms[0].match_expressions or ()
        if each.key not in passed
    ]


def _of_class(storage_class: StorageClass | None) -> list[tuple[str, ValueSet]]:
    terms = storage_class.allowed_topologies if storage_class is not None else None
    if not terms:
        return []
    return [(each.key, ValueSet(frozenset(each.values or ()))) for each in terms[0].match_label_expressions or ()]
