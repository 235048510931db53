"""How often plugins are called, for how many rows, and how long that takes.

The methods of the plugins that are watched are wrapped, so that nobody who calls them knows, and plugins that are not
watched cost nothing. Answers from memory (``batching``) are no calls.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import msgspec

from schedctl.cache.nodes import Nodes
from schedctl.framework import group_points, points
from schedctl.framework.points import Plugin

METHODS: tuple[tuple[type[Plugin], str, str], ...] = (
    (points.PreEnqueuePlugin, "pre_enqueue", "preEnqueue"),
    (points.PreFilterPlugin, "pre_filter", "preFilter"),
    (points.PreFilterPlugin, "with_pods", "preFilterExtensions"),
    (points.FilterPlugin, "filter", "filter"),
    (points.PostFilterPlugin, "post_filter", "postFilter"),
    (points.PreScorePlugin, "pre_score", "preScore"),
    (points.ScorePlugin, "score", "score"),
    (points.ScorePlugin, "normalize", "normalizeScore"),
    (points.ReservePlugin, "reserve", "reserve"),
    (points.ReservePlugin, "unreserve", "unreserve"),
    (points.PermitPlugin, "permit", "permit"),
    (points.PreBindPlugin, "pre_bind", "preBind"),
    (points.BindPlugin, "bind", "bind"),
    (points.PostBindPlugin, "post_bind", "postBind"),
    (group_points.PlacementGeneratePlugin, "placement_generate", "placementGenerate"),
    (group_points.PlacementFeasiblePlugin, "placement_feasible", "placementFeasible"),
    (group_points.PlacementScorePlugin, "placement_score", "placementScore"),
    (group_points.PlacementScorePlugin, "normalize_placements", "normalizePlacementScore"),
    (group_points.PodGroupPostFilterPlugin, "pod_group_post_filter", "podGroupPostFilter"),
)
"""Which plugins have which methods, and the extension point of each, in order; those of pod groups last."""


class CallCount(msgspec.Struct):
    """The calls of one plugin at one extension point.

    Attributes:
        calls: how many.
        seconds: how long they took together, calls of other plugins within them included.
        rows: about how many rows of nodes they were, together; 0 where a point is not about nodes.
    """

    calls: int = 0
    seconds: float = 0.0
    rows: int = 0


class CallRecorder(msgspec.Struct, frozen=True):
    """Counts the calls of the plugins that it watches.

    Attributes:
        counts: by extension point and plugin.
    """

    counts: dict[tuple[str, str], CallCount] = msgspec.field(default_factory=dict)

    def watch(self, plugin: Plugin) -> None:
        """Count the calls of a plugin from now on; it is not to be watched already."""
        for kind, method, point in METHODS:
            # A method that is not its own does nothing, and there is nothing to count.
            if isinstance(plugin, kind) and getattr(type(plugin), method) is not getattr(kind, method):
                vars(plugin)[method] = self._wrap(getattr(plugin, method), point, plugin.name)

    def in_cycle_order(self) -> list[tuple[str, str, CallCount]]:
        """Return extension point, plugin and counts of everything that was called, in the order of a cycle."""
        place = {point: number for number, (_, _, point) in enumerate(METHODS)}
        found = [(point, plugin, count) for (point, plugin), count in self.counts.items()]
        return sorted(found, key=lambda each: (place[each[0]], -each[2].seconds, each[1]))

    def _wrap(self, method: Callable[..., Any], point: str, plugin: str) -> Callable[..., Any]:
        counts = self.counts

        @functools.wraps(method)
        def counted(*arguments: Any) -> Any:
            count = counts.setdefault((point, plugin), CallCount())
            count.calls += 1
            count.rows += sum(len(each) for each in arguments if isinstance(each, Nodes))
            began = time.perf_counter()
            try:
                return method(*arguments)
            finally:
                count.seconds += time.perf_counter() - began

        return counted
