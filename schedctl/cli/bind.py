"""``schedctl bind``: pods bound to the nodes that the rules choose, when their user says so.

It is the only command that changes anything, and only by flags on the command line: no configuration file and no
environment variable has a say in whether.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec.structs import replace

from schedctl.cli import options, suggestions
from schedctl.cli.extender_options import with_extenders
from schedctl.cli.help_text import OUTPUT, SELECT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_state
from schedctl.errors import UsageError
from schedctl.session.extenders import ExtenderOptions
from schedctl.session.states import StateSource

if TYPE_CHECKING:
    from schedctl.api.pods import Pod
    from schedctl.reports.bindings import BindReport, GangBindReport
    from schedctl.session.sessions import Session
    from schedctl.session.subjects import Question

_DRY_RUNS = ("none", "client", "server")
_EXAMPLE: Final = "e.g. `schedctl bind pod NAME -n NAMESPACE`"
EXAMPLES = """
Examples:
  schedctl bind pod web-0 -n shop                # dry run: prints the Binding
  schedctl bind shop/web-0 --dry-run=server      # is the Binding valid?
  schedctl bind shop/web-0 --execute             # binds, after a question
  schedctl bind shop/web-0 --node node-3 --execute --yes
  schedctl bind shop/web-0 shop/web-1 --execute  # both, or none
  schedctl bind -n shop -l job=train --execute
  schedctl bind shop/web-0 -f cluster.yaml -o yaml

