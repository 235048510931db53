"""``schedctl version``: which schedctl this is, and which kube-scheduler it follows."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from schedctl.cli.program import VERSIONS
from schedctl.errors import UsageError
from schedctl.versions import KUBERNETES_VERSION, __version__

EXAMPLES = """\b
Examples:
  schedctl version
  schedctl version -o json
"""


def version(
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="text or json.")] = "text",
) -> None:
    """Say which schedctl this is, and which kube-scheduler it follows."""
    if output == "text":
        typer.echo(VERSIONS, nl=False)
    elif output == "json":
        typer.echo(json.dumps({"schedctl": __version__, "kubernetesVersion": KUBERNETES_VERSION}))
    else:
        raise UsageError(f'there is no output "{output}"', "-o takes text or json")
