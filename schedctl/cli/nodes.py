"""``schedctl nodes``: how many nodes of which group would have to be added, and which can go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.extender_options import with_extenders
from schedctl.cli.help_text import OUTPUT, SELECT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_redactable_state
from schedctl.cli.what_if_options import with_what_ifs
from schedctl.errors import UsageError
from schedctl.session.extenders import ExtenderOptions
from schedctl.session.states import StateSource
from schedctl.session.what_ifs import WhatIfs

EXAMPLES = """
Examples:
  schedctl nodes                         # what would place the pending pods?
  schedctl nodes --for release/ -f prod.json.gz
  schedctl nodes --instance-types types.csv --minimize cost
  schedctl nodes --expander priority -f prod.json.gz
  schedctl nodes --as-autoscaler karpenter --instance-types types.csv
  schedctl nodes --shrink -f prod.json.gz        # which nodes can go?
  schedctl nodes --shrink -f prod.json.gz --delete-emptydir-data -o name

Exit codes: 0 answered; 1 pods stay pending, or no node can go (with --exit-code); 2 usage, configuration or output;
3 input; 4 cluster; 5 inconclusive; 70 a bug; 130 interrupted; 141 output closed
"""
_OBJECTIVES = ("count", "cost")
_ANY = "best"


@with_what_ifs
@with_extenders
@with_redactable_state
@with_notifier
def nodes(
    manifests: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="MANIFESTS",
            help="Place these manifests besides the pending pods: a file, folder, glob or - (stdin); repeatable",
            rich_help_panel=SELECT,
        ),
    ] = None,
    kustomize: Annotated[
        list[str] | None,
        typer.Option(
            "-k",
            "--kustomize",
            metavar="DIR",
            help="Folder to build with kustomize; repeatable",
            rich_help_panel=SELECT,
        ),
    ] = None,
    namespace: options.Namespace = "",
    shrink: Annotated[
        bool,
        typer.Option("--shrink", help="Show which nodes can go, with every pod placed again", rich_help_panel=SELECT),
    ] = False,
    as_autoscaler: Annotated[
        str,
        typer.Option(
            "--as-autoscaler",
            metavar="NAME",
            help="Show as well what this autoscaler would do by its own rules: karpenter",
            autocompletion=suggestions.words("karpenter"),
        ),
    ] = "",
    node_groups: options.NodeGroups = "",
    instance_types: options.InstanceTypes = "",
    minimize: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Add the fewest nodes (count; default) or the cheapest (cost)",
            autocompletion=suggestions.words(*_OBJECTIVES),
        ),
    ] = "count",
    expander: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Show the choice of this expander: least-waste, most-pods, price or priority (default: the best plan)",
            autocompletion=suggestions.words(_ANY, "least-waste", "most-pods", "price", "priority"),
        ),
    ] = _ANY,
    effort: Annotated[
        int, typer.Option(min=0, metavar="N", help="Try at most N plans, or larger removals (0: choose for me)")
    ] = 0,
    delete_emptydir_data: Annotated[
        bool,
        typer.Option(
            "--delete-emptydir-data", help="With --shrink: move pods with emptyDir volumes, whose data is lost"
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --shrink: evict pods without a controller, which nothing recreates")
    ] = False,
    allow_preemption: Annotated[
        bool, typer.Option("--allow-preemption", help="With --shrink: let moved pods preempt others")
    ] = False,
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    config: options.Config = "",
    no_config: options.NoConfig = False,
    output: options.OutputOrPage = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool,
        typer.Option("--exit-code", help="Exit with 1 if pods stay pending, or no node can go", rich_help_panel=OUTPUT),
    ] = False,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
    what_ifs: WhatIfs,
    extenders: ExtenderOptions,
) -> int:
    """Show how many nodes of which group would place the pending pods, or a release; or which nodes can go.

    Groups are detected: Karpenter's NodePools, Cluster API and Cluster Autoscaler, labels of node pools, else nodes
    that are alike. New nodes are added on a copy of the cluster and the pods run through the whole scheduling cycle; a
    plan counts only if every pod is placed and none is preempted. Nothing is changed: the state is read from the live
    cluster, or from the files of -f.
    """
    from schedctl.api import autoscalers
    from schedctl.api.defaults import DEFAULT_NAMESPACE
    from schedctl.cli.printing import Printer
    from schedctl.session import karpenter, settings
    from schedctl.session import manifests as inputs
    from schedctl.session import nodes as use_case
    from schedctl.session.sessions import SchedulerOptions, Session
    from schedctl.session.states import about_nothing
    from schedctl.simulation.scale_downs.rules import RemovalRules

    printer = Printer.of(output, color, pages=True)
    karpenter.check_known(as_autoscaler)
    nodes_options = use_case.NodesOptions(
        node_groups=node_groups,
        instance_types=instance_types,
        minimize=use_case.objective(minimize),
        expander=use_case.expander(expander, use_case.objective(minimize)),
        effort=effort,
        rules=RemovalRules(delete_emptydir_data=delete_emptydir_data, force=force, allow_preemption=allow_preemption),
        fail=exit_code,
        node_map=printer.is_page,
        as_karpenter=bool(as_autoscaler),
    )
    paths, folders = manifests or [], kustomize or []
    _check_question(
        shrink,
        {"--for": bool(paths or folders), "--minimize": minimize != _OBJECTIVES[0], "--expander": expander != _ANY},
        {"--delete-emptydir-data": delete_emptydir_data, "--force": force, "--allow-preemption": allow_preemption},
    )
    namespace = source.namespace(namespace) or DEFAULT_NAMESPACE
    scheduler = SchedulerOptions(scheduler_config, profile, plugins=plugin or (), extenders=extenders)
    session = Session(source, scheduler, notifier, what_ifs, autoscalers.KINDS)
    user_settings = settings.load(config, ignored=no_config)
    read = None
    if paths or folders:
        inputs.check_sources(paths, folders, source.paths)
        read = inputs.load(
            paths,
            folders,
            recursive=source.recursive,
            stdin_filename=source.stdin_filename,
            namespace=namespace,
            allow_empty=False,
            strict=False,
            custom_kinds=user_settings.custom_kinds,
            kinds=session.kinds,
            notifier=notifier,
        )
    session.load(about=about_nothing, created=read)
    if read is not None:
        if not notifier.quiet:
            notifier.report([*read.warnings, *inputs.unread_warnings(read)], "warning")
        notifier.report(read.problems, "error")
        read = session.names.manifests(read)
    if shrink:
        report = use_case.shrink(session, nodes_options)
    else:
        report = use_case.plan(session, read, nodes_options, namespace=namespace, settings=user_settings.digests)
    printer.write(session.with_calls(report), limit=limit)
    return report.summary.exit_code


def _check_question(shrink: bool, of_plan: Mapping[str, bool], of_shrink: Mapping[str, bool]) -> None:
    """Check that no option is about the other question.

    Args:
        shrink: whether nodes are to go.
        of_plan: the options about nodes to add, and whether they say something.
        of_shrink: those about nodes that can go.

    Raises:
        UsageError: one is.
    """
    for option, is_given in (of_plan if shrink else of_shrink).items():
        if is_given and shrink:
            raise UsageError(f"--shrink and {option} were both given", "ask one after the other")
        if is_given:
            raise UsageError(f"{option} needs --shrink", "add --shrink")
