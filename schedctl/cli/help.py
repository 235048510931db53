"""``schedctl help``: the help of a command, as ``--help`` behind it prints it."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import suggestions

EXAMPLES = """
Examples:
  schedctl help explain
  schedctl help snapshot create
"""


def help(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="Command to show the help of", autocompletion=suggestions.commands),
    ] = None,
) -> None:
    """Show the help of a command, the same as `schedctl COMMAND --help`."""
    from schedctl.cli.running import run

    if words:
        raise typer.Exit(run([*words, "--help"]))
    typer.echo(context.find_root().get_help())
