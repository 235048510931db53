"""From plugin sets to the ordered plugins of every extension point, as kube-scheduler expands ``multiPoint``.

A profile is merged with the defaults long before anybody knows which plugin implements what; here the two meet. The
rules are those of ``pkg/scheduler/framework/runtime`` and ``pkg/scheduler/profile``; where kube-scheduler gives up at
the first mistake, all are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

import msgspec

from schedctl.api.quantities import MAX_INT64, wrap_int64
from schedctl.config import removed_plugins, types
from schedctl.config.defaults import DEFAULT_PLUGINS, default_plugins
from schedctl.documents.spelling import nearest
from schedctl.errors import Problem
from schedctl.releases import RELEASES

Expanded = dict[str, tuple[types.Plugin, ...]]
"""The plugins of each point, in order; at ``score`` and ``placementScore`` with their weights, elsewhere with 0."""

WEIGHTED: Final = {"score": "score plugins", "placementScore": "placement score plugins"}
"""The points at which a weight counts, and what kube-scheduler calls their plugins."""
POD_GROUP_POINTS: Final = {
    "placementGenerate": ("TopologyPlacementGenerator",),
    "placementScore": ("NodeResourcesFit", "PodGroupPodsCount"),
    "podGroupPostFilter": ("DefaultPreemption", "DynamicResources"),
}
"""The points of pod groups and Kubernetes' plugins there; no scheduling cycle runs them unless a feature gate is on."""
GATED: Final = ("DeferredPodScheduling", "GangScheduling")
"""Plugins kube-scheduler has that would do something behind a feature gate only, and a registry may lack."""
_SUBSTITUTES: Final = {"queueSort": "PrioritySort", "bind": "DefaultBinder"}
"""Who takes the place of somebody else's plugin at a point that cannot do without."""
_MAX_SCORE: Final = 100
_MISSPELT: Final = 0.9
"""How alike a name must be to be a misspelt one: NodeResourcesFitPlus is another plugin."""


class KnownPlugins(Protocol):
    """What expansion asks of a registry."""

    def __contains__(self, name: object, /) -> bool:
        """Return whether there is a plugin of this name."""

    def implements(self, name: str, point: str, /) -> bool:
        """Return whether there is such a plugin and it takes part in a point, named as in a file: ``preFilter``."""


class _WithPodGroups(msgspec.Struct, frozen=True):
    """A registry that also knows who takes part in the points of pod groups, so that those are kept as written."""

    known: KnownPlugins

    def __contains__(self, name: object, /) -> bool:
        return name in self.known or any(name in names for names in POD_GROUP_POINTS.values())

    def implements(self, name: str, point: str, /) -> bool:
        return name in POD_GROUP_POINTS.get(point, ()) or self.known.implements(name, point)


def expand_all(
    config: types.SchedulerConfiguration, known: KnownPlugins, *, partial: bool = False
) -> tuple[dict[str, Expanded], list[Problem]]:
    """Return the expanded plugins of each profile by scheduler name, and all problems of making the profiles.

    Args:
        config: the configuration.
        known: the plugins there are.
        partial: whether the profiles are made without those that are somebody else's (`absent_plugins`).
    """
    expanded: dict[str, Expanded] = {}
    problems: list[Problem] = []
    first: tuple[str, object] | None = None
    for index, profile in enumerate(config.profiles):
        path = f"profiles[{index}]"
        name = profile.scheduler_name
        expanded[name], found = expand(profile, known, path, partial=partial)
        problems += found
        if len(expanded[name]["queueSort"]) != 1:
            continue  # `expand` has objected to it
        sorter = expanded[name]["queueSort"][0].name
        chosen = (sorter, profile.args(sorter))
        first = first or chosen
        if sorter != first[0]:
            message = f'different queue sort plugins for profile "{name}": "{sorter}", first: "{first[0]}"'
            problems.append(Problem(message, path=f"{path}.plugins.queueSort"))
        elif chosen != first:
            message = f'different queue sort plugin args for profile "{name}"'
            problems.append(Problem(message, path=f"{path}.pluginConfig.args"))
    return expanded, problems


