"""The commands there are, in the order in which ``schedctl --help`` lists them; each is imported when it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from schedctl.cli import options
from schedctl.cli.coercion import Application, Group

SUMMARIES = {
    "explain": "Show where pods would go, or why they are pending.",
    "watch": "Explain a pending pod again whenever the cluster changes.",
    "simulate": "Show where the pods of manifests would go.",
    "check": "Check placement policies, e.g. in CI.",
    "test": "Run the tests of placement policies.",
    "drain": "Show what draining nodes would do.",
    "capacity": "Count how many more pods fit.",
    "n-1": "Show which lost node or zone leaves pods pending.",
    "sweep": "Ask one question in many scenarios.",
    "nodes": "Count the nodes to add, or find those that can go.",
    "bind": "Bind a pending pod to the node that kube-scheduler would choose.",
    "calibrate": "Repeat a cluster's scheduling decisions and compare.",
    "snapshot": "Save, inspect, compare and redact clusters as files.",
    "trace": "Show what happened to a pod, and compare runs.",
    "plugins": "List the scheduler plugins, and write your own.",
    "profiles": "Show, convert and compare scheduler profiles.",
    "demo": "Explain a pending pod of an example cluster.",
    "mcp": "Answer questions of agents (Model Context Protocol).",
    "schema": "Print JSON Schemas, or write them for editors.",
    "completion": "Print a completion script for your shell.",
    "version": "Print versions, or the feature gates of kube-scheduler.",
    "help": "Show the help of a command.",
}
"""By the name of a command, or of a group of them, its line in the help.

Its module is of that name, with `_` for `-`, and so is the function in it; a group has an `application` with the
functions.
"""


class _Commands(Mapping[str, Any]):
    """The commands by name, each made when it is first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name not in SUMMARIES:
                raise KeyError(name)
            holder = Application(add_completion=False, pretty_exceptions_enable=False)
            word = name.replace("-", "_")
            module = import_module(f"schedctl.cli.{word}")
            if hasattr(module, "application"):
                holder.add_typer(module.application, name=name)
            else:
                holder.command(name, short_help=SUMMARIES[name], epilog=module.EXAMPLES)(getattr(module, word))
            # An application of one command makes that command of itself; `get_group` keeps it below a group.
            self._made[name] = typer.main.get_group(holder).commands[name]
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)


class _LazyGroup(Group):
    """The root of all commands, whose help lists them without importing any."""

    summaries = SUMMARIES

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()  # type: ignore[assignment]


EXAMPLES = """
Examples:
  schedctl demo                                  # an example, without a cluster
  schedctl explain --all-pending                 # why are pods pending?
  schedctl explain pod web-0 -n shop
  schedctl simulate deploy/ -n shop              # where would these go?
  schedctl drain node-3 --ignore-daemonsets      # what would a drain do?

Defaults for options that you always give may stand in ~/.config/schedctl/config.yaml under `defaults:`, or in
SCHEDCTL_OUTPUT, SCHEDCTL_LIMIT, SCHEDCTL_COLOR, SCHEDCTL_CONTEXT, SCHEDCTL_KUBECONFIG, SCHEDCTL_NAMESPACE and
SCHEDCTL_REQUEST_TIMEOUT.
"""

application = Application(
    name="schedctl",
    cls=_LazyGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        from schedctl.cli import version

        version.version()
        raise typer.Exit


@application.callback(invoke_without_command=True, epilog=EXAMPLES)
def schedctl(
    invocation: typer.Context,
    namespace: options.Namespace = "",
    context: options.Context = "",
    kubeconfig: options.Kubeconfig = "",
    request_timeout: options.RequestTimeout = "",
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Same as `schedctl version`")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print a traceback on errors")] = False,
) -> None:
    """A dry-run kube-scheduler: where a pod would go, why there, and why nowhere else.

    schedctl reads a live cluster, or one in files, and runs kube-scheduler's plugins over it. Nothing is changed; only
    `bind --execute` changes a cluster.
    """
    if invocation.invoked_subcommand is None:
        typer.echo(invocation.get_help())


command = typer.main.get_command(application)
