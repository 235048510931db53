"""The outputs of ``schedctl check`` and who writes them, for ``-o`` and for each ``--report FORMAT=FILE``.

What the command line calls::

    form = check_outputs.parse(args.output)                      # raises UsageError before any work is done
    targets = [check_outputs.target(text) for text in args.report]
    check_outputs.write(report, form, sys.stdout, terminal, limit=args.limit)

One report goes through any number of them; none changes it, nor the exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, TextIO

import msgspec

from schedctl.errors import UsageError
from schedctl.render import outputs, sanitise
from schedctl.render.terminals import PLAIN, Terminal
from schedctl.reports.check_formats import CHECK_FORMATS
from schedctl.reports.checks import CheckReport


class Target(NamedTuple):
    """A parsed ``--report``: the form and the file it goes to."""

    form: str
    file: str


def parse(text: str) -> str:
    """Return the form a value of ``-o`` stands for; "" is the text for people.

    Raises:
        UsageError: there is no such form.
    """
    return outputs.parse_format(text, CHECK_FORMATS)


def target(text: str) -> Target:
    """Return what a value of ``--report`` stands for.

    Raises:
        UsageError: it is no form and file, or there is no such form.
    """
    form, equals, file = text.partition("=")
    if not (form and equals and file):
        raise UsageError(
            f'--report takes FORMAT=FILE, not "{sanitise.text(text)}"', "e.g. `--report sarif=check.sarif`"
        )
    return Target(parse(form), file)


def write(
    report: CheckReport,
    form: str,
    stream: TextIO,
    terminal: Terminal = PLAIN,
    *,
    limit: int = 0,
    suppressed: bool = False,
    now: datetime | None = None,
) -> None:
    """Write a report to a stream; all but the text for people is to be encoded as UTF-8.

    Args:
        report: what to write.
        form: one of `CHECK_FORMATS`.
        stream: where to.
        terminal: what the stream can show; only the text for people cares.
        limit: how many findings the text for people shows, 0 for what suits.
        suppressed: whether SARIF has what was accepted, too.
        now: by which the text for people tells the age of the state, and when objects of a cluster say that it was
            checked where nobody knows when the state was taken.
    """
    if form != outputs.PAGE:
        report = msgspec.structs.replace(report, node_map=None)  # which is there for a page that goes elsewhere
    if form == "text":
        from schedctl.render import layout
        from schedctl.render.checks import texts

        layout.write(texts.lines(report, limit=limit, now=now), stream, terminal)
    else:
        stream.writelines(_machine(report, form, suppressed, now))


def _machine(report: CheckReport, form: str, suppressed: bool, now: datetime | None) -> Iterable[str]:
    from schedctl.render import machine
    from schedctl.render.checks import github, gitlab, junit, markdown, openreports, sarif, tap

    match form:
        case "json":
            return [machine.json(report)]
        case "yaml":
            return [machine.yaml(report)]
        case "junit":
            return [junit.document(report)]
        case "sarif":
            return [sarif.document(report, suppressed=suppressed)]
        case "gitlab":
            return [gitlab.document(report)]
        case "github":
            return github.lines(report)
        case "tap":
            return tap.lines(report)
        case "markdown":
            return markdown.lines(report)
        case outputs.PAGE:
            from schedctl.render.html import documents

            return [documents.document(report)]
        case "openreports":
            return [openreports.document(report, openreports.OPEN_REPORTS, now=now)]
        case "policyreports":
            return [openreports.document(report, openreports.POLICY_REPORTS, now=now)]
        case _:
            raise ValueError(form)
