"""How rejections of PodTopologySpread read: the skew of a domain, and the domains with their counts."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.framework.remedies import Evidence
from schedctl.framework.usable_nodes import count_domains
from schedctl.framework.wording import Wording

_FEW_DOMAINS = 5
"""How many domains of a topology are named with their counts."""


def skew(evidence: Evidence) -> int:
    """Return the skew that the pod would make."""
    return int(evidence["count"] + evidence["selfMatch"] - evidence["minimum"])


def _skew_here(evidence: Evidence) -> str:
    count, domain = evidence["count"], evidence["domain"]
    pods = f"{count} matching pod{'' if count == 1 else 's'}"
    after = f", {count + evidence['selfMatch']} with this one" if evidence["selfMatch"] else ""
    return f"{domain}: {pods}{after}; skew {skew(evidence)}, at most {evidence['maxSkew']} allowed"


def _constraints(all_evidence: Sequence[Evidence]) -> str:
    keys: dict[str, list[Evidence]] = {}
    for evidence in all_evidence:
        keys.setdefault(evidence["topologyKey"], []).append(evidence)
    parts = []
    for key, found in keys.items():
        domains = found[0].get("domains") or {}
        counts = ", ".join(f"{domain} {count}" for domain, count in list(domains.items())[:_FEW_DOMAINS])
        start, max_skew = f"spread over {key}: ", found[0]["maxSkew"]
        if "minDomains" in found[0]:
            parts.append(
                f"{start}{_missing_domains(found[0])}, so each may hold at most {max_skew} (maxSkew): {counts}"
            )
            continue
        emptiest = f"fewest matching pods in a domain: {min(evidence['minimum'] for evidence in found)}"
        parts.append(f"{start}maxSkew {max_skew}, {emptiest}{f' ({counts})' if counts else ''}")
    return "; ".join(parts)


def _missing_domains(evidence: Evidence) -> str:
    """Return ``only 2 of the 3 zones that minDomains asks for``."""
    required = count_domains(evidence["minDomains"], evidence["topologyKey"])
    return f"only {evidence['presentDomains']} of the {required} that minDomains asks for"


WORDING = {
    "pod-topology-spread/missing": Wording(lambda evidence: f"no label {evidence['topologyKey']}"),
    "pod-topology-spread/skewed": Wording(_skew_here, _constraints, skew),
}
