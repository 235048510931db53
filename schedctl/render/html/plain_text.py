"""The text for people within a page, as it is in a terminal of 100 columns."""

from __future__ import annotations

import io
from collections.abc import Iterable

from msgspec.structs import replace

from schedctl.render import layout
from schedctl.render.html.markup import Markup, element, text
from schedctl.render.layout import Line, Part
from schedctl.render.terminals import PLAIN

_COLUMNS = 100
_LINES = 400


def of_line(line: Line) -> str:
    """Return what a line of the text for people says, without its indent."""
    return "".join(span.text for span in line.spans)


def as_text(blocks: Iterable[Part]) -> Markup:
    """Return blocks as preformatted text."""
    written = io.StringIO()
    layout.write(blocks, written, replace(PLAIN, width=_COLUMNS))
    lines = written.getvalue().rstrip("\n").split("\n")
    shown = [Markup(f"{text(line)}\n") for line in lines[:_LINES]]
    more = f"+{len(lines) - _LINES} more lines" if len(lines) > _LINES else None
    return element("pre", shown, more, class_="text", tabindex="0")
