"""Makes the `DrainReport` of what ``drains`` found out; nodes in the order in which they are drained, pods by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schedctl.cache.cluster import Cluster
from schedctl.reports import drains, exit_codes
from schedctl.reports.drains import DrainFate, DrainVerdict
from schedctl.reports.metadata import Metadata, ReportedAssumption
from schedctl.reports.simulations import Fate, PendingPods
from schedctl.simulation import utilisation
from schedctl.simulation.drains import DrainedNode, DrainedPod, DrainFacts
from schedctl.simulation.outcomes import PodOutcome
from schedctl.simulation.replacement import controller_of
from schedctl.simulation.report_builder import fate_of


def report(
    facts: DrainFacts,
    cluster: Cluster,
    *,
    metadata: Metadata,
    fail: bool = False,
    guesses: Sequence[ReportedAssumption] = (),
) -> drains.DrainReport:
    """Return the report of a drain; why pods are pending is left to those who can ask.

    Args:
        facts: of the drain.
        cluster: as the drain left it.
        metadata: under which conditions.
        fail: whether a node that is not drained, or leaves pods pending, makes the exit code 1 (``--exit-code``).
        guesses: what the drain rests on that is not known.
    """
    zones = utilisation.zones(cluster)
    results = [_node(node, zones, facts.interrupted) for node in facts.nodes]
    pods = [pod for node in facts.nodes for pod in node.pods]
    fates = Counter(pod.fate for pod in pods)
    verdicts = Counter(result.verdict for result in results)
    gone = (
        DrainFate.MOVED,
        DrainFate.PENDING,
        DrainFate.LOST,
        DrainFate.FOREIGN_SCHEDULER,
        DrainFate.INCONCLUSIVE,
    )
    refused = verdicts[DrainVerdict.REFUSED] + verdicts[DrainVerdict.BLOCKED] + verdicts[DrainVerdict.LEAVES_PENDING]
    exit_code = exit_codes.of_answer(
        failed=fail and refused > 0 and not guesses, inconclusive=bool(verdicts[DrainVerdict.INCONCLUSIVE] or guesses)
    )
    return drains.DrainReport(
        metadata=metadata,
        summary=drains.DrainSummary(
            exit_code=exit_codes.INTERRUPTED if facts.interrupted else exit_code,
            nodes=len(results),
            drained=verdicts[DrainVerdict.DRAINED]
            + verdicts[DrainVerdict.LEAVES_PENDING]
            + verdicts[DrainVerdict.INCONCLUSIVE],
            pods=sum(fates[fate] for fate in gone),
            moved=fates[DrainFate.MOVED],
            pending=fates[DrainFate.PENDING] + fates[DrainFate.FOREIGN_SCHEDULER],
            lost=fates[DrainFate.LOST],
            blocked=fates[DrainFate.BLOCKED],
            refused=fates[DrainFate.REFUSED],
            staying=fates[DrainFate.IGNORED] + fates[DrainFate.MIRROR],
            displaced=len(facts.displaced),
            inconclusive=fates[DrainFate.INCONCLUSIVE],
        ),
        results=results,
        pending=_pending_groups(pods),
        budgets=_budgets(facts, pods),
        displaced=[
            drains.DisplacedPod(
                pod=each.eviction.pod.key,
                priority=each.eviction.pod.priority,
                node=each.eviction.node,
                by=each.eviction.by,
                successor=each.successor,
                successor_node=each.successor_node,
            )
            for each in facts.displaced
        ],
        arrived=[drains.ArrivedPod(pod=key, node=node) for key, node in facts.arrived.items()],
        guesses=list(guesses),
    )


def _node(node: DrainedNode, zones: dict[str, str], interrupted: bool) -> drains.NodeResult:
    return drains.NodeResult(
        node=node.name,
        zone=zones.get(node.name, ""),
        verdict=_verdict(node, interrupted),
        errors=node.refusals,
        clock=node.clock,
        pods=[_pod(pod, zones) for pod in node.pods],
    )


def _verdict(node: DrainedNode, interrupted: bool) -> DrainVerdict:
    fates = {pod.fate for pod in node.pods}
    if node.refusals:
        return DrainVerdict.REFUSED
    if interrupted and fates - {DrainFate.MOVED, DrainFate.IGNORED, DrainFate.MIRROR}:
        return DrainVerdict.INTERRUPTED
    if DrainFate.BLOCKED in fates:
        return DrainVerdict.BLOCKED
    if fates & {DrainFate.PENDING, DrainFate.FOREIGN_SCHEDULER}:
        return DrainVerdict.LEAVES_PENDING
    return DrainVerdict.INCONCLUSIVE if DrainFate.INCONCLUSIVE in fates else DrainVerdict.DRAINED


def _pod(pod: DrainedPod, zones: dict[str, str]) -> drains.PodResult:
    owner, outcome = controller_of(pod.info.pod), pod.outcome
    message = pod.refusal
    if pod.blocked is not None:
        message = pod.blocked.message
    elif outcome is not None and not pod.successor_node:
        message = outcome.message
    return drains.PodResult(
        pod=pod.info.key,
        fate=pod.fate,
        owner=f"{owner.kind}/{owner.name}" if owner is not None else "",
        priority=pod.info.priority,
        successor=pod.successor,
        node=pod.successor_node,
        zone=zones.get(pod.successor_node, ""),
        ties=outcome.ties if outcome is not None and pod.successor_node else 0,
        budgets=pod.budgets,
        evicted_at=pod.at,
        gone_at=pod.until,
        message=message,
        cause=pod.blocked.cause if pod.blocked is not None else "",
    )


def _pending_groups(pods: Sequence[DrainedPod]) -> list[PendingPods]:
    """Return the pending successors, those with the same line together."""
    groups: dict[tuple[Fate, str, tuple[str, ...]], list[str]] = {}
    for pod in pods:
        if pod.fate is DrainFate.PENDING:
            outcome = pod.outcome or PodOutcome(pod.info)
            groups.setdefault((fate_of(outcome), outcome.message, outcome.plugins), []).append(pod.successor)
    return [
        PendingPods(fate=fate, message=message, plugins=list(plugins), pods=names)
        for (fate, message, plugins), names in groups.items()
    ]


def _budgets(facts: DrainFacts, pods: Sequence[DrainedPod]) -> list[drains.BudgetUse]:
    """Return the budgets that let pods go or hold them."""
    blocked = Counter(key for pod in pods if pod.fate is DrainFate.BLOCKED for key in pod.budgets)
    books = facts.budgets.books
    concerned = [key for key, book in books.items() if book.spent or blocked[key]]
    return [
        drains.BudgetUse(
            budget=key,
            allowed=facts.allowed[key],
            desired=books[key].desired,
            healthy=books[key].desired + books[key].margin,
            evictions=books[key].spent,
            blocked=blocked[key],
        )
        for key in concerned
    ]
