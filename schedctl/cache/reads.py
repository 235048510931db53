"""What an answer was read from, taken down where it is read: `ClusterView` and `Nodes` write, the engine listens.

Whoever keeps an answer need not be told what it rests on, and finds out by comparing generations what has changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any

from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.cache.arrays import IndexArray

_LONGEST = 1024
"""How many changes a journal reaches back at least; what is older counts as if everything had changed."""


class Tracked(ABC):
    """Something kept current with the cluster, such as a count of pods, on which answers about rows may rest."""

    __slots__ = ()

    @property
    def name(self) -> Hashable:
        """What it is known by among all that is read."""
        return self

    @abstractmethod
    def rows_changed(self, since: int) -> IndexArray | None:
        """Return the node rows whose value is another than at a generation, intp; None where it may be any."""


class Journal:
    """At which generations something happened to which node rows, in order."""

    __slots__ = ("_begins", "_notes")

    def __init__(self, generation: int) -> None:
        self.begin(generation)

    def begin(self, generation: int) -> None:
        """Forget what was before a generation."""
        self._begins = generation
        self._notes: list[tuple[int, int]] = []

    def note(self, generation: int, row: int) -> None:
        """Note that something happened to a row."""
        notes = self._notes
        notes.append((generation, row))
        if len(notes) > 2 * _LONGEST:
            self._begins = notes[_LONGEST - 1][0]
            del notes[:_LONGEST]

    def since(self, generation: int) -> set[int] | None:
        """Return the rows to which something happened after a generation, None for any."""
        if generation < self._begins:
            return None
        rows: set[int] = set()
        for noted, row in reversed(self._notes):  # whoever asks has asked not long ago
            if noted <= generation:
                break
            rows.add(row)
        return rows


class Reads:
    """What was read of a cluster by whoever is listened to.

    Attributes:
        description: what a node is: of its own row.
        occupancy: what pods have taken there: of its own row.
        versions: all objects of these kinds, and the generation at which the latest of them had changed.
        objects: single objects, by kind and key, and the generation at which they had changed.
        tracked: what is kept current by itself, and knows which rows have changed.
        everything: something else, of which it is not known what it is.
        seen: how much of the objects and descriptions whoever keeps the answer has looked at.
    """

    __slots__ = ("description", "everything", "objects", "occupancy", "seen", "tracked", "versions")

    def __init__(self) -> None:
        self.description = False
        self.occupancy = False
        self.versions: dict[type, int] = {}
        self.objects: dict[tuple[type, str], int] = {}
        self.tracked: dict[Hashable, Tracked] = {}
        self.everything = False
        self.seen = 0

    @property
    def size(self) -> tuple[int, ...]:
        """Something that is another once more was read than before."""
        known = len(self.versions), len(self.objects), len(self.tracked)
        return (self.description, self.occupancy, self.everything, *known)

    @property
    def kinds(self) -> frozenset[type]:
        """The kinds of the objects read, Node for the description of rows."""
        kinds = frozenset(self.versions).union([kind for kind, _ in self.objects])
        return kinds | {Node} if self.description else kinds

    def add_tracked(self, tracked: Tracked) -> None:
        """Rest on something that is kept current by itself."""
        self.tracked[tracked.name] = tracked

    def add(self, other: Reads) -> None:
        """Rest on what another rests on as well."""
        self.description |= other.description
        self.occupancy |= other.occupancy
        self.everything |= other.everything
        self.versions.update(other.versions)
        self.objects.update(other.objects)
        self.tracked.update(other.tracked)


class _Nowhere(dict[Any, Any]):
    """Keeps nothing."""

    @override
    def __setitem__(self, key: Any, value: Any) -> None:
        pass


class Unheard(Reads):
    """What is read while nobody listens; what is kept one by one would only pile up."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.versions = _Nowhere()
        self.objects = _Nowhere()

    @override
    def __reduce__(self) -> str:
        return "UNHEARD"  # which a worker process recognises, too

    @override
    def add_tracked(self, tracked: Tracked) -> None:
        pass


UNHEARD = Unheard()
"""What is read while nobody listens, for all who need somewhere to write it."""
