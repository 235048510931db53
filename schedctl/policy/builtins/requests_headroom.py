"""``headroom`` of what pods may request: by namespace, whose ResourceQuotas say how much, or by a label of pods.

Pods count from when they are created, whether they have a node or not, so that pending ones are no doubt here; those
that admission rejects are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schedctl.documents.spelling import nearest
from schedctl.policy.builtins.amounts_needed import compare_with_need, in_units, percent_missing
from schedctl.policy.documents import Headroom
from schedctl.policy.findings import Finding, Judged, View
from schedctl.policy.judged_namespaces import judged_namespaces
from schedctl.policy.namespaces import Demand, bounds, created_pods, quotas_of
from schedctl.reports.checks import CheckOutcome

_QUOTAS: Final = "`kubectl get resourcequotas --all-namespaces -o yaml` lists those of a cluster"


def judge(view: View, arguments: Headroom) -> Iterator[Finding]:
    """Judge each namespace, or the pods with each value of a label: enough is left of what they may request."""
    yield from _by_label(view, arguments) if arguments.by_pod_label else _by_namespace(view, arguments)


def _by_namespace(view: View, arguments: Headroom) -> Iterator[Finding]:
    for namespace in judged_namespaces(view):
        about = Judged.of_namespace(namespace, view.situation)
        left = bounds(quotas_of(view.situation, namespace))
        if left is None:
            yield _inconclusive("the use of the quota is not counted", about)
        elif arguments.resource not in left:
            message = f"no ResourceQuota of the namespace limits what all of its pods request of {arguments.resource}"
            yield _inconclusive(message, about, _QUOTAS)
        else:
            free, hard = left[arguments.resource]
            yield _compare(arguments, free, hard, about, view.facts.in_namespaces.rejected_names(namespace))


def _by_label(view: View, arguments: Headroom) -> Iterator[Finding]:
    key, resource = arguments.by_pod_label, arguments.resource
    demands: dict[str, Demand] = {}
    for info, scheduled in created_pods(view.situation):
        demands.setdefault(info.labels.get(key, ""), Demand()).add(info, scheduled)
    pods = [pod for judged in view.workloads for pod in judged.pods]
    rejected = view.facts.in_namespaces.rejected_names("")
    for value in sorted({pod.info.labels.get(key, "") for pod in pods}):
        about = Judged.of_pods(key, value)
        if value not in arguments.limits:
            close = nearest(value, sorted(arguments.limits)) if value else ""
            hint = f"did you mean {close}?" if close else f"`limits` has {', '.join(sorted(arguments.limits))}"
            yield _inconclusive(f"no limit for {about.subject}", about, hint)
            continue
        limit = in_units(resource, arguments.limits[value])
        requested = demands.get(value, Demand()).requested.get(resource, 0)
        yield _compare(arguments, limit - requested, limit, about, rejected)


def _compare(arguments: Headroom, free: int, limit: int, about: Judged, rejected: str) -> Finding:
    message, needed = compare_with_need(arguments, free, limit)
    if free < needed:
        violates = percent_missing(arguments.resource, free, needed)
        return Finding(CheckOutcome.VIOLATED, message, about=about, violates=violates)
    if rejected:
        return _inconclusive(f"{message}, without pods that would not exist ({rejected})", about)
    return Finding(CheckOutcome.PASSED, message, about=about)


def _inconclusive(message: str, about: Judged, hint: str = "") -> Finding:
    return Finding(CheckOutcome.INCONCLUSIVE, message, hints=(hint,) if hint else (), about=about)
