"""Pods whose manifest names their node: no scheduler judges them, and the kubelet there rejects what does not fit.

What it rejects depends on which pods come first where nodes are full, so that such a pod is inconclusive, not pending.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.api.amounts import on_one_scale
from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.resources import PODS
from schedctl.cache.cluster import Cluster
from schedctl.cache.node_matching import nodes_meeting
from schedctl.cache.pod_info import PodInfo
from schedctl.reports import counts


def rejection(cluster: Cluster, info: PodInfo, name: str) -> str:
    """Return why the kubelet of a node may reject a pod that runs there by its manifest, "" if nothing speaks for it.

    Args:
        cluster: with the pod on the node.
        info: the pod.
        name: of the node.
    """
    reasons = [*_misses(cluster, info, name), *_exceeds(cluster, info, name)]
    if not reasons:
        return ""
    return f"spec.nodeName names {name}, whose kubelet rejects pods that do not fit: {'; '.join(reasons)}"


def _misses(cluster: Cluster, info: PodInfo, name: str) -> Iterator[str]:
    table = cluster.node_table
    required = required_node_affinity(info.pod)
    if not required.everywhere and not nodes_meeting(table, required)[table.row_of[name]]:
        yield "node(s) didn't match Pod's node affinity/selector"


def _exceeds(cluster: Cluster, info: PodInfo, name: str) -> Iterator[str]:
    node = cluster.nodes_named([name])
    most, pods = int(node.allocatable(PODS)[0]), int(node.pod_count[0])
    if pods > most:
        yield f"{counts.of(pods, 'pod')} on it, at most {most}"
    for resource, amount in info.requests.exact.items():
        offered, taken = int(node.allocatable(resource)[0]), int(node.requested(resource)[0])
        if amount and taken > offered:
            scaled = on_one_scale(resource, (amount, offered, taken))
            demand = f"{scaled(amount)} requested, {scaled(taken)} by all its pods"
            yield f"{resource}: {demand}, {scaled(offered)} allocatable"
