"""What Kubernetes fills in: the default plugins, how a profile's own are merged with them, and default arguments.

The rules are those of ``pkg/scheduler/apis/config/v1`` (defaults and default plugins) with the default feature gates of
v1.37.1. Scalar defaults are the fields' own, in `types` and `args`.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any, Final

import msgspec

from schedctl.config import types
from schedctl.config.args import ARGS, NodeResourcesFitArgs
from schedctl.releases import GENERIC_WORKLOAD, NEWEST, Release, ReleaseChange

_replace = msgspec.structs.replace

DEFAULT_PLUGINS: Final = (
    types.Plugin("SchedulingGates"),
    types.Plugin("PrioritySort"),
    types.Plugin("NodeName"),
    types.Plugin("NodeUnschedulable"),
    types.Plugin("TaintToleration", 3),
    types.Plugin("NodeAffinity", 2),
    types.Plugin("NodePorts"),
    types.Plugin("NodeResourcesFit", 1),
    types.Plugin("VolumeRestrictions"),
    types.Plugin("NodeVolumeLimits"),
    types.Plugin("VolumeBinding"),
    types.Plugin("VolumeZone"),
    types.Plugin("PodTopologySpread", 2),
    types.Plugin("InterPodAffinity", 2),
    types.Plugin("DynamicResources", 2),
    types.Plugin("DefaultPreemption"),
    types.Plugin("NodeResourcesBalancedAllocation", 1),
    types.Plugin("ImageLocality", 1),
    types.Plugin("DefaultBinder"),
    types.Plugin("NodeDeclaredFeatures"),
)
"""What ``multiPoint`` enables unless told otherwise, in order, with every gate on that adds a plugin."""

_BEHIND_RESIZES: Final = types.Plugin("NodeResourcesFit", 1)
"""DeferredPodScheduling comes before it, so that a node that forbids preemption is not said to lack room."""

_BY_GATE: Final = {"DynamicResources": "DynamicResourceAllocation", "NodeDeclaredFeatures": "NodeDeclaredFeatures"}
"""The gate without which a default plugin is none, by its name."""

_OF_GROUPS: Final = {
    GENERIC_WORKLOAD: (types.Plugin("GangScheduling"),),
    "TopologyAwareWorkloadScheduling": (
        types.Plugin("TopologyPlacementGenerator"),
        types.Plugin("PodGroupPodsCount", 1),
    ),
}
"""What a gate for pod groups adds behind them, by its name."""

WITHOUT_DEFAULT_ARGS: Final = "podGroupPostFilter"
"""The point at which kube-scheduler forgets to give a plugin its default arguments."""


def default_plugins(release: Release) -> tuple[types.Plugin, ...]:
    """Return what ``multiPoint`` enables unless told otherwise, in order."""
    plugins = [each for each in DEFAULT_PLUGINS if each.name not in _BY_GATE or release.enabled(_BY_GATE[each.name])]
    if release.enabled("InPlacePodVerticalScalingSchedulerPreemption"):
        plugins.insert(plugins.index(_BEHIND_RESIZES), types.Plugin("DeferredPodScheduling"))
    if not release.includes(ReleaseChange.NODE_NAME_FIRST):
        plugins[2:4] = plugins[3], plugins[2]
    if not release.includes(ReleaseChange.SCORED_DEVICES):
        plugins = [types.Plugin(each.name) if each.name == "DynamicResources" else each for each in plugins]
    of_groups = (added for gate, added in _OF_GROUPS.items() if release.enabled(gate))
    return (*plugins, *chain.from_iterable(of_groups))


def complete(config: types.SchedulerConfiguration, release: Release = NEWEST) -> types.SchedulerConfiguration:
    """Return a configuration with everything filled in that the file left to Kubernetes."""
    contention = config.enable_contention_profiling
    completed = _replace(
        config,
        profiles=tuple(_complete_profile(profile, release) for profile in config.profiles or (types.ProfileConfig(),)),
        enable_contention_profiling=config.enable_profiling if contention is None else contention,
    )
    return _hand_over_resources(completed)


def merge(default: types.PluginSet, custom: types.PluginSet) -> types.PluginSet:
    """Return the default set with a profile's changes.

    A default that is enabled again keeps its place and takes the new weight; what is disabled goes, and ``*`` disables
    every default; what is new comes behind, in its order. Disabled names are kept for the expansion of ``multiPoint``.
    """
    disabled = tuple(types.Plugin(plugin.name) for plugin in (*custom.disabled, *default.disabled))
    off = {plugin.name for plugin in disabled}
    # by index: of a name that stands there twice one takes the place of the default, and the other comes behind
    again = {plugin.name: (index, plugin) for index, plugin in enumerate(custom.enabled)}
    enabled: list[types.Plugin] = []
    placed: set[int] = set()
    for plugin in default.enabled:
        if plugin.name in off or "*" in off:
            continue
        index, chosen = again.get(plugin.name, (-1, plugin))
        placed.add(index)
        enabled.append(chosen)
    enabled += (plugin for index, plugin in enumerate(custom.enabled) if index not in placed)
    return types.PluginSet(enabled=tuple(enabled), disabled=disabled)


def _complete_profile(profile: types.ProfileConfig, release: Release) -> types.ProfileConfig:
    written = profile.plugins
    sets: dict[str, types.PluginSet] = {}
    for field, point in _points():
        enabled = default_plugins(release) if point == types.MULTI_POINT else ()
        default = types.PluginSet(enabled=enabled)
        sets[field] = merge(default, written.at(point))
    plugins = types.Plugins(**sets)
    configured = {one.name for one in profile.plugin_config}
    names = {
        plugin.name
        for point in (types.MULTI_POINT, *types.POINTS)
        if point != WITHOUT_DEFAULT_ARGS
        for plugin in plugins.at(point).enabled
    }
    added = (types.PluginConfig(name=name, args=ARGS[name]()) for name in sorted(names - configured) if name in ARGS)
    return _replace(profile, plugins=plugins, plugin_config=(*profile.plugin_config, *added))


@cache
def _points() -> tuple[tuple[str, str], ...]:
    """Return the fields of a set of plugins with the points they are called after in a file."""
    return tuple((info.name, info.encode_name) for info in msgspec.structs.fields(types.Plugins))


def _hand_over_resources(config: types.SchedulerConfiguration) -> types.SchedulerConfiguration:
    """Return the configuration with NodeResourcesFit ignoring exactly the resources that extenders say to ignore."""
    ignored = tuple(
        resource.name
        for extender in config.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    if not ignored:
        return config

    def hand_over(args: Any) -> Any:
        return _replace(args, ignored_resources=ignored) if isinstance(args, NodeResourcesFitArgs) else args

    return _replace(
        config,
        profiles=tuple(
            _replace(
                profile, plugin_config=tuple(_replace(one, args=hand_over(one.args)) for one in profile.plugin_config)
            )
            for profile in config.profiles
        ),
    )
