"""``schedctl schema``: the JSON Schemas of what ``-o json`` prints, and of the configuration file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from schedctl.errors import UsageError

EXAMPLES = """\b
Examples:
  schedctl schema ExplainReport
  schedctl schema ExplainReport > explain-report.schema.json
  schedctl schema Config                                 of .schedctl.yaml
"""


def schema(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="The kind of a document, e.g. ExplainReport.")],
) -> None:
    """Print the JSON Schema of a document that `-o json` prints, or of `.schedctl.yaml` (Config), by its `kind`."""
    from schedctl.session.schemas import SCHEMAS

    named = {name.lower(): make for name, make in SCHEMAS.items()}
    make = named.get(kind.lower())
    if make is None:
        raise UsageError(f'there is no document "{kind}"', f"the kinds are: {', '.join(SCHEMAS)}")
    typer.echo(json.dumps(make(), indent=2))
