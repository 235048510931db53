"""What the expressions of a check say of an object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from schedctl.policy.documents import Check, CheckPolicy, Condition
from schedctl.reports.checks import CheckOutcome

ObserveCondition = Callable[[CheckPolicy, Check, Condition, bool], None]
"""Hears what a match condition of a check came to for an object."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the expressions of a check say of one object.

    Attributes:
        outcome: passed, violated or inconclusive.
        message: the finding in one line, "" where it passed.
        reasons: what stands behind it, a line each.
        hints: next steps, a line each.
        violates: the expressions that do not hold, each once.
    """

    outcome: CheckOutcome
    message: str = ""
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    violates: tuple[str, ...] = ()


PASSED: Final = Verdict(CheckOutcome.PASSED)


class EvaluationFailed(Exception):
    """An expression has no answer; `verdict` says why, as an inconclusive result."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict
