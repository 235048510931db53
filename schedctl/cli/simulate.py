"""``schedctl simulate``: where the pods of whole manifests would go, whom they would evict, and which stay pending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.progress import Bar
from schedctl.session.extenders import NOBODY, Extending, with_extenders
from schedctl.session.states import LIVE, Where, with_state
from schedctl.session.what_ifs import NOTHING, WhatIf, with_what_ifs

if TYPE_CHECKING:
    from schedctl.scheduler import Scheduler
    from schedctl.session.configurations import Chosen
    from schedctl.simulation.simulations import Simulation

EXAMPLES = """\b
Examples:
  schedctl simulate deploy/ -f cluster.json              every manifest in a folder
  helm template web charts/web | schedctl simulate - -n shop -f cluster.json
  schedctl simulate -k overlays/prod -f cluster.json     what kustomize builds
  schedctl simulate web.yaml -f cluster.json --rollout rolling
  schedctl simulate web.yaml -f cluster.json --exit-code -o name
  schedctl simulate web.yaml -f cluster.json --trace run.jsonl
  schedctl simulate web.yaml -f cluster.json --compare bin-packing

\b
Exit codes: 0 answered, 1 pods are not placed, or broken by --compare (with --exit-code), 2 usage, configuration or
output, 3 input, 4 cluster, 5 inconclusive, 70 a bug, 130 interrupted, 141 the reader went away.
"""


@with_what_ifs
@with_extenders
@with_state
def simulate(
    manifests: Annotated[
        list[str] | None,
        typer.Argument(metavar="MANIFESTS...", help="Files, folders, globs or - (stdin).", show_default=False),
    ] = None,
    kustomize: Annotated[
        list[str] | None,
        typer.Option("-k", "--kustomize", metavar="DIR", help="A folder that kustomize builds; repeatable."),
    ] = None,
    namespace: Annotated[str, typer.Option("-n", "--namespace", metavar="NS", help="Of objects that name none.")] = "",
    rollout: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="How new pods take the place of old ones: replace (all at once), add (beside them) or rolling.",
            autocompletion=suggestions.rollouts,
        ),
    ] = "replace",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    compare: options.Compare = None,
    plugin: options.Plugins = None,
    config: options.Config = "",
    no_config: options.NoConfig = False,
    sampling: options.Sampling = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Draw among equally good nodes; without it the first by name wins.")
    ] = None,
    skip_admission: Annotated[
        str,
        typer.Option(
            metavar="PLUGIN,...",
            help="Admission plugins to leave out, e.g. ResourceQuota,LimitRanger.",
            autocompletion=suggestions.admission_plugins,
        ),
    ] = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Simulate nothing if the API server would refuse any object.")
    ] = False,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Manifests without an object are fine.")] = False,
    trace: Annotated[str, typer.Option(metavar="FILE", help="Write every step of the run there, as JSON lines.")] = "",
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 1 if a pod is not placed; with --compare, if one breaks.")
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
    """Place the pods of whole manifests on a cluster, as its controllers, API server and scheduler would.

    Workloads become pods, admission completes or refuses them, and the queue takes them through the whole scheduling
    cycle on a clock of its own, preemption included, until nothing can move. Where a workload runs in the cluster
    already, its new pods take the place of the old ones. Nothing is changed: the state is read from the live cluster,
    or from the files of -f, and the manifests are what is to be created in it.
    """
    from schedctl.api.defaults import DEFAULT_NAMESPACE
    from schedctl.cli import faults
    from schedctl.cli.printing import Printer
    from schedctl.reports import counts
    from schedctl.reports.metadata import Metadata
    from schedctl.reports.simulations import EndReason
    from schedctl.scheduler import Scheduler
    from schedctl.scheduler.gaps import gathering, missing_kinds
    from schedctl.session import comparisons, configurations, pending_reasons, runs, settings
    from schedctl.session import manifests as given
    from schedctl.session.schedulers import PluginFaults
    from schedctl.simulation import report_builder, utilisation
    from schedctl.simulation.runs import Options
    from schedctl.simulation.simulations import simulate as simulated

    printer = Printer.of(output, color)
    strategy, skipped = runs.rollout_strategy(rollout), runs.skipped(skip_admission)
    paths, folders = manifests or [], kustomize or []
    given.check(paths, folders, where.paths)
    namespace = where.namespace(namespace) or DEFAULT_NAMESPACE
    if compare:
        comparisons.alone(("--trace", trace))
    said = comparisons.choose(compare or [], scheduler_config, profile, where, plugin)
    own, kinds = settings.load(config, ignored=no_config), configurations.kinds(said)
    wanted = given.load(
        paths,
        folders,
        recursive=where.recursive,
        stdin_filename=where.stdin_filename,
        namespace=namespace,
        allow_empty=allow_empty,
        strict=strict,
        custom_kinds=own.custom_kinds,
        kinds=kinds,
        progress=not no_progress,
    )
    state = where.load(quiet=quiet, verbose=verbose, progress=not no_progress, kinds=kinds)
    chosen, *others = comparisons.completed(said, state, extending, quiet=quiet)
    if not quiet:
        faults.report(wanted.warnings, "warning")
    faults.report(wanted.problems, "error")
    cluster = state.assembled.cluster
    with gathering(cluster) as gathered:
        before = utilisation.measure(cluster)
        changed = what_if.apply(cluster, namespace)
        if verbose:
            faults.say(f"manifests: {counts.of(len(wanted.objects), 'object')} that scheduling reads")
        metadata = Metadata(
            configuration=chosen.origin,
            sampling=sampling,
            rollout=strategy,
            seed=seed,
            skipped_admission=list(skipped),
            what_if=[*state.laid_over, *(each.text for each in changed)],
            inputs=runs.inputs(wanted.digests, state.manifests.digests, own.digests),
            missing=missing_kinds(cluster, chosen.registry),
        )

        def run(under: Chosen) -> tuple[Scheduler, Simulation]:
            scheduler = Scheduler(
                cluster,
                under.configuration,
                under.registry,
                PluginFaults(quiet=quiet),
                extenders=under.extenders,
            )
            with Bar("scheduling", wanted=not no_progress) as bar:
                return scheduler, simulated(
                    scheduler,
                    wanted.objects,
                    passed=wanted.ignored,
                    strategy=strategy,
                    disabled=skipped,
                    strict=strict,
                    name=under.profile,
                    before=before,
                    options=Options(choose=runs.chooser(seed), sampling=sampling, trace=bool(trace)),
                    progress=runs.Shown(bar),
                )

        if others:
            comparison = comparisons.simulated(
                (chosen, *others),
                run,
                cluster,
                metadata=metadata,
                problems=wanted.problems,
                unknown=state.assembled.unknown,
                gathered=gathered,
                fail=exit_code,
            )
            printer.write(comparison, limit=limit)
            return comparison.summary.exit_code
        scheduler, facts = run(chosen)
    gathered.admission(state.assembled.unknown)
    faults.report(facts.expansion.refused, "error")
    report = report_builder.report(
        facts, cluster, metadata=metadata, problems=wanted.problems, fail=exit_code, guesses=gathered.told()
    )
    if report.ending.reason is not EndReason.INTERRUPTED:
        try:
            with Bar("explaining", wanted=not no_progress) as bar:
                report = pending_reasons.of_simulation(report, facts, scheduler, bar.advance)
        except KeyboardInterrupt:
            report = report_builder.interrupted(report)
    if report.summary.exit_code == faults.INTERRUPTED:
        faults.say("interrupted: this is what is known so far")
    if trace:
        runs.write_trace(facts.run, trace)
    printer.write(report, limit=limit)
    return report.summary.exit_code


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Place whole manifests on a cluster.", epilog=EXAMPLES)(simulate)
