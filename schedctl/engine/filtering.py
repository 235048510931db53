"""Filter: which nodes of a column are feasible, and who was the first to refuse each of the others.

`filter_nodes` counts nominated pods as kube-scheduler's ``RunFilterPluginsWithNominatedPods`` does, `filter_column`
takes a column as it stands; both leave a `Filtering`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.calls import PluginRunner, runner_of
from schedctl.engine.faults import CycleError
from schedctl.engine.nominators import Nominator
from schedctl.framework import reasons
from schedctl.framework.cycles import Cycle, Found
from schedctl.framework.points import FilterPlugin, NodeSet
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SUCCESS, Code, Status


class Refusal(msgspec.Struct, frozen=True):
    """What one plugin refused that no plugin before it had.

    Attributes:
        plugin: its name.
        verdicts: what it said of the whole column.
        mask: bool (n,), the rows where it was the first to refuse.
    """

    plugin: str
    verdicts: reasons.Verdicts
    mask: BoolArray


class Fault(msgspec.Struct, frozen=True):
    """A filter failed on a row that no filter before it had refused."""

    plugin: str
    text: str


class Filtering(msgspec.Struct):
    """The outcome of Filter over a column.

    Attributes:
        nodes: the column.
        feasible: bool (n,).
        refusals: in plugin order; their masks do not overlap.
        nominated: the outcome for the rows that were also judged with their nominated pods, None where no row was.
        nominated_positions: intp, the positions of those rows in this column.
        faults: by position, the rows on which a filter failed; they are neither feasible nor refused.
        findings: by plugin, what filters found out about the rows they reached.
        outsiders: what extenders say of nodes that are not in the column, by text.
        overruled: the plugins that refused rows before extenders, who may have replaced their reasons, were asked.
    """

    nodes: Nodes
    feasible: BoolArray
    refusals: list[Refusal]
    nominated: Filtering | None = None
    nominated_positions: IndexArray = msgspec.field(default_factory=lambda: np.empty(0, np.intp))
    faults: dict[int, Fault] = msgspec.field(default_factory=dict)
    findings: dict[str, Found] = msgspec.field(default_factory=dict)
    outsiders: Counter[str] = msgspec.field(default_factory=Counter)
    overruled: frozenset[str] = frozenset()

    @property
    def codes(self) -> reasons.CodeColumn:
        """The code of the first refusal of each row, int8 (n,)."""
        codes = np.zeros(len(self.nodes), np.int8)
        for refusal in self.refusals:
            codes[refusal.mask] = refusal.verdicts.codes(len(self.nodes))[refusal.mask]
        if self.nominated is not None:  # the pass with nominated pods comes first, and its refusal stands
            early = self.nominated.codes
            refused = early != Code.SUCCESS
            codes[self.nominated_positions[refused]] = early[refused]
        codes[list(self.faults)] = Code.ERROR
        return codes

    def status(self, position: int) -> Status:
        """Return what the scheduler says of one row."""
        for plugin, parts, code in self.refusal_at(position):
            return Status(code, tuple(part.text(row) for part, row in parts), plugin)
        return SUCCESS

    def refusal_at(self, position: int) -> Iterator[tuple[str, list[tuple[reasons.Part, int]], Code]]:
        """Yield (plugin, [(reason part, its row)], code) of the refusal of a row; nothing where it is feasible."""
        if self.nominated is not None:
            found = np.flatnonzero(self.nominated_positions == position)
            if len(found):
                before = list(self.nominated.refusal_at(int(found[0])))
                if before:
                    yield from before
                    return
        for refusal in self.refusals:
            if refusal.mask[position]:
                parts = [(part, position) for part in refusal.verdicts.at(position)]
                yield refusal.plugin, parts, Code(refusal.verdicts.status(position).code)

    @property
    def evaluated_nodes(self) -> int:
        """How many nodes were looked at: those feasible and those refused."""
        return int(np.count_nonzero(self.feasible | (self.codes != Code.SUCCESS)))

    @property
    def explained_nodes(self) -> int:
        """Of how many nodes something is said, if only that they will do: all of the column but for the wordless."""
        wordless = (
            np.count_nonzero(part.mask & refusal.mask)
            for refusal in self.refusals
            for part in refusal.verdicts.parts
            if not part.reason.text
        )
        return len(self.nodes) - sum(map(int, wordless)) + self.outsiders.total()

    def rejecting_plugins(self) -> set[str]:
        """Return the plugins that were the first to refuse some row."""
        names = {refusal.plugin for refusal in self.refusals if refusal.mask.any()} | self.overruled
        if self.nominated is not None:
            names |= self.nominated.rejecting_plugins()
        return names

    def pending_plugins(self) -> set[str]:
        """Return the plugins that were the first to say Pending of some row."""
        names = {
            refusal.plugin
            for refusal in self.refusals
            if any(part.reason.code is Code.PENDING for part in refusal.verdicts.parts)
            and bool((refusal.verdicts.codes(len(self.nodes))[refusal.mask] == Code.PENDING).any())
        }
        if self.nominated is not None:
            names |= self.nominated.pending_plugins()
        return names

    def histogram(self) -> Counter[str]:
        """Return how many rows were refused for each reason text, as the FailedScheduling line counts them.

        Rows refused without a word are not counted.
        """
        counts: Counter[str] = Counter(self.outsiders)
        for refusal in self.refusals:
            for part in refusal.verdicts.parts:
                if part.reason.text:
                    counts.update(part.count(refusal.mask))
        if self.nominated is not None:
            counts.update(self.nominated.histogram())
        return counts

    def raise_faults(self) -> None:
        """Raise the fault of the first node by name on which a filter failed, if there is one.

        Raises:
            FilterError: a filter failed.
        """
        if self.faults:
            node, position = min((self.nodes.names[position], position) for position in self.faults)
            raise FilterError(self.faults[position], node, self)


class FilterError(CycleError):
    """A filter failed on `node`; what filters said of the nodes before it, by name, still stands in `filtering`."""

    def __init__(self, fault: Fault, node: str, filtering: Filtering) -> None:
        super().__init__(fault.text, fault.plugin)
        self.node = node
        self.filtering = filtering


def filter_nodes(
    profile: Profile, cycle: Cycle, nodes: Nodes, nominator: Nominator, runner: PluginRunner | None = None
) -> Filtering:
    """Run the profile's filters over a column, nominated pods counted as Filter counts them.

    The cycle is that of the cluster as it is: for a supposed column the states of plugins are made to fit here.
    """
    supposed = _with_nominated(cycle.pod, nodes, nominator) if nominator else None
    if supposed is None:
        return filter_column(profile, cycle, nodes, runner)
    positions, column = supposed
    # a node with nominated pods must pass both with them on it and without: they may yet be placed elsewhere
    first = filter_column(profile, cycle, column)
    second = filter_column(profile, cycle, nodes, runner)
    lost = np.zeros(len(nodes), np.bool_)
    lost[positions[~first.feasible]] = True
    refusals = [Refusal(r.plugin, r.verdicts, r.mask & ~lost) for r in second.refusals]
    faults = {position: fault for position, fault in second.faults.items() if not lost[position]}
    faults |= {int(positions[position]): fault for position, fault in first.faults.items()}
    findings = {
        name: Found(
            [*(first.findings[name].passes if name in first.findings else ())]
            + [(rows, reached & ~lost, found) for rows, reached, found in later.passes]
        )
        for name, later in second.findings.items()
    }
    return Filtering(nodes, second.feasible & ~lost, refusals, first, positions, faults, findings)


def refit(profile: Profile, cycle: Cycle, nodes: Nodes, nominator: Nominator) -> Cycle | None:
    """Return a new cycle for the pod of an earlier one, if the pod fits on the nodes of a column as they are now.

    As if AddPod and RemovePod had told the plugins' states of all that came and went since: PreFilter is run anew, but
    a plugin that skipped then sits this out too.
    """
    again = cycle.scratch()
    runner = runner_of(nodes.cluster)
    for plugin in profile.pre_filter:
        if plugin.name in again.skip_filter:
            continue
        answer = runner.pre_filter(plugin, again, nodes.cluster.nodes)
        if isinstance(answer, NodeSet) or answer is None:
            continue
        if answer.code is Code.SKIP:
            again.skip_filter.add(plugin.name)
        elif not answer.successful:
            return None
    filtering = filter_nodes(profile, again, nodes, nominator)
    again.findings = filtering.findings
    return again if filtering.feasible.all() else None


def filter_column(profile: Profile, cycle: Cycle, nodes: Nodes, runner: PluginRunner | None = None) -> Filtering:
    """Run the profile's filters over a column as it stands, nominated pods not counted; see `filter_nodes`."""
    runner = runner or runner_of(nodes.cluster)
    if nodes.is_hypothetical:
        cycle = _adapt_states(profile, cycle, nodes, runner)
    standing: BoolArray | None = None
    refusals: list[Refusal] = []
    faults: dict[int, Fault] = {}
    findings: dict[str, Found] = {}
    for plugin in profile.filter:
        if plugin.name in cycle.skip_filter:
            continue
        if standing is not None and not plugin.filters_all_nodes and not standing.any():
            continue
        # also of a plugin asked about the whole column, refusals count for rows still standing only: the same first
        # refusal as kube-scheduler's, which stops at a node's first
        verdicts = _call_filter(plugin, cycle, nodes, standing, runner)
        if verdicts.findings is not None:
            reached = np.ones(len(nodes), np.bool_) if standing is None else standing
            findings[plugin.name] = Found([(nodes.rows, reached, verdicts.findings)])
        if not verdicts.parts:
            continue
        mask = verdicts.mask if standing is None else verdicts.mask & standing
        if any(part.reason.code is Code.ERROR for part in verdicts.parts):
            failed = _faults(plugin.name, verdicts, mask, len(nodes))
            faults |= failed
            mask = mask.copy()  # it may be the verdict's own, which is remembered
            mask[list(failed)] = False
        refusals.append(Refusal(plugin.name, verdicts, mask))
        # rows on which it failed do not stand either: no later filter is to be blamed for them
        standing = ~verdicts.mask if standing is None else standing & ~verdicts.mask
    feasible = np.ones(len(nodes), np.bool_) if standing is None else standing
    return Filtering(nodes, feasible, refusals, faults=faults, findings=findings)


