"""``schedctl bind``: a pod bound to the node that the rules choose, when its user says so.

It is the only command that changes anything, and only by flags on the command line: no configuration file and no
environment variable has a say in whether.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_state
from schedctl.errors import UsageError
from schedctl.session.states import StateSource

if TYPE_CHECKING:
    from schedctl.reports.bindings import BindReport
    from schedctl.session.subjects import ObjectName

_DRY_RUNS = ("none", "client", "server")
EXAMPLES = """
Examples:
  schedctl bind pod web-0 -n shop                # dry run: prints the Binding
  schedctl bind shop/web-0 --dry-run=server      # is the Binding valid?
  schedctl bind shop/web-0 --execute             # binds, after a question
  schedctl bind shop/web-0 --node node-3 --execute --yes
  schedctl bind shop/web-0 -f cluster.yaml -o yaml

Exit codes: 0 bound, or the Binding is printed; 1 unschedulable (with --exit-code or --execute), or the question was
answered "no"; 2 usage, configuration or output; 3 input; 4 refused, or the cluster; 5 inconclusive; 70 a bug;
130 interrupted; 141 output closed
"""


@with_state
@with_notifier
def bind(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[pod] NAME",
            help="Also pod/NAME, NS/NAME and pod NS/NAME",
            show_default=False,
            autocompletion=suggestions.pods,
        ),
    ] = None,
    namespace: options.Namespace = "",
    node: Annotated[
        str, typer.Option(metavar="NAME", help="Bind to this node, if it is feasible", autocompletion=suggestions.nodes)
    ] = "",
    execute: Annotated[bool, typer.Option("--execute", help="Bind the pod; without it nothing is changed")] = False,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Bind without asking first")] = False,
    dry_run: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="none (default), client (send nothing) or server (the API server checks it and changes nothing)",
            autocompletion=suggestions.words(*_DRY_RUNS),
        ),
    ] = "none",
    force_scheduler: Annotated[
        bool, typer.Option("--force-scheduler", help="Bind a pod that belongs to another scheduler")
    ] = False,
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if the pod is unschedulable", rich_help_panel=OUTPUT)
    ] = False,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
) -> int:
    """Choose a node for a pending pod and print the Binding; `--execute` binds the pod.

    Before anything is sent, the pod, the node and the pods on it are read again; if one has changed since the decision,
    nothing is sent. Only pods whose schedulerName is a profile of the configuration in use, and not default-scheduler,
    are bound. A pod that needs a preemption is not bound.
    """
    from functools import partial

    from schedctl.cli import terminations
    from schedctl.cli.printing import Printer
    from schedctl.session import bind as use_case
    from schedctl.session import configurations
    from schedctl.session import subjects as search
    from schedctl.session.sessions import SchedulerOptions, Session

    printer = Printer.of(output, color)
    sends = _is_sent(source, execute=execute, yes=yes, dry_run=dry_run)
    name = _parse_pod_name(subjects or [])
    session = Session(source, SchedulerOptions(scheduler_config, profile, plugins=plugin or ()), notifier)
    scope = search.scope(source.namespace(namespace), everywhere=False)
    session.load(about=partial(search.named_among, [name], scope))
    (pod,) = search.find(name, session.state.assembled, scope)
    # Whoever sends a Binding has to see by the exit code that nothing was bound.
    request = use_case.BindRequest(pod, node, sends, force_scheduler, exit_code or sends)
    decision = use_case.plan(request, session)
    report = decision.report
    if decision.plan is not None and sends:
        if dry_run != "server" and not yes:
            _ask(report, color)
        # A process that ended in between would leave behind what PreBind had written.
        with terminations.as_interrupts():
            report = use_case.send(session, decision, dry_run=dry_run == "server")
    printer.write(report, limit=limit)
    if not (notifier.quiet or session.choice.profile):
        configurations.suggest_profile_for(pod, session.choice, notifier)
    return report.summary.exit_code


def _is_sent(source: StateSource, *, execute: bool, yes: bool, dry_run: str) -> bool:
    """Return whether anything is to be sent.

    Raises:
        UsageError: the flags contradict each other, or nobody can be asked.
    """
    if dry_run not in _DRY_RUNS:
        raise UsageError(f'invalid --dry-run "{dry_run}"', f"--dry-run takes {', '.join(_DRY_RUNS)}")
    if execute and dry_run == "client":
        raise UsageError("--execute sends the Binding, and --dry-run=client sends nothing", "give one of them")
    sends = execute or dry_run == "server"
    if sends and source.paths:
        flag = "--execute" if execute else "--dry-run=server"
        raise UsageError(f"{flag} needs a live cluster, but -f reads files", "remove -f")
    if execute and dry_run == "none" and not yes and not sys.stdin.isatty():
        raise UsageError(
            "--execute asks before it binds, but standard input is not a terminal", "`--yes` binds without asking"
        )
    return sends


def _parse_pod_name(arguments: Sequence[str]) -> ObjectName:
    """Return the name of the one pod that is named.

    Raises:
        UsageError: it is not one, or something else is named.
    """
    from dataclasses import replace

    from schedctl.session import subjects
    from schedctl.session.subject_kinds import POD

    _, names = subjects.parse_names(arguments)
    if len(names) != 1 or names[0].kind not in (POD, None):
        raise UsageError("bind takes exactly one pod", "e.g. `schedctl bind pod NAME -n NAMESPACE`")
    return replace(names[0], kind=POD)


def _ask(report: BindReport, color: str) -> None:
    """Show what is going to happen and have the user say yes, on the terminal.

    Raises:
        typer.Abort: the terminal is gone.
        typer.Exit: the answer is no.
    """
    from schedctl.cli import questions
    from schedctl.render import bindings, layout, terminals

    layout.write(
        bindings.lines(report, asking=True), sys.stderr, terminals.of(sys.stderr, color=color, environ=os.environ)
    )
    summary = report.summary
    questions.ask(f"Bind {summary.pod} to {summary.node} in {report.cluster}?", "nothing was sent")
