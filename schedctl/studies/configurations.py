"""A configuration with other weights of its score plugins, or other arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from schedctl.config.types import Plugin, PluginConfig, PluginSet, SchedulerConfiguration
from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError
from schedctl.framework.registries import Registry

_replace = msgspec.structs.replace


def check_weights(names: Iterable[str], registry: Registry) -> None:
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


def with_arguments(
    configuration: SchedulerConfiguration, arguments: Mapping[str, Mapping[str, Any]], registry: Registry
) -> SchedulerConfiguration:
    """Return a configuration in which the plugins that a profile enables have some arguments, in place of its own.

    Raises:
        UsageError: there is no such plugin, it takes none, or one is unknown or of the wrong type.
    """
    typed = {name: _arguments(name, values, registry) for name, values in arguments.items()}
    profiles = []
    for profile in configuration.profiles:
        enabled = profile.plugins.enabled_names()
        kept = tuple(each for each in profile.plugin_config if each.name not in typed)
        ours = tuple(PluginConfig(name=name, args=args) for name, args in typed.items() if name in enabled)
        profiles.append(_replace(profile, plugin_config=(*kept, *ours)))
    return _replace(configuration, profiles=tuple(profiles))


def _arguments(name: str, values: Mapping[str, Any], registry: Registry) -> object:
    if name not in registry:
        raise UsageError(f'no plugin "{name}"', suggest_names(name, list(registry), "plugins"))
    kind = registry.args_types.get(name)
    if kind is None:
        raise UsageError(f"plugin {name} takes no arguments")
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    for unknown in values.keys() - known:
        raise UsageError(
            f'plugin {name} has no argument "{unknown}"', suggest_names(unknown, sorted(known), "arguments")
        )
    try:
        return msgspec.convert(values, kind)
    except (msgspec.ValidationError, ValueError) as wrong:
        raise UsageError(f"arguments of plugin {name}: {wrong}") from None
