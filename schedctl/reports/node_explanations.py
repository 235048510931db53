"""`NodeExplainReport`: what ``schedctl explain node`` says, as data.

Amounts are integers in the units the scheduler counts in: millicores of cpu, bytes, or whole units.
"""

from __future__ import annotations

from typing import Literal

from schedctl.reports.explanations import OwnerPods, Verdict
from schedctl.reports.metadata import Metadata, Record, schema_name
from schedctl.reports.reasons import Hint, Reason


class NodeResource(Record, frozen=True):
    """One resource of one node; `free` is `allocatable` minus what its pods request, below 0 where they exceed it."""

    resource: str
    allocatable: int
    used: int
    free: int


@schema_name("NodeProblem")
class ReportedCondition(Record, frozen=True):
    """A condition of a node that is not as it is on a healthy one, such as ``Ready`` that is ``False``."""

    type: str
    status: str
    reason: str = ""


class RunningPods(Record, frozen=True):
    """The pods of one workload that stand on the node.

    Attributes:
        owner: the outermost controller, e.g. ``Deployment shop/web``; "" for pods that have none.
        pods: how many.
        cpu, memory: what they request together, in millicores and bytes.
    """

    owner: str
    pods: int
    cpu: int
    memory: int


class FittingPods(Record, frozen=True):
    """Equal pending pods for which the node is feasible now, each judged alone.

    Attributes:
        pods: which, as ``namespace/name``.
        owners: whose they are, most pods first.
        chosen: where kube-scheduler would place one of them, "" where something else than the nodes is in the way.
        nominated_elsewhere: the node that preemption has promised to them, if that is tried first; "" for none.
    """

    pods: list[str]
    owners: list[OwnerPods]
    chosen: str = ""
    nominated_elsewhere: str = ""


class RejectedPods(Record, frozen=True):
    """Pending pods that the node rejects for the same reasons.

    Attributes:
        pods: which, as ``namespace/name``.
        owners: whose they are, most pods first.
        reasons: everything the node has against them, not only what kube-scheduler stops at; for pods that are
            rejected as a whole, why.
        elsewhere: where kube-scheduler would place them instead, by node how many; each judged alone.
        victims: the pods whose eviction by preemption would make room there, as ``namespace/name``; empty where
            preemption does not help.
        preempts: whether preemption would nominate this node and no other.
        fix: the best change that was tried and makes the node feasible for them; null where none is known, or where
            none was looked for.
        fix_tried: whether changes were looked for; they are for the nearest groups.
    """

    pods: list[str]
    owners: list[OwnerPods]
    reasons: list[Reason]
    elsewhere: dict[str, int] = {}
    victims: list[str] = []
    preempts: bool = False
    fix: Hint | None = None
    fix_tried: bool = False


class RejectionCause(Record, frozen=True):
    """A cause in Kubernetes' words, and how many pending pods the node rejects for it, among other causes or alone."""

    plugin: str
    text: str
    pods: int
    alone: int


class NotJudgedPods(Record, frozen=True):
    """Pending pods that no node is looked for now, such as gated ones.

    Attributes:
        verdict: what became of them.
        pods: which, as ``namespace/name``.
        owners: whose they are, most pods first.
        text: why, in words.
    """

    verdict: Verdict
    pods: list[str]
    owners: list[OwnerPods]
    text: str = ""


class NodeExplanation(Record, frozen=True):
    """The answer about one node.

    Attributes:
        node: its name.
        zone, pool, instance_type: what its labels say, "" where they do not.
        labels, taints: of the node; a taint is written ``key=value:effect``.
        unschedulable: whether it is cordoned.
        ready: the status of its Ready condition: ``True``, ``False`` or ``Unknown``; "" if it is not known.
        conditions: those that are not as on a healthy node.
        pods: how many pods stand on it.
        resources: cpu, memory, pods, then everything else that it offers or its pods use.
        running: its pods by workload, who requests most cpu first.
        nominated: pending pods that preemption has promised the node, as ``namespace/name``.
        fitting: the pending pods that fit there now, each judged alone, most pods first.
        together: those of them that fit there together: placed one after another, by priority and age.
        rejected: the pending pods that do not, the nearest to fitting first.
        causes: why they do not, the most frequent first.
        not_judged: the pending pods that are not looked at now.
    """

    node: str
    zone: str = ""
    pool: str = ""
    instance_type: str = ""
    labels: dict[str, str] = {}
    taints: list[str] = []
    unschedulable: bool = False
    ready: str = ""
    conditions: list[ReportedCondition] = []
    pods: int = 0
    resources: list[NodeResource] = []
    running: list[RunningPods] = []
    nominated: list[str] = []
    fitting: list[FittingPods] = []
    together: list[str] = []
    rejected: list[RejectedPods] = []
    causes: list[RejectionCause] = []
    not_judged: list[NotJudgedPods] = []


@schema_name("NodeSummary")
class NodeExplainSummary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        nodes: how many nodes were asked about.
        pending: how many pods are pending.
    """

    exit_code: int
    nodes: int
    pending: int


class NodeExplainReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl explain node``."""

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["NodeExplainReport"] = "NodeExplainReport"
    metadata: Metadata
    summary: NodeExplainSummary
    results: list[NodeExplanation]
