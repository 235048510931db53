"""`lazy`: an attribute that is worked out when it is first read, and then is an ordinary one.

As ``functools.cached_property``, which takes a lock up to Python 3.11; what is read once per pod notices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
Self = TypeVar("Self", bound="lazy[Any]")


class lazy(Generic[T]):
    """Decorates the method that works an attribute out."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find = find
        self.__doc__ = find.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self: Self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self: Self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        found: T = self._find(instance)
        instance.__dict__[self._name] = found
        return found
