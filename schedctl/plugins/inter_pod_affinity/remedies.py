"""What would undo a rejection of InterPodAffinity: terms that are dropped, or pods that go."""

from __future__ import annotations

from typing import Literal

import msgspec

from schedctl.api.pods import Pod, PodAffinity
from schedctl.framework.remedies import (
    MOST_REMOVED_PODS,
    Evidence,
    Reach,
    Rejection,
    Remedies,
    Remedy,
    edit_pod,
    remove_pods,
)

_REQUIRED = "required_during_scheduling_ignored_during_execution"
_FEW = 2
"""For how many namespaces it is tried that the affinity looks there."""
_replace = msgspec.structs.replace


def remedies(rejection: Rejection) -> Remedies:
    """Return that the pods in the way go, or that the pod no longer requires the term."""
    cause = rejection.evidence.get("cause")
    if cause is None:
        return []
    key = cause["topologyKey"]
    match rejection.reference:
        case "inter-pod-affinity/repelled":
            return _remove(cause)
        case "inter-pod-affinity/unwanted":
            condition = f"it does not require pod anti-affinity over {key}"
            return [*_remove(cause), _drop_terms("drop-pod-anti-affinity", condition, "pod_anti_affinity", key)]
        case "inter-pod-affinity/unmatched":
            condition = f"it does not require pod affinity over {key}"
            namespaces = [_select_namespace(cause["selector"], name) for name in list(cause["elsewhere"])[:_FEW]]
            return [*namespaces, _drop_terms("drop-pod-affinity", condition, "pod_affinity", key)]
    return []


def _select_namespace(selector: str, namespace: str) -> Remedy:
    def look_there(pod: Pod) -> Pod:
        affinity = pod.spec.affinity
        rules = affinity.pod_affinity if affinity is not None else None
        if affinity is None or rules is None:
            return pod
        terms = rules.required_during_scheduling_ignored_during_execution or ()
        # One pod must match all required terms, so all of them look into the same namespace.
        changed = [_replace(term, namespaces=[namespace], namespace_selector=None) for term in terms]
        rules = _replace(rules, required_during_scheduling_ignored_during_execution=changed or None)
        return _replace(pod, spec=_replace(pod.spec, affinity=_replace(affinity, pod_affinity=rules)))

    condition = f"its pod affinity to {selector or 'any pod'} has `namespaces: [{namespace}]`"
    return Remedy("select-namespace", condition, edit_pod(look_there), effort=1, subject=(selector, namespace))


def _remove(cause: Evidence) -> list[Remedy]:
    return [remove_pods(cause["pods"])] if 0 < len(cause["pods"]) <= MOST_REMOVED_PODS else []


def _drop_terms(
    kind: str, condition: str, field: Literal["pod_affinity", "pod_anti_affinity"], topology_key: str
) -> Remedy:
    def drop(pod: Pod) -> Pod:
        affinity = pod.spec.affinity
        rules: PodAffinity | None = getattr(affinity, field) if affinity is not None else None
        if affinity is None or rules is None:
            return pod
        terms = rules.required_during_scheduling_ignored_during_execution or ()
        kept = [term for term in terms if term.topology_key != topology_key]
        changed = _replace(affinity, **{field: _replace(rules, **{_REQUIRED: kept or None})})
        return _replace(pod, spec=_replace(pod.spec, affinity=changed))

    return Remedy(kind, condition, edit_pod(drop), effort=4, subject=topology_key, reach=Reach.RULE)
