"""The values of ``-o`` and who writes them.

What the command line calls::

    output = outputs.parse(args.output)              # raises UsageError before any work is done
    terminal = terminals.of(sys.stdout, color=args.color, environ=os.environ)
    outputs.write(document, output, sys.stdout, terminal)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from schedctl.explain.reports import ExplainReport
from schedctl.render.terminals import Terminal


@dataclass(frozen=True, slots=True)
class Output:
    """A parsed ``-o``: the format, and the template of ``jsonpath=``."""

    format: str
    template: str = ""


TEXT = Output("text")


def parse(text: str) -> Output:
    """Return the output a value of ``-o`` stands for; "" and ``table`` are the text for people.

    Raises:
        UsageError: there is no such output, or its template cannot be read.
    """
    raise NotImplementedError


def write(report: ExplainReport, output: Output, stream: TextIO, terminal: Terminal) -> None:
    """Write the report to a stream.

    Raises:
        UsageError: a jsonpath template asks for something the report does not have.
    """
    raise NotImplementedError
