"""A list and a dictionary that refuse to be changed, for what is computed once and handed out to many."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def _refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(f"this {kind} is read-only: change a copy, {kind}(…)")


class ReadOnlyList(list[V]):
    """A list as it was made, equal to every other list of the same elements."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)


class ReadOnlyDict(dict[K, V]):
    """A dictionary as it was made; unlike ``MappingProxyType`` it can be pickled."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)
