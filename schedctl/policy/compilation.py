"""Compiles the expressions of policies, and says of each mistake where it is in the file and what may be meant.

The types of variables and records are those of `schedctl.policy.variables`, so that a field that does not exist, or a
comparison that cannot be made, is refused before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from schedctl.cel import errors as cel_errors
from schedctl.cel import types
from schedctl.cel.budgets import Budget
from schedctl.cel.declarations import Environment
from schedctl.cel.programs import Program, check_text
from schedctl.cel.syntax import Source
from schedctl.cel.types import Type
from schedctl.documents.spelling import did_you_mean
from schedctl.errors import Problem, UsageError
from schedctl.policy.documents import Check, CheckPolicy, Expression, Scope
from schedctl.policy.expressions import variable_names
from schedctl.policy.functions import LIBRARY, functions
from schedctl.policy.variables import IN_SCOPE, PARAMS, RECORDS, ROOTS, VARIABLES

STEP_LIMIT: Final = 10_000
"""How many elements one evaluation visits at most, over all macros of the expression."""
WORK_LIMIT: Final = 1_000_000
"""How much an expression and the variables it reads may read and make: so many elements, or 16 bytes for each."""
WORK_OF_OBJECT: Final = 1_000
"""How much more it may be over all objects of a situation, for each of them: a loop in each over all is too much."""
WORK_OF_POLICY: Final = 10 * WORK_LIMIT
"""How much all expressions of a policy may read and make in a situation, `WORK_OF_OBJECT` for each evaluation apart."""
_PREFIX: Final = "schedctl."
"""Before the names of records, which are no names in expressions."""
_QUANTITY: Final = "kubernetes.Quantity"
_FUNCTIONS: Final = tuple(dict.fromkeys(each.function for each in LIBRARY if not each.member))
_OPERATOR: Final = re.compile(r"@?_?(.*?)_?")
_DOTTED_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*(?!\w|\s*\())*")
_RESERVED: Final = {"reserved identifier: namespace": "write namespaceObject"}
_WORDED: Final = {types.INT: "a number", types.DOUBLE: "a number", types.STRING: "text", types.BOOL: "true or false"}
_BASIC: Final = {"string": types.STRING, "int": types.INT, "bool": types.BOOL, "double": types.DOUBLE, "dyn": types.DYN}


def compile_policy(policy: CheckPolicy) -> list[Problem]:
    """Return what keeps the expressions of a policy from being compiled, with its place in the file.

    Raises:
        UsageError: the CEL engine is not installed.
    """
    problems: list[Problem] = []
    checks = [check for check in policy.checks if any(True for _ in check.expressions)]
    scopes = [scope for scope in Scope if any(check.scope is scope for check in checks)]
    unused = {variable.name for variable in policy.variables}
    for scope in scopes:
        compiler = ScopeCompiler(policy, scope)
        for check in checks:
            if check.scope is scope:
                problems += compiler.problems(check)
        unused -= compiler.reached
    if unused:
        # A variable that no check reads has to make sense in one scope at least.
        compilers = [ScopeCompiler(policy, scope) for scope in Scope]
        for name in sorted(unused):
            attempts = [compiler.of_variables[name] for compiler in compilers]
            fewest: list[Problem] = min(attempts, key=len)
            problems += fewest
    problems = list(dict.fromkeys(problems))
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


class ScopeCompiler:
    """Compiles the expressions of a policy in one scope.

    Attributes:
        of_variables: what is wrong with each variable in this scope.
        reached: the variables that checks have used.
    """

    def __init__(
        self, policy: CheckPolicy, scope: Scope, budget: Budget | None = None, recurring: frozenset[str] = frozenset()
    ) -> None:
        """Compile the variables of a policy.

        Args:
            policy: whose expressions are compiled.
            scope: what they may read.
            budget: what their evaluation spends; not needed to find what is wrong.
            recurring: the variables that many objects of the scope share.
        """
        self._scope, self._budget, self._recurring = scope, budget, recurring
        self._policy = policy
        self.of_variables: dict[str, list[Problem]] = {}
        self.reached: set[str] = set()
        self._variable_types: dict[str, Type] = {}
        for variable in policy.variables:
            # A variable sees those above it, which are the ones that have a type by now.
            type_, problems = self._check(variable.expression, None)
            self.of_variables[variable.name] = problems
            # Only simple types are carried over; what a record behind a variable has is seen when it is evaluated.
            self._variable_types[variable.name] = type_ if type_ in _WORDED else types.DYN

    def program(self, text: str) -> Program:
        """Return the program of an expression in which nothing is wrong."""
        environment = self._environment()
        return Program(check_text(Source(text), environment), environment)

    def problems(self, check: Check) -> Iterator[Problem]:
        """Yield what is wrong with the expressions of a check, and with the variables that they use."""
        for condition in check.conditions:
            yield from self._problems_of(condition.expression, types.BOOL)
        for validation in check.validations:
            yield from self._problems_of(validation.expression, types.BOOL)
            if validation.message_expression is not None:
                yield from self._problems_of(validation.message_expression, types.STRING)

    def _problems_of(self, expression: Expression, expected: Type) -> Iterator[Problem]:
        _, problems = self._check(expression, expected)
        yield from problems
        waiting = variable_names(expression.text, self._variable_types)
        texts = {variable.name: variable.expression.text for variable in self._policy.variables}
        while waiting:
            name = waiting.pop()
            if name in texts and name not in self.reached:
                self.reached.add(name)
                yield from self.of_variables[name]
                waiting += variable_names(texts[name], texts)

    def _environment(self) -> Environment:
        names = (name for name in self._policy.params if re.fullmatch(r"[A-Za-z_]\w*", name))
        records = {
            **_records(),
            _PREFIX + VARIABLES: dict(self._variable_types),
            _PREFIX + PARAMS: dict.fromkeys(names, types.DYN),
        }
        roots = {root: ROOTS[root] for root in IN_SCOPE[self._scope]}
        variables = {name: _type(written) for name, written in {**roots, PARAMS: PARAMS, VARIABLES: VARIABLES}.items()}
        return Environment(
            variables,
            functions(),
            records,
            step_limit=STEP_LIMIT,
            checks_literals=False,
            budget=self._budget,
            recurring=self._recurring,
        )

    def _check(self, expression: Expression, expected: Type | None) -> tuple[Type, list[Problem]]:
        """Return the type of an expression, and what is wrong with it."""
        if not expression.text.strip():
            return types.DYN, [_problem(expression, 0, "the expression is empty")]
        source, environment = Source(expression.text), self._environment()
        try:
            tree = check_text(source, environment)
            # Planned too: what is constant and fails is found only then.
            Program(tree, environment)
        except cel_errors.CompileError as error:
            return types.DYN, [self._word_problem(expression, source, problem) for problem in error.problems]
        except (cel_errors.PlanError, cel_errors.Aborted) as error:
            return types.DYN, [_problem(expression, 0, _lower_first(str(error)))]
        except cel_errors.Unsupported as error:
            return types.DYN, [_problem(expression, 0, f"schedctl does not support {error.feature}")]
        except RecursionError:
            return types.DYN, [_problem(expression, 0, "the expression is nested too deeply")]
        except ImportError:
            hint = "`pip install cel-expr-python` (it has wheels for glibc, macOS and Windows)"
            raise UsageError("this policy has expressions, but the CEL engine is not installed", hint) from None
        if expected is None or tree.type in (expected, types.DYN):
            return tree.type, []
        message = f"expected an expression that is {_WORDED[expected]}; this is {_with_article(tree.type)}"
        return tree.type, [_problem(expression, 0, message)]

    def _word_problem(self, expression: Expression, source: Source, problem: cel_errors.Problem) -> Problem:
        """Return a compile error in the words of policies, with its place and a next step."""
        offset = min(source.offset(problem), len(expression.text))
        match problem.cause:
            case cel_errors.UndefinedField(record, field):
                # The checker places a field at its dot.
                if expression.text[offset : offset + 1] == ".":
                    offset += 1
                message, hint = self._no_field(record.removeprefix(_PREFIX), field)
            case cel_errors.UndeclaredName(name):
                offset = _last_dot(expression.text, offset)
                message, hint = self._no_name(name.removeprefix(".").partition(".")[0])
            case cel_errors.NoOverload(function, argument_types):
                message, hint = _no_overload(function, argument_types)
            case None:
                message, hint = _lower_first(problem.text), _RESERVED.get(problem.text, "")
        return _problem(expression, offset, message, hint)

    def _no_field(self, record: str, field: str) -> tuple[str, str]:
        if record == VARIABLES:
            names = [variable.name for variable in self._policy.variables]
            if field in names:
                return f'the variable "{field}" is not defined yet', "a variable can use only the variables above it"
            return _unknown("variable", field, names)
        if record == PARAMS:
            return _unknown("param", field, self._policy.params)
        return _unknown("field", field, RECORDS.get(record, ()), f" in {record.lower()}")

    def _no_name(self, name: str) -> tuple[str, str]:
        known = [*IN_SCOPE[self._scope], PARAMS, VARIABLES]
        if name in ROOTS:
            where = [scope.value for scope in Scope if name in IN_SCOPE[scope]]
            hint = f"it is available in the scope {' or '.join(where)}; available here: {', '.join(known)}"
            return f'"{name}" is not available in the scope {self._scope.value}', hint
        return _unknown("variable or function", name, [*known, *_FUNCTIONS])


@cache
def _records() -> Mapping[str, Mapping[str, Type]]:
    return {
        _PREFIX + record: {name: _type(written) for name, written in fields.items()}
        for record, fields in RECORDS.items()
    }


def _type(written: str) -> Type:
    """Return the type that `schedctl.policy.variables` writes, as in ``list<Taint>`` or ``Node?``."""
    name, _, inner = written.rstrip("?>").partition("<")
    if name == "list":
        return types.list_of(_type(inner))
    if name == "map":
        return types.map_of(*map(_type, inner.split(",")))
    return _BASIC.get(name) or types.struct(_PREFIX + name)


def _last_dot(text: str, offset: int) -> int:
    """Return where the last part of a dotted name begins, which is unknown as a whole; of another one its offset."""
    name = _DOTTED_NAME.match(text, offset)
    return max(text.rfind(".", offset, name.end()), offset) if name else offset


def _problem(expression: Expression, offset: int, message: str, hint: str = "") -> Problem:
    location = expression.location
    return Problem(message, location.file, *expression.place_of(offset), path=location.path, hint=hint)


def _unknown(what: str, name: str, names: Iterable[str], where: str = "") -> tuple[str, str]:
    return f'unknown {what} "{name}"{where}', did_you_mean(name, list(names))


def _no_overload(function: str, argument_types: tuple[str, ...]) -> tuple[str, str]:
    operator = _OPERATOR.fullmatch(function) if not function.isalnum() else None
    name = (operator[1].strip("_") if operator else "") or function
    hint = ""
    if "int" in argument_types and "double" in argument_types:
        hint = "an int and a double cannot be combined: write double(...) around the int"
    elif argument_types[:1] == (_QUANTITY,) and operator:
        hint = "compare quantities with isLessThan, isGreaterThan or compareTo"
    shown = ", ".join(argument_types).replace(_QUANTITY, "quantity").replace(_PREFIX, "")
    return f'"{name}" does not take ({shown})', hint


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _with_article(type_: Type) -> str:
    if type_ in _WORDED:
        return _WORDED[type_]
    name = str(type_).partition("(")[0].removeprefix(_PREFIX).lower()
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"
