"""Which KubeSchedulerConfiguration to follow, and where it is from.

In this order: the one that a live cluster keeps in a ConfigMap, if it is asked; a file; a profile that ships with
schedctl; the one in a snapshot; Kubernetes' defaults. Which it was is said with every answer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedctl import KUBERNETES_VERSION, shipped
from schedctl.cli import faults
from schedctl.config import loading
from schedctl.config.types import SchedulerConfiguration
from schedctl.documents.spelling import nearest
from schedctl.errors import ConfigError, Problem, UsageError
from schedctl.framework.registries import Registry
from schedctl.scheduler import configurations as scheduler_configurations
from schedctl.scheduler import discovery

if TYPE_CHECKING:
    from schedctl.api.kinds import Kind
    from schedctl.api.pods import Pod
    from schedctl.config.legacy.converting import Conversion
    from schedctl.framework.extenders import Extender
    from schedctl.live.scheduler_configurations import ClusterConfiguration
    from schedctl.session.states import State, Where

BUILT_IN = "built-in defaults"
NO_OTHERS = discovery.Found()
"""Kubernetes' own plugins and no others."""
IN_SNAPSHOT = "the configuration in the snapshot"
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Chosen:
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
    plugins: discovery.Found = NO_OTHERS
    built_in: bool = False
    extenders: tuple[Extender, ...] | None = None

    @property
    def registry(self) -> Registry:
        """The plugins there are, by name."""
        return self.plugins.registry


def choose(path: str, profile: str, where: Where, plugins: Sequence[str] | None = None) -> Chosen:
    """Return what ``--scheduler-config``, ``--scheduler-config-from-cluster`` and ``--profile`` stand for.

    Args:
        path: a file, ``-`` or "".
        profile: a scheduler name in the configuration of the file or the cluster; where there is none of these, a
            profile that ships: its file, or a scheduler name in one.
        where: the state, which may be that of a cluster that is asked for its configuration.
        plugins: what ``--plugin`` names.

    Raises:
        ClusterError: the cluster cannot be asked.
        ConfigError: the configuration cannot be read, or kube-scheduler would refuse it.
        UsageError: there is no such profile, or a plugin cannot be loaded.
    """
    named = discovery.find(plugins or ())
    if where.configured and (found := _in_cluster(where)) is not None:
        return _with_profile(_chosen(found.text, found.origin, found.origin, named), profile)
    if path:
        return _with_profile(given(path, named), profile)
    if profile:
        return shipped_profile(profile, named)
    return _built_in(named)


def shipped_profile(profile: str, plugins: discovery.Found = NO_OTHERS) -> Chosen:
    """Return a profile that ships, to be used for every pod.

    Args:
        profile: the name of its file, or a scheduler name in one.
        plugins: the plugins there are.

    Raises:
        UsageError: there is no such profile.
    """
    known: list[str] = []
    for name, file in shipped_files().items():
        configuration = read(str(file))
        names = [one.scheduler_name for one in configuration.profiles]
        if profile == name or profile in names:
            chosen = profile if profile in names else names[0]
            return Chosen(configuration, f"{name}.yaml of schedctl", chosen, plugins=plugins)
        known += [name, *names]
    raise UsageError(f'there is no profile "{profile}"', _hint(profile, list(dict.fromkeys(known))))


def given(path: str, plugins: discovery.Found = NO_OTHERS) -> Chosen:
    """Return the configuration in a file, and the plugins it may name.

    Args:
        path: the file, or ``-``.
        plugins: the plugins there are; those of installed packages are looked for as they are needed.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
        UsageError: an installed plugin that it names is broken.
    """
    return _chosen(_bytes(path), _named(path), path, plugins)


def _built_in(named: discovery.Found) -> Chosen:
    """Return Kubernetes' defaults, in which the plugins that somebody named take part."""
    configuration = scheduler_configurations.with_plugins(named)
    told = " and ".join(f"{name} of {named.origins[name]}" for name in named.named)
    return Chosen(configuration, f"{BUILT_IN} with {told}" if told else BUILT_IN, plugins=named, built_in=True)


def completed(chosen: Chosen, state: State, *, quiet: bool) -> Chosen:
    """Return what was chosen, or what a snapshot says where nothing was, and say what of it is not followed.

    Raises:
        ConfigError: kube-scheduler would refuse the configuration in the snapshot.
        UsageError: there are snapshots with different configurations.
    """
    if chosen.built_in:
        headers = state.manifests.snapshots
        texts = {header.scheduler_configuration for header in headers if header.scheduler_configuration}
        if len(texts) > 1:
            raise UsageError("the snapshots have different scheduler configurations", "`--scheduler-config FILE`")
        for text in texts:
            chosen = _chosen(text, IN_SNAPSHOT, IN_SNAPSHOT, chosen.plugins)
        if not (texts or quiet) and any(header.configuration_left_out for header in headers):
            faults.say(
                "warning: the snapshot was taken with a scheduler configuration that is left out of it; the built-in"
                " defaults are followed",
                "`--scheduler-config FILE`",
            )
    if not quiet:
        warn(chosen)
        _warn_of_idle(chosen)
    return chosen


def kinds(chosen: Iterable[Chosen]) -> tuple[Kind, ...]:
    """Return the kinds that the plugins of some configurations read and that are not Kubernetes' own."""
    return tuple(dict.fromkeys(kind for each in chosen for kind in each.registry.kinds))


