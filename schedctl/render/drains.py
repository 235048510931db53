"""A drain for people: whether the nodes could be drained, why pods would stay pending, and where each pod would go.

Each node has its pods, with their new place or what stops them; what concerns all nodes comes after the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from schedctl.render import notices, pending_pods
from schedctl.render.layout import ALL, Block, Cell, Line, Span, Table, line, separate
from schedctl.reports import counts
from schedctl.reports.drains import DrainFate, DrainReport, DrainSummary, DrainVerdict, NodeResult, PodResult

_FEW = 5
_MANY = 40
"""How many pods of a node are shown, and how many nodes one by one."""
_STAYING = (
    (DrainFate.KEPT, "that would be evicted otherwise", "that would be evicted otherwise"),
    (DrainFate.IGNORED, "of a DaemonSet would stay", "of DaemonSets would stay"),
    (DrainFate.MIRROR, "of the kubelet (static) would stay", "of the kubelet (static) would stay"),
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


class _Detail(msgspec.Struct, frozen=True):
    """How many entries of a list and how many pods of a node are shown, and whether names that tell little are."""

    entries: int
    pods: int
    names: bool


def lines(report: DrainReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every entry of a list, what moved pods are called then, and which pods stay.
        limit: show so many answers about pending pods and so many entries of a list, 0 for what suits.
    """
    detail = _Detail(limit or (ALL if wide else _FEW), limit or (ALL if wide else _MANY), wide)
    yield from answer(report)
    alone = len(report.results) == 1
    shown = _nodes_with_lines(report.results, detail)
    sections = (
        *pending_pods.sections(
            pending_pods.distinct([("", group) for group in report.pending]), wide=wide, limit=limit
        ),
        *(_node(result, detail, alone=alone, follows=not report.pending) for result in shown),
        _rest(len(report.results) - len(shown)),
        _budgets(report),
        _broken_groups(report, detail),
        _displaced_pods(report, detail),
        _warnings(report, detail),
        _last(report, wide),
    )
    yield from separate(sections)


def _nodes_with_lines(results: Sequence[NodeResult], detail: _Detail) -> Sequence[NodeResult]:
    """Return the nodes that have lines of their own: of many a few, those first that would not be drained."""
    if len(results) <= max(_MANY, detail.entries):
        return results
    return sorted(results, key=lambda each: each.verdict is DrainVerdict.DRAINED)[: detail.entries]


def _rest(nodes: int) -> Iterator[Line]:
    if nodes:
        yield line(f"+{counts.nodes(nodes, 'more ')}", "faint")


def answer(report: DrainReport) -> Iterator[Line]:
    """Yield the answer on one line and its numbers on the next."""
    summary = report.summary
    if summary.nodes == 1:
        subject, answer, style = _verdict(report.results[0])
    else:
        subject = ""
        clean = all(result.verdict is DrainVerdict.DRAINED for result in report.results)
        pending = "" if not summary.pending else f", but {counts.of(summary.pending, 'pod')} would stay pending"
        answer = f"{summary.drained} of {counts.nodes(summary.nodes)} would be drained{pending}"
        style = "good" if clean else "bad"
    simulated = Span(" (simulated; nothing was changed)", "faint")
    yield Line((Span(subject, "strong"), Span(answer, style), simulated, *notices.doubt(report.guesses)))
    numbers = "; ".join(_tally(summary))
    if numbers:
        yield line(numbers, indent=2)


