"""Which KubeSchedulerConfiguration to follow: a file, a profile that ships with schedctl, or Kubernetes' defaults."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from schedctl import shipped
from schedctl.cli import faults
from schedctl.config import loading
from schedctl.config.expansion import expand_all
from schedctl.config.types import SchedulerConfiguration
from schedctl.errors import ConfigError, Problem, UsageError
from schedctl.plugins.in_tree import IN_TREE

BUILT_IN = "built-in defaults"
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A configuration and how it was chosen.

    Attributes:
        configuration: the configuration.
        origin: where it is from, in words.
        profile: the scheduler name of the profile to use for every pod, "" to go by what each pod asks for.
    """

    configuration: SchedulerConfiguration
    origin: str = BUILT_IN
    profile: str = ""


def choose(path: str, profile: str) -> Chosen:
    """Return what ``--scheduler-config`` and ``--profile`` stand for.

    Args:
        path: a file, ``-`` or "".
        profile: a scheduler name in that file; without a file, a profile that ships: its
            file, or a scheduler name in one.

    Raises:
        ConfigError: the file cannot be read, or kube-scheduler would refuse it.
        UsageError: there is no such profile.
    """
    if path:
        configuration = read(path)
        names = [one.scheduler_name for one in configuration.profiles]
        if profile and profile not in names:
            raise UsageError(f'there is no profile "{profile}" in {path}', _hint(profile, names))
        return Chosen(configuration, path, profile)
    if profile:
        known: list[str] = []
        for name, file in shipped_files().items():
            configuration = read(str(file))
            names = [one.scheduler_name for one in configuration.profiles]
            if profile == name or profile in names:
                return Chosen(configuration, f"{name}.yaml of schedctl", profile if profile in names else names[0])
            known += [name, *names]
        raise UsageError(f'there is no profile "{profile}"', _hint(profile, list(dict.fromkeys(known))))
    return Chosen(loading.default())


def read(path: str) -> SchedulerConfiguration:
    """Return the configuration in a file.

    Raises:
        ConfigError: it cannot be read, or kube-scheduler would refuse it.
    """
    try:
        text = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise ConfigError([Problem(f"cannot be read: {(error.strerror or str(error)).lower()}", source=path)]) from None
    source = "<stdin>" if path == STDIN else path
    return loading.load(text, source, check=lambda configuration: expand_all(configuration, IN_TREE)[1])


def warn(configuration: SchedulerConfiguration) -> None:
    """Say on standard error what of a configuration is not followed: extenders are webhooks, and none is called."""
    urls = [extender.url_prefix for extender in configuration.extenders]
    if urls:
        verb = "extender is" if len(urls) == 1 else "extenders are"
        faults.say(f"warning: {len(urls)} {verb} not consulted: {', '.join(urls)}")


def shipped_files() -> dict[str, Path]:
    """Return the profiles that ship, by name."""
    return {file.stem: file for file in sorted(shipped.profiles().glob("*.yaml"))}


def unknown(profile: str) -> UsageError:
    """Return what to say of a name that is neither a profile that ships nor a file."""
    return UsageError(f'there is no profile "{profile}"', _hint(profile, list(shipped_files())))


def _hint(name: str, names: Sequence[str]) -> str:
    close = get_close_matches(name, names, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
