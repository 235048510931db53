"""The commands there are, in the order in which ``schedctl --help`` lists them; each is imported when it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typing_extensions import override

from schedctl.cli.coercion import Application, Group

SUMMARIES = {
    "explain": "Say where pods would go, or why nowhere.",
    "watch": "Explain a pending pod again whenever the cluster changes.",
    "simulate": "Place whole manifests on a cluster.",
    "check": "Check placement policies, e.g. in CI.",
    "test": "Run the tests of placement policies.",
    "drain": "Say what draining nodes would do.",
    "capacity": "Count how many more pods fit.",
    "bind": "Bind a pod to the node that the rules choose.",
    "calibrate": "Make a cluster's decisions again and compare.",
    "schema": "Print the JSON Schema of a document.",
    "completion": "Print a completion script; no file of yours is changed.",
    "version": "Say which schedctl and which kube-scheduler this is.",
    "snapshot": "Keep, inspect, compare and redact clusters as files.",
    "plugins": "Show the scheduler plugins there are, and make your own.",
    "profiles": "Show, convert and compare scheduler profiles.",
}
"""By the name of a command, or of a group of them, its line in the help.

Its module is of that name, and so is the function in it; a group has an `application` with the functions.
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
            module = import_module(f"schedctl.cli.{name}")
            if hasattr(module, "application"):
                holder.add_typer(module.application, name=name)
            else:
                holder.command(name, short_help=SUMMARIES[name], epilog=module.EXAMPLES)(getattr(module, name))
            # An application of one command makes that command of itself; `get_group` keeps it below a group.
            self._made[name] = typer.main.get_group(holder).commands[name]
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)


class _LazyGroup(Group):
    """The root of all commands, which lists them without importing any."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()  # type: ignore[assignment]

    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


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


@application.callback(invoke_without_command=True)
def schedctl(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="The same as `schedctl version`.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where faults come from.")] = False,
) -> None:
    """A dry-run kube-scheduler: where a pod would go, why there, and why nowhere else.

    It reads a live cluster, or one in files, and runs kube-scheduler's plugins over it. It changes nothing; `bind`
    alone does, and only with --execute.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


command = typer.main.get_command(application)
