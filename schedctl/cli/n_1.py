"""``schedctl n-1``: which single node, zone or other group of nodes would leave pods pending if it were lost."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.extender_options import with_extenders
from schedctl.cli.help_text import OUTPUT, SELECT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_redactable_state
from schedctl.cli.what_if_options import with_what_ifs
from schedctl.session.extenders import ExtenderOptions
from schedctl.session.states import StateSource
from schedctl.session.what_ifs import WhatIfs

EXAMPLES = """
Examples:
  schedctl n-1                        # each node and zone of the live cluster
  schedctl n-1 -f prod.json.gz --jobs 4 -o json
  schedctl n-1 -f prod.json.gz --by zone
  schedctl n-1 -f prod.json.gz --by node --by rack --exit-code
  schedctl n-1 -f prod.json.gz --scale deploy/shop/web=40

Exit codes: 0 answered; 1 a loss would leave pods pending (with --exit-code); 2 usage, configuration or output;
3 input; 4 cluster; 5 inconclusive; 70 a bug; 130 interrupted; 141 output closed
"""


@with_what_ifs
@with_extenders
@with_redactable_state
@with_notifier
def n_1(
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="Lose each node, zone or value of any label in turn; repeatable (default: node and zone)",
            rich_help_panel=SELECT,
        ),
    ] = None,
    namespace: options.Namespace = "",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    jobs: options.Jobs = 0,
    output: options.OutputOrPage = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool,
        typer.Option("--exit-code", help="Exit with 1 if a loss would leave pods pending", rich_help_panel=OUTPUT),
    ] = False,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
    what_ifs: WhatIfs,
    extenders: ExtenderOptions,
) -> int:
    """Show which single node or zone would leave pods pending if it were lost, the worst first.

    Each is lost in turn, on the cluster as it is: controllers make its pods again, and the queue takes them through the
    whole scheduling cycle, preemption included. All other pods stay where they are. Where it is certain that every pod
    finds a node, nothing is placed. Nothing is changed: the state is read from the live cluster, or from the files of
    -f.
    """
    from operator import attrgetter

    from schedctl.cli.printing import Printer
    from schedctl.session.sessions import SchedulerOptions, Session
    from schedctl.session.states import about_nothing
    from schedctl.studies import node_losses
    from schedctl.studies.engines import engine_of

    printer = Printer.of(output, color, pages=True)
    namespace = source.namespace(namespace)
    scheduler = SchedulerOptions(scheduler_config, profile, plugins=plugin or (), extenders=extenders)
    session = Session(source, scheduler, notifier, what_ifs)
    session.load(about=about_nothing)
    # calls are counted in one process, and extenders are asked, or replayed, by one
    alone = notifier.verbose or session.choice.extenders
    engine = engine_of(1 if alone else jobs, weight=attrgetter("weight"))
    report = node_losses.lose(
        session, by or (), engine=engine, namespace=namespace, fail=exit_code, node_map=printer.is_page
    )
    printer.write(session.with_calls(report), limit=limit)
    return report.summary.exit_code
