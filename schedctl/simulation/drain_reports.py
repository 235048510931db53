"""`DrainReport`: what ``schedctl drain`` says, as data; what ``drains`` found out, put into it.

Within ``schedctl.dev/v1alpha1`` fields are only added; readers ignore those they do not know, and every field is always
there. Nodes are in the order in which they are drained, pods by name. Times are seconds of the drain of a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

import msgspec

from schedctl import KUBERNETES_VERSION, __version__
from schedctl.cache.cluster import Cluster
from schedctl.reports.simulations import Fate, Input, PendingPods, Record
from schedctl.scheduler.gaps import Guessed, MissingKind
from schedctl.simulation import drains, utilisation
from schedctl.simulation.drains import Drained, DrainedNode, DrainedPod
from schedctl.simulation.outcomes import PodOutcome, PodState
from schedctl.simulation.replacement import controller_of

INTERRUPTED = 130
INCONCLUSIVE = 5


class Verdict(StrEnum):
    """What came of draining a node."""

    DRAINED = "Drained"
    """It is empty, and every pod has found another place."""
    LEAVES_PENDING = "LeavesPending"
    """It is empty, but pods are pending because of it."""
    BLOCKED = "Blocked"
    """Pods stay, because the API server does not let them go."""
    REFUSED = "Refused"
    """kubectl refuses it."""
    INCONCLUSIVE = "Inconclusive"
    """schedctl cannot tell: a pod needs something that is not modelled."""
    INTERRUPTED = "Interrupted"
    """It was not drained to the end, because the user ended it."""


class PodFate(StrEnum):
    """What became of a pod of a drained node."""

    MOVED = "Moved"
    """Evicted; the pod in its place is on a node."""
    PENDING = "Pending"
    """Evicted; the pod in its place is pending."""
    LOST = "Lost"
    """Evicted, and nobody makes another."""
    FOREIGN_SCHEDULER = "ForeignScheduler"
    """Evicted; the pod in its place waits for a scheduler that no profile is."""
    INCONCLUSIVE = "Inconclusive"
    """Evicted; what the pod in its place needs is not modelled."""
    TERMINATING = "Terminating"
    """It was on its way out already, and its successor had been made."""
    BLOCKED = "Blocked"
    """The API server does not let it go."""
    REFUSED = "Refused"
    """kubectl refuses the node because of it."""
    KEPT = "Kept"
    """kubectl would evict it, but refuses the node because of others."""
    IGNORED = "Ignored"
    """It belongs to a DaemonSet and stays."""
    MIRROR = "Mirror"
    """It belongs to the kubelet itself and stays."""


_FATES = {
    drains.Fate.MOVED: PodFate.MOVED,
    drains.Fate.PENDING: PodFate.PENDING,
    drains.Fate.LOST: PodFate.LOST,
    drains.Fate.FOREIGN: PodFate.FOREIGN_SCHEDULER,
    drains.Fate.UNANSWERED: PodFate.INCONCLUSIVE,
    drains.Fate.TERMINATING: PodFate.TERMINATING,
    drains.Fate.BLOCKED: PodFate.BLOCKED,
    drains.Fate.REFUSED: PodFate.REFUSED,
    drains.Fate.KEPT: PodFate.KEPT,
    drains.Fate.IGNORED: PodFate.IGNORED,
    drains.Fate.MIRROR: PodFate.MIRROR,
}
_PENDING = {
    PodState.UNSCHEDULABLE: Fate.UNSCHEDULABLE,
    PodState.GATED: Fate.GATED,
    PodState.WAITING: Fate.WAITING,
    PodState.QUEUED: Fate.QUEUED,
}


class Metadata(Record, frozen=True):
    """Under which conditions a report about a cluster was made.

    Attributes:
        tool_version: of schedctl.
        kubernetes_version: the kube-scheduler whose behaviour it follows.
        configuration: where the scheduler configuration came from: a file, or ``built-in defaults``.
        what_if: what was changed in the cluster before anything was asked, in words and in order.
        inputs: what was read.
        missing: the kinds that could not be listed.
    """

    tool_version: str = __version__
    kubernetes_version: str = KUBERNETES_VERSION
    configuration: str = "built-in defaults"
    what_if: list[str] = msgspec.field(default_factory=list)
    inputs: list[Input] = msgspec.field(default_factory=list)
    missing: list[MissingKind] = msgspec.field(default_factory=list)


class Summary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: what the command ends with.
        nodes: how many were to be drained.
        drained: how many of them are empty.
        pods: how many pods had to go.
        moved: how many of those found another place.
        pending: how many have a successor that is pending.
        lost: how many have none, because nobody makes another.
        blocked: how many the API server does not let go.
        refused: how many make kubectl refuse their node.
        staying: how many stay, as pods of DaemonSets and of kubelets do.
        displaced: how many pods of other nodes had to make room.
        inconclusive: how many have a successor that needs something that is not modelled.
    """

    exit_code: int
    nodes: int
    drained: int
    pods: int
    moved: int = 0
    pending: int = 0
    lost: int = 0
    blocked: int = 0
    refused: int = 0
    staying: int = 0
    displaced: int = 0
    inconclusive: int = 0


