"""``schedctl schema``: the JSON Schemas of what ``-o json`` prints and of what is written by hand, also for editors."""

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
  schedctl schema --write .schemas               # of what is written by hand
"""


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="[KIND]",
            help="Kind of the document, e.g. ExplainReport",
            show_default=False,
            autocompletion=suggestions.schemas,
        ),
    ] = "",
    write: Annotated[
        str,
        typer.Option(
            "--write",
            metavar="DIR",
            help="Write the schemas of what is written by hand (policies and their tests, Config, NodeGroups, Study)",
        ),
    ] = "",
) -> None:
    """Print the JSON Schema of a document that `-o json` prints, or of `.schedctl.yaml` (kind Config).

    With --write, write the schemas of the documents that are written by hand, and print the line that lets an editor
    complete and check them.
    """
    from schedctl.session import schemas

    if write:
        if kind:
            raise UsageError("KIND and --write were both given", "leave one of them out")
        for name, file in schemas.write(write).items():
            typer.echo(f"{name}: # yaml-language-server: $schema={file}")
        return
    if not kind:
        raise UsageError("no document kind given", f"the kinds are: {', '.join(schemas.SCHEMAS)}")
    named = {name.lower(): make for name, make in schemas.SCHEMAS.items()}
    make = named.get(kind.lower())
    if make is None:
        raise UsageError(f'unknown document kind "{kind}"', f"the kinds are: {', '.join(schemas.SCHEMAS)}")
    typer.echo(json.dumps(make(), indent=2))
