"""Refusals by cause: reasons with counts, and under each the nodes that share the same evidence.

A cluster of thousands of nodes has a handful of reasons, and often a handful of distinct evidence; grouping is what
keeps the answer readable. Counts are those of the FailedScheduling line, since grouping is by Kubernetes' own text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from schedctl.explain.wordings import find_wording
from schedctl.framework import wording
from schedctl.framework.profiles import Profile
from schedctl.framework.remedies import Rejection
from schedctl.framework.statuses import Code
from schedctl.reports import counts
from schedctl.reports.explanations import Pattern
from schedctl.reports.reasons import CountedDetail, NodeGroup, Reason

ZoneOf = Callable[[str], str]
"""The zone of a node by its name, "" where it is in none."""
_DETAILS = 3
"""How many groups of nodes tell their numbers in the one line of a reason."""
COUNTED = 10
"""How many different numbers a reason has when its groups are left out."""


def reasons(refusals: Iterable[Rejection], zone_of: ZoneOf, profile: Profile) -> list[Reason]:
    """Return the reasons, the most frequent first, each with its nodes by evidence."""
    causes: dict[tuple[str, str, str], list[Rejection]] = {}
    for refused in refusals:
        causes.setdefault((refused.plugin, refused.reference, refused.text), []).append(refused)
    found = [_reason(cause, zone_of, profile) for cause in causes.values()]
    return sorted(found, key=lambda reason: (-reason.count, reason.text, reason.reference))


def patterns(nodes: Iterable[str], refusals: Iterable[Rejection], zone_of: ZoneOf) -> list[Pattern]:
    """Return the nodes by who refuses them, fewest refusals first."""
    refused_by: dict[str, dict[str, None]] = {name: {} for name in nodes}
    for refused in refusals:
        refused_by[refused.node][refused.plugin] = None
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, plugins in refused_by.items():
        alike.setdefault(tuple(plugins), []).append(name)
    ordered = sorted(alike.items(), key=lambda item: (len(item[0]), -len(item[1]), item[0]))
    return [
        Pattern(refused_by=list(plugins), nodes=sorted(names), zones=by_zone(names, zone_of))
        for plugins, names in ordered
    ]


def by_zone(nodes: Iterable[str], zone_of: ZoneOf) -> dict[str, int]:
    """Return how many nodes are in which zone; empty where none is in any."""
    tally = Counter(map(zone_of, nodes))
    return dict(sorted(tally.items())) if any(tally) else {}


def _reason(cause: list[Rejection], zone_of: ZoneOf, profile: Profile) -> Reason:
    first = cause[0]
    words = find_wording(profile, first.plugin, first.reference)
    alike: dict[bytes, list[Rejection]] = {}
    for refused in cause:
        key = msgspec.json.encode((refused.code, words.equivalence_key(refused.evidence), refused.nominated_pods))
        alike.setdefault(key, []).append(refused)
    ordered = sorted(alike.values(), key=lambda same: (words.distance(same[0].evidence), -len(same), same[0].node))
    codes = {refused.code for refused in cause}
    distinct = [same[0].evidence for same in ordered]
    summary, diagnosis = words.summary(distinct), list(words.diagnosis(distinct))
    groups = [_group(same, words, zone_of) for same in ordered]
    return Reason(
        reference=first.reference,
        plugin=first.plugin,
        code=(codes.pop() if len(codes) == 1 else Code.UNSCHEDULABLE).label,
        text=first.text,
        count=len(cause),
        summary=summary,
        detail=summary or first_details(groups),
        details=[] if summary else counted_details(groups)[:COUNTED],
        diagnosis=diagnosis,
        zones=by_zone((refused.node for refused in cause), zone_of),
        groups=groups,
    )


def counted_details(groups: Iterable[NodeGroup]) -> list[CountedDetail]:
    """Return what is told of how many nodes, nothing where all of them are told the same."""
    tally: dict[str, int] = {}
    for group in groups:
        tally[group.detail] = tally.get(group.detail, 0) + len(group.nodes)
    details = [CountedDetail(text, number) for text, number in tally.items() if text]
    return details if len(tally) > 1 else []


def first_details(groups: Sequence[NodeGroup]) -> str:
    """Return the numbers of the first few groups of nodes in a line, each with its number of nodes if they differ."""
    details = counted_details(groups)
    if not details:
        return groups[0].detail if groups else ""
    rest = sum(each.nodes for each in details[_DETAILS:])
    ways = counts.of(len(details) - _DETAILS, "other way")
    more = [f"{counts.nodes(rest, 'more ')} in {ways}"] if rest else []
    return "; ".join([*(f"{counts.nodes(each.nodes)}: {each.text}" for each in details[:_DETAILS]), *more])


def _group(same: list[Rejection], words: wording.Wording, zone_of: ZoneOf) -> NodeGroup:
    first, names = same[0], [refused.node for refused in same]
    detail = words.detail(first.evidence)
    if first.nominated_pods:
        promised = f"counting {wording.few(first.nominated_pods)}, promised to this node"
        detail = f"{detail}; {promised}" if detail else promised
    return NodeGroup(
        nodes=sorted(names),
        code=first.code.label,
        detail=detail,
        evidence=first.evidence,
        nominated_pods=list(first.nominated_pods),
        zones=by_zone(names, zone_of),
    )
