"""``schedctl check``: whether placement policies hold for manifests, as the gate of a pull request."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.progress import Bar
from schedctl.session.states import LIVE, Where, with_state

EXAMPLES = """\b
Examples:
  schedctl check deploy/ -f cluster.json.gz                       every pod finds a node
  schedctl check deploy/ -f cluster.json.gz -p policies/          what your team demands
  helm template web charts/web | schedctl check - -f cluster.json.gz --report junit=check.xml
  schedctl check -k overlays/prod -f cluster.json.gz -o github
  schedctl check deploy/ -f cluster.json.gz -p policies/ --write-baseline baseline.yaml
  schedctl check deploy/ --live                                   ask the live cluster

\b
Exit codes: 0 nothing is violated, 1 something is, 2 usage, policy or configuration, 3 input or nothing to check,
4 cluster, 5 inconclusive, 70 a bug, 130 interrupted, 141 the reader went away.
"""


@with_state
def check(
    manifests: Annotated[
        list[str] | None,
        typer.Argument(metavar="MANIFESTS...", help="Files, folders, globs or - (stdin).", show_default=False),
    ] = None,
    kustomize: Annotated[
        list[str] | None,
        typer.Option("-k", "--kustomize", metavar="DIR", help="A folder that kustomize builds; repeatable."),
    ] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option("-p", "--policy", metavar="PATH", help="CheckPolicies: file, folder or glob; repeatable."),
    ] = None,
    namespace: Annotated[str, typer.Option("-n", "--namespace", metavar="NS", help="Of objects that name none.")] = "",
    fail_on: Annotated[
        str, typer.Option(metavar="SEVERITY", help="Which violations fail: error, warning, info or never.")
    ] = "",
    on_inconclusive: Annotated[
        str, typer.Option(metavar="WHAT", help="What cannot be told does: fail, warn or ignore.")
    ] = "",
    max_age: Annotated[
        str, typer.Option(metavar="DURATION", help="How old the state may be, e.g. 24h; an older one proves nothing.")
    ] = "",
    baseline: Annotated[
        str, typer.Option(metavar="FILE", help="Accept the violations in there and fail on new ones only.")
    ] = "",
    write_baseline: Annotated[
        str, typer.Option(metavar="FILE", help="Write what is violated now there, and end with 0.")
    ] = "",
    no_inline_ignores: Annotated[
        bool, typer.Option("--no-inline-ignores", help="Annotations schedctl.dev/ignore.<check> accept nothing.")
    ] = False,
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
    config: options.Config = "",
    no_config: options.NoConfig = False,
    skip_admission: Annotated[
        str,
        typer.Option(
            metavar="PLUGIN,...",
            help="Admission plugins to leave out, e.g. ResourceQuota,LimitRanger.",
            autocompletion=suggestions.admission_plugins,
        ),
    ] = "",
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="It is fine if nothing is judged.")] = False,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text, json, yaml, junit, sarif, github, gitlab, tap or markdown.",
        ),
    ] = "",
    report: Annotated[
        list[str] | None,
        typer.Option("--report", metavar="FORMAT=FILE", help="Also write the report there; repeatable."),
    ] = None,
    sarif_suppressed: Annotated[
        bool, typer.Option("--sarif-suppressed", help="SARIF has what was accepted, too, as suppressed.")
    ] = False,
    limit: options.Limit = 0,
    color: options.Color = "auto",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
    where: Where = LIVE,
) -> int:
    """Place manifests on a cluster and end with 1 if a policy is violated.

    Without a policy one thing is demanded: that every pod finds a node. No cluster is asked unless `--live` says so.
    Policies, state, reports and thresholds may also stand in the repository's `.schedctl.yaml`, under `check:`.
    """
    import io
    import os
    import sys
    import time
    from dataclasses import replace
    from datetime import UTC, datetime

    from schedctl.api.defaults import DEFAULT_NAMESPACE
    from schedctl.cli import faults
    from schedctl.cli.printing import Printer, as_utf8
    from schedctl.errors import UsageError
    from schedctl.policy import baselines, reading
    from schedctl.policy.documents import BUILT_IN_POLICY
    from schedctl.render import check_outputs, machine
    from schedctl.reports import counts
    from schedctl.reports.checks import Outcome
    from schedctl.reports.metadata import Input
    from schedctl.session import check, configurations, report_files, runs, settings
    from schedctl.session import manifests as given
    from schedctl.sources.files import STDIN

    terminal = Printer.of("text", color).terminal
    own = settings.load(config, ignored=no_config)
    usual = own.check
    form = check_outputs.parse(output or usual.get("output", ""))
    targets = [check_outputs.target(text) for text in report or usual.get("reports", ())]
    report_files.check([target.file for target in targets])
    if write_baseline:
        report_files.check([write_baseline], "--write-baseline")
        if os.path.realpath(write_baseline) in [os.path.realpath(target.file) for target in targets]:
            raise UsageError(f"--report and --write-baseline are both to write {write_baseline}", "name two files")
    if not (where.paths or where.live):
        where.paths = tuple(usual.get("state", ()))
    if not (where.paths or where.live):
        raise UsageError("say on which state to check", "-f names files or a snapshot, --live asks the live cluster")
    paths, folders = manifests or [], kustomize or []
    given.check(paths, folders, where.paths)
    baseline = baseline or usual.get("baseline", "")
    now = time.time()
    terms = check.Terms(
        chosen=configurations.choose(scheduler_config, profile, where),
        fail_on=check.chosen_word("--fail-on", fail_on or usual.get("fail_on", "error"), check.FAIL_ON),
        on_inconclusive=check.chosen_word(
            "--on-inconclusive", on_inconclusive or usual.get("on_inconclusive", "fail"), check.ON_INCONCLUSIVE
        ),
        max_age=check.max_age(max_age or usual.get("max_age", "")),
        inline=not no_inline_ignores,
        baseline=baselines.read(baseline) if baseline else None,
        strategy=runs.rollout_strategy(rollout),
        disabled=runs.skipped(skip_admission),
        allow_empty=allow_empty,
        now=now,
    )
    demanded = policies or usual.get("policies", ())
    if STDIN in demanded and STDIN in (*paths, *where.paths):
        raise UsageError("policies and what they are about cannot both come from standard input", "write one to a file")
    rules = reading.load(demanded) if demanded else reading.Read([BUILT_IN_POLICY])
    wanted = given.load(
        paths,
        folders,
        recursive=where.recursive,
        stdin_filename=where.stdin_filename,
        namespace=where.namespace(namespace) or DEFAULT_NAMESPACE,
        allow_empty=allow_empty,
        strict=False,
        custom_kinds=own.custom_kinds,
        progress=not no_progress,
    )
    state = where.load(quiet=quiet, verbose=verbose, progress=not no_progress)
    terms = replace(terms, chosen=configurations.completed(terms.chosen, state, quiet=quiet))
    if not quiet:
        faults.report([*rules.warnings, *wanted.warnings], "warning")
    if verbose:
        faults.say(f"checking {counts.of(len(wanted.objects), 'object')} by {counts.of(len(rules.policies), 'policy')}")
    inputs = runs.inputs(wanted.digests, state.manifests.digests, own.digests)
    inputs += [Input(source=name, digest=digest, role="Policy") for name, digest in rules.digests.items()]
    report_files.spare([target.file for target in targets], [*own.digests, *(each.source for each in inputs)])
    if terms.baseline is not None:
        report_files.spare([target.file for target in targets], [terms.baseline.source])
    if write_baseline:
        report_files.spare([write_baseline], [each.source for each in inputs], "--write-baseline")
    if terms.baseline is not None:
        inputs.append(Input(source=terms.baseline.source, digest=terms.baseline.digest, role="Baseline"))
    with Bar("checking", wanted=not no_progress) as bar:
        found = check.checked(rules.policies, wanted, state, terms, inputs=inputs, advance=bar.advance)
    unclear = sum(result.outcome is Outcome.INCONCLUSIVE for result in found.results)
    if write_baseline and unclear:
        note = f"nothing is written to {write_baseline}: {counts.of(unclear, 'result')} inconclusive, maybe violated"
        found = check.refused(found, note)
    elif write_baseline:
        document = baselines.written(found.results)
        form_of_file = machine.json if write_baseline.endswith(".json") else machine.yaml
        report_files.write(write_baseline, form_of_file(document), "--write-baseline")
        found = check.accepted(found, f"{counts.of(len(document.entries), 'violation')} written to {write_baseline}")
    taken = datetime.fromtimestamp(now, UTC)
    for target in targets:
        text = io.StringIO()
        check_outputs.write(found, target.form, text, suppressed=sarif_suppressed, now=taken)
        report_files.write(target.file, text.getvalue())
    if form != "text":
        as_utf8()
    check_outputs.write(found, form, sys.stdout, terminal, limit=limit, suppressed=sarif_suppressed, now=taken)
    return found.summary.exit_code


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Check placement policies, e.g. in CI.", epilog=EXAMPLES)(check)
