"""Options that several commands take, each declared once: the same letter means the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from schedctl.cli import suggestions
from schedctl.cli.help_text import CLUSTER, EXTENDERS, OUTPUT, SCHEDULER, SELECT

Namespace = Annotated[
    str,
    typer.Option(
        "-n",
        "--namespace",
        metavar="NS",
        help="Namespace for names given without one",
        envvar="SCHEDCTL_NAMESPACE",
        rich_help_panel=SELECT,
        autocompletion=suggestions.namespaces,
    ),
]
State = Annotated[
    list[str] | None,
    typer.Option(
        "-f",
        "--filename",
        metavar="PATH",
        help="Read the cluster from this file, folder, glob or - (stdin); repeatable",
        rich_help_panel=CLUSTER,
    ),
]
Recursive = Annotated[
    bool,
    typer.Option(
        "--recursive/--no-recursive",
        "-R",
        help="Read folders inside folders, too (default)",
        rich_help_panel=CLUSTER,
    ),
]
StdinFilename = Annotated[
    str, typer.Option(metavar="PATH", help="File name shown for standard input in messages", rich_help_panel=CLUSTER)
]
Live = Annotated[
    bool,
    typer.Option(
        "--live", help="Read the live cluster, and add or replace objects from the files of -f", rich_help_panel=CLUSTER
    ),
]
Context = Annotated[
    str,
    typer.Option(
        "--context",
        metavar="NAME",
        help="Kubeconfig context of the live cluster",
        envvar="SCHEDCTL_CONTEXT",
        rich_help_panel=CLUSTER,
        autocompletion=suggestions.contexts,
    ),
]
Kubeconfig = Annotated[
    str,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Kubeconfig of the live cluster",
        envvar="SCHEDCTL_KUBECONFIG",
        rich_help_panel=CLUSTER,
    ),
]
As = Annotated[
    str, typer.Option("--as", metavar="USER", help="Impersonate this user in the live cluster", rich_help_panel=CLUSTER)
]
AsGroup = Annotated[
    list[str] | None,
    typer.Option("--as-group", metavar="GROUP", help="Impersonate this group; repeatable", rich_help_panel=CLUSTER),
]
RequestTimeout = Annotated[
    str,
    typer.Option(
        "--request-timeout",
        metavar="DURATION",
        help="Longest time for one request to the live cluster, e.g. 10s",
        envvar="SCHEDCTL_REQUEST_TIMEOUT",
        rich_help_panel=CLUSTER,
    ),
]
SchedulerConfig = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="KubeSchedulerConfiguration to use (default: built-in defaults)",
        rich_help_panel=SCHEDULER,
    ),
]
SchedulerConfigFromCluster = Annotated[
    bool,
    typer.Option(
        "--scheduler-config-from-cluster",
        help="Use the KubeSchedulerConfiguration in a ConfigMap of the live cluster, if one exists",
        rich_help_panel=SCHEDULER,
    ),
]
KubeVersion = Annotated[
    str,
    typer.Option(
        "--kube-version",
        metavar="VERSION",
        help="Judge as kube-scheduler of this version, e.g. 1.36; default: the cluster's version",
        envvar="SCHEDCTL_KUBE_VERSION",
        rich_help_panel=SCHEDULER,
        autocompletion=suggestions.words("1.37", "1.36", "1.35", "1.34"),
    ),
]
OfVersion = Annotated[
    str,
    typer.Option(
        "--kube-version",
        metavar="VERSION",
        help="Version of kube-scheduler that it is about, e.g. 1.36 (default: the newest)",
        autocompletion=suggestions.words("1.37", "1.36", "1.35", "1.34"),
    ),
]
FeatureGates = Annotated[
    list[str] | None,
    typer.Option(
        "--feature-gates",
        metavar="A=true,B=false",
        help="Feature gates as they are set on kube-scheduler; repeatable",
        rich_help_panel=SCHEDULER,
    ),
]
OfFeatureGates = Annotated[
    list[str] | None,
    typer.Option(
        "--feature-gates",
        metavar="A=true,B=false",
        help="Feature gates as they are set on that kube-scheduler; repeatable",
    ),
]
StrictVersion = Annotated[
    bool,
    typer.Option(
        "--strict-version",
        help="Refuse a version that is not reproduced, instead of using the nearest",
        rich_help_panel=SCHEDULER,
    ),
]
Profile = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Use this profile of that file, or of `schedctl profiles list`",
        rich_help_panel=SCHEDULER,
        autocompletion=suggestions.profiles,
    ),
]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="WHERE",
        help="Load your scheduler plugin: FILE.py, FILE.py:Class, MODULE or MODULE:Class; repeatable",
        rich_help_panel=SCHEDULER,
    ),
]
AllowExtenders = Annotated[
    bool,
    typer.Option(
        "--allow-extenders",
        help="Call the extenders in the configuration (sends pods and nodes to their servers)",
        rich_help_panel=EXTENDERS,
    ),
]
ExtenderRecord = Annotated[
    str,
    typer.Option(
        "--extender-record",
        metavar="FILE",
        help="Record the calls of extenders and their answers in this file",
        rich_help_panel=EXTENDERS,
    ),
]
ExtenderReplay = Annotated[
    str,
    typer.Option(
        "--extender-replay",
        metavar="FILE",
        help="Read the answers of extenders from such a record instead of calling them",
        rich_help_panel=EXTENDERS,
    ),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="FILE|NAME",
        help="Compare with this configuration, or profile of `schedctl profiles list`; repeatable",
        rich_help_panel=SCHEDULER,
        autocompletion=suggestions.profiles,
    ),
]
CompareVersion = Annotated[
    str,
    typer.Option(
        metavar="VERSION",
        help="Compare with kube-scheduler of this version, e.g. 1.37; without manifests, for what runs in the cluster",
        rich_help_panel=SCHEDULER,
        autocompletion=suggestions.words("1.37", "1.36", "1.35", "1.34"),
    ),
]
Config = Annotated[
    str, typer.Option(metavar="FILE", help="Configuration of schedctl, instead of the nearest .schedctl.yaml")
]
NoConfig = Annotated[bool, typer.Option("--no-config", help="Read no configuration of schedctl")]
Sampling = Annotated[
    bool,
    typer.Option(
        "--sampling", help="Judge only as many nodes as kube-scheduler would, not all", rich_help_panel=SCHEDULER
    ),
]
SkipAdmission = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PLUGIN,...",
        help="Do not run these admission plugins, e.g. ResourceQuota,LimitRanger; repeatable",
        autocompletion=suggestions.admission_plugins,
    ),
]
Rollout = Annotated[
    str,
    typer.Option(
        metavar="STRATEGY",
        help="How new pods replace old ones: replace (all at once; default), add (keep the old ones) or rolling",
        autocompletion=suggestions.rollouts,
    ),
]
NodeGroups = Annotated[
    str,
    typer.Option(
        "--node-groups",
        metavar="FILE",
        help="Describe or change groups of nodes: sizes, prices, what a new node is like",
        rich_help_panel=CLUSTER,
    ),
]
InstanceTypes = Annotated[
    str,
    typer.Option(
        "--instance-types",
        metavar="FILE",
        help="Instance types with sizes and prices, CSV or JSON",
        rich_help_panel=CLUSTER,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FORMAT",
        help="text (default), wide, json, yaml, name or jsonpath=TEMPLATE",
        envvar="SCHEDCTL_OUTPUT",
        rich_help_panel=OUTPUT,
        autocompletion=suggestions.words("text", "wide", "json", "yaml", "name", "jsonpath="),
    ),
]
OutputOrPage = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FORMAT",
        help="text (default), wide, json, yaml, html, name or jsonpath=TEMPLATE",
        envvar="SCHEDCTL_OUTPUT",
        rich_help_panel=OUTPUT,
        autocompletion=suggestions.words("text", "wide", "json", "yaml", "html", "name", "jsonpath="),
    ),
]
Redact = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="strict: hash names and values in the answer, as in a snapshot, so that it can be shared",
        rich_help_panel=OUTPUT,
        autocompletion=suggestions.words("strict"),
    ),
]
KeyFile = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Key of the hashes, created if missing (default: a key that is not kept)",
        rich_help_panel=OUTPUT,
    ),
]
Limit = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Longest list to print, answers included (0: choose for me)",
        envvar="SCHEDCTL_LIMIT",
        rich_help_panel=OUTPUT,
    ),
]
Color = Annotated[
    str,
    typer.Option(
        metavar="WHEN",
        help="auto (default), always or never",
        envvar="SCHEDCTL_COLOR",
        rich_help_panel=OUTPUT,
        autocompletion=suggestions.words("auto", "always", "never"),
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print no warnings", rich_help_panel=OUTPUT)]
Trace = Annotated[
    str, typer.Option(metavar="FILE", help="Write every step to this file, as JSON lines", rich_help_panel=OUTPUT)
]
Verbose = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Print what is being done, and plugin calls", rich_help_panel=OUTPUT),
]
Debug = Annotated[bool, typer.Option("--debug", help="Print a traceback on errors", rich_help_panel=OUTPUT)]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress bar", rich_help_panel=OUTPUT)]
NoHeaders = Annotated[bool, typer.Option("--no-headers", help="Print no headings", rich_help_panel=OUTPUT)]
Jobs = Annotated[
    int,
    typer.Option("--jobs", min=0, metavar="N", help="Processes side by side (0: one for each core)"),
]
ConfidenceDraws = Annotated[
    int,
    typer.Option("--draws", min=1, metavar="N", help="Draws among tied nodes for checks with a `confidence`"),
]


def one_list(entries: Sequence[str] | None) -> str:
    """Return all that an option of comma-separated entries says, as one text: given twice, it says both."""
    return ",".join(entries or ())
