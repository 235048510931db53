"""Which KubeSchedulerConfiguration to follow, and where it is from.

In this order: the one that a live cluster keeps in a ConfigMap, if it is asked; a file; a profile that ships with
schedctl; the one in a snapshot; Kubernetes' defaults. Which it was is said with every answer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec.structs import replace

from schedctl import KUBERNETES_VERSION, shipped
from schedctl.config import embedded, expansion, loading
from schedctl.config.args import NodeAffinityArgs
from schedctl.config.types import SchedulerConfiguration
from schedctl.documents.spelling import nearest
from schedctl.errors import ConfigError, Problem, UsageError
from schedctl.framework.registries import Registry
from schedctl.releases import NEWEST, Release, is_version
from schedctl.reports.metadata import BUILT_IN
from schedctl.scheduler import configurations as scheduler_configurations
from schedctl.scheduler import discovery
from schedctl.session.notifiers import SILENT, Notifier

if TYPE_CHECKING:
    from schedctl.api.kinds import Kind
    from schedctl.api.pods import Pod
    from schedctl.config.legacy.converting import Conversion
    from schedctl.framework.extenders import Extender
    from schedctl.live.scheduler_configurations import ClusterConfiguration
    from schedctl.session.states import State, StateSource

NO_OTHERS = discovery.PluginCatalog()
"""Kubernetes' own plugins and no others."""
DEFAULT = "default"
"""The profile that ships which is what kube-scheduler does when nobody configures it."""
IN_SNAPSHOT = "the configuration in the snapshot"
STDIN = "-"


class ConfigurationChoice(msgspec.Struct, frozen=True):
    """A configuration and how it was chosen.

    Attributes:
        configuration: the configuration.
        origin: where it is from, in words.
        profile: the scheduler name of the profile to use for every pod, "" to go by what each pod asks for.
        conversion: how it came to be of today's version, None where it is written in it.
        plugins: the plugins there are.
        built_in: whether nobody has said which, so that a snapshot may.
        extenders: the extenders of the configuration, as they may be asked; None where none may be.
    """

    configuration: SchedulerConfiguration
    origin: str = BUILT_IN
    profile: str = ""
    conversion: Conversion | None = None
    plugins: discovery.PluginCatalog = NO_OTHERS
    built_in: bool = False
    extenders: tuple[Extender, ...] | None = None

    @property
    def registry(self) -> Registry:
        """The plugins there are, by name."""
        return self.plugins.registry


def choose(
    path: str,
    profile: str,
    source: StateSource,
    plugins: Sequence[str] | None = None,
    notifier: Notifier = SILENT,
    release: Release = NEWEST,
) -> ConfigurationChoice:
    """Return what ``--scheduler-config``, ``--scheduler-config-from-cluster`` and ``--profile`` stand for.

    Args:
        path: a file, ``-`` or "".
        profile: a scheduler name in the configuration of the file or the cluster; where there is none of these, a
            profile that ships: its file, or a scheduler name in one.
        source: the state, which may be that of a cluster that is asked for its configuration.
        plugins: what ``--plugin`` names.
        notifier: hears that a cluster keeps no configuration.
        release: the kube-scheduler that follows it.

    Raises:
        ClusterError: the cluster cannot be asked.
        ConfigError: the configuration cannot be read, or kube-scheduler would refuse it.
        UsageError: there is no such profile, or a plugin cannot be loaded.
    """
    named = discovery.find(plugins or (), release)
    # A cluster that keeps none, as is said then, leaves the choice to the file or the profile.
    if source.configured and (found := _in_cluster(source, notifier)) is not None:
        return _with_profile(_parse(found.text, found.origin, found.origin, named), profile)
    if path:
        return _with_profile(load_file(path, named), profile)
    if profile:
        return load_shipped(profile, named)
    return _choose_built_in(named)


