"""How functions are declared: a name, and overloads that each take and return certain types.

The libraries declare what they implement beside the implementation, a line for each overload (`declare`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from schedctl.cel import types
from schedctl.cel.budgets import Budget
from schedctl.cel.types import Kind, Type

Implementation = Callable[..., Any]
"""Takes values, none of them an error, and returns a value or a `Failure`."""


class Overload(NamedTuple):
    """One way to call a function.

    Attributes:
        implementation: what computes it; None when the operator is evaluated in a way of its own or the function is
            shared by all overloads (see `planning`).
        unguarded: the implementation itself looks whether its arguments are of the right types.
        type_parameters: the names of its type parameters, sorted.
    """

    function: str
    id: str
    member: bool
    parameters: tuple[Type, ...]
    result: Type
    implementation: Implementation | None
    unguarded: bool
    type_parameters: tuple[str, ...]


Cost = Callable[[Sequence[Any], Any], int]
"""Arguments and result to the cost of a call."""


def _no_cost(function: str, overload: str) -> Cost | None:
    return None


@dataclass(frozen=True)
class Environment:
    """What expressions may speak of, and how much they may cost.

    Attributes:
        variables: the type of each, in the order in which an evaluation gets their values.
        functions: the overloads of each, see `library.functions`.
        records: the fields of each type of kind STRUCT.
        cost_of: how a call is charged, by function and overload; None where it costs 1.
        cost_limit: what an evaluation may cost.
        step_limit: how many elements all loops of an evaluation may visit together.
        checks_literals: whether dates, patterns and the like that are written down are looked at while compiling, and
            lists and maps must not mix types, as in Kubernetes.
        budget: what is spent before each call and in each round of a loop; None where only the cost counts.
        recurring: variables whose values are often the same object in the next evaluation, so that a loop that reads no
            others is run once for all of them.
    """

    variables: Mapping[str, types.Type]
    functions: Mapping[str, Sequence[Overload]]
    records: Mapping[str, Mapping[str, types.Type]] = field(default_factory=dict)
    cost_of: Callable[[str, str], Cost | None] = _no_cost
    cost_limit: float = math.inf
    step_limit: float = math.inf
    checks_literals: bool = True
    budget: Budget | None = None
    recurring: frozenset[str] = frozenset()


_DECLARATION = re.compile(r"(\.?)(\S+) (\S+) \((.*)\) (\S.*)")


def declare(text: str, implementation: Implementation | None = None, *, unguarded: bool = False) -> Overload:
    """Return the overload that a line such as ``.charAt string_char_at_int (string, int) string`` declares.

    A leading dot is for a function that follows its first argument; then come the name, the id of the overload, what it
    takes and what it gives. A single capital letter is a type parameter.
    """
    match = _DECLARATION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a declaration: {text}")
    dot, function, overload, parameters, result = match.groups()
    taken = tuple(_type(p) for p in _split_at_commas(parameters)) if parameters else ()
    returned = _type(result)
    names = frozenset().union(*map(_parameters_in, (*taken, returned)))
    return Overload(function, overload, bool(dot), taken, returned, implementation, unguarded, tuple(sorted(names)))


_NAMED = {
    "dyn": types.DYN,
    "bool": types.BOOL,
    "bytes": types.BYTES,
    "double": types.DOUBLE,
    "duration": types.DURATION,
    "int": types.INT,
    "string": types.STRING,
    "timestamp": types.TIMESTAMP,
    "uint": types.UINT,
    "net.IP": Type(Kind.OPAQUE, "net.IP"),
    "net.CIDR": Type(Kind.OPAQUE, "net.CIDR"),
}
_COMPOSED: dict[str, Callable[..., Type]] = {
    "list": types.list_of,
    "map": types.map_of,
    "optional": types.optional_of,
    "type": types.type_of,
}


@lru_cache(maxsize=256)
def _type(text: str) -> Type:
    name, _, inner = text.partition("(")
    if inner:
        return _COMPOSED[name](*map(_type, _split_at_commas(inner[:-1])))
    if len(name) == 1:
        return types.parameter(name)
    return _NAMED.get(name) or types.struct(f"kubernetes.{name}")


def _split_at_commas(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    return re.findall(r"(?:[^,()\s]|\((?:[^()]|\([^()]*\))*\))+", text)


def _parameters_in(type_: Type) -> frozenset[str]:
    if type_.kind is Kind.PARAMETER:
        return frozenset((type_.name,))
    return frozenset().union(*map(_parameters_in, type_.parameters))
