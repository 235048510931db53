"""Judges one object after another by the expressions of a policy.

That an expression failed is never a pass: it is a `Fault`, which makes a result inconclusive. So is the answer of one
that asks where pods go of which nobody can tell, unless it speaks of ``inconclusive`` and so knows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from schedctl.cel import errors as cel_errors
from schedctl.cel import values
from schedctl.cel.budgets import Budget
from schedctl.cel.programs import Program
from schedctl.cel.values import Failure, Value
from schedctl.policy.compilation import STEP_LIMIT, WORK_LIMIT, WORK_OF_OBJECT, WORK_OF_POLICY, ScopeCompiler
from schedctl.policy.documents import Check, Expression, Scope, Validation
from schedctl.policy.expressions import PolicyExpressions
from schedctl.policy.variables import IN_SCOPE, VARIABLES
from schedctl.policy.verdicts import NO_DOUBTS, PASSED, Doubts, EvaluationFailed, ObserveCondition, Verdict
from schedctl.reports.checks import CheckOutcome

_OUR_WORDS: Final = {"division by zero": "divide by zero"}
_FEWER_STEPS: Final = "sum, min, max and the counts in `result` cost no steps; a smaller scope has shorter lists"
_LESS_WORK: Final = "do not build long lists and texts, and do not compare lists with each other"
_TOO_MUCH_WORK: Final = f"it reads or makes more than {WORK_LIMIT:,} elements or {WORK_LIMIT * 16 // 10**6} MB of text"
_TOO_MUCH_FOR_ANOTHER: Final = "it was too much work for another object, and is evaluated for no more"
_TOO_MUCH_FOR_POLICY: Final = (
    f"the expressions of this policy before it read or made more than {WORK_OF_POLICY:,} elements together"
)
_ONCE_FOR_ALL: Final = "find what many objects have in common in scope workload or run, or in a variable without `pod`"
_MOST_CHARACTERS: Final = 2_000
"""Of a message that an expression makes."""
_MOST_QUOTED: Final = 200
"""Characters of what an evaluation failed with."""
_NAMESPACES: Final = (
    "`kubectl get namespaces -o yaml` lists them; `has(namespaceObject.labels)` tells whether they are known"
)
_OTHER_TOOLS: Final = "schedctl reads what placing, evicting and counting pods takes; an admission policy sees the rest"
_UNSET: Any = object()


class Fault(msgspec.Struct, frozen=True):
    """Why an expression has no answer.

    Attributes:
        expression: of which that is true.
        message: why.
        hint: a next step, "" where there is none.
        variable: the variable that the expression makes, "" where it makes none.
    """

    expression: Expression
    message: str
    hint: str = ""
    variable: str = ""

    def verdict(self) -> Verdict:
        """Return the inconclusive verdict."""
        of = f' of the variable "{self.variable}"' if self.variable else ""
        return Verdict(
            CheckOutcome.INCONCLUSIVE,
            f"the expression{of} cannot be evaluated: {self.message}",
            (_line_with_place(self.expression),),
            (self.hint,) if self.hint else (),
        )


class Programs:
    """The compiled expressions of a policy that `compilation` has accepted."""

    def __init__(self, expressions: PolicyExpressions, observe: ObserveCondition | None = None) -> None:
        self.expressions, self.observe = expressions, observe
        self.params = values.from_json(dict(expressions.policy.params))
        self._compilers: dict[Scope, ScopeCompiler] = {}
        self._programs: dict[tuple[str, Scope], Program] = {}
        self._latest: dict[str, tuple[Any, Value]] = {}
        self._shared: dict[tuple[str, Scope], tuple[tuple[Value, ...], Value]] = {}
        self._abandoned: dict[tuple[str, Scope], str] = {}
        self._work: dict[tuple[str, Scope], tuple[float, int]] = {}
        self._work_left: float = WORK_OF_POLICY
        self.budget = Budget(WORK_LIMIT)

    def begin_situation(self) -> None:
        """Begin with another situation, in which every expression is given a chance again."""
        self._abandoned.clear()
        self._work.clear()
        self._work_left = WORK_OF_POLICY

    def abandon(self, text: str, scope: Scope, why: str = _TOO_MUCH_FOR_ANOTHER) -> None:
        """Evaluate an expression for no more objects of the situation."""
        self._abandoned[text, scope] = why

    def abandoned(self, text: str, scope: Scope) -> str:
        """Return why an expression is evaluated for no more objects of the situation, "" where it is."""
        return self._abandoned.get((text, scope), "" if self._work_left >= 0 else _TOO_MUCH_FOR_POLICY)

    def note_work(self, text: str, scope: Scope) -> None:
        """Note what an expression has spent on one object, and abandon it where that is too much for all together.

        Where it is too much for all expressions of the policy together, all of them are abandoned.
        """
        if self._work_left >= 0:
            # what a call would have needed that was not made counts for no more than an expression may spend
            self._work_left += WORK_OF_OBJECT - min(self.budget.spent, WORK_LIMIT)
        work, objects = self._work.get((text, scope), (0.0, 0))
        work, objects = work + self.budget.spent, objects + 1
        self._work[text, scope] = work, objects
        if work > WORK_LIMIT + WORK_OF_OBJECT * objects and not self.abandoned(text, scope):
            self.abandon(text, scope, _too_much_for_all(objects))

    def judgement(self, scope: Scope, data: Mapping[str, Any], doubts: Doubts = NO_DOUBTS) -> Judgement:
        """Return what judges one object.

        Args:
            scope: of the checks it will be judged by.
            data: what `PolicyExpressions.roots` names; see `schedctl.policy.variables`.
            doubts: the pods behind them of which not everything is known.
        """
        roots = self.expressions.roots(scope)
        root_values = [self._value(root, data[root]) if root in roots else values.MISSING for root in IN_SCOPE[scope]]
        return Judgement(self, scope, root_values, doubts)

    def program(self, text: str, scope: Scope) -> Program:
        """Return the compiled form of an expression."""
        if (text, scope) not in self._programs:
            if scope not in self._compilers:
                expressions = self.expressions
                self._compilers[scope] = ScopeCompiler(
                    expressions.policy, scope, self.budget, expressions.recurring(scope)
                )
            self._programs[text, scope] = self._compilers[scope].program(text)
        return self._programs[text, scope]

    def variable_value(self, name: str, scope: Scope, roots: tuple[Value, ...], make: Callable[[], Value]) -> Value:
        """Return the value of a variable that rests on `roots` alone, and so is the same for many objects."""
        latest = self._shared.get((name, scope))
        if latest is None or any(a is not b for a, b in zip(latest[0], roots, strict=True)):
            latest = self._shared[name, scope] = (roots, make())
        return latest[1]

    def _value(self, root: str, data: Any) -> Value:
        # The pods of a workload are judged one after another, and share the workload, which has all of them.
        latest = self._latest.get(root)
        if latest is None or latest[0] is not data:
            latest = self._latest[root] = (data, values.from_json(data))
        return latest[1]


class Judgement:
    """One object under the expressions of a policy.

    As in a ValidatingAdmissionPolicy a variable is worked out at most once for each object, when it is first read.
    """

    def __init__(self, programs: Programs, scope: Scope, roots: list[Value], doubts: Doubts) -> None:
        self._programs, self._scope, self._doubts = programs, scope, doubts
        # In the order of the environment that `compilation` makes.
        self._values = (*roots, programs.params, values.Record(VARIABLES, self._variable))
        self._variables: dict[str, Value] = {}
        self._others = tuple(value for root, value in zip(IN_SCOPE[scope], roots, strict=True) if root != scope.value)
        self._recurring = programs.expressions.recurring(scope)

    def applies(self, check: Check) -> bool:
        """Return whether a check is about the object: all its conditions hold.

        Raises:
            EvaluationFailed: one has no answer, and none is false.
        """
        fault = None
        for condition in check.conditions:
            answer = self._truth(condition.expression)
            if isinstance(answer, bool) and self._programs.observe is not None:
                self._programs.observe(self._programs.expressions.policy, check, condition, answer)
            if answer is False:
                return False
            if isinstance(answer, Fault):
                fault = fault or answer
        if fault is not None:
            raise EvaluationFailed(fault.verdict())
        return True

    def judge(self, check: Check) -> Verdict | None:
        """Return the verdict of a check's validations, None where the check is not about the object."""
        try:
            if not self.applies(check):
                return None
        except EvaluationFailed as failed:
            return failed.verdict
        answers = [(each, self._truth(each.expression)) for each in check.validations]
        faults = [answer for _, answer in answers if isinstance(answer, Fault)]
        violations = [self._violation(validation) for validation, answer in answers if answer is False]
        if violations:
            first, *others = violations
            more = [other.message for other in others] + [line for each in violations for line in each.reasons]
            more += [f"{fault.verdict().message} ({_line_with_place(fault.expression)})" for fault in faults]
            failing = tuple(_one_line(each.expression.text) for each, answer in answers if answer is False)
            return Verdict(CheckOutcome.VIOLATED, first.message, tuple(more), violates=failing)
        return faults[0].verdict() if faults else PASSED

    def _violation(self, validation: Validation) -> Verdict:
        """Return what to say of a validation that does not hold."""
        fallback = validation.message or f"does not hold: {_one_line(validation.expression.text)}"
        if validation.message_expression is None:
            return Verdict(CheckOutcome.VIOLATED, fallback)
        message = self._answer(validation.message_expression)
        if isinstance(message, str) and len(message) > _MOST_CHARACTERS:
            message = Fault(validation.message_expression, f"it makes more than {_MOST_CHARACTERS:,} characters")
        if isinstance(message, str) and message.strip() and len(message.splitlines()) == 1:
            return Verdict(CheckOutcome.VIOLATED, message.strip())
        why = message.message if isinstance(message, Fault) else f"expected one line of text, got {_describe(message)}"
        return Verdict(CheckOutcome.VIOLATED, fallback, (f"messageExpression cannot be used: {why}",))

    def _truth(self, expression: Expression) -> bool | Fault:
        if fault := self._doubt(expression):
            return fault
        value = self._answer(expression)
        if isinstance(value, bool | Fault):
            return value
        return Fault(expression, f"expected true or false, got {_describe(value)}")

    def _doubt(self, expression: Expression) -> Fault | None:
        """Return why an answer would not be known, whatever the expression comes to; None where there is no doubt."""
        undecided, rejected = self._doubts
        expressions = self._programs.expressions
        roots = expressions.placement_roots(expression.text) if undecided else ()
        if pods := next((pods for root, pods in undecided.items() if root in roots), ""):
            hint = "an expression that uses `pod.inconclusive` is evaluated all the same"
            return Fault(expression, f"schedctl cannot tell where {pods} would go", hint)
        if rejected and expressions.counting_roots(expression.text):
            hint = "an expression that uses `namespaceObject.rejected` is evaluated all the same"
            return Fault(expression, f"pods that would not exist ({rejected}) count in no namespace and no quota", hint)
        return None

    def _answer(self, expression: Expression) -> Value | Fault:
        """Return what an expression of a check comes to; its variables share its budget."""
        self._programs.budget.renew()
        answer = self._evaluate(expression)
        self._programs.note_work(expression.text, self._scope)
        return answer

    def _evaluate(self, expression: Expression) -> Value | Fault:
        """Return what an expression comes to, or why it comes to nothing."""
        if why := self._programs.abandoned(expression.text, self._scope):
            lighter = why in (_TOO_MUCH_FOR_ANOTHER, _TOO_MUCH_FOR_POLICY)
            return Fault(expression, why, _LESS_WORK if lighter else _ONCE_FOR_ALL)
        try:
            value = self._programs.program(expression.text, self._scope).evaluate(*self._values)
        except cel_errors.BudgetExceeded:
            self._programs.abandon(expression.text, self._scope)
            return Fault(expression, _TOO_MUCH_WORK, _LESS_WORK)
        except cel_errors.LimitExceeded:
            return Fault(expression, f"it takes more than {STEP_LIMIT:,} steps", _FEWER_STEPS)
        except cel_errors.NotKept as error:
            return Fault(expression, str(error), _OTHER_TOOLS)
        except cel_errors.Aborted as error:
            return Fault(expression, str(error))
        except cel_errors.Unsupported as error:
            return Fault(expression, f"schedctl does not support {error.feature}")
        except RecursionError:
            return Fault(expression, "it is nested too deeply")
        if isinstance(value, Failure):
            return value.cause if isinstance(value.cause, Fault) else Fault(expression, *_reword(value))
        if isinstance(value, values.Optional):
            return Fault(expression, "it is an optional value", "end it with `.orValue(...)` or `.hasValue()`")
        return value

    def _variable(self, name: str) -> Value:
        """Return the value of a variable, or the failure whose cause is the fault that keeps it from having one."""
        value = self._variables.get(name, _UNSET)
        if value is _UNSET:
            if f"{VARIABLES}.{name}" in self._recurring:
                value = self._programs.variable_value(
                    name, self._scope, self._others, lambda: self._make_variable(name)
                )
            else:
                value = self._make_variable(name)
            self._variables[name] = value
        return value

    def _make_variable(self, name: str) -> Value:
        value = self._evaluate(self._programs.expressions.variables[name].expression)
        if not isinstance(value, Fault):
            return value
        fault = value if value.variable else replace(value, variable=name)
        return Failure(fault.message, fault)


