"""Reuse: what one pod's cycle found out, kept for the next pod that is just like it.

Pods of one template ask the same questions. Two pods are alike when every plugin of the profile gives them equal
signatures, and an old answer is still true as far as the plugin's ``moved_by`` says of the changes since. So an equal
pod's cycle is the ordinary cycle with most answers known: verdicts of plugins that nothing moved, and raw scores but
for the rows that changed. Evidence is reused with the verdict it stands behind.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.cluster import Change, ChangeKind, Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers
from schedctl.engine.asking import DIRECTLY, Asking
from schedctl.engine.faults import PASSING, blamed
from schedctl.framework.cycles import Cycle
from schedctl.framework.faults import ESCAPING
from schedctl.framework.points import (
    FilterPlugin,
    NodeSet,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    Scope,
    ScorePlugin,
)
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status

_KEPT = 256
"""How many templates are remembered; the least recently used goes first."""
_FEW = 32
"""Up to how many rows it is cheaper to score them alone than the whole column."""


@dataclass(slots=True)
class _Raw:
    """Raw scores of one plugin by node row, int64 (rows,).

    They are true where `known`, bool (rows,), but for the `stale` rows, which have changed since.
    """

    scores: IntArray
    known: BoolArray
    stale: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Template:
    """What is remembered of pods alike, true up to a generation of the cluster."""

    generation: int
    cycle: Cycle
    pre_filter: dict[str, Status | NodeSet | None] = field(default_factory=dict)
    verdicts: dict[str, Verdicts] = field(default_factory=dict)
    pre_score: dict[str, Status | None] = field(default_factory=dict)
    raw: dict[str, _Raw] = field(default_factory=dict)
    feasible: IndexArray = field(default_factory=lambda: np.empty(0, np.intp))


class Templates:
    """The memory of one scheduler over one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._templates: dict[Hashable, _Template] = {}

    def recall(self, profile: Profile, cycle: Cycle) -> Asking:
        """Return what to ask plugins through for a cycle about to begin, whose state is filled with what is known."""
        alike = signature(profile, cycle.pod, profile.deciding)
        if alike is None:
            return DIRECTLY
        known = self._templates.pop(alike, None)
        changes = self._cluster.changes_since(known.generation) if known is not None else None
        if known is None or changes is None or any(change.kind is ChangeKind.NODES for change in changes):
            known = _Template(self._cluster.generation, cycle)
            changes = []
        else:
            cycle.state = known.cycle.state.copy()
        for plugin in profile.deciding:
            _age(known, plugin, changes)
        self._templates[alike] = known
        if len(self._templates) > _KEPT:
            del self._templates[next(iter(self._templates))]
        known.cycle, known.generation = cycle, self._cluster.generation
        return _Recollection(known)


class _Recollection(Asking):
    """Asks a plugin only what the template does not know.

    Verdicts are kept for the column of all nodes alone; a cycle that looks at other columns asks directly.
    """

    def __init__(self, template: _Template) -> None:
        self._template = template
        self._same: bool | None = None

    def pre_filter(self, plugin: PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        answers = self._template.pre_filter
        if plugin.name not in answers:
            answers[plugin.name] = super().pre_filter(plugin, cycle, nodes)
        return answers[plugin.name]

    def filter(self, plugin: FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        if nodes.changes is not None or nodes.rows is not nodes.cluster.rows:
            return super().filter(plugin, cycle, nodes)
        verdicts = self._template.verdicts
        if plugin.name not in verdicts:
            verdicts[plugin.name] = super().filter(plugin, cycle, nodes)
        return verdicts[plugin.name]

    def pre_score(self, plugin: PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        same, answers = self._same_feasible(nodes), self._template.pre_score
        if plugin.name not in answers or (plugin.reads_feasible_set and not same):
            answers.pop(plugin.name, None)
            self._template.raw.pop(plugin.name, None)
            answers[plugin.name] = super().pre_score(plugin, cycle, nodes)
        return answers[plugin.name]

    def score(self, plugin: ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        same = self._same_feasible(nodes)
        raw = self._template.raw.pop(plugin.name, None)  # and kept again only once all of it is known
        rows = len(nodes.cluster.node_table)
        every = nodes.rows is nodes.cluster.rows and len(nodes) == rows
        if raw is None or (plugin.reads_feasible_set and not same):
            if every:
                scores = super().score(plugin, cycle, nodes)
                self._template.raw[plugin.name] = _Raw(scores.copy(), np.ones(rows, np.bool_))
                return scores
            raw, same = _Raw(np.zeros(rows, np.int64), np.zeros(rows, np.bool_)), False
        if raw.stale or not same:
            raw.known[list(raw.stale)] = False
            raw.stale.clear()
            unknown = np.flatnonzero(~raw.known) if every else np.flatnonzero(~raw.known[nodes.rows])
            if len(unknown):
                asked = nodes if len(unknown) > _FEW else nodes.take(unknown)
                raw.scores[asked.rows] = super().score(plugin, cycle, asked)
                raw.known[asked.rows] = True
        self._template.raw[plugin.name] = raw
        return raw.scores.copy() if every else np.asarray(raw.scores[nodes.rows])

    def _same_feasible(self, nodes: Nodes) -> bool:
        """Return whether the feasible nodes are those of the last cycle; asked first, it remembers the new ones."""
        if self._same is None:
            before, self._template.feasible = self._template.feasible, nodes.rows
            self._same = before is nodes.rows or np.array_equal(before, nodes.rows)
        return self._same


def _age(known: _Template, plugin: Plugin, changes: Sequence[Change]) -> None:
    """Forget what changes of the cluster have spoiled of one plugin's answers."""
    rows = []
    for change in changes:
        try:
            scope = answers.scope(plugin, plugin.moved_by(known.cycle, change))
        except PASSING:
            raise
        except ESCAPING as fault:
            raise blamed(plugin, fault) from fault
        if scope is Scope.EVERYTHING:
            known.pre_filter.pop(plugin.name, None)
            known.verdicts.pop(plugin.name, None)
            known.pre_score.pop(plugin.name, None)
            known.raw.pop(plugin.name, None)
            return
        if scope is Scope.ROW:
            rows.append(change.row)
    if rows:
        known.verdicts.pop(plugin.name, None)
        if plugin.name in known.raw:
            known.raw[plugin.name].stale.update(rows)


def signature(profile: Profile, pod: PodInfo, plugins: Iterable[Plugin]) -> Hashable | None:
    """Return all that some plugins of a profile read of a pod, None where one of them forbids reuse.

    Raises:
        CycleError: a plugin fails, or its signature is not hashable.
    """
    parts: list[Hashable] = [profile.scheduler_name]
    for plugin in plugins:
        try:
            part = plugin.signature(pod)
            if part is None:
                return None
            hash(part)
        except PASSING:
            raise
        except ESCAPING as fault:
            raise blamed(plugin, fault) from fault
        parts.append(part)
    return tuple(parts)
