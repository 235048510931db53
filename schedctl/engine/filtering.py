"""Filter: which nodes of a column are feasible, and who was the first to refuse each of the others.

Each plugin is asked about the whole column and its refusals count only for rows still standing; that gives the same
first refusals as kube-scheduler, which stops at a node's first. Plugins that are dear per row get only the rows still
standing. A node with nominated pods of at least the pod's priority is judged twice, with them standing on it and
without, and must pass both times (``RunFilterPluginsWithNominatedPods``); those nodes form one supposed column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.asking import DIRECTLY, Asking
from schedctl.engine.faults import CycleError
from schedctl.engine.nominators import Nominator
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import CodeColumn, Part, Verdicts
from schedctl.framework.statuses import SUCCESS, Code, Status


@dataclass(frozen=True, slots=True)
class Refusal:
    """What one plugin refused that no plugin before it had.

    Attributes:
        plugin: its name.
        verdicts: what it said of the whole column.
        mask: bool (n,), the rows where it was the first to refuse.
    """

    plugin: str
    verdicts: Verdicts
    mask: BoolArray


@dataclass(slots=True)
class Filtering:
    """The outcome of Filter over a column.

    Attributes:
        nodes: the column.
        feasible: bool (n,).
        refusals: in plugin order; their masks do not overlap.
        nominated: the outcome for the rows that were also judged with their nominated pods, None where no row was.
        nominated_positions: intp, the positions of those rows in this column.
    """

    nodes: Nodes
    feasible: BoolArray
    refusals: list[Refusal]
    nominated: Filtering | None = None
    nominated_positions: IndexArray = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def codes(self) -> CodeColumn:
        """The code of the first refusal of each row, int8 (n,)."""
        codes = np.zeros(len(self.nodes), np.int8)
        for refusal in self.refusals:
            codes[refusal.mask] = refusal.verdicts.codes(len(self.nodes))[refusal.mask]
        if self.nominated is not None:
            early = self.nominated.codes
            refused = early != Code.SUCCESS
            codes[self.nominated_positions[refused]] = early[refused]
        return codes

    def status(self, position: int) -> Status:
        """Return what the scheduler says of one row."""
        for plugin, parts, code in self.refused(position):
            return Status(code, tuple(part.text(row) for part, row in parts), plugin)
        return SUCCESS

    def refused(self, position: int) -> Iterator[tuple[str, list[tuple[Part, int]], Code]]:
        """Yield (plugin, [(reason part, its row)], code) of the refusal of a row; nothing where it is feasible."""
        if self.nominated is not None:
            found = np.flatnonzero(self.nominated_positions == position)
            if len(found):
                before = list(self.nominated.refused(int(found[0])))
                if before:
                    yield from before
                    return
        for refusal in self.refusals:
            if refusal.mask[position]:
                parts = [(part, position) for part in refusal.verdicts.at(position)]
                yield refusal.plugin, parts, Code(refusal.verdicts.status(position).code)

    def refusing_plugins(self) -> set[str]:
        """Return the plugins that were the first to refuse some row."""
        names = {refusal.plugin for refusal in self.refusals if refusal.mask.any()}
        if self.nominated is not None:
            names |= self.nominated.refusing_plugins()
        return names

    def histogram(self) -> Counter[str]:
        """Return how many rows were refused for each reason text, as the FailedScheduling line counts them."""
        counts: Counter[str] = Counter()
        for refusal in self.refusals:
            for part in refusal.verdicts.parts:
                counts.update(part.count(refusal.mask))
        if self.nominated is not None:
            counts.update(self.nominated.histogram())
        return counts


class FilterError(CycleError):
    """A filter failed on `node`; what filters said of the nodes before it, by name, still stands in `filtering`."""

    def __init__(self, message: str, plugin: str, node: str, filtering: Filtering) -> None:
        super().__init__(message, plugin)
        self.node = node
        self.filtering = filtering


def filter_column(profile: Profile, cycle: Cycle, nodes: Nodes, asking: Asking = DIRECTLY) -> Filtering:
    """Run the profile's filters over a column as it stands, nominated pods not counted.

    Raises:
        CycleError: a filter failed on a row no earlier filter had refused; of several, the first node by name counts.
    """
    standing: BoolArray | None = None
    refusals: list[Refusal] = []
    errors: list[tuple[str, str, str]] = []
    for plugin in profile.filter:
        if plugin.name in cycle.skip_filter:
            continue
        verdicts = _ask(plugin, cycle, nodes, standing, asking)
        if not verdicts.parts:
            continue
        mask = verdicts.mask if standing is None else verdicts.mask & standing
        if any(part.reason.code is Code.ERROR for part in verdicts.parts):
            mask, failed = _split_errors(plugin.name, verdicts, mask, nodes)
            errors += failed
        refusals.append(Refusal(plugin.name, verdicts, mask))
        standing = ~verdicts.mask if standing is None else standing & ~verdicts.mask
    filtering = Filtering(nodes, np.ones(len(nodes), np.bool_) if standing is None else standing, refusals)
    if errors:
        node, plugin_name, text = min(errors)
        raise FilterError(f'running "{plugin_name}" filter plugin: {text}', plugin_name, node, filtering)
    return filtering


def filter_nodes(
    profile: Profile, cycle: Cycle, nodes: Nodes, nominator: Nominator, asking: Asking = DIRECTLY
) -> Filtering:
    """Run the profile's filters over a column, nominated pods counted as Filter counts them.

    Raises:
        CycleError: see `filter_column`.
    """
    supposed = _with_nominated(cycle.pod, nodes, nominator) if nominator else None
    if supposed is None:
        return filter_column(profile, cycle, nodes, asking)
    positions, column = supposed
    first = filter_column(profile, suppose(profile, cycle, column), column)
    second = filter_column(profile, cycle, nodes, asking)
    lost = np.zeros(len(nodes), np.bool_)
    lost[positions[~first.feasible]] = True
    refusals = [Refusal(r.plugin, r.verdicts, r.mask & ~lost) for r in second.refusals]
    return Filtering(nodes, second.feasible & ~lost, refusals, first, positions)


def suppose(profile: Profile, cycle: Cycle, nodes: Nodes) -> Cycle:
    """Return a cycle whose plugin states fit a supposed column (AddPod and RemovePod)."""
    supposed = cycle.scratch()
    for plugin in profile.pre_filter:
        if plugin.name not in cycle.skip_filter:
            plugin.with_pods(supposed, nodes)
    return supposed


def _with_nominated(pod: PodInfo, nodes: Nodes, nominator: Nominator) -> tuple[IndexArray, Nodes] | None:
    row_of = nodes.cluster.node_table.row_of
    positions: list[int] = []
    where: list[int] = []
    pods: list[PodInfo] = []
    for name in nominator:
        rivals = [p for p in nominator.pods(name) if p.priority >= pod.priority and p.uid != pod.uid]
        if rivals and name in row_of:
            for position in np.flatnonzero(nodes.rows == row_of[name]).tolist():
                where += [len(positions)] * len(rivals)
                pods += rivals
                positions.append(position)
    if not positions:
        return None
    index = np.array(positions, np.intp)
    return index, nodes.take(index).supposing(where, pods, np.ones(len(pods), np.int64))


def _ask(plugin: FilterPlugin, cycle: Cycle, nodes: Nodes, standing: BoolArray | None, asking: Asking) -> Verdicts:
    if not plugin.per_row_cost or standing is None or bool(standing.all()):
        return asking.filter(plugin, cycle, nodes)
    positions = np.flatnonzero(standing)
    narrow = plugin.filter(cycle, nodes.take(positions))
    return Verdicts(tuple(_widened(part, positions, len(nodes)) for part in narrow.parts))


def _widened(part: Part, positions: IndexArray, rows: int) -> Part:
    def spread(column: Any) -> Any:
        if not isinstance(column, np.ndarray) or column.ndim == 0:
            return column
        wide = np.zeros(rows, column.dtype)
        wide[positions] = column
        return wide

    unresolvable = None if part.unresolvable is None else spread(part.unresolvable)
    evidence = {name: spread(value) for name, value in part.evidence.items()}
    return Part(part.reason, spread(part.mask), unresolvable, evidence)


def _split_errors(
    plugin: str, verdicts: Verdicts, mask: BoolArray, nodes: Nodes
) -> tuple[BoolArray, list[tuple[str, str, str]]]:
    failed = mask & (verdicts.codes(len(nodes)) == Code.ERROR)
    errors = []
    for position in np.flatnonzero(failed).tolist():
        text = next(p.text(position) for p in verdicts.at(position) if p.reason.code is Code.ERROR)
        errors.append((nodes.names[position], plugin, text))
    return mask & ~failed, errors
