"""The commands there are, in the order in which ``schedctl --help`` lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import (
    bind,
    calibrate,
    capacity,
    check,
    completion,
    drain,
    explain,
    plugins,
    profiles,
    schema,
    simulate,
    snapshot,
    test,
    version,
    watch,
)

application = typer.Typer(
    name="schedctl",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
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


for module in (
    explain,
    watch,
    simulate,
    check,
    test,
    drain,
    capacity,
    bind,
    calibrate,
    snapshot,
    plugins,
    profiles,
    schema,
    completion,
    version,
):
    module.add_to(application)

command = typer.main.get_command(application)
