"""JSON Schemas of the documents we write, and read, from the structs that write them and from their docstrings.

A docstring's first paragraph describes the record, its ``Attributes`` the properties; both are written once, for the
reader of the code and for the reader of the schema.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import msgspec

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE = re.compile(r"^(\w+(?:, \w+)*): (.+(?:\n +.+)*)", re.MULTILINE)


def schema_of(document: type[msgspec.Struct], *, read: bool = False) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a document.

    Args:
        document: the type.
        read: whether we read it; one that we write has every property, always.
    """
    found = msgspec.json.schema(document, ref_template="#/$defs/{name}")
    for record in found["$defs"].values():
        if "properties" in record:
            if not read:
                record["required"] = list(record["properties"])
            _describe(record)
    return {"$schema": DIALECT, "title": document.__name__, **found}


def _describe(record: dict[str, Any]) -> None:
    summary, _, attributes = record.get("description", "").partition("Attributes:\n")
    record["description"] = _without_markup(summary)
    for names, text in _ATTRIBUTE.findall(textwrap.dedent(attributes)):
        for name in names.split(", "):
            described = record["properties"].get(_camel(name))
            if described is not None and "description" not in described:
                described["description"] = _without_markup(text)


def _without_markup(text: str) -> str:
    """Return prose without line breaks and the markup of docstrings."""
    return " ".join(text.replace("``", "`").split())


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
