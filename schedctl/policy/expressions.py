"""The CEL of policies: compiled with the place of every mistake, and evaluated over one object after another.

The engine (cel-expr-python) gets two environments. One only checks: its variables have the records of
`schedctl.policy.variables` as types, so that a field that does not exist, or a comparison that cannot be made, is
refused before anything runs. The other evaluates, over plain data, where every variable is dynamic; messages would
have to be built for each object otherwise.

``variables`` are those of ValidatingAdmissionPolicy: worked out at most once for each object. The engine knows no lazy
values, so those that an expression names are worked out before it; one that fails is left out, which only shows where
the expression comes to use it; where an expression asks what is there, as ``has`` does, it has no answer itself. Nor
has one that asks where pods go of which nobody can tell, unless it speaks of ``inconclusive`` and so knows of them.
That an expression failed is never a pass: it is a `Failed`, which makes a result inconclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from schedctl.documents.spelling import did_you_mean
from schedctl.errors import Problem, UsageError
from schedctl.policy.documents import Check, CheckPolicy, Expression, Scope, Validation, Variable
from schedctl.policy.functions import OVERLOADS, QUANTITY
from schedctl.policy.variables import ANYTHING, IN_SCOPE, RECORDS, ROOTS
from schedctl.reports.checks import Outcome

_VARIABLES: Final = "variables"
_PARAMS: Final = "params"
_REFERENCE: Final = re.compile(r"\bvariables\s*\.\s*\??\s*([A-Za-z_]\w*)")
_WHOLE: Final = re.compile(r"\bvariables\b(?!\s*\.\s*\??\s*[A-Za-z_])")
_PRESENCE: Final = re.compile(r"\bhas\b|[.\[{,]\s*\?")
"""Where an expression asks whether something is there, what is left out would count as not there."""
_PLACING: Final[Mapping[str, re.Pattern[str]]] = {
    "pod": re.compile(r"\b(scheduled|node|reasons|preempts)\b"),
    "workload": re.compile(r"\b(ready|pending|zones|nodes|scheduled|node|reasons|preempts)\b"),
    "node": re.compile(r"\b(requested|free|pods)\b"),
    "result": re.compile(r"\b(pods|pendingByReason|preemptions|headroom)\b"),
}
"""The fields of each variable that depend on where pods go."""
_INCONCLUSIVE: Final = re.compile(r"\binconclusive\b")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_STEPS: Final = 10_000
"""How many elements the engine visits in one evaluation at most, over all macros of the expression."""
_CONFIG: Final = (
    "stdlib:\n  disable_macros: false\nextensions:\n"
    "  - name: optional\n  - name: bindings\n  - name: strings\n  - name: math\n"
)


class Failed(Exception):
    """An expression has no answer; `verdict` says why, as an inconclusive result."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the expressions of a check say of one object.

    Attributes:
        outcome: passed, violated or inconclusive.
        message: the finding in one line, "" where it passed.
        reasons: what stands behind it, a line each.
        hints: next steps, a line each.
    """

    outcome: Outcome
    message: str = ""
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


PASSED: Final = Verdict(Outcome.PASSED)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why an expression has no answer, and of which expression that is true."""

    expression: Expression
    message: str
    hint: str = ""
    variable: str = ""

    def verdict(self) -> Verdict:
        of = f' of the variable "{self.variable}"' if self.variable else ""
        return Verdict(
            Outcome.INCONCLUSIVE,
            f"the expression{of} cannot be worked out: {self.message}",
            (_shown(self.expression),),
            (self.hint,) if self.hint else (),
        )


