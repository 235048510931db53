"""What a run ends with: which results fail it, and all of them in numbers.

What is proved wrong wins over what cannot be told. An object that took no part fails the run whatever it was told to
fail on, since nobody has looked at it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from schedctl.reports import exit_codes
from schedctl.reports.checks import CheckOutcome, CheckResult, CheckSummary, NotJudged, Severity

FailOn = Literal["error", "warning", "info", "never"]
OnInconclusive = Literal["fail", "warn", "ignore"]
_RANK: Final[Mapping[str, int]] = {"info": 0, "warning": 1, "error": 2, "never": 3}


def fails(result: CheckResult, fail_on: FailOn, on_inconclusive: OnInconclusive) -> bool:
    """Return whether a result keeps the run from passing.

    Args:
        result: the result.
        fail_on: from which severity on violations fail; inconclusive results of lesser checks do not fail either.
        on_inconclusive: what inconclusive results do.
    """
    if result.refused:
        return True
    if result.outcome is CheckOutcome.INCONCLUSIVE and on_inconclusive != "fail":
        return False
    found = result.outcome in (CheckOutcome.VIOLATED, CheckOutcome.INCONCLUSIVE)
    return found and _RANK[result.severity] >= _RANK[fail_on]


def summarize(
    results: Sequence[CheckResult],
    fail_on: FailOn,
    on_inconclusive: OnInconclusive,
    not_judged: Sequence[NotJudged] = (),
) -> CheckSummary:
    """Return the answer in numbers."""
    outcomes = Counter(result.outcome for result in results)
    violations = Counter(result.severity for result in results if result.outcome is CheckOutcome.VIOLATED)
    failing = [result for result in results if fails(result, fail_on, on_inconclusive)]
    violated = any(result.refused or result.outcome is CheckOutcome.VIOLATED for result in failing)
    return CheckSummary(
        exit_code=exit_codes.of_answer(failed=violated, inconclusive=bool(failing)),
        results=len(results),
        passed=outcomes[CheckOutcome.PASSED],
        errors=violations[Severity.ERROR],
        warnings=violations[Severity.WARNING],
        infos=violations[Severity.INFO],
        exempted=outcomes[CheckOutcome.EXEMPTED],
        baselined=outcomes[CheckOutcome.BASELINED],
        inconclusive=outcomes[CheckOutcome.INCONCLUSIVE],
        not_judged=sum(each.count for each in not_judged),
        fail_on=fail_on,
        on_inconclusive=on_inconclusive,
    )


def without_verdicts(results: Sequence[CheckResult], texts: Sequence[str]) -> list[CheckResult]:
    """Return results that are inconclusive for these reasons where they had a verdict; as they are without reasons."""
    if not texts:
        return list(results)
    return [
        msgspec.structs.replace(result, outcome=CheckOutcome.INCONCLUSIVE, reasons=[*texts, *result.reasons])
        if result.outcome in (CheckOutcome.PASSED, CheckOutcome.VIOLATED)
        else result
        for result in results
    ]
