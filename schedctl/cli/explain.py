"""``schedctl explain``: where pods would go, why there, and why nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import browsers, options, suggestions
from schedctl.cli.extender_options import with_extenders
from schedctl.cli.help_text import OUTPUT, SELECT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_redactable_state
from schedctl.cli.what_if_options import with_what_ifs
from schedctl.session.extenders import ExtenderOptions
from schedctl.session.states import StateSource
from schedctl.session.what_ifs import WhatIfs

if TYPE_CHECKING:
    from schedctl.cli.printing import Printer
    from schedctl.reports.explanations import ExplainReport
    from schedctl.reports.pod_comparisons import ExplainComparison
    from schedctl.session.sessions import Session

EXAMPLES = """
Examples:
  schedctl explain pod web-0 -n shop             # a pod of the live cluster
  schedctl explain --all-pending                 # every pending pod of it
  schedctl explain deploy/web -n shop            # the next pod of a Deployment
  schedctl explain pods -A -l app=web -o wide
  schedctl explain shop/web-0 -f cluster.yaml    # of a cluster in files
  kubectl get nodes,pods,... -A -o json | schedctl explain --all-pending -f -
  schedctl explain shop/web-0 --history          # beside its recorded events
  schedctl explain shop/web-0 --node node-3      # why not node-3?
  schedctl explain node node-3                   # what is free there?
  schedctl explain shop/web-0 --drain node-3 --add-node like:node-1=2
  schedctl explain --all-pending --compare old.yaml --compare new.yaml
  schedctl explain shop/web-0 --open             # as a page, in a browser
  schedctl explain shop/web-0 -o html > web-0.html
  schedctl explain shop/web-0 -o jsonpath='{.results[*].chosen}'