def _verdict(result: NodeResult) -> tuple[str, str, str]:
    """Return the node, what would become of it, and the style of that."""
    subject, after = f"node {result.node} ", _after(result)
    match result.verdict:
        case DrainVerdict.DRAINED:
            return subject, f"would be drained{after}", "good"
        case DrainVerdict.LEAVES_PENDING:
            left = sum(pod.fate in (DrainFate.PENDING, DrainFate.FOREIGN_SCHEDULER) for pod in result.pods)
            return subject, f"would be drained{after}, but {counts.of(left, 'pod')} would stay pending", "bad"
        case DrainVerdict.BLOCKED:
            blocked = [pod for pod in result.pods if pod.fate is DrainFate.BLOCKED]
            budgets = list(dict.fromkeys(budget for pod in blocked for budget in pod.budgets))
            kind = "PodDisruptionBudget" if len(budgets) == 1 else "PodDisruptionBudgets"
            by = f" by {kind} {notices.few(budgets, _FEW)}" if budgets else ""
            return subject, f"BLOCKED{by}: {counts.of(len(blocked), 'eviction')} refused", "bad"
        case DrainVerdict.REFUSED:
            in_the_way = sum(pod.fate is DrainFate.REFUSED for pod in result.pods)
            return subject, f"REFUSED by kubectl drain: {counts.of(in_the_way, 'pod')} in the way", "bad"
        case DrainVerdict.INCONCLUSIVE:
            return subject, "INCONCLUSIVE", "bad"
        case DrainVerdict.INTERRUPTED:
            return subject, "INTERRUPTED", "bad"


def _tally(summary: DrainSummary) -> Iterator[str]:
    if summary.pods:
        fates = (
            (summary.moved, "placed elsewhere"),
            (summary.pending, "pending"),
            (summary.lost, f"lost (no controller recreates {'it' if summary.lost == 1 else 'them'})"),
            (summary.inconclusive, "inconclusive"),
        )
        tally = ", ".join(f"{number} {what}" for number, what in fates if number)
        yield f"{counts.of(summary.pods, 'pod')} would be evicted: {tally}"
    numbers = (
        (summary.blocked if summary.nodes > 1 else 0, "eviction", "would be refused by PodDisruptionBudgets"),
        (summary.refused if summary.nodes > 1 else 0, "pod", "in the way"),
        (summary.displaced, "pod", "on other nodes would be preempted"),
        (summary.staying, "pod", "of DaemonSets or kubelets would stay"),
    )
    yield from (f"{counts.of(number, noun)} {what}" for number, noun, what in numbers if number)


def _after(result: NodeResult) -> str:
    """Say when the last pod would be gone; the simulated clock goes on until their replacements are settled."""
    last = max((pod.gone_at for pod in result.pods), default=0.0)
    return f" in about {last:g} s" if last else ""


# -- one node --------------------------------------------------------------------


def _node(result: NodeResult, detail: _Detail, *, alone: bool, follows: bool) -> Iterator[Block]:
    """Yield what becomes of one node.

    Args:
        result: of the node.
        detail: how much is shown.
        alone: whether it is the only node, whose verdict is the answer.
        follows: whether the answer stands directly above.
    """
    zone = f"  [{result.zone}]" if result.zone else ""
    if not alone:
        subject, answer, style = _verdict(result)
        yield Line((Span(subject, "strong"), Span(answer, style), Span(zone, "faint")))
    elif not follows:
        yield Line((Span(f"pods of node {result.node}", "strong"), Span(zone, "faint")))
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
            shown = f": {notices.few(names, detail.entries)}" if detail.names or fate is DrainFate.KEPT else ""
            yield Line((Span(f"{counts.of(len(names), 'pod')} {what}"), Span(shown, "faint")), 2)
    if not result.pods:
        yield line("no pods run there", "faint", indent=2)


