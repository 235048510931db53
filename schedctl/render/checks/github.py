"""Workflow commands of GitHub Actions: each finding becomes an annotation in the pull request.

GitHub shows ten annotations of a level for a step and drops the others without a word. So the ten are shared out over
the rules, each of which gets one before any gets another, and the tenth says how many more there are, and of what;
the notes of the check share one notice, and the last one says by whose rules was judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import sanitise
from schedctl.render.checks import findings
from schedctl.reports import counts
from schedctl.reports.checks import CheckReport, CheckResult, Severity

MOST = 10
"""Annotations of a level that GitHub shows."""
_DETAILS = 8
_LONG = 4000
"""How many signs of an annotation are shown; GitHub refuses those over 64 KiB."""
_LONG_TITLE = 255
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def lines(report: CheckReport) -> Iterator[str]:
    """Yield a command for each finding, and one for what there is no room for."""
    found = findings.open_findings(report)
    for level, command in _COMMANDS.items():
        results = [each for each in found if findings.level(report, each) is level]
        room = MOST - (1 + bool(report.notes) if level is Severity.INFO else 0)
        hidden: list[CheckResult] = []
        if len(results) > room:
            shared = findings.share_out(results)
            results, hidden = shared[: room - 1], shared[room - 1 :]
        yield from (_annotation(report, result, command) for result in results)
        if hidden:
            more = f"{counts.of(len(hidden), 'more finding')} of this level not shown here"
            text = _cut(_clean(f"{more}: {findings.count_by_rule(hidden)}"), _LONG)
            yield f"::{command} title=schedctl::{_data(text)}\n"
    if report.notes:
        yield f"::notice title=schedctl notes::{_data(_cut(_few(report.notes, 'note'), _LONG))}\n"
    listed = "; the summary of the job lists what was not judged" if report.not_judged else ""
    text = _cut(_clean(f"{findings.tally(report)} ({findings.basis(report)})"), _LONG)
    yield f"::notice title=schedctl::{_data(text)}{listed}\n"


def _annotation(report: CheckReport, result: CheckResult, command: str) -> str:
    location = findings.location_of(report, result)
    properties = {}
    if file := findings.file_of(location):
        properties["file"] = file
        if location.line:
            properties["line"] = str(location.line)
            if location.column:
                properties["col"] = str(location.column)
    properties["title"] = _cut(f"schedctl {result.check}", _LONG_TITLE)
    settings = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    details = [*findings.details(result)]
    text = _clean(findings.sentence(result)) + (f"\n{_few(details, 'line')}" if details else "")
    return f"::{command} {settings}::{_data(_cut(text, _LONG))}\n"


def _few(lines: Sequence[str], noun: str) -> str:
    """Return the first few lines, and how many more there are."""
    more = [f"+{counts.of(len(lines) - _DETAILS, f'more {noun}')}"] if len(lines) > _DETAILS else []
    return "\n".join(map(_clean, (*lines[:_DETAILS], *more)))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _clean(text: str) -> str:
    # A runner looks for commands of its old form, `##[command]`, anywhere in a line.
    return sanitise.text(text).replace("##[", "#\\x23[")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(_clean(text)).replace(":", "%3A").replace(",", "%2C")
