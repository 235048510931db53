"""What ``--compare`` stands for: several configurations, of which the others are compared with the first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from schedctl.api.defaults import DEFAULT_SCHEDULER
from schedctl.errors import UsageError
from schedctl.releases import NEWEST, Release
from schedctl.scheduler import discovery
from schedctl.session import configurations
from schedctl.session.notifiers import SILENT, Notifier

if TYPE_CHECKING:
    from schedctl.session.configurations import ConfigurationChoice
    from schedctl.session.extenders import ExtenderOptions
    from schedctl.session.states import State, StateSource


def choose(
    compare: Sequence[str],
    path: str,
    profile: str,
    source: StateSource,
    plugins: Sequence[str] | None,
    notifier: Notifier = SILENT,
    release: Release = NEWEST,
) -> list[ConfigurationChoice]:
    """Return the configurations of a command; one, where nothing is compared.

    The first is what the others are compared with: the one in force, unless ``--compare`` names two or more and nobody
    says which is. A profile that was named takes the place of the default scheduler in its configuration: then pods
    that are not asked about, and those that come back after an eviction, are placed by it as well.

    Args:
        compare: what ``--compare`` names, files and profiles that ship.
        path: of ``--scheduler-config``, see `schedctl.session.configurations.choose`.
        profile: likewise.
        source: likewise.
        plugins: likewise.
        notifier: likewise.
        release: likewise.

    Raises:
        ClusterError: the cluster cannot be asked.
        ConfigError: a configuration cannot be read, or kube-scheduler would refuse it.
        UsageError: there is no such profile, or a plugin cannot be loaded.
    """
    found = discovery.find(plugins or (), release) if compare else configurations.NO_OTHERS
    others = [_choice_of(text, found) for text in compare]
    # Two that are named are compared with each other; Kubernetes' defaults, which nobody has named, would be a third.
    if len(others) > 1 and not (path or profile or source.configured):
        return [as_default(each) for each in others]
    chosen = configurations.choose(path, profile, source, plugins, notifier, release)
    return [as_default(each) for each in (chosen, *others)] if others else [chosen]


def _choice_of(text: str, plugins: discovery.PluginCatalog) -> ConfigurationChoice:
    """Return what one ``--compare`` names: a profile that ships, or a file."""
    if Path(text).is_file():
        return configurations.load_file(text, plugins)
    try:
        return configurations.load_shipped(text, plugins)
    except UsageError as mistake:
        raise UsageError(f"{mistake}, and no such file", mistake.hint) from None


def as_default(choice: ConfigurationChoice) -> ConfigurationChoice:
    """Return a choice of a profile as a configuration in which the default scheduler is that profile."""
    if not choice.profile:
        return choice
    profiles = {one.scheduler_name: one for one in choice.configuration.profiles}
    origin = choice.origin
    if choice.profile != DEFAULT_SCHEDULER:
        profiles[DEFAULT_SCHEDULER] = msgspec.structs.replace(
            profiles[choice.profile], scheduler_name=DEFAULT_SCHEDULER
        )
        origin = f"{origin}, profile {choice.profile} as {DEFAULT_SCHEDULER}"
    configuration = msgspec.structs.replace(choice.configuration, profiles=tuple(profiles.values()))
    return replace(choice, configuration=configuration, origin=origin, profile="")


def complete(
    choices: Sequence[ConfigurationChoice], state: State, extenders: ExtenderOptions, notifier: Notifier = SILENT
) -> list[ConfigurationChoice]:
    """Return the choices, each as the state and the options about extenders complete it.

    Raises:
        ConfigError: kube-scheduler would refuse the configuration in the snapshot, or TLS settings cannot be used.
        InputError: the record of extenders' answers cannot be read.
        UsageError: there are snapshots with different configurations, or several sides would write one record.
    """
    if len(choices) > 1:
        reject_with_compare(("--extender-record", extenders.record))
    found = [configurations.complete(each, state, notifier) for each in choices]
    for each in found if len(found) > 1 else ():
        hint = "`--compare NAME` puts a profile of `schedctl profiles list` in the place of the default scheduler"
        warn_without_default(each, hint, notifier)
    return [extenders.connect(each, notifier, compared=len(found) > 1) for each in found]


def warn_without_default(choice: ConfigurationChoice, hint: str, notifier: Notifier) -> None:
    """Warn of a configuration of which no profile places the pods that name no scheduler."""
    names = [one.scheduler_name for one in choice.configuration.profiles]
    if DEFAULT_SCHEDULER not in names:
        text = f"no profile of {choice.origin} is named {DEFAULT_SCHEDULER}; pods need schedulerName"
        notifier.warn(f"{text} {' or '.join(names)}", hint)


def reject_with_compare(*options: tuple[str, object], compare: str = "--compare") -> None:
    """Hold up a comparison, by the option that asks for it, with an option that only one configuration can answer.

    Raises:
        UsageError: there is such an option.
    """
    for option, value in options:
        if value:
            raise UsageError(f"{compare} and {option} were both given", f"use {option} with one configuration")
