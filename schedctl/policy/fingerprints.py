"""What a finding is known by from one run to the next: who must hold what about whom, and what is violated of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

_LENGTH = 32
"""Hexadecimal digits; 128 bits, so that two findings do not share one by chance."""
_LENGTH_OF_VIOLATED = 16
_SEPARATOR = "-"


def fingerprint(
    *,
    policy: str,
    check: str,
    scenario: str,
    group: str,
    kind: str,
    namespace: str,
    name: str,
    more: Sequence[str] = (),
    violates: Iterable[str] = (),
) -> str:
    """Return the fingerprint of a finding; lines, numbers and messages have no part in it.

    Where what is violated is known, it is the second part, behind a dash; the first is of rule and object alone.

    Args:
        policy: whose check it is.
        check: which one.
        scenario: in which scenario.
        group: of the API, of the object.
        kind: of the object.
        namespace: of the object.
        name: of the object.
        more: what tells those apart that share all of it: group and kind of a pod's owner, file and path of a problem.
        violates: what is violated, in any order.
    """
    known_by = json.dumps([policy, check, scenario, group, kind, namespace, name, *more]).encode()
    first = hashlib.sha256(known_by).hexdigest()[:_LENGTH]
    violated = sorted(violates)
    if not violated:
        return first
    second = hashlib.sha256(json.dumps(violated).encode()).hexdigest()[:_LENGTH_OF_VIOLATED]
    return f"{first}{_SEPARATOR}{second}"


def rule_and_object(fingerprint: str) -> str:
    """Return the part of a fingerprint that is the same whatever is violated."""
    return fingerprint.partition(_SEPARATOR)[0]
