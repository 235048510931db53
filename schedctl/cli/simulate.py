"""``schedctl simulate``: where the pods of whole manifests would go, whom they would evict, and which stay pending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedctl.reports.run_comparisons import SimulationComparison
    from schedctl.reports.simulations import SimulationReport
    from schedctl.session.sessions import Session
    from schedctl.session.simulate import SimulateOptions
    from schedctl.sources import Manifests

EXAMPLES = """
Examples:
  schedctl simulate deploy/                      # every manifest in a folder
  helm template web charts/web | schedctl simulate - -n shop
  schedctl simulate -k overlays/prod -f cluster.json
  schedctl simulate web.yaml -f cluster.json --rollout rolling
  schedctl simulate web.yaml -f cluster.json --exit-code -o name
  schedctl simulate web.yaml -f cluster.json --trace run.jsonl
  schedctl simulate web.yaml -f cluster.json --compare bin-packing
  schedctl simulate web.yaml -f cluster.json --draws 200
  schedctl simulate -f prod.json.gz --compare-version 1.37   # after an upgrade

Exit codes: 0 answered; 1 pods are not placed, or become unschedulable under --compare (with --exit-code);
2 usage, configuration or output; 3 input; 4 cluster; 5 inconclusive; 70 a bug; 130 interrupted; 141 output closed
"""


@with_what_ifs
@with_extenders
@with_redactable_state
@with_notifier
def simulate(
    manifests: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MANIFESTS...]", help="Files, folders, globs or - (stdin)", show_default=False),
    ] = None,
    kustomize: Annotated[
        list[str] | None,
        typer.Option(
            "-k",
            "--kustomize",
            metavar="DIR",
            help="Folder to build with kustomize; repeatable",
            rich_help_panel=SELECT,
        ),
    ] = None,
    namespace: options.Namespace = "",
    rollout: options.Rollout = "replace",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    compare: options.Compare = None,
    compare_version: options.CompareVersion = "",
    plugin: options.Plugins = None,
    config: options.Config = "",
    no_config: options.NoConfig = False,
    sampling: options.Sampling = False,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Choose at random among tied nodes (default: the first by name)")
    ] = None,
    draws: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Repeat with N draws among tied nodes and show probabilities"),
    ] = 0,
    jobs: options.Jobs = 0,
    skip_admission: options.SkipAdmission = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Simulate nothing if the API server would refuse an object")
    ] = False,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Accept manifests without any object")] = False,
    trace: options.Trace = "",
    output: options.OutputOrPage = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Exit with 1 if a pod is not placed; with --compare, if one becomes unschedulable",
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
    """Show where the pods of manifests would go if the manifests were applied.

    Controllers create the pods, admission completes or refuses them, and the queue takes them through the whole
    scheduling cycle, preemption included, on a simulated clock until no event can unblock a pending pod. Where a
    workload runs already, its new pods replace the old ones. Nothing is changed: the state is read from the live
    cluster, or from the files of -f.
    """
    from schedctl.api.defaults import DEFAULT_NAMESPACE
    from schedctl.cli.printing import Printer
    from schedctl.session import comparisons, runs, settings
    from schedctl.session import manifests as inputs
    from schedctl.session import simulate as use_case
    from schedctl.session.sessions import SchedulerOptions, Session
    from schedctl.session.standing_workloads import workloads_of
    from schedctl.session.states import about_nothing

    printer = Printer.of(output, color, pages=True)
    simulate_options = use_case.SimulateOptions(
        rollout=runs.rollout_strategy(rollout),
        skip_admission=runs.admission_plugins(options.one_list(skip_admission)),
        sampling=sampling,
        seed=seed,
        strict=strict,
        trace=trace,
        fail=exit_code,
        version=compare_version,
        pictures=printer.is_page,
    )
    source.strict = strict
    paths, folders = manifests or [], kustomize or []
    standing = bool(compare_version) and not (paths or folders)
    if not standing:
        inputs.check_sources(paths, folders, source.paths)
    namespace = source.namespace(namespace) or DEFAULT_NAMESPACE
    if compare:
        comparisons.reject_with_compare(("--trace", trace), ("--compare-version", compare_version), ("--draws", draws))
    if compare_version:
        rejected = ("--trace", trace), ("--extender-record", extenders.record), ("--draws", draws)
        comparisons.reject_with_compare(*rejected, compare="--compare-version")
    scheduler = SchedulerOptions(scheduler_config, profile, compare or (), plugin or (), extenders)
    session = Session(source, scheduler, notifier, what_ifs)
    user_settings = settings.load(config, ignored=no_config)
    read = inputs.load(
        paths,
        folders,
        recursive=source.recursive,
        stdin_filename=source.stdin_filename,
        namespace=namespace,
        allow_empty=allow_empty or standing,
        strict=strict,
        custom_kinds=user_settings.custom_kinds,
        kinds=session.kinds,
        notifier=notifier,
    )
    session.load(about=about_nothing, created=read)
    if not notifier.quiet:
        notifier.report([*read.warnings, *inputs.unread_warnings(read)], "warning")
    notifier.report(read.problems, "error")
    read = workloads_of(session.state) if standing else session.names.manifests(read)
    report = _run(session, read, simulate_options, (draws, jobs), namespace, user_settings.digests, (paths, folders))
    printer.write(session.with_calls(report), limit=limit)
    return report.summary.exit_code


def _run(
    session: Session,
    manifests: Manifests,
    options: SimulateOptions,
    draws: tuple[int, int],
    namespace: str,
    digests: Mapping[str, str],
    sources: tuple[Sequence[str], Sequence[str]],
) -> SimulationReport | SimulationComparison:
    """Return the report; with draws, of which there are so many in so many processes, what they come to as well."""
    from schedctl.session import simulate as use_case

    number, jobs = draws
    if not number:
        return use_case.simulate(session, manifests, options, namespace=namespace, settings=digests)
    from schedctl.studies import draws as studies
    from schedctl.studies.engines import engine_of

    paths, folders = sources
    # calls are counted in one process, and extenders are asked, or replayed, by one
    alone = session.notifier.verbose or session.choice.extenders
    return studies.simulate(
        session,
        manifests,
        options,
        number,
        engine=engine_of(1 if alone else jobs),
        namespace=namespace,
        settings=digests,
        sources=(*paths, *(word for folder in folders for word in ("-k", folder))),
    )
