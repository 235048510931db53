"""``schedctl explain``: where pods would go, why there, and why nowhere else."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.progress import Bar
from schedctl.session.extenders import NOBODY, Extending, with_extenders
from schedctl.session.states import LIVE, Where, with_state
from schedctl.session.what_ifs import NOTHING, WhatIf, with_what_ifs

EXAMPLES = """\b
Examples:
  schedctl explain pod web-0 -n shop                     a pod of the live cluster
  schedctl explain pod web-0 -n shop -f cluster.yaml     a pod of the cluster in a file
  schedctl explain pod web-0 -n shop --history           and what kube-scheduler has said of it
  schedctl explain shop/web-0 -f nodes.yaml -f pods/     the same, with the cluster in several files
  kubectl get nodes,pods,... -A -o json | schedctl explain --all-pending -f -
  schedctl explain deploy/web -n shop -f cluster.yaml    the pod a Deployment would make next
  schedctl explain pod web-0 -f cluster.yaml -f web.yaml --node node-3
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
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 1 if a pod is unschedulable; with --compare, if one breaks.")
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
    """Say why pods run where they do, or why they are pending; not `kubectl explain`, which documents fields.

    KIND is pod, deploy, sts, ds, rs, job, cronjob, rc or podtemplate; of a workload, the pod it would make next is
    explained. A pod that is on a node already is explained as if it were pending again, and its node is compared with
    the best one. Each pod is judged alone, on the cluster as it is. Nothing is changed: the state is read from the live
    cluster, or from the files of -f.
    """
    from schedctl.cli import faults
    from schedctl.cli.printing import Printer
    from schedctl.explain import explanations
    from schedctl.reports.explanations import Verdict
    from schedctl.reports.metadata import Input, Metadata
    from schedctl.scheduler import Scheduler
    from schedctl.scheduler.gaps import missing_kinds
    from schedctl.session import comparisons, configurations, histories, what_ifs
    from schedctl.session import subjects as asked
    from schedctl.session.explain import answers
    from schedctl.session.schedulers import PluginFaults

    printer = Printer.of(output, color)
    if not (all_pending or all_namespaces):
        namespace = where.namespace(namespace)
    with asked.files_told_from_names(subjects or []):
        question = asked.question(
            subjects or [],
            namespace=namespace,
            all_namespaces=all_namespaces,
            selector=selector,
            all_pending=all_pending,
        )
    if compare:
        comparisons.alone(("--matrix", matrix), ("--node", node), ("--history", history))
    given = comparisons.choose(compare or [], scheduler_config, profile, where, plugin)
    state = where.load(quiet=quiet, verbose=verbose, progress=not no_progress, kinds=configurations.kinds(given))
    chosen, *others = comparisons.completed(given, state, extending, quiet=quiet)
    changed = what_if.apply(state.assembled.cluster, namespace)
    with asked.files_told_from_names(subjects or []):
        objects = question.renamed(what_ifs.successors(changed)).objects(state.assembled)
    if not objects:
        faults.say(f"no pending pods in {question.scope}" if question.scope.namespace else "no pending pods")
    metadata = Metadata(
        configuration=chosen.origin,
        sampling=sampling,
        inputs=[Input(source=name, digest=digest, role="State") for name, digest in state.manifests.digests.items()],
        what_if=[*state.laid_over, *(each.text for each in changed)],
        missing=missing_kinds(state.assembled.cluster, chosen.registry),
    )
    if others:
        comparison = comparisons.explained(
            (chosen, *others), objects, state, metadata=metadata, fail=exit_code, progress=not no_progress
        )
        printer.write(comparison, limit=limit)
        return comparison.summary.exit_code
    scheduler = Scheduler(
        state.assembled.cluster,
        chosen.configuration,
        chosen.registry,
        PluginFaults(quiet=quiet),
        extenders=chosen.extenders,
    )
    with Bar("explaining", wanted=not no_progress) as bar:
        results = list(
            answers(
                scheduler,
                objects,
                profile=chosen.profile,
                matrix=matrix,
                node=node,
                sampling=sampling,
                advance=bar.advance,
                unknown=state.assembled.unknown,
            )
        )
    if history:
        results = histories.with_history(results, objects, state, supposed=bool(changed))
    report = explanations.report(results, metadata=metadata, fail=exit_code)
    printer.write(report, limit=limit)
    if not quiet:
        configurations.offer(each.pod.scheduler_name for each in results if each.verdict is Verdict.FOREIGN_SCHEDULER)
    return report.summary.exit_code


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Say where pods would go, or why nowhere.", epilog=EXAMPLES)(explain)
