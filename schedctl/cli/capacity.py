"""``schedctl capacity``: how many more pods fit, where, and what stops the next."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.progress import Bar
from schedctl.errors import UsageError
from schedctl.session.extenders import NOBODY, Extending, with_extenders
from schedctl.session.states import LIVE, Where, with_state
from schedctl.session.what_ifs import NOTHING, WhatIf, settle, with_what_ifs

EXAMPLES = """\b
Examples:
  schedctl capacity --like deploy/web -n shop -f cluster.json     how many more replicas of web fit
  schedctl capacity --like pod/web-0 -n shop -f cluster.json --by node
  schedctl capacity --like web.yaml -f cluster.json               pods of a manifest
  schedctl capacity --like deploy/web -n shop -f cluster.json --lose zone=eu-1a
  schedctl capacity --like deploy/web -n shop -f cluster.json --max 5 --exit-code

\b
Exit codes: 0 answered, 1 not one more fits (with --exit-code), 2 usage, configuration or output, 3 input,
4 cluster, 5 inconclusive, 70 a bug, 130 interrupted, 141 the reader went away.
"""
MOST = 10_000


@with_what_ifs
@with_extenders
@with_state
def capacity(
    like: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="KIND/NAME of a pod or workload, or a file with one; repeatable."),
    ] = None,
    namespace: Annotated[str, typer.Option("-n", "--namespace", metavar="NS", help="Of names without one.")] = "",
    by: Annotated[
        str, typer.Option(metavar="LABEL", help="Count by zone, node or any label; without it by zone and pool.")
    ] = "",
    most: Annotated[int, typer.Option("--max", min=1, metavar="N", help="Try no more than N.")] = MOST,
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 1 if not one more fits.")] = False,
    color: options.Color = "auto",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
    where: Where = LIVE,
    what_if: WhatIf = NOTHING,
    extending: Extending = NOBODY,
) -> int:
    """Count how many more pods like one fit on a cluster, by zone and pool, and say what stops the next.

    Pods are placed one after another by the whole scheduling cycle, until one finds no node; nobody is evicted for
    them. It also says how large a single pod could be. Of several --like, each is counted alone, on the cluster as it
    is. Pods that lose their node to a what-if are placed first. Nothing is changed: the
    state is read from the live cluster, or from the files of -f.
    """
    from schedctl.cli.printing import Printer
    from schedctl.explain import facts as read_off
    from schedctl.explain.pending_pods import without_nodes
    from schedctl.reports.metadata import Input, Metadata
    from schedctl.scheduler import Scheduler
    from schedctl.scheduler.gaps import gathering, missing_kinds
    from schedctl.session import capacity_models, configurations
    from schedctl.session.schedulers import PluginFaults
    from schedctl.simulation import capacities, capacity_report_builder

    printer = Printer.of(output, color)
    if not like:
        raise UsageError("say which pods", "e.g. `schedctl capacity --like deploy/web -f FILE`")
    namespace = where.namespace(namespace)
    chosen = configurations.choose(scheduler_config, profile, where, plugin)
    state = where.load(quiet=quiet, verbose=verbose, progress=not no_progress, kinds=chosen.registry.kinds)
    chosen = extending.connected(configurations.completed(chosen, state, quiet=quiet), quiet=quiet)
    cluster = state.assembled.cluster
    with gathering(cluster) as gathered:
        changed = what_if.apply(cluster, namespace)
        asked = [model for text in like for model in capacity_models.named(text, state.assembled, namespace)]
        scheduler = Scheduler(
            cluster,
            chosen.configuration,
            chosen.registry,
            PluginFaults(quiet=quiet),
            extenders=chosen.extenders,
        )
        settled = settle(changed, scheduler)
        labels = capacity_report_builder.labels_of(cluster, by)
        results, interrupted = [], False
        with Bar("placing", wanted=not no_progress) as bar:
            for model in asked:
                if interrupted:
                    break
                with scheduler.fork():
                    copies = capacity_models.copies(model, scheduler, chosen.profile)
                    filled = capacities.fill(
                        scheduler,
                        copies,
                        most=most,
                        ask=lambda outcome: without_nodes(read_off.reasons(outcome)),
                        tick=lambda placed: bar.advance(placed, most, f"{placed} placed"),
                    )
                    results.append(
                        capacity_report_builder.result(
                            filled, cluster, subject=model.subject, by=labels, notes=model.notes
                        )
                    )
                interrupted = filled.interrupted
    gathered.admission(state.assembled.unknown)
    metadata = Metadata(
        configuration=chosen.origin,
        what_if=[*state.laid_over, *(each.text for each in changed), *settled],
        inputs=[Input(source=name, digest=digest, role="State") for name, digest in state.manifests.digests.items()],
        missing=missing_kinds(cluster, chosen.registry),
    )
    report = capacity_report_builder.report(
        results, metadata=metadata, fail=exit_code, interrupted=interrupted, guesses=gathered.told()
    )
    printer.write(report, limit=limit)
    return report.summary.exit_code


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Count how many more pods fit.", epilog=EXAMPLES)(capacity)
