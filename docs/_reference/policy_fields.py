"""The page of policies' fields and built-in checks, and the tables of both that docs/policies.md has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from docs._reference.markdown import GENERATED, anchor, code, sentence, table
from docs._reference.schemas import record_table, records
from schedctl.policy import schemas
from schedctl.policy.documents import BUILTINS
from schedctl.policy.variables import IN_SCOPE, RECORDS
from schedctl.simulation.what_if_syntax import EXAMPLES, WORDS, camel


def arguments(name: str) -> str:
    """Return the arguments of a built-in check, or of what some of them hold, as a table."""
    found = {title: record for builtin in BUILTINS for title, record in schemas.arguments(builtin).items()}
    record = found[BUILTINS[name].arguments.__name__ if name in BUILTINS else name]
    rows = []
    for field, described in record["properties"].items():
        default = described["default"]
        shown = "" if default in (None, "", {}) else f"`{json.dumps(default).strip(chr(34)).removesuffix('.0')}`"
        rows.append([code(field), shown, described["description"].removesuffix(".")])
    return _whole_table(["In `with`" if name in BUILTINS else "In it", "Unless given", ""], rows)


def record(name: str) -> str:
    """Return the fields of a record of expressions, as a table."""
    return _whole_table([code(name), ""], [[code(field), code(kind)] for field, kind in RECORDS[name].items()])


def page() -> str:
    """Return the page."""
    return f"""{GENERATED}

# Policy fields

What can stand in a `CheckPolicy`? [Policies](../policies.md) says what each is for, with examples;
`schedctl schema CheckPolicy` prints the JSON Schema for an editor.

## Fields

{chr(10).join(_fields())}
## Built-in checks

{chr(10).join(_builtins())}
## Changes of a scenario

{table(["In `changes`", "On the command line"], _changes())}
## Expressions

{table(["Scope", "Variables"], [[code(scope), ", ".join(map(code, roots))] for scope, roots in IN_SCOPE.items()])}
`params` and `variables` exist in every scope. A type that ends in `?` may be missing. Amounts are integers: millicores
of cpu, bytes, or whole units.

{chr(10).join(f"### {name}{chr(10)}{chr(10)}{record(name)}" for name in RECORDS)}
Next: [which fields does a report have?](schemas.md)
"""


def _fields() -> Iterator[str]:
    of_builtins = {title for name in BUILTINS for title in schemas.arguments(name)}
    found = {name: each for name, each in records(schemas.check_policy()).items() if name not in of_builtins}
    links = {name: f"#{anchor(f'Fields of {name}')}" for name in found}
    for name, each in found.items():
        yield _record(f"Fields of {name}", each["description"], each, links)


def _builtins() -> Iterator[str]:
    for name, builtin in BUILTINS.items():
        found = records({"$defs": schemas.arguments(name)})
        title = builtin.arguments.__name__
        links = {each: f"#{anchor(f'{name}: {each}')}" for each in found}
        inner = {f"{name}: {other}": each for other, each in found.items() if other != title}
        yield _record(name, builtin.description, found.get(title), links)
        yield from (_record(heading, each["description"], each, links) for heading, each in inner.items())


def _record(heading: str, text: str, fields: Mapping[str, Any] | None, links: Mapping[str, str]) -> str:
    table = record_table(fields, links, read=True) if fields and fields.get("properties") else "It has no arguments.\n"
    return f"### {heading}\n\n{sentence(text)}\n\n{table}"


def _changes() -> Iterator[list[str]]:
    for word in WORDS:
        yield [code(camel(word)), f"[`--{word} {EXAMPLES[word]}`](commands.md#simulate)"]


def _whole_table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table with all its columns, whatever stands in them."""
    head = f"| {' | '.join(heads)} |".replace("|  |", "| |")
    lines = [["---"] * len(heads), *rows]
    return f"{head}\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
