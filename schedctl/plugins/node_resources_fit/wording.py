"""How rejections of NodeResourcesFit read: what is free, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.api.amounts import amount
from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording


def _free(evidence: Evidence) -> int:
    return int(evidence["capacity"] - evidence["used"])


def _shortage(evidence: Evidence) -> int:
    return int(evidence["requested"] - _free(evidence))


def _room(evidence: Evidence) -> str:
    resource = evidence["resource"]
    free, used, capacity, missing = (
        amount(resource, value)
        for value in (_free(evidence), evidence["used"], evidence["capacity"], _shortage(evidence))
    )
    return f"{free} free of {capacity} ({used} used), {missing} missing"


def _room_on_all(all_evidence: Sequence[Evidence]) -> str:
    first = all_evidence[0]
    resource = first["resource"]
    free = [_free(evidence) for evidence in all_evidence]
    least, most = amount(resource, min(free)), amount(resource, max(free))
    there = f"{most} free" if least == most else f"{least} to {most} free"
    return f"{resource}: {amount(resource, first['requested'])} requested, {there}"


def _pods(evidence: Evidence) -> str:
    return f"{evidence['used']} pods, at most {evidence['capacity']} allowed"


WORDING = {
    "node-resources-fit/insufficient": Wording(_room, _room_on_all, _shortage),
    "node-resources-fit/too-many-pods": Wording(_pods),
}
