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
from schedctl.explain.cluster_changes import UNSCHEDULABLE_TAINT, ClearTaint, DeclareFeatures, RemovePods, Uncordon
from schedctl.explain.evidence import Evidence, Refused
from schedctl.explain.pod_changes import (
    DropHostPorts,
    DropNodeAffinity,
    DropNodeSelector,
    DropPodAffinity,
    DropPodAntiAffinity,
    DropRequest,
    LowerRequest,
    RaiseMaxSkew,
    SoftenSpread,
    Tolerate,
)
from schedctl.explain.reports import Reason

Remedy = tuple[Change, ...]
"""Changes that only together might undo a refusal."""

_KUBERNETES_TAINTS = "node.kubernetes.io/"
_MOST_PODS = 3
"""More running pods than this are not advised to be removed."""


def remedies(refused: Refused) -> list[Remedy]:
    """Return what might undo a refusal on its node, the best choice first; empty where nothing is known."""
    remedy = _REMEDIES.get(refused.reference)
    return remedy(refused.node, refused.evidence) if remedy else []


def whole_pod_remedy(pod: PodInfo, reason: Reason) -> Remedy:
    """Return the changes that might undo a refusal of the pod as a whole by PreFilter."""
    remedy = _REMEDIES.get(reason.reference)
    if remedy:
        return next(iter(remedy("", reason.evidence)), ())
    if "NodeAffinity" not in reason.plugin:
        return ()
    affinity = pod.pod.spec.affinity and pod.pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    terms = (required.node_selector_terms if required else None) or ()
    written = [
        wording.requirement(msgspec.to_builtins(each))
        for term in terms
        for each in (*(term.match_expressions or ()), *(term.match_fields or ()))
    ]
    return (DropNodeAffinity(", ".join(written)),) if required is not None else ()


def _room(node: str, evidence: Evidence) -> list[Remedy]:
    resource, free = evidence["resource"], evidence["capacity"] - evidence["used"]
    return [(LowerRequest.to(resource, free) if free > 0 else DropRequest(resource),)]


def _taint(node: str, evidence: Evidence) -> list[Remedy]:
    taint = msgspec.convert(evidence["taint"], Taint)
    if taint.key == UNSCHEDULABLE_TAINT:
        return [(Uncordon(node),)]
    if taint.key.startswith(_KUBERNETES_TAINTS):
        return [(ClearTaint(node, taint.key),)]
    return [(Tolerate(taint),)]


def _labels(node: str, evidence: Evidence) -> list[Remedy]:
    selector, *terms = evidence["unmet"]
    found: list[Change] = []
    if selector:
        written = ", ".join(map(wording.requirement, selector))
        found.append(DropNodeSelector(tuple(each["key"] for each in selector), written))
    if all(terms) and (terms or not selector):
        nearest = min(terms, key=len, default=())
        found.append(DropNodeAffinity(", ".join(map(wording.requirement, nearest))))
    return [tuple(found)]


def _ports(node: str, evidence: Evidence) -> list[Remedy]:
    ports = (f"{port['port']}/{port['protocol']}" for port, _ in evidence["collisions"])
    return [(DropHostPorts(tuple(ports)),)]


def _company(node: str, evidence: Evidence) -> list[Remedy]:
    return [(DropPodAffinity(evidence["cause"]["topologyKey"]),)]


def _unwanted(node: str, evidence: Evidence) -> list[Remedy]:
    cause = evidence["cause"]
    return [*_without(cause), (DropPodAntiAffinity(cause["topologyKey"]),)]


def _without(cause: Evidence) -> list[Remedy]:
    pods = cause["pods"]
    return [(RemovePods(tuple(pods)),)] if 0 < len(pods) <= _MOST_PODS else []


def _skewed(node: str, evidence: Evidence) -> list[Remedy]:
    skew = evidence["count"] + evidence["selfMatch"] - evidence["minimum"]
    return [(RaiseMaxSkew(evidence["topologyKey"], skew),)]


_REMEDIES: dict[str, Callable[[str, Evidence], list[Remedy]]] = {
    "inter-pod-affinity/repelled": lambda node, evidence: _without(evidence["cause"]),
    "inter-pod-affinity/unmatched": _company,
    "inter-pod-affinity/unwanted": _unwanted,
    "node-affinity/unmatched": _labels,
    "node-declared-features/unmatched": lambda node, evidence: [(DeclareFeatures(node, tuple(evidence["missing"])),)],
    "node-ports/taken": _ports,
    "node-resources-fit/insufficient": _room,
    "node-unschedulable/cordoned": lambda node, evidence: [(Uncordon(node),)],
    "pod-topology-spread/missing": lambda node, evidence: [(SoftenSpread(evidence["topologyKey"]),)],
    "pod-topology-spread/skewed": _skewed,
    "taint-toleration/untolerated": _taint,
}
