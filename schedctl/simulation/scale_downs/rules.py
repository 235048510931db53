"""Which nodes may be removed at all: what autoscalers, disruption budgets and ``kubectl drain`` respect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from schedctl.api import annotation_keys as keys
from schedctl.api.autoscalers import NodePool
from schedctl.api.node_labels import is_control_plane
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.autoscaling.groups import Autoscaler, NodeGroup
from schedctl.autoscaling.karpenter import only_empty
from schedctl.autoscaling.templates import node_of
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.reports.nodes import Keeper
from schedctl.simulation.replacement import controller_of
from schedctl.simulation.what_ifs import pods_on, stays
from schedctl.workloads.disruption_budgets import Budgets

_TRUE, _FALSE = "true", "false"
_SYSTEM = "kube-system"


class RemovalRules(msgspec.Struct, frozen=True):
    """What may be done to remove nodes.

    Attributes:
        delete_emptydir_data: evict pods with emptyDir volumes, whose data is lost.
        force: evict pods that no controller recreates.
        allow_preemption: let evicted pods preempt others.
    """

    delete_emptydir_data: bool = False
    force: bool = False
    allow_preemption: bool = False


class Obstacle(msgspec.Struct, frozen=True):
    """Why a node stays.

    Attributes:
        keeper: what keeps it.
        text: the same in words.
        pods: the pods that are about it, by key.
        message: the FailedScheduling line of a pod that would find no other node, "" where it is something else.
    """

    keeper: Keeper
    text: str
    pods: tuple[str, ...] = ()
    message: str = ""


def movable_pods(cluster: Cluster, node: str) -> list[PodInfo]:
    """Return the pods that have to go before a node is gone: neither a DaemonSet's nor the kubelet's own."""
    return [info for info in pods_on(cluster, node) if not stays(info.pod) and not info.is_terminating]


def obstacle(
    cluster: Cluster, name: str, group: NodeGroup | None, rules: RemovalRules, budgets: Budgets
) -> Obstacle | None:
    """Return what forbids the removal of a node whatever else is done, None for nothing."""
    pods = movable_pods(cluster, name)
    of_node = _of_node(node_of(cluster, name)) or (_of_group(cluster, group, pods) if group is not None else None)
    return of_node or _of_pods(pods, rules, group) or _of_budgets(pods, budgets)


def _of_node(node: Node) -> Obstacle | None:
    annotations = node.metadata.annotations or {}
    if is_control_plane(node.metadata.labels):
        return Obstacle(Keeper.CONTROL_PLANE, "it is a node of the control plane")
    for key in (keys.SCALE_DOWN_DISABLED, keys.DO_NOT_DISRUPT):
        if annotations.get(key) == _TRUE:
            return Obstacle(Keeper.ANNOTATION, f"annotation {key} of the node")
    return None


def _of_group(cluster: Cluster, group: NodeGroup, pods: Sequence[PodInfo]) -> Obstacle | None:
    if group.disruption:
        return Obstacle(Keeper.DISRUPTION, group.disruption)
    if group.autoscaler is Autoscaler.KARPENTER:
        node_pool = cluster.get(NodePool, group.name)
        if node_pool is not None and only_empty(node_pool) and pods:
            return Obstacle(Keeper.DISRUPTION, f"NodePool {group.name} consolidates only empty nodes (WhenEmpty)")
    return None


def _of_pods(pods: Iterable[PodInfo], rules: RemovalRules, group: NodeGroup | None) -> Obstacle | None:
    for info in pods:
        annotations = info.pod.metadata.annotations or {}
        if annotations.get(keys.SAFE_TO_EVICT) == _FALSE:
            return _about(Keeper.ANNOTATION, f"annotation {keys.SAFE_TO_EVICT}: false", info)
        if annotations.get(keys.DO_NOT_DISRUPT) == _TRUE:
            return _about(Keeper.ANNOTATION, f"annotation {keys.DO_NOT_DISRUPT}", info)
        if annotations.get(keys.SAFE_TO_EVICT) == _TRUE:
            continue
        if controller_of(info.pod) is None and not rules.force:
            return _about(Keeper.UNMANAGED, "no controller recreates it (--force evicts it all the same)", info)
        if not rules.delete_emptydir_data and _has_local_data(info.pod):
            text = "its emptyDir would be lost (--delete-emptydir-data accepts that)"
            return _about(Keeper.LOCAL_STORAGE, text, info)
        if not rules.delete_emptydir_data and _keeps_cluster_autoscaler(info.pod, group):
            text = "Cluster Autoscaler leaves a node with a hostPath volume (--delete-emptydir-data passes over that)"
            return _about(Keeper.LOCAL_STORAGE, text, info)
    return None


def _has_local_data(pod: Pod) -> bool:
    safe = (pod.metadata.annotations or {}).get(keys.SAFE_LOCAL_VOLUMES, "")
    accepted = {each.strip() for each in safe.split(",")}
    return any(volume.empty_dir is not None and volume.name not in accepted for volume in pod.spec.volumes or ())


def _keeps_cluster_autoscaler(pod: Pod, group: NodeGroup | None) -> bool:
    """Return whether a pod has a folder of its node, which counts as local storage to Cluster Autoscaler alone."""
    if group is None or group.autoscaler is not Autoscaler.CLUSTER_AUTOSCALER:
        return False
    return any(volume.host_path is not None for volume in pod.spec.volumes or ())


def _of_budgets(pods: Iterable[PodInfo], budgets: Budgets) -> Obstacle | None:
    for info in pods:
        books = budgets.books_of(info)
        if len(books) > 1:
            return _about(Keeper.BUDGET, "several PodDisruptionBudgets select it, so that no eviction is allowed", info)
        for book in books:
            if not book.disruptions_allowed and not (book.lenient and info.key not in book.healthy):
                return _about(Keeper.BUDGET, f"PodDisruptionBudget {book.key} allows no eviction", info)
    return None


def _about(keeper: Keeper, text: str, info: PodInfo) -> Obstacle:
    return Obstacle(keeper, f"pod {info.key}: {text}", (info.key,))


def belongs_to_system(info: PodInfo, budgets: Budgets) -> bool:
    """Return whether Cluster Autoscaler by default leaves a node because of a pod of the system without a budget."""
    return info.namespace == _SYSTEM and not budgets.books_of(info)
