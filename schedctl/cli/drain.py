"""``schedctl drain``: what ``kubectl drain`` would do to nodes, and where their pods would go."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.extender_options import with_extenders
from schedctl.cli.help_text import OUTPUT, SELECT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_redactable_state
from schedctl.cli.what_if_options import with_what_ifs_but
from schedctl.errors import UsageError
from schedctl.session.extenders import ExtenderOptions
from schedctl.session.states import StateSource
from schedctl.session.what_ifs import WhatIfs

EXAMPLES = """
Examples:
  schedctl drain node-3 --ignore-daemonsets --delete-emptydir-data
  schedctl drain -l pool=spot --ignore-daemonsets
  schedctl drain --zone eu-1a --ignore-daemonsets --exit-code
  schedctl drain node-3 --ignore-daemonsets --add-node like:node-3
  schedctl drain node-3 --ignore-daemonsets -f cluster.json -o name

Exit codes: 0 answered; 1 not drainable, or pods stay pending (with --exit-code); 2 usage, configuration or output;
3 input; 4 cluster; 5 inconclusive; 70 a bug; 130 interrupted; 141 output closed
"""


@with_what_ifs_but("drain")
@with_extenders
@with_redactable_state
@with_notifier
def drain(
    nodes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NODE...]",
            help="The nodes to drain, in this order",
            show_default=False,
            autocompletion=suggestions.nodes,
        ),
    ] = None,
    selector: Annotated[
        str,
        typer.Option(
            "-l", "--selector", metavar="SELECTOR", help="All nodes with these labels", rich_help_panel=SELECT
        ),
    ] = "",
    zone: Annotated[str, typer.Option(metavar="ZONE", help="All nodes of this zone", rich_help_panel=SELECT)] = "",
    ignore_daemonsets: Annotated[
        bool, typer.Option("--ignore-daemonsets", help="Leave the pods of DaemonSets on their nodes")
    ] = False,
    delete_emptydir_data: Annotated[
        bool, typer.Option("--delete-emptydir-data", help="Evict pods with emptyDir volumes, whose data would be lost")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Evict pods without a controller, which nothing would recreate")
    ] = False,
    disable_eviction: Annotated[
        bool, typer.Option("--disable-eviction", help="Delete pods regardless of PodDisruptionBudgets")
    ] = False,
    pod_selector: Annotated[
        str, typer.Option("--pod-selector", metavar="SELECTOR", help="Evict only pods with these labels")
    ] = "",
    grace_period: Annotated[
        int,
        typer.Option(
            "--grace-period", metavar="SECONDS", help="Grace period of each pod (negative: the pod's own; default -1)"
        ),
    ] = -1,
    timeout: Annotated[
        str,
        typer.Option(
            metavar="DURATION", help="Accepted for kubectl's sake; only 0s (no limit) is supported.", hidden=True
        ),
    ] = "",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    output: options.OutputOrPage = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Exit with 1 if a node cannot be drained, or pods stay pending",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
    what_ifs: WhatIfs,
    extenders: ExtenderOptions,
) -> int:
    """Show what `kubectl drain` would do: where pods would go, what a PodDisruptionBudget refuses, what stays pending.

    All nodes are cordoned, then drained one after another. Controllers recreate the evicted pods, which are scheduled
    on the remaining nodes; a PodDisruptionBudget allows the next eviction once the pod before runs again. Nothing is
    changed: the state is read from the live cluster, or from the files of -f.
    """
    from schedctl.api import label_selectors
    from schedctl.cli.printing import Printer
    from schedctl.session import drain as use_case
    from schedctl.session.sessions import SchedulerOptions, Session
    from schedctl.session.states import about_nothing
    from schedctl.simulation.drains import DrainFlags

    printer = Printer.of(output, color, pages=True)
    if timeout not in ("", "0", "0s"):
        raise UsageError(
            f"--timeout {timeout} is not simulated: the drain runs until no more pods can be evicted",
            "remove it, and compare it with `goneAt` of each pod in `-o json`",
        )
    _check_selection(nodes or [], selector, zone)
    flags = DrainFlags(
        ignore_daemonsets=ignore_daemonsets,
        delete_emptydir_data=delete_emptydir_data,
        force=force,
        disable_eviction=disable_eviction,
        pod_selector=label_selectors.parse(pod_selector),
        grace_period=float(grace_period) if grace_period >= 0 else None,
    )
    scheduler = SchedulerOptions(scheduler_config, profile, plugins=plugin or (), extenders=extenders)
    session = Session(source, scheduler, notifier, what_ifs)
    session.load(about=about_nothing)
    selection = use_case.NodeSelection(nodes or (), selector, zone)
    report = use_case.drain(session, selection, flags, fail=exit_code, node_map=printer.is_page)
    printer.write(session.with_calls(report), limit=limit)
    return report.summary.exit_code


def _check_selection(nodes: list[str], selector: str, zone: str) -> None:
    """See to it that nodes are selected in one way.

    Raises:
        UsageError: they are not.
    """
    options_used = [option for option, value in (("names", nodes), ("-l", selector), ("--zone", zone)) if value]
    if not options_used:
        raise UsageError("no node given", "e.g. `schedctl drain NODE -f FILE`, `-l pool=spot` or `--zone Z`")
    if len(options_used) > 1:
        raise UsageError(f"{' and '.join(options_used)} were both given", "give one of them")
