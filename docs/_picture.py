"""Draws the picture of a terminal on the front page from a real run: ``python docs/_picture.py`` writes it.

`tests/docs/test_picture.py` holds the committed picture to what the run prints today.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.style import Style
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/_static/demo.svg"
COMMAND = "schedctl demo"
TITLE = "schedctl demo in a terminal: why a pod is pending, and what would help"
COLUMNS = 80
ADVANCE, LINE, MARGIN, BAR = 8.4, 19, 16, 36
"""Pixels: from character to character, from line to line, around the text, and of the bar of the window."""
COLOURS = {1: "red", 2: "green", 3: "yellow", 6: "cyan"}
"""Those of the eight of ANSI that schedctl uses."""

FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" \
role="img" aria-labelledby="title">
<title id="title">{title}</title>
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; \
fill: #dfe3ea }}
.bold {{ font-weight: bold }}
.dim {{ fill: #9aa4b5 }}
.red {{ fill: #ff8a80 }}
.green {{ fill: #a5d6a7 }}
.yellow {{ fill: #ffe082 }}
.cyan {{ fill: #80deea }}
</style>
<rect x="0.5" y="0.5" width="{ground_width:g}" height="{ground_height:g}" rx="8" fill="#1b1f27" stroke="#4a5160"/>
<circle class="red" cx="20" cy="18" r="5"/>
<circle class="yellow" cx="38" cy="18" r="5"/>
<circle class="green" cx="56" cy="18" r="5"/>
{text}
</svg>
"""


def recording() -> str:
    """Return what a terminal shows of the command: the line typed, standard output and standard error, in colour."""
    # Unbuffered, or standard output would come after all of standard error, since neither is a terminal here.
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
    arguments = [sys.executable, "-m", *COMMAND.split(), "--color", "always"]
    output = subprocess.run(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    ).stdout
    return f"$ {COMMAND}\n{output.decode()}"


def picture(terminal: str) -> str:
    """Return an SVG of a window with this text, in which ANSI's codes become colours."""
    lines = terminal.rstrip("\n").split("\n")
    width, height = 2 * MARGIN + COLUMNS * ADVANCE, BAR + len(lines) * LINE + MARGIN
    return FRAME.format(
        width=width,
        height=height,
        title=TITLE,
        ground_width=width - 1,
        ground_height=height - 1,
        text="\n".join(element for row, line in enumerate(lines) for element in _elements(line, row)),
    )


def _elements(line: str, row: int) -> Iterator[str]:
    """Yield a text element for each run of characters of one style.

    Each has its place and its length, so that columns stay columns in whatever monospaced font there is.
    """
    column = 0
    for segment in Text.from_ansi(line).render(Console()):
        shown = segment.text.strip()
        start = column + len(segment.text) - len(segment.text.lstrip())
        column += len(segment.text)
        if shown:
            x, y, length = MARGIN + start * ADVANCE, BAR + row * LINE + 14, len(shown) * ADVANCE
            style = f' class="{names}"' if (names := _classes(segment.style)) else ""
            yield f'<text x="{x:g}" y="{y}" textLength="{length:g}"{style}>{escape(shown)}</text>'


def _classes(style: Style | None) -> str:
    if style is None:
        return ""
    colour = COLOURS[style.color.number or 0] if style.color else ""
    return " ".join(filter(None, ("bold" if style.bold else "", "dim" if style.dim else "", colour)))


if __name__ == "__main__":
    PICTURE.write_text(picture(recording()), encoding="utf-8")
