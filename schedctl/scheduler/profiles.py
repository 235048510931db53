"""From configured profiles to plugins in order at every extension point.

The rules are kube-scheduler's own: ``multiPoint`` is spread over the points a plugin implements, and a profile that
names an unknown plugin, gives a score plugin no weight, or has no way to sort or bind is refused, with every such
problem at once. The rules live in ``config.expansion``; the registry they need is known only here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedctl.config.expansion import Expanded
from schedctl.config.types import ProfileConfig
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
}
"""The field of `Profile` that holds the plugins of each extension point."""


def build(
    config: ProfileConfig, expanded: Expanded, registry: Registry, make: Callable[[type[Plugin], Any], Plugin]
) -> Profile:
    """Return a profile with its plugins made.

    Args:
        config: the profile, defaulted and merged.
        expanded: its plugins by extension point, without problems.
        registry: the plugins there are.
        make: makes a plugin of a class with its arguments.
    """
    names = dict.fromkeys(each.name for point in FIELDS for each in expanded.get(point, ()))
    plugins = {name: make(registry[name], config.args(name)) for name in names}
    ordered = {field: tuple(plugins[each.name] for each in expanded.get(point, ())) for point, field in FIELDS.items()}
    return Profile(
        config.scheduler_name,
        plugins,
        weights={each.name: each.weight for each in expanded["score"]},
        percentage_of_nodes_to_score=config.percentage_of_nodes_to_score,
        **ordered,  # type: ignore[arg-type]
    )
