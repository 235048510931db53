"""Who is refused by whom, kept from one placement of a template to the next: what filters have to say in a ranking."""

from __future__ import annotations

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.nodes import Nodes
from schedctl.engine.calls import PluginRunner
from schedctl.engine.filtering import Filtering
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Code


class Unfollowed(Exception):
    """Something happened that a ranking cannot follow: the cycle is to be run in full."""


class Feasibility:
    """Which nodes are feasible, by position in the column of all nodes.

    Attributes:
        filters: the plugins that have a say, by name.
        feasible: bool (n,).
        count: how many nodes are feasible.
        known: bool (n,), the nodes of which all that other plugins say is true, whether they are feasible now or not.
    """

    def __init__(
        self, nodes: Nodes, cycle: Cycle, filters: dict[str, FilterPlugin], filtering: Filtering, runner: PluginRunner
    ) -> None:
        """Take over the outcome of Filter.

        Args:
            nodes: all nodes.
            cycle: the template's.
            filters: the plugins whose verdicts are to be kept.
            filtering: the outcome, over the nodes that PreFilter left.
            runner: asks them.

        Raises:
            Unfollowed: a filter failed on some node.
        """
        self.filters = filters
        self._nodes = nodes
        self._cycle = cycle
        self._runner = runner
        judged = nodes.places(filtering.nodes)
        self._searched = np.zeros(len(nodes), np.bool_)  # the nodes that PreFilter left
        self._searched[judged] = True
        self._refused: dict[str, BoolArray] = {}  # a filter that has refused nobody yet has no column
        for refusal in filtering.refusals:
            if refusal.plugin in filters:
                self._of(refusal.plugin)[judged] = _mask(refusal.verdicts, len(filtering.nodes))
        self.feasible = self._standing()
        self.count = int(np.count_nonzero(self.feasible))
        self.known = self.feasible.copy()
        self._column: Nodes | None = None
        self._where: slice | IndexArray | None = None

    @property
    def column(self) -> Nodes:
        """The feasible nodes."""
        if self._column is None:
            everywhere = self.count == len(self._nodes)
            self._column = self._nodes if everywhere else self._nodes.take(np.flatnonzero(self.feasible))
        return self._column

    @property
    def where(self) -> slice | IndexArray:
        """Where the feasible nodes stand, to index columns with."""
        if self._where is None:
            self._where = slice(None) if self.column is self._nodes else np.flatnonzero(self.feasible)
        return self._where

    def refuses(self, name: str, column: Nodes) -> BoolArray:
        """Ask a filter which rows of a column it refuses, bool (rows,)."""
        return _mask(self._runner.filter(self.filters[name], self._cycle, column), len(column))

    def put(self, name: str, positions: IndexArray, refused: BoolArray) -> None:
        """Set whether a filter refuses some nodes."""
        if name in self._refused or refused.any():
            self._of(name)[positions] = refused

    def put_at(self, name: str, position: int, *, refused: bool) -> None:
        """Set whether a filter refuses one node."""
        if refused or name in self._refused:
            self._of(name)[position] = refused

    def judge(self, name: str) -> bool:
        """Ask a filter again about all nodes; return whether it refuses others than before."""
        refused, before = self.refuses(name, self._nodes), self._refused.get(name)
        if not refused.any() if before is None else np.array_equal(before, refused):
            return False
        self._refused[name] = refused.copy()  # it is written to from now on, and may be a view of the cluster
        return True

    def fits(self, positions: IndexArray) -> BoolArray:
        """Return which of some nodes are feasible now, bool (positions,)."""
        fits: BoolArray = self._searched[positions]
        for refused in self._refused.values():
            fits = fits & ~refused[positions]
        return fits

    def fits_at(self, position: int) -> bool:
        """Return whether one node is feasible now."""
        return bool(self._searched[position]) and not any(refused[position] for refused in self._refused.values())

    def renew(self) -> bool:
        """Find out anew which nodes are feasible; return whether there are new ones among them.

        Raises:
            Unfollowed: there is one of which not all is known, or none at all.
        """
        before, self.feasible = self.feasible, self._standing()
        self.count = int(np.count_nonzero(self.feasible))
        self._column = self._where = None
        gained = bool((self.feasible > before).any())
        if not self.count or (gained and bool((self.feasible > self.known).any())):
            raise Unfollowed
        return gained

    def settle(self, positions: set[int]) -> bool:
        """Find out anew which of a few nodes are feasible; return whether there are new ones among them.

        Raises:
            Unfollowed: there is one of which not all is known, or none at all.
        """
        gained = False
        for position in positions:
            fits = self.fits_at(position)
            self.count += int(fits) - int(self.feasible[position])
            gained = gained or fits > self.feasible[position]
            self.feasible[position] = fits
            if fits and not self.known[position]:
                raise Unfollowed
        self._column = self._where = None
        if not self.count:
            raise Unfollowed
        return gained

    def _standing(self) -> BoolArray:
        feasible = self._searched.copy()
        for refused in self._refused.values():
            feasible &= ~refused
        return feasible

    def _of(self, name: str) -> BoolArray:
        if name not in self._refused:
            self._refused[name] = np.zeros(len(self._nodes), np.bool_)
        return self._refused[name]


def _mask(verdicts: Verdicts, rows: int) -> BoolArray:
    """Return which of so many rows are refused, bool (rows,).

    Raises:
        Unfollowed: the plugin failed on one.
    """
    if any(part.reason.code is Code.ERROR for part in verdicts.parts):
        raise Unfollowed
    return verdicts.mask if verdicts.parts else np.zeros(rows, np.bool_)
