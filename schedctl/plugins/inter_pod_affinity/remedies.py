"""What would undo a rejection of InterPodAffinity: terms that only prefer or are dropped, or pods that go."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedctl.api.meta import controller_of
from schedctl.api.pods import Pod, PodAffinity, WeightedPodAffinityTerm
from schedctl.api.topology import HOSTNAME
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
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
_MOST_WEIGHT = 100
_replace = msgspec.structs.replace


def remedies(pod: PodInfo, rejection: Rejection) -> Remedies:
    """Return that the pod no longer requires the term, or that the pods in the way go."""
    cause = rejection.evidence.get("cause")
    if cause is None:
        return []
    key = cause["topologyKey"]
    match rejection.reference:
        case "inter-pod-affinity/repelled":
            return _remove(cause)
        case "inter-pod-affinity/unwanted":
            # Of a lone pod there is no other that it keeps away from by the same rule.
            narrow = [_narrow_anti_affinity(key)] if controller_of(pod.pod) and key != HOSTNAME else []
            return [*narrow, _prefer_anti_affinity(key), *_remove(cause)]
        case "inter-pod-affinity/unmatched":
            condition = f"it does not require pod affinity over {key}"
            namespaces = [_select_namespace(cause["selector"], name) for name in list(cause["elsewhere"])[:_FEW]]
            return [*namespaces, _drop_affinity(condition, key)]
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


def _drop_affinity(condition: str, topology_key: str) -> Remedy:
    def drop(pod: Pod) -> Pod:
        affinity = pod.spec.affinity
        rules = affinity.pod_affinity if affinity is not None else None
        if affinity is None or rules is None:
            return pod
        terms = rules.required_during_scheduling_ignored_during_execution or ()
        kept = [term for term in terms if term.topology_key != topology_key]
        changed = _replace(affinity, pod_affinity=_replace(rules, **{_REQUIRED: kept or None}))
        return _replace(pod, spec=_replace(pod.spec, affinity=changed))

    return Remedy("drop-pod-affinity", condition, edit_pod(drop), effort=4, subject=topology_key, reach=Reach.RULE)


# -- anti-affinity ---------------------------------------------------------------


def _prefer_anti_affinity(topology_key: str) -> Remedy:
    def prefer(rules: PodAffinity) -> PodAffinity:
        required = rules.required_during_scheduling_ignored_during_execution or ()
        preferred = rules.preferred_during_scheduling_ignored_during_execution or ()
        kept = [term for term in required if term.topology_key != topology_key]
        softened = [
            WeightedPodAffinityTerm(weight=_MOST_WEIGHT, pod_affinity_term=term)
            for term in required
            if term.topology_key == topology_key
        ]
        return PodAffinity(kept or None, [*preferred, *softened] or None)

    return Remedy(
        "prefer-pod-anti-affinity",
        f"its pod anti-affinity over {topology_key} is preferred, not required",
        _edit_anti_affinity(prefer),
        effort=4,
        subject=topology_key,
        reach=Reach.RULE,
    )


def _narrow_anti_affinity(topology_key: str) -> Remedy:
    def narrow(rules: PodAffinity) -> PodAffinity:
        required = rules.required_during_scheduling_ignored_during_execution or ()
        changed = [
            _replace(term, topology_key=HOSTNAME) if term.topology_key == topology_key else term for term in required
        ]
        return _replace(rules, **{_REQUIRED: changed or None})

    return Remedy(
        "narrow-pod-anti-affinity",
        f"its pod anti-affinity is over {HOSTNAME} instead of {topology_key}",
        _edit_anti_affinity(narrow),
        effort=3,
        subject=topology_key,
        reach=Reach.RULE,
    )


def _edit_anti_affinity(change: Callable[[PodAffinity], PodAffinity]) -> Callable[[Pod, Cluster], Pod]:
    """Return the edit of a pod's rules that its controller's other pods get too, as they would reject it by theirs."""

    def edited(pod: Pod) -> Pod:
        affinity = pod.spec.affinity
        rules = affinity.pod_anti_affinity if affinity is not None else None
        if affinity is None or rules is None:
            return pod
        changed = _replace(affinity, pod_anti_affinity=change(rules))
        return _replace(pod, spec=_replace(pod.spec, affinity=changed))

    def edit(pod: Pod, cluster: Cluster) -> Pod:
        controller = controller_of(pod)
        for info in list(cluster.pod_table) if controller is not None else ():
            if info.namespace == pod.metadata.namespace and controller_of(info.pod) == controller:
                cluster.remove_pod(info)
                cluster.add_pod(PodInfo(edited(info.pod)))
        return edited(pod)

    return edit