class Programs:
    """The compiled expressions of a policy."""

    def __init__(self, policy: CheckPolicy) -> None:
        """Prepare a policy whose expressions `compiled` has accepted."""
        self.policy = policy
        self.variables: Mapping[str, Variable] = {each.name: each for each in policy.variables}
        self._programs: dict[str, Any] = {}
        self._uses: dict[Scope, frozenset[str]] = {}
        self._guesses: dict[str, frozenset[str]] = {}
        self._words: dict[Scope, frozenset[str]] = {}

    def uses(self, scope: Scope) -> frozenset[str]:
        """Return which variables (``pod``, ``workload``, ``node``, ``result``, ``baseline``) are read in a scope."""
        if scope not in self._uses:
            words = self.words(scope)
            self._uses[scope] = frozenset(root for root in IN_SCOPE[scope] if root in words)
        return self._uses[scope]

    def words(self, scope: Scope) -> frozenset[str]:
        """Return every word of the expressions of a scope: a field that is not among them is not read."""
        if scope not in self._words:
            texts = [each.text for check in self.policy.checks if check.scope is scope for each in check.expressions]
            self._words[scope] = frozenset(_WORD.findall(self._together(texts)))
        return self._words[scope]

    def over(self, scope: Scope, values: Mapping[str, Any], unclear: Mapping[str, str] | None = None) -> Judgement:
        """Return what judges one object.

        Args:
            scope: of the checks it will be judged by.
            values: what `uses` names; see `schedctl.policy.variables`.
            unclear: by variable, the pods behind it of which nobody can tell where they go, in words.
        """
        read = self.uses(scope)
        return Judgement(self, {name: value for name, value in values.items() if name in read}, unclear or {})

    def guesses(self, text: str) -> frozenset[str]:
        """Return the variables of which an expression asks where pods go, without knowing that nobody may tell."""
        if text not in self._guesses:
            whole = self._together([text])
            read = set(_WORD.findall(whole))
            asked = (root for root, fields in _PLACING.items() if root in read and fields.search(whole))
            self._guesses[text] = frozenset() if _INCONCLUSIVE.search(whole) else frozenset(asked)
        return self._guesses[text]

    def program(self, text: str) -> Any:
        """Return the compiled form of an expression."""
        if text not in self._programs:
            self._programs[text] = _evaluating().compile(text)
        return self._programs[text]

    def _together(self, texts: Sequence[str]) -> str:
        """Return the texts of expressions and of the variables that they name, directly or not."""
        reached: dict[str, str] = {}
        waiting = [name for text in texts for name in _named(text, self.variables)]
        while waiting:
            name = waiting.pop()
            if name in self.variables and name not in reached:
                reached[name] = self.variables[name].expression.text
                waiting += _named(reached[name], self.variables)
        return "\n".join([*texts, *reached.values()])


class Judgement:
    """One object under the expressions of a policy."""

    def __init__(self, programs: Programs, values: Mapping[str, Any], unclear: Mapping[str, str]) -> None:
        self._programs = programs
        self._unclear = unclear
        self._values = {**values, _PARAMS: programs.policy.params}
        self._variables: dict[str, Any] = {}
        self._activations: dict[tuple[str, ...], Any] = {}

    def concerns(self, check: Check) -> bool:
        """Return whether a check is about the object: all its conditions hold.

        Raises:
            Failed: one has no answer, and none is false.
        """
        fault = None
        for condition in check.conditions:
            answer = self._truth(condition.expression)
            if answer is False:
                return False
            if isinstance(answer, _Fault):
                fault = fault or answer
        if fault is not None:
            raise Failed(fault.verdict())
        return True

    def judge(self, check: Check) -> Verdict | None:
        """Return the verdict of a check's validations, None where the check is not about the object."""
        try:
            if not self.concerns(check):
                return None
        except Failed as failed:
            return failed.verdict
        answers = [(each, self._truth(each.expression)) for each in check.validations]
        faults = [answer for _, answer in answers if isinstance(answer, _Fault)]
        violated = [self._message(validation) for validation, answer in answers if answer is False]
        if violated:
            first, *others = violated
            more = [other.message for other in others] + [line for each in violated for line in each.reasons]
            more += [f"{fault.verdict().message} ({_shown(fault.expression)})" for fault in faults]
            return Verdict(Outcome.VIOLATED, first.message, tuple(more))
        return faults[0].verdict() if faults else PASSED

    def _message(self, validation: Validation) -> Verdict:
        """Return what to say of a validation that does not hold."""
        otherwise = validation.message or f"does not hold: {_line(validation.expression.text)}"
        if validation.message_expression is None:
            return Verdict(Outcome.VIOLATED, otherwise)
        made = self._value(validation.message_expression)
        if isinstance(made, str) and made.strip() and len(made.splitlines()) == 1:
            return Verdict(Outcome.VIOLATED, made.strip())
        why = made.message if isinstance(made, _Fault) else f"it makes {_described(made)}, and no line of text"
        return Verdict(Outcome.VIOLATED, otherwise, (f"messageExpression cannot be used: {why}",))

    def _truth(self, expression: Expression) -> bool | _Fault:
        guessed = self._programs.guesses(expression.text) if self._unclear else ()
        if who := next((self._unclear[root] for root in self._unclear if root in guessed), ""):
            hint = "an expression that speaks of `pod.inconclusive` is worked out all the same"
            return _Fault(expression, f"schedctl cannot tell where {who} goes", hint)
        value = self._value(expression)
        if isinstance(value, bool | _Fault):
            return value
        return _Fault(expression, f"it is {_described(value)}, neither true nor false")

    def _value(self, expression: Expression) -> Any:
        """Return what an expression comes to, or a fault."""
        known = self._programs.variables
        names = [name for name in dict.fromkeys(_named(expression.text, known)) if name in known]
        values = {name: self._variable(name) for name in names}
        if _PRESENCE.search(expression.text):
            for value in values.values():
                if isinstance(value, _Fault):
                    return value
        ready = {name: value for name, value in values.items() if not isinstance(value, _Fault)}
        try:
            result = self._programs.program(expression.text).eval(self._activation(ready))
            if result.type().name() != "ERROR":
                return result.plain_value()
            said = str(result.value())
        except (RuntimeError, TypeError) as error:
            said = str(error)
        missing = _MISSING.search(said)
        cause = values.get(missing[1]) if missing else None
        if isinstance(cause, _Fault):
            return cause
        return _Fault(expression, *_reworded(said))

    def _variable(self, name: str) -> Any:
        """Return the value of a variable, or the fault that keeps it from having one."""
        if name not in self._variables:
            self._variables[name] = _Fault(self._programs.variables[name].expression, "it is made of itself", "", name)
            value = self._value(self._programs.variables[name].expression)
            if isinstance(value, _Fault) and not value.variable:
                value = _Fault(value.expression, value.message, value.hint, name)
            self._variables[name] = value
        return self._variables[name]

    def _activation(self, variables: Mapping[str, Any]) -> Any:
        key = tuple(variables)
        if key not in self._activations:
            self._activations[key] = _evaluating().Activation({**self._values, _VARIABLES: dict(variables)})
        return self._activations[key]


