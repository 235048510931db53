"""How rejections of DynamicResources read, and the devices that a pod would be given.

Devices are called by their bare names: nodes whose own devices fail alike are then one group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api.amounts import amount as in_words
from schedctl.api.amounts import on_one_scale
from schedctl.api.claimed_resources import claimed_amounts, claimed_items
from schedctl.api.devices import IN_MEMORY_NAME, DeviceRequestAllocationResult, ResourceClaim
from schedctl.api.meta import key_of
from schedctl.api.quantities import Amount
from schedctl.api.resources import CPU
from schedctl.devices.shortages import Why
from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Allocation, Wording, few, name_of, requirement, shorten
from schedctl.plugins.dynamic_resources.extended_resources import in_memory
from schedctl.plugins.dynamic_resources.search import Finding

_MANY = 1 << 10
_FAR = 1 << 31
_NONE = "no device here"


def _shortage(evidence: Evidence) -> str:
    """``gpu-1 does not match device.attributes["x"].model == "b" (others: 1 allocated)``."""
    found = evidence["scarcity"]
    parts = []
    if any(lack["closest"] or lack["tooMany"] for lack in found["lacking"]):
        several = len(found["lacking"]) > 1
        parts = [_lack(lack, found["users"], several=several) for lack in found["lacking"]]
    elif found["lacking"] and not found["pools"]:
        return _NONE
    parts += [f"pool {pool}: {problem}" for pool, problem in found["pools"].items()]
    return "; ".join(parts) or str(found["error"])


def _requests(all_evidence: Sequence[Evidence]) -> str:
    """``claim training, request gpu: 1 device of class gpu.example.com``."""
    lacks = (lack for evidence in all_evidence for lack in evidence["scarcity"]["lacking"])
    return "; ".join(dict.fromkeys(map(_request, lacks)))


def _distance(evidence: Evidence) -> int:
    """Return how far the nearest device is from being taken: by reasons against it, then by selectors it matches.

    Devices that do not count, since their pool does not, are farther; none at all is farthest.
    """
    none = _FAR - 1 if evidence["scarcity"]["pools"] else _FAR
    found = (lack["closest"]["refusals"] for lack in evidence["scarcity"]["lacking"] if lack["closest"])
    return min((_MANY * len(refusals) - refusals[0]["number"] for refusals in found), default=none)


def _unavailable(evidence: Evidence) -> str:
    """``the devices of claim training are reachable only from metadata.name=gpu-north-1``."""
    return "; ".join(map(_unavailable_claim, evidence["claims"]))


def _leftover_claim(evidence: Evidence) -> str:
    """``claim web-extended-resources-x of an earlier attempt still exists``."""
    return f"claim {name_of(evidence['claim'])} of an earlier attempt still exists"


def _objection(written: Evidence, device_class: str, users: Evidence) -> str:
    """Return one reason against a device, as it stands behind the device's name."""
    subject = written["subject"]
    match why := Why(written["why"]):
        case Why.HELD if written["holders"]:
            return f"is allocated to claim {few([_holder(claim, users) for claim in written['holders']])}"
        case Why.HELD:
            return "is allocated to another claim"
        case Why.CHOSEN:
            return "is chosen already"
        case Why.CLASS:
            return f"is not of class {device_class}"
        case Why.REQUEST:
            return f"does not match {shorten(subject)}"
        case Why.CAPACITY:
            return f"has {written['left'] or 'too little'} {subject}, not {written['needed']}"
        case Why.COUNTERS:
            return f"needs {written['needed']} of {subject} where {written['left']} is left"
        case Why.TAINT:
            return f"has taint {subject}"
        case Why.CONSTRAINT:
            return f"violates the constraint on {subject}"
        case Why.TRIED:
            return "was tried together with others without success"
        case Why.ATTRIBUTE:
            return f"has no attribute {subject}, which a constraint names"
        case _:
            return str(why.value)


_IN_SHORT = {
    Why.HELD: "allocated",
    Why.CHOSEN: "chosen already",
    Why.CLASS: "of another class",
    Why.REQUEST: "not selected",
    Why.UNREACHED: "unreachable",
    Why.CAPACITY: "too small",
    Why.COUNTERS: "short of a counter",
    Why.PARTITION: "partitions",
    Why.GROUPS: "incompatible",
    Why.OPERATIONS: "without node operations",
    Why.TAINT: "tainted",
    Why.CONSTRAINT: "violating a constraint",
    Why.ATTRIBUTE: "without an attribute",
    Why.TRIED: "tried without success",
}


def _request(lack: Evidence) -> str:
    number, claim = lack["wanted"], name_of(lack["claim"])
    devices = "every device" if not number else f"{number} device{'' if number == 1 else 's'}"
    who = "extended resources" if claim == IN_MEMORY_NAME else f"claim {claim}, request {lack['request']}"
    return f"{who}: {devices} of class {lack['deviceClass']}"


