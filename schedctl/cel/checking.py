"""The type-checker: resolves names and overloads, finds the type of every expression, reports what does not fit.

What it knows is an `Environment`, and the names of CEL's own types. It goes on after an error, so that all of them are
reported; what is wrong has the type ERROR, which fits everything.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.cel import errors, syntax, types
from schedctl.cel.declarations import Environment, Overload
from schedctl.cel.values import Uint

TYPE_NAMES = {
    type_.name: type_
    for type_ in (
        types.BOOL,
        types.BYTES,
        types.DOUBLE,
        types.DURATION,
        types.INT,
        types.list_of(types.DYN),
        types.map_of(types.DYN, types.DYN),
        types.NULL,
        types.optional_of(types.DYN),
        types.STRING,
        types.TIMESTAMP,
        types.TYPE,
        types.UINT,
        types.Type(types.Kind.OPAQUE, "net.IP"),
        types.Type(types.Kind.OPAQUE, "net.CIDR"),
    )
}
_ABBREVIATED = {"duration": types.DURATION, "timestamp": types.TIMESTAMP}
"""Names that pass for types until the expression is planned, which then knows no such type."""
MESSAGE_NAMES = frozenset(
    f"google.protobuf.{name}"
    for name in (
        *("Any", "BoolValue", "BytesValue", "DoubleValue", "Duration", "Empty", "FloatValue", "Int32Value"),
        *("Int64Value", "ListValue", "NullValue", "NullValue.NULL_VALUE", "Struct", "StringValue", "Timestamp"),
        *("UInt32Value", "UInt64Value", "Value"),
    )
)
"""Protocol buffer messages that kube-scheduler's CEL knows by name."""
_MESSAGES = "protocol buffer messages in CEL"

_LITERALS: dict[type, types.Type] = {
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
}


def check(root: syntax.Node, source: syntax.Source, environment: Environment) -> None:
    """Find the types of a tree whose macros are expanded, and note them in its nodes.

    Raises:
        CompileError: something does not fit, with all that does not.
        Unsupported: it uses messages of protocol buffers.
    """
    checker = _Checker(source, environment)
    checker.visit(root)
    if checker.problems:
        raise errors.CompileError(checker.problems)
    checker.settle(root)


def qualified_name(node: syntax.Node) -> str | None:
    """Return the dotted name that an expression reads as, None if it is not one."""
    match node:
        case syntax.Ident():
            return node.name
        case syntax.Select(test_only=False):
            prefix = qualified_name(node.operand)
            return None if prefix is None else f"{prefix}.{node.field}"
    return None


