"""``schedctl drain``: what ``kubectl drain`` would do to nodes, and where their pods would go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import options
from schedctl.cli.progress import Bar
from schedctl.errors import UsageError
from schedctl.session.extenders import NOBODY, Extending, with_extenders
from schedctl.session.states import LIVE, Where, with_state
from schedctl.session.what_ifs import NOTHING, WhatIf, settle, with_what_ifs

_NODE_PREFIX = re.compile(r"^(?:nodes?|no)/")
"""What `kubectl get nodes -o name` prints before a name, and what else kubectl takes for it."""

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster

EXAMPLES = """\b
Examples:
  schedctl drain node-3 -f cluster.json --ignore-daemonsets --delete-emptydir-data
  schedctl drain -l pool=spot -f cluster.json --ignore-daemonsets
  schedctl drain --zone eu-1a -f cluster.json --ignore-daemonsets --exit-code
  schedctl drain node-3 -f cluster.json --ignore-daemonsets --add-node like:node-3
  schedctl drain node-3 -f cluster.json --ignore-daemonsets -o name

\b
Exit codes: 0 answered, 1 not drainable, or pods stay pending (with --exit-code), 2 usage, configuration or output,
3 input, 4 cluster, 5 inconclusive, 70 a bug, 130 interrupted, 141 the reader went away.
"""


@with_what_ifs
@with_extenders
@with_state
def drain(
    nodes: Annotated[
        list[str] | None, typer.Argument(metavar="NODE...", help="The nodes, in this order.", show_default=False)
    ] = None,
    selector: Annotated[
        str, typer.Option("-l", "--selector", metavar="SELECTOR", help="All nodes with these labels.")
    ] = "",
    zone: Annotated[str, typer.Option(metavar="ZONE", help="All nodes of this zone.")] = "",
    ignore_daemonsets: Annotated[
        bool, typer.Option("--ignore-daemonsets", help="Leave the pods of DaemonSets where they are.")
    ] = False,
    delete_emptydir_data: Annotated[
        bool, typer.Option("--delete-emptydir-data", help="Evict pods with emptyDir volumes, whose contents are lost.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Evict pods that declare no controller, which do not come back.")
    ] = False,
    disable_eviction: Annotated[
        bool, typer.Option("--disable-eviction", help="Delete pods whatever their disruption budgets say.")
    ] = False,
    pod_selector: Annotated[
        str, typer.Option("--pod-selector", metavar="SELECTOR", help="Evict only pods with these labels.")
    ] = "",
    grace_period: Annotated[
        int, typer.Option("--grace-period", metavar="SECONDS", help="Of each pod; below 0 the pod's own.")
    ] = -1,
    timeout: Annotated[
        str, typer.Option(metavar="DURATION", help="Taken from kubectl only as 0s, to wait for good.", hidden=True)
    ] = "",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 1 if a node is not drainable or pods stay pending.")
    ] = False,
    color: options.Color = "auto",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
    where: Where = LIVE,
    what_if: WhatIf = NOTHING,
    extending: Extending = NOBODY,
) -> int:
    """Say what `kubectl drain` would do: which pods go where, what a disruption budget stops, and what stays pending.

    All nodes are cordoned, then emptied one after another. Evicted pods come back as their controllers make them, and
    are scheduled on the nodes that are left; a budget lets the next pod go once the one before runs again. Nothing is
    changed: the state is read from the live cluster, or from the files of -f.
    """
    from schedctl.api import label_selectors
    from schedctl.cli.printing import Printer
    from schedctl.reports.metadata import Input, Metadata
    from schedctl.scheduler import Scheduler
    from schedctl.scheduler.gaps import gathering, missing_kinds
    from schedctl.session import configurations, pending_reasons
    from schedctl.session.runs import Shown
    from schedctl.session.schedulers import PluginFaults
    from schedctl.simulation import drain_report_builder, drains
    from schedctl.simulation.budgets import Budgets

    printer = Printer.of(output, color)
    if timeout not in ("", "0", "0s"):
        raise UsageError(
            f"--timeout {timeout} is not simulated: a drain goes on until nothing can move any more",
            "leave it out, and compare `goneAt` of each pod in `-o json` with it",
        )
    _one_way(nodes or [], selector, zone)
    flags = drains.Flags(
        ignore_daemonsets=ignore_daemonsets,
        delete_emptydir_data=delete_emptydir_data,
        force=force,
        disable_eviction=disable_eviction,
        pod_selector=label_selectors.parse(pod_selector),
        grace_period=float(grace_period) if grace_period >= 0 else None,
    )
    chosen = configurations.choose(scheduler_config, profile, where, plugin)
    state = where.load(quiet=quiet, verbose=verbose, progress=not no_progress, kinds=chosen.registry.kinds)
    chosen = extending.connected(configurations.completed(chosen, state, quiet=quiet), quiet=quiet)
    cluster = state.assembled.cluster
    with gathering(cluster) as gathered:
        budgets = Budgets.of(cluster)
        changed = what_if.apply(cluster)
        names = _chosen(cluster, nodes or [], selector, zone)
        scheduler = Scheduler(
            cluster,
            chosen.configuration,
            chosen.registry,
            PluginFaults(quiet=quiet),
            extenders=chosen.extenders,
        )
        settled = settle(changed, scheduler)
        with Bar("draining", wanted=not no_progress) as bar:
            facts = drains.drain(scheduler, names, flags, budgets=budgets, progress=Shown(bar))
    gathered.admission(state.assembled.unknown)
    metadata = Metadata(
        configuration=chosen.origin,
        what_if=[*state.laid_over, *(each.text for each in changed), *settled],
        inputs=[Input(source=name, digest=digest, role="State") for name, digest in state.manifests.digests.items()],
        missing=missing_kinds(cluster, chosen.registry),
    )
    report = drain_report_builder.report(facts, cluster, metadata=metadata, fail=exit_code, guesses=gathered.told())
    if not facts.interrupted:
        with Bar("explaining", wanted=not no_progress) as bar:
            report = pending_reasons.of_drain(report, scheduler, bar.advance)
    printer.write(report, limit=limit)
    return report.summary.exit_code


def _one_way(nodes: list[str], selector: str, zone: str) -> None:
    """See to it that nodes are named in one way.

    Raises:
        UsageError: they are not.
    """
    ways = [way for way, given in (("names", nodes), ("-l", selector), ("--zone", zone)) if given]
    if not ways:
        raise UsageError("say which node to drain", "e.g. `schedctl drain NODE -f FILE`, `-l pool=spot` or `--zone Z`")
    if len(ways) > 1:
        raise UsageError(f"{' and '.join(ways)} were both given", "give one of them")


def _chosen(cluster: Cluster, nodes: list[str], selector: str, zone: str) -> list[str]:
    """Return the nodes to drain, each once.

    Raises:
        UsageError: one is not there, or none has the labels.
    """
    from schedctl.api import label_selectors
    from schedctl.simulation.node_choices import node_named, nodes_chosen

    if zone:
        return nodes_chosen(cluster, f"zone={zone}")
    if not selector:
        plain = dict.fromkeys(_NODE_PREFIX.sub("", name) for name in nodes)
        return [node_named(cluster, name).metadata.name for name in plain]
    query, table = label_selectors.parse(selector), cluster.node_table
    names = sorted(name for name, row in table.row_of.items() if query.matches(table.objects[row].metadata.labels))
    if not names:
        raise UsageError("no nodes have these labels", "`-l` selects nodes; `--pod-selector` selects pods")
    return names


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Say what draining nodes would do.", epilog=EXAMPLES)(drain)
