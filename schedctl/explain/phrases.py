"""Phrases that wording, remedies and hints share: names in a row, taints and requirements as kubectl writes them."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.explain.evidence import Evidence

FEW = 3
"""How many names a phrase lists before it counts the rest."""
LONGEST = 100
"""How many characters of an expression a phrase shows."""


def few(names: Sequence[str], limit: int = FEW, *, number: int | None = None) -> str:
    """Return the first names and how many more there are, of `number` or of those given."""
    listed = ", ".join(names[:limit])
    more = (len(names) if number is None else number) - limit
    return f"{listed} and {more} more" if more > 0 else listed


def taint(written: Evidence) -> str:
    """Return a taint as kubectl writes it, ``key=value:effect``."""
    value = f"={written['value']}" if written.get("value") else ""
    return f"{written.get('key', '')}{value}:{written.get('effect', '')}"


def requirement(written: Evidence) -> str:
    """Return a requirement on labels or fields as kubectl writes selectors."""
    if "field" in written:
        return f"{written['field']}{'=' if written['equal'] else '!='}{written['value']}"
    key, values = written["key"], written.get("values") or []
    match written["operator"]:
        case "In":
            return f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({','.join(values)})"
        case "NotIn":
            return f"{key}!={values[0]}" if len(values) == 1 else f"{key} notin ({','.join(values)})"
        case "Exists":
            return str(key)
        case "DoesNotExist":
            return f"!{key}"
        case "Gt":
            return f"{key}>{values[0]}"
        case "Lt":
            return f"{key}<{values[0]}"
    return f"{key} {written['operator']} {','.join(values)}"


def shortened(expression: str) -> str:
    """Return an expression on one line, its end left out where it is long."""
    line = " ".join(expression.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def bare(key: str) -> str:
    """Return the name in ``namespace/name``; what belongs to a pod is in its namespace."""
    return key.rpartition("/")[2]
