"""``schedctl explain``: where pods would go, why there, and why nowhere else."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.extender_options import with_extenders
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_state
from schedctl.cli.what_if_options import with_what_ifs
from schedctl.session.extenders import ExtenderOptions
from schedctl.session.states import StateSource
from schedctl.session.what_ifs import WhatIfs

EXAMPLES = """\b
Examples:
  schedctl explain pod web-0 -n shop                     a pod of the live cluster
  schedctl explain pod web-0 -n shop -f cluster.yaml     a pod of the cluster in a file
  schedctl explain pod web-0 -n shop --history           and what kube-scheduler has said of it
  schedctl explain shop/web-0 -f nodes.yaml -f pods/     the same, with the cluster in several files
  kubectl get nodes,pods,... -A -o json | schedctl explain --all-pending -f -
  schedctl explain deploy/web -n shop -f cluster.yaml    the pod a Deployment would make next
  schedctl explain pod web-0 -f cluster.yaml -f web.yaml --node node-3
  schedctl explain node node-3 -f cluster.yaml           what is free there, and which pending pods fit
  schedctl explain pods -l app=web -A -f cluster.yaml -o wide
  schedctl explain pod web-0 -f cluster.yaml --drain node-3 --add-node like:node-1×2
  schedctl explain --all-pending -f cluster.yaml --compare old.yaml --compare new.yaml
  schedctl explain pod web-0 -f cluster.yaml -o jsonpath='{.results[*].chosen}'

\b
Exit codes: 0 answered, 1 unschedulable, or broken by --compare (with --exit-code), 2 usage, configuration or output,
3 input, 4 cluster, 5 inconclusive, 70 a bug, 130 interrupted, 141 the reader went away.
"""


@with_what_ifs
@with_extenders
@with_state
@with_notifier
def explain(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KIND NAME...",
            help="Also KIND/NAME, NS/NAME and KIND NS/NAME.",
            show_default=False,
            autocompletion=suggestions.subjects,
        ),
    ] = None,
    namespace: Annotated[str, typer.Option("-n", "--namespace", metavar="NS", help="Of names without one.")] = "",
    all_namespaces: Annotated[bool, typer.Option("-A", "--all-namespaces", help="Look in all namespaces.")] = False,
    selector: Annotated[
        str, typer.Option("-l", "--selector", metavar="SELECTOR", help="All of KIND with these labels.")
    ] = "",
    all_pending: Annotated[
        bool, typer.Option("--all-pending", help="All pods without a node, of all namespaces unless -n is given.")
    ] = False,
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    compare: options.Compare = None,
    plugin: options.Plugins = None,
    sampling: options.Sampling = False,
    matrix: Annotated[bool, typer.Option("--matrix", help="Ask every filter about every node.")] = False,
    node: Annotated[str, typer.Option(metavar="NAME", help="Go into this node in depth.")] = "",
    history: Annotated[
        bool, typer.Option("--history", help="Put what kube-scheduler has said of the pod next to our line.")
    ] = False,
    reconsider: Annotated[
        bool, typer.Option("--reconsider", help="Judge a bound pod as if it were pending again.")
    ] = False,
    no_group: Annotated[
        bool, typer.Option("--no-group", help="Give equal answers once for each pod, not once for all.")
    ] = False,
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 1 if a pod is unschedulable; with --compare, if one breaks.")
    ] = False,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
    what_ifs: WhatIfs,
    extenders: ExtenderOptions,
) -> int:
    """Say why pods run where they do, or why they are pending; not `kubectl explain`, which documents fields.

    KIND is pod, deploy, sts, ds, rs, job, cronjob, rc or podtemplate; of a workload, the pod it would make next is
    explained. Of a bound pod you get its node and what the kubelet says; with --reconsider (implied by --matrix,
    --node, --sampling, --history and --compare) it is judged as if it were pending again, and its node is compared
    with the best one. KIND may also be node: what is free there, which pending pods fit there now, and why the others
    do not. Each pod is judged alone, on the cluster as it is. Nothing is changed: the state is read from the live
    cluster, or from the files of -f.
    """
    from schedctl.cli.printing import Printer
    from schedctl.reports.explanations import ExplainReport, Verdict
    from schedctl.session import comparisons, configurations
    from schedctl.session import explain as use_case
    from schedctl.session import subjects as questions
    from schedctl.session.explain_nodes import explain_nodes
    from schedctl.session.sessions import SchedulerOptions, Session

    printer = Printer.of(output, color)
    scheduler = SchedulerOptions(scheduler_config, profile, compare or (), plugin or (), extenders)
    nodes = questions.node_names(subjects or [])
    if nodes is not None:
        questions.reject_with_nodes(
            ("--compare", compare),
            ("--node", node),
            ("--matrix", matrix),
            ("--history", history),
            ("--sampling", sampling),
            ("--no-group", no_group),
            ("--exit-code", exit_code),
        )
        session = Session(source, scheduler, notifier, what_ifs)
        session.load()
        session.change(namespace)
        answer = explain_nodes(session, nodes, selector=selector, namespace=namespace)
        printer.write(answer, limit=limit)
        return answer.summary.exit_code
    if not (all_pending or all_namespaces):
        namespace = source.namespace(namespace)
    with questions.hint_at_files(subjects or []):
        question = questions.question(
            subjects or [],
            namespace=namespace,
            all_namespaces=all_namespaces,
            selector=selector,
            all_pending=all_pending,
        )
    if compare:
        comparisons.reject_with_compare(("--matrix", matrix), ("--node", node), ("--history", history))
    session = Session(source, scheduler, notifier, what_ifs)
    session.load()
    session.change(namespace)
    settings = use_case.ExplainOptions(
        matrix=matrix,
        node=node,
        sampling=sampling,
        history=history,
        group=not no_group,
        reconsider=reconsider,
        fail=exit_code,
    )
    with questions.hint_at_files(subjects or []):
        report = use_case.explain(session, question, settings)
    printer.write(report, limit=limit)
    if isinstance(report, ExplainReport) and not notifier.quiet:
        unserved = (each for each in report.results if each.verdict is Verdict.FOREIGN_SCHEDULER)
        configurations.suggest_profiles((each.pod.scheduler_name for each in unserved), notifier)
    return report.summary.exit_code
