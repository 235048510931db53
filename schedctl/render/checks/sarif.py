"""SARIF 2.1.0, for code scanning: one run, a rule for each check, a result for each finding.

Accepted results are left out unless they are asked for. GitHub takes 25,000 results and 10 MB, packed, and keeps 5,000:
the worst come first, and a notification says what is missing.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from schedctl.render import machine, sanitise
from schedctl.render.checks import findings
from schedctl.render.checks.rules import LEVELS, rule_document
from schedctl.reports import counts, exit_codes
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult, Location

MOST = 25_000
KEPT = 5_000
MOST_BYTES = 10_000_000
"""What GitHub takes, what it keeps, and how large the packed document may be."""
_MADE = (0, exit_codes.FAILED, exit_codes.INCONCLUSIVE)
"""The exit codes of checks that were made; after any other nothing was judged."""
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_SEVEREST = tuple(LEVELS)
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def document(report: CheckReport, *, suppressed: bool = False) -> str:
    """Return the report as a SARIF log.

    Args:
        report: what to tell.
        suppressed: add what was accepted, with its reason.
    """
    # Code hosts open alerts for suppressed results, too, so that these are only there when they are asked for.
    found = findings.open_findings(report)
    if len(found) > KEPT:
        shared = findings.share_out(found)
        found = sorted(shared, key=lambda each: _SEVEREST.index(findings.level(report, each)))
    results = [*found, *(findings.accepted_results(report) if suppressed else ())]
    kept = min(len(results), MOST)
    while True:
        text = machine.json(_log(report, results, kept))
        if not kept or _fits(text):
            return text
        kept = kept * 3 // 4  # how much a result takes, packed, is not known before


def _fits(text: str) -> bool:
    data = text.encode()
    return len(data) <= MOST_BYTES or len(gzip.compress(data, mtime=0)) <= MOST_BYTES


def _log(report: CheckReport, results: list[CheckResult], kept: int) -> dict[str, Any]:
    rules = findings.rules(report)
    indices = {(rule.policy.name, rule.check.name): index for index, rule in enumerate(rules)}
    driver = {
        "name": "schedctl",
        "semanticVersion": report.metadata.tool_version,
        "rules": [rule_document(rule) for rule in rules],
    }
    notifications = [{"level": "note", "message": _message(note)} for note in _notes(report, results, kept)]
    seen: Counter[str] = Counter()
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.summary.exit_code in _MADE,
                "exitCode": report.summary.exit_code,
                "toolExecutionNotifications": notifications,
            }
        ],
        "properties": {
            "kubernetesVersion": report.metadata.kubernetes_version,
            "versionSource": report.metadata.version_source,
            "configuration": sanitise.text(report.metadata.configuration),
            "stateTaken": sanitise.text(report.metadata.state_taken),
        },
        "results": [_result(report, each, rules, indices[each.policy, each.check], seen) for each in results[:kept]],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _notes(report: CheckReport, results: list[CheckResult], kept: int) -> Iterator[str]:
    if left := len(results) - kept:
        yield f"{left} of {len(results)} results, the least severe, are left out: code scanning accepts no more"
    if kept > KEPT:
        yield f"code scanning keeps {KEPT} of these {kept} results, the most severe first"
    if nowhere := sum(not findings.file_of(findings.location_of(report, each)) for each in results[:kept]):
        which = counts.of(nowhere, "result")
        yield f"{which} in no file, which code scanning does not show: --stdin-filename names one"
    yield from report.notes


def _result(
    report: CheckReport, result: CheckResult, rules: list[findings.Rule], index: int, seen: Counter[str]
) -> dict[str, Any]:
    seen[result.fingerprint] += 1
    known_by = sanitise.text(result.fingerprint)
    undecided = findings.inconclusive(result)
    found: dict[str, Any] = {
        "ruleId": sanitise.text(rules[index].id),
        "ruleIndex": index,
        "kind": "open" if undecided else "fail",  # SARIF's word for what cannot be told, and its level must be none
        "level": "none" if undecided else LEVELS[result.severity],
        "message": _message(findings.sentence(result), *findings.details(result)),
        "locations": [*_locations(report, result)],
        # The name under which GitHub looks; it would hash the line otherwise, and lose the alert when that is edited.
        "partialFingerprints": {
            "primaryLocationLineHash": f"{known_by}:{seen[result.fingerprint]}",
            "schedctl/v1": known_by,
        },
        "properties": {"policy": sanitise.text(result.policy), "scenario": sanitise.text(result.scenario)},
    }
    if result.outcome in (CheckOutcome.EXEMPTED, CheckOutcome.BASELINED):
        where = "inSource" if result.acceptance and result.acceptance.by == "object" else "external"
        why = sanitise.text(findings.acceptance(result))
        found["suppressions"] = [{"kind": where, "status": "accepted", "justification": why}]
    return found


def _locations(report: CheckReport, result: CheckResult) -> Iterator[dict[str, Any]]:
    """Yield the one location: where in a file, and of which object, as far as there is either."""
    place: dict[str, Any] = {}
    location = findings.location_of(report, result)
    if file := findings.file_of(location):
        place["physicalLocation"] = {"artifactLocation": _artifact(file), "region": _region(location, result)}
    if result.kind:
        name = "/".join(part for part in (result.namespace, result.kind, result.name) if part)
        place["logicalLocations"] = [{"fullyQualifiedName": sanitise.text(name)}]
    if place:
        yield place


def _region(location: Location, result: CheckResult) -> dict[str, int]:
    """Return the key of the field that decides, or the name of the check; the top where the line is not known.

    GitHub requires all four of a region. A template, of which there is no line, is annotated at its top.
    """
    line, column = max(location.line, 1), max(location.column, 1)
    width = 0
    if location.line and location.column:
        # The place is that of the field's key, or of `kind`; where the policy stands in, that of the check's name.
        field = location.path.rpartition(".")[2].partition("[")[0] or "kind"
        width = len(field if location == result.location else result.check)
    return {"startLine": line, "startColumn": column, "endLine": line, "endColumn": column + width}


def _artifact(file: str) -> dict[str, str]:
    uri = quote(file, safe="/", errors="surrogatepass")
    return {"uri": f"file://{uri}"} if file.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _message(*lines: str) -> dict[str, str]:
    """Return a message; what could be read as a link or as a placeholder is not one."""
    clean = "\n".join(map(sanitise.text, lines))
    return {"text": _PLACEHOLDER.sub(r"{{\1}}", clean.replace("](", "]\\("))}