def text(path: str, where: Where) -> str:
    """Return what ``--scheduler-config`` and ``--scheduler-config-from-cluster`` stand for as text, "" for nothing.

    Raises:
        ClusterError: the cluster cannot be asked.
        ConfigError: the configuration cannot be read, or kube-scheduler would refuse it.
    """
    if where.configured and (found := _in_cluster(where)) is not None:
        _chosen(found.text, found.origin)
        return found.text
    data = _bytes(path) if path else b""
    if path:
        _chosen(data, _named(path))
    return data.decode()


def _in_cluster(where: Where) -> ClusterConfiguration | None:
    from schedctl.live import scheduler_configurations as kept

    found = kept.find(where.connection())
    if found is None:
        faults.say(
            "warning: the cluster keeps no KubeSchedulerConfiguration in a ConfigMap; looked for"
            f" {kept.config_map_names()}",
            "kubeadm and k3s keep it in files of the control plane: `--scheduler-config FILE`",
        )
    return found


def _with_profile(chosen: Chosen, profile: str) -> Chosen:
    """Return a configuration with the profile to use for every pod, "" to go by what each pod asks for."""
    names = [one.scheduler_name for one in chosen.configuration.profiles]
    if profile and profile not in names:
        raise UsageError(f'there is no profile "{profile}" in {chosen.origin}', _hint(profile, names))
    return replace(chosen, profile=profile)


def read(path: str) -> SchedulerConfiguration:
    """Return the configuration in a file, whatever version it is written in; that an old one is converted is said.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
    """
    chosen = _chosen(_bytes(path), _named(path), _named(path))
    warn(chosen)
    return chosen.configuration


def parse(text: bytes, source: str, plugins: discovery.Found = NO_OTHERS) -> SchedulerConfiguration:
    """Return the configuration in a text, whatever version it is written in.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
    """
    return _chosen(text, source, plugins=plugins).configuration


def contents(path: str) -> tuple[bytes, str]:
    """Return what is in a file, and what to call it in messages.

    Raises:
        ConfigError: it cannot be read.
    """
    return _bytes(path), _named(path)


def _bytes(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise ConfigError([Problem(f"cannot be read: {(error.strerror or str(error)).lower()}", source=path)]) from None


def _named(path: str) -> str:
    return "<stdin>" if path == STDIN else path


def _chosen(text: bytes | str, source: str, origin: str = "", plugins: discovery.Found = NO_OTHERS) -> Chosen:
    """Return a configuration of any version, one of another time as it is written today.

    Plugins that it names and nobody knows are looked for among those of installed packages.
    """

    def load(registry: Registry, check: loading.Check) -> Chosen:
        if not loading.is_current(text, source):
            from schedctl.config.legacy import converting  # large, and most configurations are of today

            conversion = converting.convert(text, registry, source, check, registry.args_types)
            if conversion is not None:
                return Chosen(conversion.configuration, origin, conversion=conversion)
        return Chosen(loading.load(text, source, check, registry.args_types), origin)

    chosen, found = scheduler_configurations.read(plugins, load)
    return replace(chosen, plugins=found)


def warn(chosen: Chosen) -> None:
    """Say on standard error that a configuration of another time is converted."""
    if chosen.conversion is not None:
        faults.say(
            f"warning: {chosen.origin} is {chosen.conversion.version}, which kube-scheduler {KUBERNETES_VERSION}"
            f" refuses; it is followed as converted, with {chosen.conversion.summary()}",
            "`schedctl profiles convert` writes the configuration of today, and says what became of what",
        )


def _warn_of_idle(chosen: Chosen) -> None:
    """Say on standard error which plugins somebody named that take part in nothing."""
    enabled = {name for profile in chosen.configuration.profiles for name in profile.plugins.enabled_names()}
    idle = [name for name in chosen.plugins.named if name not in enabled]
    if idle:
        faults.say(
            f"warning: no profile of {chosen.origin} enables {', '.join(idle)}, which --plugin names",
            f"name {idle[0]} under plugins.multiPoint.enabled of a profile",
        )


def shipped_files() -> dict[str, Path]:
    """Return the profiles that ship, by name."""
    return {file.stem: file for file in sorted(shipped.profiles().glob("*.yaml"))}


def offer(unserved: Iterable[str]) -> None:
    """Say which profiles that ship serve the scheduler names that the configuration in use does not."""
    wanted = set(unserved)
    for name, file in shipped_files().items() if wanted else ():
        for profile in read(str(file)).profiles:
            if profile.scheduler_name in wanted:
                wanted.discard(profile.scheduler_name)
                faults.say("", f"`--profile {profile.scheduler_name}` follows {name}.yaml of schedctl, which serves it")


def offer_for(pod: Pod, chosen: Chosen) -> None:
    """Do as `offer` for one pod, if no profile in use serves it."""
    if all(profile.scheduler_name != pod.spec.scheduler_name for profile in chosen.configuration.profiles):
        offer([pod.spec.scheduler_name])


def unknown(profile: str) -> UsageError:
    """Return what to say of a name that is neither a profile that ships nor a file."""
    return UsageError(f'there is no profile "{profile}"', _hint(profile, list(shipped_files())))


def _hint(name: str, names: Sequence[str]) -> str:
    close = nearest(name, names)
    return f"did you mean {close}?" if close else f"there are {', '.join(names)}"