class PodResult(Record, frozen=True):
    """A pod of a drained node.

    Attributes:
        pod: which, as ``namespace/name``.
        fate: what became of it.
        owner: who controls it, as ``ReplicaSet/web-5c7d``; "" for nobody.
        priority: its priority.
        successor: the pod in its place, as ``namespace/name``; "" for none.
        node: the node that one is on, "" for none.
        zone: of that node.
        ties: how many nodes were equally good for it.
        budgets: the disruption budgets that select it, as ``namespace/name``.
        evicted_at: when it was told to go.
        gone_at: when it was gone.
        message: why it is not moved: the FailedScheduling line of its successor, the answer of the API server, or what
            kubectl says.
        cause: what the API server adds to its answer.
    """

    pod: str
    fate: PodFate
    owner: str = ""
    priority: int = 0
    successor: str = ""
    node: str = ""
    zone: str = ""
    ties: int = 0
    budgets: list[str] = msgspec.field(default_factory=list)
    evicted_at: float = 0.0
    gone_at: float = 0.0
    message: str = ""
    cause: str = ""


class NodeResult(Record, frozen=True):
    """A node that is to be drained.

    Attributes:
        node: its name.
        zone: its zone, "" for none.
        verdict: what came of it.
        errors: what kubectl says when it refuses the node.
        clock: seconds until nothing could move any more.
        pods: its pods, by name.
    """

    node: str
    zone: str
    verdict: Verdict
    errors: list[str]
    clock: float
    pods: list[PodResult]


class BudgetUse(Record, frozen=True):
    """A disruption budget that selects pods of the nodes.

    Attributes:
        budget: which, as ``namespace/name``.
        allowed: how many evictions it allowed at first.
        desired: how many of its pods must be healthy.
        healthy: how many are in the end.
        evictions: how many evictions it allowed in all.
        blocked: how many pods of the nodes it does not let go.
    """

    budget: str
    allowed: int
    desired: int
    healthy: int
    evictions: int
    blocked: int


class DisplacedPod(Record, frozen=True):
    """A pod of another node that had to make room for one that was evicted.

    Attributes:
        pod: who, as ``namespace/name``.
        priority: its priority.
        node: where it ran.
        by: the pod it made room for.
        successor: the pod in its place, "" for none.
        successor_node: the node that one is on, "" for none.
    """

    pod: str
    priority: int
    node: str
    by: str
    successor: str = ""
    successor_node: str = ""


class ArrivedPod(Record, frozen=True):
    """A pod that was pending before and found room meanwhile."""

    pod: str
    node: str


class DrainReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl drain``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        results: each node, in the order in which they are drained.
        pending: the successors that are pending, by reason; names as ``namespace/name``.
        budgets: the disruption budgets that let pods go or hold them, by name.
        displaced: who else had to go, in order.
        arrived: pods that were pending before and found room, by name.
        guesses: what some answer of the drain rests on that could not be listed. What comes after a guess is one, too,
            so that nothing is proven where there is any: verdicts and places are those of a cluster without it.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["DrainReport"] = "DrainReport"
    metadata: Metadata
    summary: Summary
    results: list[NodeResult]
    pending: list[PendingPods]
    budgets: list[BudgetUse]
    displaced: list[DisplacedPod]
    arrived: list[ArrivedPod]
    guesses: list[Guessed] = msgspec.field(default_factory=list)


