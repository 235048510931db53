"""`CapacityReport`: what ``schedctl capacity`` says, as data; what ``capacities`` found out, put into it.

Within ``schedctl.dev/v1alpha1`` fields are only added; readers ignore those they do not know, and every field is always
there. Amounts are integers in the units in which the scheduler counts: millicores of cpu, bytes, or whole units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from schedctl.cache.cluster import Cluster
from schedctl.reports.simulations import Reason, Record
from schedctl.scheduler.gaps import Guessed
from schedctl.simulation import utilisation
from schedctl.simulation.capacities import Filled
from schedctl.simulation.drain_reports import Metadata
from schedctl.simulation.node_choices import HOSTNAME, label_of

INTERRUPTED = 130
INCONCLUSIVE = 5
NODE = "node"
"""What groups nodes one by one."""


class Summary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: what the command ends with.
        pods: how many kinds of pods were asked about.
        fitting: of how many kinds at least one more fits.
        inconclusive: how many need something that is not modelled.
    """

    exit_code: int
    pods: int
    fitting: int
    inconclusive: int = 0


class GroupFit(Record, frozen=True):
    """Some nodes, and how many of the pods went there.

    Attributes:
        name: the value of the label, or the name of the node; "" for nodes without the label.
        nodes: how many nodes there are.
        used: how many of them took at least one.
        fits: how many pods they took.
    """

    name: str
    nodes: int
    used: int
    fits: int


class Grouping(Record, frozen=True):
    """Where the pods went, by one label.

    Attributes:
        label: the label, or ``node``.
        groups: by name; of nodes those that took a pod.
    """

    label: str
    groups: list[GroupFit]


class Stop(Record, frozen=True):
    """Why the next pod does not fit.

    Attributes:
        message: the line of its FailedScheduling event, or the fault.
        plugins: who refused it.
        reasons: why no node will do, the most frequent first.
        nominated_node: the node on which evictions would make room for it, "" for none.
        victims: how many pods would have to go there.
    """

    message: str
    plugins: list[str]
    reasons: list[Reason]
    nominated_node: str = ""
    victims: int = 0


class LargestFit(Record, frozen=True):
    """How much of a resource one pod could request, with all else as it is.

    Attributes:
        resource: which.
        requested: what the pod requests.
        alone: the most that fits on the cluster as it is; null if not even none of it fits.
        after: the most that fits after all others were placed; null likewise, or if that was not asked.
    """

    resource: str
    requested: int
    alone: int | None
    after: int | None


class CapacityResult(Record, frozen=True):
    """How many more pods of one kind fit.

    Attributes:
        subject: what was asked about, e.g. ``deploy shop/web``.
        pod: the first of the pods, as ``namespace/name``.
        priority: their priority.
        requests: what each requests.
        fits: how many fit.
        limited: no more were tried, though another might fit.
        by: where they went.
        nodes: how many went to which node.
        stop: why the next one does not fit, null where it might.
        largest: the largest single pod, for each resource it requests.
        quota: why the namespace allows fewer, "" where it does not.
        within_quota: how many it allows, null where no quota is in the way.
        error: what it needs that is not modelled, "" for nothing.
        notes: what a reader must know to read the answer right.
    """

    subject: str
    pod: str
    priority: int
    requests: dict[str, int]
    fits: int
    limited: bool
    by: list[Grouping]
    nodes: dict[str, int]
    stop: Stop | None
    largest: list[LargestFit]
    quota: str = ""
    within_quota: int | None = None
    error: str = ""
    notes: list[str] = msgspec.field(default_factory=list)


class CapacityReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl capacity``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        results: each kind of pod, on the cluster as it is.
        guesses: what some number rests on that could not be listed: the numbers are those of a cluster without it.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["CapacityReport"] = "CapacityReport"
    metadata: Metadata
    summary: Summary
    results: list[CapacityResult]
    guesses: list[Guessed] = msgspec.field(default_factory=list)


def labels_of(cluster: Cluster, by: str) -> list[str]:
    """Return the labels to group by: the one that is meant by a word, or without one the zone and the pool."""
    if by:
        return [NODE if by == NODE else label_of(cluster, by)]
    found = [utilisation.ZONE_LABEL, utilisation.grouping(cluster)]
    has_zones = any(utilisation.zones(cluster).values())
    return list(dict.fromkeys(label for label in found if label and (label != utilisation.ZONE_LABEL or has_zones)))


def result(
    facts: Filled, cluster: Cluster, *, subject: str, by: Sequence[str], notes: Sequence[str] = ()
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
        by=[_grouped(facts, cluster, label) for label in by],
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
    guesses: Sequence[Guessed] = (),
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
        summary=Summary(
            exit_code=INTERRUPTED if interrupted else exit_code,
            pods=len(results),
            fitting=fitting,
            inconclusive=unclear,
        ),
        results=list(results),
        guesses=list(guesses),
    )


def _grouped(facts: Filled, cluster: Cluster, label: str) -> Grouping:
    if label in (NODE, HOSTNAME):
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
