"""How many scenarios a worker gets at a time.

Of those that take long it gets one, so that no worker waits for another at the end; of those that take no time many, so
that sending them costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

S = TypeVar("S")

Weight = Callable[[Any], int]
"""How much work a scenario is, beside others."""

_SECONDS = 0.25
"""How long a batch should take."""
_GROWTH = 4
"""By how much a batch may exceed the last one, which may have been easy by chance."""


class Pace:
    """How much work the next batch has, by how long those before took; the first has one scenario.

    Attributes:
        size: how much work is enough for a batch.
    """

    def __init__(self, most: int) -> None:
        """Begin.

        Args:
            most: how much work a batch has at most, so that few scenarios are lost with a worker.
        """
        self.size = 1
        self._most = most

    def note(self, work: int, seconds: float) -> None:
        """Take note of a batch: how much work it had, and how long it took."""
        fitting = int(_SECONDS * work / seconds) if seconds > 0 else self._most
        self.size = max(1, min(fitting, self._most, _GROWTH * max(work, self.size)))


def work_of(scenarios: Sequence[Any], weight: Weight | None = None) -> int:
    """Return how much work some scenarios are, 1 each where nobody says."""
    return len(scenarios) if weight is None else sum(map(weight, scenarios))


def batches_of(scenarios: Iterable[S], pace: Pace, weight: Weight | None = None) -> Iterator[list[S]]:
    """Yield scenarios a few at a time, none before it is asked for.

    Args:
        scenarios: the scenarios.
        pace: how much work is enough for a batch.
        weight: how much work each is, 1 if None.
    """
    batch: list[S] = []
    for scenario in scenarios:
        batch.append(scenario)
        if work_of(batch, weight) >= pace.size:
            yield batch
            batch = []
    if batch:
        yield batch
