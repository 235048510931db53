"""What would undo a rejection of TaintToleration: a toleration, or a condition of the node that is mended."""

from __future__ import annotations

import msgspec

from schedctl.api import nodes, pods
from schedctl.cache import node_edits
from schedctl.framework.remedies import Rejection, Remedies, Remedy, edit_node, edit_pod, uncordon
from schedctl.framework.wording import taint as written_taint

_KUBERNETES_TAINTS = "node.kubernetes.io/"
_replace = msgspec.structs.replace


def remedies(rejection: Rejection) -> Remedies:
    """Return that the pod tolerates the taint, or, where it tells of a condition of the node, that it goes."""
    if rejection.reference != "taint-toleration/untolerated":
        return []
    taint = msgspec.convert(rejection.evidence["taint"], nodes.Taint)
    if taint.key == node_edits.UNSCHEDULABLE_TAINT.key:
        return [uncordon(rejection.node)]
    if taint.key.startswith(_KUBERNETES_TAINTS):  # to tolerate not-ready would hide the problem
        return [_clear_taint(rejection.node, taint.key)]
    return [_tolerate(taint)]


def _tolerate(taint: nodes.Taint) -> Remedy:
    toleration = pods.Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)

    def add(pod: pods.Pod) -> pods.Pod:
        return _replace(pod, spec=_replace(pod.spec, tolerations=[*(pod.spec.tolerations or ()), toleration]))

    condition = f"it tolerated {written_taint(msgspec.to_builtins(taint))}"
    return Remedy("add-toleration", condition, edit_pod(add), effort=2, subject=taint)


def _clear_taint(node: str, key: str) -> Remedy:
    return Remedy(
        "clear-taint",
        f"{node} lost its taint {key}",
        edit_node(node, lambda written: node_edits.remove_taints(written, key)),
        effort=2,
        command=f"kubectl describe node {node}",
    )