def _lack(lack: Evidence, users: Evidence, *, several: bool) -> str:
    request = f"{lack['request']}: " if several else ""
    if lack["tooMany"]:
        return f"{request}a claim may have at most 32 devices"
    closest = lack["closest"]
    if closest is None:
        return f"{request}{_NONE}"
    others = {Why(why): number for why, number in lack["passedOver"].items()}
    chosen = others.pop(Why.CHOSEN, 0)
    first = Why(closest["refusals"][0]["why"])
    if [Why(each["why"]) for each in closest["refusals"]] == [Why.CHOSEN]:
        if chosen > lack["found"]:
            return f"{request}{lack['found']} of {lack['wanted']} found, the other devices are for other requests"
        return f"{request}only {chosen} device{'' if chosen == 1 else 's'} here, {lack['wanted']} requested"
    if first in others:
        others[first] -= 1
    tally = ", ".join(f"{number} {_IN_SHORT[why]}" for why, number in others.items() if number)
    found = f"{lack['found']} of {lack['wanted']} found, but " if lack["found"] else ""
    reasons = " and ".join(_objection(written, lack["deviceClass"], users) for written in closest["refusals"])
    return f"{request}{found}{name_of(closest['device'])} {reasons}{f' (others: {tally})' if tally else ''}"


def _holder(claim: str, users: Evidence) -> str:
    """``ml/training of pod ml/trainer``."""
    if claim not in users:
        return claim
    pods = users[claim]
    return f"{claim} of pod {few(pods)}" if pods else f"{claim}, which no pod uses"


def _unavailable_claim(claim: Evidence) -> str:
    name = name_of(claim["claim"])
    match claim["because"]:
        case "elsewhere":
            return f"the devices of claim {name} are reachable only from {_reach(claim['reach'])}"
        case "unready":
            return f"binding the devices of claim {name} failed: {claim['detail']}"
        case "timeout":
            return f"binding the devices of claim {name} timed out"
    return f"claim {name} needs {claim['detail']}, which the node does not declare"


def _reach(selector: Evidence | None) -> str:
    terms = (selector or {}).get("nodeSelectorTerms") or ()
    written = ((*(term.get("matchFields") or ()), *(term.get("matchExpressions") or ())) for term in terms)
    return " or ".join(", ".join(map(requirement, term)) for term in written) or "no node"


def _room(evidence: Evidence) -> str:
    """``cpu: 4500m with what devices take, 4 free of 4``."""
    resource, needed, capacity = evidence["resource"], evidence["requested"], evidence["capacity"]
    values = (needed, capacity, capacity - evidence["used"])
    needed, capacity, free = map(on_one_scale(resource, values), values)
    return f"{resource}: {needed} needed with what its devices take, {free} free of {capacity}"


WORDING = {
    "dynamic-resources/insufficient": Wording(_room),
    "dynamic-resources/left-behind": Wording(_leftover_claim),
    "dynamic-resources/not-allocated": Wording(_shortage, _requests, _distance, _shortage),
    "dynamic-resources/unavailable": Wording(_unavailable),
    "dynamic-resources": Wording(),
}


# -- allocations -----------------------------------------------------------------


def allocations(found: Finding) -> Iterator[Allocation]:
    """Yield the devices for each request of the pod's claims; claims may have been given theirs before."""
    new = iter(found.allocations or ())
    for claim in found.claims:
        before = claim.status.allocation
        allocation = before or next(new, None)
        requests: dict[str, list[DeviceRequestAllocationResult]] = {}
        for each in (allocation.devices.results if allocation is not None else None) or ():
            requests.setdefault(each.request, []).append(each)
        for request, results in requests.items():
            who = (
                _containers(found, request)
                if in_memory(claim)
                else f"claim {name_of(key_of(claim))}, request {request}"
            )
            text = f"{who}: {_devices(results)}{' (allocated before)' if before is not None else ''}"
            names = tuple(f"{each.driver}/{each.pool}/{each.device}" for each in results)
            yield Allocation(text, _key(claim), request, names)
    for status in found.charged:
        amounts = claimed_amounts(claimed_items([status]))
        taken = ", ".join(f"{_units(name, amounts[name])} {name}" for name in sorted(amounts))
        yield Allocation(f"{taken} of the node itself, for claim {status.resource_claim_name}")


def _units(resource: str, amount: Amount) -> str:
    return in_words(resource, amount.milli_value if resource == CPU else amount.value)


def _key(claim: ResourceClaim) -> str:
    return "" if in_memory(claim) else key_of(claim)


def _containers(found: Finding, request: str) -> str:
    """``nvidia.com/gpu of container main``, as far as it is known who gets the devices of a request."""
    mappings = found.special.mappings if found.special is not None else ()
    containers = [
        f"{each.resource_name} of container {each.container_name}" for each in mappings if each.request_name == request
    ]
    return " and ".join(containers) or request


def _devices(results: Sequence[DeviceRequestAllocationResult]) -> str:
    """``gpu-0, gpu-1 of gpu.example.com/node-a``, pool by pool."""
    pools: dict[str, list[str]] = {}
    for each in results:
        pools.setdefault(f"{each.driver}/{each.pool}", []).append(_device(each))
    return " and ".join(f"{', '.join(names)} of {pool}" for pool, names in pools.items())


def _device(result: DeviceRequestAllocationResult) -> str:
    """``gpu-0``, or ``gpu-0 (a share, 10Gi memory)``."""
    consumed = [f"{amount} {name}" for name, amount in (result.consumed_capacity or {}).items()]
    share = ["a share"] if result.share_id is not None else []
    admin = ["admin access"] if result.admin_access else []
    more = [*share, *consumed, *admin]
    return f"{result.device} ({', '.join(more)})" if more else result.device
