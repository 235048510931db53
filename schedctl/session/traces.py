"""Traces: files of what happened step by step, written by ``--trace``, shown pod by pod, and compared.

A run writes its timeline. A single cycle, which has no queue and no clock, writes the records of one attempt for each
pod; pods that no cycle is run for (terminating, bound, of another scheduler) have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from schedctl.documents.findings import printable
from schedctl.documents.spelling import nearest
from schedctl.errors import InputError, Problem, UsageError
from schedctl.reports import exit_codes
from schedctl.reports.bindings import BindOutcome, BindReport
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.metadata import describe_unknown
from schedctl.reports.traces import (
    PlacementDifference,
    TraceDiff,
    TraceDiffSummary,
    TracedPod,
    TraceReport,
    TraceStep,
)
from schedctl.simulation import timeline
from schedctl.simulation.timeline import AnyRecord
from schedctl.simulation.timeline_wording import describe, pod_of

_ATTEMPTS = timeline.Chosen | timeline.Refused | timeline.Failed
LONGEST = 1 << 20
"""How many characters a line of a trace may have."""


def write(records: Iterable[AnyRecord], path: str) -> None:
    """Write records, a line of JSON for each.

    Raises:
        UsageError: they cannot be written there.
    """
    try:
        with Path(path).open("wb") as file:
            file.writelines(line + b"\n" for line in timeline.lines(records))
    except OSError as error:
        raise UsageError(f"the trace cannot be written to {path}: {(error.strerror or str(error)).lower()}") from None


def of_explanations(explanations: Iterable[Explanation]) -> Iterator[AnyRecord]:
    """Yield the attempt of each pod that explanations are about."""
    for each in explanations:
        for pod in each.pods or (f"{each.pod.namespace}/{each.pod.name}",):
            yield from _attempt(each, pod)


def _attempt(answer: Explanation, pod: str) -> Iterator[AnyRecord]:
    if answer.chosen:
        yield timeline.Chosen(0, pod, 1, answer.chosen, len(answer.ties), answer.nodes.feasible)
    reservation = answer.reservation
    match answer.verdict:
        case Verdict.SCHEDULED if reservation is not None and reservation.waits:
            yield timeline.Waiting(0, pod, answer.chosen, reservation.waits)
        case Verdict.UNSCHEDULABLE:
            nominated = answer.preemption.nominated_node
            yield timeline.Refused(0, pod, 1, answer.message, tuple(answer.unschedulable_plugins), nominated)
        case Verdict.GATED:
            yield timeline.Moved(0, pod, "Gated", message=answer.message or ", ".join(answer.gates))
        case Verdict.ERROR | Verdict.REJECTED:
            yield timeline.Failed(0, pod, 1, answer.error)
        case Verdict.INCONCLUSIVE:
            yield timeline.Unanswered(0, pod, describe_unknown(answer.guesses) or answer.error)


def of_bindings(reports: Iterable[BindReport]) -> Iterator[AnyRecord]:
    """Yield the attempt of each pod, and what became of its binding."""
    for report in reports:
        yield from of_explanations([report.decision])
        summary, node = report.summary, report.decision.chosen
        yield from _calls(report)
        ended = max((call.at for call in report.calls), default=0)
        if summary.outcome is BindOutcome.BOUND:
            yield timeline.Bound(ended, summary.pod, summary.node)
        elif summary.outcome is BindOutcome.REFUSED and node:
            yield timeline.Released(ended, summary.pod, node, summary.text)


def _calls(report: BindReport) -> Iterator[AnyRecord]:
    """Yield the calls of a binding cycle that was executed, and that Permit held the pod back."""
    pod, called = report.summary.pod, [call for call in report.calls if call.status]
    permits = sum(call.point in ("Reserve", "Permit") for call in called)
    for number, call in enumerate(called, 1):
        yield timeline.Called(call.at, pod, call.point, call.plugin, call.status, call.text)
        if number == permits and report.waits:
            until = {wait.plugin: call.at + wait.timeout for wait in report.waits}
            yield timeline.Waiting(call.at, pod, report.decision.chosen, until)


def read(path: str) -> list[AnyRecord]:
    """Return the records of a trace.

    Raises:
        InputError: it cannot be read, or a line is no record; carries the line.
    """
    records: list[AnyRecord] = []
    source = printable(path)
    number = 0
    try:
        with Path(path).open("rb") as file:
            while line := file.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise InputError([Problem("is longer than 1 MiB", source=source, line=number, hint=_HINT)])
                records += timeline.read([line])
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, OSError):
            message = f"cannot be read: {(error.strerror or str(error)).lower()}"
            raise InputError([Problem(message, source=source)]) from None
        message = f"is not a step of a trace: {printable(str(error), 200)}"
        raise InputError([Problem(message, source=source, line=number, hint=_HINT)]) from None
    return records


_HINT = "`--trace FILE` of simulate, explain and bind writes a trace"


def show(path: str, pod: str = "") -> TraceReport:
    """Return the life of a pod in a trace, or its pods where none is named and there are several.

    Args:
        path: the trace.
        pod: ``namespace/name``, or a name that only one pod has.

    Raises:
        InputError: the trace cannot be read.
        UsageError: the pod is not in it.
    """
    records = read(path)
    pods = dict.fromkeys(filter(None, map(pod_of, records)))
    chosen = _find_pod(pod, pods, path) if pod else next(iter(pods)) if len(pods) == 1 else ""
    if not chosen:
        return TraceReport(file=path, pods=[_end(each, records) for each in pods])
    steps = [
        _step(number, record)
        for number, record in enumerate(records, 1)
        if pod_of(record) == chosen or (isinstance(record, timeline.Evicted) and record.by == chosen)
    ]
    return TraceReport(file=path, pod=chosen, steps=steps, pods=[_end(chosen, records)])


def diff(before: str, after: str, *, fail: bool = False) -> TraceDiff:
    """Return where two traces part, and which pods are bound elsewhere in the end.

    Args:
        before: the first trace.
        after: the second.
        fail: whether a difference makes the exit code 1.

    Raises:
        InputError: one cannot be read.
    """
    first, second = read(before), read(after)
    parted = timeline.difference(first, second)
    ends, others = timeline.placements(first), timeline.placements(second)
    moved = [
        PlacementDifference(pod=pod, before=ends.get(pod, ""), after=others.get(pod, ""))
        for pod in dict.fromkeys((*ends, *others))
        if ends.get(pod, "") != others.get(pod, "")
    ]
    return TraceDiff(
        summary=TraceDiffSummary(
            exit_code=exit_codes.of_answer(failed=fail and parted is not None),
            equal=parted is None,
            placements=len(moved),
        ),
        before=before,
        after=after,
        line=parted.line if parted is not None else 0,
        first=_step(parted.line, parted.before) if parted is not None and parted.before is not None else None,
        second=_step(parted.line, parted.after) if parted is not None and parted.after is not None else None,
        placements=moved,
    )


def _find_pod(pod: str, pods: Iterable[str], path: str) -> str:
    found = [each for each in pods if pod in (each, each.partition("/")[2])]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f'several pods are called "{printable(pod)}"', f"name one of {', '.join(found[:5])}")
    close = nearest(pod, pods)
    hint = f"did you mean {close}?" if close else f"`schedctl trace show {printable(path)}` lists its pods"
    raise UsageError(f'no pod "{printable(pod)}" in {printable(path)}', hint)


def _step(line: int, record: AnyRecord) -> TraceStep:
    step = str(msgspec.to_builtins(record)["kind"])
    return TraceStep(line=line, at=record.at, pod=pod_of(record), step=step, text=describe(record))


def _end(pod: str, records: Iterable[AnyRecord]) -> TracedPod:
    steps = [record for record in records if pod_of(record) == pod]
    decided = [each for each in steps if not isinstance(each, timeline.Moved | timeline.Nominated)]
    return TracedPod(
        pod=pod,
        attempts=max((each.attempt for each in steps if isinstance(each, _ATTEMPTS)), default=0),
        node=timeline.placements(steps).get(pod, "") if not isinstance(steps[-1], timeline.Gone) else "",
        text=describe((decided or steps)[-1]),
    )
