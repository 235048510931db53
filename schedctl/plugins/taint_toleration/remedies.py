"""What would undo a rejection of TaintToleration: a toleration, a word of one, or a condition of the node."""

from __future__ import annotations

import json

import msgspec

from schedctl.api import nodes, pods
from schedctl.cache import node_edits
from schedctl.framework.commands import kubectl
from schedctl.framework.remedies import Evidence, Reach, Rejection, Remedies, Remedy, edit_node, edit_pod, uncordon
from schedctl.framework.wording import taint as written_taint
from schedctl.plugins.taint_toleration.near_misses import KUBERNETES_TAINTS
from schedctl.plugins.taint_toleration.wording import WORDS
from schedctl.plugins.taint_toleration.wording import toleration as written_toleration

_replace = msgspec.structs.replace


def remedies(rejection: Rejection) -> Remedies:
    """Return that a toleration is corrected, or that the pod tolerates the taint; a condition of the node must go."""
    if rejection.reference != "taint-toleration/untolerated":
        return []
    taint = msgspec.convert(rejection.evidence["taint"], nodes.Taint)
    if taint.key == node_edits.UNSCHEDULABLE_TAINT.key:
        return [uncordon(rejection.node)]
    if taint.key.startswith(KUBERNETES_TAINTS):  # to tolerate not-ready would hide the problem
        return [_clear_taint(rejection.node, taint.key)]
    miss = rejection.evidence.get("nearMiss")
    return [_correct(miss) if miss else _tolerate(taint)]


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
    return Remedy("correct-toleration", condition, edit_pod(correct), effort=0 if miss["similar"] else 2, subject=after)


def _tolerate(taint: nodes.Taint) -> Remedy:
    toleration = pods.Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)

    def add(pod: pods.Pod) -> pods.Pod:
        return _replace(pod, spec=_replace(pod.spec, tolerations=[*(pod.spec.tolerations or ()), toleration]))

    condition = f"it tolerates {written_taint(msgspec.to_builtins(taint))}"
    return Remedy("add-toleration", condition, edit_pod(add), effort=2, subject=taint)


def _clear_taint(node: str, key: str) -> Remedy:
    return Remedy(
        "clear-taint",
        f"taint {key} is removed from {node}",
        edit_node(node, lambda written: node_edits.remove_taints(written, key)),
        effort=2,
        command=kubectl("describe", "node", node),
        reach=Reach.NODE,
    )
