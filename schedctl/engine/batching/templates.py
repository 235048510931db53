"""`Template`: what is remembered of pods alike, from one of them to the next.

Every answer is kept by plugin, with the part of the cycle's state that it left; a plugin whose answers have been
spoiled loses both. When what is remembered is true, and who brings it up to date, is for
`schedctl.engine.batching.reuse`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.batching.rankings import Ranking
from schedctl.framework.cycles import Cycle, CycleState, StateKey
from schedctl.framework.points import NodeSet, Plugin, Scope
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status


@dataclass(slots=True)
class Raw:
    """Raw scores of one plugin by node row, int64 (rows,).

    They are true where `known`, bool (rows,), but for the `stale` rows, which have changed since.
    """

    scores: IntArray
    known: BoolArray
    stale: set[int] = field(default_factory=set)


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
        read: the kinds on which it may depend what is moved.
        cycle: of the last of them; its state and what plugins skip are the template's own, and kept true.
        written: what each plugin left in the state, by its name and the point at which it did.
        finders: the filters that find out more than a verdict, which is the pod's own; in a full cycle they are asked
            from PreFilter on.
        come, gone: what pods that came or went spoil, by what is written of them.
        ranking: the outcome of the last full cycle kept true, None where there is none.
    """

    def __init__(
        self, generation: int, profile: Profile, pod: PodInfo, signatures: Sequence[Hashable], apart: set[str]
    ) -> None:
        """Begin to remember, with nothing known yet.

        Args:
            generation: of the cluster.
            profile: the profile the pods are scheduled by.
            pod: the first of them.
            signatures: of the deciding plugins, None where a plugin has none for it.
            apart: the plugins that pods written alike need not move alike.
        """
        deciding = profile.deciding_plugins
        self.generation = generation
        self.profile = profile
        self.anew = frozenset(p.name for p, part in zip(deciding, signatures, strict=True) if part is None)
        kept = [plugin for plugin in deciding if plugin.name not in self.anew]
        self.alike = [plugin for plugin in kept if plugin.name not in apart]
        self.apart = [plugin for plugin in kept if plugin.name in apart]
        self.read = tuple({kind for plugin in self.alike for kind in plugin.reads})
        self.cycle = Cycle(pod)
        self.written: dict[tuple[str, str], list[StateKey[object]]] = {}
        self.pre_filter: dict[str, Status | NodeSet | None] = {}
        self.verdicts: dict[str, Verdicts] = {}
        self.pre_score: dict[str, Status | None] = {}
        self.raw: dict[str, Raw] = {}
        self.feasible: IndexArray = np.empty(0, np.intp)
        self.finders: set[str] = set()
        self.come: dict[bytes, Spoils] = {}
        self.gone: dict[bytes, Spoils] = {}
        self.ranking: Ranking | None = None

    def spoil(self, plugin: str) -> None:
        """Forget all that a plugin has answered, and what other changes spoil as far as it stands on that."""
        # not the ranking: whoever ages the template does without it once anything is spoiled altogether
        for known in (self.pre_filter, self.verdicts, self.pre_score, self.raw):
            known.pop(plugin, None)
        self.forget(plugin, "preFilter")
        self.forget(plugin, "preScore")
        self.cycle.skip_filter.discard(plugin)
        self.cycle.skip_score.discard(plugin)
        self.come.clear()
        self.gone.clear()

    def holding(self, plugins: Sequence[Plugin]) -> Sequence[Plugin]:
        """Return those plugins of which some answer is kept."""
        if self.ranking is not None:  # which stands on all of them, although raw scores were dropped to save room
            return plugins
        kept = self.pre_filter.keys() | self.verdicts.keys() | self.pre_score.keys() | self.raw.keys()
        return [plugin for plugin in plugins if plugin.name in kept]

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
