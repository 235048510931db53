"""Names in a pod that nothing in the cluster has, and the names that may have been meant.

A label that is on no node, a value no node has, company that runs nowhere, a claim nobody has made: such a pod is
pending for good and its FailedScheduling line does not say why. Each finding is a fact about the cluster in hand; where
something similar is there, the `Remedy` that would use it comes along.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from schedctl.api.pods import NodeSelectorRequirement
from schedctl.api.resources import is_scalar
from schedctl.api.selectors import Requirement
from schedctl.api.storage import PersistentVolumeClaim, StorageClass
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import typo_remedies
from schedctl.explain.device_typos import device_typos
from schedctl.explain.topology_keys import closest_topology_key, label_values
from schedctl.explain.typo_remedies import Typo, misspelling
from schedctl.framework.claim_remedies import use_storage_class
from schedctl.framework.device_classes import classes_by_resource
from schedctl.framework.similar import absence, closest_names, in_namespace
from schedctl.workloads import ownership

_NEEDS_THE_LABEL = ("In", "Exists", "Gt", "Lt")


def typos(pod: PodInfo, cluster: Cluster) -> list[Typo]:
    """Return what the pod requires by a name that nothing has; each once, labels of nodes first."""
    found = (
        *_labels(pod, cluster),
        *_node_names(pod, cluster),
        *_resources(pod, cluster),
        *_pod_affinity(pod, cluster),
        *claim_typos(pod, cluster),
    )
    return list(dict.fromkeys(found))


def claim_typos(pod: PodInfo, cluster: Cluster) -> list[Typo]:
    """Return the claims, of storage and of devices, that the pod names and nobody has made, and what they name."""
    return list(dict.fromkeys((*_storage(pod, cluster), *device_typos(pod, cluster))))


def _labels(pod: PodInfo, cluster: Cluster) -> Iterator[Typo]:
    values = label_values(cluster)
    required = list(required_labels(pod))
    for key, _ in required:
        if key not in values:
            yield _missing_label("label", key, closest_names(key, values))
    for key in _topology_keys(pod):
        if key not in values:
            other = closest_topology_key(key, values, len(cluster.rows))
            yield _missing_label("topology key", key, [other] if other else [])
    for key, allowed in required:
        for value in allowed if key in values and not allowed & values[key].keys() else ():
            yield misspelling(
                typo_remedies.REPLACE_VALUE,
                f"no node has {key}={value}",
                closest_names(value, values[key]),
                partial(typo_remedies.replace_value, key, value),
            )


def _missing_label(what: str, key: str, others: Sequence[str]) -> Typo:
    rename = partial(typo_remedies.rename_label, key)
    return misspelling(typo_remedies.RENAME_LABEL, f'{what} "{key}" is on no node', others, rename)


def _node_names(pod: PodInfo, cluster: Cluster) -> Iterator[Typo]:
    """Yield the nodes that are required by name and are not there."""
    known, is_daemon = cluster.node_table.row_of, ownership.controller_reference(pod)[2] == "DaemonSet"
    for name in _required_nodes(pod):
        if name in known:
            continue
        fact = f'node "{name}" is not in the cluster'
        if is_daemon:  # whose controller wrote the name, when there was such a node
            yield Typo(f"{fact}: the DaemonSet controller deletes the pod", None, "node-gone")
            continue
        rename = partial(typo_remedies.rename_node, name)
        yield misspelling(typo_remedies.RENAME_NODE, fact, closest_names(name, list(known)), rename)


def _resources(pod: PodInfo, cluster: Cluster) -> Iterator[Typo]:
    requested = {name for name, amount in pod.demand.fit_requests.items() if amount > 0}
    offered = {name for name in cluster.node_table.resource_names.values if cluster.nodes.allocatable(name).any()}
    offered |= classes_by_resource(cluster).keys()
    for name in sorted(requested - offered):
        others = closest_names(name, {other for other in offered if is_scalar(other)}) if is_scalar(name) else []
        rename = partial(typo_remedies.rename_resource, name)
        yield misspelling(typo_remedies.RENAME_RESOURCE, f"no node offers {name}", others, rename)


def _storage(pod: PodInfo, cluster: Cluster) -> Iterator[Typo]:
    claims, classes = cluster.every(PersistentVolumeClaim), cluster.every(StorageClass)
    for volume in pod.pod.spec.volumes or ():
        if volume.persistent_volume_claim is None:
            continue
        name = volume.persistent_volume_claim.claim_name
        claim = claims.get(f"{pod.namespace}/{name}")
        if claim is None:
            others = closest_names(name, in_namespace(pod.namespace, claims))
            fact, rename = absence("claim", name, pod.namespace, claims), partial(typo_remedies.rename_claim, name)
            if not others and fact.partition(", but in ")[1]:
                fact += "; a pod mounts only claims of its own namespace"
            yield misspelling(typo_remedies.RENAME_CLAIM, fact, others, rename)
            continue
        named = claim.spec.storage_class_name
        if named and not claim.spec.volume_name and named not in classes:
            fact = f'storage class "{named}" of claim {name} is not in the cluster'
            use = partial(use_storage_class, f"{pod.namespace}/{name}")
            yield misspelling(typo_remedies.USE_STORAGE_CLASS, fact, closest_names(named, classes), use)


def required_labels(pod: PodInfo) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield (label, values) that nodes must have; no values where any will do."""
    spec = pod.pod.spec
    for key, value in (spec.node_selector or {}).items():
        yield key, frozenset((value,))
    for written in _node_requirements(pod):
        if written.operator in _NEEDS_THE_LABEL:
            yield written.key, frozenset(written.values or ()) if written.operator == "In" else frozenset()


