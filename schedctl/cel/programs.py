"""The way of an expression through the parts: a text is compiled once, and evaluated over values of the variables."""

from __future__ import annotations

from schedctl.cel.checking import check
from schedctl.cel.declarations import Environment
from schedctl.cel.errors import LimitExceeded
from schedctl.cel.macros import expand_macros
from schedctl.cel.parsing import parse
from schedctl.cel.planning import plan
from schedctl.cel.steps import COST, FIRST_VARIABLE
from schedctl.cel.syntax import Node, Source
from schedctl.cel.validation import validate
from schedctl.cel.values import Value


class Program:
    """A compiled expression.

    Attributes:
        cost: what the last evaluation cost; one that was too dear has stopped early.
    """

    __slots__ = ("_cost_limit", "_plan", "_unset", "cost")

    def __init__(self, tree: Node, environment: Environment) -> None:
        """Plan the evaluation of a tree that `check_text` has returned for the same environment.

        Raises:
            PlanError: it would fail wherever it is evaluated.
            Aborted: Kubernetes' engine itself stumbles over it.
        """
        self._plan = plan(tree, environment)
        self._cost_limit = environment.cost_limit
        self._unset = [None] * (self._plan.places - FIRST_VARIABLE - len(environment.variables))
        self.cost = 0

    def evaluate(self, *variables: Value) -> Value:
        """Return what the expression comes to; a `Failure` where it has no answer.

        Args:
            variables: the values of the environment's variables, in its order.

        Raises:
            LimitExceeded: the evaluation costs too much, or takes too many steps.
            Aborted: Kubernetes' engine itself stumbles.
            Unsupported: Kubernetes' engine has an answer, and this one does not.
        """
        frame = [0, 0, *variables, *self._unset]
        try:
            value = self._plan.step(frame)
        finally:
            self.cost = frame[COST]
        if self.cost > self._cost_limit:
            raise LimitExceeded
        return value


def check_text(source: Source, environment: Environment) -> Node:
    """Return the typed tree of an expression.

    Raises:
        CompileError: it does not compile.
        Unsupported: Kubernetes' engine can compile it, and this one cannot.
    """
    tree = expand_macros(parse(source), source)
    check(tree, source, environment)
    if environment.checks_literals:
        validate(tree, source)
    return tree
