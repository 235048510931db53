"""Makes the `CapacityReport` of what ``capacities`` found out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schedctl.api import topology
from schedctl.cache.cluster import Cluster
from schedctl.reports import capacities, exit_codes
from schedctl.reports.metadata import Metadata, ReportedAssumption
from schedctl.reports.reasons import Remark
from schedctl.simulation import utilisation
from schedctl.simulation.capacities import CapacityFacts
from schedctl.simulation.node_choices import label_of


def labels_of(cluster: Cluster, by: str) -> list[str]:
    """Return the labels to group by: the one that is meant by a word, or without one the zone and the pool."""
    if by:
        return [capacities.NODE if by == capacities.NODE else label_of(cluster, by)]
    found = [topology.ZONE, utilisation.grouping_label(cluster)]
    has_zones = any(utilisation.zones(cluster).values())
    return list(dict.fromkeys(label for label in found if label and (label != topology.ZONE or has_zones)))


def result(
    facts: CapacityFacts,
    cluster: Cluster,
    *,
    subject: str,
    by: Sequence[str],
    notes: Sequence[str] = (),
    warnings: Sequence[Remark] = (),
) -> capacities.CapacityResult:
    """Return the result about one kind of pod.

    Args:
        facts: what was found out.
        cluster: the cluster.
        subject: what was asked about.
        by: the labels to group by.
        notes: what should be known about the pods.
        warnings: what plugins find in their spec.
    """
    stop = None
    if facts.message:
        stop = capacities.Stop(
            message=facts.message,
            plugins=list(facts.plugins),
            reasons=facts.reasons,
            nominated_node=facts.nominated,
            victims=facts.victims,
        )
    return capacities.CapacityResult(
        subject=subject,
        pod=facts.pod.key,
        priority=facts.pod.priority,
        requests={fit.resource: fit.requested for fit in facts.largest},
        fits=facts.fits,
        limited=facts.limited,
        by=[_group_by(facts, cluster, label) for label in by],
        nodes=dict(sorted(facts.placed.items())),
        stop=stop,
        largest=[
            capacities.LargestFit(resource=fit.resource, requested=fit.requested, alone=fit.alone, after=fit.after)
            for fit in facts.largest
        ],
        quota=facts.quota,
        within_quota=facts.within_quota,
        error=facts.not_modelled,
        notes=list(notes),
        warnings=list(warnings),
    )


def report(
    results: Sequence[capacities.CapacityResult],
    *,
    metadata: Metadata,
    fail: bool = False,
    interrupted: bool = False,
    guesses: Sequence[ReportedAssumption] = (),
) -> capacities.CapacityReport:
    """Return the report of these results.

    Args:
        results: in the order of the output.
        metadata: under which conditions.
        fail: whether it makes the exit code 1 that no pod of a kind fits (``--exit-code``).
        interrupted: whether the user ended it.
        guesses: what the numbers rest on that is not known.
    """
    unclear = sum(bool(each.error) for each in results)
    fitting = sum(each.fits > 0 for each in results)
    none = any(not each.fits and not each.error for each in results)
    exit_code = exit_codes.of_answer(failed=fail and none and not guesses, inconclusive=bool(unclear or guesses))
    return capacities.CapacityReport(
        metadata=metadata,
        summary=capacities.CapacitySummary(
            exit_code=exit_codes.INTERRUPTED if interrupted else exit_code,
            pods=len(results),
            fitting=fitting,
            inconclusive=unclear,
        ),
        results=list(results),
        guesses=list(guesses),
    )


def _group_by(facts: CapacityFacts, cluster: Cluster, label: str) -> capacities.Grouping:
    if label in (capacities.NODE, topology.HOSTNAME):
        groups = [
            capacities.GroupFit(name=name, nodes=1, used=1, fits=fits) for name, fits in sorted(facts.placed.items())
        ]
        return capacities.Grouping(label=capacities.NODE, groups=groups)
    table = cluster.node_table
    values = {
        name: topology.group_of(table.objects[row].metadata.labels, label) or "" for name, row in table.row_of.items()
    }
    nodes, used, fits = Counter(values.values()), Counter(values[name] for name in facts.placed), Counter[str]()
    for name, number in facts.placed.items():
        fits[values[name]] += number
    return capacities.Grouping(
        label=label,
        groups=[
            capacities.GroupFit(name=name, nodes=nodes[name], used=used[name], fits=fits[name])
            for name in sorted(nodes)
        ],
    )
