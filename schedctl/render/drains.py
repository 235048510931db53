"""A drain for people: whether the nodes can be emptied, where each pod goes, and what is in the way.

Each node has its pods, with their new place or what stops them; what concerns all nodes comes after the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedctl.render import notices
from schedctl.render.layout import ALL, Block, Cell, Line, Span, Table, line, separate
from schedctl.reports import counts
from schedctl.reports.drains import DrainFate, DrainReport, DrainSummary, DrainVerdict, NodeResult, PodResult
from schedctl.reports.simulations import PendingPods

_FEW = 5
_MANY = 40
"""How many pods of a node are shown."""
_VERDICTS = {
    DrainVerdict.DRAINED: ("DRAINED", "good"),
    DrainVerdict.LEAVES_PENDING: ("DRAINED, BUT PODS STAY PENDING", "bad"),
    DrainVerdict.BLOCKED: ("BLOCKED", "bad"),
    DrainVerdict.REFUSED: ("REFUSED", "bad"),
    DrainVerdict.INCONCLUSIVE: ("INCONCLUSIVE", "bad"),
    DrainVerdict.INTERRUPTED: ("INTERRUPTED", "bad"),
}
_STAYING = (
    (DrainFate.KEPT, "would be evicted", "would be evicted"),
    (DrainFate.IGNORED, "of a DaemonSet stays", "of DaemonSets stay"),
    (DrainFate.MIRROR, "of the kubelet stays", "of the kubelet stay"),
)
"""Pods that are told in one line, and what is said of one and of several."""
_UNMOVED = (DrainFate.REFUSED, *(fate for fate, *_ in _STAYING))
"""Pods that have no line of their own; those that make kubectl refuse the node stand in its error."""
_FLAGS = (
    ("DaemonSet-managed Pods", "--ignore-daemonsets"),
    ("Pods with local storage", "--delete-emptydir-data"),
    ("Pods that declare no controller", "--force"),
    (" not found", "--force"),
)
"""What kubectl refuses, and the flag that lets it go on."""


@dataclass(frozen=True, slots=True)
class _Detail:
    """How many entries of a list and how many pods of a node are shown, and whether their new names are."""

    entries: int
    pods: int
    names: bool


def lines(report: DrainReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every entry of a list, and what moved pods are called then.
        limit: show so many entries of a list, 0 for what suits.
    """
    detail = _Detail(limit or (ALL if wide else _FEW), limit or (ALL if wide else _MANY), wide)
    yield _answer(report)
    alone = len(report.results) == 1
    sections = (
        *(_node(result, detail, alone) for result in report.results),
        *(_pending_pods(group, detail) for group in report.pending[: detail.entries]),
        _further(report.pending[detail.entries :]),
        _budgets(report),
        _displaced_pods(report, detail),
        _last(report),
    )
    yield from separate(sections)


def _answer(report: DrainReport) -> Line:
    summary = report.summary
    if summary.nodes == 1:
        result = report.results[0]
        word, style = _VERDICTS[result.verdict]
        subject, verdict = f"node {result.node}: ", f"{word}{_after(result)}"
    else:
        subject, verdict = "", f"{summary.drained} of {counts.nodes(summary.nodes)} drained"
        style = "good" if all(result.verdict is DrainVerdict.DRAINED for result in report.results) else "bad"
    more = "; ".join(_tally(summary))
    return Line(
        (
            Span(subject, "strong"),
            Span(verdict, style),
            Span(f" ({more})" if more else ""),
            *notices.doubt(report.guesses),
        )
    )


def _tally(summary: DrainSummary) -> Iterator[str]:
    if summary.pods:
        yield f"{summary.moved} of {counts.of(summary.pods, 'evicted pod')} placed elsewhere"
    numbers = (
        (summary.pending, "pending"),
        (summary.lost, "gone for good"),
        (summary.inconclusive, "inconclusive"),
        (summary.blocked, "not let go"),
        (summary.refused, "in the way"),
        (summary.displaced, "preempted elsewhere"),
        (summary.staying, "staying"),
    )
    yield from (f"{number} {what}" for number, what in numbers if number)


def _after(result: NodeResult) -> str:
    """Say when the last pod was gone; the clock of the run goes on until those that came in their place are settled."""
    last = max((pod.gone_at for pod in result.pods), default=0.0)
    return f" after {last:g} s" if last else ""


# -- one node --------------------------------------------------------------------


def _node(result: NodeResult, detail: _Detail, alone: bool) -> Iterator[Block]:
    """Yield what becomes of one node; the head is left out where the answer has said it already."""
    if not alone:
        word, style = _VERDICTS[result.verdict]
        verdict = Span(f"{word}{_after(result)}".lower(), style)
        zone = f"  [{result.zone}]" if result.zone else ""
        yield Line((Span(f"node {result.node}: ", "strong"), verdict, Span(zone, "faint")))
    for error in result.errors:
        yield Line((Span("error: ", "bad"), Span(error)), 2, hang=7)
    leaving = [pod for pod in result.pods if pod.fate not in _UNMOVED]
    rows = [_row(pod, detail) for pod in leaving[: detail.pods]]
    if rows:
        yield Table(rows, 2)
    if len(leaving) > len(rows):
        yield line(f"+{counts.of(len(leaving) - len(rows), 'more pod')}", "faint", indent=2)
    for fate, one, many in _STAYING:
        names = [pod.pod for pod in result.pods if pod.fate is fate]
        if names:
            what = one if len(names) == 1 else many
            shown = notices.few(names, detail.entries)
            yield Line((Span(f"{counts.of(len(names), 'pod')} {what}: "), Span(shown, "faint")), 2)
    if not result.pods:
        yield line("no pods run there", "faint", indent=2)


