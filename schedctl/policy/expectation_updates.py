"""Rewrites what a test of policies expects as a report has it, in the style in which it is written.

Nothing outside of ``expect`` changes: what was written is read again, and dropped where it would mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from schedctl.policy.documents import BASELINE
from schedctl.policy.expectations import PolicyTest, tests_in
from schedctl.reports.checks import CheckOutcome, CheckReport

_KEY: Final = re.compile(r"""(?P<key>["']?expect["']?)\s*:[ \t]*""")
_BLOCK: Final = re.compile(r"[ \t]*(?P<comment>#[^\n]*)?\r?(?:\n|\Z)")
"""What follows a key below which a value is written as a block."""
_BRACKETS: Final = re.compile(
    r"""(?<![^\s,\[\]{}:])(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|\#[^\n]*)|[\[\]{}]""", re.DOTALL
)
"""What opens and closes in flow style, and what may have a bracket in it that does neither: texts and comments."""
_WORDS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))


class _Written(NamedTuple):
    """An expectation as it stands in a text.

    Attributes:
        start, end: of the key, and behind the value.
        key: the key itself.
        column: of the key, from 0.
        comment: behind the key of a block, "" for none.
    """

    start: int
    end: int
    key: str
    column: int
    comment: str


def rewrite_expectation(text: str, test: PolicyTest, report: CheckReport) -> str | None:
    """Return a file with the expectation of a test as a report has it; None where that cannot be written.

    Results that passed are expected if they were expected before, and messages likewise. A block stays a block, and so
    does what is in braces below a key of its own; what is in braces together with other fields stays in braces.
    """
    written = _find(text, test)
    if written is None:
        return None
    expected = _expectations(test, report)
    newline = "\r\n" if "\r\n" in text else "\n"
    before = tests_in(text.encode(), test.source)[0]
    for lines in (_block(written, expected), [_flow(written, expected)]):
        made = text[: written.start] + newline.join(lines) + text[written.end :]
        # Whatever the layout was: only a file that still means the same, but for the expectation, is rewritten.
        after, problems = tests_in(made.encode(), test.source)
        if not problems and [_without_expectation(one) for one in before] == [
            _without_expectation(one) for one in after
        ]:
            return made
    return None


def _find(text: str, test: PolicyTest) -> _Written | None:
    """Return where the expectation of a test stands."""
    line, column = test.expect
    if not line:
        return None
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1])) + column - 1
    key = _KEY.match(text, start)
    if key is None:
        return None
    block = _BLOCK.match(text, key.end())
    value = re.compile(r"(?:\s|#[^\n]*\n)*").match(text, key.end())
    if value is not None and text[value.end() : value.end() + 1] == "{":
        end = _end_of_flow(text, value.end())
        return _Written(start, end, key["key"], column - 1, "") if end else None
    if block is None or lines[line - 1][: column - 1].strip():
        return None
    block_text = "".join(lines[: _end_of_block(lines, line, column)])
    return _Written(start, len(block_text.rstrip("\r\n")), key["key"], column - 1, (block["comment"] or "").rstrip())


def _end_of_block(lines: Sequence[str], line: int, column: int) -> int:
    """Return the number of the last line of a block; empty lines behind it stay as they are."""
    end = line
    for number in range(line, len(lines)):
        written = lines[number].strip()
        if written and len(lines[number]) - len(lines[number].lstrip(" ")) < column:
            break
        if written:
            end = number + 1
    return end


def _end_of_flow(text: str, start: int) -> int:
    """Return the place behind the brace that closes the one at a place, 0 where none does."""
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
        if not depth:
            return found.end()
    return 0


def _without_expectation(test: PolicyTest) -> PolicyTest:
    return replace(test, line=0, exit_code=0, message="", results=None, expect=(0, 0))


def _expectations(test: PolicyTest, report: CheckReport) -> dict[str, Any]:
    """Return what a report would have a test expect."""
    before = test.results or ()
    kept = [(result, next((one for one in before if one.about(result)), None)) for result in report.results]
    results = []
    for result, old in kept:
        if old is None and result.outcome is CheckOutcome.PASSED:
            continue
        fields = {"check": result.check}
        if sum(policy.name != result.policy for policy in report.policies):
            fields["policy"] = result.policy
        if result.scenario != BASELINE:
            fields["scenario"] = result.scenario
        fields |= {"subject": result.subject, "outcome": result.outcome.value}
        if old is not None and old.message:
            fields["message"] = old.message if old.message in result.message else result.message
        results.append(fields)
    return {"exitCode": report.summary.exit_code, "results": results}


def _block(written: _Written, expected: dict[str, Any]) -> Iterator[str]:
    """Yield an expectation as a block."""
    indent = " " * written.column
    yield f"{written.key}:{f'  {written.comment}' if written.comment else ''}"
    yield f"{indent}  exitCode: {expected['exitCode']}"
    yield f"{indent}  results:{'' if expected['results'] else ' []'}"
    for fields in expected["results"]:
        first, *others = (f"{name}: {_scalar(value)}" for name, value in fields.items())
        yield f"{indent}    - {first}"
        yield from (f"{indent}      {other}" for other in others)


def _flow(written: _Written, expected: dict[str, Any]) -> str:
    """Return an expectation in braces; as JSON, where its key is in quotes."""
    if written.key.startswith('"'):
        return f"{written.key}: {msgspec.json.encode(expected).decode()}"
    results = (
        "{" + ", ".join(f"{name}: {_scalar(value, quoted=',[]{}')}" for name, value in fields.items()) + "}"
        for fields in expected["results"]
    )
    return f"{written.key}: {{exitCode: {expected['exitCode']}, results: [{', '.join(results)}]}}"


def _scalar(text: str, quoted: str = "") -> str:
    """Return a text as a scalar of YAML that means it, in quotes where it has one of some signs."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_./=-]*(?: [A-Za-z0-9_./=\[\]-]+)*", text)
    if plain and text.lower() not in _WORDS and not set(quoted) & set(text):
        return text
    return msgspec.json.encode(text).decode()
