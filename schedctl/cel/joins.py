"""Loops that look for what is equal: ``pods.filter(p, p.node == pod.node)`` looks at the pods of that node alone.

Where an element's part is another text than the one it is compared with, the loop would go on as if the element were
not there. So the elements are filed by that part, once for each list, and a loop visits those under the text, and those
whose part is no text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from schedctl.cel import syntax
from schedctl.cel.declarations import Implementation
from schedctl.cel.macros import ACCUMULATOR
from schedctl.cel.values import Value


class Join(NamedTuple):
    """A comparison on which each round of a loop depends.

    Attributes:
        part: of the element; nothing else is read in it.
        text: what it is compared with, in which the element is not read.
    """

    part: syntax.Node
    text: syntax.Node


def find_join(loop: syntax.Fold) -> Join | None:
    """Return the comparison without which a round of ``exists``, ``all``, ``filter`` or ``map`` changes nothing."""
    if len(loop.variables) != 1 or loop.accumulator != ACCUMULATOR or not isinstance(loop.step, syntax.Call):
        return None
    (variable,), step = loop.variables, loop.step
    match step.function:
        case "_||_":
            needed = _comparisons(step.arguments[1], "_&&_", equal=True)
        case "_&&_":
            needed = _comparisons(step.arguments[1], "_||_", equal=False)
        case "_?_:_":
            needed = _comparisons(step.arguments[0], "_&&_", equal=True)
        case _:
            return None
    for one, other in needed:
        for part, text in ((one, other), (other, one)):
            is_apart = _roots(part) == {variable} and _roots(text).isdisjoint((variable, ACCUMULATOR))
            if is_apart and not (_has_loop(part) or _has_loop(text)):
                return Join(part, text)
    return None


def _comparisons(node: syntax.Node, junction: str, *, equal: bool) -> Iterator[tuple[syntax.Node, syntax.Node]]:
    """Yield the sides of the comparisons of which one decides: ``==`` that is false, or ``!=`` that is true."""
    if not isinstance(node, syntax.Call):
        return
    if node.function == junction:
        for side in node.arguments:
            yield from _comparisons(side, junction, equal=equal)
    elif node.function == "!_":
        (negated,) = node.children()
        if isinstance(negated, syntax.Call) and negated.function == ("_!=_" if equal else "_==_"):
            yield negated.arguments[0], negated.arguments[1]
    elif node.function == ("_==_" if equal else "_!=_"):
        yield node.arguments[0], node.arguments[1]


def _has_loop(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Fold) or any(map(_has_loop, node.children()))


def _roots(node: syntax.Node) -> set[str]:
    return {name.partition(".")[0] for name in syntax.free_names(node)}


class Index:
    """The elements of a list by the text that a part of each is.

    Attributes:
        elements: the list.
    """

    __slots__ = ("_others", "_places", "elements")

    def __init__(self, elements: list[Value], parts: Iterable[Value]) -> None:
        self.elements = elements
        self._places: dict[str, list[int]] = {}
        self._others: list[int] = []
        for place, part in enumerate(parts):
            (self._places.setdefault(part, []) if part.__class__ is str else self._others).append(place)

    def candidates(self, text: str) -> list[Value]:
        """Return the elements whose part is the text, or no text at all, in order."""
        places = self._places.get(text, [])
        if self._others:
            places = sorted([*places, *self._others])
        return [self.elements[place] for place in places]


def membership(search: Implementation, spend: Callable[[float], None]) -> Implementation:
    """Return ``in`` for a list that recurs: its texts are put into a set once, and others are searched for.

    Args:
        search: looks for a value in a list, and pays for it.
        spend: pays for the set.
    """
    known: list[Value] = []
    texts: frozenset[str] = frozenset()

    def is_in(value: Value, members: Value) -> Value:
        nonlocal known, texts
        if value.__class__ is not str or not isinstance(members, list):
            return search(value, members)
        if known is not members:
            spend(len(members))
            known, texts = members, frozenset(each for each in members if each.__class__ is str)
        return value in texts

    return is_in
