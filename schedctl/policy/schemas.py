"""The JSON Schema of a `CheckPolicy`: what an editor completes, and what somebody reads who writes the first one.

`schedctl.policy.forms` says how a file is laid out. What stands under ``with`` depends on the built-in beside it, which
the types of a form cannot say; here each built-in gets a definition of its own arguments, with what they mean and what
they are unless given, and the check is told which one goes with which.
"""

from __future__ import annotations

from typing import Any

from schedctl.policy.documents import BUILTINS, NUMBERS_AS_TEXT, Scope
from schedctl.policy.forms import CheckPolicy
from schedctl.reports.checks import Severity
from schedctl.reports.schemas import schema_of
from schedctl.simulation.what_if_syntax import WORDS, camel

_Schema = dict[str, Any]


def check_policy() -> _Schema:
    """Return the schema of a policy."""
    schema = schema_of(CheckPolicy, read=True)
    definitions = schema["$defs"]
    check = definitions["Check"]
    fields = check["properties"]
    fields["builtin"] |= {"enum": list(BUILTINS)}
    fields["severity"] |= {"enum": [severity.value for severity in Severity]}
    fields["scope"] |= {"enum": [scope.value for scope in Scope]}
    fields["with"]["description"] = "the arguments of the built-in check."
    for field in ("builtin", "scope"):
        del fields[field]["default"]  # "" says that it is not there
    definitions["Scenario"]["properties"]["changes"] |= {"type": ["array", "null"], "items": _change()}
    check["allOf"] = []
    for name, builtin in BUILTINS.items():
        title = builtin.arguments.__name__
        definitions |= arguments(name)
        taken = {"if": {"properties": {"builtin": {"const": name}}, "required": ["builtin"]}}
        taken["then"] = {"properties": {"with": {"anyOf": [{"$ref": f"#/$defs/{title}"}, {"type": "null"}]}}}
        check["allOf"].append(taken)
    return schema


def arguments(name: str) -> _Schema:
    """Return the definitions of the arguments of a built-in, by title."""
    found: _Schema = schema_of(BUILTINS[name].arguments, read=True)["$defs"]
    for record in found.values():
        record["additionalProperties"] = False
        for field in NUMBERS_AS_TEXT & record["properties"].keys():
            described = record["properties"][field]
            described.get("additionalProperties", described)["type"] = ["string", "number"]
    return found


def _change() -> _Schema:
    words = [*map(camel, WORDS), *WORDS, "remove"]
    return {"type": "object", "propertyNames": {"enum": list(dict.fromkeys(words))}}