def report(
    facts: Drained, cluster: Cluster, *, metadata: Metadata, fail: bool = False, guesses: Sequence[Guessed] = ()
) -> DrainReport:
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
    fates = Counter(_FATES[pod.fate] for pod in pods)
    verdicts = Counter(result.verdict for result in results)
    gone = (PodFate.MOVED, PodFate.PENDING, PodFate.LOST, PodFate.FOREIGN_SCHEDULER, PodFate.INCONCLUSIVE)
    refused = verdicts[Verdict.REFUSED] + verdicts[Verdict.BLOCKED] + verdicts[Verdict.LEAVES_PENDING]
    exit_code = INCONCLUSIVE if verdicts[Verdict.INCONCLUSIVE] and not (fail and refused) else int(fail and refused > 0)
    if guesses:
        exit_code = INCONCLUSIVE
    return DrainReport(
        metadata=metadata,
        summary=Summary(
            exit_code=INTERRUPTED if facts.interrupted else exit_code,
            nodes=len(results),
            drained=verdicts[Verdict.DRAINED] + verdicts[Verdict.LEAVES_PENDING] + verdicts[Verdict.INCONCLUSIVE],
            pods=sum(fates[fate] for fate in gone),
            moved=fates[PodFate.MOVED],
            pending=fates[PodFate.PENDING] + fates[PodFate.FOREIGN_SCHEDULER],
            lost=fates[PodFate.LOST],
            blocked=fates[PodFate.BLOCKED],
            refused=fates[PodFate.REFUSED],
            staying=fates[PodFate.IGNORED] + fates[PodFate.MIRROR],
            displaced=len(facts.displaced),
            inconclusive=fates[PodFate.INCONCLUSIVE],
        ),
        results=results,
        pending=_pending(pods),
        budgets=_budgets(facts, pods),
        displaced=[
            DisplacedPod(
                pod=each.eviction.pod.key,
                priority=each.eviction.pod.priority,
                node=each.eviction.node,
                by=each.eviction.by,
                successor=each.successor,
                successor_node=each.where,
            )
            for each in facts.displaced
        ],
        arrived=[ArrivedPod(pod=key, node=node) for key, node in facts.arrived.items()],
        guesses=list(guesses),
    )


def _node(node: DrainedNode, zones: dict[str, str], interrupted: bool) -> NodeResult:
    return NodeResult(
        node=node.name,
        zone=zones.get(node.name, ""),
        verdict=_verdict(node, interrupted),
        errors=node.refusals,
        clock=node.clock,
        pods=[_pod(pod, zones) for pod in node.pods],
    )


def _verdict(node: DrainedNode, interrupted: bool) -> Verdict:
    fates = {pod.fate for pod in node.pods}
    if node.refusals:
        return Verdict.REFUSED
    if interrupted and fates - {drains.Fate.MOVED, drains.Fate.IGNORED, drains.Fate.MIRROR}:
        return Verdict.INTERRUPTED
    if drains.Fate.BLOCKED in fates:
        return Verdict.BLOCKED
    if fates & {drains.Fate.PENDING, drains.Fate.FOREIGN}:
        return Verdict.LEAVES_PENDING
    return Verdict.INCONCLUSIVE if drains.Fate.UNANSWERED in fates else Verdict.DRAINED


def _pod(pod: DrainedPod, zones: dict[str, str]) -> PodResult:
    owner, outcome = controller_of(pod.info.pod), pod.outcome
    message = pod.refusal
    if pod.blocked is not None:
        message = pod.blocked.message
    elif outcome is not None and not pod.where:
        message = outcome.message
    return PodResult(
        pod=pod.info.key,
        fate=_FATES[pod.fate],
        owner=f"{owner.kind}/{owner.name}" if owner is not None else "",
        priority=pod.info.priority,
        successor=pod.successor,
        node=pod.where,
        zone=zones.get(pod.where, ""),
        ties=outcome.ties if outcome is not None and pod.where else 0,
        budgets=pod.budgets,
        evicted_at=pod.at,
        gone_at=pod.until,
        message=message,
        cause=pod.blocked.cause if pod.blocked is not None else "",
    )


def _pending(pods: Sequence[DrainedPod]) -> list[PendingPods]:
    """Return the pending successors, those with the same line together."""
    groups: dict[tuple[Fate, str, tuple[str, ...]], list[str]] = {}
    for pod in pods:
        if pod.fate is drains.Fate.PENDING:
            outcome = pod.outcome or PodOutcome(pod.info)
            fate = Fate.NOMINATED if outcome.nominated else _PENDING.get(outcome.state, Fate.QUEUED)
            fate = Fate.FAILED if outcome.fault else fate
            groups.setdefault((fate, outcome.message, outcome.plugins), []).append(pod.successor)
    return [
        PendingPods(fate=fate, message=message, plugins=list(plugins), pods=names)
        for (fate, message, plugins), names in groups.items()
    ]


def _budgets(facts: Drained, pods: Sequence[DrainedPod]) -> list[BudgetUse]:
    """Return the budgets that let pods go or hold them."""
    blocked = Counter(key for pod in pods if pod.fate is drains.Fate.BLOCKED for key in pod.budgets)
    books = facts.budgets.books
    concerned = [key for key, book in books.items() if book.spent or blocked[key]]
    return [
        BudgetUse(
            budget=key,
            allowed=facts.allowed[key],
            desired=books[key].desired,
            healthy=books[key].desired + books[key].margin,
            evictions=books[key].spent,
            blocked=blocked[key],
        )
        for key in concerned
    ]
