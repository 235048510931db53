"""The Test Anything Protocol, version 14: a line for each result, and a block of YAML below those that are not ok.

Accepted results are skipped. A finding that does not fail the run, such as a warning, is a TODO: not ok, and no reason
to fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schedctl.render import machine, sanitise
from schedctl.render.checks import findings
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult


def lines(report: CheckReport) -> Iterator[str]:
    """Yield the report, line by line."""
    yield "TAP version 14\n"
    yield f"1..{len(report.results)}\n"
    for number, result in enumerate(report.results, 1):
        yield from _result(report, result, number)
    yield f"# {describe(findings.tally(report))} ({describe(findings.basis(report))})\n"
    yield from (f"# note: {describe(note)}\n" for note in report.notes)


def _result(report: CheckReport, result: CheckResult, number: int) -> Iterator[str]:
    name = f"{number} - {describe(f'{result.policy} {result.check}: {findings.subject_of(result)}')}"
    match result.outcome:
        case CheckOutcome.PASSED:
            yield f"ok {name}\n"
        case CheckOutcome.EXEMPTED | CheckOutcome.BASELINED:
            yield f"ok {name} # SKIP {describe(findings.acceptance(result))}\n"
        case _:
            word = "inconclusive" if findings.inconclusive(result) else result.severity.value
            yield f"not ok {name}\n" if findings.fails(report, result) else f"not ok {name} # TODO {word}\n"
            yield "  ---\n"
            block = machine.yaml(_diagnostics(report, result)).splitlines()
            yield from (f"  {line}\n" for line in block)
            yield "  ...\n"


def _diagnostics(report: CheckReport, result: CheckResult) -> dict[str, Any]:
    location = findings.location_of(report, result)
    found: dict[str, Any] = {
        "message": result.message,
        "severity": findings.level(report, result).value,
        "outcome": result.outcome.value,
        "scenario": result.scenario,
    }
    if file := findings.file_of(location):
        found["at"] = {"file": file, **({"line": location.line} if location.line else {})}
        if location.line and location.column:
            found["at"]["column"] = location.column
    return found | {name: texts for name, texts in (("reasons", result.reasons), ("hints", result.hints)) if texts}


def describe(text: str) -> str:
    """Return a text for a line of TAP in which nothing begins a directive."""
    # TAP 14 escapes a `#` by a backslash, which older readers do not know: they would see a directive all the same.
    return sanitise.text(text).replace("#", "\\x23").replace("\\", "\\\\")