Exit codes: 0 bound, or the Binding is printed; 1 unschedulable (with --exit-code or --execute), or the question was
answered "no"; 2 usage, configuration or output; 3 input; 4 refused, or the cluster; 5 inconclusive; 70 a bug;
130 interrupted; 141 output closed
"""


@with_extenders
@with_state
@with_notifier
def bind(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[pod] NAME...",
            help="Also pod/NAME, NS/NAME and pod NS/NAME; several pods are bound together or not at all",
            show_default=False,
            autocompletion=suggestions.pods,
        ),
    ] = None,
    namespace: options.Namespace = "",
    selector: Annotated[
        str,
        typer.Option(
            "-l", "--selector", metavar="SELECTOR", help="All pending pods with these labels", rich_help_panel=SELECT
        ),
    ] = "",
    node: Annotated[
        str, typer.Option(metavar="NAME", help="Bind to this node, if it is feasible", autocompletion=suggestions.nodes)
    ] = "",
    execute: Annotated[bool, typer.Option("--execute", help="Bind; without it nothing is changed")] = False,
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
    trace: options.Trace = "",
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if the pod is unschedulable", rich_help_panel=OUTPUT)
    ] = False,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
    extenders: ExtenderOptions,
) -> int:
    """Choose a node for a pending pod and print the Binding; `--execute` binds the pod.

    With `--execute` the binding cycle of the profile is run: Reserve, Permit, PreBind, Bind and PostBind; where it
    fails, all is taken back. Before anything is sent, the pod, the node and the pods on it are read again; if one has
    changed since the decision, nothing is sent. Only pods whose schedulerName is a profile of the configuration in use,
    and not default-scheduler, are bound. A pod that needs a preemption is not bound.
    """
    from schedctl.cli import terminations
    from schedctl.cli.printing import Printer
    from schedctl.session import bind as use_case
    from schedctl.session import bind_execution, configurations
    from schedctl.session.sessions import SchedulerOptions, Session

    if not (subjects or selector):
        raise UsageError("no pod given", _EXAMPLE)
    printer = Printer.of(output, color)
    sends = _is_sent(source, extenders, execute=execute, yes=yes, dry_run=dry_run)
    executes = sends and dry_run != "server"
    question = _question(subjects or [], namespace, source.namespace(namespace), selector)
    chosen = SchedulerOptions(
        scheduler_config, profile, plugins=plugin or (), extenders=replace(extenders, binds=executes)
    )
    session = Session(source, chosen, notifier)
    session.load(about=question.may_be_about)
    pods = _pods(question, session)
    if node and len(pods) > 1:
        raise UsageError("--node and several pods were both given", "bind them one by one")
    # Whoever sends a Binding has to see by the exit code that nothing was bound.
    request = use_case.BindRequest(pods, node, sends, executes, force_scheduler, exit_code or sends)
    decision = use_case.plan(request, session)
    reports, why = list(decision.reports), ""
    write_trace = partial(_write_trace, trace)
    write_trace(())  # a bind whose trace cannot be written is to fail before it begins
    if decision.plans and executes:
        if not yes:
            _ask(use_case.combine(reports), color)
        # A process that ended in between would leave behind what PreBind had written.
        with terminations.as_interrupts():
            reports, why = bind_execution.execute(session, decision, write_trace)
    elif decision.plans and sends:
        reports = bind_execution.rehearse(session, decision)
    report = use_case.combine(reports, why)
    write_trace(reports)
    printer.write(session.with_calls(report), limit=limit)
    if not (notifier.quiet or session.choice.profile):
        for pod in pods:
            configurations.suggest_profile_for(pod, session.choice, notifier)
    return report.summary.exit_code


def _write_trace(path: str, reports: Sequence[BindReport]) -> None:
    """Write what the reports tell of, step by step, if a file is named.

    Raises:
        UsageError: it cannot be written.
    """
    from schedctl.session import traces

    if path:
        traces.write(traces.of_bindings(reports), path)


def _is_sent(source: StateSource, extenders: ExtenderOptions, *, execute: bool, yes: bool, dry_run: str) -> bool:
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
    if execute and extenders.replay:
        raise UsageError(
            "--execute binds in the live cluster, and --extender-replay answers for extenders", "remove one of them"
        )
    if execute and dry_run == "none" and not yes and not sys.stdin.isatty():
        raise UsageError(
            "--execute asks before it binds, but standard input is not a terminal", "`--yes` binds without asking"
        )
    return sends


def _question(arguments: Sequence[str], namespace: str, assumed: str, selector: str) -> Question:
    """Return which pods are to be bound.

    Raises:
        UsageError: none is named, or something else is.
    """
    from schedctl.session import subjects
    from schedctl.session.subject_kinds import POD, POD_GROUP

    question = subjects.question(
        arguments,
        namespace=namespace,
        all_namespaces=False,
        selector=selector,
        all_pending=False,
        assumed_namespace=assumed,
    )
    kinds = {question.kind, *(name.kind for name in question.names)}
    if not kinds <= {POD, POD_GROUP, None} or not (question.names or selector):
        raise UsageError("bind takes pods and pod groups", _EXAMPLE)
    names = tuple(replace(name, kind=name.kind or POD) for name in question.names)
    return replace(question, kind=question.kind or POD, names=names)


def _pods(question: Question, session: Session) -> list[Pod]:
    """Return the pods that are to be bound: those named, or those with the labels that are pending.

    Raises:
        UsageError: there are none.
    """
    from schedctl.api.pod_groups import PodGroup
    from schedctl.api.pods import FINISHED
    from schedctl.releases import GENERIC_WORKLOAD
    from schedctl.session import bind_groups

    found: list[Pod] = []
    for each in question.objects(session.state.assembled):
        if isinstance(each, PodGroup):
            if not session.cluster.release.enabled(GENERIC_WORKLOAD):
                raise UsageError(
                    f"PodGroup {each.key} cannot be bound as a group: {GENERIC_WORKLOAD} is off",
                    f"`--feature-gates {GENERIC_WORKLOAD}=true`",
                )
            found += bind_groups.pending_pods(each, session.cluster)
            if not found:
                raise UsageError(f"PodGroup {each.key} has no pending pods", _EXAMPLE)
        else:
            found.append(each)
    found = list({pod.key: pod for pod in found}.values())
    if question.query is None:
        return found
    pending = [pod for pod in found if not pod.spec.node_name and pod.status.phase not in FINISHED]
    if not pending:
        raise UsageError("no pod with these labels is pending", "`kubectl get pods --show-labels` shows them")
    return pending


def _ask(report: BindReport | GangBindReport, color: str) -> None:
    """Show what is going to happen and have the user say yes, on the terminal.

    Raises:
        typer.Abort: the terminal is gone.
        typer.Exit: the answer is no.
    """
    from schedctl.cli import questions
    from schedctl.render import bindings, layout, terminals
    from schedctl.reports.bindings import GangBindReport

    layout.write(
        bindings.lines(report, asking=True), sys.stderr, terminals.of(sys.stderr, color=color, environ=os.environ)
    )
    if isinstance(report, GangBindReport):
        what = f"{report.summary.pods} pods"
    else:
        what = f"{report.summary.pod} to {report.summary.node}"
    questions.ask(f"Bind {what} in {report.cluster}?", "nothing was sent")
