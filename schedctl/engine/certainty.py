"""Which assumptions of an attempt its answer rests on.

The rule errs on one side: an answer that it lets pass is that of the whole cluster, but for the reasons given with a
rejection; one that it holds back may be, too.
"""

from __future__ import annotations

from schedctl.engine.assumptions import FILTERING, PLACING, SCORING, AbsentPlugin, Assumption
from schedctl.engine.attempts import Attempt


def assumptions_affecting_verdict(outcome: Attempt) -> frozenset[Assumption]:
    """Return the assumptions of an attempt without which its answer (verdict, nodes, nomination) may be another.

    A PreFilter that assumes stands for the plugin's Filter, and a PreScore for its Score, whether they were asked or
    skipped.
    """
    assumptions = outcome.assumptions
    if not assumptions or outcome.error:
        return assumptions
    absent = frozenset(each for each in assumptions if each.kind is AbsentPlugin)
    return _affecting_reads(outcome, assumptions - absent) | {each for each in absent if _decides(outcome, each.point)}


def _decides(outcome: Attempt, point: str) -> bool:
    """Return whether a plugin that was not asked at a point could have changed the answer.

    It can only take nodes away from a pod, or put others first, so that a pod without any stays without.
    """
    if outcome.scoring is not None:
        return point in PLACING or (point in SCORING and len(outcome.scoring.nodes) > 1)
    result = outcome.post_filter
    return result is not None and (point == "postFilter" or (point in PLACING and bool(result.nominated_node)))


def _affecting_reads(outcome: Attempt, assumptions: frozenset[Assumption]) -> frozenset[Assumption]:
    """Return which of the assumptions of the plugins and extenders that were asked the answer rests on."""
    affecting = {each for each in assumptions if each.point == "preEnqueue"}
    filtering = {each for each in assumptions if each.point in FILTERING}
    if outcome.scoring is not None:
        affecting |= filtering
        if len(outcome.scoring.nodes) > 1:  # kube-scheduler does not score a single node
            affecting |= {each for each in assumptions if each.point in SCORING}
        return frozenset(affecting)
    nominates = outcome.post_filter is not None and outcome.post_filter.nominated_node
    if nominates or not _is_rejected_without(outcome, frozenset(each.plugin for each in filtering)):
        affecting |= filtering
    # preemption that found no node stands if it ran no filter that assumes
    return frozenset(affecting | {each for each in assumptions if each.point == "postFilter"})


def _is_rejected_without(outcome: Attempt, assuming: frozenset[str]) -> bool:
    """Return whether plugins that assume nothing reject the pod as a whole, or each node before any other does.

    What the others would say besides can only change the reasons that are given.
    """
    if "" in assuming:
        return False
    if outcome.pre_filter.is_rejected and outcome.pre_filter.plugin:
        return outcome.pre_filter.plugin not in assuming
    if outcome.narrowing_plugins & assuming:
        return False
    return outcome.filtering is None or not outcome.filtering.rejecting_plugins() & assuming
