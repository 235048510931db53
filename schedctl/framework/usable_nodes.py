"""The nodes that a pod may use, or was meant for, whatever else runs there; and how domains are counted in words."""

from __future__ import annotations

import numpy as np

from schedctl.api import topology
from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.pods import Pod
from schedctl.api.resources import is_scalar
from schedctl.api.tolerations import HARD_EFFECTS, first_untolerated, is_automatic, is_tolerated
from schedctl.cache.arrays import BoolArray
from schedctl.cache.node_edits import UNSCHEDULABLE_TAINT
from schedctl.cache.node_matching import nodes_meeting
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo

_DOMAINS = {topology.HOSTNAME: "node", topology.ZONE: "zone", topology.REGION: "region"}


def usable_nodes(cluster: ClusterView, pod: Pod) -> BoolArray:
    """Return which nodes are not cordoned and meet the pod's node affinity and tolerations, bool (node rows,)."""
    table, tolerations = cluster.node_table, pod.spec.tolerations or ()
    rows = len(table)
    compares = cluster.compares_taints
    tolerated = np.array(
        [first_untolerated(each, tolerations, compares) is None for each in table.taint_sets.values], np.bool_
    )
    usable = nodes_meeting(table, required_node_affinity(pod)) & tolerated[table.taints[:rows]] & table.alive[:rows]
    if not is_tolerated(UNSCHEDULABLE_TAINT, tolerations, compares):
        usable &= ~table.unschedulable[:rows]
    return usable


def open_nodes(cluster: ClusterView, pod: PodInfo) -> BoolArray:
    """Return which nodes are meant for a pod, bool (node rows,), however full they are, or in whatever state.

    It selects them, they offer the extended resources that it requests, and people have set no taint on them that it
    does not tolerate. Where there are such nodes, all others with a taint are reserved for other pods.
    """
    table, tolerations = cluster.node_table, pod.pod.spec.tolerations or ()
    rows = len(table)
    reserved = [
        any(
            taint.effect in HARD_EFFECTS
            and not is_automatic(taint.key)
            and not is_tolerated(taint, tolerations, cluster.compares_taints)
            for taint in taints
        )
        for taints in table.taint_sets.values
    ]
    taints = table.taints[:rows]
    found = nodes_meeting(table, required_node_affinity(pod.pod)) & ~np.array(reserved, np.bool_)[taints]
    found &= table.alive[:rows]
    for resource in filter(is_scalar, pod.demand.fit_requests):
        offering = table.column(table.allocatable, resource)[:rows] > 0
        if offering.any():  # else devices of claims stand behind it
            found &= offering
    return found


def missing_share(nodes: Nodes, pod: PodInfo) -> dict[str, float]:
    """Return by node how much of what a pod requests is missing there, as shares added up over resources."""
    missing = np.zeros(len(nodes))
    for resource, amount in pod.demand.fit_requests.items():
        if amount > 0:
            free = nodes.allocatable(resource) - nodes.requested(resource)
            missing += np.clip(amount - free, 0, None) / amount
    return dict(zip(nodes.names, missing.tolist(), strict=True))


def count_domains(number: int, topology_key: str) -> str:
    """Return ``3 zones``: how many domains of a topology key, by the name that people give them."""
    return f"{number} {domain_noun(topology_key)}{'' if number == 1 else 's'}"


def domain_noun(topology_key: str) -> str:
    """Return what people call a domain of a topology key: ``zone``, ``node``, else ``domain``."""
    return _DOMAINS.get(topology_key, "domain")


def usable_domains(number: int, every: int, topology_key: str) -> str:
    """Return ``in each of 3 zones``, or ``on each of the 8 of 17 nodes that the pod may use``."""
    start = "on each of" if topology_key == topology.HOSTNAME else "in each of"
    if number == every:
        return f"{start} {count_domains(number, topology_key)}"
    return f"{start} the {number} of {count_domains(every, topology_key)} that the pod may use"


def at_most(replicas: int, fit: int) -> str:
    """Return what a warning about too many replicas begins with."""
    return f"at most {fit} of {replicas} replicas can run"
