"""``schedctl test``: whether policies say what their tests expect of them."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.notifiers import StandardError

EXAMPLES = """
Examples:
  schedctl test                                  # in this folder and below
  schedctl test policies/ -o junit
  schedctl test -k three-zones                   # those with this in their name
  schedctl test policies/ --update               # accept today's results
  schedctl test policies/ --min-coverage 90      # fail if tests exercise less

Exit codes: 0 all passed; 1 one failed, or too little coverage; 2 a test or a policy cannot be read; 3 no tests;
70 a bug; 130 interrupted
"""


def test(
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]", help="Folders and files with tests (default: this folder)", show_default=False
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Rewrite what tests expect, after showing the difference")
    ] = False,
    names: Annotated[
        list[str] | None,
        typer.Option("-k", metavar="NAME", help="Run tests with this in their name or file; repeatable"),
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Say which checks and match conditions no test exercises both ways")
    ] = False,
    min_coverage: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", min=0, max=100, help="Exit with 1 below this coverage", show_default=False),
    ] = None,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Accept a folder without tests")] = False,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default), json, junit or tap",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "json", "junit", "tap"),
        ),
    ] = "text",
    scheduler_config: options.SchedulerConfig = "",
    kube_version: options.KubeVersion = "",
    feature_gates: options.FeatureGates = None,
    strict_version: options.StrictVersion = False,
    plugin: options.Plugins = None,
    config: options.Config = "",
    no_config: options.NoConfig = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print no warnings and no test that passes", rich_help_panel=OUTPUT)
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Print what each check says in each test", rich_help_panel=OUTPUT)
    ] = False,
    color: options.Color = "auto",
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
) -> int:
    """Run the tests of policies: a cluster, manifests and policies, and what `schedctl check` should report for them.

    A test is a document of `kind: CheckPolicyTest`, in any file. No live cluster is read.
    --scheduler-config is for the tests that set neither `schedulerConfig` nor `profile`, --kube-version and
    --feature-gates for those that set neither `kubeVersion` nor `featureGates`.
    """
    import sys

    from schedctl.cli.printing import Printer, as_utf8
    from schedctl.render import policy_tests as outputs
    from schedctl.session import policy_tests, settings
    from schedctl.session.sessions import SchedulerOptions
    from schedctl.session.version_options import VersionOptions

    form = outputs.parse(output)
    terminal = Printer.of("text", color).terminal
    notifier = StandardError(quiet=quiet, verbose=verbose, bars=not no_progress)
    user_settings = settings.load(config, ignored=no_config)
    tests = policy_tests.find(folders or ["."], allow_empty=allow_empty, notifier=notifier)
    selected = policy_tests.select(tests, names or ())
    demand = policy_tests.CoverageDemand(folders or ["."], min_coverage or 0)
    report = policy_tests.run(
        selected,
        update=update,
        not_selected=len(tests) - len(selected),
        demand=demand if coverage or min_coverage is not None else None,
        defaults=policy_tests.TestDefaults(
            SchedulerOptions(scheduler_config, plugins=plugin or ()),
            VersionOptions(kube_version, options.one_list(feature_gates), strict_version),
        ),
        custom_kinds=user_settings.custom_kinds,
        notifier=notifier,
    )
    if form != "text":
        as_utf8()
    outputs.write(report, form, sys.stdout, terminal, quiet=quiet, verbose=verbose)
    return report.summary.exit_code
