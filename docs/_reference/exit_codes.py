"""The page of exit codes: what each means, and what it means to each command."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs._reference.commands import commands
from docs._reference.markdown import GENERATED, anchor, prose, sentence, table
from schedctl.cli import help_text
from schedctl.reports.exit_codes import MEANINGS

_HEAD = "Exit codes: "


def meanings(notes: list[str]) -> dict[int, str]:
    """Return what the help of a command says of its exit codes, by code."""
    listed = [" ".join(note.split()).removeprefix(_HEAD) for note in notes if note.startswith(_HEAD)]
    pairs = [entry.partition(" ") for text in listed for entry in re.split(r"; (?=\d)", text)]
    return {int(code): text for code, _, text in pairs}


def page() -> str:
    """Return the page."""
    return f"""{GENERATED}

# Exit codes

What does an exit code of schedctl mean? 0 and 1 are answers; from 2 on there is no answer, as with `diff` and `grep`.
No output format changes the code, and neither do `-q` and `--limit`.

{table(["Code", "Meaning"], [[f"`{number}`", sentence(text)] for number, text in MEANINGS.items()])}
## What they mean to a command

A command that is not listed here ends with 0 or with one of the codes from 2 on, as above. Of several pods, one that is
proved not to be scheduled counts more than one that is inconclusive: with `--exit-code` that is 1, not 5.

{table(["Command", *(f"`{number}`" for number in MEANINGS if number < 6)], list(_rows()))}
Next: [what options does a command have?](commands.md)
"""


def _rows() -> Iterator[list[str]]:
    for name, command, _ in commands():
        own = meanings(help_text.prose(command).notes)
        if own:
            yield [
                f"[{name}](commands.md#{anchor(name)})",
                *(prose(own.get(number, "")) for number in MEANINGS if number < 6),
            ]
