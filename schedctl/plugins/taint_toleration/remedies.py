"""What would undo a rejection of TaintToleration: a toleration, a word of one, or a condition of the node."""

from __future__ import annotations

import json

import msgspec

from schedctl.api import nodes, pods
from schedctl.api.tolerations import is_automatic
from schedctl.cache import node_edits
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.commands import kubectl
from schedctl.framework.remedies import Evidence, Reach, Rejection, Remedies, Remedy, edit_node, edit_pod, uncordon
from schedctl.framework.usable_nodes import open_nodes
from schedctl.framework.wording import taint as written_taint
from schedctl.plugins.taint_toleration.wording import WORDS
from schedctl.plugins.taint_toleration.wording import toleration as written_toleration

_CONDITION_PREFIX = "node.kubernetes.io/"
_NOT_READY = tuple(f"{_CONDITION_PREFIX}{name}" for name in ("not-ready", "unreachable"))
_CONDITIONS = {
    f"{_CONDITION_PREFIX}disk-pressure": "DiskPressure",
    f"{_CONDITION_PREFIX}memory-pressure": "MemoryPressure",
    f"{_CONDITION_PREFIX}network-unavailable": "NetworkUnavailable",
    f"{_CONDITION_PREFIX}pid-pressure": "PIDPressure",
}
"""By taint that the node controller sets, the condition of the node behind it."""
_STARTING_PREFIXES = (
    "node.cloudprovider.kubernetes.io/uninitialized",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
)
_STARTING_SUFFIX = "not-ready"
"""How the taints begin and end that an agent or a cloud provider removes once a node has started."""
_NODE_ROLES = "node-role.kubernetes.io/"
"""How the taints begin that keep ordinary pods off the control plane."""
_replace = msgspec.structs.replace


def remedies(pod: PodInfo, rejection: Rejection, cluster: ClusterView) -> Remedies:
    """Return that a toleration is corrected, or that the pod tolerates the taint, or that the taint is removed.

    Taints that machines set are neither tolerated nor removed, which would hide the problem: the node must get better.
    A taint that keeps nodes for other pods is tolerated last, and stays.
    """
    if rejection.reference != "taint-toleration/untolerated":
        return []
    taint = msgspec.convert(rejection.evidence["taint"], nodes.Taint)
    if taint.key == node_edits.UNSCHEDULABLE_TAINT.key:
        return [uncordon(rejection.node)]
    if taint.key in _NOT_READY:
        return [_become_ready(rejection.node)]
    if taint.key in _CONDITIONS:
        return [_end_condition(rejection.node, taint.key)]
    if taint.key.startswith(_STARTING_PREFIXES) or taint.key.endswith(_STARTING_SUFFIX):
        return [_finish_starting(rejection.node, taint.key)]
    if is_automatic(taint.key):
        return []
    miss = rejection.evidence.get("nearMiss")
    if miss:
        return [_correct(miss)]
    if open_nodes(cluster, pod).any():
        return [_tolerate(taint, Reach.RESERVED)]
    return [
        _tolerate(taint),
        *([] if _keeps_a_pool(taint, rejection.node, cluster) else [_remove(rejection.node, taint)]),
    ]


def _keeps_a_pool(taint: nodes.Taint, node: str, cluster: ClusterView) -> bool:
    """Return whether a taint is more than one node's own: without it, everybody's pods would fill what it keeps."""
    table = cluster.node_table
    row = table.row_of[node]
    if taint.key.startswith(_NODE_ROLES) or taint.key in (table.objects[row].status.allocatable or {}):
        return True
    sets = [any(each.key == taint.key for each in taints) for taints in table.taint_sets.values]
    return [sets[code] for code in table.taints[cluster.rows].tolist()].count(True) > 1


def _correct(miss: Evidence) -> Remedy:
    before, after = (msgspec.convert(miss[name], pods.Toleration) for name in ("toleration", "corrected"))
    words = [
        f"{name}: {json.dumps(miss['corrected'][name])}"
        for name in WORDS
        if getattr(before, name) != getattr(after, name)
    ]

    def correct(pod: pods.Pod) -> pods.Pod:
        tolerations = [after if each == before else each for each in pod.spec.tolerations or ()]
        return _replace(pod, spec=_replace(pod.spec, tolerations=tolerations))

    condition = f"toleration {written_toleration(miss['toleration'])} has {' and '.join(words)}"
    effort, size = (0, 0) if miss["similar"] else (2, 1)
    return Remedy("correct-toleration", condition, edit_pod(correct), effort=effort, subject=after, size=size)


def _tolerate(taint: nodes.Taint, reach: Reach = Reach.POD) -> Remedy:
    toleration = pods.Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)

    def add(pod: pods.Pod) -> pods.Pod:
        return _replace(pod, spec=_replace(pod.spec, tolerations=[*(pod.spec.tolerations or ()), toleration]))

    condition = f"it tolerates {written_taint(msgspec.to_builtins(taint))}"
    size = 2 if reach is Reach.RESERVED else 1  # after another node, which takes nothing from anybody
    return Remedy("add-toleration", condition, edit_pod(add), effort=2, subject=taint, reach=reach, size=size)


def _remove(node: str, taint: nodes.Taint) -> Remedy:
    return Remedy(
        "remove-taint",
        f"taint {written_taint(msgspec.to_builtins(taint))} is removed from {node}",
        edit_node(node, lambda written: node_edits.remove_taints(written, taint.key, taint.effect)),
        effort=3,
        subject=taint,
        command=kubectl("taint", "node", node, f"{taint.key}:{taint.effect}-"),
        node=node,
        reach=Reach.NODE,
    )


def _become_ready(node: str) -> Remedy:
    def recover(written: nodes.Node) -> nodes.Node:
        for key in _NOT_READY:
            written = node_edits.remove_taints(written, key)
        return written

    return Remedy(
        "node-ready",
        f"{node} becomes Ready",
        edit_node(node, recover),
        effort=2,
        command=kubectl("describe", "node", node),
        reach=Reach.NODE,
    )


def _finish_starting(node: str, key: str) -> Remedy:
    return _lose_taint("node-started", f"the agent behind taint {key} removes it from {node}", node, key)


def _end_condition(node: str, key: str) -> Remedy:
    return _lose_taint("end-node-condition", f"condition {_CONDITIONS[key]} of {node} becomes False", node, key)


def _lose_taint(kind: str, text: str, node: str, key: str) -> Remedy:
    """Return that a node loses a taint by whoever put it there, which begins with a look at the node."""
    return Remedy(
        kind,
        text,
        edit_node(node, lambda written: node_edits.remove_taints(written, key)),
        effort=2,
        command=kubectl("describe", "node", node),
        reach=Reach.NODE,
    )
