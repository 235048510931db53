"""A profile: the plugins of one ``schedulerName``, made and in order at every extension point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from schedctl.api.pod_groups import PodGroup
from schedctl.framework import group_points, points
from schedctl.framework.extenders import Extender
from schedctl.framework.idle_methods import is_idle_when_skipped


@dataclass(frozen=True)
class Profile:
    """The ordered plugins of one scheduler name.

    Attributes:
        scheduler_name: which pods it serves.
        weights: weight of each score plugin by name, at least 1.
        placement_weights: the same of placement score plugins.
        percentage_of_nodes_to_score: of this profile, None where the scheduler's own holds.
        plugins: every plugin of the profile, by name.
        extenders: who is asked besides, in order; the same for all profiles of a scheduler.
        absent: the plugins that are configured and not there, with the points at which they may have a say.
    """

    scheduler_name: str
    plugins: Mapping[str, points.Plugin] = field(default_factory=dict)
    pre_enqueue: tuple[points.PreEnqueuePlugin, ...] = ()
    queue_sort: tuple[points.QueueSortPlugin, ...] = ()
    pre_filter: tuple[points.PreFilterPlugin, ...] = ()
    filter: tuple[points.FilterPlugin, ...] = ()
    post_filter: tuple[points.PostFilterPlugin, ...] = ()
    pre_score: tuple[points.PreScorePlugin, ...] = ()
    score: tuple[points.ScorePlugin, ...] = ()
    reserve: tuple[points.ReservePlugin, ...] = ()
    permit: tuple[points.PermitPlugin, ...] = ()
    pre_bind: tuple[points.PreBindPlugin, ...] = ()
    bind: tuple[points.BindPlugin, ...] = ()
    post_bind: tuple[points.PostBindPlugin, ...] = ()
    placement_generate: tuple[group_points.PlacementGeneratePlugin, ...] = ()
    placement_feasible: tuple[group_points.PlacementFeasiblePlugin, ...] = ()
    placement_score: tuple[group_points.PlacementScorePlugin, ...] = ()
    pod_group_post_filter: tuple[group_points.PodGroupPostFilterPlugin, ...] = ()
    weights: Mapping[str, int] = field(default_factory=dict)
    placement_weights: Mapping[str, int] = field(default_factory=dict)
    percentage_of_nodes_to_score: int | None = None
    extenders: tuple[Extender, ...] = ()
    absent: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def deciding_plugins(self) -> tuple[points.Plugin, ...]:
        """Every plugin whose answers decide where a pod goes, each once."""
        plugins: dict[str, points.Plugin] = {}
        for point in (self.pre_filter, self.filter, self.pre_score, self.score):
            plugins.update((plugin.name, plugin) for plugin in point)
        return tuple(plugins.values())

    @cached_property
    def pod_specific_plugins(self) -> Mapping[int, points.Plugin]:
        """Those of the deciding plugins, by their place among them, whose signature may read what is a pod's own."""
        return {place: p for place, p in enumerate(self.deciding_plugins) if not p.foreseeable}

    @cached_property
    def knows_other_groups(self) -> bool:
        """Whether a plugin reads PodGroups that are not Kubernetes' own."""
        kinds = (kind for plugin in self.plugins.values() for kind in plugin.reads)
        return any(kind.__name__ == PodGroup.__name__ and kind is not PodGroup for kind in kinds)

    @cached_property
    def idle_when_skipped(self) -> Mapping[str, frozenset[str]]:
        """By method, the plugins that have nothing to do in it for a pod of which their PreFilter says Skip."""
        by_method: dict[str, Iterable[points.Plugin]] = {"reserve": self.reserve, "pre_bind": self.pre_bind}
        return {
            method: frozenset(plugin.name for plugin in plugins if is_idle_when_skipped(plugin, method))
            for method, plugins in by_method.items()
        }
