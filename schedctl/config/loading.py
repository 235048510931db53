"""Bytes to a configuration, or to every problem it has.

What kube-scheduler reports in stages (it cannot be decoded, it is not valid, a profile cannot be made) is reported
together here, with the line and column of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from schedctl.config.args import ARGS, PluginArgs
from schedctl.config.defaults import complete
from schedctl.config.types import API_VERSION, KIND, PluginConfig, SchedulerConfiguration
from schedctl.config.validation import validate
from schedctl.documents import heads
from schedctl.documents.decoding import Decoder, describe
from schedctl.documents.trees import Node
from schedctl.errors import ConfigError, Problem
from schedctl.releases import NEWEST, Release

Check = Callable[[SchedulerConfiguration], Iterable[Problem]]
"""A further check of a completed configuration.

Its problems need a path only and get their place in the file; one about a field that is refused already is left out.
"""

_GROUP: Final = API_VERSION.removesuffix("v1")


def load(
    text: bytes | str,
    source: str = "",
    check: Check = lambda _: (),
    args: Mapping[str, type[PluginArgs]] = ARGS,
    release: Release = NEWEST,
) -> SchedulerConfiguration:
    """Read a KubeSchedulerConfiguration, YAML or JSON: decoded, completed with defaults, merged and validated.

    Args:
        text: the file's content, UTF-8.
        source: the file as the user named it, for problems.
        check: what else must hold, such as that the plugins exist (`schedctl.config.expansion`).
        args: the types of the arguments of plugins, by name; those of other plugins are kept as they are written.
        release: the kube-scheduler whose defaults complete it and whose rules it has to keep.

    Raises:
        ConfigError: everything that is wrong with it.
    """
    node, decoder = heads.open_document(text, source, KIND, API_VERSION, conversion_hint)
    problems = decoder.problems
    if not problems:
        config = complete(_decode(node, decoder, args), release)
        problems = sorted(decoder.problems, key=lambda problem: (problem.line, problem.column))
        # validation runs even after problems of decoding, on what could be decoded
        refused = validate(config, release)
        paths = {problem.path for problem in refused}
        refused += (problem for problem in check(config) if problem.path not in paths)
        problems += (heads.place(one, decoder.places) for one in _without_consequences(refused, decoder.spoilt))
    if problems:
        raise ConfigError([replace(problem, source=source) for problem in dict.fromkeys(problems)])
    return config


@lru_cache(maxsize=64)
def default(release: Release = NEWEST) -> SchedulerConfiguration:
    """Return the configuration kube-scheduler runs with when it is given none."""
    return complete(SchedulerConfiguration(), release)


def is_current(text: bytes | str, source: str) -> bool:
    """Return whether a document says that it is a configuration of today's version.

    Raises:
        ConfigError: it is neither YAML nor JSON.
    """
    return heads.head_of(heads.read_tree(text, source)) == (KIND, API_VERSION)


def conversion_hint(kind: Any, version: Any) -> str:
    """Return what to do about a configuration that a kube-scheduler of another time read, "" if none did."""
    from schedctl.config.legacy.releases import legacy_version  # only those who convert need the rest of it

    old = legacy_version(kind, version) is not None
    return "`schedctl profiles convert` converts it" if old else ""


def _decode(node: Node, decoder: Decoder, args: Mapping[str, type[PluginArgs]]) -> SchedulerConfiguration:
    config = decoder.struct(node, SchedulerConfiguration, also=heads.HEAD)
    profiles = []
    for index, profile in enumerate(config.profiles):
        path = f"profiles[{index}]"
        # only a single profile gets the default name; of several kube-scheduler demands one each
        unnamed = len(config.profiles) > 1 and f"{path}.schedulerName" not in decoder.places
        profiles.append(
            msgspec.structs.replace(
                profile,
                scheduler_name="" if unnamed else profile.scheduler_name,
                plugin_config=tuple(
                    PluginConfig(
                        name=one.name,
                        args=_args(one, decoder, f"{path}.pluginConfig[{number}].args", args.get(one.name)),
                    )
                    for number, one in enumerate(profile.plugin_config)
                ),
            )
        )
    return msgspec.structs.replace(config, profiles=tuple(profiles))


def _args(config: PluginConfig, decoder: Decoder, path: str, typed: type[PluginArgs] | None) -> Any:
    """Return the arguments of a plugin: typed where their type is known, else as plain JSON values."""
    node = Node(None, 0, 0) if config.args is None else config.args
    if typed is None:
        return decoder.free(node, path)
    kind = f"{config.name}Args"
    accepted = {"kind": ("", kind), "apiVersion": ("", "/", _GROUP, API_VERSION)}
    for key, value in node.value if node.is_mapping else ():
        choice = accepted.get(key.value)
        if choice is not None and value.value is not None and value.value not in choice:
            decoder.report(value, f"{path}.{key.value}", f'expected "{choice[-1]}", got {describe(value)}')
    return decoder.struct(node, typed, path, also=heads.HEAD)


def _without_consequences(problems: Iterable[Problem], spoilt: set[str]) -> Iterator[Problem]:
    """Yield the problems that no value that could not be used is part of, or around."""
    holding = {path for one in spoilt for path in heads.enclosing_paths(one)}
    for problem in problems:
        if problem.path not in holding and spoilt.isdisjoint(heads.enclosing_paths(problem.path)):
            yield problem
