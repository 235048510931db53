"""From the evidence of a refusal to the changes that would undo it on that node, the most likely one first.

One entry for each in-tree reason; a reason without an entry has no remedy that is known. Nothing is tried here.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedctl.api.nodes import Taint
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import wording
from schedctl.explain.changes import Change
from schedctl.explain.cluster_changes import UNSCHEDULABLE_TAINT, ClearTaint, RemovePods, Uncordon
from schedctl.explain.evidence import Evidence, Refused
from schedctl.explain.pod_changes import (
    DropNodeAffinity,
    DropNodeSelector,
    DropPodAffinity,
    DropPodAntiAffinity,
    LowerRequest,
    RaiseMaxSkew,
    SoftenSpread,
    Tolerate,
)

_KUBERNETES_TAINTS = "node.kubernetes.io/"
_MOST_PODS = 3
"""More running pods than this are not advised to be removed."""


def remedies(refused: Refused) -> tuple[Change, ...]:
    """Return the changes that together might undo a refusal on its node; empty where none is known."""
    remedy = _REMEDIES.get(refused.reference)
    return tuple(remedy(refused.node, refused.evidence)) if remedy else ()


def whole_pod_remedies(pod: PodInfo, plugin: str) -> tuple[Change, ...]:
    """Return the changes that might undo a refusal of the pod as a whole by a plugin's PreFilter."""
    if "NodeAffinity" not in plugin:
        return ()
    affinity = pod.pod.spec.affinity and pod.pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    terms = (required.node_selector_terms if required else None) or ()
    written = [
        wording.requirement(msgspec.to_builtins(each))
        for term in terms
        for each in (*(term.match_expressions or ()), *(term.match_fields or ()))
    ]
    return (DropNodeAffinity(", ".join(written)),) if written else ()


def _room(node: str, evidence: Evidence) -> list[Change]:
    free = evidence["capacity"] - evidence["used"]
    return [LowerRequest.to(evidence["resource"], free)] if free > 0 else []


def _taint(node: str, evidence: Evidence) -> list[Change]:
    taint = msgspec.convert(evidence["taint"], Taint)
    if taint.key == UNSCHEDULABLE_TAINT:
        return [Uncordon(node)]
    if taint.key.startswith(_KUBERNETES_TAINTS):
        return [ClearTaint(node, taint.key)]
    return [Tolerate(taint)]


def _labels(node: str, evidence: Evidence) -> list[Change]:
    selector, *terms = evidence["unmet"]
    found: list[Change] = []
    if selector:
        written = ", ".join(map(wording.requirement, selector))
        found.append(DropNodeSelector(tuple(each["key"] for each in selector), written))
    if terms and all(terms):
        nearest = min(terms, key=len)
        found.append(DropNodeAffinity(", ".join(map(wording.requirement, nearest))))
    return found


def _ports(node: str, evidence: Evidence) -> list[Change]:
    return _without(sorted({pod for _, pods in evidence["collisions"] for pod in pods}))


def _company(node: str, evidence: Evidence) -> list[Change]:
    return [DropPodAffinity(evidence["cause"]["topologyKey"])]


def _unwanted(node: str, evidence: Evidence) -> list[Change]:
    cause = evidence["cause"]
    return _without(cause["pods"]) or [DropPodAntiAffinity(cause["topologyKey"])]


def _repelled(node: str, evidence: Evidence) -> list[Change]:
    return _without(evidence["cause"]["pods"])


def _without(pods: list[str]) -> list[Change]:
    return [RemovePods(tuple(pods))] if 0 < len(pods) <= _MOST_PODS else []


def _skewed(node: str, evidence: Evidence) -> list[Change]:
    skew = evidence["count"] + evidence["selfMatch"] - evidence["minimum"]
    return [RaiseMaxSkew(evidence["topologyKey"], skew)]


_REMEDIES: dict[str, Callable[[str, Evidence], list[Change]]] = {
    "inter-pod-affinity/repelled": _repelled,
    "inter-pod-affinity/unmatched": _company,
    "inter-pod-affinity/unwanted": _unwanted,
    "node-affinity/unmatched": _labels,
    "node-ports/taken": _ports,
    "node-resources-fit/insufficient": _room,
    "node-unschedulable/cordoned": lambda node, evidence: [Uncordon(node)],
    "pod-topology-spread/missing": lambda node, evidence: [SoftenSpread(evidence["topologyKey"])],
    "pod-topology-spread/skewed": _skewed,
    "taint-toleration/untolerated": _taint,
}
