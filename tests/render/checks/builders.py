"""Check reports: small ones for tables of cases, and arbitrary ones."""

from __future__ import annotations

import io
from collections import Counter

import msgspec
from hypothesis import strategies as st

from schedctl.render import check_outputs
from schedctl.reports.checks import (
    Acceptance,
    CheckOutcome,
    CheckReport,
    CheckResult,
    CheckRule,
    CheckSummary,
    Location,
    PolicyRules,
    Severity,
)
from schedctl.reports.metadata import Input, Metadata

_COUNTED = {
    CheckOutcome.PASSED: "passed",
    CheckOutcome.EXEMPTED: "exempted",
    CheckOutcome.BASELINED: "baselined",
    CheckOutcome.INCONCLUSIVE: "inconclusive",
}


def result(outcome=CheckOutcome.VIOLATED, **more):
    """One check of Deployment shop/web, which has a line in deploy/web.yaml."""
    severity = more.get("severity", Severity.ERROR)
    name = more.get("name", "web")
    return CheckResult(
        **{
            "policy": "payments-placement",
            "check": "three-zones",
            "severity": severity,
            "outcome": outcome,
            "group": "apps",
            "kind": "Deployment",
            "namespace": "shop",
            "name": name,
            "subject": f"Deployment shop/{name}",
            "message": "2 zones, needs 3",
            "location": Location(file="deploy/web.yaml", line=14, column=7),
            "fingerprint": f"sha256:{more.get('check', 'three-zones')}-{name}",
            **more,
        }
    )


def exempted(**more):
    accepted = Acceptance(by="policy", reason="runs on a pool added at night", expires="2027-03-31")
    return result(CheckOutcome.EXEMPTED, **{"acceptance": accepted, **more})


def of_the_run(**more):
    """A result of the run as a whole, which stands in no file."""
    nothing = {"group": "", "kind": "", "namespace": "", "name": "", "subject": "the run", "location": Location()}
    return result(**{"check": "no-new-pending", **nothing, "fingerprint": "sha256:run", **more})


def report(*results, summary=None, **more):
    """A report of these results; its numbers are counted."""
    outcomes = Counter(_COUNTED.get(each.outcome, f"{each.severity}s") for each in results)
    names = dict.fromkeys((each.policy, each.check, each.severity) for each in results)
    policies = [
        PolicyRules(
            name=policy,
            source=f"policies/{policy}.yaml",
            checks=[
                CheckRule(name=check, severity=severity, builtin="spread", description="every workload covers 3 zones")
                for owner, check, severity in names
                if owner == policy
            ],
        )
        for policy in dict.fromkeys(policy for policy, *_ in names)
    ]
    numbers = {"exit_code": 1 if outcomes["errors"] else 0, "results": len(results), **outcomes, **(summary or {})}
    return CheckReport(**{"summary": CheckSummary(**numbers), "policies": policies, "results": list(results), **more})


def written(document, form, **options):
    """What a form makes of a report."""
    stream = io.StringIO()
    check_outputs.write(document, form, stream, **options)
    return stream.getvalue()


# -- arbitrary reports -----------------------------------------------------------------

_NASTY = [
    "\x1b[31mred", "\u202e", "a\nb", "a\r\nb", "\ufffe", "\x00", "\x85", "\u2028", "\U000e0041",
    "::error::x", "##[error]x", "%0A", "a:b,c", "<script>", "&amp;", "]]>", "</details>", "<!-- -->", "'", '"',
    "@team", "#1", "|", "\\|", "`x`", "```", "[a](http://b)", "![a](b)", "$x$", "**b**", "~~b~~", "_i_", "{0}",
    "http://a.b", "www.a.b", "a@b.cd", "- a", "1. a", "+ a", "---", "...", "x # SKIP y", "\\# TODO",
    "\\", "null", "1e3",
]  # fmt: skip
"""What is markup, a directive or a command to somebody, or does something to a terminal."""
TEXTS = (
    st.sampled_from(_NASTY) | st.text(max_size=6) | st.builds(str.__add__, st.sampled_from(_NASTY), st.text(max_size=2))
)
NAMES = TEXTS.map(lambda text: f"x{text}")
LOCATIONS = st.builds(
    Location,
    file=st.sampled_from(["", "<stdin>", "deploy/web.yaml", "./a/../b.yaml", "/abs/x.yaml"]) | TEXTS,
    line=st.integers(0, 3),
    column=st.integers(0, 3),
)
ACCEPTANCES = st.none() | st.builds(
    Acceptance, by=st.sampled_from(["policy", "object", "baseline"]), reason=TEXTS, expires=TEXTS
)
FEW_TEXTS = st.lists(TEXTS, max_size=2)
RESULTS = st.builds(
    CheckResult,
    policy=NAMES,
    check=NAMES,
    scenario=st.just("baseline") | TEXTS,
    severity=st.sampled_from(Severity),
    outcome=st.sampled_from(CheckOutcome),
    kind=TEXTS,
    namespace=TEXTS,
    name=TEXTS,
    subject=TEXTS,
    message=TEXTS,
    reasons=FEW_TEXTS,
    hints=FEW_TEXTS,
    location=LOCATIONS,
    fingerprint=st.sampled_from(["sha256:a", "sha256:b"]) | TEXTS,
    acceptance=ACCEPTANCES,
)
RULES = st.builds(
    CheckRule,
    name=NAMES,
    severity=st.sampled_from(Severity),
    builtin=TEXTS,
    description=TEXTS,
    expressions=FEW_TEXTS,
    remediation=TEXTS,
    url=TEXTS | st.just("https://a.example/b?c=d#e"),
    tags=FEW_TEXTS,
    location=LOCATIONS,
)
POLICIES = st.builds(PolicyRules, name=NAMES, source=TEXTS, checks=st.lists(RULES, max_size=1))
INPUTS = st.builds(
    Input, source=TEXTS, digest=TEXTS, role=st.sampled_from(["Manifests", "State", "Config", "Policy", "Baseline"])
)
METADATA = st.builds(
    Metadata,
    configuration=TEXTS,
    state_taken=TEXTS | st.just("2026-11-20T10:00:00Z"),
    inputs=st.lists(INPUTS, max_size=2),
)
SUMMARIES = st.builds(
    CheckSummary,
    exit_code=st.sampled_from([0, 1, 5]),
    results=st.integers(0, 9),
    fail_on=st.sampled_from(["error", "warning", "info", "never"]),
    on_inconclusive=st.sampled_from(["fail", "warn", "ignore"]),
)
REPORTS = st.builds(
    CheckReport,
    metadata=METADATA,
    summary=SUMMARIES,
    policies=st.lists(POLICIES, max_size=2),
    results=st.lists(RESULTS, max_size=3),
    notes=st.lists(TEXTS, max_size=2),
)


def with_relative_paths(document):
    """The report with every path below where we are, which is all that GitLab takes."""
    replace = msgspec.structs.replace
    results = [
        replace(each, location=replace(each.location, file=each.location.file.lstrip("/"))) for each in document.results
    ]
    policies = [
        replace(
            each,
            source=each.source.lstrip("/"),
            checks=[
                replace(check, location=replace(check.location, file=check.location.file.lstrip("/")))
                for check in each.checks
            ],
        )
        for each in document.policies
    ]
    return replace(document, results=results, policies=policies)


RELATIVE_REPORTS = REPORTS.map(with_relative_paths)
