"""`DrainReport`: what ``schedctl drain`` says, as data.

Nodes are in the order in which they are drained, pods by name. Times are seconds of the drain of a node.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.metadata import Metadata, Record, ReportedAssumption, schema_name
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.pod_groups import BrokenGroup
from schedctl.reports.reasons import Remark
from schedctl.reports.simulations import PendingPods


@schema_name("Verdict")
class DrainVerdict(StrEnum):
    """What came of draining a node."""

    DRAINED = "Drained"
    """It is empty, and every pod has found another place."""
    LEAVES_PENDING = "LeavesPending"
    """It is empty, but pods are pending because of it."""
    BLOCKED = "Blocked"
    """Pods stay, because the API server refuses their eviction."""
    REFUSED = "Refused"
    """kubectl refuses it."""
    INCONCLUSIVE = "Inconclusive"
    """schedctl cannot tell: a pod needs something that is not modelled."""
    INTERRUPTED = "Interrupted"
    """It was not drained to the end, because the user interrupted it."""


@schema_name("PodFate")
class DrainFate(StrEnum):
    """What became of a pod of a drained node."""

    MOVED = "Moved"
    """Evicted; its replacement is on a node."""
    PENDING = "Pending"
    """Evicted; its replacement is pending."""
    LOST = "Lost"
    """Evicted, and no controller recreates it."""
    FOREIGN_SCHEDULER = "ForeignScheduler"
    """Evicted; its replacement belongs to another scheduler."""
    INCONCLUSIVE = "Inconclusive"
    """Evicted; what its replacement needs is not modelled."""
    TERMINATING = "Terminating"
    """It was terminating already, and its replacement had been created."""
    BLOCKED = "Blocked"
    """The API server refuses its eviction."""
    REFUSED = "Refused"
    """kubectl refuses the node because of it."""
    KEPT = "Kept"
    """kubectl would evict it, but refuses the node because of others."""
    IGNORED = "Ignored"
    """It belongs to a DaemonSet and stays."""
    MIRROR = "Mirror"
    """It belongs to the kubelet itself and stays."""


@schema_name("Summary")
class DrainSummary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        nodes: how many were to be drained.
        drained: how many of them are empty.
        pods: how many pods would be evicted.
        moved: how many of those found another place.
        pending: how many have a successor that is pending.
        lost: how many have none, because no controller recreates them.
        blocked: how many evictions the API server refuses.
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
        owner: who controls it, as ``ReplicaSet/web-5c7d``; "" for none.
        priority: its priority.
        successor: the pod in its place, as ``namespace/name``; "" for none.
        node: the node that one is on, "" for none.
        zone: of that node.
        ties: how many nodes were equally good for it.
        budgets: the disruption budgets that select it, as ``namespace/name``.
        evicted_at: when its eviction begins.
        gone_at: when it was gone.
        message: why it is not moved: the FailedScheduling line of its successor, the answer of the API server, or what
            kubectl says.
        cause: what the API server adds to its answer.
    """

    pod: str
    fate: DrainFate
    owner: str = ""
    priority: int = 0
    successor: str = ""
    node: str = ""
    zone: str = ""
    ties: int = 0
    budgets: list[str] = []
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
    verdict: DrainVerdict
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
        blocked: how many evictions from the nodes it refuses.
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


class WorkloadWarning(Record, frozen=True):
    """What a plugin finds in the spec of evicted pods that does not do what was probably meant.

    Attributes:
        owner: whose pods, e.g. ``Deployment shop/web``; of a pod without a controller itself, e.g. ``Pod shop/one``.
        pods: how many of them would be evicted.
        warning: what was found.
    """

    owner: str
    pods: int
    warning: Remark


class DrainReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl drain``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        results: each node, in the order in which they are drained.
        pending: the successors that are pending, by reason; names as ``namespace/name``.
        budgets: the disruption budgets that let pods go or hold them, by name.
        displaced: the pods on other nodes that would be preempted, in order.
        arrived: pods that were pending before and found room, by name.
        guesses: what could not be listed although some answer of the drain depends on it. With any of these nothing is
            proven: verdicts and places are those of a cluster without these objects.
        warnings: what is wrong with the specs of evicted pods by workload.
        broken_groups: the gangs that are left with fewer pods on nodes than they need, by name.
        node_map: the nodes that pictures show; null unless the output has pictures (``html``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["DrainReport"] = "DrainReport"
    metadata: Metadata
    summary: DrainSummary
    results: list[NodeResult]
    pending: list[PendingPods]
    budgets: list[BudgetUse]
    displaced: list[DisplacedPod]
    arrived: list[ArrivedPod]
    guesses: list[ReportedAssumption] = []
    warnings: list[WorkloadWarning] = []
    broken_groups: list[BrokenGroup] = []
    node_map: NodeMap | None = None
