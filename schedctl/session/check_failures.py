"""The report of a check that could not be made: each fault is an inconclusive result, in every format."""

from __future__ import annotations

from schedctl.errors import Problem, ProblemsError, SchedctlError
from schedctl.policy.fingerprints import fingerprint
from schedctl.reports.checks import (
    CheckOutcome,
    CheckReport,
    CheckResult,
    CheckRule,
    CheckSummary,
    Location,
    PolicyRules,
    Severity,
)
from schedctl.sources.files import STDIN

_POLICY, _CHECK = "command-line", "completed"
_DESCRIPTION = "the check could be made"


def report_of(fault: SchedctlError) -> CheckReport:
    """Return the report of a fault: nothing was judged, and why."""
    problems = fault.problems if isinstance(fault, ProblemsError) else [_problem(fault)]
    results = [_result(problem) for problem in problems]
    rule = CheckRule(name=_CHECK, severity=Severity.ERROR, description=_DESCRIPTION)
    return CheckReport(
        summary=CheckSummary(exit_code=fault.exit_code, results=len(results), inconclusive=len(results)),
        policies=[PolicyRules(name=_POLICY, checks=[rule])],
        results=results,
        notes=[f"the check could not be made (exit code {fault.exit_code}): nothing was judged"],
    )


def _problem(fault: SchedctlError) -> Problem:
    return Problem(str(fault), hint=getattr(fault, "hint", ""))


def _result(problem: Problem) -> CheckResult:
    message = f"{problem.path}: {problem.message}" if problem.path else problem.message
    subject = problem.subject or problem.source or "the run"
    is_file = problem.source not in ("", STDIN, "<stdin>")
    return CheckResult(
        policy=_POLICY,
        check=_CHECK,
        severity=Severity.ERROR,
        outcome=CheckOutcome.INCONCLUSIVE,
        subject=subject,
        message=f"nothing was judged: {message}",
        hints=[problem.hint] if problem.hint else [],
        location=Location(file=problem.source, line=problem.line, column=problem.column, path=problem.path)
        if is_file
        else Location(),
        fingerprint=fingerprint(
            policy=_POLICY,
            check=_CHECK,
            scenario="baseline",
            group="",
            kind="",
            namespace="",
            name=subject,
            more=(problem.source, problem.path, problem.message),
        ),
    )
