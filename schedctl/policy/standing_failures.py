"""Failures that stand before any scenario: they are reported once, and not again for each case of a scenario.

`schedctl.policy.evaluations` judges the cases and asks here what is left to report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from schedctl.policy.findings import Finding, Judged
from schedctl.policy.results import Rule
from schedctl.reports.checks import CheckOutcome
from schedctl.simulation.what_ifs import abbreviate


class Answer(NamedTuple):
    """What a check finds of an object in a situation.

    Attributes:
        rule: the check.
        finding: what it finds.
        about: the object.
        scenario: the name of the situation.
    """

    rule: Rule
    finding: Finding
    about: Judged
    scenario: str

    @property
    def is_failure(self) -> bool:
        """Whether it is violated or inconclusive."""
        return self.finding.outcome is not CheckOutcome.PASSED

    @property
    def equality_key(self) -> object:
        """What is equal for answers that say the same of an object, whatever stands behind it."""
        finding = self.finding
        violates = frozenset(finding.violates.items())
        return self.rule, self.about.identity, finding.outcome, finding.message, violates


def fold_standing(
    before: Sequence[Answer], more_before: Sequence[Answer], in_scenarios: Iterable[Answer]
) -> Iterator[Answer]:
    """Yield the answers to report: of failures in scenarios that stand before them, only the one from before.

    Args:
        before: the answers without a scenario, all of which are reported.
        more_before: more of them, which are reported only in the place of equal ones in scenarios.
        in_scenarios: the answers in scenarios.
    """
    cases: dict[object, list[str]] = {each.equality_key: [] for each in (*before, *more_before) if each.is_failure}
    others: list[Answer] = []
    for answer in in_scenarios:
        if answer.is_failure and answer.equality_key in cases:
            cases[answer.equality_key].append(answer.scenario)
        else:
            others.append(answer)
    for answer in before:
        yield _with_cases(answer, cases.get(answer.equality_key, ()))
    for answer in more_before:
        if names := cases.get(answer.equality_key):
            yield _with_cases(answer, names)
    yield from others


def _with_cases(answer: Answer, names: Sequence[str]) -> Answer:
    if not names:
        return answer
    reasons = (*answer.finding.reasons, f"the same in {abbreviate(names)}")
    return answer._replace(finding=replace(answer.finding, reasons=reasons))
