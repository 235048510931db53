"""A code quality report of GitLab: a list of findings, for the widget of a merge request.

GitLab wants a path and a line for each, and a fingerprint that no other has; where the file or the line is unknown
``-`` and 1 stand in. It compares fingerprints to tell new findings from old ones, so ours do not change with numbers;
notes, for which it has no place, are findings of severity ``info``, and so is by whose rules was judged, of a list that
has any.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from schedctl.render import machine, sanitise
from schedctl.render.checks import findings
from schedctl.reports.checks import CheckReport, CheckResult, Severity

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
"""GitLab also has critical and blocker, which a policy cannot say."""
_NOWHERE = "-"
_LENGTH = 32
"""Hexadecimal digits of what tells one note from another."""


def document(report: CheckReport) -> str:
    """Return the list as JSON, the worst first."""
    seen: Counter[str] = Counter()
    entries = [_entry(report, result, seen) for result in findings.open_findings(report)]
    not_judged = [_remark("not-judged", "not-judged", text) for text in findings.not_judged(report)]
    notes = [_remark("note", f"note-{_digest(text)}", text) for text in dict.fromkeys(report.notes) if text]
    found = [*entries, *not_judged, *notes]
    basis = [_remark("basis", "basis", f"judged by {findings.basis(report)}")] if found else []
    return machine.json([*found, *basis])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_LENGTH]


def _remark(check: str, fingerprint: str, text: str) -> dict[str, Any]:
    return {
        "description": sanitise.text(text),
        "check_name": check,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[Severity.INFO],
        "location": {"path": _NOWHERE, "lines": {"begin": 1}},
    }


def _entry(report: CheckReport, result: CheckResult, seen: Counter[str]) -> dict[str, Any]:
    location = findings.location_of(report, result)
    seen[result.fingerprint] += 1
    again = seen[result.fingerprint]
    return {
        "description": sanitise.text(findings.sentence(result)),
        "check_name": sanitise.text(findings.rule_id(result.policy, result.check)),
        "fingerprint": sanitise.text(result.fingerprint) + (f"-{again}" if again > 1 else ""),
        "severity": _SEVERITIES[findings.level(report, result)],
        "location": {
            "path": sanitise.text(findings.file_of(location)) or _NOWHERE,
            "lines": {"begin": max(location.line, 1)},
        },
    }
