"""From a typed tree to closures, each of which computes a part and adds what that costs.

A *step* takes the frame of an evaluation: the cost and the elements visited so far, the variables of the environment,
and a place for every variable of every loop. A failure is returned, not raised: ``&&``, ``||`` and loops may go on
after one. What ends an evaluation at once is raised: `LimitExceeded`, and `Aborted` where kube-scheduler's engine
itself stumbles.

Two of the engine's ways show in verdicts and costs. A path such as ``device.attributes[d].x`` is one *attribute*: its
steps into the value (*qualifiers*) cost 1 each, its root 1, and a branch of ``?:`` that is an attribute is merged into
it. And what is constant is computed while planning, for free; if that fails, the expression does not compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from schedctl.cel import conversions, costs, patterns, syntax
from schedctl.cel.checking import TYPE_NAMES
from schedctl.cel.declarations import Cost, Environment, Implementation, Overload
from schedctl.cel.errors import LimitExceeded, PlanError
from schedctl.cel.operators import OPERATORS
from schedctl.cel.types import Kind, Type
from schedctl.cel.values import (
    ABSENT,
    MAX_INT64,
    MISSING,
    NO_SUCH_OVERLOAD,
    Duration,
    Failure,
    Map,
    MissingKey,
    Mutable,
    Optional,
    Record,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    equal,
    failure_or_no_overload,
    format_value,
    go_type,
    token,
    type_name,
)

Frame = list[Any]
Step = Callable[[Frame], Value]
COST, STEPS, FIRST_VARIABLE = 0, 1, 2
_UNSET: Any = object()


class Plan(NamedTuple):
    """A planned expression: its step, and how many places its frame needs."""

    step: Step
    places: int


def plan(root: syntax.Node, environment: Environment) -> Plan:
    """Return the plan of a typed tree.

    Raises:
        PlanError: a part of it that is constant fails.
    """
    planner = _Planner(environment)
    step = planner.plan(root).step()
    return Plan(step, planner.places)


# --- What planning finds: constants, attributes, and everything else ---------------------------------------------


class _Planned:
    """A planned expression."""

    def __init__(self, step: Step) -> None:
        self._step = step

    def step(self) -> Step:
        return self._step


class _Constant(_Planned):
    def __init__(self, value: Value) -> None:
        self.value = value

    def step(self) -> Step:
        value = self.value
        return lambda frame: value


class _Qualifier(NamedTuple):
    """A step into a value.

    Attributes:
        key: the key, or the attribute that yields it.
        optional: whether the rest of the path is absent when there is nothing.
        test_only: whether only its presence is asked.
    """

    key: Value
    optional: bool
    test_only: bool = False


class _Attribute(_Planned):
    """A root and the steps into it."""

    def __init__(self, root: Step) -> None:
        self._root = root
        self._qualifiers: list[_Qualifier] = []
        self._test_only = False

    def add(self, qualifier: _Qualifier) -> None:
        """Append a step into the value."""
        self._qualifiers.append(qualifier)
        self._test_only = self._test_only or qualifier.test_only

    def resolve(self) -> Step:
        """Return the step that finds the value; it does not charge for the root."""
        if not self._qualifiers:
            return self._root
        keys = [q.key for q in self._qualifiers]
        simple = not any(q.optional or q.test_only for q in self._qualifiers)
        if simple and all(key.__class__ is str for key in keys):
            return _path(self._root, keys)
        return _path_of_qualifiers(self._root, [_Applied.of(q) for q in self._qualifiers])

    def step(self) -> Step:
        resolve = self.resolve()
        if not self._test_only:

            def step(frame: Frame) -> Value:
                value = resolve(frame)
                frame[COST] += costs.NAME
                return value

            return step

        def test(frame: Frame) -> Value:
            value = resolve(frame)
            return value.is_present if value.__class__ is Optional else value

        return test


class _Choice(_Attribute):
    """An attribute with two roots, of which a condition picks one. It charges for no root of its own."""

    def __init__(self, condition: Step, then: _Attribute, otherwise: _Attribute) -> None:
        super().__init__(_absent)
        self._condition, self._then, self._otherwise = condition, then, otherwise

    def add(self, qualifier: _Qualifier) -> None:
        self._then.add(qualifier)
        self._otherwise.add(qualifier)
        self._test_only = self._test_only or qualifier.test_only

    def resolve(self) -> Step:
        condition, then, otherwise = self._condition, self._then.resolve(), self._otherwise.resolve()

        def resolve(frame: Frame) -> Value:
            chosen = condition(frame)
            if chosen is True:
                return then(frame)
            if chosen is False:
                return otherwise(frame)
            return failure_or_no_overload(chosen)

        return resolve

    def step(self) -> Step:
        resolve = self.resolve()
        if not self._test_only:
            return resolve

        def test(frame: Frame) -> Value:
            value = resolve(frame)
            frame[COST] -= costs.NAME
            if frame[COST] < 0:
                # An unsigned count wraps around here, and is far beyond the limit at once.
                raise LimitExceeded
            return value.is_present if value.__class__ is Optional else value

        return test


class _HiddenVariable(_Attribute):
    """A variable where one of a loop has the same name: the way out of the loops loses count of the cost."""

    def resolve(self) -> Step:
        resolve = super().resolve()

        def resolve_uncounted(frame: Frame) -> Value:
            cost = frame[COST]
            value = resolve(frame)
            frame[COST] = cost
            return value

        return resolve_uncounted


def _absent(frame: Frame) -> Value:
    return ABSENT


# --- Steps into values -------------------------------------------------------------------------------------------


def _path(root: Step, keys: list[str]) -> Step:
    """Return the step along constant texts, none of them optional: by far the most common attribute."""
    count = len(keys)

    def resolve(frame: Frame) -> Value:
        value = root(frame)
        kind = value.__class__
        if kind is Failure:
            return value
        if kind is Optional:
            return _along_optional(frame, value, applied)
        frame[COST] += count
        for position, key in enumerate(keys):
            if value.__class__ is Map:
                value = value.find(key)
                if value is not MISSING:
                    continue
                value = _missing_key(key, value)
            else:
                value = _step_into(value, key)
                if value.__class__ is not Failure:
                    continue
            frame[COST] -= count - position - 1
            return value
        return value

    applied = [_Applied.of(_Qualifier(key, False)) for key in keys]
    return resolve


class _Applied(NamedTuple):
    key: Step
    optional: bool
    test_only: bool

    @classmethod
    def of(cls, qualifier: _Qualifier) -> _Applied:
        key = qualifier.key
        step = key.resolve() if isinstance(key, _Attribute) else lambda frame: key
        return cls(step, qualifier.optional, qualifier.test_only)


def _path_of_qualifiers(root: Step, qualifiers: list[_Applied]) -> Step:
    def resolve(frame: Frame) -> Value:
        value = root(frame)
        if value.__class__ is Failure:
            return value
        if value.__class__ is Optional:
            return _along_optional(frame, value, qualifiers)
        for position, qualifier in enumerate(qualifiers):
            if qualifier.optional:
                return _along(frame, value, qualifiers[position:])
            key = qualifier.key(frame)
            frame[COST] += costs.NAME
            if qualifier.test_only:
                found = _step_if_present(value, key)
                return found if found.__class__ is Failure else found is not MISSING
            value = _step_into(value, key)
            if value.__class__ is Failure:
                return value
        return value

    return resolve


def _along_optional(frame: Frame, value: Optional, qualifiers: list[_Applied]) -> Value:
    return _along(frame, value.value, qualifiers) if value.is_present else value


def _along(frame: Frame, value: Value, qualifiers: list[_Applied]) -> Value:
    """Return an optional of what is at the end of the path; absent when a step finds nothing."""
    for qualifier in qualifiers:
        key = qualifier.key(frame)
        value = key if key.__class__ is Failure else _step_if_present(value, key)
        if value.__class__ is Failure:
            return value
        if value is MISSING:
            return ABSENT
        frame[COST] += costs.NAME
    return Optional(value)


_KEYS = frozenset((bool, int, Uint, float, str))


def _missing_key(key: Value, value: Value) -> Failure:
    return Failure(f"no such key: {format_value(key)}", MissingKey(key, value))


def _step_into(value: Value, key: Value) -> Value:
    """Return the entry or element of a value, a failure if there is none."""
    found = _step_if_present(value, key)
    if found is not MISSING:
        return found
    return Failure(f"index out of bounds: {format_value(key)}") if isinstance(value, list) else _missing_key(key, value)


def _step_if_present(value: Value, key: Value) -> Value:
    """Return the entry or element of a value, MISSING if there is none."""
    kind = key.__class__
    if kind not in _KEYS:
        return key if kind is Failure else Failure(f"invalid qualifier type: {go_type(key)}")
    if value.__class__ is Map:
        return value.find(key)
    if isinstance(value, list):
        index = _index(key)
        if isinstance(index, Failure):
            return index
        return value[index] if 0 <= index < len(value) else MISSING
    return value.find(key) if isinstance(value, Record) else MISSING


def _index(key: Value) -> int | Failure:
    kind = key.__class__
    if kind is int:
        return int(key)
    if kind is float and -(2.0**63) < key < 2.0**63 and key == int(key):
        return int(key)
    if kind is Uint and key <= MAX_INT64:
        return int(key)
    if kind is float or kind is Uint:
        return Failure(f"unsupported index value {format_value(key)} in list")
    return Failure(f"unsupported index type '{type_name(key)}' in list")


# --- The planner -------------------------------------------------------------------------------------------------


class _Variable(NamedTuple):
    place: int
    initial: Step | None = None


class _Planner:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._functions = environment.functions
        self._global_places = {name: place for place, name in enumerate(environment.variables, FIRST_VARIABLE)}
        self._scopes: list[dict[str, _Variable]] = []
        self.places = FIRST_VARIABLE + len(environment.variables)

    def plan(self, node: syntax.Node) -> _Planned:
        match node:
            case syntax.Literal():
                return _Constant(node.value)
            case syntax.Ident():
                return self._ident(node)
            case syntax.Select():
                return self._select(node)
            case syntax.Call():
                return self._call(node)
            case syntax.ListOf():
                return self._list(node)
            case syntax.MapOf():
                return self._map(node)
            case syntax.Fold():
                return _Planned(self._fold(node))
        raise TypeError(f"cannot plan {type(node).__name__}")

    def _attribute(self, node: syntax.Node) -> _Attribute:
        planned = self.plan(node)
        return planned if isinstance(planned, _Attribute) else _Attribute(planned.step())

    # --- Names and paths ---

    def _ident(self, node: syntax.Ident) -> _Planned:
        name = node.name.removeprefix(".")
        if node.type.kind is Kind.TYPE:
            if name not in TYPE_NAMES and name not in self._environment.records:
                raise PlanError(f"reference to undefined type: {name}")
            return _Constant(TypeValue(name))
        local = next((scope[name] for scope in reversed(self._scopes) if name in scope), None)
        if local is not None and node.name == name:
            return _Attribute(_variable(local))
        root = _variable(_Variable(self._global_places[name]))
        return _Attribute(root) if local is None else _HiddenVariable(root)

    def _select(self, node: syntax.Select) -> _Planned:
        if node.name:
            return _Constant(TypeValue(node.name))
        attribute = self._attribute(node.operand)
        attribute.add(_Qualifier(node.field, False, node.test_only))
        return attribute

    def _index(self, node: syntax.Call) -> _Planned:
        operand, index = node.arguments
        attribute = self._attribute(operand)
        planned = self.plan(index)
        optional = node.function in (syntax.OPTIONAL_SELECT, syntax.OPTIONAL_INDEX)
        if isinstance(planned, _Constant):
            if planned.value.__class__ not in _KEYS:
                raise PlanError(f"invalid qualifier type: {go_type(planned.value)}")
            attribute.add(_Qualifier(planned.value, optional))
        elif isinstance(planned, _Attribute):
            attribute.add(_Qualifier(planned, optional))
        else:
            attribute.add(_Qualifier(_Attribute(planned.step()), optional))
        return attribute

    def _conditional(self, node: syntax.Call) -> _Planned:
        condition, then, otherwise = node.arguments
        return _Choice(self.plan(condition).step(), self._attribute(then), self._attribute(otherwise))

    # --- Calls ---

    def _call(self, node: syntax.Call) -> _Planned:
        match node.function:
            case "_&&_":
                return _Planned(_junction(*self._steps(node), decides=False))
            case "_||_":
                return _Planned(_junction(*self._steps(node), decides=True))
            case "_?_:_":
                return self._conditional(node)
            case "_==_":
                return _Planned(_equality(*self._steps(node)))
            case "_!=_":
                return _Planned(_inequality(*self._steps(node)))
            case "_[_]" | "_?._" | "_[?_]":
                return self._index(node)
            case "or" | "orValue":
                return _Planned(_alternative(*self._steps(node), unwrap=node.function == "orValue"))
        arguments = [self.plan(argument) for argument in node.children()]
        return self._fold_constant(node, arguments) or _Planned(self._function(node, arguments))

    def _steps(self, node: syntax.Call) -> list[Step]:
        return [self.plan(argument).step() for argument in node.children()]

    def _fold_constant(self, node: syntax.Call, arguments: list[_Planned]) -> _Planned | None:
        """Return what is computed while planning: conversions of constants, membership in a constant list."""
        if node.function in conversions.FUNCTIONS and len(arguments) == 1 and isinstance(arguments[0], _Constant):
            value = self._implementation(node)[0](arguments[0].value)
            if value.__class__ is Failure:
                raise PlanError(value.text)
            return _Constant(value)
        if node.overloads == ["in_list"] and isinstance(arguments[1], _Constant):
            values = arguments[1].value
            if not values:
                return _Constant(False)
            if all(value.__class__ in _KEYS for value in values):
                return _Planned(_membership(arguments[0].step(), values))
        return None

    def _function(self, node: syntax.Call, arguments: list[_Planned]) -> Step:
        overload = node.overloads[0] if len(node.overloads) == 1 else ""
        cost = self._environment.cost_of(node.function, overload)
        steps = [argument.step() for argument in arguments]
        implementation, one_by_one = self._constant_pattern(node, arguments) or self._implementation(node)
        if node.function == "@not_strictly_false":
            return _lenient(steps[0], implementation)
        if len(steps) == 1 and not one_by_one:
            return _unary(steps[0], implementation, cost)
        if len(steps) == 2 and not one_by_one:
            return _binary(steps[0], steps[1], implementation, cost)
        return _variadic(steps, implementation, cost)

    def _constant_pattern(self, node: syntax.Call, arguments: list[_Planned]) -> tuple[Implementation, bool] | None:
        """Return the implementation of a call with a constant pattern, which is compiled while planning."""
        if node.function not in ("matches", "find", "findAll"):
            return None
        pattern = arguments[1]
        if not isinstance(pattern, _Constant) or not isinstance(pattern.value, str):
            return None
        compiled = patterns.compile_pattern(pattern.value)
        if isinstance(compiled, patterns.PatternError):
            raise PlanError(str(compiled))

        def search(text: Value, _: Value, most: Value = -1) -> Value:
            if text.__class__ is TypeValue:
                # With a constant pattern, a type is as good as its name.
                text = text.name
            if not isinstance(text, str) or most.__class__ is not int:
                return NO_SUCH_OVERLOAD
            if node.function == "findAll":
                return compiled.find_all(text, most)
            return compiled.matches(text) if node.function == "matches" else compiled.find(text)

        return search, True

    def _implementation(self, node: syntax.Call) -> tuple[Implementation, bool]:
        """Return what computes a call, and whether it takes its arguments one by one, up to the first failure."""
        operator = OPERATORS.get(node.function)
        if operator is not None:
            return _operator(node.function, operator.implementation, operator.takes), False
        overloads = self._functions[node.function]
        if len(node.overloads) == 1:
            overload = next(o for o in overloads if o.id == node.overloads[0])
            return _guard(overload), overload.id in _VARIADIC
        if len(overloads) == 1:
            return _guard(overloads[0]), overloads[0].id in _VARIADIC
        return _dispatcher(node.function, overloads), True

    # --- Things written down ---

    def _list(self, node: syntax.ListOf) -> _Planned:
        elements = [self.plan(element) for element in node.elements]
        if all(isinstance(element, _Constant) for element in elements):
            return _Constant([element.step()([]) for element in elements])
        steps = [(element.step(), index in node.optional) for index, element in enumerate(elements)]

        def step(frame: Frame) -> Value:
            values = _elements(frame, steps)
            frame[COST] += costs.LIST
            return values

        return _Planned(step)

    def _map(self, node: syntax.MapOf) -> _Planned:
        entries = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        steps = [(key.step(), value.step(), optional) for key, value, optional in entries]
        if all(isinstance(part, _Constant) for key, value, _ in entries for part in (key, value)):
            return _Constant(_entries([], steps))

        def step(frame: Frame) -> Value:
            values = _entries(frame, steps)
            frame[COST] += costs.MAP
            return values

        return _Planned(step)

    # --- Loops ---

    def _place(self) -> int:
        self.places += 1
        return self.places - 1

    def _fold(self, node: syntax.Fold) -> Step:
        initial = self.plan(node.initial).step()
        over = self.plan(node.range).step()
        accumulator = self._place()
        variables = [self._place() for _ in node.variables]
        self._scopes.append({node.accumulator: _Variable(accumulator, initial)})
        self._scopes.append(dict(zip(node.variables, map(_Variable, variables), strict=True)))
        condition, step = self.plan(node.condition).step(), self.plan(node.step).step()
        self._scopes.pop()
        result = self.plan(node.result).step()
        self._scopes.pop()
        cost_limit, step_limit = self._environment.cost_limit, self._environment.step_limit

        def fold(frame: Frame) -> Value:
            frame[accumulator] = _UNSET
            values = over(frame)
            if values.__class__ is Failure:
                return values
            rounds = _rounds(values, len(variables))
            if isinstance(rounds, Failure):
                return rounds
            for items in rounds:
                frame[STEPS] += 1
                if frame[STEPS] > step_limit:
                    raise LimitExceeded
                for place, item in zip(variables, items, strict=True):
                    frame[place] = item
                if condition(frame) is False:
                    break
                frame[accumulator] = step(frame)
                if frame[COST] > cost_limit:
                    raise LimitExceeded
            return _freeze(result(frame))

        return fold


_VARIADIC = frozenset(("string_format",))
"""Overloads that take their arguments one by one although there are only two."""


def _variable(variable: _Variable) -> Step:
    place, initial = variable
    if initial is None:
        return lambda frame: frame[place]

    def read_accumulator(frame: Frame) -> Value:
        value = frame[place]
        if value is _UNSET:
            value = frame[place] = _make_growable(initial(frame))
        return value

    return read_accumulator


def _make_growable(value: Value) -> Value:
    """Return an empty list or map as one that a loop can extend in place."""
    if isinstance(value, list) and not value:
        return Mutable()
    if value.__class__ is Map and not len(value):
        return Map({}, growing=True)
    return value


def _freeze(value: Value) -> Value:
    if value.__class__ is Mutable:
        return list(value)
    if value.__class__ is Map and value.growing:
        return Map(value.entries)
    return value


def _rounds(values: Value, variables: int) -> Iterator[tuple[Value, ...]] | Failure:
    if isinstance(values, list):
        return enumerate(values) if variables == 2 else zip(values, strict=False)
    if values.__class__ is Map:
        return ((key, values.find(key)) if variables == 2 else (key,) for key in list(values))
    if variables == 2:
        return Failure(f"unsupported comprehension range type: {go_type(values)}")
    return Failure(f"got '{go_type(values)}', expected iterable type")


def _junction(a: Step, b: Step, *, decides: bool) -> Step:
    """Return ``&&`` (decided by false) or ``||`` (decided by true); a failure counts only when nothing decides."""

    def junction(frame: Frame) -> Value:
        first = a(frame)
        if first is decides:
            return decides
        second = b(frame)
        if second is decides:
            return decides
        if first.__class__ is not bool:
            return failure_or_no_overload(first)
        return second if second.__class__ is bool else failure_or_no_overload(second)

    return junction


def _equality(a: Step, b: Step) -> Step:
    def equality(frame: Frame) -> Value:
        left, right = a(frame), b(frame)
        if left.__class__ is str and right.__class__ is str:
            shorter = len(left) if len(left) < len(right) else len(right)
            frame[COST] += (shorter + 9) // 10
            return left == right
        frame[COST] += costs.kubernetes_equality(left, right)
        if left.__class__ is Failure:
            return left
        return right if right.__class__ is Failure else equal(left, right)

    return equality


def _inequality(a: Step, b: Step) -> Step:
    def inequality(frame: Frame) -> Value:
        left, right = a(frame), b(frame)
        frame[COST] += costs.equality(left, right)
        if left.__class__ is Failure:
            return left
        return right if right.__class__ is Failure else equal(left, right) is not True

    return inequality


def _alternative(a: Step, b: Step, *, unwrap: bool) -> Step:
    """Return ``or`` or ``orValue``: the second is only asked when the first is absent."""

    def alternative(frame: Frame) -> Value:
        first = a(frame)
        if first.__class__ is not Optional:
            return failure_or_no_overload(first)
        if not first.is_present:
            return b(frame)
        return first.value if unwrap else first

    return alternative


def _membership(a: Step, values: list[Value]) -> Step:
    """Return ``in`` for a constant list of simple values: a look into a set, free of charge."""
    tokens = set()
    for value in values:
        tokens.add(token(value))
        kind = value.__class__
        if kind is int or kind is Uint:
            tokens |= {(float, float(value)), (int, int(value))} if value <= MAX_INT64 else {(float, float(value))}
            if value >= 0:
                tokens.add((Uint, Uint(value)))
        elif kind is float and value == value and abs(value) < 2.0**64 and value == int(value):
            if abs(value) < 2.0**63:
                tokens.add((int, int(value)))
            if value >= 0:
                tokens.add((Uint, Uint(int(value))))

    def membership(frame: Frame) -> Value:
        value = a(frame)
        kind = value.__class__
        if kind is Failure:
            return value
        key = token(value)
        return kind in _KEYS and value == value and key in tokens

    return membership


def _lenient(a: Step, implementation: Implementation) -> Step:
    def lenient(frame: Frame) -> Value:
        value = implementation(a(frame))
        frame[COST] += 1
        return value

    return lenient


def _unary(a: Step, implementation: Implementation, cost: Cost | None) -> Step:
    def unary(frame: Frame) -> Value:
        value = a(frame)
        result = value if value.__class__ is Failure else implementation(value)
        frame[COST] += cost((value,), result) if cost else 1
        return result

    return unary


def _binary(a: Step, b: Step, implementation: Implementation, cost: Cost | None) -> Step:
    def binary(frame: Frame) -> Value:
        left, right = a(frame), b(frame)
        if left.__class__ is Failure:
            result = left
        elif right.__class__ is Failure:
            result = right
        else:
            # A list that grows in place is charged by its length before.
            result = implementation(left, right)
        frame[COST] += cost((left, right), result) if cost else 1
        return result

    return binary


def _variadic(steps: list[Step], implementation: Implementation, cost: Cost | None) -> Step:
    def variadic(frame: Frame) -> Value:
        values: list[Value] = []
        value: Value = None
        for step in steps:
            value = step(frame)
            values.append(value)
            if value.__class__ is Failure:
                if len(values) < count:
                    return value
                break
        result = value if value.__class__ is Failure else implementation(*values)
        frame[COST] += cost(values, result) if cost else 1
        return result

    count = len(steps)
    return variadic


def _elements(frame: Frame, steps: list[tuple[Step, bool]]) -> Value:
    values = []
    for step, optional in steps:
        value = step(frame)
        if value.__class__ is Failure:
            return value
        if optional:
            if value.__class__ is not Optional:
                return Failure(f"cannot initialize optional list element from non-optional value {format_value(value)}")
            if not value.is_present:
                continue
            value = value.value
        values.append(value)
    return values


def _entries(frame: Frame, steps: list[tuple[Step, Step, bool]]) -> Value:
    entries: dict[Any, Value] = {}
    for key_step, value_step, optional in steps:
        key = key_step(frame)
        if key.__class__ is Failure:
            return key
        value = value_step(frame)
        if value.__class__ is Failure:
            return value
        if optional:
            if value.__class__ is not Optional:
                entry = f"optional entry '{format_value(key)}'"
                return Failure(f"cannot initialize {entry} from non-optional value {format_value(value)}")
            if not value.is_present:
                entries.pop(token(key), None)
                continue
            value = value.value
        entries[token(key)] = value
    return Map(entries)


# --- Which implementation ----------------------------------------------------------------------------------------

_RECEIVERS = frozenset((str, Duration, Timestamp))
"""Values that refuse a function they do not know in words of their own."""


def _operator(name: str, implementation: Implementation, takes: frozenset[type] | None) -> Implementation:
    if takes is None:
        return implementation
    refusal = Failure(f"no such overload: {name}")

    def operator(first: Value, *others: Value) -> Value:
        if first.__class__ in takes:
            return implementation(first, *others)
        return NO_SUCH_OVERLOAD if first.__class__ in _RECEIVERS else refusal

    return operator


def _guard(overload: Overload) -> Implementation:
    implementation = overload.implementation
    assert implementation is not None
    if overload.unguarded:
        return implementation
    parameters = overload.parameters
    if all(p.kind in _BY_CLASS for p in parameters):
        classes = tuple(_BY_CLASS[p.kind] for p in parameters)

        def call_guarded(*values: Value) -> Value:
            if tuple(value.__class__ for value in values) == classes:
                return implementation(*values)
            return _no_overload(overload.function, values)

        return call_guarded

    def call_checked(*values: Value) -> Value:
        if all(map(_is_of, parameters, values)):
            return implementation(*values)
        return _no_overload(overload.function, values)

    return call_checked


def _dispatcher(function: str, overloads: Sequence[Overload]) -> Implementation:
    def dispatch(*values: Value) -> Value:
        for overload in overloads:
            fits = len(values) == len(overload.parameters) and (
                overload.unguarded or all(map(_is_of, overload.parameters, values))
            )
            if fits and overload.implementation:
                return overload.implementation(*values)
        return _no_overload(function, values)

    return dispatch


def _no_overload(function: str, values: Sequence[Value]) -> Failure:
    return Failure(f"no such overload: {function}({', '.join(map(type_name, values))})")


_BY_CLASS: dict[Kind, type] = {
    Kind.BOOL: bool,
    Kind.BYTES: bytes,
    Kind.DOUBLE: float,
    Kind.DURATION: Duration,
    Kind.INT: int,
    Kind.STRING: str,
    Kind.TIMESTAMP: Timestamp,
    Kind.UINT: Uint,
}


def _is_of(type_: Type, value: Value) -> bool:
    """Return whether a value can be passed for a type; of a list or map only the first entry is looked at."""
    kind = type_.kind
    if kind in _BY_CLASS:
        return value.__class__ is _BY_CLASS[kind]
    if kind is Kind.DYN or kind is Kind.PARAMETER:
        return True
    if type_.name != type_name(value):
        return False
    if kind is Kind.LIST:
        return not value or _is_of(type_.parameters[0], value[0])
    if kind is Kind.MAP and len(value):
        key = next(iter(value))
        return _is_of(type_.parameters[0], key) and _is_of(type_.parameters[1], value.find(key))
    return True