def load_shipped(profile: str, plugins: discovery.PluginCatalog = NO_OTHERS) -> ConfigurationChoice:
    """Return a profile that ships, to be used for every pod.

    Args:
        profile: the name of its file, or a scheduler name in one.
        plugins: the plugins there are.

    Raises:
        UsageError: there is no such profile.
    """
    known: list[str] = []
    for name in shipped_files():
        configuration = read_shipped(name, plugins)
        names = [one.scheduler_name for one in configuration.profiles]
        if profile == name or profile in names:
            chosen = profile if profile in names else names[0]  # the name of a file stands for its first profile
            return ConfigurationChoice(configuration, f"{name}.yaml of schedctl", chosen, plugins=plugins)
        known += [name, *names]
    raise UsageError(f'unknown profile "{profile}"', _hint(profile, list(dict.fromkeys(known))))


def read_shipped(name: str, plugins: discovery.PluginCatalog = NO_OTHERS) -> SchedulerConfiguration:
    """Return the configuration in a file that ships; of the default one, that of the kube-scheduler that follows it."""
    if name == DEFAULT:
        return loading.default(plugins.release)
    return read(str(shipped_files()[name]), plugins)


def load_file(path: str, plugins: discovery.PluginCatalog = NO_OTHERS, *, partial: bool = True) -> ConfigurationChoice:
    """Return the configuration in a file, and the plugins it may name.

    Args:
        path: the file, or ``-``.
        plugins: the plugins there are; those of installed packages are looked for as they are needed.
        partial: whether profiles may enable plugins that are not there, and that are somebody else's.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
        UsageError: an installed plugin that it names is broken.
    """
    found = _open(path)
    return _parse(found.text, found.source, found.origin, plugins, partial=partial)


def _choose_built_in(named: discovery.PluginCatalog) -> ConfigurationChoice:
    """Return Kubernetes' defaults, in which the plugins that somebody named take part."""
    configuration = scheduler_configurations.with_plugins(named)
    added = " and ".join(f"{name} of {named.origins[name]}" for name in named.named)
    return ConfigurationChoice(
        configuration, f"{BUILT_IN} with {added}" if added else BUILT_IN, plugins=named, built_in=True
    )


def complete(choice: ConfigurationChoice, state: State, notifier: Notifier = SILENT) -> ConfigurationChoice:
    """Return the choice, or what a snapshot says where nothing was, and say what of it is not followed.

    Raises:
        ConfigError: kube-scheduler would refuse the configuration in the snapshot.
        UsageError: there are snapshots with different configurations.
    """
    if choice.built_in:
        headers = state.manifests.snapshots
        texts = {header.scheduler_configuration for header in headers if header.scheduler_configuration}
        if len(texts) > 1:
            raise UsageError("the snapshots have different scheduler configurations", "`--scheduler-config FILE`")
        for text in texts:  # at most one by now
            choice = _parse(text, IN_SNAPSHOT, IN_SNAPSHOT, choice.plugins)
        if not texts and any(header.configuration_left_out for header in headers):
            notifier.warn(
                "the snapshot was taken with a scheduler configuration that is left out of it; the built-in"
                " defaults are followed",
                "`--scheduler-config FILE`",
            )
    warn_of_conversion(choice, notifier)
    _warn_of_absent(choice, notifier)
    _warn_of_idle(choice, notifier)
    return choice


def hide_names(choice: ConfigurationChoice) -> ConfigurationChoice:
    """Return a choice for a state that was redacted: it compares no names, and says of no file where it is.

    Raises:
        UsageError: the configuration compares names.
    """
    configuration = choice.configuration
    args = (each.args for profile in configuration.profiles for each in profile.plugin_config)
    if configuration.extenders or any(isinstance(each, NodeAffinityArgs) and each.added_affinity for each in args):
        raise UsageError(
            f"--redact strict cannot hide the names that extenders or an addedAffinity of {choice.origin} compare",
            "a configuration without them, or `--profile`",
        )
    ships = choice.built_in or any(choice.origin.startswith(f"{name}.yaml of ") for name in shipped_files())
    return choice if ships else replace(choice, origin="a configuration of its own")


def kinds(choices: Iterable[ConfigurationChoice]) -> tuple[Kind, ...]:
    """Return the kinds that the plugins of some configurations read and that are not Kubernetes' own."""
    return tuple(dict.fromkeys(kind for each in choices for kind in each.registry.kinds))


