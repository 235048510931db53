"""``schedctl schema``: the JSON Schemas of what ``-o json`` prints, and of the configuration file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from schedctl.cli import suggestions
from schedctl.errors import UsageError

EXAMPLES = """
Examples:
  schedctl schema ExplainReport
  schedctl schema ExplainReport > explain-report.schema.json
  schedctl schema Config                         # of .schedctl.yaml
"""


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="Kind of the document, e.g. ExplainReport", autocompletion=suggestions.schemas
        ),
    ],
) -> None:
    """Print the JSON Schema of a document that `-o json` prints, or of `.schedctl.yaml` (kind Config)."""
    from schedctl.session.schemas import SCHEMAS

    named = {name.lower(): make for name, make in SCHEMAS.items()}
    make = named.get(kind.lower())
    if make is None:
        raise UsageError(f'unknown document kind "{kind}"', f"the kinds are: {', '.join(SCHEMAS)}")
    typer.echo(json.dumps(make(), indent=2))
