"""Shorthand written out: what looks like a call but introduces variables or inspects its argument.

``has``, the comprehensions over one and over two variables, ``sortBy`` and ``cel.bind``; ``optMap`` and ``optFlatMap``
arrive from `parsing` expanded.
"""

from __future__ import annotations

from collections.abc import Callable

from schedctl.cel import syntax
from schedctl.cel.errors import CompileError, Problem
from schedctl.cel.values import Value

ACCUMULATOR = "@result"
UNUSED = "#unused"
NOT_STRICTLY_FALSE = "@not_strictly_false"
MAP_INSERT = "cel.@mapInsert"
SORT_BY_KEYS = "@sortByAssociatedKeys"
_SORT_INPUT = "@__sortBy_input__"
_OLD_ACCUMULATOR = "__result__"


def expand_macros(node: syntax.Node, source: syntax.Source) -> syntax.Node:
    """Return the tree with all macros expanded.

    Raises:
        CompileError: macros with arguments they cannot take, all of them.
    """
    problems: list[Problem] = []
    node = _Expander(source, problems).visit(node)
    if problems:
        raise CompileError(problems)
    return node


class _Misused(Exception):
    """A macro's argument that it cannot take."""

    def __init__(self, node: syntax.Node, text: str) -> None:
        super().__init__(text)
        self.node, self.text = node, text


class _Expander:
    """Works from the inside out, as the parser does, so that arguments are expanded already."""

    def __init__(self, source: syntax.Source, problems: list[Problem]) -> None:
        self._source, self._problems = source, problems

    def visit(self, node: syntax.Node) -> syntax.Node:
        """Return the node with everything inside, and then itself, expanded."""
        match node:
            case syntax.Select():
                node.operand = self.visit(node.operand)
            case syntax.ListOf():
                node.elements = [self.visit(e) for e in node.elements]
            case syntax.MapOf():
                node.entries = [syntax.Entry(self.visit(e.key), self.visit(e.value), e.optional) for e in node.entries]
            case syntax.Message():
                node.values = [self.visit(v) for v in node.values]
            case syntax.Fold():
                node.initial, node.result = self.visit(node.initial), self.visit(node.result)
            case syntax.Call():
                if node.target is not None:
                    node.target = self.visit(node.target)
                node.arguments = [self.visit(a) for a in node.arguments]
                return self._call(node)
        return node

    def _call(self, call: syntax.Call) -> syntax.Node:
        macro = _MACROS.get((call.function, len(call.arguments), call.target is not None))
        if macro is None:
            return call
        try:
            return macro(call) or call
        except _Misused as misuse:
            self._problems.append(self._source.problem(misuse.node.position, misuse.text))
            # Stands in for the call, so that the rest is expanded and all misuses are reported.
            return syntax.Literal(misuse.node.position, None)


class _Expansion:
    """What a macro is expanded to: every node that it adds stands where the call stood, for error messages."""

    def __init__(self, call: syntax.Call) -> None:
        self.position, self.arguments = call.position, call.arguments
        self.range = call.target or call

    def accumulator(self) -> syntax.Ident:
        return syntax.Ident(self.position, ACCUMULATOR)

    def literal(self, value: Value) -> syntax.Literal:
        return syntax.Literal(self.position, value)

    def call(self, function: str, *arguments: syntax.Node) -> syntax.Call:
        return syntax.Call(self.position, function, list(arguments))

    def choose(self, condition: syntax.Node, then: syntax.Node) -> syntax.Node:
        """Return `then` if the condition holds, else the accumulated value as it is."""
        return self.call("_?_:_", condition, then, self.accumulator())

    def fold(
        self,
        variables: tuple[str, ...],
        initial: syntax.Node,
        condition: syntax.Node,
        step: syntax.Node,
        result: syntax.Node | None = None,
    ) -> syntax.Fold:
        result = result or self.accumulator()
        return syntax.Fold(self.position, self.range, variables, ACCUMULATOR, initial, condition, step, result)


