"""How the evidence of a rejection reads: `Wording` values that a plugin offers, and phrases that they share.

`Plugin.wording` returns them by reason. Phrases have no capital and no full stop: they stand behind a node's name or
below a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from schedctl.framework.remedies import Evidence

FEW = 3
"""How many names a phrase lists before it counts the rest."""
LONGEST = 100
"""How many characters of an expression a phrase shows."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How the evidence of one reason reads.

    Attributes:
        detail: the evidence of one node in words.
        summary: the evidence of all its nodes, one entry for each distinct one, in words.
        distance: how far the node is from taking the pod, least first; only compared within the reason.
        equivalence_key: what nodes must have in common to be one group, as JSON; all the evidence unless set.
        diagnosis: from the same entries as the summary, what is likely to be wrong with the pod, a line each; however
            little room there is, it is shown.
    """

    detail: Callable[[Evidence], str] = lambda evidence: ""
    summary: Callable[[Sequence[Evidence]], str] = lambda all_evidence: ""
    distance: Callable[[Evidence], int] = lambda evidence: 0
    equivalence_key: Callable[[Evidence], Any] = lambda evidence: evidence
    diagnosis: Callable[[Sequence[Evidence]], Sequence[str]] = lambda all_evidence: ()


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a pod would be given on a node besides room: a volume, a device.

    Attributes:
        text: in words.
        claim: the key of the claim it is for, "" where there is none in the cluster.
        request: the request of the claim, "" where it has none.
        names: the names of what is there already.
        made: whether it would have to be made.
    """

    text: str
    claim: str = ""
    request: str = ""
    names: tuple[str, ...] = ()
    made: bool = False


def few(names: Sequence[str], limit: int = FEW, *, number: int | None = None) -> str:
    """Return the first names and how many more there are, of `number` or of those given."""
    listed = ", ".join(names[:limit])
    more = (len(names) if number is None else number) - limit
    return f"{listed} and {more} more" if more > 0 else listed


def name_with_verb(noun: str, names: Sequence[str], joint: str = " and ") -> str:
    """Return ``pod a is`` or ``pods a and b are``: what some are called, and the verb that follows."""
    several = len(names) > 1
    return f"{noun}{'s' if several else ''} {joint.join(names)} {'are' if several else 'is'}"


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


def shorten(expression: str) -> str:
    """Return an expression on one line, its end left out where it is long."""
    line = " ".join(expression.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def name_of(key: str) -> str:
    """Return the name in ``namespace/name``; what belongs to a pod is in its namespace."""
    return key.rpartition("/")[2]
