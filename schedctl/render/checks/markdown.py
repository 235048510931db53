"""The findings as a table of GitHub's Markdown, for the summary of a job or a comment.

Whatever others wrote is escaped sign by sign, as character references that no parser takes for markup; an ``@`` or a
``#`` is kept apart from the word after it by an empty comment, as mentions and references are found in what comes out.
A job summary takes 1 MiB, so rows are written as long as there is room, and a line says how many are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedctl.render import sanitise
from schedctl.render.checks import findings
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult

MOST_BYTES = 1 << 20
_RESERVED = 4096
"""Bytes kept for the lines that say what is missing."""
_LONG = 1000
"""How many signs of a text are shown."""
_INDENT = 4
"""By how many spaces a reason is indented that belongs to the one above."""
_MANY = 100
"""How many entries of a list are shown."""
_MARKUP = re.compile(r"""^(?:[-+=]|\d+[.)])|(?<=[wW])\.|[!"#$&*:<>?@\[\\\]^_`{|}~]""")
"""What could be taken for markup: what begins a list or underlines, the dot of ``www.``, and most signs anywhere."""
_SIGNS = {"error": "❌", "warning": "⚠️", "info": "ℹ️", "inconclusive": "❔"}


def lines(report: CheckReport) -> Iterator[str]:
    """Yield the report, line by line."""
    room = MOST_BYTES - _RESERVED
    for part in (_head(report), _table(report), _details(report), _accepted_findings(report), _notes(report)):
        left = 0
        for row in part:
            size = len(row.encode())
            # After the first row without room none is written, however short: what is missing is the end of a list.
            if left or size > room:
                left += 1
            else:
                room -= size
                yield row
        if left:
            yield f"\n{left} more are not shown: a summary has at most 1 MiB.\n"


def _head(report: CheckReport) -> Iterator[str]:
    word = {0: "passed", 1: "failed", 5: "inconclusive"}.get(report.summary.exit_code, "ended early")
    taken = report.metadata.state_taken
    state = f", state of {escape(taken)}" if taken else ""
    yield f"### schedctl check: {word}\n\n"
    yield f"{findings.tally(report)} ({escape(findings.basis(report))}{state})\n"


def _table(report: CheckReport) -> Iterator[str]:
    found = findings.grouped_findings(report)
    if not found:
        return
    yield "\n| | Check | Object | Finding | Where |\n| --- | --- | --- | --- | --- |\n"
    for group in found:
        result = group.first
        place = findings.place(findings.location_of(report, result))
        cells = map(escape, (result.check, group.subject, result.message, place))
        yield f"| {_sign(result)} | {' | '.join(cells)} |\n"


def _details(report: CheckReport) -> Iterator[str]:
    for result in findings.open_findings(report):
        details = [*findings.details(result)]
        if details:
            summary = f"{escape(result.check)}: {escape(findings.subject_of(result))}"
            yield _fold(summary, details)


def _accepted_findings(report: CheckReport) -> Iterator[str]:
    accepted = findings.accepted_results(report)
    if not accepted:
        return
    items = [f"{each.check}: {findings.subject_of(each)}: {findings.acceptance(each)}" for each in accepted]
    yield _fold(f"{len(accepted)} accepted", items)


def _fold(summary: str, items: list[str]) -> str:
    """Return a list that opens when it is asked to; what is indented belongs to the entry above it."""
    more = [f"and {len(items) - _MANY} more"] if len(items) > _MANY else []
    entries, depth = "", -1
    for item in items[:_MANY] + more:
        # An entry is at most one deeper than the one above: more would be a block of code.
        depth = min((len(item) - len(item.lstrip(" "))) // _INDENT, depth + 1)
        entries += f"{'  ' * depth}- {escape(item)}\n"
    return f"\n<details><summary>{summary}</summary>\n\n{entries}\n</details>\n"


def _notes(report: CheckReport) -> Iterator[str]:
    if report.notes:
        yield "\n"
    yield from (f"- note: {escape(note)}\n" for note in report.notes)


def _sign(result: CheckResult) -> str:
    word = "inconclusive" if result.outcome is CheckOutcome.INCONCLUSIVE else result.severity.value
    return f"{_SIGNS[word]} {word}"


def escape(text: str) -> str:
    """Return a text that means itself wherever in a line of Markdown it stands."""
    clean = sanitise.text(text).strip()
    clean = clean if len(clean) <= _LONG else f"{clean[: _LONG - 1]}…"
    return _MARKUP.sub(_references, clean)


def _references(match: re.Match[str]) -> str:
    return "".join(
        sign if sign.isdecimal() else f"&#{ord(sign)};{'<!-- -->' if sign in '@#' else ''}" for sign in match[0]
    )
