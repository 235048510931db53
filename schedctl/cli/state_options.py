"""The options that say which state a question is about; a command gets them by one line, and a `StateSource`.

::

@with_state
def explain(..., *, source: StateSource) -> int:
    state = source.load(...)
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from msgspec.structs import replace

from schedctl.cli import options
from schedctl.cli.signatures import Command, add_options
from schedctl.errors import UsageError
from schedctl.session.states import StateSource
from schedctl.session.version_options import VersionOptions

if TYPE_CHECKING:
    from schedctl.live.kubeconfigs import Access

_OPTIONS = {
    "filename": (options.State, None),
    "recursive": (options.Recursive, True),
    "stdin_filename": (options.StdinFilename, "<stdin>"),
    "live": (options.Live, False),
    "context": (options.Context, ""),
    "kubeconfig": (options.Kubeconfig, ""),
    "as_user": (options.As, ""),
    "as_group": (options.AsGroup, None),
    "request_timeout": (options.RequestTimeout, ""),
    "scheduler_config_from_cluster": (options.SchedulerConfigFromCluster, False),
}
_VERSION_OPTIONS = {
    "kube_version": (options.KubeVersion, ""),
    "feature_gates": (options.FeatureGates, None),
    "strict_version": (options.StrictVersion, False),
}
_ELSEWHERE = {
    "ENVIRONMENT": ("SCHEDCTL_KUBE_VERSION", "SCHEDCTL_KUBE_VERSION="),
    "DEFAULT_MAP": ("kubeVersion of the settings", "kubeVersion: "),
}
"""By where it comes from, if it is not typed: what sets the version, and how."""
_REDACTION_OPTIONS = {
    "redact": (options.Redact, ""),
    "key_file": (options.KeyFile, ""),
}
_WITH_NAMES = (
    "plugin",
    "allow_extenders",
    "extender_replay",
    "history",
    "node_groups",
    "instance_types",
    "on",
    "write_baseline",
)
"""Options by which names get into an answer, or are compared, that no token stands for."""
_CLUSTER_OPTIONS = (
    "context",
    "kubeconfig",
    "as_user",
    "as_group",
    "request_timeout",
    "scheduler_config_from_cluster",
)


def with_state(command: Command) -> Command:
    """Give a command the options that say where the state is; it gets them as the argument ``source``."""
    return add_options(command, "source", _OPTIONS | _VERSION_OPTIONS, _source)


def with_redactable_state(command: Command) -> Command:
    """Do as `with_state` for a command with an answer that can be shared: `--redact strict` hides the names in it."""
    return add_options(command, "source", _OPTIONS | _VERSION_OPTIONS | _REDACTION_OPTIONS, _redactable_source)


def with_state_only(command: Command) -> Command:
    """Do as `with_state` for a command that judges nothing: whose rules hold is not asked."""
    return add_options(command, "source", _OPTIONS, _source)


def with_live_state(command: Command) -> Command:
    """Do as `with_state` for a command that is about a live cluster: the options about files are not in its help."""
    return add_options(
        command,
        "source",
        {name: (_hide(name), default) for name, (_, default) in _OPTIONS.items()} | _VERSION_OPTIONS,
        _source,
    )


def _hide(name: str) -> Any:
    """Return the annotation of an option, out of sight where it is about files."""
    annotation = _OPTIONS[name][0]
    if name in _CLUSTER_OPTIONS:
        return annotation
    kind, option = get_args(annotation)
    option = copy(option)
    option.hidden = True
    return Annotated[kind, option]


def _source(values: Mapping[str, Any], context: typer.Context) -> StateSource:
    """Return where the state is.

    Raises:
        UsageError: a live cluster is described and none is to be asked.
    """
    paths = tuple(values["filename"] or ())
    cluster_options = [name for name in _CLUSTER_OPTIONS if values[name]]
    if paths and not values["live"]:
        # A default of the user's for live clusters is no contradiction.
        cluster_options = [name for name in cluster_options if _is_typed(name, context)]
        if cluster_options:
            flag = f"--{cluster_options[0].replace('as_user', 'as').replace('_', '-')}"
            raise UsageError(
                f"{flag} selects a live cluster, but -f reads files", "add --live to read the live cluster, too"
            )
    return StateSource(
        paths,
        values["recursive"],
        values["stdin_filename"],
        values["live"],
        _access(values) if cluster_options else None,
        values["scheduler_config_from_cluster"],
        versions=_versions(values, context),
    )


def _versions(values: Mapping[str, Any], context: typer.Context) -> VersionOptions:
    """Return what options, variables and settings say about the version, and which of them says it."""
    versions = VersionOptions(
        values.get("kube_version", ""),
        options.one_list(values.get("feature_gates")),
        values.get("strict_version", False),
    )
    source = context.get_parameter_source("kube_version")
    if source is None or source.name not in _ELSEWHERE:
        return versions
    option, setting = _ELSEWHERE[source.name]
    return replace(versions, option=option, setting=setting)


def _redactable_source(values: Mapping[str, Any], context: typer.Context) -> StateSource:
    """Return where the state is, and how it is redacted.

    Raises:
        UsageError: as `_source`; or the redaction cannot be, or another option brings names of its own.
    """
    source = _source(values, context)
    level, key_file = values["redact"], values["key_file"]
    if not level and key_file:
        raise UsageError("--key-file needs --redact strict", "add --redact strict")
    if level:
        from schedctl.session.redactions import RedactionOptions

        if level != "strict":
            raise UsageError(f'invalid --redact "{level}" for an answer', "--redact takes strict")
        for name in _WITH_NAMES:
            if context.params.get(name):
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"--redact strict cannot hide the names that {flag} brings", "remove one of them")
        if context.params.get("draws") and context.info_name == "simulate":
            raise UsageError(
                "--redact strict cannot hide the names in the command that repeats a draw", "remove --draws"
            )
        source.redaction = RedactionOptions(level, key_file)
    return source


def _is_typed(name: str, context: typer.Context) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _access(values: Mapping[str, Any]) -> Access:
    from schedctl.cli import durations
    from schedctl.live.kubeconfigs import Access

    return Access(
        context=values["context"],
        kubeconfig=values["kubeconfig"],
        user=values["as_user"],
        groups=tuple(values["as_group"] or ()),
        timeout=durations.seconds(values["request_timeout"], "--request-timeout"),
    )
