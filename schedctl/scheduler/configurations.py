"""Configurations that meet plugins which are not Kubernetes' own.

A configuration may name plugins that come with an installed package, and is read once more with them if it does. Where
there is no configuration, plugins that somebody named take part in Kubernetes' defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from schedctl.config import loading
from schedctl.config.defaults import complete
from schedctl.config.expansion import expand_all
from schedctl.config.types import Plugin as Enabled
from schedctl.config.types import Plugins, PluginSet, ProfileConfig, SchedulerConfiguration
from schedctl.errors import ConfigError, Problem, UsageError
from schedctl.framework.points import Plugin
from schedctl.framework.registries import Registry
from schedctl.releases import NEWEST, Release
from schedctl.scheduler import discovery

T = TypeVar("T")


def makeable(configuration: SchedulerConfiguration, registry: Registry, *, partial: bool = False) -> list[Problem]:
    """Return why the profiles of a configuration cannot be made of some plugins.

    Args:
        configuration: the configuration.
        registry: the plugins.
        partial: whether the profiles are made without plugins that are somebody else's.
    """
    return expand_all(configuration, registry, partial=partial)[1]


def with_plugins(named: discovery.PluginCatalog) -> SchedulerConfiguration:
    """Return Kubernetes' defaults, in which the plugins that somebody named take part.

    They stand behind Kubernetes' own, but for those that would never be asked there: the one that sorts the queue and
    the one that generates placements take the place of Kubernetes', and one that binds comes first.

    Raises:
        ConfigError: they cannot take part together.
    """
    if not named.named:
        return loading.default(named.release)
    enabled = tuple(Enabled(name=name) for name in named.named)
    sorting, generating, binding = (
        tuple(plugin for plugin in enabled if named.registry.implements(plugin.name, point))
        for point in ("queueSort", "placementGenerate", "bind")
    )
    plugins = Plugins(
        multi_point=PluginSet(enabled=enabled),
        queue_sort=PluginSet(enabled=sorting, disabled=(Enabled(name="*"),) if sorting else ()),
        placement_generate=PluginSet(enabled=generating, disabled=(Enabled(name="*"),) if generating else ()),
        bind=PluginSet(enabled=binding),
    )
    configuration = complete(SchedulerConfiguration(profiles=(ProfileConfig(plugins=plugins),)), named.release)
    problems = makeable(configuration, named.registry)
    if problems:
        raise ConfigError(problems)
    return configuration


def read(
    plugins: discovery.PluginCatalog, load: Callable[[Registry, loading.Check], T], *, partial: bool = False
) -> tuple[T, discovery.PluginCatalog]:
    """Return what is loaded, and the plugins there are, among them those of installed packages that it needs.

    Args:
        plugins: the plugins there are.
        load: loads a configuration with the plugins there are and a check, once or twice.
        partial: whether profiles are made without plugins that are somebody else's.

    Raises:
        ConfigError: it cannot be loaded.
        UsageError: an installed plugin that it names is broken.
    """
    unknown: set[str] = set()

    def check(configuration: SchedulerConfiguration) -> list[Problem]:
        names = {name for profile in configuration.profiles for name in profile.plugins.enabled_names()}
        # Noted on the way: what the first reading lacks is looked for in installed packages, and only that.
        unknown.update(plugins.unknown_names(names))
        return makeable(configuration, plugins.registry, partial=partial)

    try:
        loaded = load(plugins.registry, check)
    except ConfigError:
        more = _with_installed(plugins, unknown)
        if len(more.registry) == len(plugins.registry):
            raise
    else:
        more = _with_installed(plugins, unknown)
        if len(more.registry) == len(plugins.registry):
            return loaded, plugins
    return read(more, load, partial=partial)


def _with_installed(plugins: discovery.PluginCatalog, unknown: set[str]) -> discovery.PluginCatalog:
    """Return the plugins there are and those of installed packages that have some names.

    Raises:
        UsageError: one of these is broken.
    """
    more = discovery.with_installed(plugins, unknown) if unknown else plugins
    broken = sorted(name for name in unknown if name in more.broken)
    if broken:
        raise UsageError(more.broken[broken[0]], "fix or remove the package") from None
    return more


def load_configuration(
    configuration: str | bytes | Path, plugins: Iterable[type[Plugin] | str], release: Release = NEWEST
) -> tuple[SchedulerConfiguration, Registry]:
    """Return a configuration and the plugins there are; see `schedctl.scheduler.Scheduler.configured`.

    Raises:
        ConfigError: the configuration cannot be read or followed.
        UsageError: a plugin cannot be loaded, is none, or has the name of another.
    """
    named = discovery.find(plugins, release)
    text, source = _text(configuration)
    if not text:
        return with_plugins(named), named.registry
    chosen, found = read(named, lambda registry, check: loading.load(text, source, check, registry.args_types, release))
    return chosen, found.registry


def _text(configuration: str | bytes | Path) -> tuple[str | bytes, str]:
    """Return the text of a configuration and where it is from; a text of one line that is no JSON is a path."""
    if isinstance(configuration, bytes) or (
        isinstance(configuration, str) and ("\n" in configuration or configuration.lstrip().startswith("{"))
    ):
        return configuration, ""
    if not configuration:
        return "", ""
    try:
        return Path(configuration).read_bytes(), str(configuration)
    except OSError as error:
        problem = Problem(f"cannot be read: {(error.strerror or str(error)).lower()}", source=str(configuration))
        raise ConfigError([problem]) from None
