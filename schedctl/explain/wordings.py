"""The words for evidence: the numbers behind a reason, in one phrase for a node and in one for all its nodes.

Each in-tree reason has a `Wording`, found by its reference or by its plugin. Any other reason, an out-of-tree plugin's
say, is told by listing its evidence, so plugins owe this module nothing. Phrases have no capital and no full stop: they
stand behind a node's name or below a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from schedctl.api.amounts import amount
from schedctl.explain import device_wording, storage_wording
from schedctl.explain.evidence import Evidence
from schedctl.framework.wording import Wording, few, requirement, taint

FEW_DOMAINS = 5
"""How many domains of a topology are told with their counts."""


def of(reference: str) -> Wording:
    """Return the wording of a reason: its own, its plugin's, or the one that lists what there is."""
    return _WORDINGS.get(reference) or _WORDINGS.get(reference.partition("/")[0]) or _ANY


# -- NodeResourcesFit ------------------------------------------------------------


def _free(evidence: Evidence) -> int:
    return int(evidence["capacity"] - evidence["used"])


def _missing(evidence: Evidence) -> int:
    return int(evidence["requested"] - _free(evidence))


def _room(evidence: Evidence) -> str:
    resource = evidence["resource"]
    free, used, capacity, missing = (
        amount(resource, value)
        for value in (_free(evidence), evidence["used"], evidence["capacity"], _missing(evidence))
    )
    return f"{free} free of {capacity} ({used} used), {missing} missing"


def _rooms(all_evidence: Sequence[Evidence]) -> str:
    first = all_evidence[0]
    resource = first["resource"]
    free = [_free(evidence) for evidence in all_evidence]
    least, most = amount(resource, min(free)), amount(resource, max(free))
    there = f"{most} free" if least == most else f"{least} to {most} free"
    return f"{resource}: {amount(resource, first['requested'])} requested, {there}"


# -- PodTopologySpread -----------------------------------------------------------


def _skew(evidence: Evidence) -> int:
    return int(evidence["count"] + evidence["selfMatch"] - evidence["minimum"])


def _skewed(evidence: Evidence) -> str:
    count, domain = evidence["count"], evidence["domain"]
    pods = f"{count} matching pod{'' if count == 1 else 's'}"
    after = f", {count + evidence['selfMatch']} with this one" if evidence["selfMatch"] else ""
    return f"{domain}: {pods}{after}; skew {_skew(evidence)}, at most {evidence['maxSkew']} allowed"


def _spread(all_evidence: Sequence[Evidence]) -> str:
    keys: dict[str, list[Evidence]] = {}
    for evidence in all_evidence:
        keys.setdefault(evidence["topologyKey"], []).append(evidence)
    told = []
    for key, found in keys.items():
        domains = found[0].get("domains") or {}
        counts = ", ".join(f"{domain} {count}" for domain, count in list(domains.items())[:FEW_DOMAINS])
        emptiest = f"the emptiest domain has {min(evidence['minimum'] for evidence in found)}"
        told.append(f"spread over {key}: maxSkew {found[0]['maxSkew']}, {emptiest}{f' ({counts})' if counts else ''}")
    return "; ".join(told)


def _unlabelled(evidence: Evidence) -> str:
    return f"no label {evidence['topologyKey']}"


# -- InterPodAffinity ------------------------------------------------------------


def _term(cause: Evidence) -> str:
    where = "any namespace" if cause["namespaces"] is None else few(cause["namespaces"])
    return f"{cause['selector'] or 'any pod'} in {where}"


def _pods(cause: Evidence) -> str:
    """The first pods, of which a cause names only some, and how many more there are."""
    return few(cause["pods"], number=cause.get("number"))


def _place(cause: Evidence) -> str:
    if cause["domain"] is None:
        return f"no label {cause['topologyKey']}"
    return f"{cause['topologyKey']}={cause['domain']}"


def _lonely(evidence: Evidence) -> str:
    cause = evidence["cause"]
    place = _place(cause)
    return place if cause["domain"] is None else f"{place} has no pod {_term(cause)}"


def _lonely_summary(all_evidence: Sequence[Evidence]) -> str:
    cause = all_evidence[0]["cause"]
    return f"pods {_term(cause)}: {_pods(cause) or 'none runs anywhere'}"


