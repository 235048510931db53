"""What would undo a rejection of NodeAffinity: requirements on node labels that are dropped, or labels for a node."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from schedctl.api.meta import controller_of
from schedctl.api.pods import NodeSelectorRequirement, NodeSelectorTerm, Pod
from schedctl.api.resources import is_scalar
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.commands import kubectl
from schedctl.framework.remedies import (
    Evidence,
    Reach,
    Rejection,
    Remedies,
    Remedy,
    Together,
    edit_node,
    edit_pod,
)
from schedctl.framework.similar import closest_name
from schedctl.framework.wording import requirement

_REQUIRED = "required_during_scheduling_ignored_during_execution"
_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io", "karpenter.sh")
"""How the domains end of labels that the kubelet, a cloud provider or an autoscaler sets: what a node is, they know."""
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_WORDS = re.compile(r"[a-z0-9]+")
_replace = msgspec.structs.replace


def remedies(pod: PodInfo, rejection: Rejection, cluster: Cluster) -> Remedies:
    """Return that the pod no longer asks for what the node does not have, or that the node gets the labels."""
    if rejection.reference != "node-affinity/unmatched":
        return [] if rejection.node else _whole_pod(pod)
    selector, *terms = rejection.evidence["unmet"]
    unmet = min(terms, key=len) if all(terms) and terms else []
    found = [*map(_drop_node_selector, selector), *map(_drop_requirement, unmet)]
    if not selector and not unmet:
        found.append(_drop_node_affinity(""))
    return [each for each in (tuple(found), _label(rejection.node, [*selector, *unmet], cluster)) if each]


def _whole_pod(pod: PodInfo) -> Remedies:
    """Return the remedy where the affinity leaves no node to search, which PreFilter finds out.

    None for a DaemonSet's pod, which is for that node alone.
    """
    owner = controller_of(pod.pod)
    if owner is not None and owner.kind == "DaemonSet":
        return []
    affinity = pod.pod.spec.affinity and pod.pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is None:
        return []
    written = [
        requirement(msgspec.to_builtins(each))
        for term in required.node_selector_terms or ()
        for each in (*(term.match_expressions or ()), *(term.match_fields or ()))
    ]
    return [_drop_node_affinity(", ".join(written))]


# -- of the pod ------------------------------------------------------------------


def _drop_node_selector(unmet: Evidence) -> Remedy:
    unmet_key = unmet["key"]

    def drop(pod: Pod) -> Pod:
        kept = {key: value for key, value in (pod.spec.node_selector or {}).items() if key != unmet_key}
        return _replace(pod, spec=_replace(pod.spec, node_selector=kept or None))

    condition = f"its nodeSelector does not require {requirement(unmet)}"
    return Remedy("drop-node-selector", condition, edit_pod(drop), effort=3, subject=unmet_key, reach=Reach.RULE)


def _drop_requirement(unmet: Evidence) -> Remedy:
    """Return that no term of the affinity has a requirement; without any left, a term matches every node."""
    dropped = requirement(unmet)

    def is_kept(written: NodeSelectorRequirement) -> bool:
        values = sorted(written.values) if written.values else written.values
        return requirement(msgspec.to_builtins(_replace(written, values=values))) != dropped

    def edit(term: NodeSelectorTerm) -> NodeSelectorTerm:
        expressions = [each for each in term.match_expressions or () if is_kept(each)]
        fields = [each for each in term.match_fields or () if is_kept(each)]
        return _replace(term, match_expressions=expressions or None, match_fields=fields or None)

    def drop(pod: Pod) -> Pod:
        affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
        required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
        if required is None:
            return pod
        before = required.node_selector_terms or []
        terms = [edit(term) for term in before]
        emptied = (
            term != old and not (term.match_expressions or term.match_fields)
            for old, term in zip(before, terms, strict=True)
        )
        if any(emptied):  # which kube-scheduler would take for a term that matches nothing
            return _without_node_affinity(pod)
        return _with_required(pod, _replace(required, node_selector_terms=terms))

    condition = f"its nodeAffinity does not require {dropped}"
    return Remedy("drop-node-affinity", condition, edit_pod(drop), effort=3, subject=dropped, reach=Reach.RULE)


def _drop_node_affinity(written: str) -> Remedy:
    condition = f"its nodeAffinity does not require {written or 'what no node can have'}"
    return Remedy("drop-node-affinity", condition, edit_pod(_without_node_affinity), effort=3, reach=Reach.RULE)


def _without_node_affinity(pod: Pod) -> Pod:
    return _with_required(pod, None)


def _with_required(pod: Pod, required: object) -> Pod:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return pod
    changed = _replace(affinity, node_affinity=_replace(affinity.node_affinity, **{_REQUIRED: required}))
    return _replace(pod, spec=_replace(pod.spec, affinity=changed))


# -- of the node -----------------------------------------------------------------


def _label(node: str, unmet: Sequence[Evidence], cluster: Cluster) -> Together:
    """Return that the node gets every label that it lacks; empty where one is not for people to set, or misspelt."""
    maps = cluster.node_table.labels.maps
    labels = maps[cluster.node_table.row_of[node]]
    found = []
    for each in unmet:
        if each.get("operator") != "In" or each["key"] in labels or _is_automatic(each["key"]):
            return ()
        key, value = each["key"], each["values"][0]
        if _identifies_hardware(key, cluster):
            return ()
        values = {maps[row][key] for row in cluster.rows.tolist() if key in maps[row]}
        if not values and closest_name(key, {name for row in cluster.rows.tolist() for name in maps[row]}):
            return ()
        if value not in values and closest_name(value, values):
            return ()
        found.append(_add_label(node, key, value))
    return tuple(found)


def _identifies_hardware(key: str, cluster: Cluster) -> bool:
    """Return whether a label says what a machine is: nodes with it are other machines than those without it.

    So does a label that is called as an extended resource is.
    """
    table, words = cluster.node_table, set(_WORDS.findall(key.rpartition("/")[2].lower()))
    devices = {name.rpartition("/")[2].lower() for name in table.resource_names.values if is_scalar(name)}
    if words & devices:
        return True
    machines: dict[bool, set[object]] = {True: set(), False: set()}
    for row in cluster.rows.tolist():
        labels, status = table.labels.maps[row], table.objects[row].status
        machine = labels.get(_INSTANCE_TYPE) or frozenset((status.capacity or status.allocatable or {}).items())
        machines[key in labels].add(machine)
    return bool(machines[True] and machines[False]) and machines[True].isdisjoint(machines[False])


def _is_automatic(key: str) -> bool:
    domain, slash, _ = key.rpartition("/")
    return bool(slash) and domain.endswith(_KUBERNETES_DOMAINS)


def _add_label(node: str, key: str, value: str) -> Remedy:
    return Remedy(
        "label-node",
        f"{node} has label {key}={value}",
        edit_node(node, lambda written: node_edits.set_label(written, key, value)),
        effort=3,
        subject=(key, value),
        command=kubectl("label", "node", node, f"{key}={value}"),
        node=node,
        reach=Reach.NODE,
    )
