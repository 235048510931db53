"""`CheckPolicyTestReport`: what ``schedctl test`` says, as data."""

from __future__ import annotations

from typing import Literal

from schedctl.reports.metadata import Head, Record


class PolicyTestResult(Record, frozen=True, kw_only=True):
    """What came of one test.

    Attributes:
        test: its name.
        file, line: its place.
        outcome: whether what was expected came, or the expectation was rewritten.
        differences: what did not, a line each.
        exit_code: what checking ended with.
        results: what each check said of each object, a line each.
    """

    test: str
    file: str
    line: int
    outcome: Literal["Passed", "Failed", "Updated"]
    differences: list[str] = []
    exit_code: int
    results: list[str] = []


class CoverageGap(Record, frozen=True, kw_only=True):
    """A check, or a match condition of one, that no test has exercised both ways.

    Attributes:
        file, line: its place.
        policy, check: the rule.
        condition: the match condition, "" for the check itself.
        never: what it never came to: `passed`, `violated`; of a condition `true`, `false`.
    """

    file: str
    line: int
    policy: str
    check: str
    condition: str = ""
    never: list[str]


class PolicyCoverage(Record, frozen=True, kw_only=True):
    """How much of the policies the tests exercise.

    Attributes:
        covered, total: how many outcomes of checks and answers of match conditions came, and how many there are.
        percent: covered of a hundred, rounded down; 0 where there is nothing.
        needed: how many percent have to be covered.
        is_enough: whether they are; where there is nothing, only if nothing is needed.
        gaps: what never came.
        unreadable: files with policies that cannot be read; they are not in the numbers.
    """

    covered: int
    total: int
    percent: int
    needed: float
    is_enough: bool
    gaps: list[CoverageGap] = []
    unreadable: list[str] = []


class PolicyTestSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        tests, passed, failed, updated: how many there were, and ended so.
        not_selected: how many were left out by ``-k``.
    """

    exit_code: int
    tests: int
    passed: int
    failed: int
    updated: int
    not_selected: int = 0


class CheckPolicyTestReport(Record, frozen=True, kw_only=True):
    """What ``schedctl test`` says, as data.

    Attributes:
        api_version, kind: what this is.
        metadata: which schedctl it was.
        summary: the answer in numbers.
        results: every test, in the order of files.
        coverage: what the tests exercise, null unless it was asked for.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["CheckPolicyTestReport"] = "CheckPolicyTestReport"
    metadata: Head = Head()
    summary: PolicyTestSummary
    results: list[PolicyTestResult]
    coverage: PolicyCoverage | None = None
