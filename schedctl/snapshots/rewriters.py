"""Objects to objects with some of their fields changed, by the types that the fields have.

A rule is for one field of one struct, or for one struct as a whole, wherever it is met. Which fields lead to one is
worked out once per type, so that an object costs no more than the way to what changes; what does not change is shared.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

Rewrite = Callable[[Any], Any]
"""From a value to what takes its place, itself where nothing does; the value is not None."""


class Rewriter:
    """Rules, as a function of objects.

    Args:
        fields: by struct and name of a field, what changes its value.
        structs: what changes a whole struct; its own fields are left alone then.
    """

    def __init__(
        self,
        fields: Mapping[tuple[type[msgspec.Struct], str], Rewrite],
        structs: Mapping[type[msgspec.Struct], Rewrite] | None = None,
    ) -> None:
        self._fields, self._structs = fields, structs or {}
        self._known: dict[type[msgspec.Struct], Rewrite | None] = {}

    def __call__(self, obj: Any) -> Any:
        """Return an object with every rule applied."""
        change = self.of(type(obj))
        return obj if change is None else change(obj)

    def of(self, struct: type[msgspec.Struct]) -> Rewrite | None:
        """Return what changes objects of a type, None where no rule reaches."""
        if struct not in self._known:
            self._known[struct] = self._structs.get(struct) or self.within(struct)
        return self._known[struct]

    def within(self, struct: type[msgspec.Struct]) -> Rewrite | None:
        """Return what changes the fields of objects of a type, whatever rule there is for them as a whole."""
        changes = [
            (name, change)
            for name, hint in fields_of(struct).items()
            if (change := self._fields.get((struct, name)) or self._through(hint)) is not None
        ]
        if not changes:
            return None

        def rewrite(obj: Any) -> Any:
            replaced = {}
            for name, change in changes:
                value = getattr(obj, name)
                # By identity: rules return what they were given where nothing changes, and structs are dear to compare.
                if value is not None and (after := change(value)) is not value:
                    replaced[name] = after
            return msgspec.structs.replace(obj, **replaced) if replaced else obj

        return rewrite

    def _through(self, hint: Any) -> Rewrite | None:
        """Return what changes the structs that a value of a type holds."""
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            return self.of(hint)
        arguments = [each for each in get_args(hint) if each is not types.NoneType]
        if get_origin(hint) in (Union, types.UnionType) and len(arguments) == 1:
            return self._through(arguments[0])
        inner = self._through(arguments[-1]) if get_origin(hint) in (list, dict) else None
        if inner is None:
            return None
        return _each(inner) if get_origin(hint) is list else _each_value(inner)


@cache
def fields_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the types of the fields of a struct."""
    return get_type_hints(struct, include_extras=True)


def holds_text(hint: Any) -> bool:
    """Return whether a value of a type can hold free text outside of structs; quantities and times cannot."""
    if get_origin(hint) is Annotated:
        return False  # a grammar that leaves no room for names, see `schedctl.api.meta`
    return hint is str or any(map(holds_text, get_args(hint)))


def structs_in(*roots: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """Yield these types and every struct that their fields hold, each once."""
    seen: set[type[msgspec.Struct]] = set()
    waiting: list[Any] = list(reversed(roots))
    while waiting:
        hint = waiting.pop()
        if not (isinstance(hint, type) and issubclass(hint, msgspec.Struct)):
            waiting += get_args(hint)
        elif hint not in seen:
            seen.add(hint)
            yield hint
            waiting += fields_of(hint).values()


def _each(change: Rewrite) -> Rewrite:
    def rewrite(values: list[Any]) -> list[Any]:
        after = [change(value) for value in values]
        return after if any(a is not b for a, b in zip(after, values, strict=True)) else values

    return rewrite


def _each_value(change: Rewrite) -> Rewrite:
    def rewrite(values: dict[str, Any]) -> dict[str, Any]:
        after = {key: change(value) for key, value in values.items()}
        return after if any(after[key] is not values[key] for key in values) else values

    return rewrite
