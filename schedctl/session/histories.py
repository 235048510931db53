"""What schedulers have said of pods, read from the state and, of a live cluster, from its events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from schedctl.api.events import FAILED, PREEMPTED, SCHEDULED, Event
from schedctl.api.pods import Pod
from schedctl.errors import ClusterError
from schedctl.explain import histories
from schedctl.reports.explanations import Explanation

if TYPE_CHECKING:
    from schedctl.session.states import State


def with_history(
    results: Sequence[Explanation], objects: Sequence[Any], state: State, *, hypothetical: bool
) -> list[Explanation]:
    """Return explanations with what was recorded about their pods; a pod that is yet to be made has no history.

    Args:
        results: the explanations.
        objects: what was asked about.
        state: where that is from.
        hypothetical: whether the cluster was changed by what-ifs.
    """
    pods = {(obj.key, obj.metadata.uid): obj for obj in objects if isinstance(obj, Pod)}
    return [
        _with_record(each, pods.get((f"{each.pod.namespace}/{each.pod.name}", each.pod.uid)), state, hypothetical)
        for each in results
    ]


def read_decisions(state: State) -> tuple[list[Event], list[Event], list[Event], list[str]]:
    """Return the events that pods were scheduled, preempted and refused, and what is to be said if there are none."""
    if state.connection is None:
        return [], [], [], ["files hold no events: times are exact to the second, and deleted pods are unknown"]
    from schedctl.live import events

    try:
        found = [events.read_events(state.connection, reason) for reason in (SCHEDULED, PREEMPTED, FAILED)]
    except ClusterError as fault:
        return [], [], [], [f"events could not be read, so times are exact to the second: {fault}"]
    scheduled, preempted, failed = (each.events for each in found)
    return scheduled, preempted, failed, [each.note for each in found if each.note]


def _with_record(answer: Explanation, pod: Pod | None, state: State, hypothetical: bool) -> Explanation:
    if pod is None:
        return _add_note(answer, "a pod that is not created yet has no history")
    events, fault, note = _events(pod, state)
    annotated = histories.with_history(answer, pod, state.assembled.cluster, events, supposed=hypothetical)
    if note:
        annotated = _add_note(annotated, note)
    if fault:
        annotated = _add_note(annotated, f"its events could not be read: {fault}")
    elif not annotated.history and state.connection is None:
        annotated = _add_note(annotated, "files hold only the condition of the pod, which records no failed scheduling")
    elif not annotated.history:
        annotated = _add_note(
            annotated, "no failed scheduling is recorded: its condition has none, and events are kept for an hour"
        )
    return annotated


def _events(pod: Pod, state: State) -> tuple[list[Event], str, str]:
    """Return the pod's events, why they could not be read, if they could not, and what is to be said of them."""
    if state.connection is None or not pod.metadata.uid:
        return [], "", ""
    from schedctl.live import events

    try:
        found = events.read_events(state.connection, FAILED, pod)
    except ClusterError as fault:
        return [], str(fault), ""
    return found.events, "", found.note


def _add_note(answer: Explanation, note: str) -> Explanation:
    return msgspec.structs.replace(answer, notes=[*answer.notes, note])