Exit codes: 0 answered; 1 unschedulable, or becomes so under --compare (with --exit-code);
2 usage, configuration or output; 3 input; 4 cluster; 5 inconclusive; 70 a bug; 130 interrupted; 141 output closed
"""


@with_what_ifs
@with_extenders
@with_redactable_state
@with_notifier
def explain(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND] [NAME...]",
            help="Also KIND/NAME, NS/NAME and KIND NS/NAME; KIND may be left out where only one object has the name",
            show_default=False,
            autocompletion=suggestions.subjects,
        ),
    ] = None,
    namespace: options.Namespace = "",
    all_namespaces: Annotated[
        bool, typer.Option("-A", "--all-namespaces", help="Look in all namespaces", rich_help_panel=SELECT)
    ] = False,
    selector: Annotated[
        str,
        typer.Option(
            "-l",
            "--selector",
            metavar="SELECTOR",
            help="All objects of KIND with these labels",
            rich_help_panel=SELECT,
        ),
    ] = "",
    all_pending: Annotated[
        bool,
        typer.Option(
            "--all-pending",
            help="All pending pods, of all namespaces unless -n is given",
            rich_help_panel=SELECT,
        ),
    ] = False,
    scale_up: Annotated[
        bool,
        typer.Option(
            "--scale-up",
            help="Show which node groups would help (default where -f has objects of an autoscaler)",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    node_groups: options.NodeGroups = "",
    instance_types: options.InstanceTypes = "",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    compare: options.Compare = None,
    plugin: options.Plugins = None,
    sampling: options.Sampling = False,
    matrix: Annotated[
        bool,
        typer.Option("--matrix", help="Show the verdict of every filter on every node", rich_help_panel=OUTPUT),
    ] = False,
    node: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Show every verdict and score of this node",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.nodes,
        ),
    ] = "",
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="Show the pod's recorded FailedScheduling events beside this answer",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    reconsider: Annotated[
        bool,
        typer.Option("--reconsider", help="Judge a bound pod as if it were pending again", rich_help_panel=SELECT),
    ] = False,
    no_group: Annotated[
        bool,
        typer.Option(
            "--no-group", help="Print one answer per pod, even where answers are equal", rich_help_panel=OUTPUT
        ),
    ] = False,
    trace: options.Trace = "",
    output: options.OutputOrPage = "text",
    open_page: Annotated[
        bool,
        typer.Option("--open", help="Also write the answer as a page and open it in a browser", rich_help_panel=OUTPUT),
    ] = False,
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Exit with 1 if a pod is unschedulable; with --compare, if one becomes so",
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
    """Show why pods are pending, or why they go where they go; not `kubectl explain`, which documents fields.

    KIND is pod, deploy, sts, ds, rs, job, cronjob, rc or podtemplate; for a workload, the pod that it would create
    next is explained. KIND svc stands for the pods that a Service selects; a KIND alone for all in the namespace.
    For a bound pod, its node and what the kubelet reports are shown; --reconsider (implied by --matrix, --node,
    --sampling, --history and --compare) judges it as if it were pending again. KIND may also be node: what is free
    there, which pending pods fit there now, and why the others do not. Each pod is judged alone, on the cluster as
    it is. Nothing is changed: the state is read from the live cluster, or from the files of -f.
    """
    from schedctl.cli.printing import Printer
    from schedctl.session import comparisons, node_inventories
    from schedctl.session import explain as use_case
    from schedctl.session import subjects as questions
    from schedctl.session.sessions import SchedulerOptions, Session

    printer = Printer.of(output, color, pages=True)
    scheduler = SchedulerOptions(scheduler_config, profile, compare or (), plugin or (), extenders)
    if (nodes := questions.node_names(subjects or [])) is not None:
        questions.reject_with_nodes(
            ("--compare", compare),
            ("--node", node),
            ("--matrix", matrix),
            ("--history", history),
            ("--sampling", sampling),
            ("--no-group", no_group),
            ("--exit-code", exit_code),
            ("--trace", trace),
            ("--open", open_page),
        )
        session = Session(source, scheduler, notifier, what_ifs)
        return _explain_nodes(session, nodes, selector, namespace, printer, limit)
    questions.require_subject(subjects or [], selector, all_pending=all_pending)
    assumed = "" if namespace or all_pending or all_namespaces else source.namespace("")
    with questions.hint_at_files(subjects or []):
        question = questions.question(
            subjects or [],
            namespace=namespace,
            all_namespaces=all_namespaces,
            selector=selector,
            all_pending=all_pending,
            assumed_namespace=assumed,
        )
    if compare:
        alone = ("--matrix", matrix), ("--node", node), ("--history", history), ("--trace", trace)
        comparisons.reject_with_compare(*alone)
    by_groups = node_inventories.GroupOptions(scale_up, node_groups, instance_types)
    session = Session(source, scheduler, notifier, what_ifs, by_groups.kinds(source))
    session.load(about=question.may_be_about)
    session.change(namespace or assumed)
    settings = use_case.ExplainOptions(
        matrix=matrix,
        node=node,
        sampling=sampling,
        history=history,
        group=not no_group,
        reconsider=reconsider,
        fail=exit_code,
        groups=by_groups.groups(session),
        node_map=printer.is_page or open_page or printer.form.format == "wide",
    )
    with questions.hint_at_files(subjects or []):
        report = use_case.explain(session, question, settings)
    _write_trace(report, trace)
    printer.write(session.with_calls(report), limit=limit)
    browsers.open_report(report, notifier, requested=open_page)
    _suggest_profiles(report, notifier)
    return report.summary.exit_code


def _write_trace(report: ExplainReport | ExplainComparison, trace: str) -> None:
    """Write every step of explanations to a file, where one is named."""
    from schedctl.reports.explanations import ExplainReport
    from schedctl.session import traces

    if trace and isinstance(report, ExplainReport):
        traces.write(traces.of_explanations(report.results), trace)


def _suggest_profiles(report: ExplainReport | ExplainComparison, notifier: StandardError) -> None:
    """Name the shipped profiles that would serve pods that no profile in use serves."""
    from schedctl.reports.explanations import ExplainReport, Verdict
    from schedctl.session import configurations

    if notifier.quiet or not isinstance(report, ExplainReport):
        return
    unserved = (each for each in report.results if each.verdict is Verdict.FOREIGN_SCHEDULER)
    configurations.suggest_profiles((each.pod.scheduler_name for each in unserved), notifier)


def _explain_nodes(
    session: Session, nodes: list[str], selector: str, namespace: str, printer: Printer, limit: int
) -> int:
    """Show what is free on nodes, and which pending pods fit there; return the exit code."""
    from schedctl.session.explain_nodes import explain_nodes

    session.load()
    session.change(namespace)
    answer = explain_nodes(session, nodes, selector=selector, namespace=namespace)
    printer.write(session.with_calls(answer), limit=limit)
    return answer.summary.exit_code
