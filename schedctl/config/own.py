"""schedctl's own configuration file, as opposed to kube-scheduler's: what a team sets once for all its runs.

It holds data only. Nothing in it names credentials, a cluster or code to run, because the file of a repository that
somebody cloned must not be able to steer any of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

import msgspec

from schedctl.api.custom_kinds import with_custom_kinds
from schedctl.config.decoding import describe, nearest
from schedctl.config.loading import HEAD, opened, placed
from schedctl.errors import ConfigError

API_VERSION: Final = "schedctl.dev/v1alpha1"
KIND: Final = "Config"

FieldPath = str | list[str]
"""A path with dots, or its steps."""


class PodsEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Where a custom kind keeps one pod template; exactly one of ``template``, ``spec`` and ``pod`` is given.

    A path is written with dots, `spec.workerGroups.*.template`, or as the list of its steps; `*` stands for each item.

    Attributes:
        template: the path of a pod template, with metadata and spec.
        spec: the path of the spec of a pod.
        pod: the path of a whole pod with a name of its own.
        otherwise: the path of the template where there is none at the first.
        replicas: the path of the number of pods.
        times: the path of a second number, which multiplies the first.
        less: what is taken off the second number first.
        default: how many pods where no number is found.
        group: the name of the group of pods, part of their names.
        named: the path of the name of the group.
        per_node: whether it is one pod for each eligible node, as of a DaemonSet.
    """

    template: FieldPath = ""
    spec: FieldPath = ""
    pod: FieldPath = ""
    otherwise: FieldPath = ""
    replicas: FieldPath = ""
    times: FieldPath = ""
    less: int = 0
    default: int = 1
    group: str = ""
    named: FieldPath = ""
    per_node: bool = False


class Config(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """schedctl's own configuration file.

    Attributes:
        api_version: always `schedctl.dev/v1alpha1`.
        kind: always `Config`.
        custom_kinds: by `Kind.group`, where custom resources keep their pod templates: one entry or several. They add
            to the kinds that are known, or take their place; an empty list takes a kind out.
    """

    api_version: Literal["schedctl.dev/v1alpha1"]
    kind: Literal["Config"]
    custom_kinds: dict[str, PodsEntry | list[PodsEntry]] = {}


_FIELDS: Final = tuple(field.encode_name for field in msgspec.structs.fields(Config))
_CUSTOM_KINDS: Final = "customKinds"


def custom_kinds_in(text: bytes | str, source: str = "") -> Mapping[str, Any]:
    """Return the ``customKinds`` of a configuration file, as `with_custom_kinds` takes them.

    Args:
        text: YAML or JSON, UTF-8.
        source: the file as the user knows it, for problems.

    Raises:
        ConfigError: everything that is wrong with the file, these entries included.
    """
    node, decoder = opened(text, source, KIND, API_VERSION)
    entries: Mapping[str, Any] = {}
    if not decoder.problems:
        for name, key, child, where in decoder.entries(node, ""):
            if name in HEAD:
                continue
            if name != _CUSTOM_KINDS:
                close = nearest(name, _FIELDS)
                hint = f'did you mean "{close}"?' if close else f"there are {', '.join(_FIELDS)}"
                decoder.report(key, where, f'unknown field "{name}"', hint)
            elif child.is_mapping:
                entries = decoder.free(child, where)
            elif child.value is not None:
                decoder.report(child, where, f"expected a mapping, got {describe(child)}")
    problems = decoder.problems
    try:
        with_custom_kinds(entries)
    except ConfigError as wrong:
        problems += (placed(replace(one, path=f"{_CUSTOM_KINDS}.{one.path}"), decoder.places) for one in wrong.problems)
    if problems:
        problems.sort(key=lambda problem: (problem.line, problem.column))
        raise ConfigError([replace(problem, source=source) for problem in problems])
    return entries
