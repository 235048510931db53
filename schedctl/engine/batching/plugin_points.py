"""`PluginPoints`: at which points a plugin is asked, and what its answers are like.

That rests on the plugin alone, and is found out once for the thousands of columns that are asked of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schedctl.framework.points import FilterPlugin, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin


class PluginPoints:
    """What a column has to know of its plugin.

    Attributes:
        plugin: the plugin.
        has_pre_filter, has_filter, has_pre_score, has_score: whether it is asked at these points.
        scores_alike: whether classes that share a column may share what it says at PreScore and Score; where that
            rests on the feasible nodes, each class asks a column of its own.
        filters_any_row: whether Filter is asked about all nodes, those included that others reject.
        normalizes: whether it has a NormalizeScore.
        dtype: of the scores that are kept, int64, or int8 where raw scores are normalised ones.
    """

    __slots__ = (
        "dtype",
        "filters_any_row",
        "has_filter",
        "has_pre_filter",
        "has_pre_score",
        "has_score",
        "normalizes",
        "plugin",
        "scores_alike",
    )

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self.has_pre_filter = isinstance(plugin, PreFilterPlugin)
        self.has_filter = isinstance(plugin, FilterPlugin)
        self.has_pre_score = isinstance(plugin, PreScorePlugin)
        self.has_score = isinstance(plugin, ScorePlugin)
        self.scores_alike = isinstance(plugin, PreScorePlugin | ScorePlugin) and not plugin.reads_feasible_set
        self.filters_any_row = isinstance(plugin, FilterPlugin) and (plugin.filters_all_nodes or plugin.foreseeable)
        self.normalizes = isinstance(plugin, ScorePlugin) and type(plugin).normalize is not ScorePlugin.normalize
        self.dtype: npt.DTypeLike = np.dtype(np.int64 if self.normalizes else np.int8)
