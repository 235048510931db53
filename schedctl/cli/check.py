"""``schedctl check``: whether placement policies hold for manifests, as the gate of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_state
from schedctl.session.states import StateSource

if TYPE_CHECKING:
    from schedctl.render.terminals import Terminal
    from schedctl.reports.checks import CheckReport
    from schedctl.reports.metadata import Input

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
@with_notifier
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
    *,
    notifier: StandardError,
    source: StateSource,
) -> int:
    """Place manifests on a cluster and end with 1 if a policy is violated.

    Without a policy one thing is demanded: that every pod finds a node. No cluster is asked unless `--live` says so.
    Policies, state, reports and thresholds may also stand in the repository's `.schedctl.yaml`, under `check:`.
    """
    from schedctl.api.defaults import DEFAULT_NAMESPACE
    from schedctl.cli.printing import Printer
    from schedctl.render import check_outputs
    from schedctl.session import check as use_case
    from schedctl.session import settings
    from schedctl.session.sessions import SchedulerOptions, Session

    terminal = Printer.of("text", color).terminal
    user_settings = settings.load(config, ignored=no_config)
    defaults = user_settings.check
    outputs = _Outputs(
        check_outputs.parse(output or defaults.get("output", "")),
        [check_outputs.target(text) for text in report or defaults.get("reports", ())],
        write_baseline,
        sarif_suppressed,
    )
    outputs.check()
    paths, folders = manifests or [], kustomize or []
    use_case.check_sources(source, paths, folders, user_settings)
    session = Session(source, SchedulerOptions(scheduler_config, profile), notifier)
    check_options = use_case.parse_options(
        user_settings,
        fail_on=fail_on,
        on_inconclusive=on_inconclusive,
        max_age=max_age,
        baseline=baseline,
        rollout=rollout,
        skip_admission=skip_admission,
        inline=not no_inline_ignores,
        allow_empty=allow_empty,
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
    found = use_case.check(session, inputs.rules.policies, inputs.manifests, check_options, inputs=inputs.digests)
    return outputs.write(found, terminal, limit=limit, now=check_options.now).summary.exit_code


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

        from schedctl.cli.printing import as_utf8
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
