"""SARIF 2.1.0, for code scanning: one run, a rule for each check, a result for each finding.

Accepted results are left out unless they are asked for. GitHub takes 25,000 results and 10 MB, packed, and keeps 5,000:
the worst come first, and a notification says what is missing.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from schedctl.render import machine, sanitise
from schedctl.render.checks import findings
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult, Severity

MOST = 25_000
KEPT = 5_000
MOST_BYTES = 10_000_000
"""What GitHub takes, what it keeps, and how large the packed document may be."""
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def document(report: CheckReport, *, suppressed: bool = False) -> str:
    """Return the report as a SARIF log.

    Args:
        report: what to tell.
        suppressed: add what was accepted, with its reason.
    """
    # Code hosts open alerts for suppressed results, too, so that these are only there when they are asked for.
    results = [*findings.open_findings(report), *(findings.accepted_results(report) if suppressed else ())]
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
        "rules": [_rule(rule) for rule in rules],
    }
    notifications = [{"level": "note", "message": _message(note)} for note in _notes(report, len(results), kept)]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": report.summary.exit_code,
                "toolExecutionNotifications": notifications,
            }
        ],
        "properties": {
            "kubernetesVersion": report.metadata.kubernetes_version,
            "configuration": sanitise.text(report.metadata.configuration),
            "stateTaken": sanitise.text(report.metadata.state_taken),
        },
        "results": [_result(report, each, rules, indices[each.policy, each.check]) for each in results[:kept]],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _notes(report: CheckReport, results: int, kept: int) -> Iterator[str]:
    if kept < results:
        yield f"{results - kept} of {results} results, the least severe, are left out: code scanning accepts no more"
    if kept > KEPT:
        yield f"code scanning keeps {KEPT} of these {kept} results, the most severe first"
    yield from report.notes


def _rule(rule: findings.Rule) -> dict[str, Any]:
    what = rule.check.description or f"the check {rule.check.name} of the policy {rule.policy.name}"
    stated = f"{rule.policy.name}, {rule.policy.source}" if rule.policy.source else rule.policy.name
    return {
        "id": sanitise.text(rule.id),
        "name": sanitise.text(rule.check.name),
        "shortDescription": _message(what),
        "fullDescription": _message(what),
        "help": _message(f"{what} (policy {stated})"),
        "defaultConfiguration": {"level": _LEVELS[rule.check.severity]},
        "properties": {
            "tags": ["kubernetes", "scheduling"],
            "problem.severity": _PROBLEMS[rule.check.severity],
            "policy": sanitise.text(rule.policy.name),
            "builtin": sanitise.text(rule.check.builtin),
        },
    }


def _result(report: CheckReport, result: CheckResult, rules: list[findings.Rule], index: int) -> dict[str, Any]:
    undecided = findings.inconclusive(result)
    found: dict[str, Any] = {
        "ruleId": sanitise.text(rules[index].id),
        "ruleIndex": index,
        "kind": "open" if undecided else "fail",  # SARIF's word for what cannot be told, and its level must be none
        "level": "none" if undecided else _LEVELS[result.severity],
        "message": _message(findings.sentence(result), *findings.details(result)),
        "locations": [*_locations(report, result)],
        "partialFingerprints": {"schedctl/v1": sanitise.text(result.fingerprint)},
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
        place["physicalLocation"] = {"artifactLocation": _artifact(file)}
        if location.line:
            column = {"startColumn": location.column} if location.column else {}
            place["physicalLocation"]["region"] = {"startLine": location.line, **column}
    if result.kind:
        name = "/".join(part for part in (result.namespace, result.kind, result.name) if part)
        place["logicalLocations"] = [{"fullyQualifiedName": sanitise.text(name)}]
    if place:
        yield place


def _artifact(file: str) -> dict[str, str]:
    uri = quote(file, safe="/", errors="surrogatepass")
    return {"uri": f"file://{uri}"} if file.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _message(*lines: str) -> dict[str, str]:
    """Return a message; what could be read as a link or as a placeholder is not one."""
    clean = "\n".join(map(sanitise.text, lines))
    return {"text": _PLACEHOLDER.sub(r"{{\1}}", clean.replace("](", "]\\("))}
