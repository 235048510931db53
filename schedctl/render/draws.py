"""Draws for people: in how many of them all is well, and how workloads and nodes fare over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import notices
from schedctl.render.layout import Block, Cell, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.draws import Distribution, Draws, Share, WorkloadDraws


def percent(share: Share, total: int) -> str:
    """Return a share in percent; never 0 or 100 unless it is none or all."""
    if share.draws in (0, total):
        return f"{100 * share.draws // max(total, 1)} %"
    return f"{min(max(round(100 * share.share, 1), 0.1), 99.9):g} %"


def answer(draws: Draws) -> Line:
    """Return the answer over all draws, with the interval in which the probability lies."""
    all_placed = draws.placed.draws == draws.draws
    interval = f"95 % interval {100 * draws.placed.low:.1f} to {100 * draws.placed.high:.1f} %"
    spans = [
        Span(
            f"all placed in {percent(draws.placed, draws.draws)} of {counts.of(draws.draws, 'draw')}",
            _style(all_placed),
        ),
        Span(f" among tied nodes ({interval})"),
    ]
    if draws.failures:
        spans.append(Span(f"; {counts.of(len(draws.failures), 'draw')} failed", "bad"))
    return Line(spans)


def section(draws: Draws, entries: int) -> Iterator[Block]:
    """Yield each workload over all draws, where its pods go, and which of them ever pend."""
    yield line(f"over {counts.of(draws.draws, 'draw')}", "strong")
    if draws.outcomes == 1:
        yield line("every draw places every pod on the same node", indent=2)
    rows: list[Sequence[Cell]] = [_row(each, draws.draws) for each in draws.workloads]
    yield Table(rows, 2, ("WORKLOAD", "ALL PLACED IN", "PODS PLACED", "NODES USED"))
    for each in draws.workloads:
        yield from _nodes(each, draws.draws, entries)
        yield from _pending(each, draws.draws, entries)
    if draws.placed.draws < draws.draws and draws.worst_command:
        yield Line((Span("worst draw: ", "hint"), Span(draws.worst_command)), 2, hang=2)
    for seed, error in list(draws.failures.items())[:entries]:
        yield Line((Span(f"seed {seed} failed: ", "bad"), Span(error)), 2, hang=2)


def spread(values: Distribution) -> str:
    """Return what lies between the least and the most, and the median: ``3 to 5, median 4``."""
    if values.lowest == values.highest:
        return f"{values.lowest:g}"
    return f"{values.lowest:g} to {values.highest:g}, median {values.median:g}"


def _row(each: WorkloadDraws, total: int) -> Sequence[Cell]:
    style = _style(each.placed.draws == total)
    return (
        (Span(f"{each.kind} {each.namespace}/{each.name}"),),
        (Span(f"{percent(each.placed, total)} of draws", style),),
        (Span(f"{spread(each.pods_placed)} of {each.wanted}"),),
        (Span(spread(each.nodes_used)),),
    )


def _nodes(each: WorkloadDraws, total: int, entries: int) -> Iterator[Block]:
    if not any(node.draws < total for node in each.nodes):
        return
    names = [f"{node.name} {node.pods:g} ({_part(node.draws, total)})" for node in each.nodes]
    yield Line((Span(f"{each.name}, pods on average (draws): ", "faint"), Span(notices.few(names, entries))), 2, hang=2)


def _pending(each: WorkloadDraws, total: int, entries: int) -> Iterator[Block]:
    if not each.pending:
        return
    names = [f"{pod.name} placed in {_part(pod.placed, total)}" for pod in each.pending]
    yield Line((Span(f"{each.name}, ever pending: ", "bad"), Span(notices.few(names, entries))), 2, hang=2)
    yield from notices.kubernetes_line(each.pending[0].message, 4)


def _part(number: int, total: int) -> str:
    return percent(Share(number, number / total, 0.0, 1.0), total)


def _style(good: bool) -> str:
    return "good" if good else "bad"
