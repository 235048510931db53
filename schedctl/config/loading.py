"""Bytes to a configuration, or to every problem it has.

What kube-scheduler reports in stages (it cannot be decoded, it is not valid, a profile cannot be made) is reported
together here, with the line and column of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from schedctl.config.args import ARGS, PluginArgs
from schedctl.config.decoding import Decoder, describe
from schedctl.config.defaults import complete
from schedctl.config.json_trees import read_json
from schedctl.config.legacy.releases import vintage_of
from schedctl.config.trees import DocumentError, Node
from schedctl.config.types import API_VERSION, KIND, PluginConfig, SchedulerConfiguration
from schedctl.config.validation import validate
from schedctl.config.yaml_trees import read_yaml
from schedctl.errors import ConfigError, Problem

Check = Callable[[SchedulerConfiguration], Iterable[Problem]]
"""A further check of a completed configuration.

Its problems need a path only and get their place in the file; one about a field that is refused already is left out.
"""

HEAD: Final = ("apiVersion", "kind")
"""The fields that say what a document is."""
_GROUP: Final = API_VERSION.removesuffix("v1")


def load(
    text: bytes | str,
    source: str = "",
    check: Check = lambda _: (),
    args: Mapping[str, type[PluginArgs]] = ARGS,
) -> SchedulerConfiguration:
    """Read a KubeSchedulerConfiguration, YAML or JSON: decoded, completed with defaults, merged and validated.

    Args:
        text: the file's content, UTF-8.
        source: the file as the user named it, for problems.
        check: what else must hold, such as that the plugins exist (`schedctl.config.expansion`).
        args: the types of the arguments of plugins, by name; those of other plugins are kept as they are written.

    Raises:
        ConfigError: everything that is wrong with it.
    """
    node, decoder = opened(text, source, KIND, API_VERSION)
    problems = decoder.problems
    if not problems:
        config = complete(_decode(node, decoder, args))
        problems = sorted(decoder.problems, key=lambda problem: (problem.line, problem.column))
        refused = validate(config)
        paths = {problem.path for problem in refused}
        refused += (problem for problem in check(config) if problem.path not in paths)
        problems += (placed(one, decoder.places) for one in _without_consequences(refused, decoder.spoilt))
    if problems:
        raise ConfigError([replace(problem, source=source) for problem in dict.fromkeys(problems)])
    return config


def default() -> SchedulerConfiguration:
    """Return the configuration kube-scheduler runs with when it is given none."""
    return complete(SchedulerConfiguration())


def opened(text: bytes | str, source: str, kind: str, api_version: str) -> tuple[Node, Decoder]:
    """Return the tree of a document, and a decoder that has reported it where it is not of this kind and version.

    Raises:
        ConfigError: it is neither YAML nor JSON.
    """
    node = tree(text, source)
    decoder = Decoder()
    _head(node, decoder, kind, api_version)
    return node, decoder


def tree(text: bytes | str, source: str) -> Node:
    """Return the tree of a document: JSON where text begins with a brace, as kube-scheduler has it, and else YAML.

    Raises:
        ConfigError: it is neither YAML nor JSON.
    """
    try:
        text = text if isinstance(text, str) else text.decode()
        return read_json(text) if text.lstrip().startswith("{") else read_yaml(text)
    except DocumentError as error:
        raise ConfigError([Problem(str(error), source, error.line, error.column)]) from None
    except UnicodeError as error:
        raise ConfigError([Problem(f"is not UTF-8 text: {error}", source)]) from None


def _head(node: Node, decoder: Decoder, wanted: str, api_version: str) -> None:
    """Report a document that is not of the kind and version we read, which makes everything else moot."""
    head = {key.value: value for key, value in node.value if key.value in HEAD} if node.is_mapping else {}
    if not node.is_mapping and node.value is not None:
        decoder.report(node, "", "expected a mapping with apiVersion and kind")
        return
    kind, version = (head.get(name, node) for name in ("kind", "apiVersion"))
    if kind is node or kind.value in (None, ""):
        decoder.report(kind, "kind", "Object 'Kind' is missing", f'add "kind: {wanted}"')
    elif kind.value != wanted:
        decoder.report(kind, "kind", f'expected "{wanted}", got {describe(kind)}', _old(kind, version))
    elif version is node or version.value in (None, ""):
        decoder.report(version, "apiVersion", "Object 'apiVersion' is missing", f'add "apiVersion: {api_version}"')
    elif version.value != api_version:
        given = describe(version).removeprefix("text ")
        message = f"unsupported version {given}: only {api_version} is supported"
        decoder.report(version, "apiVersion", message, _old(kind, version))


def _old(kind: Node, version: Node) -> str:
    """Return what to do about a configuration that a kube-scheduler of another time read, "" if none did."""
    old = vintage_of(kind.value, version.value) is not None
    return "`schedctl profiles convert` writes it as it is read today" if old else ""


def _decode(node: Node, decoder: Decoder, args: Mapping[str, type[PluginArgs]]) -> SchedulerConfiguration:
    config = decoder.struct(node, SchedulerConfiguration, also=HEAD)
    profiles = []
    for index, profile in enumerate(config.profiles):
        path = f"profiles[{index}]"
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
    return decoder.struct(node, typed, path, also=HEAD)


def _around(path: str) -> Iterator[str]:
    """Yield a path and those of everything around it, from the inside out."""
    while path:
        yield path
        path = re.sub(r"(^|\.)[^.\[\]]*$|\[[^\[\]]*\]$", "", path)


def placed(problem: Problem, places: dict[str, tuple[int, int]]) -> Problem:
    """Return a problem with the place of its field, or of the nearest field around it that is in the file."""
    line, column = next((places[path] for path in _around(problem.path) if path in places), (0, 0))
    return replace(problem, line=line, column=column)


def _without_consequences(problems: Iterable[Problem], spoilt: set[str]) -> Iterator[Problem]:
    """Yield the problems that no value that could not be used is part of, or around."""
    holding = {path for one in spoilt for path in _around(one)}
    for problem in problems:
        if problem.path not in holding and spoilt.isdisjoint(_around(problem.path)):
            yield problem