def _adapt_states(profile: Profile, cycle: Cycle, nodes: Nodes, runner: PluginRunner) -> Cycle:
    """Return a cycle whose plugin states fit a supposed column (AddPod and RemovePod)."""
    supposed = cycle.scratch()
    for plugin in profile.pre_filter:
        if plugin.name not in cycle.skip_filter:
            runner.with_pods(plugin, supposed, nodes)
    return supposed


def _with_nominated(pod: PodInfo, nodes: Nodes, nominator: Nominator) -> tuple[IndexArray, Nodes] | None:
    """Return the positions of nodes promised to pods that outrank or equal this one, and their column with them."""
    row_of = nodes.cluster.node_table.row_of
    rivals_on: dict[int, list[PodInfo]] = {}
    for name in nominator:
        rivals = [p for p in nominator.pods(name) if p.priority >= pod.priority and p.uid != pod.uid]
        if rivals and name in row_of:
            rivals_on[row_of[name]] = rivals
    promised = np.zeros(len(nodes.cluster.node_table), np.bool_)
    promised[list(rivals_on)] = True
    positions = np.flatnonzero(promised[nodes.rows])
    if not len(positions):
        return None
    rivals_at = [rivals_on[row] for row in nodes.rows[positions].tolist()]
    where = np.repeat(np.arange(len(positions)), [len(rivals) for rivals in rivals_at])
    return positions, nodes.take(positions).hypothetical(where, list(chain.from_iterable(rivals_at)), 1)