def _topology_keys(pod: PodInfo) -> Iterator[str]:
    """Yield the topology keys that nodes must have."""
    for constraint in pod.pod.spec.topology_spread_constraints or ():
        if constraint.when_unsatisfiable == "DoNotSchedule":
            yield constraint.topology_key
    for term in pod.required_affinity:
        yield term.topology_key


def _node_requirements(pod: PodInfo) -> Iterable[NodeSelectorRequirement]:
    affinity = pod.pod.spec.affinity and pod.pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for term in (required.node_selector_terms if required else None) or ():
        yield from term.match_expressions or ()


def _required_nodes(pod: PodInfo) -> Iterator[str]:
    affinity = pod.pod.spec.affinity and pod.pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for term in (required.node_selector_terms if required else None) or ():
        for written in term.match_fields or ():
            yield from (written.values or ()) if written.operator == "In" else ()


def _pod_affinity(pod: PodInfo, cluster: Cluster) -> Iterator[Typo]:
    requirements = [r for term in pod.required_affinity for r in term.selector.requirements if r.operator == "In"]
    if not requirements:
        return
    values: dict[str, set[str]] = {}
    for info in (*cluster.pod_table, pod):
        for key, value in info.labels.items():
            values.setdefault(key, set()).add(value)
    for requirement in requirements:
        known = values.get(requirement.key, set())
        if not requirement.values & known:
            yield _no_pod(requirement, known) if known else _no_pod_label(requirement, values)


def _no_pod(requirement: Requirement, known: set[str]) -> Typo:
    key, value = requirement.key, min(requirement.values)
    replace = partial(typo_remedies.replace_pod_affinity_label, key, value)
    fact = f"no running pod has {key}={value}"
    return misspelling(typo_remedies.REPLACE_POD_AFFINITY_LABEL, fact, closest_names(value, known), replace)


def _no_pod_label(requirement: Requirement, values: Mapping[str, Collection[str]]) -> Typo:
    """Return that no pod has a label, and the label that is like it, or that alone has the value."""
    key, value = requirement.key, min(requirement.values)
    having = [other for other, known in values.items() if value in known]
    others = closest_names(key, having) or closest_names(key, values) or (having if len(having) == 1 else [])
    rename = partial(typo_remedies.rename_pod_affinity_label, key)
    fact = f'no running pod has {key}={value}, nor any label "{key}"'
    return misspelling(typo_remedies.RENAME_POD_AFFINITY_LABEL, fact, others, rename)
