"""The page of commands: usage, examples and options of each, from the command line's own help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docs._reference.markdown import GENERATED, anchor, code, prose, table
from schedctl.cli import help_text
from schedctl.cli.commands import SUMMARIES, command
from schedctl.cli.help_text import EXAMPLES

_WIDTH = 200
"""So long may the summary of a command be, in columns: as long as it is."""


def commands() -> Iterator[tuple[str, Any, Any]]:
    """Yield each command in the order of the help: its name with that of its group, the command, and its context."""
    group: Any = command
    with group.make_context("schedctl", [], resilient_parsing=True) as root:
        for name in SUMMARIES:
            found = group.commands[name]
            with found.make_context(name, [], parent=root, resilient_parsing=True) as context:
                yield name, found, context
                for inner, each in getattr(found, "commands", {}).items():
                    with each.make_context(inner, [], parent=context, resilient_parsing=True) as below:
                        yield f"{name} {inner}", each, below


def page() -> str:
    """Return the page."""
    found = list(commands())
    overview = [[f"[{name}](#{anchor(name)})", prose(SUMMARIES[name])] for name in SUMMARIES]
    return f"""{GENERATED}

# Commands

Which command answers my question, and what options does it have? `schedctl COMMAND --help` prints the same.

{table(["Command", "What it does"], overview)}
Only `bind --execute` changes a cluster. Defaults for options that you always give can stand in a file or in the
environment: see [settings](settings.md). What a command ends with: [exit codes](exit-codes.md).

{"".join(f"{_section(*each)}" for each in found)}
Next: [what does an exit code mean?](exit-codes.md)
"""


def _section(name: str, command: Any, context: Any) -> str:
    texts = help_text.prose(command)
    usage = " ".join(["schedctl", name, *command.collect_usage_pieces(context)])
    parts = [f"{'###' if ' ' in name else '##'} {name}\n", f"{prose(texts.summary)}\n", f"```text\n{usage}\n```\n"]
    if texts.examples:
        examples = "\n".join(line.strip() for line in texts.examples.removeprefix(EXAMPLES).strip().splitlines())
        parts.append(f"```sh\n{examples}\n```\n")
    parts += [f"{prose(text)}\n" for text in texts.details]
    for title, entries in help_text.lists(command, context, _WIDTH):
        if entries and title == help_text.COMMANDS:
            linked = [[f"[{name} {each}](#{anchor(f'{name} {each}')})", prose(text)] for each, text in entries]
            parts.append(table(["Command", "What it does"], linked))
        elif entries:
            parts.append(table([title, "What it does"], [[code(each.strip()), prose(text)] for each, text in entries]))
    parts += [f"{prose(text)}\n" for text in texts.notes]
    return "\n".join(parts) + "\n"
