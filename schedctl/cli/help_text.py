"""How a command helps: what it is for, examples, then its options in sections.

Typer has one list of options, with types and defaults that only its authors can read; an option's section is its
`rich_help_panel`, which Typer keeps and, without rich, does not use.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

SELECT = "Select"
CLUSTER = "Cluster"
WHAT_IF = "What-if"
SCHEDULER = "Scheduler"
OUTPUT = "Output"
EXTENDERS = "Extenders"
OTHER = "Options"
SECTIONS = (SELECT, OTHER, CLUSTER, WHAT_IF, SCHEDULER, OUTPUT, EXTENDERS)
"""In the order of the help; what names no section is among the `OTHER` options."""
ARGUMENTS = "Arguments"
COMMANDS = "Commands"
EXAMPLES = "Examples:"
_INDENT = 2
_NAMES = 24
"""How wide the column of names is; a longer name has a line of its own."""
_SHORT = 4
"""How wide a short option is with the comma behind it; long ones begin below each other."""


class Prose(NamedTuple):
    """What stands in a command's help beside its lists.

    Attributes:
        summary: what it does, a sentence.
        examples: command lines with comments, below a heading of their own; "" where there are none.
        details: the paragraphs that follow.
        notes: the paragraphs at the end, such as the exit codes.
    """

    summary: str
    examples: str
    details: list[str]
    notes: list[str]


def prose(command: Any) -> Prose:
    """Return what stands in the help of a command, or of a group of commands, beside its lists."""
    summary, *details = inspect.cleandoc(command.help or "").split("\n\n")
    notes = [note for note in inspect.cleandoc(command.epilog or "").split("\n\n") if note]
    examples = [note for note in notes if note.startswith(EXAMPLES)]
    return Prose(summary, "\n\n".join(examples), details, [note for note in notes if note not in examples])


def write(command: Any, context: Any, formatter: Any) -> None:
    """Write the help of a command, or of a group of commands, to a formatter of the parser."""
    command.format_usage(context, formatter)
    texts, width = prose(command), formatter.width
    parts = [_paragraph(texts.summary, width), texts.examples]
    parts += [_paragraph(text, width) for text in texts.details]
    parts += [_section(title, entries, width) for title, entries in lists(command, context, width)]
    parts += [_paragraph(text, width, indent=0) for text in texts.notes]
    formatter.write("".join(f"\n{part}\n" for part in parts if part.strip()))


def lists(command: Any, context: Any, width: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the arguments, the commands of a group, and the options by section: a title, and names with their texts.

    Args:
        command: a command or a group of commands.
        context: the parser's, of that command.
        width: how long the summary of a command of a group may be, in columns.
    """
    parameters = [each for each in command.get_params(context) if not getattr(each, "hidden", False)]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    yield ARGUMENTS, [(each.metavar or each.name, each.help or "") for each in arguments]
    summaries: Mapping[str, str] = getattr(command, "summaries", None) or {
        name: each.get_short_help_str(limit=width) for name, each in getattr(command, "commands", {}).items()
    }
    yield COMMANDS, list(summaries.items())
    options = [each for each in parameters if each.param_type_name == "option"]
    sections = {each: getattr(each, "rich_help_panel", None) or OTHER for each in options}
    # What every command has besides, and no section of its own for: the help option of the parser.
    last = OUTPUT if OUTPUT in sections.values() else OTHER
    sections |= {each: last for each in options if each.name == "help"}
    for section in SECTIONS:
        yield section, [_option(each) for each in options if sections[each] == section]


def _option(option: Any) -> tuple[str, str]:
    short = [name for name in option.opts if not name.startswith("--")]
    no = "[no-]" if option.secondary_opts else ""
    long = [f"--{no}{name.removeprefix('--')}" for name in option.opts if name.startswith("--")]
    names = f"{short[0]}, " if short else " " * _SHORT
    value = "" if option.is_flag or option.count else f" {option.metavar or option.name.upper()}"
    text = "Show this help and exit" if option.name == "help" else option.help or ""
    return f"{names}{long[0] if long else ''}{value}", text


def _section(title: str, entries: Sequence[tuple[str, str]], width: int) -> str:
    if not entries:
        return ""
    shortest = max(len(name) for name, _ in entries) + 2
    column = min(shortest, _NAMES) if title not in SECTIONS else _NAMES
    return "\n".join((f"{title}:", *(line for name, text in entries for line in _entry(name, text, column, width))))


def _entry(name: str, text: str, column: int, width: int) -> Iterator[str]:
    margin = " " * (_INDENT + column)
    lines = textwrap.wrap(" ".join(text.split()), width - len(margin), break_long_words=False, break_on_hyphens=False)
    first = f"{' ' * _INDENT}{name}"
    if len(name) + 2 > column or not lines:
        yield first
    else:
        yield f"{first:<{len(margin)}}{lines.pop(0)}"
    yield from (f"{margin}{line}" for line in lines)


def _paragraph(text: str, width: int, indent: int = _INDENT) -> str:
    margin = " " * indent
    return textwrap.fill(
        " ".join(text.split()),
        width,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
