"""``schedctl snapshot``: a cluster in a file, to be kept, looked into, compared and shown to others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import faults, options, suggestions
from schedctl.cli.coercion import Application
from schedctl.cli.help_text import CLUSTER, OUTPUT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_state_only
from schedctl.errors import UsageError
from schedctl.session.states import StateSource

if TYPE_CHECKING:
    from schedctl.session.snapshots import WrittenSnapshot

EXAMPLES_OF_CREATE = """
Examples:
  schedctl snapshot create prod.json.gz
  schedctl snapshot create prod.json.gz --scheduler-config-from-cluster
  schedctl snapshot create prod.json.gz --from nodes.json --from pods.json
  schedctl snapshot create bug.json.gz --redact strict

Exit codes: 0 written; 1 the question was answered "no"; 2 usage or output; 3 input; 4 cluster; 70 a bug;
130 interrupted; 141 output closed
"""
EXAMPLES_OF_INSPECT = """
Examples:
  schedctl snapshot inspect prod.json.gz
  schedctl snapshot inspect prod.json.gz -o jsonpath='{.snapshot.taken}'
"""
EXAMPLES_OF_DIFF = """
Examples:
  schedctl snapshot diff monday.json.gz tuesday.json.gz
  schedctl snapshot diff monday.json.gz tuesday.json.gz --limit 100
  schedctl snapshot diff monday.json.gz tuesday.json.gz --exit-code -o json

Exit codes: 0 answered; 1 they differ (with --exit-code); 2 usage or output; 3 input; 70 a bug; 130 interrupted;
141 output closed
"""
EXAMPLES_OF_REDACT = """
Examples:
  schedctl snapshot redact prod.json.gz bug.json.gz
  schedctl snapshot redact prod.json.gz bug.json.gz --key-file ~/.schedctl.key
  schedctl snapshot redact raw.json.gz prod.json.gz --redact default
"""

Redact = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="default: keep only what scheduling reads; strict: also hash names and values; none: keep everything",
    ),
]
RedactFurther = Annotated[
    str,
    typer.Option(
        metavar="LEVEL", help="strict (default): hash names and values; default: keep only what scheduling reads"
    ),
]
KeyFile = Annotated[
    str,
    typer.Option(metavar="FILE", help="Key of the hashes, created if missing (default: a key that is not kept)"),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists")]

application = Application(help="Save, inspect, compare and redact clusters as files.")


@application.command("create", short_help="Write a cluster to a file.", epilog=EXAMPLES_OF_CREATE)
@with_state_only
@with_notifier
def create(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File to write, compressed if it ends in .gz; - for standard output")
    ],
    origin: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="PATH",
            help="Same as -f: read files, not the live cluster; repeatable",
            rich_help_panel=CLUSTER,
        ),
    ] = None,
    redact: Redact = "default",
    key_file: KeyFile = "",
    scheduler_config: Annotated[
        str,
        typer.Option(metavar="FILE", help="Store this KubeSchedulerConfiguration in the snapshot, for later use"),
    ] = "",
    force: Force = False,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask before writing without redaction")] = False,
    *,
    notifier: StandardError,
    source: StateSource,
) -> None:
    """Write what scheduling reads of a cluster to a file (mode 0600) that -f reads.

    Secrets are not read, nor ConfigMaps but the status of Cluster Autoscaler; environment variables, commands and
    annotations are left out. Kinds that cannot be listed are noted in the file, so that answers which need them are
    inconclusive.
    """
    from schedctl.session import snapshots
    from schedctl.session.redactions import RedactionOptions

    redaction = RedactionOptions.parse(redact, key_file)
    source = snapshots.with_files(source, tuple(origin or ()))
    target = snapshots.SnapshotTarget(file, force, sys.stdout.buffer)
    target.check()
    if redaction.level == "none":
        _agree_to_everything(source, yes=yes)
    written = snapshots.create(source, target, redaction, configuration=scheduler_config, notifier=notifier)
    if not notifier.quiet:
        _report_written(written, key_file)


@application.command("inspect", short_help="Show what a snapshot holds.", epilog=EXAMPLES_OF_INSPECT)
def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Snapshot to read")],
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default), json, yaml or jsonpath=TEMPLATE",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "json", "yaml", "jsonpath="),
        ),
    ] = "text",
    color: options.Color = "auto",
    debug: options.Debug = False,
) -> None:
    """Show what a snapshot holds: its time and cluster, the number of objects of each kind, what is missing.

    It also counts the names that are readable in it: look there before you give it away.
    """
    from schedctl.cli.printing import Printer
    from schedctl.session import snapshots

    printer = Printer.of(output, color)
    printer.write(snapshots.inspect(file))


@application.command("diff", short_help="Show what changed between two snapshots.", epilog=EXAMPLES_OF_DIFF)
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="Snapshot")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Later snapshot")],
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if anything differs", rich_help_panel=OUTPUT)
    ] = False,
    color: options.Color = "auto",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> int:
    """Show which objects were added, removed or changed between two snapshots, and in which fields.

    Only what a snapshot keeps is compared. Strictly redacted snapshots can be compared if they have the same key.
    """
    from schedctl.cli.printing import Printer
    from schedctl.session import snapshots

    printer = Printer.of(output, color)
    report = snapshots.diff(before, after, fail=exit_code, notifier=StandardError(quiet=quiet))
    printer.write(report, limit=limit)
    return report.summary.exit_code


@application.command("redact", short_help="Redact a snapshot further.", epilog=EXAMPLES_OF_REDACT)
def redact_further(
    source: Annotated[str, typer.Argument(metavar="IN", help="Snapshot to read")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="Snapshot to write; - for standard output")],
    redact: RedactFurther = "strict",
    key_file: KeyFile = "",
    force: Force = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a copy of a snapshot with more taken out; verdicts and scores stay the same.

    With `--redact strict`, names, namespaces and label values become keyed hashes that sort as the names did. Label
    keys, names of resources and drivers, numbers and times stay.
    """
    from schedctl.session import snapshots
    from schedctl.session.redactions import RedactionOptions

    redaction = RedactionOptions.parse(redact, key_file)
    destination = snapshots.SnapshotTarget(target, force, sys.stdout.buffer)
    destination.check()
    written = snapshots.redact(source, destination, redaction, StandardError(quiet=quiet))
    if not quiet:
        _report_written(written, key_file)


def _agree_to_everything(source: StateSource, *, yes: bool) -> None:
    """See to it that nobody writes everything there is to a file without knowing.

    Raises:
        UsageError: there is nobody to ask, or files are to be written as they are.
        typer.Abort: the terminal is gone.
        typer.Exit: the user would rather not.
    """
    from schedctl.cli import questions

    if source.paths:
        raise UsageError(
            "--redact none needs a live cluster, but files were given", "the files are already complete: keep them"
        )
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "--redact none asks before it writes environment variables, commands and all annotations to a file",
            "`--yes` writes them without asking",
        )
    questions.ask(
        "environment variables, commands and all annotations go into the file, secrets in them included; write it?",
        "nothing was written",
    )


def _report_written(written: WrittenSnapshot, key_file: str) -> None:
    """Say what was written."""
    from schedctl.render import snapshots

    for text in snapshots.write_summary(written.name, written.size, written.header, key_file):
        faults.say(text)
