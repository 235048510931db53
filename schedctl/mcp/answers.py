"""A report as an answer for an agent: the text for people first, and the report itself, short unless more is wanted."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec

from schedctl.errors import UsageError
from schedctl.render import check_outputs, machine, outputs
from schedctl.render.terminals import Terminal
from schedctl.reports.checks import CheckReport

_SHORT = 5
"""How many entries of a list a short report has."""
_LONGEST_TEXT = 12_000
_LARGEST = 2_000_000
"""How many characters a whole report may have; larger ones are asked for in parts."""
_LEFT_OUT = frozenset(("matrix", "nodeMap", "inputs", "uid", "pluginCalls"))
"""What a short report has none of."""
NOTHING_CHANGED = "Nothing was changed: this is a dry run."


class Answer(msgspec.Struct, frozen=True):
    """What an agent gets.

    Attributes:
        text: the answer in words.
        report: the report, as plain values.
    """

    text: str
    report: dict[str, Any]


def answer(report: Any, *, full: bool) -> Answer:
    """Return the answer that a report is.

    Args:
        report: any that `outputs` or `check_outputs` can write, or facts as plain values.
        full: whether the whole report is wanted.

    Raises:
        UsageError: the whole report is too large for an answer.
    """
    if isinstance(report, dict):
        return Answer(f"{json.dumps(report, indent=1)}\n{NOTHING_CHANGED}", report)
    encoded = machine.encode(report).decode()
    plain: dict[str, Any] = json.loads(encoded)
    if full:
        size = len(encoded)
        if size > _LARGEST:
            raise UsageError(
                f"the whole report has {size:,} characters, at most {_LARGEST:,} are sent",
                "ask about fewer objects, or for detail `short`",
            )
        return Answer(f"{_text(report, wide=True)}\n{NOTHING_CHANGED}", plain)
    more = "The report is cut to a few entries of each list; `detail: full` returns all of it."
    return Answer(f"{_text(report, wide=False)}\n{NOTHING_CHANGED} {more}", _abridged(plain))


def _text(report: Any, *, wide: bool) -> str:
    """Return the text for people, cut where it is longer than an agent would read."""
    written = io.StringIO()
    if isinstance(report, CheckReport):
        check_outputs.write(report, "text", written)
    else:
        outputs.write(report, outputs.parse("wide" if wide else "text"), written, Terminal(width=100))
    text = written.getvalue()
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT].rpartition(chr(10))[0]}\n(cut: {len(text):,} characters in all)\n"


def _abridged(value: Any) -> Any:
    """Return a value with a few entries of each list, and without what says nothing."""
    if isinstance(value, dict):
        kept = {name: _abridged(each) for name, each in value.items() if name not in _LEFT_OUT}
        cut = {
            f"{name}Omitted": len(each) - _SHORT
            for name, each in value.items()
            if name in kept and isinstance(each, list) and len(each) > _SHORT
        }
        return {name: each for name, each in kept.items() if each not in ([], {}, "", None)} | cut
    if isinstance(value, list):
        return [_abridged(each) for each in value[:_SHORT]]
    return value
