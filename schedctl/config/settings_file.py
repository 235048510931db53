"""schedctl's own configuration file, as opposed to kube-scheduler's: its fields and its reader.

`session.settings` finds the files and puts together what they set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from schedctl.api.durations import Duration
from schedctl.config.custom_kinds import with_custom_kinds
from schedctl.config.loading import conversion_hint
from schedctl.documents.decoding import Decoder, describe
from schedctl.documents.heads import HEAD, open_document, place
from schedctl.documents.spelling import did_you_mean
from schedctl.documents.trees import Node
from schedctl.errors import ConfigError, Problem
from schedctl.reports.check_formats import CHECK_FORMATS

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


class CheckConfig(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """What ``schedctl check`` does where its options say nothing; every path is relative to the folder of this file.

    Attributes:
        policies: files and folders of policies.
        state: files and folders of the state, such as a snapshot.
        output: what ``-o`` takes.
        reports: as ``--report`` takes them, `FORMAT=FILE`.
        baseline: the file of the violations that are accepted.
        fail_on: from which severity on violations fail.
        on_inconclusive: what inconclusive results do.
        max_age: how old the state may be, e.g. `24h`.
    """

    policies: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    output: str = ""
    reports: tuple[str, ...] = ()
    baseline: str = ""
    fail_on: Literal["", "error", "warning", "info", "never"] = ""
    on_inconclusive: Literal["", "fail", "warn", "ignore"] = ""
    max_age: str = ""


class DefaultsConfig(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Values of options that are not given on the command line, nor by their variable ``SCHEDCTL_...``.

    Only the user's own file, and none of a repository, may set what chooses a cluster: the last four.

    Attributes:
        output: what ``-o`` takes.
        limit: what ``--limit`` takes.
        color: `auto`, `always` or `never`.
        namespace: what ``-n`` takes.
        context: what ``--context`` takes.
        kubeconfig: what ``--kubeconfig`` takes; `~` is the home folder.
        request_timeout: what ``--request-timeout`` takes, e.g. `10s`.
        kube_version: what ``--kube-version`` takes, e.g. `1.36`.
    """

    output: str = ""
    limit: int | None = None
    color: Literal["", "auto", "always", "never"] = ""
    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""
    request_timeout: str = ""
    kube_version: str = ""


