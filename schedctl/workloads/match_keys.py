"""``matchLabelKeys`` and ``mismatchLabelKeys``, which the API server merges into selectors when a pod is created."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from schedctl.api import pods
from schedctl.api.meta import LabelSelector, LabelSelectorRequirement
from schedctl.releases import Release

T = TypeVar("T")
_replace = msgspec.structs.replace


_SPREAD_GATES = ("MatchLabelKeysInPodTopologySpread", "MatchLabelKeysInPodTopologySpreadSelectorMerge")


def merge_match_label_keys(spec: pods.PodSpec, labels: Mapping[str, str], release: Release) -> pods.PodSpec:
    """Return a pod's spec whose affinity and topology spread select by the values that its labels have.

    Those of topology spread are merged where both gates for it are on.
    """
    spec = _replace(spec, affinity=_affinity_with_keys(spec.affinity, labels))
    if not all(map(release.enabled, _SPREAD_GATES)):
        return spec
    return _replace(
        spec,
        topology_spread_constraints=_each(
            spec.topology_spread_constraints, lambda constraint: _spread_with_keys(constraint, labels)
        ),
    )


def _affinity_with_keys(affinity: pods.Affinity | None, labels: Mapping[str, str]) -> pods.Affinity | None:
    """Merge ``matchLabelKeys`` and ``mismatchLabelKeys`` into the selectors (KEP-3633)."""
    if affinity is None:
        return None
    return _replace(
        affinity,
        pod_affinity=_terms_with_keys(affinity.pod_affinity, labels),
        pod_anti_affinity=_terms_with_keys(affinity.pod_anti_affinity, labels),
    )


def _terms_with_keys(affinity: pods.PodAffinity | None, labels: Mapping[str, str]) -> pods.PodAffinity | None:
    if affinity is None:
        return None

    def term(term: pods.PodAffinityTerm) -> pods.PodAffinityTerm:
        selector = _with_keys(term.label_selector, term.match_label_keys, "In", labels)
        return _replace(term, label_selector=_with_keys(selector, term.mismatch_label_keys, "NotIn", labels))

    def weighted_term(weighted: pods.WeightedPodAffinityTerm) -> pods.WeightedPodAffinityTerm:
        return _replace(weighted, pod_affinity_term=term(weighted.pod_affinity_term))

    return _replace(
        affinity,
        required_during_scheduling_ignored_during_execution=_each(
            affinity.required_during_scheduling_ignored_during_execution, term
        ),
        preferred_during_scheduling_ignored_during_execution=_each(
            affinity.preferred_during_scheduling_ignored_during_execution, weighted_term
        ),
    )


def _spread_with_keys(
    constraint: pods.TopologySpreadConstraint, labels: Mapping[str, str]
) -> pods.TopologySpreadConstraint:
    """Merge ``matchLabelKeys`` into the selector (KEP-3243)."""
    return _replace(
        constraint, label_selector=_with_keys(constraint.label_selector, constraint.match_label_keys, "In", labels)
    )


def _with_keys(
    selector: LabelSelector | None, keys: Iterable[str] | None, operator: str, labels: Mapping[str, str]
) -> LabelSelector | None:
    if selector is None:  # selects nothing, and a term with keys only would select more
        return None
    added = [
        LabelSelectorRequirement(key=key, operator=operator, values=[labels[key]])
        for key in keys or ()
        if key in labels
    ]
    if not added:
        return selector
    return _replace(selector, match_expressions=[*(selector.match_expressions or ()), *added])


def _each(items: list[T] | None, change: Callable[[T], T]) -> list[T] | None:
    return None if items is None else [change(item) for item in items]
