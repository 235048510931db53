"""The nodes that a pod may use whatever else runs there, and how their domains are counted in words."""

from __future__ import annotations

import numpy as np

from schedctl.api import topology
from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.pods import Pod
from schedctl.api.tolerations import first_untolerated, is_tolerated
from schedctl.cache.arrays import BoolArray
from schedctl.cache.node_edits import UNSCHEDULABLE_TAINT
from schedctl.cache.node_matching import nodes_meeting
from schedctl.cache.nodes import ClusterView

_DOMAINS = {topology.HOSTNAME: "node", topology.ZONE: "zone", topology.REGION: "region"}


def usable_nodes(cluster: ClusterView, pod: Pod) -> BoolArray:
    """Return which nodes are not cordoned and meet the pod's node affinity and tolerations, bool (node rows,)."""
    table, tolerations = cluster.node_table, pod.spec.tolerations or ()
    rows = len(table)
    tolerated = np.array([first_untolerated(each, tolerations) is None for each in table.taint_sets.values], np.bool_)
    usable = nodes_meeting(table, required_node_affinity(pod)) & tolerated[table.taints[:rows]] & table.alive[:rows]
    if not is_tolerated(UNSCHEDULABLE_TAINT, tolerations):
        usable &= ~table.unschedulable[:rows]
    return usable


def count_domains(number: int, topology_key: str) -> str:
    """Return ``3 zones``: how many domains of a topology key, by the name that people give them."""
    noun = _DOMAINS.get(topology_key, "domain")
    return f"{number} {noun}{'' if number == 1 else 's'}"


def usable_domains(number: int, every: int, topology_key: str) -> str:
    """Return ``in each of 3 zones``, or ``on each of the 8 of 17 nodes that the pod may use``."""
    start = "on each of" if topology_key == topology.HOSTNAME else "in each of"
    if number == every:
        return f"{start} {count_domains(number, topology_key)}"
    return f"{start} the {number} of {count_domains(every, topology_key)} that the pod may use"


def at_most(replicas: int, fit: int) -> str:
    """Return what a warning about too many replicas begins with."""
    return f"at most {fit} of {replicas} replicas can run"
