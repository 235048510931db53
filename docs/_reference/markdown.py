"""Markdown that code hosts and MyST read alike: tables, and help texts with their options and names in code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

GENERATED = """<!-- Written by docs/_reference. To change it, change the code that it describes and run
SCHEDCTL_UPDATE_GOLDEN=1 .venv/bin/pytest tests/docs -->"""
_CODE = re.compile(r"(`+[^`]+`+)")
_OPTION = re.compile(r"(?<![\w/-])(--[a-z][\w-]*|-[a-zA-Z])(?![\w-])")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, with the columns left out in which no row has anything."""
    rows = list(rows)
    kept = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    lines = [[heads[column] for column in kept], ["---"] * len(kept)]
    lines += [[_cell(row[column]) for column in kept] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def code(text: str) -> str:
    """Return a text as code; "" for none."""
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    """Return a plain text of the code as Markdown: options as code, and nothing else read as markup."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if number % 2 else _escape(part) for number, part in enumerate(parts))


def sentence(text: str) -> str:
    """Return a text as `prose` that begins with a capital and ends with a full stop; "" for none."""
    plain = text.strip().removesuffix(".")
    first = plain[:1] if plain.startswith("schedctl") else plain[:1].upper()
    return prose(f"{first}{plain[1:]}.") if plain else ""


def anchor(heading: str) -> str:
    """Return what links to a heading end in, as code hosts make it of its text."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def _escape(text: str) -> str:
    return _OPTION.sub(r"`\1`", re.sub(r"([*<\[\]])", r"\\\1", text))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