class _Checker:
    def __init__(self, source: syntax.Source, environment: Environment) -> None:
        self._source, self._environment = source, environment
        self._functions = environment.functions
        self._bindings = types.Bindings()
        self._scopes: list[dict[str, types.Type]] = []
        self._fresh = 0
        self.problems: list[errors.Problem] = []

    def settle(self, node: syntax.Node) -> None:
        """Replace what was bound later in the types of a tree, and what never was by dyn."""
        stack = [node]
        while stack:
            node = stack.pop()
            node.type = self._bindings.resolve(node.type, free_is_dyn=True)
            stack.extend(node.children())

    def visit(self, node: syntax.Node) -> types.Type:
        """Find the type of a node and everything inside."""
        match node:
            case syntax.Literal():
                node.type = _LITERALS[type(node.value)]
            case syntax.Ident():
                node.type = self._ident(node)
            case syntax.Select():
                node.type = self._select(node)
            case syntax.Call():
                node.type = self._call(node)
            case syntax.ListOf():
                node.type = self._list(node)
            case syntax.MapOf():
                node.type = self._map(node)
            case syntax.Message():
                node.type = self._message(node)
            case syntax.Fold():
                node.type = self._fold(node)
        return node.type

    def _report(
        self,
        node: syntax.Node,
        text: str,
        cause: errors.UndeclaredName | errors.UndefinedField | errors.NoOverload | None = None,
    ) -> types.Type:
        self.problems.append(self._source.problem(node.position, text)._replace(cause=cause))
        return types.ERROR

    def _report_undeclared(self, node: syntax.Node, name: str) -> types.Type:
        return self._report(node, f"undeclared reference to '{name}' (in container '')", errors.UndeclaredName(name))

    def _mismatch(self, node: syntax.Node, expected: types.Type, found: types.Type) -> types.Type:
        return self._report(node, f"expected type '{expected}' but found '{found}'")

    # --- Names ---------------------------------------------------------------------------------------------------

    def _local(self, name: str) -> types.Type | None:
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    def _global(self, name: str) -> types.Type | None:
        name = name.removeprefix(".")
        variable = self._environment.variables.get(name)
        if variable is not None:
            return variable
        if name in TYPE_NAMES or name in _ABBREVIATED:
            return types.type_of(TYPE_NAMES.get(name) or _ABBREVIATED[name])
        if name in self._environment.records:
            return types.type_of(types.struct(name))
        if name in MESSAGE_NAMES:
            raise errors.Unsupported(_MESSAGES, name)
        return None

    def _ident(self, node: syntax.Ident) -> types.Type:
        found = None if node.name.startswith(".") else self._local(node.name)
        if found is None:
            found = self._global(node.name)
        return self._report_undeclared(node, node.name) if found is None else found

    def _select(self, node: syntax.Select) -> types.Type:
        name = qualified_name(node)
        if name is not None and self._local(name.partition(".")[0]) is None:
            found = self._global(name)
            if found is not None:
                node.name = name.removeprefix(".")
                return found
        field = self._field(node, node.operand, node.field, optional=False)
        return types.BOOL if node.test_only else self._bindings.resolve(field)

    def _field(self, node: syntax.Node, operand: syntax.Node, field: str, *, optional: bool) -> types.Type:
        self.visit(operand)
        target, was_optional = types.unwrap_optional(self._bindings.resolve(operand.type))
        result = types.DYN
        if target.kind is types.Kind.MAP:
            result = target.parameters[1]
        elif target.kind is types.Kind.STRUCT:
            result = self._struct_field(node, target, field)
        elif target.kind is types.Kind.PARAMETER:
            self._bindings.accept([types.DYN], [target])
        elif not target.is_dynamic:
            self._report(node, f"type '{target}' does not support field selection")
        return types.optional_of(result) if optional or was_optional else result

    def _struct_field(self, node: syntax.Node, target: types.Type, field: str) -> types.Type:
        fields = self._environment.records.get(target.name)
        if fields is None:
            return self._report(node, f"unexpected failed resolution of '{target.name}'")
        return fields.get(field) or self._report(
            node, f"undefined field '{field}'", errors.UndefinedField(target.name, field)
        )

    # --- Calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: syntax.Call) -> types.Type:
        if node.function == syntax.OPTIONAL_SELECT:
            operand, field = node.arguments
            assert isinstance(field, syntax.Literal)
            node.overloads = ["select_optional_field"]
            return self._bindings.resolve(self._field(node, operand, field.value, optional=True))
        for argument in node.arguments:
            self.visit(argument)
        if node.target is None:
            name = node.function.removeprefix(".")
            overloads = self._functions.get(name)
            if overloads is None:
                return self._report_undeclared(node, node.function)
            node.function = name
            return self._resolve(node, overloads)
        prefix = qualified_name(node.target)
        if prefix is not None:
            name = f"{prefix}.{node.function}".removeprefix(".")
            overloads = self._functions.get(name)
            if overloads is not None:
                node.function, node.target = name, None
                return self._resolve(node, overloads)
        # The target is visited only now: the dots before a function may be a part of its name (`ip.isCanonical`).
        self.visit(node.target)
        overloads = self._functions.get(node.function)
        return self._report_undeclared(node, node.function) if overloads is None else self._resolve(node, overloads)

    def _resolve(self, node: syntax.Call, overloads: Sequence[Overload]) -> types.Type:
        arguments = list(node.children())
        argument_types = [argument.type for argument in arguments]
        if node.function in ("_&&_", "_||_"):
            return self._logical(arguments)
        result: types.Type | None = None
        for overload in overloads:
            if overload.member is not (node.target is not None):
                continue
            taken, returned = list(overload.parameters), overload.result
            if overload.type_parameters:
                fresh = types.Bindings({name: self._parameter() for name in overload.type_parameters})
                # Parameters are new for every call: `A` of one call has nothing to do with `A` of another.
                taken, returned = [fresh.resolve(p) for p in taken], fresh.resolve(returned)
            if not self._bindings.accept(argument_types, taken):
                continue
            node.overloads.append(overload.id)
            found = self._bindings.resolve(returned)
            if result is None:
                result = found
            # Several may fit a value of type dyn; then it is known only when evaluating which one is called.
            elif result.kind is not types.Kind.DYN and found != result:
                result = types.DYN
        if result is None:
            return self._no_overload(node, argument_types)
        return result

    def _logical(self, terms: list[syntax.Node]) -> types.Type:
        result = types.BOOL
        for term in terms:
            if not self._bindings.accept([term.type], [types.BOOL]):
                result = self._mismatch(term, types.BOOL, term.type)
        return result

    def _no_overload(self, node: syntax.Call, argument_types: list[types.Type]) -> types.Type:
        shown = [str(self._bindings.resolve(type_, free_is_dyn=True)) for type_ in argument_types]
        cause = errors.NoOverload(node.function, tuple(shown))
        target = f"{shown.pop(0)}." if node.target is not None else ""
        signature = f"{target}({', '.join(shown)})"
        text = f"found no matching overload for '{node.function}' applied to '{signature}'"
        return self._report(node, text, cause)

    def _parameter(self) -> types.Type:
        self._fresh += 1
        return types.parameter(f"_var{self._fresh - 1}")

    # --- Things written down -------------------------------------------------------------------------------------

    def _list(self, node: syntax.ListOf) -> types.Type:
        joined: types.Type | None = None
        for index, element in enumerate(node.elements):
            found = self._entry(element, index in node.optional)
            joined = self._join_types(joined, found)
        return types.list_of(self._parameter() if joined is None else joined)

    def _map(self, node: syntax.MapOf) -> types.Type:
        keys: types.Type | None = None
        values: types.Type | None = None
        for entry in node.entries:
            keys = self._join_types(keys, self.visit(entry.key))
            values = self._join_types(values, self._entry(entry.value, entry.optional))
        if keys is None or values is None:
            keys, values = self._parameter(), self._parameter()
        return types.map_of(keys, values)

    def _entry(self, node: syntax.Node, optional: bool) -> types.Type:
        found = self.visit(node)
        if optional:
            found, was_optional = types.unwrap_optional(found)
            if not was_optional and found.kind is not types.Kind.DYN:
                self._mismatch(node, types.optional_of(found), found)
        return found

    def _join_types(self, previous: types.Type | None, current: types.Type) -> types.Type:
        """Return the type of an element among others; what does not fit together is for `validation` to refuse."""
        if previous is None:
            return current
        return types.most_general(previous, current) if self._bindings.accept([previous], [current]) else types.DYN

    def _message(self, node: syntax.Message) -> types.Type:
        name = node.name.removeprefix(".")
        if name in TYPE_NAMES or name in MESSAGE_NAMES or name in self._environment.records:
            raise errors.Unsupported(_MESSAGES, name)
        return self._report_undeclared(node, node.name)

    # --- Loops ---------------------------------------------------------------------------------------------------

    def _fold(self, node: syntax.Fold) -> types.Type:
        self.visit(node.range)
        self.visit(node.initial)
        self._scopes.append({node.accumulator: node.initial.type})
        self._scopes.append(dict(zip(node.variables, self._variables(node), strict=True)))
        self._expect(node.condition, types.BOOL)
        self._expect(node.step, node.initial.type)
        self._scopes.pop()
        self.visit(node.result)
        self._scopes.pop()
        return self._bindings.resolve(node.result.type)

    def _variables(self, node: syntax.Fold) -> list[types.Type]:
        range_type = self._bindings.resolve(node.range.type)
        count = len(node.variables)
        if range_type.kind is types.Kind.LIST:
            return [range_type.parameters[0]] if count == 1 else [types.INT, range_type.parameters[0]]
        if range_type.kind is types.Kind.MAP:
            return list(range_type.parameters[:count])
        if range_type.is_dynamic or range_type.kind is types.Kind.PARAMETER:
            self._bindings.accept([types.DYN], [range_type])
            return [types.DYN] * count
        expected = "(must be list, map, or dynamic)"
        self._report(node.range, f"expression of type '{range_type}' cannot be range of a comprehension {expected}")
        return [types.ERROR] * count

    def _expect(self, node: syntax.Node, expected: types.Type) -> None:
        self.visit(node)
        if not self._bindings.accept([expected], [node.type]):
            self._mismatch(node, expected, node.type)
