"""What ``schedctl test`` found out, for people and for those who collect test reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO
from xml.etree import ElementTree as ET

from schedctl.render import machine, outputs
from schedctl.render.checks import junit, tap
from schedctl.render.layout import Line, Span
from schedctl.render.layout import write as lay_out
from schedctl.render.terminals import Terminal
from schedctl.reports import counts
from schedctl.reports.policy_tests import CheckPolicyTestReport, PolicyTestResult

FORMATS = ("text", "json", "junit", "tap")
"""What ``-o`` takes."""
_BOTH = 2
"""How many ways there are: of a check passed and violated, of a condition true and false."""
_MARKS = {"Passed": ("ok", "good"), "Failed": ("FAIL", "bad"), "Updated": ("new", "warn")}


def parse(text: str) -> str:
    """Return the form a value of ``-o`` stands for; "" is the text for people.

    Raises:
        UsageError: there is no such form.
    """
    return outputs.parse_format(text, FORMATS)


def write(
    report: CheckPolicyTestReport,
    form: str,
    stream: TextIO,
    terminal: Terminal,
    *,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Write a report to a stream, in one of `FORMATS`; the text without tests that pass, or with every result."""
    match form:
        case "json":
            stream.write(machine.json(report))
        case "junit":
            stream.write(_junit(report))
        case "tap":
            stream.writelines(_tap(report))
        case _:
            lay_out(_text(report, quiet, verbose), stream, terminal)


def _text(report: CheckPolicyTestReport, quiet: bool, verbose: bool) -> Iterator[Line]:
    for result in report.results:
        if quiet and result.outcome == "Passed":
            continue
        word, style = _MARKS[result.outcome]
        yield Line((Span(f"{word:<4}", style), Span(f" {_place(result)}: {result.test}")), hang=5)
        for difference in result.differences:
            yield Line((Span(difference),), indent=5)
        for each in result.results if verbose else ():
            yield Line((Span(each, "faint"),), indent=5)
    summary = report.summary
    numbers = [counts.of(summary.tests, "test"), f"{summary.passed} passed", f"{summary.failed} failed"]
    if summary.updated:
        numbers.append(f"{summary.updated} updated")
    if summary.not_selected:
        numbers.append(f"{summary.not_selected} not selected")
    for text in _coverage(report):
        yield Line((Span(text),), hang=2)
    yield Line((Span(f"test: {', '.join(numbers)}"),))


def _coverage(report: CheckPolicyTestReport) -> Iterator[str]:
    """Yield what the tests exercise, and then what they do not."""
    coverage = report.coverage
    if coverage is None:
        return
    needed = "" if coverage.is_enough else f", needs {coverage.needed:g} %"
    of_what = f"{coverage.covered} of {coverage.total} outcomes of checks and match conditions"
    yield f"coverage: {coverage.percent} %{needed}: {of_what if coverage.total else 'there are no policies'}"
    idle = {(gap.file, gap.policy, gap.check) for gap in coverage.gaps if not gap.condition and len(gap.never) > 1}
    for gap in coverage.gaps:
        never = gap.never[0] if len(gap.never) < _BOTH else "exercised"
        # Of a check that was about nothing, a condition tells more only where it is what has kept the objects out.
        if gap.condition and len(gap.never) == _BOTH and (gap.file, gap.policy, gap.check) in idle:
            continue
        condition = f"match condition {gap.condition} of " if gap.condition else ""
        yield f"  {gap.file}:{gap.line}: {condition}check {gap.check}: never {never}"
    yield from (f"  {file}: not counted, it cannot be read" for file in coverage.unreadable)


def _junit(report: CheckPolicyTestReport) -> str:
    """Return a suite for each file, and a case for each test in it."""
    summary = report.summary
    root = ET.Element(
        "testsuites",
        {"name": "schedctl test", "tests": str(summary.tests), "failures": str(summary.failed), "errors": "0"},
    )
    for file in dict.fromkeys(result.file for result in report.results):
        results = [result for result in report.results if result.file == file]
        failed = sum(result.outcome == "Failed" for result in results)
        suite = junit.add_element(
            root, "testsuite", name=file, tests=str(len(results)), failures=str(failed), errors="0"
        )
        for result in results:
            case = junit.add_element(suite, "testcase", classname=file, name=result.test)
            if result.outcome == "Failed":
                first = result.differences[0] if result.differences else ""
                junit.add_element(
                    case, "failure", _place(result), *result.differences, type="difference", message=first
                )
    if report.coverage is not None and not report.coverage.is_enough:
        root.set("tests", str(summary.tests + 1))
        root.set("failures", str(summary.failed + 1))
        suite = junit.add_element(root, "testsuite", name="coverage", tests="1", failures="1", errors="0")
        case = junit.add_element(suite, "testcase", classname="coverage", name="coverage")
        first, *gaps = _coverage(report)
        junit.add_element(case, "failure", first, *gaps, type="coverage", message=first)
    return junit.to_text(root)


def _tap(report: CheckPolicyTestReport) -> Iterator[str]:
    yield "TAP version 14\n"
    is_short = report.coverage is not None and not report.coverage.is_enough
    yield f"1..{len(report.results) + is_short}\n"
    for number, result in enumerate(report.results, 1):
        word = "not ok" if result.outcome == "Failed" else "ok"
        yield f"{word} {number} - {tap.describe(f'{_place(result)}: {result.test}')}\n"
        yield from (f"# {tap.describe(difference)}\n" for difference in _difference_lines(result))
    if is_short:
        yield f"not ok {len(report.results) + 1} - coverage\n"
    yield from (f"# {tap.describe(text)}\n" for text in _coverage(report))


def _difference_lines(result: PolicyTestResult) -> Iterable[str]:
    return result.differences if result.outcome == "Failed" else ()


def _place(result: PolicyTestResult) -> str:
    return f"{result.file}:{result.line}"
