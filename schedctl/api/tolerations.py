"""Taints and tolerations: which taints a pod can live with (KEP-166; ``v1.Toleration.ToleratesTaint``).

The operators Lt and Gt (KEP-5471) are behind a feature gate that is off by default: such tolerations cover nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from schedctl.api.nodes import Taint
from schedctl.api.pods import Toleration

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"
HARD_EFFECTS = frozenset((NO_SCHEDULE, NO_EXECUTE))
"""The effects that keep a pod off a node; PreferNoSchedule only costs the node points."""
_AUTOMATIC_PREFIXES = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    "karpenter.sh/",
    "readiness.k8s.io/",
    "aws-node-termination-handler/",
    "cloud.google.com/impending-node-termination",
)
_AUTOMATIC_SUFFIXES = ("agent-not-ready", "/not-ready", "/out-of-service")
"""How the keys begin and end of taints that controllers, autoscalers and agents of a node set and remove."""


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Return whether one toleration covers one taint: an empty effect or key covers any."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def is_automatic(key: str) -> bool:
    """Return whether Kubernetes or another machine sets and removes taints of a key, as they say how a node is.

    To tolerate or remove such a taint would hide the problem.
    """
    return key.startswith(_AUTOMATIC_PREFIXES) or key.endswith(_AUTOMATIC_SUFFIXES)


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether any of the tolerations covers the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def first_untolerated(
    taints: Iterable[Taint], tolerations: Collection[Toleration], effects: Collection[str] = HARD_EFFECTS
) -> Taint | None:
    """Return the first taint with one of the effects that no toleration covers, in the node's order."""
    for taint in taints:
        if taint.effect in effects and not is_tolerated(taint, tolerations):
            return taint
    return None
