"""The extension points of a pod group's cycle: where it may go, whether that will do, what it is worth, what must go.

A group is tried in one placement after another (PlacementGenerate), pod by pod in ordinary cycles, PlacementFeasible
having a say after each; of placements that will do the best is taken (PlacementScore), and where none will, others may
have to go (PodGroupPostFilter). The engine's side is `schedctl.engine.groups`; `points` has those of single pods.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle, CycleState
from schedctl.framework.points import Plugin
from schedctl.framework.statuses import Status


@dataclass(frozen=True, slots=True)
class GroupCycle:
    """What the methods of a group's cycle are handed.

    Attributes:
        group: the group.
        pods: its pods that are to be placed, in the order in which they are tried.
        scheduled: its pods that are on nodes already.
        state: shared between plugins, for all placements.
        cycles: the cycle of each pod in the placement tried last, by key; of those that were tried.
    """

    group: PodGroup
    pods: tuple[PodInfo, ...]
    scheduled: tuple[PodInfo, ...] = ()
    state: CycleState = field(default_factory=CycleState)
    cycles: dict[str, Cycle] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placement:
    """Nodes among which a group may be placed.

    Attributes:
        name: such as the value of the topology key, "" where there is no choice.
        nodes: the nodes, each once.
    """

    name: str
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class PlacementProgress:
    """How far a group has got in a placement.

    Attributes:
        scheduled: how many pods have a node, those from before included.
        remaining: how many are still to be tried.
    """

    scheduled: int
    remaining: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """A pod of the group on the node it found in a placement, with its cycle."""

    pod: PodInfo
    node_name: str
    cycle: Cycle


class GroupOutcome(Protocol):
    """What became of a group that was tried once more, with others gone."""

    @property
    def status(self) -> Status:
        """Success, or why not."""

    @property
    def assignments(self) -> Sequence[Assignment]:
        """The pods that found nodes, in the order of trying."""


@dataclass(frozen=True, slots=True)
class PodGroupPostFilterResult:
    """What PodGroupPostFilter achieved.

    Attributes:
        status: Success when the group may be tried again with its pods nominated.
        nominations: the node of each pod by key.
        victims: the pods that have to go, the most important first.
        objects: objects as the plugin would leave them in the cluster.
        removed: objects that the plugin would delete.
        findings: what the plugin found out on the way, for explanations.
    """

    status: Status
    nominations: Mapping[str, str] = field(default_factory=dict)
    victims: tuple[PodInfo, ...] = ()
    objects: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    findings: Any = None


class PlacementGeneratePlugin(Plugin):
    """Says where a group may go."""

    @abstractmethod
    def placement_generate(self, cycle: GroupCycle, nodes: Nodes) -> Sequence[Placement] | Status:
        """Called once, with all nodes. No placement at all refuses the group, as does a status."""


class PlacementFeasiblePlugin(Plugin):
    """Says whether a placement will do, as far as the group has got in it."""

    @abstractmethod
    def placement_feasible(self, cycle: GroupCycle, progress: PlacementProgress) -> Status:
        """Called before the first pod and after each: Success will do, Wait not yet, Unschedulable never."""


class PlacementScorePlugin(Plugin):
    """Ranks placements in which the group can run."""

    @abstractmethod
    def placement_score(self, cycle: GroupCycle, placement: Placement, assignments: Sequence[Assignment]) -> int:
        """Return the raw score of one placement; the cluster is without the group again."""

    def normalize_placements(self, cycle: GroupCycle, scores: IntArray) -> IntArray:
        """Return the scores scaled to 0..100 over all placements, int64 (placements,); unchanged by default."""
        return scores


class PodGroupPostFilterPlugin(Plugin):
    """Tries to make room for a group."""

    @abstractmethod
    def pod_group_post_filter(
        self, cycle: GroupCycle, try_again: Callable[[], GroupOutcome]
    ) -> PodGroupPostFilterResult:
        """Called in profile order until one succeeds, fails or says UnschedulableAndUnresolvable.

        Args:
            cycle: the failed cycle.
            try_again: tries the group on the cluster as it is then, in a fork of the plugin's, and takes it back.
        """


GROUP_POINTS: dict[str, type[Plugin]] = {
    "placementGenerate": PlacementGeneratePlugin,
    "placementScore": PlacementScorePlugin,
    "podGroupPostFilter": PodGroupPostFilterPlugin,
}
"""Those that configurations name; PlacementFeasible has no name there: every plugin of the profile is asked."""
