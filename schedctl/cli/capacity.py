"""``schedctl capacity``: how many more pods fit, where, and what stops the next."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
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
  schedctl capacity --like deploy/web -n shop    # how many more replicas fit?
  schedctl capacity --like pod/web-0 -n shop --by node
  schedctl capacity --like web.yaml -f cluster.json
  schedctl capacity --like deploy/web -n shop --lose zone=eu-1a
  schedctl capacity --like deploy/web -n shop --max 5 --exit-code
  schedctl capacity --like deploy/web --on type=m6i.large   # on one new node

Exit codes: 0 answered; 1 not one more fits (with --exit-code); 2 usage, configuration or output; 3 input;
4 cluster; 5 inconclusive; 70 a bug; 130 interrupted; 141 output closed
"""
MOST = 10_000


@with_what_ifs
@with_extenders
@with_redactable_state
@with_notifier
def capacity(
    like: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Pod or workload as KIND/NAME, or a file with one; repeatable",
            rich_help_panel=SELECT,
        ),
    ] = None,
    namespace: options.Namespace = "",
    by: Annotated[
        str, typer.Option(metavar="LABEL", help="Count by zone, node or any label (default: zone and pool)")
    ] = "",
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="type=NAME",
            help="Fill one new node of this instance type, alone in a fresh cluster; repeatable",
            rich_help_panel=SELECT,
        ),
    ] = None,
    instance_types: options.InstanceTypes = "",
    most: Annotated[int, typer.Option("--max", min=1, metavar="N", help="Stop after N pods")] = MOST,
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    output: options.OutputOrPage = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if not one more fits", rich_help_panel=OUTPUT)
    ] = False,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
    what_ifs: WhatIfs,
    extenders: ExtenderOptions,
) -> int:
    """Count how many more pods like one fit, by zone and pool, and show what stops the next one.

    Pods are placed one after another by the whole scheduling cycle, without preemption, until one finds no node. How
    large a single pod could be is shown, too. With several --like, each is counted alone, on the cluster as it is. Pods
    that lose their node to a what-if are placed first. Nothing is changed: the state is read from the live cluster, or
    from the files of -f.
    """
    from functools import partial

    from schedctl.api import autoscalers
    from schedctl.cli.printing import Printer
    from schedctl.session import capacity as use_case
    from schedctl.session import capacity_models
    from schedctl.session.sessions import SchedulerOptions, Session

    printer = Printer.of(output, color, pages=True)
    if not like:
        raise UsageError("no pod or workload given", "e.g. `schedctl capacity --like deploy/web -f FILE`")
    namespace = source.namespace(namespace)
    scheduler = SchedulerOptions(scheduler_config, profile, plugins=plugin or (), extenders=extenders)
    # what autoscalers keep is nothing to a node of a type, and not worth a warning
    kinds = autoscalers.KINDS if on and not source.of_cluster else ()
    session = Session(source, scheduler, notifier, what_ifs, kinds)
    session.load(about=partial(capacity_models.is_named, like, namespace))
    report = use_case.capacity(
        session,
        like,
        namespace=namespace,
        by=by,
        most=most,
        fail=exit_code,
        node_map=printer.is_page,
        on=on or (),
        types=instance_types,
    )
    printer.write(session.with_calls(report), limit=limit)
    return report.summary.exit_code