def compiled(policy: CheckPolicy) -> tuple[Programs, list[Problem]]:
    """Return the programs of a policy, and what keeps its expressions from being compiled, with its place in the file.

    Raises:
        UsageError: there are expressions, and no engine.
    """
    problems: list[Problem] = []
    checks = [check for check in policy.checks if any(True for _ in check.expressions)]
    scopes = [scope for scope in Scope if any(check.scope is scope for check in checks)]
    unused = {variable.name for variable in policy.variables}
    for scope in scopes:
        checker = _Checker(policy, scope)
        for check in checks:
            if check.scope is scope:
                problems += checker.check(check)
        unused -= checker.reached
    if unused:
        attempts = [_Checker(policy, scope) for scope in Scope]
        for name in sorted(unused):
            best = min((checker.of_variables[name] for checker in attempts), key=len)
            problems += best
    problems = list(dict.fromkeys(problems))
    return Programs(policy), sorted(problems, key=lambda problem: (problem.line, problem.column))


class _Checker:
    """Compiles the expressions of a policy in one scope.

    Attributes:
        of_variables: what is wrong with each variable in this scope.
        reached: the variables that checks have used.
    """

    def __init__(self, policy: CheckPolicy, scope: Scope) -> None:
        self._scope = scope
        self._policy = policy
        self.of_variables: dict[str, list[Problem]] = {}
        self.reached: set[str] = set()
        self._fields: dict[str, str] = {}
        for variable in policy.variables:
            kind, problems = self._compile(variable.expression, None)
            self.of_variables[variable.name] = problems
            self._fields[variable.name] = kind

    def check(self, check: Check) -> Iterator[Problem]:
        """Yield what is wrong with the expressions of a check, and with the variables that they use."""
        for condition in check.conditions:
            yield from self._all(condition.expression, "bool")
        for validation in check.validations:
            yield from self._all(validation.expression, "bool")
            if validation.message_expression is not None:
                yield from self._all(validation.message_expression, "string")

    def _all(self, expression: Expression, wanted: str) -> Iterator[Problem]:
        _, problems = self._compile(expression, wanted)
        yield from problems
        waiting = _named(expression.text, self._fields)
        texts = {variable.name: variable.expression.text for variable in self._policy.variables}
        while waiting:
            name = waiting.pop()
            if name in texts and name not in self.reached:
                self.reached.add(name)
                yield from self.of_variables[name]
                waiting += _named(texts[name], texts)

    def _compile(self, expression: Expression, wanted: str | None) -> tuple[str, list[Problem]]:
        """Return the type of an expression, and what is wrong with it."""
        if not expression.text.strip():
            return ANYTHING, [_problem(expression, 0, "the expression is empty")]
        environment = _checking(self._scope, tuple(self._fields.items()), tuple(_parameters(self._policy)))
        try:
            kind = str(environment.compile(expression.text).return_type().name())
        except RuntimeError as error:
            return ANYTHING, self._problems(expression, str(error))
        name = _KINDS.get(kind, ANYTHING)
        if wanted and name not in (wanted, ANYTHING):
            expected = "true or false" if wanted == "bool" else "text"
            return name, [
                _problem(expression, 0, f"expected an expression that is {expected}; this is {_article(kind)}")
            ]
        if wanted and name == ANYTHING and kind != "DYN":
            expected = "true or false" if wanted == "bool" else "text"
            return name, [
                _problem(expression, 0, f"expected an expression that is {expected}; this is {_article(kind)}")
            ]
        return name, []

    def _problems(self, expression: Expression, report: str) -> list[Problem]:
        """Read the engine's report back into problems."""
        lines = expression.text.splitlines(keepends=True)
        problems = []
        marks = list(_MARK.finditer(report))
        for mark, end in zip(marks, [*(after.start() for after in marks[1:]), len(report)], strict=False):
            said = _SNIPPET.sub("", report[mark.end() : end]).strip()
            line, column = int(mark[1]) - 1, int(mark[2]) - 1
            known = 0 <= line < len(lines)
            offset = min(sum(map(len, lines[:line])) + max(column, 0), len(expression.text)) if known else 0
            if "'*error*'" in said:
                continue  # follows from what has been said of the operand
            message, hint = self._explained(said.removesuffix("[INVALID_ARGUMENT]").strip())
            if said.startswith("undefined field") and expression.text[offset : offset + 1] == ".":
                offset += 1
            problems.append(_problem(expression, offset, message, hint))
        return problems or [_problem(expression, 0, _reworded(report)[0])]

    def _explained(self, said: str) -> tuple[str, str]:
        """Return a compile error in the words of policies, and a next step."""
        if field := _NO_FIELD.match(said):
            owner = field["record"].removeprefix("schedctl.")
            if owner == _VARIABLES:
                return self._no_variable(field["name"])
            if owner == _PARAMS:
                return _unknown("param", field["name"], self._policy.params)
            return _unknown("field", field["name"], RECORDS.get(owner, ()), f" in {owner.lower()}")
        if name := _NO_NAME.match(said):
            root = name["name"].partition(".")[0]
            if root in ROOTS:
                where = [scope.value for scope in Scope if root in IN_SCOPE[scope]]
                hint = f"it exists in the scope {' or '.join(where)}; here are {', '.join(self._roots())}"
                return f'there is no "{root}" in the scope {self._scope.value}', hint
            return _unknown("variable or function", root, [*self._roots(), *_FUNCTIONS])
        if overload := _NO_OVERLOAD.match(said):
            function, kinds = overload["name"], overload["kinds"]
            operator = _OPERATOR.fullmatch(function)
            shown = (operator[1] if operator else function.strip("_")).strip("_") or function
            hint = ""
            if "int" in kinds.split(", ") and "double" in kinds.split(", "):
                hint = "a whole number and one with a point need one type: write double(...) around the whole one"
            elif kinds.startswith(QUANTITY) and operator:
                hint = "quantities compare by isLessThan, isGreaterThan and compareTo"
            return f'"{shown}" does not take ({kinds.replace(QUANTITY, "quantity").replace("schedctl.", "")})', hint
        return said[:1].lower() + said[1:], ""

    def _roots(self) -> list[str]:
        return [*IN_SCOPE[self._scope], _PARAMS, _VARIABLES]

    def _no_variable(self, name: str) -> tuple[str, str]:
        names = [variable.name for variable in self._policy.variables]
        if name in names:
            return f'the variable "{name}" is not known yet', "variables see those that stand above them"
        return _unknown("variable", name, names)


