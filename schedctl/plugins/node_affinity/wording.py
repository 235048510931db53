"""How rejections of NodeAffinity read: the requirements that a node does not meet."""

from __future__ import annotations

from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, requirement


def _unmet(evidence: Evidence) -> str:
    selector, *terms = evidence["unmet"]
    parts = []
    if selector:
        parts.append(f"label{'s' if len(selector) > 1 else ''} {', '.join(map(requirement, selector))} missing")
    unmet = [", ".join(map(requirement, term)) for term in terms if term]
    if terms and len(unmet) == len(terms):
        parts.append(f"nodeAffinity {' or '.join(unmet)} not met")
    return " and ".join(parts) or "no term of the nodeAffinity can match any node"


def _count_unmet(evidence: Evidence) -> int:
    selector, *terms = evidence["unmet"]
    return len(selector) + min(map(len, terms), default=0)


WORDING = {"node-affinity": Wording(_unmet, distance=_count_unmet)}
