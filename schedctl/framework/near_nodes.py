"""The nodes that a pod asks for or could use, which is where the cause of its rejection is looked for first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from schedctl.api import topology
from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.nodes import Taint
from schedctl.api.pods import Pod, Toleration
from schedctl.api.resources import is_extended
from schedctl.api.tolerations import first_untolerated, is_automatic
from schedctl.cache.arrays import BoolArray
from schedctl.cache.node_matching import nodes_meeting
from schedctl.cache.node_table import NodeTable
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.similar import closest_name

_OF_ANY_POOL = frozenset((*topology.LABELS, "kubernetes.io/os", "kubernetes.io/arch"))
"""Labels that nodes of every pool have: a pod that requires a zone does not mean the dedicated nodes there."""


def near_nodes(info: PodInfo, cluster: ClusterView) -> frozenset[str]:
    """Return the nodes that the pod's selector and affinity allow, without those that a taint reserves for others.

    A taint that says how a node is, such as not-ready, reserves nothing; nor does one that the pod tries to tolerate,
    or that is on a node which the pod selects by a label of its pool, by name or by an extended resource.
    """
    pod, table = info.pod, cluster.node_table
    allowed = nodes_meeting(table, required_node_affinity(pod)) & table.alive[: len(table)]
    offering = _offering(info, table) & allowed
    if offering.any():
        allowed = offering
    elif not any(key not in _OF_ANY_POOL for key in _required_keys(pod)):
        tolerations = pod.spec.tolerations or ()
        reserved = np.array(
            [_is_reserved(each, tolerations, cluster.compares_taints) for each in table.taint_sets.values], np.bool_
        )
        allowed &= ~reserved[table.taints[: len(table)]]
    return frozenset(table.objects[row].metadata.name for row in np.flatnonzero(allowed).tolist())


def _offering(info: PodInfo, table: NodeTable) -> BoolArray:
    """Return the nodes that offer all extended resources which the pod requests; none where it requests none."""
    requested = [name for name in info.demand.fit_requests if is_extended(name)]
    offers = [table.column(table.allocatable, name)[: len(table)] > 0 for name in requested]
    return np.logical_and.reduce(offers) if offers else np.zeros(len(table), np.bool_)


def _is_reserved(taints: Sequence[Taint], tolerations: Sequence[Toleration], compares: bool) -> bool:
    """Return whether a set of taints keeps a pod off that does not know of it."""
    taint = first_untolerated([each for each in taints if not is_automatic(each.key)], tolerations, compares)
    if taint is None:
        return False
    keys = [each.key for each in tolerations if each.key]
    return taint.key not in keys and not closest_name(taint.key, keys)


def _required_keys(pod: Pod) -> Iterator[str]:
    yield from pod.spec.node_selector or ()
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for term in (required.node_selector_terms if required else None) or ():
        for each in (*(term.match_expressions or ()), *(term.match_fields or ())):
            if each.operator in ("In", "Exists", "Gt", "Lt"):
                yield each.key