def _call_filter(
    plugin: FilterPlugin, cycle: Cycle, nodes: Nodes, standing: BoolArray | None, runner: PluginRunner
) -> reasons.Verdicts:
    # gathering a column costs more than a cheap filter saves by it
    if plugin.filters_all_nodes or standing is None or bool(standing.all()):
        return runner.filter(plugin, cycle, nodes)
    positions = np.flatnonzero(standing)
    narrow = runner.filter(plugin, cycle, nodes.take(positions))
    findings = None if narrow.findings is None else _Widened(narrow.findings, positions)
    return reasons.Verdicts(tuple(_widen(part, positions, len(nodes)) for part in narrow.parts), findings)


class _Widened(msgspec.Struct, frozen=True):
    """What is known of some positions of a column, asked for by their position in the whole of it."""

    narrow: reasons.OnDemand
    positions: IndexArray

    def at(self, row: int) -> Any:
        found = int(np.searchsorted(self.positions, row))
        known = found < len(self.positions) and self.positions[found] == row
        return self.narrow.at(found) if known else None


def _widen(part: reasons.Part, positions: IndexArray, rows: int) -> reasons.Part:
    def spread(column: Any) -> Any:
        if reasons.is_on_demand(column):
            return _Widened(column, positions)
        if not isinstance(column, np.ndarray) or column.ndim == 0:
            return column
        wide = np.zeros(rows, column.dtype)
        wide[positions] = column
        return wide

    unresolvable = None if part.unresolvable is None else spread(part.unresolvable)
    evidence = {name: spread(value) for name, value in part.evidence.items()}
    return reasons.Part(part.reason, spread(part.mask), unresolvable, evidence)


def _faults(plugin: str, verdicts: reasons.Verdicts, mask: BoolArray, rows: int) -> dict[int, Fault]:
    """Return the fault of each of the masked rows on which the plugin failed."""
    faults = {}
    for position in np.flatnonzero(mask & (verdicts.codes(rows) == Code.ERROR)).tolist():
        text = next(part.text(position) for part in verdicts.at(position) if part.reason.code is Code.ERROR)
        faults[position] = Fault(plugin, f'running "{plugin}" filter plugin: {text}')
    return faults
