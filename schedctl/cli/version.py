"""``schedctl version``: which schedctl this is, and which kube-scheduler it follows."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from schedctl.cli import suggestions
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.program import VERSIONS
from schedctl.errors import UsageError
from schedctl.versions import KUBERNETES_VERSION, __version__

EXAMPLES = """
Examples:
  schedctl version
  schedctl version -o json
"""


def version(
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default) or json",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "json"),
        ),
    ] = "text",
) -> None:
    """Print the versions of schedctl and of the kube-scheduler that it follows."""
    if output == "text":
        typer.echo(VERSIONS, nl=False)
    elif output == "json":
        typer.echo(json.dumps({"schedctl": __version__, "kubernetesVersion": KUBERNETES_VERSION}))
    else:
        raise UsageError(f'unknown output "{output}"', "-o takes text or json")
