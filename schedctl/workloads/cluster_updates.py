"""A cluster in memory kept up to date, object by object.

What comes of any sequence of updates is what `schedctl.workloads.clusters.assemble` makes of the objects that are there
in the end; pods that the scheduler has assumed stay on their nodes until they are bound. An update that changes nothing
that scheduling reads, such as the heartbeat of a node, is told from one that does: what is not read is in no struct.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schedctl.api import defaults
from schedctl.api.meta import Namespace, key_of
from schedctl.api.nodes import Node
from schedctl.api.pods import FINISHED, Pod
from schedctl.api.storage import StorageClass
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads.clusters import AssembledCluster, every_pod, find_pod, with_name_label


def put(state: AssembledCluster, obj: Any) -> bool:
    """Add an object that came out of a cluster, or replace the one of its key; return whether that changes anything."""
    cluster = state.cluster
    if isinstance(obj, Pod):
        return _put_pod(state, obj)
    if isinstance(obj, Node):
        node = defaults.node(obj)
        row = cluster.node_table.row_of.get(node.metadata.name)
        if row is not None and cluster.node_table.objects[row] == node:
            return False
        cluster.add_node(node)
        return True
    if isinstance(obj, StorageClass):
        obj = defaults.storage_class(obj)
    elif isinstance(obj, Namespace):
        obj = with_name_label(obj)
    if cluster.get(type(obj), key_of(obj)) == obj:
        return False
    cluster.put(obj)
    return True


def remove(state: AssembledCluster, obj: Any) -> bool:
    """Remove the object of this kind and key; return whether there was one."""
    cluster, key = state.cluster, key_of(obj)
    if isinstance(obj, Pod):
        known = find_pod(key, cluster)
        if known is None:
            return state.finished.pop(key, None) is not None
        cluster.remove_pod(known)
    elif isinstance(obj, Node):
        if obj.metadata.name not in cluster.node_table.row_of:
            return False
        for info in cluster.remove_node(obj.metadata.name):
            cluster.add_pod(info)  # as a stray: its node may come back before the pod goes
    else:
        there = cluster.get(type(obj), key)
        if there is None:
            return False
        cluster.delete(there)
    return True


def replace_all(state: AssembledCluster, kind: type, objects: Iterable[Any]) -> bool:
    """Let these be all objects of a kind; return whether that changes anything."""
    now = {key_of(obj): obj for obj in objects}
    gone = [obj for obj in _all(state, kind) if key_of(obj) not in now]
    changed = [remove(state, obj) for obj in gone] + [put(state, obj) for obj in now.values()]
    return any(changed)


def _put_pod(state: AssembledCluster, pod: Pod) -> bool:
    cluster, pod = state.cluster, defaults.pod(pod)
    known, finished = find_pod(pod.key, cluster), state.finished.get(pod.key)
    if pod == (known.pod if known is not None else finished):
        return False
    if pod.status.phase in FINISHED:
        state.finished[pod.key] = pod
        if known is None:
            return False
        cluster.remove_pod(known)
        return True
    state.finished.pop(pod.key, None)
    info = PodInfo(pod)
    if known is not None and known.uid == info.uid and cluster.is_assumed(pod.key):
        if pod.spec.node_name:
            cluster.confirm(info)
        return bool(pod.spec.node_name)  # kube-scheduler, too, leaves a pod alone that it has assumed
    # In place, so that a pending pod keeps its place in the order of arrival.
    if known is not None and pod.key in cluster.pending and not pod.spec.node_name:
        cluster.update_pending(info)
        return True
    if known is not None:
        cluster.remove_pod(known)
    cluster.add_pod(info)
    return True


def _all(state: AssembledCluster, kind: type) -> list[Any]:
    cluster = state.cluster
    if kind is Pod:
        return [*(info.pod for info in every_pod(cluster)), *state.finished.values()]
    if kind is Node:
        table = cluster.node_table
        return [table.objects[row] for row in table.row_of.values()]
    return list(cluster.every(kind).values())
