"""A configuration with other weights of its score plugins."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schedctl.config.types import Plugin, PluginSet, SchedulerConfiguration
from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError
from schedctl.framework.registries import Registry

_replace = msgspec.structs.replace


def check_weights(names: Mapping[str, object], registry: Registry) -> None:
    """Hold up a study about the weights of what scores nothing.

    Raises:
        UsageError: a name is no score plugin.
    """
    scoring = [name for name in registry if registry.implements(name, "score")]
    for name in names:
        if name not in scoring:
            raise UsageError(f'no score plugin "{name}"', suggest_names(name, scoring, "score plugins"))


def with_weights(configuration: SchedulerConfiguration, weights: Mapping[str, int]) -> SchedulerConfiguration:
    """Return a configuration in which some plugins score with these weights, in every profile.

    What a profile enables at Score itself goes before what it enables at all points.
    """
    profiles = []
    for profile in configuration.profiles:
        score = profile.plugins.score
        others = tuple(each for each in score.enabled if each.name not in weights)
        ours = tuple(Plugin(name=name, weight=weight) for name, weight in weights.items())
        plugins = _replace(profile.plugins, score=PluginSet(enabled=(*others, *ours), disabled=score.disabled))
        profiles.append(_replace(profile, plugins=plugins))
    return _replace(configuration, profiles=tuple(profiles))
