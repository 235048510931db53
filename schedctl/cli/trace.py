"""``schedctl trace``: what the files of ``--trace`` say of one pod, and where two of them part."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.coercion import Application
from schedctl.cli.help_text import OUTPUT

EXAMPLES_OF_SHOW = """
Examples:
  schedctl simulate web.yaml -f cluster.json --trace run.jsonl
  schedctl trace show run.jsonl                  # its pods
  schedctl trace show run.jsonl shop/web-0       # the life of one
  schedctl trace show run.jsonl web-0 -o json

Exit codes: 0 answered; 2 usage or output; 3 input; 70 a bug; 130 interrupted; 141 output closed
"""
EXAMPLES_OF_DIFF = """
Examples:
  schedctl simulate web.yaml -f cluster.json --trace a.jsonl
  schedctl simulate web.yaml -f cluster.json --seed 7 --trace b.jsonl
  schedctl trace diff a.jsonl b.jsonl
  schedctl trace diff a.jsonl b.jsonl --exit-code -o name

Exit codes: 0 answered; 1 the traces differ (with --exit-code); 2 usage or output; 3 input; 70 a bug;
130 interrupted; 141 output closed
"""

application = Application(help="Show what happened to a pod, and compare runs.")


@application.command("show", short_help="Show the life of a pod in a trace.", epilog=EXAMPLES_OF_SHOW)
def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Trace to read, as --trace writes it")],
    pod: Annotated[
        str,
        typer.Argument(metavar="[POD]", help="NAME or NS/NAME (default: all pods)", show_default=False),
    ] = "",
    output: options.Output = "text",
    limit: options.Limit = 0,
    color: options.Color = "auto",
    debug: options.Debug = False,
) -> None:
    """Show every step of one pod: its moves in the queue, attempts, nominations, evictions for it, and its binding."""
    from schedctl.cli.printing import Printer
    from schedctl.session import traces

    printer = Printer.of(output, color)
    printer.write(traces.show(file, pod), limit=limit)


@application.command("diff", short_help="Show where two traces part.", epilog=EXAMPLES_OF_DIFF)
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="Trace")],
    after: Annotated[str, typer.Argument(metavar="B", help="Another trace")],
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if they differ", rich_help_panel=OUTPUT)
    ] = False,
    color: options.Color = "auto",
    debug: options.Debug = False,
) -> int:
    """Show the first step in which two traces differ, and which pods are bound to other nodes in the end."""
    from schedctl.cli.printing import Printer
    from schedctl.session import traces

    printer = Printer.of(output, color)
    report = traces.diff(before, after, fail=exit_code)
    printer.write(report, limit=limit)
    return report.summary.exit_code