def _variables(arguments: list[syntax.Node], message: str) -> tuple[str, ...]:
    """Return the names of loop variables.

    Raises:
        _Misused: they are not names, twice the same, or hide the accumulator.
    """
    names: list[str] = []
    for argument in arguments:
        if not isinstance(argument, syntax.Ident):
            raise _Misused(argument, message)
        names.append(argument.name)
    if len(set(names)) < len(names):
        raise _Misused(arguments[1], f"duplicate variable name: {names[0]}")
    for argument, name in zip(arguments, names, strict=True):
        if name in (ACCUMULATOR, _OLD_ACCUMULATOR):
            raise _Misused(argument, "iteration variable overwrites accumulator variable")
    return tuple(names)


_NOT_A_NAME, _NOT_AN_IDENTIFIER = "argument must be a simple name", "argument is not an identifier"


def _has(call: syntax.Call) -> syntax.Node:
    (argument,) = call.arguments
    if not isinstance(argument, syntax.Select):
        raise _Misused(argument, "invalid argument to has() macro")
    return syntax.Select(call.position, argument.operand, argument.field, test_only=True)


def _all(call: syntax.Call) -> syntax.Node:
    expansion, (*names, predicate) = _Expansion(call), call.arguments
    variables = _variables(names, _NOT_A_NAME)
    # The loop goes on after a failure: a later element may still decide.
    condition = expansion.call(NOT_STRICTLY_FALSE, expansion.accumulator())
    return expansion.fold(
        variables, expansion.literal(True), condition, expansion.call("_&&_", expansion.accumulator(), predicate)
    )


def _exists(call: syntax.Call) -> syntax.Node:
    expansion, (*names, predicate) = _Expansion(call), call.arguments
    variables = _variables(names, _NOT_A_NAME)
    condition = expansion.call(NOT_STRICTLY_FALSE, expansion.call("!_", expansion.accumulator()))
    return expansion.fold(
        variables, expansion.literal(False), condition, expansion.call("_||_", expansion.accumulator(), predicate)
    )


def _exists_one(call: syntax.Call) -> syntax.Node:
    expansion, (*names, predicate) = _Expansion(call), call.arguments
    variables = _variables(names, _NOT_A_NAME)
    step = expansion.choose(predicate, expansion.call("_+_", expansion.accumulator(), expansion.literal(1)))
    found = expansion.call("_==_", expansion.accumulator(), expansion.literal(1))
    return expansion.fold(variables, expansion.literal(0), expansion.literal(True), step, found)


def _listing(
    expansion: _Expansion, variables: tuple[str, ...], predicate: list[syntax.Node], element: syntax.Node
) -> syntax.Node:
    step: syntax.Node = expansion.call("_+_", expansion.accumulator(), syntax.ListOf(expansion.position, [element]))
    if predicate:
        step = expansion.choose(predicate[0], step)
    return expansion.fold(variables, syntax.ListOf(expansion.position, []), expansion.literal(True), step)


def _map(call: syntax.Call) -> syntax.Node:
    name, *predicate, element = call.arguments
    return _listing(_Expansion(call), _variables([name], _NOT_AN_IDENTIFIER), predicate, element)


def _filter(call: syntax.Call) -> syntax.Node:
    name, predicate = call.arguments
    return _listing(_Expansion(call), _variables([name], _NOT_AN_IDENTIFIER), [predicate], name)


def _transform_list(call: syntax.Call) -> syntax.Node:
    key, value, *predicate, element = call.arguments
    return _listing(_Expansion(call), _variables([key, value], _NOT_A_NAME), predicate, element)


def _mapping(
    expansion: _Expansion, variables: tuple[str, ...], predicate: list[syntax.Node], *entry: syntax.Node
) -> syntax.Node:
    step: syntax.Node = expansion.call(MAP_INSERT, expansion.accumulator(), *entry)
    if predicate:
        step = expansion.choose(predicate[0], step)
    return expansion.fold(variables, syntax.MapOf(expansion.position, []), expansion.literal(True), step)


