"""How a report leaves a command: in the form ``-o`` asks for, to what standard output can show."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from schedctl.errors import UsageError
from schedctl.render import outputs, terminals
from schedctl.render.outputs import Output
from schedctl.render.terminals import Terminal

if TYPE_CHECKING:
    from schedctl.render.outputs import Report
    from schedctl.reports.watches import WatchLine

COLORS = ("always", "never", "auto")


class Printer(msgspec.Struct, frozen=True):
    """Prints one report.

    Attributes:
        form: in which form.
        terminal: what standard output can show.
    """

    form: Output
    terminal: Terminal

    @classmethod
    def of(cls, output: str, color: str, *, pages: bool = False) -> Printer:
        """Return the printer that ``-o`` and ``--color`` stand for, before any work is done.

        Args:
            output: ``-o``.
            color: ``--color``.
            pages: whether there is a page of the report.

        Raises:
            UsageError: there is no such output or colour.
        """
        form = outputs.parse(output, pages=pages)
        if color not in COLORS:
            raise UsageError(f'invalid --color "{color}"', f"--color takes {', '.join(COLORS)}")
        return cls(form, terminals.of(sys.stdout, color=color, environ=os.environ))

    @property
    def is_page(self) -> bool:
        """Whether the form is a page, whose pictures need more than other forms."""
        return self.form.format == outputs.PAGE

    def write(self, report: Report, *, limit: int = 0) -> None:
        """Write the report to standard output.

        Raises:
            UsageError: a jsonpath template indexes what the report does not have.
        """
        self._for_programs()
        outputs.write(report, self.form, sys.stdout, self.terminal, limit=limit)
        tell_calls(report)

    def tell(self, news: WatchLine) -> None:
        """Write one of several pieces of news, at once: the text for people, or a line of JSON."""
        self._for_programs()
        outputs.write_news(news, self.form, sys.stdout, self.terminal)
        sys.stdout.flush()

    def _for_programs(self) -> None:
        if self.form.format not in ("text", "wide"):
            as_utf8()


def tell_calls(report: object) -> None:
    """Write the calls of plugins that a report has (``-v``) to standard error."""
    calls = getattr(getattr(report, "metadata", None), "plugin_calls", None)
    if calls is not None:
        from schedctl.render import layout, plugin_calls

        sys.stdout.flush()
        with suppress(OSError):
            layout.write(
                [*plugin_calls.lines(calls)], sys.stderr, terminals.of(sys.stderr, color="never", environ=os.environ)
            )


def as_utf8() -> None:
    """Have standard output written as UTF-8: what programs read does not depend on a locale."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
