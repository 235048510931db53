"""Which KubeSchedulerConfiguration to follow: a file, a profile that ships with schedctl, or Kubernetes' defaults."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from schedctl import shipped
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
        origin: the file it is from, or `BUILT_IN`.
        profile: the scheduler name of the profile to use for every pod, "" to go by what each pod asks for.
    """

    configuration: SchedulerConfiguration
    origin: str = BUILT_IN
    profile: str = ""


def choose(path: str, profile: str) -> Chosen:
    """Return what ``--scheduler-config`` and ``--profile`` stand for.

    Args:
        path: a file, ``-`` or "".
        profile: a scheduler name in that file; without a file, the name of a profile that ships.

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
        file = shipped_file(profile)
        configuration = read(str(file))
        return Chosen(configuration, f"profile {profile}", configuration.profiles[0].scheduler_name)
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


def shipped_files() -> dict[str, Path]:
    """Return the profiles that ship, by name."""
    return {file.stem: file for file in sorted(shipped.profiles().glob("*.yaml"))}


def shipped_file(name: str) -> Path:
    """Return the file of a profile that ships.

    Raises:
        UsageError: there is none of that name.
    """
    files = shipped_files()
    if name not in files:
        raise UsageError(f'there is no profile "{name}"', _hint(name, list(files)))
    return files[name]


def _hint(name: str, names: Sequence[str]) -> str:
    close = get_close_matches(name, names, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