def _row(pod: PodResult, detail: _Detail) -> Sequence[Cell]:
    """Return the pod, what becomes of it, and where or why."""
    named = f"as {pod.successor.partition('/')[2]}" if pod.successor not in ("", pod.pod) else ""
    match pod.fate:
        case DrainFate.MOVED:
            notes = [f"{pod.ties} nodes tied"] if pod.ties > 1 else []
            notes += [f"evicted after {pod.evicted_at:g} s"] if pod.evicted_at else []
            notes += [named] if named and detail.names else []
            place = (Span("→ "), Span(pod.node, "good"))
            cells = [(Span(pod.pod),), place, (Span(pod.zone),), (Span(", ".join(notes), "faint"),)]
            return cells if notes else cells[:-1]  # an empty column would take two from a narrow terminal
        case DrainFate.PENDING:
            return ((Span(pod.pod),), (Span("pending", "bad"),), (Span(named, "faint"),))
        case DrainFate.BLOCKED:
            return ((Span(pod.pod),), (Span("not let go", "bad"),), (Span(pod.cause or pod.message),))
        case DrainFate.LOST:
            return ((Span(pod.pod),), (Span("gone for good", "bad"),), (Span("nobody makes another", "faint"),))
        case DrainFate.TERMINATING:
            return ((Span(pod.pod),), (Span("on its way out already", "faint"),))
        case DrainFate.FOREIGN_SCHEDULER:
            return ((Span(pod.pod),), (Span("left to another scheduler"),))
        case _:
            return ((Span(pod.pod),), (Span("inconclusive", "bad"),), (Span(pod.message),))


# -- what concerns all nodes -----------------------------------------------------


def _pending_pods(group: PendingPods, detail: _Detail) -> Iterator[Block]:
    number = counts.of(len(group.pods), "pod")
    yield Line((Span(f"{number} pending: ", "bad"), Span(notices.few(group.pods, detail.entries))))
    if group.message:
        yield Line((Span(group.message),), 2, whole=True)
    for reason in group.reasons:
        yield Line((notices.rejection_subject(reason), Span(reason.text)), 2)
        if reason.detail:
            yield line(reason.detail, indent=4)
    for each in group.remarks:
        yield from notices.remark(each, detail.entries, 2)
    for hint in group.hints:
        yield notices.hint(hint.text, 2)


def _further(groups: Sequence[PendingPods]) -> Iterator[Block]:
    if groups:
        number = sum(len(group.pods) for group in groups)
        yield line(f"+{counts.of(number, 'more pod')} pending, for {counts.of(len(groups), 'other reason')}", "faint")


def _budgets(report: DrainReport) -> Iterator[Block]:
    if not report.budgets:
        return
    heads = ("DISRUPTION BUDGET", "ALLOWED", "EVICTED", "NOT LET GO", "NEEDS", "HEALTHY AFTER")
    rows = [
        (
            (Span(use.budget),),
            (Span(str(use.allowed)),),
            (Span(str(use.evictions)),),
            (Span(str(use.blocked), "bad" if use.blocked else ""),),
            (Span(str(use.desired)),),
            (Span(str(use.healthy), "bad" if use.healthy < use.desired else ""),),
        )
        for use in report.budgets
    ]
    yield Table(rows, heads=heads, numbers=frozenset(range(1, 6)))


def _displaced_pods(report: DrainReport, detail: _Detail) -> Iterator[Block]:
    if report.displaced:
        yield line("preempted on other nodes", "strong")
        rows: list[Sequence[Cell]] = []
        for each in report.displaced[: detail.entries]:
            after = f"came back on {each.successor_node}" if each.successor_node else "has found no other place"
            cells = (each.pod, f"priority {each.priority} on {each.node}", f"by {each.by}", after)
            rows.append([(Span(text),) for text in cells])
        yield Table(rows, 2)
        yield from notices.rest(len(report.displaced) - len(rows))
    if report.arrived:
        yield line(f"{counts.of(len(report.arrived), 'pod')} that was pending before found room", "strong")
        yield Table([[(Span(pod.pod),), (Span(pod.node),)] for pod in report.arrived[: detail.entries]], 2)
        yield from notices.rest(len(report.arrived) - detail.entries)


def _last(report: DrainReport) -> Iterator[Block]:
    yield from notices.what_if(report.metadata.what_if)
    yield from notices.assumptions(report.guesses)
    yield from notices.not_known(report.metadata.missing)
    if report.summary.blocked:
        yield notices.note("kubectl would wait for these pods until it is stopped, or for its --timeout")
    yield notices.note(notices.rules(report.metadata, nodes=False))
    errors = [error for result in report.results for error in result.errors]
    flags = list(dict.fromkeys(flag for what, flag in _FLAGS if any(what in error for error in errors)))
    if flags:
        yield notices.hint(f"kubectl goes on with `{' '.join(flags)}`, and so does schedctl")
