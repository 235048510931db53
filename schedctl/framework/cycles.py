"""One pod's cycle: the pod, what its plugins have computed for it, and which of them sit it out.

`CycleState` is upstream's, typed: a plugin declares ``STATE = StateKey[SpreadState]("PodTopologySpread")`` and reads
``cycle.state[STATE]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.reasons import OnDemand

T = TypeVar("T")


class StateKey(Generic[T]):
    """Names one entry of the `CycleState` and its type; two keys of one name are two entries."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"StateKey({self.name})"


class CycleState:
    """What plugins leave for their own later calls, and for each other, during one cycle."""

    __slots__ = ("_entries", "_shared")

    def __init__(self) -> None:
        self._entries: dict[StateKey[Any], Any] = {}
        self._shared = False  # with a copy, as long as neither of them has written anything since

    def __getitem__(self, key: StateKey[T]) -> T:
        """Return an entry.

        Raises:
            KeyError: it was never written, usually because the plugin's PreFilter or PreScore did not run.
        """
        entry: T = self._entries[key]
        return entry

    def __setitem__(self, key: StateKey[T], value: T) -> None:
        if self._shared:
            self._part()
        self._entries[key] = value

    def __contains__(self, key: StateKey[Any]) -> bool:
        return key in self._entries

    def __delitem__(self, key: StateKey[Any]) -> None:
        if self._shared:
            self._part()
        del self._entries[key]

    def take(self, other: CycleState) -> None:
        """Take over all entries of another state."""
        if self._shared:
            self._part()
        self._entries.update(other._entries)

    @classmethod
    def union(cls, states: Iterable[CycleState]) -> CycleState:
        """Return a state with the entries of several; of one that is in two of them, the later."""
        union = cls()
        for state in states:
            if state._entries:
                union._entries.update(state._entries)
        return union

    def copy(self) -> CycleState:
        """Return a state of its own with the same entries."""
        other = CycleState()
        # most copies are only read: the entries are copied by the first of the two to write
        other._entries, self._shared, other._shared = self._entries, True, True
        return other

    def _part(self) -> None:
        """Have entries of its own from now on."""
        self._entries, self._shared = dict(self._entries), False


@dataclass(slots=True)
class Found:
    """What one filter found out about the nodes it reached, in the order of its passes over them.

    Attributes:
        passes: (node rows of the column asked, bool (n,) which of them it reached, findings by position).
    """

    passes: list[tuple[IndexArray, BoolArray, OnDemand]] = field(default_factory=list)

    def at(self, row: int) -> Any:
        """Return what the last pass that reached a node found, by its row; None if none did."""
        for rows, reached, findings in reversed(self.passes):
            positions = np.flatnonzero((rows == row) & reached)
            if len(positions):
                return findings.at(int(positions[0]))
        return None

    def among(self, rows: IndexArray) -> Found:
        """Return what was found out about these nodes, by their rows."""
        return Found([(column, reached & np.isin(column, rows), findings) for column, reached, findings in self.passes])

    def every(self) -> Iterator[tuple[int, Any]]:
        """Yield (node row, finding) for each node reached, pass by pass."""
        for rows, reached, findings in self.passes:
            for position in np.flatnonzero(reached).tolist():
                yield int(rows[position]), findings.at(position)


@dataclass(slots=True)
class Cycle:
    """What every plugin method is handed.

    Attributes:
        pod: the pod to be placed.
        state: shared between plugins.
        skip_filter: plugins whose PreFilter said Skip; their Filter is not run, nominated pods or not.
        skip_score: plugins whose PreScore said Skip.
        findings: by plugin, what its Filter found out about the nodes it reached; known once Filter is over.
    """

    pod: PodInfo
    state: CycleState = field(default_factory=CycleState)
    skip_filter: set[str] = field(default_factory=set)
    skip_score: set[str] = field(default_factory=set)
    findings: dict[str, Found] = field(default_factory=dict)

    def scratch(self) -> Cycle:
        """Return a cycle that starts from the same state but writes to its own."""
        # a shallow copy will do because states are values: a plugin replaces its entry and never writes into it
        return Cycle(self.pod, self.state.copy(), set(self.skip_filter), set(self.skip_score), dict(self.findings))
