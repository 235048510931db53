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
_MARKS = {"Passed": ("ok", "good"), "Failed": ("FAIL", "bad"), "Updated": ("new", "warn")}


def parse(text: str) -> str:
    """Return the form a value of ``-o`` stands for; "" is the text for people.

    Raises:
        UsageError: there is no such form.
    """
    return outputs.parse_format(text, FORMATS)


def write(report: CheckPolicyTestReport, form: str, stream: TextIO, terminal: Terminal) -> None:
    """Write a report to a stream, in one of `FORMATS`."""
    match form:
        case "json":
            stream.write(machine.json(report))
        case "junit":
            stream.write(_junit(report))
        case "tap":
            stream.writelines(_tap(report))
        case _:
            lay_out(_text(report), stream, terminal)


def _text(report: CheckPolicyTestReport) -> Iterator[Line]:
    for result in report.results:
        word, style = _MARKS[result.outcome]
        yield Line((Span(f"{word:<4}", style), Span(f" {_place(result)}: {result.test}")), hang=5)
        for difference in result.differences:
            yield Line((Span(difference),), indent=5)
    summary = report.summary
    numbers = [counts.of(summary.tests, "test"), f"{summary.passed} passed", f"{summary.failed} failed"]
    if summary.updated:
        numbers.append(f"{summary.updated} updated")
    if summary.not_selected:
        numbers.append(f"{summary.not_selected} not selected")
    yield Line((Span(f"test: {', '.join(numbers)}"),))


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
    return junit.to_text(root)


def _tap(report: CheckPolicyTestReport) -> Iterator[str]:
    yield "TAP version 14\n"
    yield f"1..{len(report.results)}\n"
    for number, result in enumerate(report.results, 1):
        word = "not ok" if result.outcome == "Failed" else "ok"
        yield f"{word} {number} - {tap.describe(f'{_place(result)}: {result.test}')}\n"
        yield from (f"# {tap.describe(difference)}\n" for difference in _difference_lines(result))


def _difference_lines(result: PolicyTestResult) -> Iterable[str]:
    return result.differences if result.outcome == "Failed" else ()


def _place(result: PolicyTestResult) -> str:
    return f"{result.file}:{result.line}"
