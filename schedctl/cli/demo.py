"""``schedctl demo``: an answer to look at where there is no cluster, from the example cluster that ships."""

from __future__ import annotations

import os

import typer

from schedctl.cli import options
from schedctl.cli.notifiers import StandardError, with_notifier

EXAMPLES = """
Examples:
  schedctl demo
  schedctl demo -o wide
"""
POD = "shop/web-7d9c6b5f4d-jbljm"
"""Pending, for three reasons at once."""


@with_notifier
def demo(
    output: options.Output = "text",
    limit: options.Limit = 0,
    color: options.Color = "auto",
    *,
    notifier: StandardError,
) -> int:
    """Explain a pending pod of an example cluster that ships with schedctl; no cluster is needed.

    The output names the command that was run and others to try on the same cluster.
    """
    from schedctl import shipped
    from schedctl.cli.printing import Printer
    from schedctl.session import explain as use_case
    from schedctl.session import subjects
    from schedctl.session.sessions import Session
    from schedctl.session.states import StateSource

    printer = Printer.of(output, color)
    cluster = os.path.relpath(shipped.scenario())
    if not notifier.quiet:
        notifier.say(f"$ schedctl explain pod {POD} -f {cluster}")
    session = Session(StateSource((cluster,)), notifier=notifier)
    session.load()
    question = subjects.question([f"pod/{POD}"], namespace="", all_namespaces=False, selector="", all_pending=False)
    report = use_case.explain(session, question, use_case.ExplainOptions())
    printer.write(report, limit=limit)
    if not notifier.quiet:
        typer.echo("try next on this cluster:", err=True)
        typer.echo(f"  schedctl explain --all-pending -f {cluster}", err=True)
        typer.echo(f"  schedctl drain general-a-2 --ignore-daemonsets -f {cluster}", err=True)
        typer.echo(f"  schedctl capacity --like deploy/cart -n shop -f {cluster}", err=True)
    return report.summary.exit_code
