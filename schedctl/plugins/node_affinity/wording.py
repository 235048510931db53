"""How rejections of NodeAffinity read: the requirements that a node does not meet."""

from __future__ import annotations

from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, requirement


def _unmet(evidence: Evidence) -> str:
    selector, *terms = evidence["unmet"]
    parts = [f"nodeSelector {', '.join(map(requirement, selector))}"] if selector else []
    unmet = [", ".join(map(requirement, term)) for term in terms if term]
    if terms and len(unmet) == len(terms):
        parts.append(f"affinity {' or '.join(unmet)}")
    return f"does not have {' and '.join(parts)}" if parts else "no term of the affinity can match a node"


def _count_unmet(evidence: Evidence) -> int:
    selector, *terms = evidence["unmet"]
    return len(selector) + min(map(len, terms), default=0)


WORDING = {"node-affinity": Wording(_unmet, distance=_count_unmet)}
