"""What the expressions of a check say of an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from schedctl.policy.documents import Check, CheckPolicy, Condition
from schedctl.reports.checks import CheckOutcome

ObserveCondition = Callable[[CheckPolicy, Check, Condition, bool], None]
"""Hears what a match condition of a check came to for an object."""


class Doubts(NamedTuple):
    """The pods behind the variables of an object of which not everything is known, in words.

    Attributes:
        undecided: by variable, those of which nobody can tell where they go.
        rejected: those that admission rejects, so that no namespace counts them.
    """

    undecided: Mapping[str, str] = MappingProxyType({})
    rejected: str = ""


NO_DOUBTS: Final = Doubts()


class Verdict(msgspec.Struct, frozen=True):
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
