"""A capacity for people: how many more pods would fit, where they would go, and what stops the next.

The first line is the answer. Bars compare the groups of nodes with the one that takes most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api.amounts import amount, quantity
from schedctl.render import notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line, separate
from schedctl.reports import counts
from schedctl.reports.capacities import NODE, CapacityReport, CapacityResult, Grouping, LargestFit, Stop

_FEW = 10
_BAR = 20
"""How many signs the longest bar has."""
_SIGN = "█"


def lines(report: CapacityReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every group of nodes.
        limit: show so many groups of nodes, 0 for what suits.
    """
    entries = limit or (ALL if wide else _FEW)
    for index, result in enumerate(report.results):
        if index:
            yield BLANK
        yield from _result(result, entries, notices.doubt(report.guesses))
    yield BLANK
    yield from _last(report, wide)


def _result(result: CapacityResult, entries: int, doubts: tuple[Span, ...]) -> Iterator[Block]:
    yield _answer(result, doubts)
    if result.error:
        yield line(result.error, indent=2)
        return
    sections = (
        *(_group_table(grouping, entries) for grouping in result.by if result.fits),
        _stop(result),
        _largest(result),
        _notes(result),
    )
    yield from separate(sections)


def _answer(result: CapacityResult, doubts: tuple[Span, ...]) -> Line:
    subject = Span(f"{result.subject}: ", "strong")
    if result.error:
        return Line((subject, Span("INCONCLUSIVE", "bad")))
    if not result.fits:
        what = "groups would start" if result.group_size else "pods would fit"
        return Line((subject, Span(f"no more {what}", "bad"), *doubts))
    least = "at least " if result.limited else ""
    if result.group_size:
        size = f" ({counts.of(result.group_size, 'pod')} each)"
        text = f"{least}{counts.of(result.fits, 'more group')} would start"
        return Line((subject, Span(text, "good"), Span(size), *doubts))
    requests = ", ".join(f"{name} {quantity(name, value)}" for name, value in result.requests.items())
    each = f" ({requests} each)" if requests else " (they request nothing)"
    spans = [subject, Span(f"{least}{counts.of(result.fits, 'more pod')} would fit", "good"), Span(each)]
    if result.within_quota is not None:
        spans.append(Span(f"; the ResourceQuota of the namespace allows {result.within_quota}", "bad"))
    return Line((*spans, *doubts))


def _group_table(grouping: Grouping, entries: int) -> Iterator[Block]:
    # Of nodes, which may be thousands, those that take most come first.
    groups = sorted(grouping.groups, key=lambda group: -group.fits) if grouping.label == NODE else grouping.groups
    if not groups:
        return
    most = max(group.fits for group in groups)
    title = grouping.label.rpartition("/")[2].upper()
    heads = (title, "FIT", "", "NODES") if grouping.label != NODE else (title, "FIT", "")
    rows: list[Sequence[Cell]] = []
    for group in groups[:entries]:
        name = Span(group.name or "none", "" if group.fits else "faint")
        row: list[Cell] = [(name,), (Span(str(group.fits)),), (Span(_bar(group.fits, most)),)]
        if grouping.label != NODE:
            row.append((Span(f"{group.used} of {group.nodes}", "faint"),))
        rows.append(row)
    yield Table(rows, 2, heads, frozenset((1,)))
    if len(groups) > entries:
        rest = sum(group.fits for group in groups[entries:])
        yield line(f"+{rest} on {len(groups) - entries} more", "faint", indent=2)


def _bar(fits: int, most: int) -> str:
    """Return a bar as long as the share of the most; what is there is never shown as nothing."""
    return _SIGN * max((fits * _BAR + most // 2) // most, 1 if fits else 0) if most else ""


def _stop(result: CapacityResult) -> Iterator[Block]:
    stop = result.stop
    if stop is None:
        return
    title = why_no_more(result)
    yield line(f"{title[:1].lower()}{title[1:]}{'; without that' if stop.nominated_node else ''}:", "strong")
    yield from _reasons(stop)
    yield from notices.kubernetes_line(stop.message, 2)


def why_no_more(result: CapacityResult) -> str:
    """Return what the causes why no more fit are headed with: where evictions would make room, with that."""
    which, verb = "the next one" if result.fits else "it", "start" if result.group_size else "fit"
    if result.stop is not None and result.stop.nominated_node:
        victims = f"{counts.of(result.stop.victims, 'pod')} on {result.stop.nominated_node}"
        return f"{which.capitalize()} would {verb} only by preempting {victims}"
    return f"Why {which} would not {verb}"


def _reasons(stop: Stop) -> Iterator[Block]:
    for reason in stop.reasons:
        zones = f" ({counts.by_zone(reason.zones)})" if len(reason.zones) > 1 else ""
        head, *diagnosis = notices.cause_and_diagnosis(reason, 2)
        yield Line((*head.spans, Span(zones, "faint")), 2)
        yield from diagnosis
        for part in notices.parts(reason.detail) if reason.detail else ():
            yield line(part, indent=4)


def _largest(result: CapacityResult) -> Iterator[Block]:
    if not result.largest:
        return
    after = any(one.after is not None for one in result.largest) and result.fits > 0
    yield line("the largest pod that would fit, changing one resource at a time", "strong")
    heads = ("RESOURCE", "REQUESTED", "FITS NOW", *(("FITS AFTER THESE",) if after else ()))
    rows = [_size(one, after) for one in result.largest]
    yield Table(rows, 2, heads, frozenset(range(1, len(heads))))


def _size(one: LargestFit, after: bool) -> Sequence[Cell]:
    cells: list[Cell] = [(Span(one.resource),), (Span(amount(one.resource, one.requested)),)]
    for value in (one.alone, *((one.after,) if after else ())):
        fits = value is not None and value >= one.requested
        text = "none" if value is None else quantity(one.resource, value)
        cells.append((Span(text, "good" if fits else "bad"),))
    return cells


def _notes(result: CapacityResult) -> Iterator[Block]:
    if result.quota:
        yield notices.note(f"the API server would refuse more: {result.quota}")
    if result.limited:
        noun = "group" if result.group_size else "pod"
        yield notices.note(f"stopped at {counts.of(result.fits, noun)}; `--max` tries more")
    yield from map(notices.warning, result.warnings)
    yield from map(notices.note, result.notes)


def _last(report: CapacityReport, wide: bool) -> Iterator[Block]:
    metadata = report.metadata
    yield from notices.what_if(metadata.what_if)
    yield from notices.assumptions(report.guesses)
    yield from notices.not_known(metadata.missing)
    if len(report.results) > 1:
        yield notices.note("each is counted alone on the cluster as it is")
    yield notices.end(metadata, wide=wide)
