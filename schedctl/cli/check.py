"""``schedctl check``: whether placement policies hold for manifests, as the gate of a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.notifiers import StandardError
from schedctl.cli.state_options import with_state
from schedctl.session.states import LIVE, StateSource

if TYPE_CHECKING:
    from schedctl.render.terminals import Terminal
    from schedctl.reports.checks import CheckReport

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
    source: StateSource = LIVE,
) -> int:
    """Place manifests on a cluster and end with 1 if a policy is violated.

    Without a policy one thing is demanded: that every pod finds a node. No cluster is asked unless `--live` says so.
    Policies, state, reports and thresholds may also stand in the repository's `.schedctl.yaml`, under `check:`.
    """
    import time

    from schedctl.api.defaults import DEFAULT_NAMESPACE
    from schedctl.cli.printing import Printer
    from schedctl.errors import UsageError
    from schedctl.policy import baselines
    from schedctl.render import check_outputs
    from schedctl.reports import counts
    from schedctl.session import check as use_case
    from schedctl.session import manifests as inputs
    from schedctl.session import report_files, runs, settings
    from schedctl.session.sessions import SchedulerOptions, Session

    terminal = Printer.of("text", color).terminal
    notifier = StandardError(quiet=quiet, verbose=verbose, bars=not no_progress)
    user_settings = settings.load(config, ignored=no_config)
    defaults = user_settings.check
    outputs = _Outputs(
        check_outputs.parse(output or defaults.get("output", "")),
        [check_outputs.target(text) for text in report or defaults.get("reports", ())],
        write_baseline,
        sarif_suppressed,
    )
    outputs.check()
    if not (source.paths or source.live):
        source.paths = tuple(defaults.get("state", ()))
    if not (source.paths or source.live):
        raise UsageError("say on which state to check", "-f names files or a snapshot, --live asks the live cluster")
    paths, folders = manifests or [], kustomize or []
    inputs.check_sources(paths, folders, source.paths)
    baseline = baseline or defaults.get("baseline", "")
    session = Session(source, SchedulerOptions(scheduler_config, profile), notifier)
    check_options = use_case.CheckOptions(
        fail_on=use_case.parse_word("--fail-on", fail_on or defaults.get("fail_on", "error"), use_case.FAIL_ON),
        on_inconclusive=use_case.parse_word(
            "--on-inconclusive", on_inconclusive or defaults.get("on_inconclusive", "fail"), use_case.ON_INCONCLUSIVE
        ),
        max_age=use_case.parse_max_age(max_age or defaults.get("max_age", "")),
        inline=not no_inline_ignores,
        baseline=baselines.read(baseline) if baseline else None,
        strategy=runs.rollout_strategy(rollout),
        disabled=runs.admission_plugins(skip_admission),
        allow_empty=allow_empty,
        now=time.time(),
    )
    rules = use_case.load_policies(policies or defaults.get("policies", ()), (*paths, *source.paths))
    read = inputs.load(
        paths,
        folders,
        recursive=source.recursive,
        stdin_filename=source.stdin_filename,
        namespace=source.namespace(namespace) or DEFAULT_NAMESPACE,
        allow_empty=allow_empty,
        strict=False,
        custom_kinds=user_settings.custom_kinds,
        kinds=session.kinds,
        notifier=notifier,
    )
    session.load()
    if not quiet:
        notifier.report([*rules.warnings, *read.warnings], "warning")
    if verbose:
        what = f"{counts.of(len(read.objects), 'object')} by {counts.of(len(rules.policies), 'policy')}"
        notifier.say(f"checking {what}")
    sources = runs.inputs(read.digests, session.state.manifests.digests, user_settings.digests)
    sources += use_case.policy_inputs(rules, check_options.baseline)
    report_files.spare(outputs.files, [*user_settings.digests, *(each.source for each in sources)])
    if write_baseline:
        rest = [each.source for each in sources if each.role != "Baseline"]
        report_files.spare([write_baseline], rest, "--write-baseline")
    found = use_case.check(session, rules.policies, read, check_options, inputs=sources)
    if write_baseline:
        found = _with_baseline(found, write_baseline)
    outputs.write(found, terminal, limit=limit, now=check_options.now)
    return found.summary.exit_code


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Where the report goes: standard output and files."""

    form: str
    targets: Sequence[Any]
    baseline: str
    suppressed: bool

    @property
    def files(self) -> list[str]:
        return [target.file for target in self.targets]

    def check(self) -> None:
        """See to it that all files can be written, before any work is done.

        Raises:
            UsageError: one cannot.
        """
        import os

        from schedctl.errors import UsageError
        from schedctl.session import report_files

        report_files.check(self.files)
        if self.baseline:
            report_files.check([self.baseline], "--write-baseline")
            if os.path.realpath(self.baseline) in [os.path.realpath(file) for file in self.files]:
                raise UsageError(f"--report and --write-baseline are both to write {self.baseline}", "name two files")

    def write(self, report: CheckReport, terminal: Terminal, *, limit: int, now: float) -> None:
        """Write the report everywhere.

        Raises:
            UsageError: a file cannot be written.
        """
        import io
        import sys
        from datetime import UTC, datetime

        from schedctl.cli.printing import as_utf8
        from schedctl.render import check_outputs
        from schedctl.session import report_files

        time_of_check = datetime.fromtimestamp(now, UTC)
        for target in self.targets:
            text = io.StringIO()
            check_outputs.write(report, target.form, text, suppressed=self.suppressed, now=time_of_check)
            report_files.write(target.file, text.getvalue())
        if self.form != "text":
            as_utf8()
        check_outputs.write(
            report, self.form, sys.stdout, terminal, limit=limit, suppressed=self.suppressed, now=time_of_check
        )


def _with_baseline(report: CheckReport, file: str) -> CheckReport:
    """Write what is violated to a baseline and return the report that says so; what is unclear goes into none."""
    from schedctl.policy import baselines
    from schedctl.render import machine
    from schedctl.reports import counts
    from schedctl.reports.checks import Outcome
    from schedctl.session import check as use_case
    from schedctl.session import report_files

    unclear = sum(result.outcome is Outcome.INCONCLUSIVE for result in report.results)
    if unclear:
        note = f"nothing is written to {file}: {counts.of(unclear, 'result')} inconclusive, maybe violated"
        return use_case.refuse(report, note)
    document = baselines.baseline_of(report.results)
    serialize = machine.json if file.endswith(".json") else machine.yaml
    report_files.write(file, serialize(document), "--write-baseline")
    return use_case.accept(report, f"{counts.of(len(document.entries), 'violation')} written to {file}")


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Check placement policies, e.g. in CI.", epilog=EXAMPLES)(check)
