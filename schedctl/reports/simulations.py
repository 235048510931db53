"""`SimulationReport`: what ``schedctl simulate`` says, as data: the machine contract, and all that ``render`` reads.

Within ``schedctl.dev/v1alpha1`` fields are only added, and every field is always there; times are seconds on the clock
of the run, amounts in the scheduler's units. `schedctl.simulation.report_builder` fills it in, but for why pods are
pending (``PendingPods.reasons``), which `schedctl.explain.pending_pods` finds out.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from schedctl.reports.draws import Draws
from schedctl.reports.explanations import OwnerPods
from schedctl.reports.metadata import AssumedVolumes, Metadata, Record, ReportedAssumption, schema_name
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.pod_groups import PodGroupResult
from schedctl.reports.reasons import Hint, Reason, Remark


class Fate(StrEnum):
    """What became of a pod."""

    PLACED = "Placed"
    """It is bound to a node."""
    UNSCHEDULABLE = "Unschedulable"
    """No node is feasible."""
    NOMINATED = "Nominated"
    """A node is promised to it, and it is not there yet."""
    GATED = "Gated"
    """It does not enter the queue: it has scheduling gates, or another PreEnqueue plugin keeps it out."""
    WAITING = "Waiting"
    """It has a node, and Permit holds it back."""
    QUEUED = "Queued"
    """The run ended before it could be tried, or tried again."""
    FAILED = "Failed"
    """Its last attempt ended in a fault."""
    EVICTED = "Evicted"
    """It was on a node and was evicted, and no controller recreates it."""
    ORPHANED = "Orphaned"
    """Its ``spec.nodeName`` names no node: nothing schedules or runs it, and the pod garbage collector deletes it."""
    FOREIGN_SCHEDULER = "ForeignScheduler"
    """No profile serves its ``schedulerName``."""
    INCONCLUSIVE = "Inconclusive"
    """It needs something that is not modelled."""
    REJECTED = "Rejected"
    """The API server refused it."""
    NOT_CREATED = "NotCreated"
    """Its controller waits for other pods of the workload, and has not created it."""


class EndReason(StrEnum):
    """Why a run ended."""

    SETTLED = "Settled"
    """No pod waits for a node any more: each is bound, gone, or was rejected."""
    STUCK = "Stuck"
    """Nothing that is going to happen could move a pending pod."""
    PATIENCE = "Patience"
    """Nothing lasting happened for as long as the run was to be patient."""
    REPEATING = "Repeating"
    """It came back to where it was, and would have gone on so for as long as the run was to be patient."""
    HORIZON = "Horizon"
    """The run was not to go on for longer."""
    INTERRUPTED = "Interrupted"
    """It was interrupted."""


@schema_name("Summary")
class SimulationSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        workloads: how many there are.
        pods: how many pods they want.
        placed: of them, how many are on a node.
        pending: how many need a node and have none, for any reason.
        rejected: how many the API server refused, objects other than pods included.
        not_created: how many their controllers have not created yet.
        inconclusive: how many need something that is not modelled.
        foreign_scheduler: how many ask for a scheduler that no profile is.
        orphaned: how many name a node in ``spec.nodeName`` that does not exist.
        preempted: how many running pods were evicted to make room for others.
        not_returned: of them, how many have a successor that is on no node.
        mistakes: how many things are wrong with objects of the manifests, which take no part.
        groups: how many pod groups there are of the manifests and of their pods.
        groups_waiting: of them, how many do not start.
    """

    exit_code: int
    workloads: int
    pods: int
    placed: int
    pending: int = 0
    rejected: int = 0
    not_created: int = 0
    inconclusive: int = 0
    foreign_scheduler: int = 0
    orphaned: int = 0
    preempted: int = 0
    not_returned: int = 0
    mistakes: int = 0
    groups: int = 0
    groups_waiting: int = 0


@schema_name("Change")
class ReportedChange(Record, frozen=True, kw_only=True):
    """How a workload differs from what is in the cluster.

    Attributes:
        what: ``new``, ``unchanged``, ``scaled`` or ``template``.
        text: in words.
        path: of a changed field of the template.
        before, after: its value as it was and as it will be, null where it is not set.
    """

    what: Literal["new", "unchanged", "scaled", "template"]
    text: str
    path: str = ""
    before: Any = None
    after: Any = None


@schema_name("Effect")
class AdmissionEffect(Record, frozen=True, kw_only=True):
    """Something that admission changed.

    Attributes:
        plugin: the admission plugin, by kube-apiserver's name.
        text: what, e.g. ``priority 1000 of PriorityClass standard``.
        objects: how many pods and claims of the workload it changed.
    """

    plugin: str
    text: str
    objects: int


