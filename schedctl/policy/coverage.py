"""What the tests of policies have exercised: each check both ways, and each match condition both ways.

`schedctl.policy.judgements` reports what conditions came to; what checks came to stands in the reports of the tests.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from schedctl.policy.documents import Check, CheckPolicy, Condition
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult
from schedctl.reports.policy_tests import CoverageGap, PolicyCoverage

_OUTCOMES: Final = ("passed", "violated")
_ANSWERS: Final = ("true", "false")


class _Point(NamedTuple):
    """Something to exercise: an outcome of a check, or with a condition an answer of that.

    Attributes:
        file: of the policy, without links and detours, so that all tests call it the same.
        policy, check: by name.
        condition: by name, "" for the check itself.
        came_to: an outcome or an answer.
    """

    file: str
    policy: str
    check: str
    condition: str
    came_to: str


class Coverage(msgspec.Struct):
    """What was exercised so far, of the policies that there are."""

    _policies: dict[tuple[str, str], CheckPolicy] = msgspec.field(default_factory=dict)
    _exercised: set[_Point] = msgspec.field(default_factory=set)

    def add_policies(self, policies: Iterable[CheckPolicy]) -> None:
        """Add policies whose checks are to be exercised; the one that is built in is nobody's to test."""
        for policy in policies:
            if policy.source:
                self._policies.setdefault((_file(policy.source), policy.name), policy)

    def add_condition(self, policy: CheckPolicy, check: Check, condition: Condition, answer: bool) -> None:
        """Add that a match condition was true or false for an object."""
        self._exercised.add(
            _Point(_file(policy.source), policy.name, check.name, condition.name, _ANSWERS[0 if answer else 1])
        )

    def add_report(self, report: CheckReport) -> None:
        """Add what the checks of a test came to."""
        files = {policy.name: _file(policy.source) for policy in report.policies if policy.source}
        for result in report.results:
            if (outcome := _outcome(result)) and result.policy in files:
                self._exercised.add(_Point(files[result.policy], result.policy, result.check, "", outcome))

    def report(self, needed: float = 0, unreadable: Iterable[str] = ()) -> PolicyCoverage:
        """Return how much was exercised, and what was not.

        Args:
            needed: how many of a hundred outcomes and answers have to have come.
            unreadable: files with policies that cannot be read, of which nothing can be said.
        """
        points = [point for policy in self._policies.values() for point in _points(policy)]
        covered = sum(point in self._exercised for point in points)
        return PolicyCoverage(
            covered=covered,
            total=len(points),
            percent=100 * covered // len(points) if points else 0,
            needed=needed,
            # Where there is nothing to exercise, nobody has looked.
            is_enough=100 * covered >= needed * len(points) if points else not needed,
            gaps=[gap for policy in self._policies.values() for gap in self._gaps(policy)],
            unreadable=sorted(unreadable),
        )

    def _gaps(self, policy: CheckPolicy) -> Iterator[CoverageGap]:
        missing: dict[tuple[str, str], list[str]] = {}
        for point in _points(policy):
            if point not in self._exercised:
                missing.setdefault((point.check, point.condition), []).append(point.came_to)
        for check in policy.checks:
            lines = {"": check.location.line, **{each.name: each.expression.location.line for each in check.conditions}}
            for condition, line in lines.items():
                if never := missing.get((check.name, condition)):
                    yield CoverageGap(
                        file=os.path.normpath(policy.source),
                        line=line,
                        policy=policy.name,
                        check=check.name,
                        condition=condition,
                        never=never,
                    )


def _points(policy: CheckPolicy) -> Iterator[_Point]:
    file = _file(policy.source)
    for check in policy.checks:
        yield from (_Point(file, policy.name, check.name, "", each) for each in _OUTCOMES)
        for condition in check.conditions:
            yield from (_Point(file, policy.name, check.name, condition.name, each) for each in _ANSWERS)


def _outcome(result: CheckResult) -> str:
    """Return which way a check came out, "" where nobody can tell or the object was not checked."""
    if result.refused:
        return ""
    if result.outcome is CheckOutcome.PASSED:
        return _OUTCOMES[0]
    violated = result.outcome in (CheckOutcome.VIOLATED, CheckOutcome.BASELINED)
    # What is exempted may be violated or inconclusive; only a violation says of what.
    return _OUTCOMES[1] if violated or (result.outcome is CheckOutcome.EXEMPTED and result.violates) else ""


def _file(source: str) -> str:
    return os.path.realpath(source)