class Config(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """schedctl's own configuration file.

    Attributes:
        api_version: always `schedctl.dev/v1alpha1`.
        kind: always `Config`.
        custom_kinds: by `Kind.group`, where custom resources keep their pod templates: one entry or several. They add
            to the kinds that are known, or take their place; an empty list takes a kind out.
        check: what `schedctl check` does where its options say nothing.
        defaults: values of options that are not given.
    """

    api_version: Literal["schedctl.dev/v1alpha1"]
    kind: Literal["Config"]
    custom_kinds: dict[str, PodsEntry | list[PodsEntry]] = {}
    check: CheckConfig = CheckConfig()
    defaults: DefaultsConfig = DefaultsConfig()


class FileSettings(NamedTuple):
    """What a configuration file sets.

    Attributes:
        custom_kinds: as `with_custom_kinds` takes them.
        check: what ``schedctl check`` does where its options say nothing.
        defaults: values of options that are not given.
    """

    custom_kinds: Mapping[str, Any]
    check: CheckConfig
    defaults: DefaultsConfig = DefaultsConfig()


_FIELDS: Final = tuple(field.encode_name for field in msgspec.structs.fields(Config))
_CUSTOM_KINDS: Final = "customKinds"
_CHECK: Final = "check"
_DEFAULTS: Final = "defaults"
# The file of a repository that somebody cloned must not steer credentials, a cluster or code.
_COMMAND_LINE_ONLY: Final = {
    **dict.fromkeys(("kubeconfig", "context", "as", "asGroup", "token", "user", "cluster", "server"), "credentials"),
    **dict.fromkeys(("live", "requestTimeout"), "which cluster is read"),
    **dict.fromkeys(("plugins", "plugin", "pluginPath", "imports", "import"), "code to run"),
    **dict.fromkeys(("bind", "execute", "yes", "consent"), "whether a cluster is changed"),
}
"""What no file may say, and what it would be about."""
OF_USER_ONLY: Final = {
    "kubeconfig": "credentials",
    "context": "a cluster",
    "namespace": "a namespace",
    "requestTimeout": "how the cluster is accessed",
}
"""Defaults that only the user's own file may set, and what they would be about."""
COLORS: Final = ("auto", "always", "never")
CHOICES: Final = {
    "failOn": ("error", "warning", "info", "never"),
    "onInconclusive": ("fail", "warn", "ignore"),
    "output": CHECK_FORMATS,
}
"""The words that a setting takes."""


def read(text: bytes | str, source: str = "", *, of_user: bool = False) -> FileSettings:
    """Return what a configuration file sets.

    Args:
        text: YAML or JSON, UTF-8.
        source: the file as the user knows it, for problems.
        of_user: whether it is the user's own file, and not one that may have come with a repository.

    Raises:
        ConfigError: everything that is wrong with the file, the entries of ``customKinds`` included.
    """
    node, decoder = open_document(text, source, KIND, API_VERSION, conversion_hint)
    entries: Mapping[str, Any] = {}
    check, defaults = CheckConfig(), DefaultsConfig()
    if not decoder.problems:
        for name, key, child, where in decoder.entries(node, ""):
            if name == _CHECK:
                check = _check_config(child, decoder)
            elif name == _DEFAULTS:
                defaults = _defaults_config(child, decoder, of_user=of_user)
            elif name == _CUSTOM_KINDS and child.is_mapping:
                entries = decoder.free(child, where)
            elif name == _CUSTOM_KINDS and child.value is not None:
                decoder.report(child, where, f"expected a mapping, got {describe(child)}")
            elif name not in (*HEAD, _CUSTOM_KINDS):
                _refuse(name, key, where, decoder, _FIELDS)
    problems = decoder.problems
    try:
        with_custom_kinds(entries)
    except ConfigError as wrong:
        problems += (place(replace(one, path=f"{_CUSTOM_KINDS}.{one.path}"), decoder.places) for one in wrong.problems)
    if problems:
        problems.sort(key=lambda problem: (problem.line, problem.column))
        raise ConfigError([replace(problem, source=source) for problem in problems])
    return FileSettings(entries, check, defaults)


def _defaults_config(node: Node, decoder: Decoder, *, of_user: bool) -> DefaultsConfig:
    """Return the values of options that are not given."""
    config = decoder.struct(node, DefaultsConfig, _DEFAULTS)
    for key, _ in node.value if node.is_mapping and not of_user else ():
        if key.value in OF_USER_ONLY:
            message = f'"{key.value}" cannot be set here: a repository cannot choose {OF_USER_ONLY[key.value]}'
            hint = "set it in $XDG_CONFIG_HOME/schedctl/config.yaml (~/.config/schedctl/config.yaml)"
            decoder.report(key, f"{_DEFAULTS}.{key.value}", message, hint)
    if config.color not in ("", *COLORS):
        problem = Problem(f'invalid color "{config.color}"', path=f"{_DEFAULTS}.color", hint=", ".join(COLORS))
        decoder.problems.append(place(problem, decoder.places))
    if config.limit is not None and config.limit < 0:
        problem = Problem("limit cannot be negative", path=f"{_DEFAULTS}.limit", hint="0 lets schedctl choose")
        decoder.problems.append(place(problem, decoder.places))
    return config


def _check_config(node: Node, decoder: Decoder) -> CheckConfig:
    """Return what is set for ``schedctl check``."""
    fields = tuple(field.encode_name for field in msgspec.structs.fields(CheckConfig))
    forbidden = [name.value for name, _ in node.value if name.value in _COMMAND_LINE_ONLY] if node.is_mapping else []
    for key, _ in node.value if node.is_mapping else ():
        if key.value in forbidden:
            _refuse(key.value, key, f"{_CHECK}.{key.value}", decoder, fields)
    config = decoder.struct(node, CheckConfig, _CHECK, also=tuple(forbidden))
    for name, choices in CHOICES.items():
        path = f"{_CHECK}.{name}"
        word = {"failOn": config.fail_on, "onInconclusive": config.on_inconclusive, "output": config.output}[name]
        if word and word not in choices:
            problem = Problem(f'{name} cannot be "{word}"', path=path, hint=did_you_mean(word, choices))
            decoder.problems.append(place(problem, decoder.places))
            return CheckConfig()
    if config.max_age and not is_age(config.max_age):
        problem = Problem(f'"{config.max_age}" is not a duration', path=f"{_CHECK}.maxAge", hint='e.g. maxAge: "24h"')
        decoder.problems.append(place(problem, decoder.places))
    for index, target in enumerate(config.reports):
        form, _, file = target.partition("=")
        if form not in CHOICES["output"] or not file:
            hint = f"FORMAT=FILE, where FORMAT is one of {', '.join(CHOICES['output'])}"
            problem = Problem(f'"{target}" is not a report', path=f"{_CHECK}.reports[{index}]", hint=hint)
            decoder.problems.append(place(problem, decoder.places))
    return config


def is_age(text: str) -> bool:
    """Return whether a text is how old something may be."""
    try:
        return Duration.parse(text) > 0
    except ValueError:
        return False


def _refuse(name: str, key: Node, where: str, decoder: Decoder, fields: tuple[str, ...]) -> None:
    """Report a field that is not known, or that no file may have."""
    if name in _COMMAND_LINE_ONLY:
        choice = _COMMAND_LINE_ONLY[name]
        message = f'"{name}" cannot be set in a file: the author of the file would choose {choice}'
        decoder.report(key, where, message, "give it on the command line")
        return
    decoder.report(key, where, f'unknown field "{name}"', did_you_mean(name, fields))
