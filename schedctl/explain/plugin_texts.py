"""What plugins add to an explanation besides verdicts and scores, held to what it must be like.

An explanation is worth more without the words of one plugin than not at all: what a plugin lets out, and an answer
that is none, costs its own words alone, and is told in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, cast

from schedctl.api.texts import tidy
from schedctl.engine.faults import describe_fault
from schedctl.framework import faults
from schedctl.framework.points import Plugin

T = TypeVar("T")


def collect(
    plugin: Plugin,
    method: str,
    ask: Callable[[], Iterable[T]],
    kind: type[T],
    tell: Callable[[str], object],
    *,
    expected: str = "",
) -> list[T]:
    """Return what a plugin has to say, nothing where it fails.

    Args:
        plugin: the plugin.
        method: what it is asked.
        ask: asks it.
        kind: of what it may answer.
        tell: called with the fault in words.
        expected: what it is to return, in words, "" for a sequence of that kind.
    """
    try:
        answers = list(ask())
    except KeyboardInterrupt:
        raise
    except faults.ESCAPING as fault:
        tell(f"{plugin.name} failed in {method}: {describe_fault(plugin, fault)}")
        return []
    for answer in answers:
        if not isinstance(answer, kind):
            expected = expected or f"a sequence of {'texts' if kind is str else kind.__name__}"
            tell(f"{plugin.name} failed: {faults.wrong(plugin, method, answer, expected)}")
            return []
    return cast(list[T], [tidy(answer) for answer in answers if isinstance(answer, str)]) if kind is str else answers
