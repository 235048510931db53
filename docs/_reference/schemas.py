"""The page of JSON Schemas: the fields of every document that schedctl prints or reads, as tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from docs._reference.markdown import GENERATED, anchor, code, sentence, table
from schedctl.session.schemas import SCHEMAS

_Schema = Mapping[str, Any]

ELSEWHERE = {
    "CheckPolicy": "The fields of a policy have [a page of their own](policy-fields.md).",
    "Config": "The fields of `.schedctl.yaml` stand with the [settings](settings.md).",
    "Snapshot": "Its objects are Kubernetes' own, with the fields that scheduling reads.\n"
    "[`schedctl snapshot`](commands.md#snapshot) writes one; `schedctl schema Snapshot` prints all fields.",
}
"""Documents whose fields are not listed on this page, and where they are."""


def page() -> str:
    """Return the page."""
    documents = {kind: records(make()) for kind, make in SCHEMAS.items()}
    shared = _shared(found for kind, found in documents.items() if kind not in ELSEWHERE)
    shared = {name: record for name, record in shared.items() if name not in SCHEMAS}
    links = {name: f"#{anchor(name)}" for name in (*SCHEMAS, *shared)}
    overview = [
        [f"[{kind}](#{anchor(kind)})", sentence(found[kind].get("description", ""))]
        for kind, found in documents.items()
    ]
    listed = "".join(_document(kind, found, links) for kind, found in documents.items())
    common = "".join(_record(f"### {name}", record, links) for name, record in sorted(shared.items()))
    return f"""{GENERATED}

# JSON schemas

Which fields does the JSON of schedctl have? `-o json` prints one of these documents, and `schedctl schema KIND` its
JSON Schema (2020-12). A document that schedctl prints has every field of its tables, always.

{table(["Kind", "What it is"], overview)}
{listed}## Records in several documents

{common}Next: [what does an exit code mean?](exit-codes.md)
"""


def record_table(record: _Schema, links: Mapping[str, str], *, read: bool = False) -> str:
    """Return the fields of a record as a table.

    Args:
        record: the schema of the record.
        links: where the tables of other records are, by name.
        read: whether schedctl reads the record, so that a field need not be there.
    """
    needed = record.get("required", ())
    rows = [
        [
            code(name) + (" (needed)" if read and name in needed else ""),
            _type(field, links),
            _default(field) if read else "",
            sentence(field.get("description", "")),
        ]
        for name, field in record["properties"].items()
    ]
    return table(["Field", "Type", "Unless given", "What it is"], rows)


def records(schema: _Schema) -> dict[str, _Schema]:
    """Return the records of a schema by name.

    Where a field refers to an enumeration, its values take the place of the reference; where it refers to a record and
    has no description, that of the record is its own.
    """
    definitions = schema["$defs"]

    def inlined(part: Any) -> Any:
        if isinstance(part, list):
            return [inlined(each) for each in part]
        if not isinstance(part, dict):
            return part
        to = definitions.get(_referred(part), {})
        if "enum" in to:
            return inlined({key: each for key, each in part.items() if key != "$ref"}) | {"enum": to["enum"]}
        own = {"description": to["description"]} if "description" in to else {}
        return own | {key: inlined(each) for key, each in part.items()}

    return {name: inlined(each) for name, each in definitions.items() if "properties" in each}


def _shared(documents: Iterable[Mapping[str, _Schema]]) -> dict[str, _Schema]:
    """Return the records that are the same in all the documents they are in, where these are several."""
    found: dict[str, list[_Schema]] = defaultdict(list)
    for each in documents:
        for name, record in each.items():
            found[name].append(record)
    return {name: same[0] for name, same in found.items() if len(same) > 1 and all(each == same[0] for each in same)}


def _document(kind: str, found: Mapping[str, _Schema], shared: Mapping[str, str]) -> str:
    """Return the section of a document: its own fields, and those of records that no other document has."""
    if kind in ELSEWHERE:
        return f"## {kind}\n\n{sentence(found[kind].get('description', ''))} {ELSEWHERE[kind]}\n\n"
    headings = {
        name: kind if name == kind else f"{kind}: {name}" for name in found if name == kind or name not in shared
    }
    links = {**shared, **{name: f"#{anchor(heading)}" for name, heading in headings.items()}}
    return "".join(
        _record(f"{'##' if name == kind else '###'} {heading}", found[name], links)
        for name, heading in headings.items()
    )


def _record(heading: str, record: _Schema, links: Mapping[str, str]) -> str:
    return f"{heading}\n\n{sentence(record.get('description', ''))}\n\n{record_table(record, links)}\n"


def _referred(field: _Schema) -> str:
    return str(field.get("$ref", "")).removeprefix("#/$defs/")


def _type(field: _Schema, links: Mapping[str, str]) -> str:
    """Return the type of a field in words."""
    if name := _referred(field):
        return f"[{name}]({links[name]})" if name in links else code(name)
    if "anyOf" in field:
        return " or ".join(_type(each, links) for each in field["anyOf"])
    if "enum" in field:
        return " or ".join(code(str(value)) for value in field["enum"] if value != "")
    types = field.get("type", "any value")
    if types == "array":
        return _container("list", field.get("items"), links)
    if types == "object":
        return _container("map", field.get("additionalProperties"), links)
    return types if isinstance(types, str) else " or ".join(_type({"type": each}, links) for each in types)


def _container(name: str, contents: Any, links: Mapping[str, str]) -> str:
    """Return the type of a list or a map, with that of what is in it where that is known."""
    if not isinstance(contents, dict) or not contents:
        return name
    inner = _type(contents, links)
    return f"{name} of ({inner})" if " or " in inner else f"{name} of {inner}"


def _default(field: _Schema) -> str:
    """Return what a field is where it is not given; "" for nothing, or where its record says it."""
    default = field.get("default")
    if default in (None, "") or not isinstance(default, bool | int | float | str):
        return ""
    return code(json.dumps(default).strip('"').removesuffix(".0"))
