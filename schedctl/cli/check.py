"""``schedctl check``: whether placement policies hold for manifests, as the gate of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from schedctl.cli import options, suggestions
from schedctl.cli.help_text import OUTPUT, SELECT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_redactable_state
from schedctl.reports.check_formats import CHECK_FORMATS
from schedctl.session.states import StateSource

if TYPE_CHECKING:
    from schedctl.render.terminals import Terminal
    from schedctl.reports.checks import CheckReport
    from schedctl.reports.metadata import Input
    from schedctl.session.check import CheckInputs, CheckOptions
    from schedctl.session.sessions import Session

EXAMPLES = """
Examples:
  schedctl check deploy/ -f cluster.json.gz      # does every pod find a node?
  schedctl check deploy/ -f cluster.json.gz -p policies/
  helm template web charts/web | schedctl check - -f cluster.json.gz
  schedctl check -k overlays/prod -f cluster.json.gz -o github
  schedctl check deploy/ -f cluster.json.gz --report junit=check.xml
  schedctl check deploy/ -f cluster.json.gz --write-baseline baseline.yaml
  schedctl check deploy/ --live                  # against the live cluster
  schedctl check --all --live -p policies/       # the workloads that run there

Exit codes: 0 no violation; 1 a policy is violated; 2 usage, policy or configuration; 3 input or nothing to check;
4 cluster; 5 inconclusive; 70 a bug; 130 interrupted; 141 output closed
"""


@with_redactable_state
@with_notifier
def check(
    manifests: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MANIFESTS...]", help="Files, folders, globs or - (stdin)", show_default=False),
    ] = None,
    all_workloads: Annotated[
        bool,
        typer.Option("--all", help="Check the cluster's own workloads as they run", rich_help_panel=SELECT),
    ] = False,
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
    policies: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--policy",
            metavar="PATH",
            help="File, folder, glob or archive (FILE@sha256:...) with CheckPolicies; repeatable",
            rich_help_panel=SELECT,
        ),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", metavar="TAG", help="Judge only checks with this tag; repeatable", rich_help_panel=SELECT
        ),
    ] = None,
    namespace: options.Namespace = "",
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="SEVERITY",
            help="Fail on violations from this severity on: error (default), warning, info or never",
            autocompletion=suggestions.words("error", "warning", "info", "never"),
        ),
    ] = "",
    on_inconclusive: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Effect of an inconclusive result: fail (default), warn or ignore",
            autocompletion=suggestions.words("fail", "warn", "ignore"),
        ),
    ] = "",
    max_age: Annotated[
        str, typer.Option(metavar="DURATION", help="Oldest state to accept, e.g. 24h; an older one is inconclusive")
    ] = "",
    baseline: Annotated[
        str, typer.Option(metavar="FILE", help="Accept the violations in this file, and fail only on new ones")
    ] = "",
    write_baseline: Annotated[
        str, typer.Option(metavar="FILE", help="Write the violations to this file, and exit with 0")
    ] = "",
    no_inline_ignores: Annotated[
        bool, typer.Option("--no-inline-ignores", help="Ignore annotations schedctl.dev/ignore.<check>")
    ] = False,
    rollout: options.Rollout = "",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    config: options.Config = "",
    no_config: options.NoConfig = False,
    skip_admission: options.SkipAdmission = None,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Accept that there is nothing to check")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Judge nothing if an object, a file or a field would be left out")
    ] = False,
    jobs: Annotated[
        int,
        typer.Option("--jobs", min=0, metavar="N", help="Scenarios to simulate side by side (0: one for each core)"),
    ] = 0,
    draws: options.ConfidenceDraws = 200,
    node_groups: options.NodeGroups = "",
    instance_types: options.InstanceTypes = "",
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help=f"text (default), {', '.join(CHECK_FORMATS[1:])}",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words(*CHECK_FORMATS),
        ),
    ] = "",
    report: Annotated[
        list[str] | None,
        typer.Option(
            "--report",
            metavar="FORMAT=FILE",
            help="Also write the report to a file; repeatable",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    sarif_suppressed: Annotated[
        bool,
        typer.Option(
            "--sarif-suppressed", help="List accepted violations in SARIF, as suppressed", rich_help_panel=OUTPUT
        ),
    ] = False,
    limit: options.Limit = 0,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
) -> int:
    """Check that manifests keep placement policies; exit with 1 if one is violated.

    Without a policy, every pod has to find a node. The live cluster is read only with --live. Policies, state, reports
    and thresholds may also stand in the repository's `.schedctl.yaml`, under `check:`.
    """
    from schedctl.api.defaults import DEFAULT_NAMESPACE
    from schedctl.cli.failure_reports import FailureReports
    from schedctl.cli.printing import Printer
    from schedctl.render import check_outputs
    from schedctl.session import check as use_case
    from schedctl.session import node_inventories, report_files, settings
    from schedctl.session.sessions import SchedulerOptions, Session

    terminal = Printer.of("text", color).terminal
    source.strict = strict
    _reject_partial_baseline(tags, write_baseline)
    paths, folders = manifests or [], kustomize or []
    targets = [check_outputs.target(text) for text in report or ()]
    report_files.check(target.file for target in targets)
    named = [*paths, *folders, *source.paths, baseline, write_baseline, scheduler_config, config]
    named += [node_groups, instance_types]
    with FailureReports(targets, named + use_case.policy_files(policies or ()), notifier) as failure:
        failure.redacted = source.redaction is not None
        user_settings = settings.load(config, ignored=no_config)
        outputs = _Outputs(
            check_outputs.parse(output or user_settings.check.get("output", "")),
            targets or [check_outputs.target(text) for text in user_settings.check.get("reports", ())],
            write_baseline,
            sarif_suppressed,
        )
        failure.targets = outputs.check()
        failure.inputs += use_case.files_of_settings(user_settings)
        use_case.check_sources(source, paths, folders, user_settings, standing=all_workloads)
        scheduler = SchedulerOptions(scheduler_config, profile, plugins=plugin or ())
        session = Session(source, scheduler, notifier, kinds=node_inventories.NO_GROUP_OPTIONS.kinds(source))
        check_options = use_case.parse_options(
            user_settings,
            fail_on=fail_on,
            on_inconclusive=on_inconclusive,
            max_age=max_age,
            baseline=baseline,
            rollout=rollout,
            standing=all_workloads,
            skip_admission=options.one_list(skip_admission),
            inline=not no_inline_ignores,
            allow_empty=allow_empty,
            jobs=jobs,
            tags=tags or (),
            node_map=outputs.has_pages,
            node_groups=node_groups,
            types=instance_types,
        )
        inputs = use_case.load(
            session,
            check_options,
            paths=paths,
            kustomizations=folders,
            policies=policies or (),
            namespace=source.namespace(namespace) or DEFAULT_NAMESPACE,
            settings=user_settings,
        )
        outputs.spare(inputs.digests, user_settings.digests)
        failure.warnings = inputs.warnings
        found = session.with_calls(_judge(session, inputs, check_options, draws, jobs))
        return outputs.write(found, terminal, limit=limit, now=check_options.now).summary.exit_code


def _reject_partial_baseline(tags: Sequence[str] | None, write_baseline: str) -> None:
    """Hold up a check of some rules that would write a baseline of all.

    Raises:
        UsageError: it would.
    """
    from schedctl.errors import UsageError

    if tags and write_baseline:
        raise UsageError(
            "--write-baseline with --tag would drop what other checks have in the baseline", "remove --tag"
        )


class _Outputs(msgspec.Struct, frozen=True):
    """Where the report goes: standard output and files."""

    form: str
    targets: Sequence[Any]
    baseline: str
    suppressed: bool

    @property
    def files(self) -> list[str]:
        return [target.file for target in self.targets]

    @property
    def has_pages(self) -> bool:
        """Whether one of the outputs is a page, whose pictures need more than the others."""
        return "html" in (self.form, *(target.form for target in self.targets))

    def check(self) -> Sequence[Any]:
        """Return where reports go to once it is known that all files can be written, before any work is done.

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
                raise UsageError(f"--report and --write-baseline would both write {self.baseline}", "name two files")
        return self.targets

    def spare(self, inputs: Sequence[Input], settings: Iterable[str]) -> None:
        """Keep the files from being written over what was read; a baseline may be, by the one that replaces it.

        Raises:
            UsageError: a file is one of the inputs.
        """
        from schedctl.session import report_files

        report_files.spare(self.files, [*settings, *(each.source for each in inputs)])
        if self.baseline:
            others = [each.source for each in inputs if each.role != "Baseline"]
            report_files.spare([self.baseline], others, "--write-baseline")

    def write(self, report: CheckReport, terminal: Terminal, *, limit: int, now: float) -> CheckReport:
        """Write the report everywhere, after the baseline where one is asked for, and return it.

        Raises:
            UsageError: a file cannot be written.
        """
        import io
        import sys
        from datetime import UTC, datetime

        from schedctl.cli.printing import as_utf8, tell_calls
        from schedctl.render import check_outputs
        from schedctl.session import report_files

        if self.baseline:
            report = _with_baseline(report, self.baseline)
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
        tell_calls(report)
        return report


def _with_baseline(report: CheckReport, file: str) -> CheckReport:
    """Write what is violated to a baseline and return the report that says so."""
    from schedctl.render import machine
    from schedctl.session import check as use_case
    from schedctl.session import report_files

    report, document = use_case.to_baseline(report, file)
    if document is not None:
        serialize = machine.json if file.endswith(".json") else machine.yaml
        report_files.write(file, serialize(document), "--write-baseline")
    return report


def _judge(session: Session, inputs: CheckInputs, options: CheckOptions, draws: int, jobs: int) -> CheckReport:
    """Return the report, over many draws where a check demands that it holds in most of them."""
    from schedctl.session import check as use_case
    from schedctl.studies import check_draws
    from schedctl.studies.engines import engine_of

    if not check_draws.are_demanded(inputs):
        return use_case.check(session, inputs, options)
    engine = engine_of(1 if session.notifier.verbose else jobs)
    return check_draws.check(session, inputs, options, draws, engine)