def _problem(expression: Expression, offset: int, message: str, hint: str = "") -> Problem:
    location = expression.location
    return Problem(message, location.file, *expression.place_of(offset), path=location.path, hint=hint)


def _unknown(what: str, name: str, names: Iterable[str], where: str = "") -> tuple[str, str]:
    known = list(names)
    return f'there is no {what} "{name}"{where}', did_you_mean(name, known)


def _named(text: str, known: Iterable[str]) -> list[str]:
    """Return the variables that an expression names: all there are where it takes ``variables`` as a whole."""
    return [*_REFERENCE.findall(text), *(known if _WHOLE.search(text) else ())]


def _line(text: str) -> str:
    return " ".join(text.split())


def _shown(expression: Expression) -> str:
    """Return an expression and where it stands, as a reason."""
    place = expression.location
    where = f" ({place.file}:{place.line}:{place.column})" if place.file and place.line else ""
    return f"expression: {_line(expression.text)}{where}"


def _described(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {str: "text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "a map"}
    return kinds.get(type(value), "something else")


def _article(kind: str) -> str:
    name = _KINDS.get(kind, kind.lower().replace("schedctl.", "").partition("<")[0])
    words = {"int": "a number", "double": "a number", "string": "text", "bool": "true or false"}
    return words.get(name, f"{'an' if name[:1] in 'aeiou' else 'a'} {name}")


# -- what the engine says ----------------------------------------------------------

_KINDS: Final = {"BOOL": "bool", "INT": "int", "DOUBLE": "double", "STRING": "string"}
_MARK: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): ")
_SNIPPET: Final = re.compile(r"\n \| [^\n]*")
_NO_FIELD: Final = re.compile(r"undefined field '(?P<name>[^']*)' not found in struct '(?P<record>[^']*)'")
_NO_NAME: Final = re.compile(r"undeclared reference to '(?P<name>[^']*)'")
_NO_OVERLOAD: Final = re.compile(
    r"found no matching overload for '(?P<name>[^']*)' applied to '\(?(?P<kinds>.*?)\)?'\Z"
)
_OPERATOR: Final = re.compile(r"@?_?(.*?)_?")
_STATUS: Final = re.compile(r"\A[A-Z_]+: (?:ERROR: )?|\s*\[[A-Z_]+\]\Z")
_MISSING: Final = re.compile(r'Key not found in map : "([^"]*)"')
_FUNCTIONS: Final = tuple(dict.fromkeys(each.name for each in OVERLOADS if not each.method))


def _reworded(said: str) -> tuple[str, str]:
    """Return a runtime error in the words of policies, and a next step."""
    text = _STATUS.sub("", said)
    if "Iteration budget exceeded" in text:
        hint = "sum, min, max and what `result` has already counted cost no steps; a smaller scope has shorter lists"
        return f"it takes more than {_STEPS:,} steps", hint
    missing = _MISSING.search(said)
    if missing and missing[1] == "node":
        return "a pod without a node was asked for it", "ask `pod.scheduled` or `has(pod.node)` first"
    if missing:
        return f'there is no key "{missing[1]}"', "`.?KEY.orValue(...)` and `KEY in MAP` ask without failing"
    if "Applying SELECT to non-message type" in text:
        return "a field of null was asked for", "`has(...)` asks without failing"
    if "convert function return value" in text:
        return "it is an optional value", "end it in `.orValue(...)` or `.hasValue()`"
    first = _line(text.splitlines()[0]) if text else "the engine gave no reason"
    return first[:1].lower() + first[1:], ""


# -- environments ------------------------------------------------------------------


def _engine() -> Any:
    try:
        from cel_expr_python import cel  # type: ignore[import-untyped]
    except ImportError:
        hint = "`pip install cel-expr-python` (it has wheels for glibc, macOS and Windows)"
        raise UsageError("this policy has expressions, and the CEL engine is not installed", hint) from None
    return cel


@cache
def _evaluating() -> Any:
    """Return the environment that evaluates: every variable may be anything."""
    cel = _engine()
    dynamic = cel.Type.DYN
    declared: dict[str, dict[str, Any]] = {}
    for overload in OVERLOADS:
        kinds = [_erased(each) for each in overload.arguments]
        key = f"{overload.name}{'_of' if overload.method else ''}_{'_'.join(kinds)}"
        declared.setdefault(overload.name, {}).setdefault(
            re.sub(r"\W+", "_", key),
            cel.Overload(
                re.sub(r"\W+", "_", key),
                return_type=_type(cel, _erased(overload.result)),
                parameters=[_type(cel, kind) for kind in kinds],
                is_member=overload.method,
                impl=overload.call,
            ),
        )
    names = (*ROOTS, _PARAMS, _VARIABLES)
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(_CONFIG),
        variables=dict.fromkeys(names, dynamic),
        functions=[cel.FunctionDecl(name, list(overloads.values())) for name, overloads in declared.items()],
    )