def _row(pod: PodResult, detail: _Detail) -> Sequence[Cell]:
    """Return the pod, what becomes of it, and where or why."""
    named = f"as {pod.successor.partition('/')[2]}" if pod.successor not in ("", pod.pod) else ""
    match pod.fate:
        case DrainFate.MOVED:
            notes = [f"{pod.ties} nodes tied"] if pod.ties > 1 else []
            notes += [f"evicted at {pod.evicted_at:g} s"] if pod.evicted_at else []
            notes += [named] if named and detail.names else []
            place = (Span("→ "), Span(pod.node, "good"))
            cells = [(Span(pod.pod),), place, (Span(pod.zone),), (Span(", ".join(notes), "faint"),)]
            return cells if notes else cells[:-1]  # an empty column would take two from a narrow terminal
        case DrainFate.PENDING:
            return ((Span(pod.pod),), (Span("pending", "bad"),), (Span(named, "faint"),))
        case DrainFate.BLOCKED:
            return ((Span(pod.pod),), (Span("eviction refused", "bad"),), (Span(pod.cause or pod.message),))
        case DrainFate.LOST:
            return ((Span(pod.pod),), (Span("lost", "bad"),), (Span("no controller recreates it", "faint"),))
        case DrainFate.TERMINATING:
            return ((Span(pod.pod),), (Span("terminating already", "faint"),))
        case DrainFate.FOREIGN_SCHEDULER:
            return ((Span(pod.pod),), (Span("skipped"),), (Span("belongs to another scheduler", "faint"),))
        case _:
            return ((Span(pod.pod),), (Span("inconclusive", "bad"),), (Span(pod.message),))


# -- what concerns all nodes -----------------------------------------------------


def _budgets(report: DrainReport) -> Iterator[Block]:
    if not report.budgets:
        return
    heads = ("PODDISRUPTIONBUDGET", "ALLOWED", "EVICTED", "REFUSED", "NEEDS", "HEALTHY AFTER")
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


def _broken_groups(report: DrainReport, detail: _Detail) -> Iterator[Block]:
    """Yield the gangs that would be left with too few pods."""
    for each in report.broken_groups[: detail.entries]:
        yield line(f"podgroup {each.group} would break: {each.text}", "bad")
    yield from notices.rest(len(report.broken_groups) - detail.entries, 0)


def _displaced_pods(report: DrainReport, detail: _Detail) -> Iterator[Block]:
    if report.displaced:
        yield line("would be preempted on other nodes", "strong")
        rows: list[Sequence[Cell]] = []
        for each in report.displaced[: detail.entries]:
            pending = "recreated, but pending" if each.successor else "lost: no controller recreates it"
            after = f"recreated on {each.successor_node}" if each.successor_node else pending
            cells = (each.pod, f"priority {each.priority} on {each.node}", f"by {each.by}", after)
            rows.append([(Span(text),) for text in cells])
        yield Table(rows, 2)
        yield from notices.rest(len(report.displaced) - len(rows))
    if report.arrived:
        yield line(f"{counts.of(len(report.arrived), 'other pending pod')} would be placed", "strong")
        yield Table([[(Span(pod.pod),), (Span(pod.node),)] for pod in report.arrived[: detail.entries]], 2)
        yield from notices.rest(len(report.arrived) - detail.entries)


def _warnings(report: DrainReport, detail: _Detail) -> Iterator[Block]:
    for each in report.warnings[: detail.entries]:
        yield notices.warning(each.warning, subject=f"{each.owner} ({counts.of(each.pods, 'evicted pod')}): ")
    yield from notices.rest(len(report.warnings) - detail.entries, 0)


def _last(report: DrainReport, wide: bool) -> Iterator[Block]:
    yield from notices.what_if(report.metadata.what_if)
    yield from notices.assumptions(report.guesses)
    yield from notices.not_known(report.metadata.missing)
    if report.summary.blocked:
        yield notices.note("kubectl drain would retry refused evictions until it is stopped, or until its --timeout")
    errors = [error for result in report.results for error in result.errors]
    flags = list(dict.fromkeys(flag for what, flag in _FLAGS if any(what in error for error in errors)))
    if flags:
        lost = "; it also deletes pods that no controller recreates" if "--force" in flags else ""
        yield notices.hint(f"add `{' '.join(flags)}`, as with kubectl drain{lost}")
    yield notices.end(report.metadata, wide=wide)
