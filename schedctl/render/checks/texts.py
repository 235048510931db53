"""The findings for people, one after another as a compiler prints its own, and the tally in the last line.

A line begins with the place, so that editors and terminals open it. What was accepted follows: an exemption is listed,
never dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from schedctl.render import notices
from schedctl.render.checks import findings
from schedctl.render.checks.findings import FindingGroup
from schedctl.render.layout import BLANK, Block, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult, Severity

_MANY = 100
"""How many findings are shown."""
_FEW = 10
"""How many accepted results are shown, and how many reasons of a finding."""
_STYLES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.INFO: "strong"}
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def lines(report: CheckReport, *, limit: int = 0, now: datetime | None = None) -> Iterator[Block]:
    """Yield the report as lines.

    Args:
        report: what to tell.
        limit: show so many findings, and so many accepted ones, 0 for what suits.
        now: the time by which the age of the state is told; the time it was taken is told if None.
    """
    found = findings.grouped_findings(report)
    if len(found) > 1:
        yield _table(found[: limit or _MANY])
        yield BLANK
    for group in found[: limit or _MANY]:
        yield from _group_lines(report, group)
    yield from _rest(found[limit or _MANY :], "finding")
    accepted = findings.accepted_results(report)
    for result in accepted[: limit or _FEW]:
        yield _acceptance_line(result)
    yield from _rest(accepted[limit or _FEW :], "accepted finding")
    yield from map(notices.note, report.notes)
    yield _last(report, now)


def _table(found: Sequence[FindingGroup]) -> Table:
    """Return a row for each finding: by which check, of what, and what it is."""
    rows = [
        (
            (Span(findings.rule_id(each.first.policy, each.first.check)),),
            (Span(each.subject),),
            (Span(f"{'inconclusive: ' if findings.inconclusive(each.first) else ''}{each.first.message}"),),
        )
        for each in found
    ]
    return Table(rows, 0, ("CHECK", "OBJECT", "FINDING"), folding=2)


def _group_lines(report: CheckReport, group: FindingGroup) -> Iterator[Block]:
    result = group.first
    level = findings.level(report, result)
    word = "inconclusive" if findings.inconclusive(result) else level.value
    place = findings.place(result.location)
    yield Line(
        (
            Span(f"{place}: " if place else ""),
            Span(word, _STYLES[level]),
            Span(f" [{result.check}] ", "strong"),
            Span(f"{group.subject}: {result.message}"),
        ),
        hang=4,
    )
    if group.others:
        yield line(f"in {result.scenario} (-o json has the reasons in {group.others}):", "faint", indent=4)
    yield from (line(reason, indent=4) for reason in result.reasons[:_FEW])
    if len(result.reasons) > _FEW:
        yield line(f"+{counts.of(len(result.reasons) - _FEW, 'more reason')}", "faint", indent=4)
    yield from notices.fixes(result.fixes, indent=4)
    fixes = {fix.text for fix in result.fixes}
    yield from (notices.hint(hint, 4) for hint in result.hints if hint not in fixes)


def _acceptance_line(result: CheckResult) -> Line:
    word = "baselined" if result.outcome is CheckOutcome.BASELINED else "exempted"
    why = "" if result.outcome is CheckOutcome.BASELINED else f" ({findings.acceptance(result)})"
    return Line(
        (Span(word, "faint"), Span(f" [{result.check}] {findings.subject_of(result)}: {result.message}{why}")), hang=4
    )


def _rest(results: Sequence[object], what: str) -> Iterator[Block]:
    if results:
        yield line(f"+{counts.of(len(results), f'more {what}')}: --limit shows more", "faint")


def _last(report: CheckReport, now: datetime | None) -> Line:
    summary = report.summary
    style = "good" if summary.exit_code == 0 else "bad"
    state = f", {_age(report.metadata.state_taken, now)}" if report.metadata.state_taken else ""
    return Line(
        (Span("check: ", "strong"), Span(findings.tally(report), style), Span(f" ({findings.basis(report)}{state})"))
    )


def _age(taken: str, now: datetime | None) -> str:
    """Return how old the state is, as far as that can be told."""
    try:
        at = datetime.fromisoformat(taken)
    except ValueError:
        return f"state of {taken}"
    seconds = int((now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()) if now else -1
    if seconds < 0:
        return f"state of {taken}"
    # A unit is used from two of it on: 36h says more than 1d.
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= 2 * size), (1, "s"))
    return f"state {seconds // size}{unit} old"