def text(path: str, source: StateSource, notifier: Notifier = SILENT) -> str:
    """Return what ``--scheduler-config`` and ``--scheduler-config-from-cluster`` stand for as text, "" for nothing.

    Raises:
        ClusterError: the cluster cannot be asked.
        ConfigError: the configuration cannot be read, or kube-scheduler would refuse it.
    """
    if source.configured and (found := _in_cluster(source, notifier)) is not None:
        _parse(found.text, found.origin)
        return found.text
    if not path:
        return ""
    opened = _open(path)
    _parse(opened.text, opened.source)
    return opened.text.decode().lstrip("\n")


def _in_cluster(source: StateSource, notifier: Notifier) -> ClusterConfiguration | None:
    from schedctl.live import scheduler_configurations as kept

    found = kept.find(source.connection())
    if found is None:
        notifier.say(
            "warning: no KubeSchedulerConfiguration in a ConfigMap of the cluster; looked for"
            f" {kept.config_map_names()}",
            "kubeadm and k3s keep it in a file of the control plane: read it with `--scheduler-config FILE`",
        )
    return found


def _with_profile(chosen: ConfigurationChoice, profile: str) -> ConfigurationChoice:
    """Return a configuration with the profile to use for every pod, "" to go by what each pod asks for."""
    names = [one.scheduler_name for one in chosen.configuration.profiles]
    if profile and profile not in names:
        raise UsageError(f'no profile "{profile}" in {chosen.origin}', _hint(profile, names))
    return replace(chosen, profile=profile)


def read(path: str, plugins: discovery.PluginCatalog = NO_OTHERS) -> SchedulerConfiguration:
    """Return the configuration in a file, whatever version it is written in.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
    """
    found = _open(path)
    return _parse(found.text, found.source, found.source, plugins).configuration


def parse(text: bytes, source: str, plugins: discovery.PluginCatalog = NO_OTHERS) -> SchedulerConfiguration:
    """Return the configuration in a text, whatever version it is written in.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
    """
    return _parse(text, source, plugins=plugins, partial=False).configuration


def contents(path: str) -> tuple[bytes, str]:
    """Return the configuration in a file, and what to call it in messages.

    Raises:
        ConfigError: it cannot be read, or holds several.
    """
    found = _open(path)
    return found.text, found.source


@lru_cache(maxsize=1)
def _content(stream: BinaryIO) -> bytes:
    """Return what is in a stream; kept, since the configuration of a state of an older version is read once more."""
    return stream.read()


class _Opened(msgspec.Struct, frozen=True):
    """The text of a configuration, what to call it in messages, and where it is from in words."""

    text: bytes
    source: str
    origin: str


def _open(path: str) -> _Opened:
    """Return the configuration in a file, which may be inside another document, such as a ConfigMap."""
    data, source = read_bytes(path), name_of(path)
    found = embedded.find(data, source) if embedded.may_hold(data) else None
    if found is None:
        return _Opened(data, source, path)
    origin = f"{source}: {found.origin}"
    return _Opened((found.in_place or found.text).encode(), source if found.in_place else origin, origin)


def name_of(path: str) -> str:
    """Return what to call a file in messages."""
    return "<stdin>" if path == STDIN else path


