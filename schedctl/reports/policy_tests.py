"""`CheckPolicyTestReport`: what ``schedctl test`` says, as data."""

from __future__ import annotations

from typing import Literal

from schedctl.reports.metadata import Head, Record


class PolicyTestResult(Record, frozen=True, kw_only=True):
    """What came of one test.

    Attributes:
        test: its name.
        file, line: where it stands.
        outcome: whether what was expected came, or the expectation was rewritten.
        differences: what did not, a line each.
        exit_code: what checking ended with.
    """

    test: str
    file: str
    line: int
    outcome: Literal["Passed", "Failed", "Updated"]
    differences: list[str] = []
    exit_code: int


class PolicyTestSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: what the command ends with.
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
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["CheckPolicyTestReport"] = "CheckPolicyTestReport"
    metadata: Head = Head()
    summary: PolicyTestSummary
    results: list[PolicyTestResult]
