"""`CapacityReport`: what ``schedctl capacity`` says, as data; what ``capacities`` found out, put into it.

Within ``schedctl.dev/v1alpha1`` fields are only added; readers ignore those they do not know, and every field is always
there. Amounts are integers in the units in which the scheduler counts: millicores of cpu, bytes, or whole units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schedctl.api import topology
from schedctl.cache.cluster import Cluster
from schedctl.reports.capacities import (
    NODE,
    CapacityReport,
    CapacityResult,
    CapacitySummary,
    GroupFit,
    Grouping,
    LargestFit,
    Stop,
)
from schedctl.reports.metadata import Metadata, ReportedAssumption
from schedctl.simulation import utilisation
from schedctl.simulation.capacities import CapacityFacts
from schedctl.simulation.node_choices import label_of

INTERRUPTED = 130
INCONCLUSIVE = 5


def labels_of(cluster: Cluster, by: str) -> list[str]:
    """Return the labels to group by: the one that is meant by a word, or without one the zone and the pool."""
    if by:
        return [NODE if by == NODE else label_of(cluster, by)]
    found = [topology.ZONE, utilisation.grouping_label(cluster)]
    has_zones = any(utilisation.zones(cluster).values())
    return list(dict.fromkeys(label for label in found if label and (label != topology.ZONE or has_zones)))


def result(
    facts: CapacityFacts, cluster: Cluster, *, subject: str, by: Sequence[str], notes: Sequence[str] = ()
) -> CapacityResult:
    """Return the result about one kind of pod.

    Args:
        facts: what was found out.
        cluster: the cluster.
        subject: what was asked about.
        by: the labels to group by.
        notes: what should be known about the pods.
    """
    stop = None
    if facts.message:
        stop = Stop(
            message=facts.message,
            plugins=list(facts.plugins),
            reasons=facts.reasons,
            nominated_node=facts.nominated,
            victims=facts.victims,
        )
    return CapacityResult(
        subject=subject,
        pod=facts.pod.key,
        priority=facts.pod.priority,
        requests={one.resource: one.requested for one in facts.largest},
        fits=facts.fits,
        limited=facts.limited,
        by=[_group_by(facts, cluster, label) for label in by],
        nodes=dict(sorted(facts.placed.items())),
        stop=stop,
        largest=[
            LargestFit(resource=one.resource, requested=one.requested, alone=one.alone, after=one.after)
            for one in facts.largest
        ],
        quota=facts.quota,
        within_quota=facts.within_quota,
        error=facts.not_modelled,
        notes=list(notes),
    )


def report(
    results: Sequence[CapacityResult],
    *,
    metadata: Metadata,
    fail: bool = False,
    interrupted: bool = False,
    guesses: Sequence[ReportedAssumption] = (),
) -> CapacityReport:
    """Return the report of these results.

    Args:
        results: in the order of the output.
        metadata: under which conditions.
        fail: whether it makes the exit code 1 that no pod of a kind fits (``--exit-code``).
        interrupted: whether the user ended it.
        guesses: what the numbers rest on that is not known.
    """
    unclear = sum(bool(one.error) for one in results)
    fitting = sum(one.fits > 0 for one in results)
    none = any(not one.fits and not one.error for one in results)
    exit_code = 1 if fail and none and not guesses else INCONCLUSIVE if unclear or guesses else 0
    return CapacityReport(
        metadata=metadata,
        summary=CapacitySummary(
            exit_code=INTERRUPTED if interrupted else exit_code,
            pods=len(results),
            fitting=fitting,
            inconclusive=unclear,
        ),
        results=list(results),
        guesses=list(guesses),
    )


def _group_by(facts: CapacityFacts, cluster: Cluster, label: str) -> Grouping:
    if label in (NODE, topology.HOSTNAME):
        groups = [GroupFit(name=name, nodes=1, used=1, fits=fits) for name, fits in sorted(facts.placed.items())]
        return Grouping(label=NODE, groups=groups)
    table = cluster.node_table
    value = {name: (table.objects[row].metadata.labels or {}).get(label, "") for name, row in table.row_of.items()}
    nodes, used, fits = Counter(value.values()), Counter(value[name] for name in facts.placed), Counter[str]()
    for name, number in facts.placed.items():
        fits[value[name]] += number
    return Grouping(
        label=label,
        groups=[GroupFit(name=name, nodes=nodes[name], used=used[name], fits=fits[name]) for name in sorted(nodes)],
    )