def read_bytes(path: str) -> bytes:
    """Return what is in a file, ``-`` for standard input.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return _content(sys.stdin.buffer) if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise ConfigError([Problem(f"cannot be read: {(error.strerror or str(error)).lower()}", source=path)]) from None


def _parse(
    text: bytes | str,
    source: str,
    origin: str = "",
    plugins: discovery.PluginCatalog = NO_OTHERS,
    *,
    partial: bool = True,
) -> ConfigurationChoice:
    """Return a configuration of any version, one of another time as it is written today.

    Plugins that it names and nobody knows are looked for among those of installed packages.
    """

    def load(registry: Registry, check: loading.Check) -> ConfigurationChoice:
        if not loading.is_current(text, source):
            from schedctl.config.legacy import converting  # large, and most configurations are of today

            data = text.encode() if isinstance(text, str) else text
            files = ((source, data),)
            conversion = converting.convert(text, registry, source, check, registry.args_types, files)
            if conversion is not None and conversion.missing:
                message = f"its pods go where the Policy {conversion.missing} says, which is not in here"
                hint = "`schedctl profiles convert FILE POLICY` folds it in"
                raise ConfigError([Problem(message, source, hint=hint)])
            if conversion is not None:
                return ConfigurationChoice(conversion.configuration, origin, conversion=conversion)
        return ConfigurationChoice(loading.load(text, source, check, registry.args_types, plugins.release), origin)

    chosen, found = scheduler_configurations.read(plugins, load, partial=partial)
    return replace(chosen, plugins=found)


def warn_of_conversion(choice: ConfigurationChoice, notifier: Notifier) -> None:
    """Say that a configuration of another time is converted."""
    if choice.conversion is not None:
        notifier.warn(
            f"{choice.origin} is {choice.conversion.version}, which kube-scheduler {KUBERNETES_VERSION}"
            f" refuses; it is followed as converted, with {choice.conversion.summary()}",
            "`schedctl profiles convert` writes it as a current configuration and reports each change",
        )


def absent_plugins(choice: ConfigurationChoice) -> list[str]:
    """Return the plugins that the profiles of a choice enable and that are not there."""
    profiles = choice.configuration.profiles
    return list(
        dict.fromkeys(name for each in profiles for name in expansion.absent_plugins(each.plugins, choice.registry))
    )


def _warn_of_absent(choice: ConfigurationChoice, notifier: Notifier) -> None:
    """Say which plugins of a configuration are not asked."""
    if names := absent_plugins(choice):
        they, those = ("they", "those") if len(names) > 1 else ("it", "one")
        notifier.warn(
            f"{choice.origin} enables {', '.join(names)}, which schedctl does not have; where {they} could have had a"
            " say, answers are inconclusive",
            f"`--plugin FILE` loads {those} that you have in Python",
        )


def _warn_of_idle(choice: ConfigurationChoice, notifier: Notifier) -> None:
    """Say which plugins somebody named that take part in nothing."""
    enabled = {name for profile in choice.configuration.profiles for name in profile.plugins.enabled_names()}
    idle = [name for name in choice.plugins.named if name not in enabled]
    if idle:
        notifier.warn(
            f"no profile of {choice.origin} enables {', '.join(idle)}, which --plugin names",
            f"name {idle[0]} under plugins.multiPoint.enabled of a profile",
        )


def shipped_files() -> dict[str, Path]:
    """Return the profiles that ship, by name."""
    return {file.stem: file for file in sorted(shipped.profiles().glob("*.yaml"))}


def suggest_profiles(names: Iterable[str], notifier: Notifier) -> bool:
    """Say which profiles that ship serve the scheduler names that the configuration in use does not; if any does."""
    unserved, found = set(names), False
    for name in shipped_files() if unserved else ():
        for profile in read_shipped(name).profiles:
            if profile.scheduler_name in unserved:
                unserved.discard(profile.scheduler_name)
                found = True
                notifier.say(
                    "", f"`--profile {profile.scheduler_name}` follows the {name}.yaml that ships with schedctl"
                )
    return found


def suggest_profile_for(pod: Pod, choice: ConfigurationChoice, notifier: Notifier) -> None:
    """Say which profile that ships serves a pod, if none in use does, or how its own configuration is given."""
    name = pod.spec.scheduler_name
    if any(profile.scheduler_name == name for profile in choice.configuration.profiles):
        return
    if not suggest_profiles([name], notifier):
        notifier.say("", f"`--scheduler-config FILE` reads the configuration of the scheduler {name}")


def unknown_profile(profile: str) -> UsageError:
    """Return what to say of a name that is neither a profile that ships nor a file."""
    name, at, version = profile.rpartition("@")
    if at and name in shipped_files() and is_version(version):
        command = f"`schedctl profiles show {name} --kube-version {version}`"
        return UsageError(f'"{profile}": a version behind @ is for `profiles diff`', command)
    if at and name in shipped_files():
        return UsageError(f'"{version}" in "{profile}" is no version of Kubernetes', f"e.g. `{name}@1.36`")
    file = ", and no such file" if "/" in profile or "." in profile else ""
    return UsageError(f'unknown profile "{profile}"{file}', _hint(profile, list(shipped_files())))


def _hint(name: str, names: Sequence[str]) -> str:
    close = nearest(name, names)
    return f"did you mean {close}?" if close else f"there are {', '.join(names)}"