class PendingPods(Record, frozen=True, kw_only=True):
    """Pods that are pending for the same reason; of a simulation, of one workload.

    Attributes:
        fate: what became of them.
        message: the line of their last FailedScheduling event, the text of the gate, or the fault.
        plugins: who refused or gates them.
        pods: their names.
        node: where a node is promised to them or Permit holds them, it.
        example: the one of them that was asked about and stands for all, "" where none was.
        reasons: why no node is feasible for that pod, judged against the final state, the nearest to a fix first.
        hints: next steps for it.
        notes: what a reader must know to read the answer right.
        remarks: what plugins say of it beyond their verdicts.
        owners: how many of them belong to which workload, that with most first.
    """

    fate: Fate
    message: str
    plugins: list[str]
    pods: list[str]
    node: str = ""
    example: str = ""
    reasons: list[Reason] = []
    hints: list[Hint] = []
    notes: list[str] = []
    remarks: list[Remark] = []
    owners: list[OwnerPods] = []


class RejectedPods(Record, frozen=True, kw_only=True):
    """Pods of one workload that the API server refused in the same way.

    Attributes:
        plugin: the admission plugin, or ``AlreadyExists``.
        message: the API server's words about the first of them.
        pods: their names.
    """

    plugin: str
    message: str
    pods: list[str]


@schema_name("PodFate")
class WorkloadPod(Record, frozen=True, kw_only=True):
    """One pod of a workload.

    Attributes:
        name: its name; that of its replacement, if it was evicted and recreated.
        fate: what became of it.
        node: where it is, or is promised to be.
        attempts: how often it was tried.
        ties: how many nodes were equally good, its own included.
        settled: when it reached this fate.
        evicted: the pod of the workload that was evicted before it, "" for none.
    """

    name: str
    fate: Fate
    node: str = ""
    attempts: int = 0
    ties: int = 0
    settled: float = 0.0
    evicted: str = ""


class NodePods(Record, frozen=True, kw_only=True):
    """How many pods of a workload are on a node.

    Attributes:
        name: the node.
        zone: its zone, "" for none.
        pods: how many.
    """

    name: str
    zone: str
    pods: int