def absent_plugins(plugins: types.Plugins, known: KnownPlugins) -> dict[str, frozenset[str]]:
    """Return the plugins of a profile that are somebody else's, and not there, with the points they may take part in.

    A plugin that kube-scheduler had once, or has behind a gate, and one whose name is a misspelt one of Kubernetes' is
    none of them. One at ``multiPoint`` may take part in every point that does not disable it.
    """
    known = _WithPodGroups(known)
    absent: dict[str, frozenset[str]] = {}
    for point in (types.MULTI_POINT, *types.POINTS):
        for plugin in plugins.at(point).enabled:
            if plugin.name not in known and _is_foreign(plugin.name):
                there = [point]
                if point == types.MULTI_POINT:
                    there = [each for each in types.POINTS if not {plugin.name, "*"} & _disabled_names(plugins, each)]
                absent[plugin.name] = absent.get(plugin.name, frozenset()).union(there)
    return absent


def expand(
    profile: types.ProfileConfig, known: KnownPlugins, path: str = "", *, partial: bool = False
) -> tuple[Expanded, list[Problem]]:
    """Return the plugins of every point of a completed profile, and what kube-scheduler would object to.

    Args:
        profile: the profile, merged with the defaults.
        known: the plugins there are.
        path: the profile's path in the file, for problems.
        partial: whether the profile is made without plugins that are somebody else's; where nobody else sorts or
            binds, Kubernetes' own plugins do.
    """
    absent = absent_plugins(profile.plugins, known) if partial else {}
    known = _WithPodGroups(known)  # the registry has no plugin for the points of pod groups, which no cycle runs
    path = f"{path}.plugins" if path else "plugins"
    problems = [*_placement_problems(profile.plugins, known, path, absent), *_repetitions(profile.plugins, known, path)]
    expanded = {point: tuple(map(types.Plugin, _order(profile.plugins, known, point))) for point in types.POINTS}
    for point, substitute in _SUBSTITUTES.items():
        if not expanded[point] and any(point in points for points in absent.values()):
            expanded[point] = (types.Plugin(substitute),)
    wrong = tuple(problem.path for problem in problems)
    problems += (
        problem
        for problem in _counts(profile.scheduler_name, expanded, path)
        if not any(one.startswith(problem.path) for one in wrong)
    )
    for point, called in WEIGHTED.items():
        weights, overflow = _weights(profile.plugins, known, point)
        expanded[point] = tuple(types.Plugin(plugin.name, weights[plugin.name]) for plugin in expanded[point])
        if overflow:
            message = f"{called}: total score of Score plugins could overflow"
            problems.append(Problem(message, path=f"{path}.{point}"))
    return expanded, problems


def _interface(point: str) -> str:
    """Return kube-scheduler's name of what a plugin of the point is."""
    return f"{point[0].upper()}{point[1:]}Plugin"


def _placement_problems(
    plugins: types.Plugins, known: KnownPlugins, path: str, absent: Mapping[str, frozenset[str]]
) -> Iterator[Problem]:
    """Yield the plugins that do not exist, do not implement the point that enables them, or stand there twice.

    kube-scheduler misses one of ``multiPoint`` at the first point it expands. Those that may be absent are passed over.
    """
    expands = (point for point in types.POINTS if "*" not in _disabled_names(plugins, point))
    missed_at = {types.MULTI_POINT: next(expands, types.POINTS[0])}
    for point in (*types.POINTS, types.MULTI_POINT):
        interface = _interface(missed_at.get(point, point))
        seen: set[str] = set()
        for index, plugin in enumerate(plugins.at(point).enabled):
            message = hint = ""
            if plugin.name in absent:
                pass
            elif plugin.name not in known:
                message = f'{interface} "{plugin.name}" does not exist'
                hint = _hint(plugin.name)
            elif point != types.MULTI_POINT and not known.implements(plugin.name, point):
                message = f'plugin "{plugin.name}" does not extend {interface} plugin'
            elif point != types.MULTI_POINT and plugin.name in seen:
                message = f'plugin "{plugin.name}" already registered as "{interface}"'
            seen.add(plugin.name)
            if message:
                # Indices of the merged multiPoint are not those of the file.
                where = "" if point == types.MULTI_POINT else f"[{index}]"
                yield Problem(message, path=f"{path}.{point}.enabled{where}", hint=hint)


