"""`Template`: what is remembered of pods alike, from one of them to the next.

Every answer is kept by plugin, with the part of the cycle's state that it left; a plugin whose answers have been
spoiled loses both. When what is remembered is true, and who brings it up to date, is for
`schedctl.engine.batching.reuse`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedctl.api.pods import Pod
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import Reads
from schedctl.engine.batching.rankings import Ranking
from schedctl.engine.batching.reading import ReadingRunner
from schedctl.engine.handles import ProfileHandle
from schedctl.framework.cycles import Cycle, CycleState, StateKey
from schedctl.framework.points import NodeSet, Plugin, Scope
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status


@dataclass(slots=True)
class Raw:
    """Raw scores of one plugin by node row, int64 (rows,).

    They are true where `known`, bool (rows,).
    """

    scores: IntArray
    known: BoolArray


class Spoils(NamedTuple):
    """What a change spoils, by plugin; plugins of which it spoils nothing are left out.

    Attributes:
        rows: those of which it spoils the row it touches.
        others: those of which it spoils other rows, or more.
    """

    rows: tuple[str, ...]
    others: tuple[tuple[Plugin, Scope | frozenset[int]], ...]


class Template:
    """What is remembered of pods alike, true up to a generation of the cluster.

    Attributes:
        generation: of the cluster.
        profile: the profile they are scheduled by.
        anew: the plugins that have no signature for them.
        alike, apart: the plugins that other pods which are written alike move alike, and those they do not.
        answering, listening: the plugins that say themselves what moves them, and those that hear of events.
        read: the kinds on which it may depend what is moved.
        cycle: of the last of them; its state and what plugins skip are the template's own, and kept true.
        written: what each plugin left in the state, by its name and the point at which it did.
        finders: the filters that find out more than a verdict, which is the pod's own; in a full cycle they are asked
            from PreFilter on.
        runner: asks the plugins, and knows what their answers rest on.
        traced: by plugin, what its answers rest on, where that is known and the plugin does not say what moves it.
        selecting: the plugins that are asked what changes spoil, but of pods read those alone that have some labels.
        together: what all of these rest on together.
        rows_read: the traced plugins that read their own rows, and whether their description and their occupancy.
        rests_on_pods: whether some answer rests on all running pods.
        untraced: the other plugins, which are asked what changes spoil.
        come, gone: what pods that came or went spoil of such plugins, by these and what is written of the pod.
        ranking: the outcome of the last full cycle kept true, None where there is none.
    """

    def __init__(
        self,
        generation: int,
        profile: Profile,
        pod: PodInfo,
        signatures: Sequence[Hashable],
        apart: set[str],
        runner: ReadingRunner,
    ) -> None:
        """Begin to remember, with nothing known yet.

        Args:
            generation: of the cluster.
            profile: the profile the pods are scheduled by.
            pod: the first of them.
            signatures: of the deciding plugins, None where a plugin has none for it.
            apart: the plugins that pods written alike need not move alike.
            runner: asks the plugins.
        """
        deciding = profile.deciding_plugins
        self.generation = generation
        self.profile = profile
        self.anew = frozenset(p.name for p, part in zip(deciding, signatures, strict=True) if part is None)
        kept = [plugin for plugin in deciding if plugin.name not in self.anew]
        self.alike = [plugin for plugin in kept if plugin.name not in apart]
        self.apart = [plugin for plugin in kept if plugin.name in apart]
        self.read = tuple({kind for plugin in self.alike for kind in plugin.reads})
        self.answering = frozenset(p.name for p in kept if type(p).moved_by is not Plugin.moved_by)
        self.listening = frozenset(p.name for p in kept if isinstance(p.handle, ProfileHandle) and p.handle.listens(p))
        self.cycle = Cycle(pod)
        self.written: dict[tuple[str, str], list[StateKey[object]]] = {}
        self.pre_filter: dict[str, Status | NodeSet | None] = {}
        self.verdicts: dict[str, Verdicts] = {}
        self.pre_score: dict[str, Status | None] = {}
        self.raw: dict[str, Raw] = {}
        self.feasible: IndexArray = np.empty(0, np.intp)
        self.finders: set[str] = set()
        self.runner = runner
        self.traced: dict[str, Reads] = {}
        self.together = Reads()
        self.rows_read: list[tuple[str, bool, bool]] = []
        self.rests_on_pods = False
        self.selecting: frozenset[str] = frozenset()
        self.untraced: frozenset[str] = frozenset()
        self.come: dict[tuple[frozenset[str], bytes], Spoils] = {}
        self.gone: dict[tuple[frozenset[str], bytes], Spoils] = {}
        self.ranking: Ranking | None = None

    def spoil(self, plugin: str) -> None:
        """Forget all that a plugin has answered, and what other changes spoil as far as it stands on that."""
        # not the ranking: whoever ages the template does without it once anything is spoiled altogether
        for known in (self.pre_filter, self.verdicts, self.pre_score, self.raw):
            known.pop(plugin, None)
        self.runner.forget(plugin)
        self.forget(plugin, "preFilter")
        self.forget(plugin, "preScore")
        self.cycle.skip_filter.discard(plugin)
        self.cycle.skip_score.discard(plugin)
        self.come.clear()
        self.gone.clear()

    def separate(self) -> None:
        """Find out of which plugins it is known what their answers rest on, if that has become another matter."""
        if not self.runner.more:
            return
        self.runner.more = False
        known = {name: reads for name, reads in self.runner.reads.items() if name not in self.anew}
        sure = {name: reads for name, reads in known.items() if name not in self.listening and not reads.everything}
        by_label = {
            name: reads for name, reads in sure.items() if name in self.answering or reads.selected or reads.terms
        }
        self.traced = {name: reads for name, reads in sure.items() if name not in by_label}
        by_label = {name: reads for name, reads in by_label.items() if not _reads_any_pod(reads)}
        self.selecting = frozenset(by_label)
        self.together = Reads()
        for reads in (*self.traced.values(), *by_label.values()):
            self.together.add(reads)
        self.rows_read = [
            (n, r.description, r.occupancy) for n, r in self.traced.items() if r.description or r.occupancy
        ]
        self.rests_on_pods = Pod in self.together.versions
        untraced = frozenset(known.keys() - self.traced.keys() - self.selecting)
        if untraced != self.untraced:
            self.untraced = untraced
            self.come.clear()
            self.gone.clear()

    def recollect(self, plugin: str, point: str, cycle: Cycle) -> None:
        """Leave in a cycle's state what a plugin left there when it was asked."""
        for key in self.written.get((plugin, point), ()):
            cycle.state[key] = self.cycle.state[key]

    def forget(self, plugin: str, point: str) -> None:
        """Forget what a plugin has left in the state."""
        for key in self.written.pop((plugin, point), ()):
            if key in self.cycle.state:
                del self.cycle.state[key]

    def take_over(self, plugin: str, point: str, cycle: Cycle, before: CycleState) -> None:
        """Keep what a plugin has just left in a cycle's state, on which no ranking of earlier states can go on."""
        self.ranking = None
        self.forget(plugin, point)
        self.written[plugin, point] = cycle.state.keys_changed_since(before)
        for key in self.written[plugin, point]:
            self.cycle.state[key] = cycle.state[key]


def _reads_any_pod(reads: Reads) -> bool:
    return reads.description or reads.occupancy or Pod in reads.versions