class WorkloadResult(Record, frozen=True, kw_only=True):
    """What became of one workload.

    Attributes:
        api_version, kind, namespace, name: which.
        source: where it begins, e.g. ``deploy/web.yaml:12``.
        origin: the Helm template it was rendered from, "" when unknown.
        changes: how it differs from what was in the cluster.
        effects: what admission changed in its pods and claims.
        notes: what should be known about the number or form of its pods.
        wanted: how many pods it is to have.
        placed: how many of them are on a node, new ones and old ones that stay.
        kept: how many of them are old ones that stay.
        removed: how many old pods went.
        left: how many old pods were to go and are still there, because the rollout did not come that far.
        zones: how many of its pods are in which zone, "" for nodes in none; those that stay included.
        nodes: likewise, on which node, by zone and name.
        zone_skew: by how much the zone with most of its pods outnumbers the one with fewest, over all zones of the
            cluster; null for a workload with a pod for each node, and where there are not two zones.
        pending: its pending pods, by reason.
        rejected: its pods that the API server refused.
        not_created: the names of those its controller has not created, because it waits for others.
        pods: each of the new pods.
        warnings: what plugins find in the spec of its pods that does not do what was probably meant.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    source: str = ""
    origin: str = ""
    changes: list[ReportedChange] = []
    effects: list[AdmissionEffect] = []
    notes: list[str] = []
    wanted: int
    placed: int
    kept: int = 0
    removed: int = 0
    left: int = 0
    zones: dict[str, int] = {}
    nodes: list[NodePods] = []
    zone_skew: int | None = None
    pending: list[PendingPods] = []
    rejected: list[RejectedPods] = []
    not_created: list[str] = []
    pods: list[WorkloadPod] = []
    warnings: list[Remark] = []

    @property
    def subject(self) -> str:
        """How messages name it, e.g. ``Deployment shop/web``."""
        return f"{self.kind} {self.namespace}/{self.name}"


class Preempted(Record, frozen=True, kw_only=True):
    """A running pod that was evicted to make room for another.

    Attributes:
        pod: who, as ``namespace/name``.
        priority: its priority.
        node: where it ran.
        by: the pod it made room for.
        at: when its eviction begins.
        successor: its replacement, "" if it has no controller.
        fate: what became of that; null where there is none.
        successor_node: the node of the successor, "" where it has none.
        message: why the successor is pending, or was rejected.
    """

    pod: str
    priority: int
    node: str
    by: str
    at: float
    successor: str = ""
    fate: Fate | None = None
    successor_node: str = ""
    message: str = ""


class OtherPod(Record, frozen=True, kw_only=True):
    """A pod of the cluster that was pending before.

    Attributes:
        pod: which, as ``namespace/name``.
        fate: what became of it.
        node: where it is now.
        message: why it is pending.
    """

    pod: str
    fate: Fate
    node: str = ""
    message: str = ""


class Use(Record, frozen=True, kw_only=True):
    """How full a group of nodes is of one resource, before and after.

    Attributes:
        resource: its name.
        allocatable_before, allocatable: what the nodes offered before, and offer after.
        before, after: what pods had taken before, and have after.
    """

    resource: str
    allocatable_before: int
    allocatable: int
    before: int
    after: int


class GroupUse(Record, frozen=True, kw_only=True):
    """One group of nodes.

    Attributes:
        name: its name, "" for nodes in none.
        nodes: how many there are.
        uses: by resource.
    """

    name: str
    nodes: int
    uses: list[Use]


class Utilisation(Record, frozen=True, kw_only=True):
    """How full the cluster is.

    Attributes:
        label: what puts nodes into groups, "" where all are in one.
        groups: by name.
    """

    label: str
    groups: list[GroupUse]


class Evenness(Record, frozen=True, kw_only=True):
    """How differently full the nodes are, in percent of what each offers.

    Attributes:
        mean: of the nodes.
        deviation: the standard deviation.
        lowest, highest: of the nodes.
    """

    mean: float
    deviation: float
    lowest: float
    highest: float


class Balance(Record, frozen=True, kw_only=True):
    """How evenly the nodes are used.

    Attributes:
        resource: of what.
        before, after: before and after the run.
    """

    resource: str
    before: Evenness
    after: Evenness


class Ending(Record, frozen=True, kw_only=True):
    """How the run ended.

    Attributes:
        reason: which of the ways to end it was.
        text: the same in words.
        period: after how many seconds a run that is ``Repeating`` comes back to where it was, null for others.
        clock: seconds that went by on its clock.
        attempts: how many attempts were made.
    """

    reason: EndReason
    text: str
    period: float | None = None
    clock: float
    attempts: int


class RunStep(Record, frozen=True, kw_only=True):
    """What happened at one moment on the clock of a run.

    Attributes:
        at: seconds since the run began.
        attempts: scheduling attempts, however they ended.
        chosen: of them, how many found a node.
        refused: how many found none.
        failed: how many ended in a fault.
        waiting: pods that Permit holds back from then on.
        bound: pods that were bound.
        evicted: running pods whose eviction began.
        gone: pods that left the cluster.
        queued: pods in the queue afterwards, wherever in it: ready, in backoff, or unschedulable.
    """

    at: float
    attempts: int = 0
    chosen: int = 0
    refused: int = 0
    failed: int = 0
    waiting: int = 0
    bound: int = 0
    evicted: int = 0
    gone: int = 0
    queued: int = 0


class Mistake(Record, frozen=True, kw_only=True):
    """Something wrong with an object of the manifests, which takes no part.

    Attributes:
        subject: which object, e.g. ``Deployment shop/web``; "" where not even that can be said.
        source, line, column: where.
        path: the field.
        message: what is wrong.
        hint: a next step, or "".
    """

    subject: str
    source: str
    line: int
    column: int
    path: str
    message: str
    hint: str = ""


class UnmodelledResource(Record, frozen=True):
    """A custom resource whose pods are not known.

    Attributes:
        subject: kind, namespace and name.
        source: the file and line where it begins.
        reason: why it may change the answer.
    """

    subject: str
    source: str
    reason: str


class SimulationReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl simulate``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        results: each workload, in the order given.
        preemptions: who had to make room, in order.
        others: pods of the cluster that were pending before and took part.
        utilisation: how full the cluster was and is.
        balance: how evenly.
        ending: how the run ended.
        rejected: objects other than pods that the API server refused, in its words.
        mistakes: what is wrong with objects of the manifests, as the API server would see it at first sight.
        passed: how many objects of other kinds there were, which scheduling does not read, by ``apiVersion kind``.
        unmodelled: the custom resources of which an operator may make pods that are not part of the run.
        guesses: what could not be listed although some answer of the run depends on it. With any of these nothing is
            proven: fates and places are those of a cluster without these objects.
        assumed_volumes: the volumes that were provisioned in the run before a pod was placed, by class.
        draws: the same with other choices among equally good nodes, null where that was not asked.
        groups: the pod groups of the manifests, and those of which pods took part (GenericWorkload).
        node_map: the nodes that pictures show; null unless the output has pictures (``html``).
        timeline: what happened when, in the order of the clock; null unless the output has pictures.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["SimulationReport"] = "SimulationReport"
    metadata: Metadata
    summary: SimulationSummary
    results: list[WorkloadResult]
    preemptions: list[Preempted]
    others: list[OtherPod]
    utilisation: Utilisation
    balance: list[Balance]
    ending: Ending
    rejected: list[str] = []
    mistakes: list[Mistake] = []
    passed: dict[str, int] = {}
    unmodelled: list[UnmodelledResource] = []
    guesses: list[ReportedAssumption] = []
    assumed_volumes: list[AssumedVolumes] = []
    draws: Draws | None = None
    groups: list[PodGroupResult] = []
    node_map: NodeMap | None = None
    timeline: list[RunStep] | None = None
