"""Options that several commands take, each declared once: the same letter means the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import suggestions

State = Annotated[
    list[str] | None,
    typer.Option("-f", "--filename", metavar="PATH", help="File, folder, glob or - (stdin); repeatable."),
]
Recursive = Annotated[bool, typer.Option("-R", "--recursive", help="Look into folders in folders.")]
StdinFilename = Annotated[str, typer.Option(metavar="PATH", help="What to call standard input in messages.")]
SchedulerConfig = Annotated[str, typer.Option(metavar="FILE", help="The KubeSchedulerConfiguration to follow.")]
Profile = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="A profile of that file, or of `schedctl profiles list`.",
        autocompletion=suggestions.profiles,
    ),
]
Config = Annotated[
    str, typer.Option(metavar="FILE", help="schedctl's own configuration, instead of the nearest .schedctl.yaml.")
]
NoConfig = Annotated[bool, typer.Option("--no-config", help="Read no configuration of schedctl's own.")]
Sampling = Annotated[
    bool, typer.Option("--sampling", help="Look at as many nodes as kube-scheduler would, not at all of them.")
]
Output = Annotated[
    str, typer.Option("-o", "--output", metavar="FORMAT", help="text, wide, json, yaml, name or jsonpath=TEMPLATE.")
]
Limit = Annotated[int, typer.Option(min=0, metavar="N", help="Entries of a list to show; 0 shows a few.")]
Color = Annotated[str, typer.Option(metavar="WHEN", help="always, never or auto.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No warnings.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say what is being done.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where faults come from.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="No progress bar.")]
