"""What kube-scheduler has said of a pod, beside this answer: the pod's own condition, and events about it.

Neither tells exactly when its words were true, so what has changed in the cluster since can only be named, not proved
to be the cause.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedctl.api.events import FAILED, Event
from schedctl.api.pods import Pod, PodCondition
from schedctl.api.times import unix_nanoseconds
from schedctl.cache.cluster import Cluster
from schedctl.explain import fit_error_lines
from schedctl.explain.fit_error_lines import DifferenceKind, FitErrorDifference
from schedctl.framework.wording import few
from schedctl.reports.explanations import Agreement, Explanation, LineDifference, RecordedMessage, Verdict

GATED = "SchedulingGated"
_replace = msgspec.structs.replace


def with_history(
    answer: Explanation, pod: Pod, cluster: Cluster, events: Sequence[Event] = (), *, supposed: bool = False
) -> Explanation:
    """Return an explanation with what was recorded about its pod.

    Args:
        answer: our answer.
        pod: the pod as it is in the state.
        cluster: the cluster it was asked on.
        events: the FailedScheduling events about it.
        supposed: whether the what-ifs changed the cluster.
    """
    condition = pod.scheduled_condition
    found: list[RecordedMessage] = []
    # A condition carries the whole line of the last attempt, and the time of the first refusal: it changes with the
    # status alone. An event carries 1,024 bytes, and one that happened again the words of its first time. So where
    # both have the same words, they are one record, with the times of the event.
    if condition is not None and condition.status != "True" and (condition.message or condition.reason == GATED):
        same = next(
            (event for event in reversed(events) if condition.message and event.message == condition.message), None
        )
        events = [event for event in events if event is not same]
        found.append(_of_condition(condition, same, answer, cluster, supposed))
    found += [_of_event(event, answer, cluster, supposed) for event in events]
    return _replace(answer, history=found)


def _of_condition(
    condition: PodCondition, same: Event | None, answer: Explanation, cluster: Cluster, supposed: bool
) -> RecordedMessage:
    """Return the record of a condition, with the times of the event that has the same words, if there is one."""
    since = condition.last_transition_time or ""
    record = RecordedMessage(
        source="Condition", message=condition.message, reason=condition.reason, first=since, text="its condition"
    )
    if same is not None:
        record = _replace(record, count=same.times, first=same.first, last=same.last, reporter=same.reporter)
    if condition.reason == GATED and answer.verdict is Verdict.GATED:
        record = _replace(record, agreement=Agreement.AGREES)
    else:
        record = compare(record, answer, cluster, supposed)
    refused = f", {'gated' if record.reason == GATED else 'rejected'} since {since}" if since else ""
    event = f", and an event{_when(record)}" if same is not None else ""
    return _replace(record, text=f"its condition{refused}{event}: {_agreement_text(record)}")


def _of_event(event: Event, answer: Explanation, cluster: Cluster, supposed: bool) -> RecordedMessage:
    record = RecordedMessage(
        source="Event",
        message=event.message,
        reason=event.reason or FAILED,
        count=event.times,
        first=event.first,
        last=event.last,
        reporter=event.reporter,
    )
    record = compare(record, answer, cluster, supposed)
    return _replace(record, text=f"event{_when(record)}: {_agreement_text(record)}")


def _when(record: RecordedMessage) -> str:
    """Return how often, when and by whom something was said in an event."""
    often = f" {record.count} times" if record.count > 1 else ""
    when = (
        f" from {record.first} to {record.last}"
        if record.first != record.last
        else f" at {record.first}"
        if record.first
        else ""
    )
    who = f" by {record.reporter}" if record.reporter else ""
    return f"{often}{when}{who}"


def compare(record: RecordedMessage, answer: Explanation, cluster: Cluster, supposed: bool = False) -> RecordedMessage:
    """Return a record with whether our answer is the same, and what differs if it is not."""
    ours = answer.message or answer.error
    if ours and fit_error_lines.agree(record.message, ours):
        cut = fit_error_lines.is_cut(record.message)
        return _replace(record, agreement=Agreement.AGREES_AS_FAR if cut else Agreement.AGREES)
    found = (
        [in_words(each) for each in fit_error_lines.differences(record.message, ours)]
        if ours
        else [LineDifference(kind="Verdict", theirs=record.message, ours=answer.verdict.value, text=_verdict(answer))]
    )
    if not found:
        return _replace(record, agreement=Agreement.OTHER_WORDS)
    return _replace(
        record,
        agreement=Agreement.DIFFERS,
        differences=found,
        circumstances=list(_circumstances(record, answer, cluster, supposed)),
    )


def _agreement_text(record: RecordedMessage) -> str:
    return {
        Agreement.AGREES: "agrees",
        Agreement.AGREES_AS_FAR: "agrees up to its end (events are cut at 1,024 bytes)",
        Agreement.OTHER_WORDS: "agrees, in the wording of another version",
        Agreement.DIFFERS: "differs",
    }[record.agreement]


def _verdict(answer: Explanation) -> str:
    match answer.verdict:
        case Verdict.SCHEDULED if answer.pod.node_name:
            return f"it is bound to {answer.pod.node_name} now"
        case Verdict.SCHEDULED:
            return f"it would be placed on {answer.chosen} now"
        case Verdict.GATED:
            return "it waits for scheduling gates now"
        case Verdict.DELETING:
            return "it is terminating now"
        case Verdict.FOREIGN_SCHEDULER:
            return f"it belongs to scheduler {answer.pod.scheduler_name}"
        case _:
            return "schedctl has no FailedScheduling message to compare"


def in_words(each: FitErrorDifference) -> LineDifference:
    """Return a difference with its words."""
    return LineDifference(
        kind=each.kind.value,
        reason=each.reason,
        plugin=each.plugin,
        theirs=each.theirs,
        ours=each.ours,
        text=_difference_text(each),
    )


def _difference_text(each: FitErrorDifference) -> str:
    by = f"  [{each.plugin}]" if each.plugin else ""
    match each.kind:
        case DifferenceKind.NODES:
            return f"{each.theirs} nodes then, {each.ours} now"
        case DifferenceKind.GAINED:
            return f"{each.reason}: {_nodes(each.ours)} now, none then{by}"
        case DifferenceKind.LOST:
            return f"{each.reason}: {_nodes(each.theirs)} then, none now{by}"
        case DifferenceKind.COUNT:
            return f"{each.reason}: {_nodes(each.theirs)} then, {each.ours} now{by}"
        case DifferenceKind.PREEMPTION if not each.theirs:
            return f"preemption was not tried then{by}"
        case DifferenceKind.PREEMPTION if not each.ours:
            return f"preemption was not tried now{by}"
        case DifferenceKind.PREEMPTION:
            return f"preemption ended differently{by}"
        case DifferenceKind.TEXT:
            return f"now: {each.ours or 'nodes reject it one by one'}{by}"


def _nodes(count: int | str) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _circumstances(record: RecordedMessage, answer: Explanation, cluster: Cluster, supposed: bool) -> list[str]:
    """Return what has changed since something was said, as far as objects carry the time at which they came."""
    lines = []
    if supposed:
        lines.append("the what-ifs changed the cluster")
    if record.reporter and answer.pod.scheduler_name and record.reporter != answer.pod.scheduler_name:
        lines.append(f"{record.reporter} recorded it, but the pod belongs to {answer.pod.scheduler_name}")
    if not record.first:
        return lines
    then = unix_nanoseconds(record.first)
    nodes = cluster.nodes_by_name
    added = [
        name
        for name, row in zip(nodes.names, nodes.rows.tolist(), strict=True)
        if _later(cluster.node_table.objects[row].metadata.creation_timestamp, then)
    ]
    if added:
        lines.append(f"{_nodes(len(added))} created since: {few(added)}")
    bound = [info.key for info in cluster.pod_table if _later(binding_time(info.pod), then)]
    if bound:
        lines.append(f"{len(bound)} pod{'' if len(bound) == 1 else 's'} bound since: {few(sorted(bound))}")
    if not lines:
        lines.append("objects deleted or changed since then leave no trace in the state")
    return lines


def binding_time(pod: Pod) -> str:
    """Return when a pod was bound, to the second, "" where it does not say."""
    condition = pod.scheduled_condition
    return (condition.last_transition_time or "") if condition is not None and condition.status == "True" else ""


def _later(time: str | None, than: int) -> bool:
    return bool(time) and unix_nanoseconds(time or "") > than
