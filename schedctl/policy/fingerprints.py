"""What a finding is known by from one run to the next: who must hold what about whom, and nothing that changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

_LENGTH = 32
"""Hexadecimal digits; 128 bits, so that two findings do not share one by chance."""


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
) -> str:
    """Return the fingerprint of a finding; lines, numbers and messages have no part in it.

    Args:
        policy: whose check it is.
        check: which one.
        scenario: in which scenario.
        group: of the API, of the object.
        kind: of the object.
        namespace: of the object.
        name: of the object.
        more: what tells those apart that share all of it: group and kind of a pod's owner, file and path of a problem.
    """
    known_by = json.dumps([policy, check, scenario, group, kind, namespace, name, *more]).encode()
    return hashlib.sha256(known_by).hexdigest()[:_LENGTH]