def _transform_map(call: syntax.Call) -> syntax.Node:
    key, value, *predicate, element = call.arguments
    variables = _variables([key, value], _NOT_A_NAME)
    return _mapping(_Expansion(call), variables, predicate, syntax.Ident(call.position, variables[0]), element)


def _transform_map_entry(call: syntax.Call) -> syntax.Node:
    key, value, *predicate, entry = call.arguments
    return _mapping(_Expansion(call), _variables([key, value], _NOT_A_NAME), predicate, entry)


def _binding(position: int, name: str, value: syntax.Node, result: syntax.Node) -> syntax.Node:
    """Return `result` with a variable in it, as a loop over nothing: the accumulator is the variable."""
    return syntax.Fold(
        position,
        syntax.ListOf(position, []),
        (UNUSED,),
        name,
        value,
        syntax.Literal(position, False),
        syntax.Ident(position, name),
        result,
    )


def _bind(call: syntax.Call) -> syntax.Node | None:
    name, value, result = call.arguments
    # A method `bind` of something else is no macro; None leaves the call as it is.
    if not isinstance(call.target, syntax.Ident) or call.target.name != "cel":
        return None
    if not isinstance(name, syntax.Ident):
        raise _Misused(name, "cel.bind() variable names must be simple identifiers")
    return _binding(call.position, name.name, value, result)


def _sort_by(call: syntax.Call) -> syntax.Node:
    assert call.target is not None
    if not isinstance(call.target, syntax.ListOf | syntax.Select | syntax.Ident | syntax.Fold | syntax.Call):
        kinds = "list, identifier, comprehension, call or select expression"
        raise _Misused(call.target, f"sortBy can only be applied to a {kinds}")
    name, key = call.arguments
    expansion = _Expansion(call)
    expansion.range = syntax.Ident(call.position, _SORT_INPUT)
    keys = _listing(expansion, _variables([name], _NOT_AN_IDENTIFIER), [], key)
    ordered = syntax.Call(call.position, SORT_BY_KEYS, [keys], syntax.Ident(call.position, _SORT_INPUT))
    return _binding(call.position, _SORT_INPUT, call.target, ordered)


def _misused_optional(macro: str) -> Callable[[syntax.Call], None]:
    """Return the check of a call of ``optMap`` that the engine left as it is because one is misused."""

    def check(call: syntax.Call) -> None:
        name = call.arguments[0]
        if not isinstance(name, syntax.Ident):
            raise _Misused(name, f"{macro}() variable name must be a simple identifier")

    return check


_MACROS: dict[tuple[str, int, bool], Callable[[syntax.Call], syntax.Node | None]] = {
    ("has", 1, False): _has,
    ("all", 2, True): _all,
    ("all", 3, True): _all,
    ("exists", 2, True): _exists,
    ("exists", 3, True): _exists,
    ("exists_one", 2, True): _exists_one,
    ("exists_one", 3, True): _exists_one,
    ("existsOne", 3, True): _exists_one,
    ("map", 2, True): _map,
    ("map", 3, True): _map,
    ("filter", 2, True): _filter,
    ("transformList", 3, True): _transform_list,
    ("transformList", 4, True): _transform_list,
    ("transformMap", 3, True): _transform_map,
    ("transformMap", 4, True): _transform_map,
    ("transformMapEntry", 3, True): _transform_map_entry,
    ("transformMapEntry", 4, True): _transform_map_entry,
    ("sortBy", 2, True): _sort_by,
    ("bind", 3, True): _bind,
    **{(stand_in, 2, True): _misused_optional(macro) for macro, stand_in in syntax.STAND_INS.items()},
}
"""By name, number of arguments, and whether it follows a dot."""
