"""``schedctl test``: whether policies say what their tests expect of them."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.notifiers import StandardError

EXAMPLES = """\b
Examples:
  schedctl test                        every CheckPolicyTest in this folder and below
  schedctl test policies/ -o junit
  schedctl test policies/ --update     write what came in place of what was expected

\b
Exit codes: 0 all passed, 1 one failed, 2 a test or a policy cannot be read, 3 no tests, 70 a bug, 130 interrupted.
"""


def test(
    folders: Annotated[
        list[str] | None,
        typer.Argument(metavar="DIR", help="Folders and files with tests; this folder by default.", show_default=False),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Rewrite what tests expect, after showing the difference.")
    ] = False,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="A folder without tests is fine.")] = False,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="text, json, junit or tap.")] = "text",
    config: options.Config = "",
    no_config: options.NoConfig = False,
    color: options.Color = "auto",
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
) -> int:
    """Run the tests of policies: a state, manifests and policies, and what `schedctl check` should say about them.

    A test is a document of `kind: CheckPolicyTest`, in any file. No cluster is asked, ever.
    """
    import sys

    from schedctl.cli.printing import Printer, as_utf8
    from schedctl.render import policy_tests as outputs
    from schedctl.session import policy_tests, settings

    form = outputs.parse(output)
    terminal = Printer.of("text", color).terminal
    notifier = StandardError(bars=not no_progress)
    user_settings = settings.load(config, ignored=no_config)
    tests = policy_tests.find(folders or ["."], allow_empty=allow_empty, notifier=notifier)
    report = policy_tests.run(tests, update=update, custom_kinds=user_settings.custom_kinds, notifier=notifier)
    if form != "text":
        as_utf8()
    outputs.write(report, form, sys.stdout, terminal)
    return report.summary.exit_code
