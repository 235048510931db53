"""How rejections of NodeResourcesFit read: what is free, what is missing, and what strikes the eye of the request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from schedctl.api.amounts import on_one_scale
from schedctl.api.resources import CPU
from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording
from schedctl.plugins.node_resources_fit.requested_parts import LIMIT


def _free(evidence: Evidence) -> int:
    return int(evidence["capacity"] - evidence["used"])


def _shortage(evidence: Evidence) -> int:
    return int(evidence["requested"] - _free(evidence))


def _room(evidence: Evidence) -> str:
    if not evidence["capacity"] and not evidence["used"]:
        amount = on_one_scale(evidence["resource"], (evidence["requested"],))
        return f"none offered (allocatable 0), {amount(evidence['requested'])} requested"
    values = (_free(evidence), evidence["capacity"], evidence["used"], _shortage(evidence))
    free, capacity, used, missing = map(on_one_scale(evidence["resource"], values), values)
    return f"{free} free of {capacity} ({used} used), {missing} missing"


def _room_on_all(all_evidence: Sequence[Evidence]) -> str:
    first = all_evidence[0]
    if first.get("largest"):  # what is free is of no concern to a pod that no node is large enough for
        return ""
    resource, requested = first["resource"], first["requested"]
    free = [_free(evidence) for evidence in all_evidence]
    least, most = min(free), max(free)
    amount = on_one_scale(resource, (requested, least, most, requested - most))
    there = f"{amount(most)} free" if least == most else f"{amount(least)} to {amount(most)} free"
    return f"{resource}: {amount(requested)} requested, {there}"


def _diagnosis(all_evidence: Sequence[Evidence]) -> list[str]:
    return [*_too_large(all_evidence[0]), *_parts_text(all_evidence[0])]


def _too_large(evidence: Evidence) -> Iterator[str]:
    resource, largest = evidence["resource"], evidence.get("largest")
    if not largest:
        return
    amount = _amounts_of(evidence, largest["allocatable"])
    there = f"largest allocatable {amount(largest['allocatable'])} ({largest['node']})"
    yield f"larger than any node: {amount(evidence['requested'])} {resource} requested, {there}"
    for slip in evidence.get("slips") or ():
        cores = f" is {slip['written']} cores" if resource == CPU else ""
        yield f"{resource}: {slip['written']}{cores}; did you mean {slip['meant']}?"


def _parts_text(evidence: Evidence) -> Iterator[str]:
    parts = evidence.get("parts")
    if parts and len(parts) == 1 and parts[0]["source"].startswith(LIMIT):
        container = parts[0]["source"].removeprefix(LIMIT).strip()
        limit = _amounts_of(evidence)(evidence["requested"])
        yield f"container {container} sets no {evidence['resource']} request, so its limit {limit} is the request"
    elif parts:
        amount = _amounts_of(evidence, *(part["amount"] for part in parts))
        total = " + ".join(f"{part['source']} {amount(part['amount'])}" for part in parts)
        yield f"{evidence['resource']} {amount(evidence['requested'])} = {total}"


def _amounts_of(evidence: Evidence, *others: int) -> Callable[[int], str]:
    return on_one_scale(evidence["resource"], (evidence["requested"], *others))


def _pods(evidence: Evidence) -> str:
    return f"{evidence['used']} pods, at most {evidence['capacity']} allowed"


WORDING = {
    "node-resources-fit/insufficient": Wording(_room, _room_on_all, _shortage, diagnosis=_diagnosis),
    "node-resources-fit/too-many-pods": Wording(_pods),
}
