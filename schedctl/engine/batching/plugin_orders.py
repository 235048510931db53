"""`PluginOrder`: which plugins of a profile take part in an equivalence class, and in which order at each point.

That rests on the profile, and on which of its plugins have no signature for the pods of the class; so thousands of
classes share a few orders, and none of them goes through the profile.
"""

from __future__ import annotations

import numpy as np

from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.profiles import Profile

_MOST_OF_INT32 = np.iinfo(np.int32).max


class PluginOrder:
    """The plugins of a profile but those that are asked about every pod, or have been seen to otherwise.

    Attributes:
        profile: the profile.
        anew: the names of those that are asked about every pod.
        deciding: the names of the others, in the order of asking.
        filters: the names of the others that have a Filter.
        scorers: the plugins that score, in order.
        preparing: the names of those that have a PreScore.
        scoring: the names of those that have a PreScore or a Score, in the order of asking.
        sum_dtype: of weighted sums of scores.
    """

    def __init__(self, profile: Profile, anew: frozenset[str], besides: frozenset[str] = frozenset()) -> None:
        """Find the plugins that take part.

        Args:
            profile: the profile.
            anew: the names of plugins that are asked about every pod.
            besides: the names of others that take no part.
        """
        self.profile = profile
        self.anew = anew
        out = anew | besides
        self.deciding = tuple([plugin.name for plugin in profile.deciding_plugins if plugin.name not in out])
        self.filters = tuple([plugin.name for plugin in profile.filter if plugin.name not in out])
        self.scorers = tuple([plugin for plugin in profile.score if plugin.name not in out])
        self.preparing = tuple([plugin.name for plugin in profile.pre_score if plugin.name not in out])
        self.scoring = tuple(dict.fromkeys((*self.preparing, *(plugin.name for plugin in self.scorers))))
        # int32 halves the memory to go through for each placement; weights are not bounded, so it may not do
        widest = sum(profile.weights[plugin.name] for plugin in profile.score) * MAX_NODE_SCORE
        self.sum_dtype: np.dtype[np.int32 | np.int64] = np.dtype(np.int32 if widest <= _MOST_OF_INT32 else np.int64)
