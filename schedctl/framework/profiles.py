"""A profile: the plugins of one ``schedulerName``, made and in order at every extension point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from schedctl.framework.extenders import Extender
from schedctl.framework.points import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)


@dataclass(frozen=True)
class Profile:
    """The ordered plugins of one scheduler name.

    Attributes:
        scheduler_name: which pods it serves.
        weights: weight of each score plugin by name, at least 1.
        percentage_of_nodes_to_score: of this profile, None where the scheduler's own holds.
        plugins: every plugin of the profile, by name.
        extenders: who is asked besides, in order; the same for all profiles of a scheduler.
    """

    scheduler_name: str
    plugins: Mapping[str, Plugin] = field(default_factory=dict)
    pre_enqueue: tuple[PreEnqueuePlugin, ...] = ()
    queue_sort: tuple[QueueSortPlugin, ...] = ()
    pre_filter: tuple[PreFilterPlugin, ...] = ()
    filter: tuple[FilterPlugin, ...] = ()
    post_filter: tuple[PostFilterPlugin, ...] = ()
    pre_score: tuple[PreScorePlugin, ...] = ()
    score: tuple[ScorePlugin, ...] = ()
    reserve: tuple[ReservePlugin, ...] = ()
    permit: tuple[PermitPlugin, ...] = ()
    pre_bind: tuple[PreBindPlugin, ...] = ()
    bind: tuple[BindPlugin, ...] = ()
    post_bind: tuple[PostBindPlugin, ...] = ()
    weights: Mapping[str, int] = field(default_factory=dict)
    percentage_of_nodes_to_score: int | None = None
    extenders: tuple[Extender, ...] = ()

    @cached_property
    def deciding_plugins(self) -> tuple[Plugin, ...]:
        """Every plugin whose answers decide where a pod goes, each once."""
        plugins: dict[str, Plugin] = {}
        for point in (self.pre_filter, self.filter, self.pre_score, self.score):
            plugins.update((plugin.name, plugin) for plugin in point)
        return tuple(plugins.values())

    @cached_property
    def pod_specific_plugins(self) -> tuple[tuple[int, Plugin], ...]:
        """Those of the deciding plugins, with their place among them, whose signature may read what is a pod's own."""
        return tuple((place, p) for place, p in enumerate(self.deciding_plugins) if not p.reads_template_only)
