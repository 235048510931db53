"""What has to be written so that the defaults of today run the plugins a profile wanted: the difference, and no more.

A default that nobody asked to leave out stays; one that scores with another weight is enabled again with it; what is
not a default is enabled behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import groupby
from typing import Any, Final

import msgspec

from schedctl.config.defaults import DEFAULT_PLUGINS
from schedctl.config.expansion import POD_GROUP_POINTS, KnownPlugins
from schedctl.config.types import MULTI_POINT, Plugin

POINTS: Final = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
)
"""The points of a scheduling cycle, in its order."""
_SCORE: Final = "score"
_UNORDERED: Final = ("preScore", _SCORE)
"""Points at which the order of plugins decides nothing."""
_PREPARES: Final = {"preFilter": "filter", "reserve": "filter", "preBind": "filter"}
"""Points at which a plugin must not take part unless it filters, which it may do there as well."""
_DEFAULTS: Final = {plugin.name: plugin for plugin in DEFAULT_PLUGINS}

Plain = dict[str, Any]


class ProfilePlugins(msgspec.Struct, frozen=True):
    """The plugins a profile wants, in names of today.

    Attributes:
        plugins: by point, in order, with weights at ``score``.
        covered: the points at which the old version ran each of its default plugins.
        everywhere: plugins of which only their author knows where they take part.
    """

    plugins: Mapping[str, Sequence[Plugin]]
    covered: Mapping[str, Set[str]]
    everywhere: Sequence[Plugin] = ()


def plugins_section(profile: ProfilePlugins, known: KnownPlugins) -> Plain:
    """Return ``plugins`` of a profile, as a file has it; empty where the defaults are what it wants."""
    used = {plugin.name for plugins in profile.plugins.values() for plugin in plugins}
    off = [name for name in _DEFAULTS if name in profile.covered and name not in used]
    document: Plain = {}
    everywhere = _set(profile.everywhere, off, weighted=True)
    if everywhere:
        document[MULTI_POINT] = everywhere
    for point in POINTS:
        default = [name for name in _DEFAULTS if name not in off and known.implements(name, point)]
        chosen = _at(point, default, profile)
        if chosen:
            document[point] = chosen
    return document


def weight_of(plugin: Plugin) -> int:
    """Return what a plugin's score counts; nothing written stands for 1."""
    return plugin.weight or 1


def default_weight(name: str) -> int:
    """Return what a plugin's score counts unless told otherwise."""
    return weight_of(_DEFAULTS[name]) if name in _DEFAULTS else 1


def _at(point: str, default: Sequence[str], profile: ProfilePlugins) -> Plain:
    """Return the plugin set of one point, empty where the defaults are what it wants."""
    chosen = list(profile.plugins.get(point, ()))
    names = {plugin.name for plugin in chosen}
    left = [name for name in default if name not in names and _follows(name, point, profile)]
    gone = [name for name in default if name not in names and name not in left]
    again = [
        plugin
        for plugin in chosen
        if point == _SCORE and plugin.name in default and weight_of(plugin) != default_weight(plugin.name)
    ]
    more = [plugin for plugin in chosen if plugin.name not in default]
    if point not in _UNORDERED:
        result = [*(name for name in default if name not in gone), *(plugin.name for plugin in more)]
        if _shape(result, default) != _shape([*left, *(plugin.name for plugin in chosen)], default):
            # merging would order the plugins another way: the point is spelled out instead
            return _set([*map(Plugin, left), *chosen], ["*"], weighted=False)
    return _set([*again, *more], gone, weighted=point == _SCORE)


def _follows(name: str, point: str, profile: ProfilePlugins) -> bool:
    """Return whether a default that the old version did not run at a point may do so."""
    # a plugin that is newer serves pods that could not be written then; one that takes part in a point only since may
    # do so where it does what the point is for
    points = profile.covered.get(name, ())
    if not points:
        return True
    if point in points:
        return False
    purpose = _PREPARES.get(point, "")
    return purpose not in points or any(plugin.name == name for plugin in profile.plugins.get(purpose, ()))


def _shape(names: Iterable[str], default: Sequence[str]) -> list[tuple[str, ...]]:
    """Return names with neighbours that are defaults as one, sorted: among them any order places pods alike."""
    groups = groupby(names, key=lambda name: "" if name in default else name)
    return [tuple(sorted(group)) for _, group in groups]


def _set(enabled: Iterable[Plugin], disabled: Iterable[str], *, weighted: bool) -> Plain:
    """Return a plugin set as a file has it."""
    document: Plain = {}
    on = [
        {"name": one.name, "weight": one.weight} if weighted and one.weight else {"name": one.name} for one in enabled
    ]
    off = [{"name": name} for name in disabled]
    if on:
        document["enabled"] = on
    if off:
        document["disabled"] = off
    return document


def takes_part(name: str, point: str, known: KnownPlugins) -> bool:
    """Return whether a plugin may stand at a point; of those we do not know nobody else can tell."""
    ours = name in known or any(name in names for names in POD_GROUP_POINTS.values())
    return not ours or known.implements(name, point)