def _hint(name: str) -> str:
    if name in GATED:
        return f"{name} is behind a feature gate that is off by default; remove it"
    if name in removed_plugins.GONE:
        return removed_plugins.GONE[name]
    if any(name == plugin.name for plugin in DEFAULT_PLUGINS):
        having = [each for each in RELEASES if any(name == plugin.name for plugin in default_plugins(each))]
        since = "{}.{}".format(*having[0].minor)
        return f"kube-scheduler has it by default from v{since} on: remove it, or `--kube-version {since}`"
    close = _meant(name)
    loaded = "load it with --plugin if it is your own"
    return f'did you mean "{close}"? or {loaded}' if close else loaded


def _meant(name: str) -> str:
    """Return the plugin of Kubernetes' that a name may be misspelt of, "" for none."""
    return nearest(name, (plugin.name for plugin in DEFAULT_PLUGINS), cutoff=_MISSPELT)


def _is_foreign(name: str) -> bool:
    """Return whether a plugin that is not there is somebody else's, as far as its name says."""
    return bool(name) and name not in GATED and name not in removed_plugins.GONE and not _meant(name)


def _repetitions(plugins: types.Plugins, known: KnownPlugins, path: str) -> Iterator[Problem]:
    """Yield the plugins that stand in ``multiPoint`` twice, with the first point at which that matters."""
    names = [plugin.name for plugin in plugins.multi_point.enabled]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        for point in types.POINTS:
            there = {plugin.name for plugin in plugins.at(point).enabled}
            if (
                known.implements(name, point)
                and not {name, "*"} & _disabled_names(plugins, point)
                and name not in there
            ):
                message = f'plugin "{name}" already registered as "{_interface(point)}"'
                yield Problem(message, path=f"{path}.{types.MULTI_POINT}.enabled")
                break


def _order(plugins: types.Plugins, known: KnownPlugins, point: str) -> list[str]:
    """Return the names at one point, in order.

    A plugin of ``multiPoint`` takes part in every point it implements, unless the point disables it or ``*``. First
    come those that the point enables as well, in the point's order; then the others of ``multiPoint``; then what only
    the point enables.
    """

    def implementers(chosen: types.PluginSet) -> list[str]:
        return list(dict.fromkeys(one.name for one in chosen.enabled if known.implements(one.name, point)))

    enabled, off = implementers(plugins.at(point)), _disabled_names(plugins, point)
    everywhere = [name for name in implementers(plugins.multi_point) if not {name, "*"} & off]
    return [
        *(name for name in enabled if name in everywhere),
        *(name for name in everywhere if name not in enabled),
        *(name for name in enabled if name not in everywhere),
    ]


def _disabled_names(plugins: types.Plugins, point: str) -> set[str]:
    return {plugin.name for plugin in plugins.at(point).disabled}


def _counts(scheduler: str, expanded: Expanded, path: str) -> Iterator[Problem]:
    """Yield what there is too much or too little of."""
    profile = f'profile with scheduler name "{scheduler}"'
    sorters = len(expanded["queueSort"])
    if sorters != 1:
        message = f"only one queue sort plugin required for {profile}, but got {sorters}"
        yield Problem(message, path=f"{path}.queueSort")
    if not expanded["bind"]:
        yield Problem(f"at least one bind plugin is needed for {profile}", path=f"{path}.bind")
    if len(expanded["placementGenerate"]) > 1:
        message = f"at most one placement generate plugin is allowed for {profile}"
        yield Problem(message, path=f"{path}.placementGenerate")


def _weights(plugins: types.Plugins, known: KnownPlugins, point: str) -> tuple[dict[str, int], bool]:
    """Return the weight of each plugin that implements a weighted point, and whether totals could leave an int64.

    The point's own weights go before those of ``multiPoint``. Every one counts towards the total, disabled or not, and
    the total wraps as an int64 does, which is why most negative weights are refused.
    """
    weights: dict[str, int] = {}
    total, overflow = 0, False
    for plugin in (*plugins.at(point).enabled, *plugins.multi_point.enabled):
        if plugin.name in weights or not known.implements(plugin.name, point):
            continue
        weights[plugin.name] = plugin.weight or 1
        most = weights[plugin.name] * _MAX_SCORE
        overflow |= most > wrap_int64(MAX_INT64 - total)
        total = wrap_int64(total + most)
    return weights, overflow