def _crowded(evidence: Evidence) -> str:
    cause = evidence["cause"]
    return f"{_place(cause)} has {_pods(cause)} ({_term(cause)})"


def _repelled(evidence: Evidence) -> str:
    cause = evidence["cause"]
    return f"{_place(cause)} has {_pods(cause)}, which keeps away pods {_term(cause)}"


# -- the others ------------------------------------------------------------------


def _unmet(evidence: Evidence) -> str:
    selector, *terms = evidence["unmet"]
    told = [f"nodeSelector {', '.join(map(requirement, selector))}"] if selector else []
    unmet = [", ".join(map(requirement, term)) for term in terms if term]
    if terms and len(unmet) == len(terms):
        told.append(f"affinity {' or '.join(unmet)}")
    return f"does not have {' and '.join(told)}" if told else "no term of the affinity can match a node"


def _unmet_count(evidence: Evidence) -> int:
    selector, *terms = evidence["unmet"]
    return len(selector) + min(map(len, terms), default=0)


def _ports(evidence: Evidence) -> str:
    return ", ".join(
        f"{port['port']}/{port['protocol']} is held by {few(pods)}" for port, pods in evidence["collisions"]
    )


def _untolerated(evidence: Evidence) -> str:
    return f"taint {taint(evidence['taint'])}"


def _listed(evidence: Evidence) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in evidence.items())


def _value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


_ANY = Wording(_listed)
_WORDINGS = {
    "dynamic-resources/left-behind": Wording(device_wording.left_behind),
    "dynamic-resources/not-allocated": Wording(
        device_wording.scarce, device_wording.requests, device_wording.distance, device_wording.scarce
    ),
    "dynamic-resources/unavailable": Wording(device_wording.held),
    "dynamic-resources": Wording(),
    "extender/left-out": Wording(summary=lambda found: "left out without a reason; no eviction is tried there"),
    "extender": Wording(),
    "inter-pod-affinity/repelled": Wording(_repelled),
    "inter-pod-affinity/unmatched": Wording(_lonely, _lonely_summary),
    "inter-pod-affinity/unwanted": Wording(_crowded),
    "node-affinity": Wording(_unmet, distance=_unmet_count),
    "node-declared-features/unmatched": Wording(lambda evidence: f"does not declare {', '.join(evidence['missing'])}"),
    "node-name/other": Wording(summary=lambda found: f"the pod asks for {found[0]['requested']}"),
    "node-ports/taken": Wording(_ports),
    "node-resources-fit/insufficient": Wording(_room, _rooms, _missing),
    "node-resources-fit/too-many-pods": Wording(
        lambda evidence: f"{evidence['used']} pods, at most {evidence['capacity']} allowed"
    ),
    "node-unschedulable/cordoned": Wording(lambda evidence: "cordoned"),
    "node-volume-limits/driverless": Wording(storage_wording.without_driver),
    "node-volume-limits/exceeded": Wording(
        storage_wording.attached, storage_wording.to_attach, storage_wording.too_many
    ),
    "node-volume-limits/unreadable": Wording(storage_wording.unreadable),
    "node-volume-limits": Wording(),
    "pod-topology-spread/missing": Wording(_unlabelled),
    "pod-topology-spread/skewed": Wording(_skewed, _spread, _skew),
    "pre-filter/node-set": Wording(summary=lambda found: f"PreFilter searched only {few(found[0]['searched'])}"),
    "taint-toleration/untolerated": Wording(_untolerated),
    "volume-binding/elsewhere": Wording(storage_wording.elsewhere),
    "volume-binding/full": Wording(storage_wording.full, storage_wording.fullest, storage_wording.shortfall),
    "volume-binding/immediate": Wording(storage_wording.immediate),
    "volume-binding/out-of-reach": Wording(storage_wording.out_of_reach),
    "volume-binding/outside": Wording(storage_wording.outside),
    "volume-binding/unmatched": Wording(
        storage_wording.unmatched, storage_wording.unmatched_claims, storage_wording.unmatched_by
    ),
    "volume-binding/vanished": Wording(storage_wording.vanished),
    "volume-binding": Wording(),
    "volume-restrictions": Wording(storage_wording.in_use),
    "volume-zone/elsewhere": Wording(storage_wording.wrong_zone),
    "volume-zone": Wording(),
}
