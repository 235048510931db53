"""What preemption would cost: the nodes where it makes room, why one of them, who would be evicted, and what then.

Candidates and victims are the plugin's to tell, and must be read before the cluster changes. What becomes of the
victims kube-scheduler leaves to their controllers; `place_victims` plays it through on a fork.
"""

from __future__ import annotations

from msgspec.structs import replace

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.assumptions import FILTERING
from schedctl.engine.attempts import Attempt
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.engine.faults import CycleError
from schedctl.engine.filtering import Filtering, filter_column
from schedctl.errors import NotModelled
from schedctl.explain.evidence import rejections_by
from schedctl.explain.plugin_texts import collect
from schedctl.framework import wording
from schedctl.framework.pod_edits import as_pending
from schedctl.framework.points import PostFilterPlugin, PostFilterResult
from schedctl.framework.statuses import Code
from schedctl.reports import counts
from schedctl.reports.explanations import Outlook, Preemption, Victim
from schedctl.scheduler.schedulers import Scheduler

_KEEPS_DEVICES, _KEEPS_VOLUMES = "DynamicResources", "NodeVolumeLimits"
"""The plugins to which an eviction may free nothing: devices are their claims', volumes stay attached."""


def outlook(outcome: Attempt) -> tuple[Outlook | None, str]:
    """Return what it would take for the pod to run, and the same in words where that is news.

    Nothing is said where filters guess, or extenders refuse: what they would say of empty nodes nobody knows.
    """
    if any(each.point in FILTERING for each in outcome.assumptions):
        return None, ""
    if outcome.chosen:
        return Outlook.FITS, ""
    if outcome.filtering is None or outcome.evaluated_column is None or outcome.error:
        return None, ""
    if outcome.post_filter is not None and outcome.post_filter.nominated_node:
        return Outlook.FITS_AFTER_PREEMPTION, ""
    if outcome.consultation is not None and outcome.consultation.rejected:
        return None, ""
    empty = outcome.evaluated_column.without_pods()
    try:
        with outcome.cluster.seal():
            found = filter_column(outcome.profile, outcome.cycle, empty)
    except CycleError as fault:
        return None, f"what the pod would do on empty nodes is unknown: {fault}"
    names = [name for name, fit in zip(empty.names, found.feasible.tolist(), strict=True) if fit]
    if not names:
        return Outlook.FITS_NOWHERE, _nowhere(outcome.filtering, found)
    return Outlook.FITS_EMPTY_NODE, f"the pod would fit on {wording.few(sorted(names))} if no pod ran there"


def _nowhere(filtering: Filtering, emptied: Filtering) -> str:
    """Return that a pod fits nowhere even on empty nodes, "" where running pods are in its way nowhere."""
    kept = _kept_resources(emptied)
    # Beside a misspelt label the sentence would contradict the fix: nobody had thought of running pods.
    if not kept and not (filtering.codes == Code.UNSCHEDULABLE).any():
        return ""
    return "; ".join(("the pod would fit on no node, even if it were empty", *kept))


def _kept_resources(found: Filtering) -> list[str]:
    """What evictions would leave behind on nodes that are refused because of it."""
    parts = []
    if any(refusal.plugin == _KEEPS_DEVICES for refusal in found.refusals):
        parts.append("devices would stay with their claims")
    if any(refused.evidence.get("used") for refused in rejections_by(found, _KEEPS_VOLUMES)):
        parts.append("volumes would stay attached until they are detached")
    return parts


def preemption(outcome: Attempt) -> Preemption:
    """Return what PostFilter achieved; what becomes of the victims is left open."""
    result = outcome.post_filter
    if result is None:
        return Preemption()
    answer = Preemption(
        tried=True,
        code=result.status.code.label,
        plugin=result.status.plugin,
        message=result.status.message,
        nominated_node=result.nominated_node or "",
        victims=sorted(info.key for info in result.victims),
    )
    for plugin in outcome.profile.post_filter:
        answer = _add(plugin, result, answer)
    return answer


def _add(plugin: PostFilterPlugin, result: PostFilterResult, answer: Preemption) -> Preemption:
    """Return an answer with what a plugin adds to it; where it fails, with that."""
    faults: list[str] = []
    found = collect(
        plugin,
        "explain_preemption",
        lambda: [plugin.explain_preemption(result, answer)],
        Preemption,
        faults.append,
        expected="a Preemption",
    )
    if found and len(found[0].evictions) not in (0, len(result.victims)):
        number = counts.of(len(found[0].evictions), "eviction")
        faults.append(f"{plugin.name} failed: explain_preemption tells of {number}, expected {len(result.victims)}")
    if faults:
        return replace(answer, text="; ".join(filter(None, (answer.text, *faults))))
    return found[0]


def place_victims(scheduler: Scheduler, outcome: Attempt, answer: Preemption) -> Preemption:
    """Return the answer with the places the victims would find: the pod is placed first, then they are in turn.

    Args:
        scheduler: to play it through with; as before when the answer is there.
        outcome: the attempt; must be read out already.
        answer: what was read off it.
    """
    if outcome.post_filter is None or not answer.evictions:
        return answer
    with scheduler.fork():
        scheduler.make_room(outcome)
        again = scheduler.attempt(outcome.pod)
        if again.chosen:
            scheduler.place(again)
        evictions = [
            _place_victim(scheduler, victim, info)
            for victim, info in zip(answer.evictions, outcome.post_filter.victims, strict=True)
        ]
    return replace(answer, evictions=evictions)


def _place_victim(scheduler: Scheduler, victim: Victim, info: PodInfo) -> Victim:
    if victim.terminating:
        return victim
    pod = PodInfo(as_pending(info.pod))
    if scheduler.profile_of(pod) is None:
        return victim
    try:
        outcome = scheduler.attempt(pod)
    except NotModelled:
        return victim
    if outcome.chosen:
        scheduler.place(outcome)
    if assumptions_affecting_verdict(outcome):
        return victim
    where = f"one like it would find room on {outcome.chosen}" if outcome.chosen else "one like it would find no room"
    return replace(victim, elsewhere=outcome.chosen, text=f"{victim.text}; {where}")
