"""A test report in the XML of JUnit, as Jenkins' schema has it: a suite for each policy, a case for each result.

A violation is a failure whose type is its severity, an inconclusive result an error, an accepted one is skipped. There
are no times: the same input makes the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

import msgspec

from schedctl.render import sanitise
from schedctl.render.checks import findings
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult

MOST_BYTES = 30_000_000
"""GitLab takes files that are smaller."""
_ELEMENTS = {
    CheckOutcome.VIOLATED: "failure",
    CheckOutcome.INCONCLUSIVE: "error",
    CheckOutcome.EXEMPTED: "skipped",
    CheckOutcome.BASELINED: "skipped",
}


def document(report: CheckReport) -> str:
    """Return the report as XML: where it would be too large without what stands behind findings, then in part."""
    kept, left_out = report.results, list[str]()
    text = _text(report, kept, left_out)
    if _is_too_large(text):
        left_out = ["what stands behind the findings"]
        text = _text(report, kept, left_out)
    while kept and _is_too_large(text):
        fewer = [each for each in kept if each.outcome is not CheckOutcome.PASSED]
        kept = fewer if len(fewer) < len(kept) else kept[: len(kept) * 3 // 4]
        number = counts.of(len(report.results) - len(kept), "result")
        left_out = ["what stands behind the findings", f"{number} of {len(report.results)}"]
        text = _text(report, kept, left_out)
    return text


def _is_too_large(text: str) -> bool:
    return len(text) >= MOST_BYTES or len(text.encode()) >= MOST_BYTES


def _text(report: CheckReport, kept: Sequence[CheckResult], left_out: Sequence[str]) -> str:
    root = ET.Element("testsuites", {"name": "schedctl check", **_counts(kept)})
    for policy in dict.fromkeys([*(each.name for each in report.policies), *(each.policy for each in report.results)]):
        results = [each for each in kept if each.policy == policy]
        skipped = sum(_tag(each) == "skipped" for each in results)
        suite = add_element(root, "testsuite", name=policy, skipped=str(skipped), **_counts(results))
        properties = add_element(suite, "properties")
        for name, value in (*_facts(report, policy), *(("leftOut", text) for text in left_out)):
            add_element(properties, "property", name=name, value=value)
        seen: Counter[tuple[str, str]] = Counter()
        for each in results:
            _case(suite, each, seen, is_detailed=not left_out)
    return to_text(root)


def _case(suite: ET.Element, result: CheckResult, seen: Counter[tuple[str, str]], *, is_detailed: bool) -> None:
    # No count and no message is in the name, so that a test report can follow a case from run to run. Of the pods of
    # one workload those come first that are violated: the case of that name fails until none is.
    subject = f"pods of {result.workload}" if result.workload else result.subject
    name = findings.subject_of(msgspec.structs.replace(result, subject=subject))
    seen[result.check, name] += 1
    if result.workload and seen[result.check, name] > 1:
        name = f"{name} #{seen[result.check, name]}"
    case = add_element(suite, "testcase", classname=f"{result.policy}.{result.check}", name=name)
    tag = _tag(result)
    if tag == "skipped":
        add_element(case, tag, result.message, message=findings.acceptance(result))
    elif tag:
        kind = "inconclusive" if findings.inconclusive(result) else result.severity.value
        place = findings.place(result.location)  # the schema has no other place for files and lines
        first = f"{place}: {result.message}" if place else result.message
        details = findings.details(result) if is_detailed else ()
        add_element(case, tag, first, *details, type=kind, message=result.message)


def add_element(parent: ET.Element, tag: str, /, *lines: str, **attributes: str) -> ET.Element:
    """Add an element with lines of text, in which nothing is left that XML cannot hold, and return it."""
    # What XML cannot hold even as a reference, control characters and the like, is among what `sanitise` writes out.
    element = ET.SubElement(parent, tag, {name: sanitise.text(value) for name, value in attributes.items()})
    element.text = "\n".join(map(sanitise.text, lines)) or None
    return element


def to_text(root: ET.Element) -> str:
    """Return a document as text."""
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(results: Iterable[CheckResult]) -> dict[str, str]:
    counted = Counter(map(_tag, results))
    return {"tests": str(counted.total()), "failures": str(counted["failure"]), "errors": str(counted["error"])}


def _tag(result: CheckResult) -> str:
    """Return the element that says what came of a case, "" for one that passed."""
    return _ELEMENTS.get(result.outcome, "")


def _facts(report: CheckReport, policy: str) -> Iterable[tuple[str, str]]:
    metadata, summary = report.metadata, report.summary
    yield "toolVersion", metadata.tool_version
    yield "kubernetesVersion", metadata.kubernetes_version
    yield "versionSource", metadata.version_source
    yield "configuration", metadata.configuration
    if metadata.state_taken:
        yield "stateTaken", metadata.state_taken
    yield "failOn", summary.fail_on
    yield "onInconclusive", summary.on_inconclusive
    yield "exitCode", str(summary.exit_code)
    yield from (("source", each.source) for each in report.policies if each.name == policy and each.source)
    yield from ((f"{each.role.lower()}:{each.source}", each.digest) for each in metadata.inputs)
    yield from (("note", note) for note in report.notes)