def _too_much_for_all(objects: int) -> str:
    return f"it was too much work for the {objects:,} objects before, together, and is evaluated for no more"


def _reword(failure: Failure) -> tuple[str, str]:
    """Return why an evaluation failed in the words of policies, and a next step."""
    match failure.cause:
        case values.MissingKey(value=None):
            return "a field of null was read", "check with `has(...)` first"
        case values.MissingKey(key="node"):
            return "the pod has no node", "check `pod.scheduled` or `has(pod.node)` first"
        case values.MissingKey(key="used" | "headroom"):
            return "the use of the quota is not counted", "leave out `--skip-admission ResourceQuota` and `scale`"
        case values.MissingKey(key="labels" | "annotations" as key, value=value) if _is_namespace(value):
            return f"the state has no Namespace object, so the {key} of the namespace are unknown", _NAMESPACES
        case values.MissingKey(key=key):
            return (
                f'no key "{_shorten(values.format_value(key))}"',
                "use `.?KEY.orValue(...)` or `.?KEY.hasValue()`; has(a.b.c) needs a.b, a.?b.?c.hasValue() does not",
            )
    first = _one_line(failure.text.splitlines()[0]) if failure.text else "no reason given"
    return _OUR_WORDS.get(first, _shorten(first[:1].lower() + first[1:])), ""


def _is_namespace(value: Value) -> bool:
    return isinstance(value, values.Map) and value.find("quotas") is not values.MISSING


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_QUOTED else f"{text[: _MOST_QUOTED - 3]}..."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _line_with_place(expression: Expression) -> str:
    """Return an expression and where it stands, as a reason."""
    place = expression.location
    where = f" ({place.file}:{place.line}:{place.column})" if place.file and place.line else ""
    return f"expression: {_one_line(expression.text)}{where}"


def _describe(value: Value) -> str:
    if value is None:
        return "null"
    kinds = {
        str: "text",
        int: "a number",
        float: "a number",
        bool: "true or false",
        list: "a list",
        values.Map: "a map",
    }
    return kinds.get(type(value), "something else")
