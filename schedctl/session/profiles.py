"""What a scheduler configuration comes to once all is merged, as a configuration that leaves nothing to defaults."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

from schedctl.config.expansion import WEIGHTED, expand_all
from schedctl.config.types import API_VERSION, KIND, POINTS, SchedulerConfiguration
from schedctl.config.validation import gated_fields
from schedctl.framework import points as extension_points
from schedctl.framework.registries import Registry
from schedctl.plugins.in_tree import IN_TREE
from schedctl.releases import NEWEST, Release, minor_of
from schedctl.scheduler import discovery
from schedctl.scheduler.discovery import PluginCatalog
from schedctl.session import configurations
from schedctl.session.configurations import ConfigurationChoice
from schedctl.session.kube_versions import release_of
from schedctl.session.notifiers import SILENT, Notifier

_ALSO_COMPARED = ("parallelism", "podInitialBackoffSeconds", "podMaxBackoffSeconds")
"""What a configuration says beside profiles and extenders that can change when and where pods run."""


def load(name: str, plugins: PluginCatalog, notifier: Notifier = SILENT, *, stdin: bool = False) -> ConfigurationChoice:
    """Return a configuration that ships, by its name, or one in a file.

    Args:
        name: the name or the file.
        plugins: the plugins there are.
        notifier: hears that an old configuration is converted.
        stdin: whether ``-`` is a name for standard input.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
        UsageError: there is no such thing.
    """
    if name in configurations.shipped_files():
        return ConfigurationChoice(configurations.read_shipped(name, plugins), plugins=plugins)
    if not (stdin and name == configurations.STDIN) and not Path(name).is_file():
        raise configurations.unknown_profile(name)
    choice = configurations.load_file(name, plugins, partial=False)
    configurations.warn_of_conversion(choice, notifier)
    return choice


def effective(
    text: str, plugins: Sequence[str], notifier: Notifier = SILENT, feature_gates: str = ""
) -> dict[str, Any]:
    """Return all that a configuration sets or leaves to defaults; of one that ships, the profile of that name.

    Args:
        text: the name or the file, and behind ``@`` the version of kube-scheduler that follows it.
        plugins: what ``--plugin`` names.
        notifier: as in `load`.
        feature_gates: those that are set, as on the command line.

    Raises:
        ConfigError: as in `load`.
        UsageError: as in `load`; or a plugin cannot be loaded, or a gate cannot be set.
    """
    name, version = _version_apart(text)
    release = release_of(version, notifier, feature_gates)
    choice = load(name, discovery.find(plugins, release), notifier, stdin=True)
    document = spell_out(choice.configuration, choice.registry, release)
    if name in configurations.shipped_files():
        of_name = [profile for profile in document["profiles"] if profile["schedulerName"] == name]
        document["profiles"] = of_name or document["profiles"]
    plain = _plain(choice.configuration)
    document |= {field: plain[field] for field in _ALSO_COMPARED}
    document["extenders"] = {extender["urlPrefix"]: extender for extender in plain["extenders"]}
    return document


def _version_apart(text: str) -> tuple[str, str]:
    """Return a name and the version behind its ``@``, "" where there is none."""
    name, _, version = text.rpartition("@")
    return (name, version) if name and minor_of(version) and not Path(text).is_file() else (text, "")


def spell_out(
    configuration: SchedulerConfiguration, registry: Registry | None = None, release: Release = NEWEST
) -> dict[str, Any]:
    """Return a KubeSchedulerConfiguration of the same meaning that leaves nothing to defaults and merging.

    `multiPoint` enables nothing, so that each extension point lists what runs there.

    Args:
        configuration: the configuration.
        registry: the plugins there are, Kubernetes' own if None.
        release: who is to read it; arguments that it would refuse are left out.
    """
    gated = gated_fields(release)
    expanded, _ = expand_all(configuration, registry or IN_TREE)
    profiles = []
    for profile in configuration.profiles:
        points = expanded[profile.scheduler_name]
        plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": "*"}]}}
        for point in sorted(POINTS, key=_place):
            weighted = point in WEIGHTED
            plugins[point] = {
                "enabled": [
                    {"name": plugin.name, "weight": plugin.weight} if weighted else {"name": plugin.name}
                    for plugin in points[point]
                ]
            }
        named = {plugin.name for chosen in points.values() for plugin in chosen}
        config = [
            {"name": one.name, "args": _without(_plain(one.args), gated.get(one.name, ()))}
            for one in profile.plugin_config
            if one.name in named and one.args is not None
        ]
        spelled: dict[str, Any] = {"schedulerName": profile.scheduler_name, "plugins": plugins, "pluginConfig": config}
        if profile.percentage_of_nodes_to_score is not None:
            spelled["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
        profiles.append(spelled)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "percentageOfNodesToScore": configuration.percentage_of_nodes_to_score,
        "profiles": profiles,
    }


def _without(args: dict[str, Any], fields: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in args.items() if name not in fields}


def _place(point: str) -> int:
    """Where in a cycle an extension point stands; those we do not run come last."""
    return [*extension_points.POINTS, point].index(point)


def _plain(args: Any) -> Any:
    """Return plugin arguments as a file writes them."""
    return msgspec.to_builtins(args, enc_hook=str)
