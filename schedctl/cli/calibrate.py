"""``schedctl calibrate``: how far the decisions that a cluster shows come out as they were."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_state
from schedctl.session.states import StateSource

EXAMPLES = """
Examples:
  schedctl calibrate                             # newest 200 decisions, live
  schedctl calibrate --last 1000 -o json
  schedctl calibrate -f cluster.json

Exit codes: 0 answered; 2 usage, configuration or output; 3 input; 4 cluster; 5 no decision to repeat; 70 a bug;
130 interrupted; 141 output closed
"""
NEWEST = 200


@with_state
@with_notifier
def calibrate(
    last: Annotated[int, typer.Option(min=1, metavar="N", help="Repeat the newest N decisions (default 200)")] = NEWEST,
    scheduler_config: options.SchedulerConfig = "",
    plugin: options.Plugins = None,
    output: options.Output = "text",
    limit: options.Limit = 0,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
) -> int:
    """Repeat the scheduling decisions that a cluster shows, and count how many come out the same.

    A bound pod is scheduled again on the state without it and without what came after it; a pending pod's recorded
    FailedScheduling event is compared with today's answer. Each difference is shown with its possible cause. Nothing is
    changed: the state is read from the live cluster, with the events of its pods, or from the files of -f.
    """
    from schedctl.cli.printing import Printer
    from schedctl.session import calibrate as use_case
    from schedctl.session.sessions import SchedulerOptions, Session

    printer = Printer.of(output, color)
    session = Session(source, SchedulerOptions(scheduler_config, plugins=plugin or ()), notifier)
    session.load()
    report = use_case.calibrate(session, last=last)
    printer.write(session.with_calls(report), limit=limit)
    return report.summary.exit_code
