"""What InterPodAffinity wants to hear of: pods that come, go or are relabelled, and nodes that bring a domain."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.api.nodes import Node
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.framework.events import (
    Action,
    Hint,
    Registration,
    Resource,
    has_node,
    has_node_or_nomination,
    registers,
)
from schedctl.plugins.inter_pod_affinity.state import matches_all
from schedctl.releases import Release, ReleaseChange


def registrations(release: Release) -> tuple[Registration, ...]:
    """Return what InterPodAffinity of a release registers."""
    keeps_apart = _matches_any if release.includes(ReleaseChange.ANY_ANTI_AFFINITY_TERM) else matches_all
    counts = has_node_or_nomination if release.includes(ReleaseChange.NOMINATED_PODS) else has_node
    mutual = release.includes(ReleaseChange.MUTUAL_ANTI_AFFINITY)

    def after_assigned_pod(pod: PodInfo, before: PodInfo | None, after: PodInfo | None) -> Hint:
        """Did company come that was missed, or company go that either side could not bear?

        Terms that select namespaces by label are compared with an unlabelled namespace, as kube-scheduler does here.
        """
        if not all(counts(other) for other in (before, after) if other is not None):
            return Hint.SKIP
        terms, anti_terms = pod.required_affinity, pod.required_anti_affinity
        if before is not None and after is not None:
            joined = not matches_all(terms, before) and matches_all(terms, after)
            left = keeps_apart(anti_terms, before) and not keeps_apart(anti_terms, after)
            return Hint.QUEUE if joined or left else Hint.SKIP
        if after is not None:
            return Hint.QUEUE if matches_all(terms, after) else Hint.SKIP
        assert before is not None
        repelled = mutual and keeps_apart(before.required_anti_affinity, pod)
        return Hint.QUEUE if repelled or keeps_apart(anti_terms, before) else Hint.SKIP

    own_labels = (registers(Resource.TARGET_POD, Action.UPDATE_POD_LABEL),)
    return (
        registers(Resource.ASSIGNED_POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE, after_assigned_pod),
        *(own_labels if release.includes(ReleaseChange.OWN_LABELS) else ()),
        registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, _after_node),
    )


def _after_node(pod: PodInfo, before: Node | None, after: Node) -> Hint:
    now = after.metadata.labels or {}
    if before is None:
        domain = any(term.topology_key in now for term in pod.required_affinity)
        return Hint.QUEUE if domain or pod.required_anti_affinity else Hint.SKIP
    was = before.metadata.labels or {}
    # a node without the key was refused for affinity and admitted as to anti-affinity: gaining one helps only the
    # first, losing one only the second
    for term in pod.required_affinity:
        key = term.topology_key
        if key in now and was.get(key) != now[key]:
            return Hint.QUEUE
    for term in pod.required_anti_affinity:
        key = term.topology_key
        if key in was and now.get(key) != was[key]:
            return Hint.QUEUE
    return Hint.SKIP


def _matches_any(terms: Sequence[AffinityTerm], other: PodInfo) -> bool:
    return any(term.matches(other.namespace, None, other.labels) for term in terms)
