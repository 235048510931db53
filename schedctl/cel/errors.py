"""What can go wrong with an expression, from text to evaluation; errors that are values are `values.Failure`."""

from __future__ import annotations

from typing import NamedTuple


class UndeclaredName(NamedTuple):
    """Nothing is called so."""

    name: str


class UndefinedField(NamedTuple):
    """A record has no such field."""

    record: str
    field: str


class NoOverload(NamedTuple):
    """A function or operator does not take arguments of these types; the target of a method comes first."""

    function: str
    types: tuple[str, ...]


class Problem(NamedTuple):
    """A compile error: line from 1, column from 0 (-1, 0 where there is no place), Kubernetes' text.

    `cause` is for those who word it in their own way.
    """

    line: int
    column: int
    text: str
    cause: UndeclaredName | UndefinedField | NoOverload | None = None


class CompileError(Exception):
    """Text that does not compile, with everything found wrong with it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = problems


class PlanError(Exception):
    """A typed expression that cannot be evaluated, which is known before it is; the argument says why."""


class Aborted(Exception):
    """The evaluation ends here and now, where kube-scheduler's engine itself stumbles; the argument is the error."""


class NotKept(Aborted):
    """A field was asked for that the object may have, and that nobody has read."""


class LimitExceeded(Exception):
    """The evaluation costs more, or takes more steps, than it may."""


class BudgetExceeded(LimitExceeded):
    """The evaluation would read or make more than its budget of work allows."""


class Unsupported(Exception):
    """What Kubernetes' CEL has an answer to and this one does not.

    Attributes:
        feature: what is not supported.
        part: the part of the expression that asks for it, "" where that is the expression itself.
        detail: what to say of it in place of the part.
    """

    def __init__(self, feature: str, part: str = "", *, detail: str = "") -> None:
        super().__init__(feature)
        self.feature, self.part, self.detail = feature, part, detail
