"""What would undo a rejection of NodeAffinity: requirements on node labels that are dropped."""

from __future__ import annotations

import msgspec

from schedctl.api.pods import Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.remedies import Reach, Rejection, Remedies, Remedy, edit_pod
from schedctl.framework.wording import requirement

_REQUIRED = "required_during_scheduling_ignored_during_execution"
_replace = msgspec.structs.replace


def remedies(pod: PodInfo, rejection: Rejection) -> Remedies:
    """Return that the pod no longer asks for what the node does not have."""
    if rejection.reference != "node-affinity/unmatched":
        return [] if rejection.node else _whole_pod(pod)
    selector, *terms = rejection.evidence["unmet"]
    found = []
    if selector:
        written = ", ".join(map(requirement, selector))
        found.append(_drop_node_selector(tuple(each["key"] for each in selector), written))
    if all(terms) and (terms or not selector):
        nearest = min(terms, key=len, default=())
        found.append(_drop_node_affinity(", ".join(map(requirement, nearest))))
    return [tuple(found)]


def _whole_pod(pod: PodInfo) -> Remedies:
    """Return the remedy where the affinity leaves no node to search, which PreFilter finds out."""
    affinity = pod.pod.spec.affinity and pod.pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is None:
        return []
    written = [
        requirement(msgspec.to_builtins(each))
        for term in required.node_selector_terms or ()
        for each in (*(term.match_expressions or ()), *(term.match_fields or ()))
    ]
    return [_drop_node_affinity(", ".join(written))]


def _drop_node_selector(keys: tuple[str, ...], written: str) -> Remedy:
    def drop(pod: Pod) -> Pod:
        kept = {key: value for key, value in (pod.spec.node_selector or {}).items() if key not in keys}
        return _replace(pod, spec=_replace(pod.spec, node_selector=kept or None))

    condition = f"its nodeSelector does not require {written}"
    return Remedy("drop-node-selector", condition, edit_pod(drop), effort=3, subject=keys, reach=Reach.RULE)


def _drop_node_affinity(written: str) -> Remedy:
    def drop(pod: Pod) -> Pod:
        affinity = pod.spec.affinity
        if affinity is None or affinity.node_affinity is None:
            return pod
        dropped = _replace(affinity, node_affinity=_replace(affinity.node_affinity, **{_REQUIRED: None}))
        return _replace(pod, spec=_replace(pod.spec, affinity=dropped))

    condition = f"its nodeAffinity does not require {written or 'what no node can have'}"
    return Remedy("drop-node-affinity", condition, edit_pod(drop), effort=3, reach=Reach.RULE)
