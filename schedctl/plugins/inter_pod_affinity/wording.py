"""How rejections of InterPodAffinity read: which pods are, or are not, in the domain of a node."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, few


def _term(cause: Evidence) -> str:
    where = "any namespace" if cause["namespaces"] is None else few(cause["namespaces"])
    return f"{cause['selector'] or 'any pod'} in {where}"


def _pods(cause: Evidence) -> str:
    """Return the first pods, of which a cause names only some, and how many more there are."""
    return few(cause["pods"], number=cause.get("number"))


def _domain(cause: Evidence) -> str:
    if cause["domain"] is None:
        return f"no label {cause['topologyKey']}"
    return f"{cause['topologyKey']}={cause['domain']}"


def _no_match(evidence: Evidence) -> str:
    cause = evidence["cause"]
    domain = _domain(cause)
    return domain if cause["domain"] is None else f"{domain} has no pod {_term(cause)}"


def _matches_anywhere(all_evidence: Sequence[Evidence]) -> str:
    cause = all_evidence[0]["cause"]
    return f"pods {_term(cause)}: {_pods(cause) or _elsewhere(cause) or 'none is running'}"


def _elsewhere(cause: Evidence) -> str:
    """Return in which other namespaces such pods run, "" for none."""
    namespaces = cause.get("elsewhere") or {}
    return f"none there, {few([f'{number} in {name}' for name, number in namespaces.items()])}" if namespaces else ""


def _anti_affinity(evidence: Evidence) -> str:
    cause = evidence["cause"]
    return f"{_domain(cause)} has {_pods(cause)} ({_term(cause)})"


def _existing_anti_affinity(evidence: Evidence) -> str:
    cause = evidence["cause"]
    return f"{_domain(cause)} has {_pods(cause)}, whose pod anti-affinity rejects pods {_term(cause)}"


WORDING = {
    "inter-pod-affinity/repelled": Wording(_existing_anti_affinity),
    "inter-pod-affinity/unmatched": Wording(_no_match, _matches_anywhere),
    "inter-pod-affinity/unwanted": Wording(_anti_affinity),
}
