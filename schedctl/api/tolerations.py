"""Taints and tolerations: which taints a pod can live with (KEP-166; ``v1.Toleration.ToleratesTaint``).

The operators Lt and Gt (KEP-5471) compare numbers where the gate TaintTolerationComparisonOperators is on; where it is
off such tolerations cover nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

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
COMPARISONS: Final = frozenset(("Lt", "Gt"))
"""The operators that compare the values of taint and toleration as numbers."""
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*")
"""A whole number as people write it: without plus sign or leading zeros."""


def tolerates(toleration: Toleration, taint: Taint, compares: bool) -> bool:
    """Return whether one toleration covers one taint: an empty effect or key covers any.

    Args:
        toleration: of the pod.
        taint: of the node.
        compares: whether Lt and Gt compare numbers, or cover nothing.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    if compares and toleration.operator in COMPARISONS:
        return _is_beyond(taint.value, toleration)
    return toleration.operator == "Exists"


def comparable_number(value: str) -> int | None:
    """Return the number that Lt and Gt compare a value as, None where it is no int64."""
    number = int(value) if len(value) <= len("-9223372036854775808") and _INTEGER.fullmatch(value) else None
    return number if number is not None and -(1 << 63) <= number < 1 << 63 else None


def _is_beyond(value: str, bound: Toleration) -> bool:
    """Return whether the value of a taint is a number below the bound of a toleration (Lt), or above it (Gt)."""
    number, limit = comparable_number(value), comparable_number(bound.value)
    if number is None or limit is None:
        return False
    return number < limit if bound.operator == "Lt" else number > limit


def is_automatic(key: str) -> bool:
    """Return whether Kubernetes or another machine sets and removes taints of a key, as they say how a node is.

    To tolerate or remove such a taint would hide the problem.
    """
    return key.startswith(_AUTOMATIC_PREFIXES) or key.endswith(_AUTOMATIC_SUFFIXES)


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration], compares: bool) -> bool:
    """Return whether any of the tolerations covers the taint."""
    return any(tolerates(toleration, taint, compares) for toleration in tolerations)


def first_untolerated(
    taints: Iterable[Taint],
    tolerations: Collection[Toleration],
    compares: bool,
    effects: Collection[str] = HARD_EFFECTS,
) -> Taint | None:
    """Return the first taint with one of the effects that no toleration covers, in the node's order."""
    for taint in taints:
        if taint.effect in effects and not is_tolerated(taint, tolerations, compares):
            return taint
    return None
