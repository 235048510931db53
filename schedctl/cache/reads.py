"""What an answer was read from, taken down where it is read: `ClusterView` and `Nodes` write, the engine listens.

Whoever keeps an answer need not be told what it rests on, and finds out by comparing generations what has changed.
"""

from __future__ import annotations

from typing import Any

from typing_extensions import override


class Reads:
    """What was read of a cluster by whoever is listened to.

    Attributes:
        description: what a node is: of its own row.
        occupancy: what pods have taken there: of its own row.
        versions: all objects of these kinds, by the version of the kind.
        objects: single objects, by kind and key, and their versions.
        selected: running pods that a selector selects, by the labels of which they must have one; None for any pod.
        terms: the terms of running pods about a pod that has one of these labels.
        everything: something else, of which it is not known what it is.
    """

    __slots__ = ("description", "everything", "objects", "occupancy", "selected", "terms", "versions")

    def __init__(self) -> None:
        self.description = False
        self.occupancy = False
        self.versions: dict[type, int] = {}
        self.objects: dict[tuple[type, str], int] = {}
        self.selected: set[tuple[str, str] | None] = set()
        self.terms: set[tuple[str, str] | None] = set()
        self.everything = False

    @property
    def size(self) -> tuple[int, ...]:
        """Something that is another once more was read than before."""
        known = len(self.versions), len(self.objects), len(self.selected), len(self.terms)
        return (self.description, self.occupancy, self.everything, *known)

    def add(self, other: Reads) -> None:
        """Rest on what another rests on as well."""
        self.description |= other.description
        self.occupancy |= other.occupancy
        self.everything |= other.everything
        self.versions.update(other.versions)
        self.objects.update(other.objects)
        self.selected |= other.selected
        self.terms |= other.terms


class _Nowhere(dict[Any, int]):
    """Keeps nothing."""

    @override
    def __setitem__(self, key: Any, value: int) -> None:
        pass


class Unheard(Reads):
    """What is read while nobody listens; single objects and kinds would only pile up."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.versions = _Nowhere()
        self.objects = _Nowhere()
