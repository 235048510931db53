"""Options that several commands take, each declared once: the same letter means the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import suggestions

State = Annotated[
    list[str] | None,
    typer.Option("-f", "--filename", metavar="PATH", help="The state: file, folder, glob or - (stdin); repeatable."),
]
Recursive = Annotated[bool, typer.Option("-R", "--recursive", help="Look into folders in folders.")]
StdinFilename = Annotated[str, typer.Option(metavar="PATH", help="What to call standard input in messages.")]
Live = Annotated[
    bool, typer.Option("--live", help="Ask the live cluster although -f is given, and lay the files over it.")
]
Context = Annotated[str, typer.Option("--context", metavar="NAME", help="The kubeconfig context of the live cluster.")]
Kubeconfig = Annotated[str, typer.Option("--kubeconfig", metavar="FILE", help="The kubeconfig of the live cluster.")]
As = Annotated[str, typer.Option("--as", metavar="USER", help="Impersonate this user in the live cluster.")]
AsGroup = Annotated[
    list[str] | None, typer.Option("--as-group", metavar="GROUP", help="Impersonate this group; repeatable.")
]
RequestTimeout = Annotated[
    str,
    typer.Option("--request-timeout", metavar="DURATION", help="How long one request to the live cluster may take."),
]
SchedulerConfig = Annotated[str, typer.Option(metavar="FILE", help="The KubeSchedulerConfiguration to follow.")]
SchedulerConfigFromCluster = Annotated[
    bool,
    typer.Option(
        "--scheduler-config-from-cluster", help="Follow the one in a ConfigMap of the live cluster, if it has one."
    ),
]
Profile = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="A profile of that file, or of `schedctl profiles list`.",
        autocompletion=suggestions.profiles,
    ),
]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="WHERE",
        help="Scheduler plugins of your own: FILE.py, FILE.py:Class, MODULE or MODULE:Class; repeatable.",
    ),
]
AllowExtenders = Annotated[
    bool,
    typer.Option(
        "--allow-extenders", help="Ask the extenders of the configuration; pods and nodes are sent to their servers."
    ),
]
ExtenderRecord = Annotated[
    str, typer.Option("--extender-record", metavar="FILE", help="Write down there what extenders are asked and say.")
]
ExtenderReplay = Annotated[
    str, typer.Option("--extender-replay", metavar="FILE", help="Ask no extender; take its answers from such a file.")
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="FILE|NAME",
        help="Compare with this configuration or profile of `schedctl profiles list`; repeatable.",
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
