"""``schedctl calibrate``: how far the decisions that a cluster shows come out as they were."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.progress import Bar
from schedctl.session.states import LIVE, Where, with_state

EXAMPLES = """\b
Examples:
  schedctl calibrate                                     the newest 200 decisions of the live cluster
  schedctl calibrate --last 1000 -o json
  schedctl calibrate -f cluster.json

\b
Exit codes: 0 answered, 2 usage, configuration or output, 3 input, 4 cluster, 5 there is no decision to make again,
70 a bug, 130 interrupted, 141 the reader went away.
"""
NEWEST = 200


@with_state
def calibrate(
    last: Annotated[int, typer.Option(min=1, metavar="N", help="Make the newest N decisions again.")] = NEWEST,
    scheduler_config: options.SchedulerConfig = "",
    output: options.Output = "text",
    limit: options.Limit = 0,
    color: options.Color = "auto",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
    where: Where = LIVE,
) -> int:
    """Make the decisions that a cluster shows again, and say how many come out as they were.

    Of each bound pod the node is asked for anew, on the state without the pod and without what came after it; of each
    pending pod, what it was told. Differences are told with what may be the cause. Nothing is changed: the state is
    read from the live cluster, with the events of its pods, or from the files of -f.
    """
    from schedctl.calibration import replays, report_builder, timelines
    from schedctl.calibration.traces import Known, promises, shunned
    from schedctl.cli.printing import Printer
    from schedctl.reports.metadata import Input, Metadata
    from schedctl.scheduler import Scheduler
    from schedctl.session import configurations, histories

    printer = Printer.of(output, color)
    chosen = configurations.choose(scheduler_config, "", where)
    state = where.load(quiet=quiet, verbose=verbose, progress=not no_progress)
    chosen = configurations.completed(chosen, state, quiet=quiet)
    cluster = state.assembled.cluster
    scheduled, preempted, failed, notes = histories.decided(state)
    scheduler = Scheduler(cluster, chosen.configuration, chosen.registry, extenders=chosen.extenders)
    timeline = timelines.timeline(scheduler, scheduled)
    with Bar("deciding", wanted=not no_progress) as bar:
        lines = replays.told(scheduler, failed)
        made = replays.replay(scheduler, timeline, most=last, lines=lines, progress=bar.advance)
    known = Known(
        timeline,
        timelines.gone(cluster, list(state.assembled.finished.values()), scheduled),
        promises(preempted),
        sorted({info.pod.spec.node_name for info in cluster.strays.values()}),
        shunned(made.replays),
    )
    metadata = Metadata(
        configuration=chosen.origin,
        inputs=[Input(source=name, digest=digest, role="State") for name, digest in state.manifests.digests.items()],
    )
    report = report_builder.report(made, known, metadata=metadata, notes=notes)
    printer.write(report, limit=limit)
    return report.summary.exit_code


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Make a cluster's decisions again and compare.", epilog=EXAMPLES)(calibrate)
