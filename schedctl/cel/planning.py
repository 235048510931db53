"""From a typed tree to closures, each of which computes a part and adds what that costs.

The parts are those of `steps`, `attributes` and `overloads`; here is which of them an expression becomes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from schedctl.cel import attributes, conversions, costs, patterns, steps, syntax, values
from schedctl.cel.budgets import TO_TURN, count_nodes
from schedctl.cel.checking import TYPE_NAMES
from schedctl.cel.declarations import Environment, Implementation
from schedctl.cel.errors import Aborted, LimitExceeded, PlanError, Unsupported
from schedctl.cel.joins import Index, find_join, membership
from schedctl.cel.overloads import implementation_of
from schedctl.cel.steps import COST, FIRST_VARIABLE, STEPS, Frame, Step
from schedctl.cel.types import Kind
from schedctl.cel.values import Failure, Value

_PATHS = ("_[_]", syntax.OPTIONAL_SELECT, syntax.OPTIONAL_INDEX, "_?_:_")


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


class _Planner:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._functions = environment.functions
        self._budget = environment.budget
        self._global_places = {name: place for place, name in enumerate(environment.variables, FIRST_VARIABLE)}
        self._scopes: list[dict[str, steps.Variable]] = []
        self._is_recalled = False
        self.places = FIRST_VARIABLE + len(environment.variables)

    def plan(self, node: syntax.Node) -> attributes.Planned:
        match node:
            case syntax.Literal():
                return attributes.Constant(node.value)
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
                return attributes.Planned(self._memoize(node) or self._fold(node))
        raise TypeError(f"cannot plan {type(node).__name__}")

    def _attribute(self, node: syntax.Node) -> attributes.Attribute:
        planned = self.plan(node)
        return planned if isinstance(planned, attributes.Attribute) else attributes.Attribute(planned.step())

    # --- Names and paths ---

    def _ident(self, node: syntax.Ident) -> attributes.Planned:
        name = node.name.removeprefix(".")
        if node.type.kind is Kind.TYPE:
            if name not in TYPE_NAMES and name not in self._environment.records:
                raise PlanError(f"reference to undefined type: {name}")
            return attributes.Constant(values.TypeValue(name))
        local = next((scope[name] for scope in reversed(self._scopes) if name in scope), None)
        if local is not None and node.name == name:
            return attributes.Attribute(steps.read_variable(local))
        root = steps.read_variable(steps.Variable(self._global_places[name]))
        return attributes.Attribute(root) if local is None else attributes.HiddenVariable(root)

    def _select(self, node: syntax.Select) -> attributes.Planned:
        if node.name:
            return attributes.Constant(values.TypeValue(node.name))
        attribute = self._attribute(node.operand)
        attribute.add(attributes.Qualifier(node.field, False, node.test_only))
        return attribute

    def _index(self, node: syntax.Call) -> attributes.Planned:
        operand, index = node.arguments
        attribute = self._attribute(operand)
        planned = self.plan(index)
        optional = node.function in (syntax.OPTIONAL_SELECT, syntax.OPTIONAL_INDEX)
        if isinstance(planned, attributes.Constant):
            if planned.value.__class__ not in steps.KEY_CLASSES:
                raise PlanError(f"invalid qualifier type: {values.go_type(planned.value)}")
            attribute.add(attributes.Qualifier(planned.value, optional))
        elif isinstance(planned, attributes.Attribute):
            attribute.add(attributes.Qualifier(planned, optional))
        else:
            attribute.add(attributes.Qualifier(attributes.Attribute(planned.step()), optional))
        return attribute

    def _conditional(self, node: syntax.Call) -> attributes.Planned:
        condition, then, otherwise = node.arguments
        return attributes.Choice(self.plan(condition).step(), self._attribute(then), self._attribute(otherwise))

    # --- Calls ---

    def _call(self, node: syntax.Call) -> attributes.Planned:
        # not paths, which go on into what they find
        if node.function not in _PATHS and (recalled := self._memoize(node)):
            return attributes.Planned(recalled)
        match node.function:
            case "_&&_":
                return attributes.Planned(steps.junction(*self._steps(node), decides=False))
            case "_||_":
                return attributes.Planned(steps.junction(*self._steps(node), decides=True))
            case "_?_:_":
                return self._conditional(node)
            case "_==_":
                return attributes.Planned(self._comparison(node, steps.equality, values.equal))
            case "_!=_":
                return attributes.Planned(self._comparison(node, steps.inequality, values.differs))
            case "_[_]" | "_?._" | "_[?_]":
                return self._index(node)
            case "or" | "orValue":
                return attributes.Planned(steps.alternative(*self._steps(node), unwrap=node.function == "orValue"))
        arguments = [self.plan(argument) for argument in node.children()]
        return self._fold_constant(node, arguments) or attributes.Planned(self._function(node, arguments))

    def _steps(self, node: syntax.Call) -> list[Step]:
        return [self.plan(argument).step() for argument in node.children()]

    def _comparison(self, node: syntax.Call, plain: Callable[[Step, Step], Step], compare: Implementation) -> Step:
        if self._budget is None:
            return plain(*self._steps(node))
        left, right = self._steps(node)
        return steps.binary(left, right, self._budget.metered(node.function, compare), None)

    def _fold_constant(self, node: syntax.Call, arguments: list[attributes.Planned]) -> attributes.Planned | None:
        """Return what is computed while planning: conversions of constants, membership in a constant list."""
        if (
            node.function in conversions.FUNCTIONS
            and len(arguments) == 1
            and isinstance(arguments[0], attributes.Constant)
        ):
            value = implementation_of(node, self._functions)[0](arguments[0].value)
            if value.__class__ is Failure:
                raise PlanError(value.text)
            return attributes.Constant(value)
        if node.overloads == ["in_list"] and isinstance(arguments[1], attributes.Constant):
            members = arguments[1].value
            if not members:
                return attributes.Constant(False)
            if all(value.__class__ in steps.KEY_CLASSES for value in members):
                return attributes.Planned(steps.membership(arguments[0].step(), members))
        return None

    def _function(self, node: syntax.Call, arguments: list[attributes.Planned]) -> Step:
        overload = node.overloads[0] if len(node.overloads) == 1 else ""
        cost = self._environment.cost_of(node.function, overload)
        argument_steps = [argument.step() for argument in arguments]
        implementation, one_by_one = self._constant_pattern(node, arguments) or implementation_of(node, self._functions)
        if node.function == "@not_strictly_false":
            return steps.lenient(argument_steps[0], implementation)
        if self._budget is not None:
            implementation = self._budget.metered(node.function, implementation)
            if node.function == "@in" and self._recurs(node.arguments[1]):
                implementation = membership(implementation, self._budget.spend)
        if len(argument_steps) == 1 and not one_by_one:
            return steps.unary(argument_steps[0], implementation, cost)
        if len(argument_steps) == 2 and not one_by_one:
            return steps.binary(argument_steps[0], argument_steps[1], implementation, cost)
        return steps.variadic(argument_steps, implementation, cost)

    def _constant_pattern(
        self, node: syntax.Call, arguments: list[attributes.Planned]
    ) -> tuple[Implementation, bool] | None:
        """Return the implementation of a call with a constant pattern, which is compiled while planning."""
        if node.function not in ("matches", "find", "findAll"):
            return None
        pattern = arguments[1]
        if not isinstance(pattern, attributes.Constant) or not isinstance(pattern.value, str):
            return None
        compiled = patterns.compile_pattern(pattern.value)
        if isinstance(compiled, patterns.PatternError):
            raise PlanError(str(compiled))

        def search(text: Value, _: Value, most: Value = -1) -> Value:
            if text.__class__ is values.TypeValue:
                # With a constant pattern, a type is as good as its name.
                text = text.name
            if not isinstance(text, str) or most.__class__ is not int:
                return values.NO_SUCH_OVERLOAD
            if node.function == "findAll":
                return compiled.find_all(text, most)
            return compiled.matches(text) if node.function == "matches" else compiled.find(text)

        return search, True

    # --- Things written down ---

    def _list(self, node: syntax.ListOf) -> attributes.Planned:
        elements = [self.plan(element) for element in node.elements]
        if all(isinstance(element, attributes.Constant) for element in elements):
            return attributes.Constant([element.step()([]) for element in elements])
        parts = [
            (self._part(element, index in node.optional), index in node.optional)
            for index, element in enumerate(elements)
        ]
        spend = self._budget.spend if self._budget is not None else None

        def step(frame: Frame) -> Value:
            if spend is not None:
                spend(len(parts))
            made = steps.elements(frame, parts)
            frame[COST] += costs.LIST
            return made

        return attributes.Planned(step)

    def _part(self, planned: attributes.Planned, optional: bool) -> Step:
        """Return the step of an element or a value."""
        # One that may be absent is printed if it turns out to be no optional.
        step, budget = planned.step(), self._budget
        return (lambda frame: budget.spend_on(step(frame))) if optional and budget is not None else step

    def _map(self, node: syntax.MapOf) -> attributes.Planned:
        entries = [(self.plan(entry.key), self.plan(entry.value), entry.optional) for entry in node.entries]
        parts = [(key.step(), self._part(value, optional), optional) for key, value, optional in entries]
        if all(isinstance(part, attributes.Constant) for key, value, _ in entries for part in (key, value)):
            return attributes.Constant(steps.entries([], parts))

        spend = self._budget.spend if self._budget is not None else None

        def step(frame: Frame) -> Value:
            if spend is not None:
                spend(len(parts))
            made = steps.entries(frame, parts)
            frame[COST] += costs.MAP
            return made

        return attributes.Planned(step)

    # --- Loops ---

    def _place(self) -> int:
        self.places += 1
        return self.places - 1

    def _fold(self, node: syntax.Fold) -> Step:
        initial = self.plan(node.initial).step()
        over = self.plan(node.range).step()
        accumulator = self._place()
        variables = [self._place() for _ in node.variables]
        narrow = self._narrowing(node, variables[0])
        self._scopes.append({node.accumulator: steps.Variable(accumulator, initial)})
        self._scopes.append(dict(zip(node.variables, map(steps.Variable, variables), strict=True)))
        condition, step = self.plan(node.condition).step(), self.plan(node.step).step()
        self._scopes.pop()
        result = self.plan(node.result).step()
        self._scopes.pop()
        cost_limit, step_limit = self._environment.cost_limit, self._environment.step_limit
        spend = self._budget.spend if self._budget is not None else None
        units = TO_TURN + count_nodes(node.condition) + count_nodes(node.step)

        def fold(frame: Frame) -> Value:
            frame[accumulator] = steps.UNSET
            collection = over(frame)
            if collection.__class__ is Failure:
                return collection
            if narrow is not None:
                collection = narrow(frame, collection)
            rounds = steps.rounds(collection, len(variables))
            if isinstance(rounds, Failure):
                return rounds
            for items in rounds:
                frame[STEPS] += 1
                if frame[STEPS] > step_limit:
                    raise LimitExceeded
                if spend is not None:
                    spend(units)
                for place, item in zip(variables, items, strict=True):
                    frame[place] = item
                if condition(frame) is False:
                    break
                frame[accumulator] = step(frame)
                if frame[COST] > cost_limit:
                    raise LimitExceeded
            return steps.freeze(result(frame))

        return fold

    def _narrowing(self, node: syntax.Fold, variable: int) -> Callable[[Frame, Value], Value] | None:
        """Return what leaves those elements of a list to a loop that can change its result; None for all of them.

        The list is one that recurs, here or in a loop around this one, or filing its elements would not pay.
        """
        roots = {name.partition(".")[0] for name in syntax.free_names(node.range)}
        is_same_in_loop = bool(self._scopes) and all(roots.isdisjoint(scope) for scope in self._scopes)
        join = find_join(node) if is_same_in_loop or self._recurs(node.range) else None
        if join is None:
            return None
        text = self.plan(join.text).step()
        self._scopes.append({node.variables[0]: steps.Variable(variable)})
        part = self.plan(join.part).step()
        self._scopes.pop()
        step_limit, size = self._environment.step_limit, count_nodes(join.part)
        spend = self._budget.spend if self._budget is not None else None
        known: list[Index] = []

        def part_of(frame: Frame, element: Value) -> Value:
            frame[variable] = element
            # a loop that ends before that element does not fail on it
            with suppress(Aborted, Unsupported):
                return part(frame)
            return None

        def narrow(frame: Frame, collection: Value) -> Value:
            if not isinstance(collection, list) or not collection or len(collection) > step_limit:
                return collection
            sought = None
            with suppress(Aborted, Unsupported):
                sought = text(frame)
            if sought.__class__ is not str:
                return collection
            if not known or known[0].elements is not collection:
                if spend is not None:
                    spend(size * len(collection))
                known[:] = [Index(collection, (part_of(frame, element) for element in collection))]
            return known[0].candidates(sought)

        return narrow

    def _recurs(self, node: syntax.Node) -> bool:
        """Return whether an expression reads only variables that recur."""
        recurring, hidden = self._environment.recurring, {name for scope in self._scopes for name in scope}
        roots = {name: name.partition(".")[0] for name in syntax.free_names(node)}
        return all(root not in hidden and not recurring.isdisjoint((root, name)) for name, root in roots.items())

    def _memoize(self, node: syntax.Call | syntax.Fold) -> Step | None:
        """Return a loop or call that is not run again for the same objects; None where it reads what does not recur."""
        names = sorted(syntax.free_names(node))
        if self._is_recalled or not names or not self._recurs(node):
            return None
        reads = [self._read_name(name) for name in names]
        self._is_recalled = True  # what is in it need not be recalled by itself
        step = self.plan(node).step()
        self._is_recalled = False
        known: list[Any] = []

        def recall(frame: Frame) -> Value:
            found = [read(frame) for read in reads]
            if not known or any(a is not b for a, b in zip(found, known[0], strict=True)):
                value = step(frame)
                known[:] = [found, value]
            return known[1]

        return recall

    def _read_name(self, name: str) -> Step:
        """Return the step that reads a variable; of a variable that recurs only in part, the field."""
        root, _, field = name.partition(".")
        attribute = attributes.Attribute(steps.read_variable(steps.Variable(self._global_places[root])))
        if root not in self._environment.recurring:
            attribute.add(attributes.Qualifier(field, False))
        return attribute.resolve()
