"""Reuse: what one pod's cycle found out, kept for the next pod that is just like it.

Two pods are alike when every plugin of the profile gives them equal signatures. The cycle of an equal pod is the
ordinary one with most answers known (`Recollection`, over a `Template` that `ageing` has brought up to date), and where
even the choice can be kept true a `Ranking` answers and there is no cycle at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress

import numpy as np
from typing_extensions import override

from schedctl.cache.arrays import IntArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers
from schedctl.engine.batching.ageing import Ageing
from schedctl.engine.batching.feasibility import Unfollowed
from schedctl.engine.batching.rankings import Ranking
from schedctl.engine.batching.reading import ReadingRunner, ask_plugin
from schedctl.engine.batching.templates import Raw, Template
from schedctl.engine.calls import PluginRunner
from schedctl.engine.filtering import Filtering
from schedctl.engine.scoring import Scoring
from schedctl.framework import points
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import NodeSet, Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Code, Status

_SIGNATURES_KEPT = 4096
"""Of how many pods that are written differently the signatures are remembered."""
_KEPT = 256
"""How many templates are remembered; the least recently used goes first."""
_ROWS_KEPT = 1_250_000
"""And how many rows of nodes at most, over all templates, but for `_FEWEST` templates."""
_FEWEST = 16
_FEW = 32
"""Up to how many rows it is cheaper to score them alone than the whole column."""


class Templates:
    """The memory of one scheduler over one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._templates: dict[Hashable, Template] = {}
        self._signatures: dict[tuple[str, bytes], tuple[Hashable, ...]] = {}
        self._ageing = Ageing(cluster)

    def recall(self, profile: Profile, cycle: Cycle) -> Recollection:
        """Return what is known for a cycle about to begin.

        Raises:
            CycleError: a plugin fails.
        """
        alike = (profile.scheduler_name, *self._signature(profile, cycle.pod))
        # taken out, and put back last: so the dictionary is in order of use, and a template that could not be aged,
        # because a plugin failed over it, is gone
        known = self._templates.pop(alike, None)
        # other nodes are other positions for all columns that are kept
        if known is None or known.generation < self._cluster.nodes_since:
            apart = {p.name for p in profile.deciding_plugins if not ask_plugin(p, p.moves_by_template, cycle.pod)}
            runner = ReadingRunner(self._cluster)
            known = Template(self._cluster.generation, profile, cycle.pod, alike[1:], apart, runner)
        elif known.generation < self._cluster.generation:
            self._ageing.age(known)
        known.cycle.pod = cycle.pod
        known.generation = self._cluster.generation
        self._templates[alike] = known
        if len(self._templates) > max(_FEWEST, min(_KEPT, _ROWS_KEPT // max(1, len(self._cluster.rows)))):
            del self._templates[next(iter(self._templates))]
        return Recollection(known, self._cluster)

    def _signature(self, profile: Profile, pod: PodInfo) -> tuple[Hashable, ...]:
        """Return the signatures of the deciding plugins; those that read the template alone are asked once for each."""
        written = self._ageing.written(pod)
        known = self._signatures.get((profile.scheduler_name, written)) if written else None
        if known is None:
            known = tuple(_signature(plugin, pod) for plugin in profile.deciding_plugins)
            if written:
                if len(self._signatures) >= _SIGNATURES_KEPT:
                    self._signatures.clear()
                self._signatures[profile.scheduler_name, written] = known
            return known
        if not profile.pod_specific_plugins:
            return known
        parts = list(known)
        for place, plugin in profile.pod_specific_plugins:
            parts[place] = _signature(plugin, pod)
        return tuple(parts)


class Recollection(PluginRunner):
    """Asks a plugin only what the template does not know.

    Verdicts are kept for the column of all nodes alone; a cycle that looks at other columns asks directly.
    """

    def __init__(self, template: Template, cluster: Cluster) -> None:
        self._template = template
        self._cluster = cluster
        self._same: bool | None = None

    @property
    def ranking(self) -> Ranking | None:
        """The outcome of the template's last cycle, kept true; None where a full cycle has to be run."""
        return self._template.ranking

    def remember(
        self,
        filtering: Filtering,
        scoring: Scoring,
        narrowed: tuple[frozenset[str] | None, frozenset[str]],
    ) -> None:
        """Make a ranking of the outcome of a full cycle over all nodes, in which no pod was promised one."""
        known = self._template
        if not known.anew.isdisjoint(narrowed[1]):
            return  # this pod's search was narrowed, not that of the others
        with suppress(Unfollowed):
            outcome = filtering, scoring
            known.ranking = Ranking(
                known.profile, self._cluster, known.cycle, outcome, known.anew, narrowed, known.runner
            )

    @override
    def pre_filter(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        """Ask once for each template."""
        template, name = self._template, plugin.name
        if name in template.anew:
            return template.runner.pre_filter(plugin, cycle, nodes)
        # what a filter finds may be the pod's own, its claims say, and rest on what PreFilter left of this very pod
        if name not in template.pre_filter or name in template.finders:
            before = cycle.state.copy()
            answer = template.pre_filter[name] = template.runner.pre_filter(plugin, cycle, nodes)
            template.take_over(name, "preFilter", cycle, before)
            # the template's own cycle has to skip as this one will: the ranking and `moved_by` go by it
            (template.cycle.skip_filter.add if _skips(answer) else template.cycle.skip_filter.discard)(name)
        else:
            template.recollect(name, "preFilter", cycle)
        return template.pre_filter[name]

    @override
    def filter(self, plugin: points.FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Ask again only where a change has moved the verdict; what filters find besides is never kept."""
        template, name = self._template, plugin.name
        if name in template.anew:
            return template.runner.filter(plugin, cycle, nodes)
        # the very array, not an equal one: only `cluster.nodes` has it, so that comparing costs nothing
        whole = nodes.changes is None and nodes.rows is nodes.cluster.rows
        known = template.verdicts.get(name) if whole else None
        if known is None:
            known = template.runner.filter(plugin, cycle, nodes)
            if known.findings is not None:
                template.finders.add(name)
            elif whole:
                template.verdicts[name] = known
        return known

    @override
    def pre_score(self, plugin: points.PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Ask again where the answer may stand on other feasible nodes."""
        # asked even for plugins that go another way: it is the first who asks that remembers the feasible nodes
        same, template, name = self._same_feasible(nodes), self._template, plugin.name
        if name in template.anew:
            return template.runner.pre_score(plugin, cycle, nodes)
        if name not in template.pre_score or (plugin.reads_feasible_set and not same):
            template.raw.pop(name, None)
            template.forget(name, "preScore")
            before = cycle.state.copy()
            template.pre_score.pop(name, None)  # should the plugin fail, nothing is known of it any more
            answer = template.pre_score[name] = template.runner.pre_score(plugin, cycle, nodes)
            template.take_over(name, "preScore", cycle, before)
            (template.cycle.skip_score.add if _skips(answer) else template.cycle.skip_score.discard)(name)
        else:
            template.recollect(name, "preScore", cycle)
        return template.pre_score[name]

    @override
    def score(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Ask about the rows alone that are not known."""
        runner = self._template.runner
        if plugin.name in self._template.anew:
            return runner.score(plugin, cycle, nodes)
        same = self._same_feasible(nodes)
        raw = self._template.raw.pop(plugin.name, None)  # and kept again only once all of it is known
        rows = len(nodes.cluster.node_table)
        # positions are rows then, and nothing has to be gathered; not so once a node was removed and its row is dead
        every = nodes.rows is nodes.cluster.rows and len(nodes) == rows
        if raw is None or (plugin.reads_feasible_set and not same):
            if every:
                scores = runner.score(plugin, cycle, nodes)
                self._template.raw[plugin.name] = Raw(scores.copy(), np.ones(rows, np.bool_))
                return scores
            raw = Raw(np.zeros(rows, np.int64), np.zeros(rows, np.bool_))
        unknown = np.flatnonzero(~raw.known) if every else np.flatnonzero(~raw.known[nodes.rows])
        if len(unknown):
            column = nodes if len(unknown) > _FEW else nodes.take(unknown)
            raw.scores[column.rows] = runner.score(plugin, cycle, column)
            raw.known[column.rows] = True
        self._template.raw[plugin.name] = raw
        # a copy, for whoever normalises may write into it
        return raw.scores.copy() if every else np.asarray(raw.scores[nodes.rows])

    def _same_feasible(self, nodes: Nodes) -> bool:
        """Return whether the feasible nodes are those of the last cycle; asked first, it remembers the new ones."""
        if self._same is None:
            before, self._template.feasible = self._template.feasible, nodes.rows
            self._same = before is nodes.rows or np.array_equal(before, nodes.rows)
        return self._same


def signature(profile: Profile, pod: PodInfo, plugins: Iterable[Plugin]) -> Hashable | None:
    """Return all that some plugins of a profile read of a pod, None where one of them forbids reuse.

    Raises:
        CycleError: a plugin fails, or its signature is not hashable.
    """
    parts = tuple(_signature(plugin, pod) for plugin in plugins)
    return None if None in parts else (profile.scheduler_name, *parts)


def _signature(plugin: Plugin, pod: PodInfo) -> Hashable | None:
    return ask_plugin(plugin, _hashable, plugin, pod)


def _hashable(plugin: Plugin, pod: PodInfo) -> Hashable | None:
    return answers.signature(plugin, plugin.signature(pod))


def _skips(answer: object) -> bool:
    return isinstance(answer, Status) and answer.code is Code.SKIP
