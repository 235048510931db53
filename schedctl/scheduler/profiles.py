"""From configured profiles to plugins in order at every extension point.

The rules are kube-scheduler's own: ``multiPoint`` is spread over the points a plugin implements, and a profile that
names an unknown plugin, gives a score plugin no weight, or has no way to sort or bind is refused, with every such
problem at once. The rules live in ``config.expansion``; the registry they need is known only here.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from schedctl.config.expansion import Expanded, absent_plugins
from schedctl.config.types import ProfileConfig
from schedctl.engine.faults import CycleError
from schedctl.engine.handles import ProfileHandle, handle_for
from schedctl.engine.queue.hints import registrations
from schedctl.errors import ConfigError, Problem
from schedctl.framework import faults
from schedctl.framework.group_points import PlacementFeasiblePlugin
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.registries import Registry

FIELDS = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "queue_sort",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
    "placementGenerate": "placement_generate",
    "placementScore": "placement_score",
    "podGroupPostFilter": "pod_group_post_filter",
}
"""The field of `Profile` that holds the plugins of each extension point."""


def _args(plugin: type[Plugin], config: ProfileConfig) -> Any:
    """Return the arguments of a plugin: those configured, else its defaults where it has a type for them."""
    configured = config.args(plugin.name)
    return plugin.args_type() if configured is None and plugin.args_type is not None else configured


def _make(plugin: type[Plugin], config: ProfileConfig, handle: ProfileHandle) -> Plugin:
    """Return a plugin that is ready, and has said of which events it wants to hear.

    Raises:
        ConfigError: it fails.
    """
    try:
        made = plugin(_args(plugin, config), handle_for(plugin, handle))
        # for its faults only, which are then those of the configuration and not of a first pod
        registrations(made, handle.cluster.release)
    except CycleError as fault:
        raise ConfigError([Problem(str(fault), subject=f'profile "{config.scheduler_name}"')]) from fault
    except KeyboardInterrupt:
        raise
    except faults.ESCAPING as fault:
        message = f'initializing plugin "{plugin.name}": {faults.describe(fault, plugin)}'
        raise ConfigError([Problem(message, subject=f'profile "{config.scheduler_name}"')]) from fault
    return made


def build(config: ProfileConfig, expanded: Expanded, registry: Registry, handle: ProfileHandle) -> Profile:
    """Return a profile with its plugins made.

    Args:
        config: the profile, defaulted and merged.
        expanded: its plugins by extension point, without problems.
        registry: the plugins there are.
        handle: what its plugins see of the scheduler.

    Raises:
        ConfigError: a plugin cannot be made.
    """
    chosen = {
        point: [each for each in expanded.get(point, ()) if registry.implements(each.name, point)] for point in FIELDS
    }
    names = dict.fromkeys(each.name for each in chain.from_iterable(chosen.values()))
    plugins = {name: _make(registry[name], config, handle) for name in names}
    ordered = {field: tuple(plugins[each.name] for each in chosen[point]) for point, field in FIELDS.items()}
    feasible = tuple(plugin for plugin in plugins.values() if isinstance(plugin, PlacementFeasiblePlugin))
    return Profile(
        config.scheduler_name,
        plugins,
        placement_feasible=feasible,
        weights={each.name: each.weight for each in expanded["score"]},
        placement_weights={each.name: each.weight for each in chosen["placementScore"]},
        percentage_of_nodes_to_score=config.percentage_of_nodes_to_score,
        absent=absent_plugins(config.plugins, registry),
        **ordered,  # type: ignore[arg-type]
    )