@cache
def _checking(scope: Scope, variables: tuple[tuple[str, str], ...], params: tuple[str, ...]) -> Any:
    """Return the environment that checks types in a scope.

    Args:
        scope: says which variables there are.
        variables: the types of the policy's own.
        params: the names of its params.
    """
    cel = _engine()
    # Messages are the engine's only way to declare records.
    from google.protobuf.descriptor_pool import DescriptorPool  # type: ignore[import-untyped]
    from google.protobuf.struct_pb2 import DESCRIPTOR  # type: ignore[import-untyped]

    records = {**RECORDS, _VARIABLES: dict(variables), _PARAMS: dict.fromkeys(params, ANYTHING)}
    pool = DescriptorPool()
    pool.AddSerializedFile(DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(_described_records(records))
    declared: dict[str, list[Any]] = {}
    for number, overload in enumerate(OVERLOADS):
        made = cel.Overload(
            f"{overload.name}_{number}",
            return_type=_type(cel, overload.result),
            parameters=[_type(cel, kind) for kind in overload.arguments],
            is_member=overload.method,
        )
        declared.setdefault(overload.name, []).append(made)
    names = {**{root: ROOTS[root] for root in IN_SCOPE[scope]}, _VARIABLES: _VARIABLES, _PARAMS: _PARAMS}
    return cel.NewEnv(
        descriptor_pool=pool,
        config=cel.NewEnvConfigFromYaml(_CONFIG),
        variables={name: cel.Type(f"schedctl.{record}") for name, record in names.items()},
        functions=[cel.FunctionDecl(name, overloads) for name, overloads in declared.items()],
    )


def _parameters(policy: CheckPolicy) -> Iterable[str]:
    return (name for name in policy.params if re.fullmatch(r"[A-Za-z_]\w*", name))


def _erased(kind: str) -> str:
    """Return the type that a value of this type has when it is evaluated."""
    if kind == QUANTITY:
        return "string"
    return re.sub(r"<.*>", lambda found: "<dyn,dyn>" if "," in found[0] else "<dyn>", kind)


def _type(cel: Any, kind: str) -> Any:
    of = cel.Type
    if kind.startswith("list<"):
        return of.List(_type(cel, kind[5:-1]))
    if kind.startswith("map<"):
        key, value = kind[4:-1].split(",")
        return of.Map(_type(cel, key), _type(cel, value))
    if kind == QUANTITY:
        return of.AbstractType(QUANTITY)
    return {"string": of.STRING, "int": of.INT, "bool": of.BOOL, "double": of.DOUBLE, ANYTHING: of.DYN}[kind]


def _described_records(records: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return the records as the declaration of messages that the engine's type checker reads."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto  # type: ignore[import-untyped]

    scalars = {
        "string": FieldDescriptorProto.TYPE_STRING,
        "int": FieldDescriptorProto.TYPE_INT64,
        "bool": FieldDescriptorProto.TYPE_BOOL,
        "double": FieldDescriptorProto.TYPE_DOUBLE,
    }

    def typed(made: Any, kind: str) -> None:
        if kind in scalars:
            made.type = scalars[kind]
        else:
            made.type = FieldDescriptorProto.TYPE_MESSAGE
            made.type_name = ".google.protobuf.Value" if kind == ANYTHING else f".schedctl.{kind.rstrip('?')}"

    file = FileDescriptorProto(name="schedctl.proto", package="schedctl", syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    for record, fields in records.items():
        message = file.message_type.add(name=record)
        for number, (name, kind) in enumerate(fields.items(), 1):
            made = message.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
            if kind.startswith("map<"):
                entry = message.nested_type.add(name=f"{name[:1].upper()}{name[1:]}Entry")
                entry.options.map_entry = True
                for index, (part, of) in enumerate(zip(("key", "value"), kind[4:-1].split(","), strict=True), 1):
                    typed(entry.field.add(name=part, number=index, label=FieldDescriptorProto.LABEL_OPTIONAL), of)
                made.label, made.type = FieldDescriptorProto.LABEL_REPEATED, FieldDescriptorProto.TYPE_MESSAGE
                made.type_name = f".schedctl.{record}.{entry.name}"
            elif kind.startswith("list<"):
                made.label = FieldDescriptorProto.LABEL_REPEATED
                typed(made, kind[5:-1])
            else:
                typed(made, kind)
    return bytes(file.SerializeToString())
