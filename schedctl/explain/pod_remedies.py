"""Remedies that answer for the whole pod or cluster rather than for one plugin: gates, the scheduler, another node."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedctl.api.meta import ObjectMeta
from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.framework import wording
from schedctl.framework.commands import kubectl
from schedctl.framework.remedies import Reach, Remedy, edit_pod

USE_SCHEDULER, REPLACE_POD, ADD_NODE = "use-scheduler", "replace-pod", "add-node"
_replace = msgspec.structs.replace


def remove_gates(gates: Iterable[str]) -> Remedy:
    """Return that the scheduling gates are removed which keep the pod out of the queue."""
    names = tuple(gates)
    return Remedy(
        "remove-gates",
        f"{wording.name_with_verb('scheduling gate', names, ', ')} removed",
        edit_pod(lambda pod: _replace(pod, spec=_replace(pod.spec, scheduling_gates=None))),
        effort=1,
    )


def use_scheduler(name: str) -> Remedy:
    """Return that the pod asks for another scheduler, where no profile serves its ``schedulerName``."""
    return Remedy(
        USE_SCHEDULER,
        f"its schedulerName is {name}",
        edit_pod(lambda pod: _replace(pod, spec=_replace(pod.spec, scheduler_name=name))),
        effort=1,
        subject=name,
    )


def replace_pod() -> Remedy:
    """Return that the controller of a pod that is being deleted has made another like it."""
    return Remedy(
        REPLACE_POD,
        "it is a new pod",
        edit_pod(lambda pod: _replace(pod, metadata=_replace(pod.metadata, deletion_timestamp=None))),
        effort=1,
    )


def create_priority_class(name: str) -> Remedy:
    """Return that the priority class of a pod is created, with the value that the command gives it."""

    def create(pod: Pod, cluster: Cluster) -> Pod:
        cluster.put(PriorityClass(metadata=ObjectMeta(name=name), value=0))
        return pod

    return Remedy(
        "create-priority-class",
        f"PriorityClass {name} is created with value 0",
        create,
        effort=2,
        subject=name,
        command=kubectl("create", "priorityclass", name, options=("--value=0",)),
    )


def add_node(like: str) -> Remedy:
    """Return that there is another node with the labels, size, CSI drivers and devices of a node.

    It has the taints that people set, and none that says how the other node is.
    """

    def add(pod: Pod, cluster: Cluster) -> Pod:
        model, name = cluster.node_table.objects[cluster.node_table.row_of[like]], added_node(like)
        cluster.add_node(node_edits.rename_node(node_edits.as_new(model), name))
        node_edits.publish_like(cluster, like, name)
        return pod

    return Remedy(ADD_NODE, f"another node like {like} is added", add, effort=6, subject=like, reach=Reach.NODE, size=2)


def added_node(like: str) -> str:
    """Return what another node like one is called in a fork."""
    return f"another-{like}"
