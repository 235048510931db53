"""`NodesReport`: what ``schedctl nodes`` says, as data: nodes to add by group, or nodes that can go."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.metadata import Metadata, Record, ReportedAssumption, schema_name
from schedctl.reports.node_maps import NodeMap


class NodesQuestion(StrEnum):
    """What was asked."""

    ADD = "Add"
    """How many nodes of which group place the pods."""
    SHRINK = "Shrink"
    """Which nodes can go."""


class BoundProof(StrEnum):
    """What proves that no answer is better than the bound."""

    SEARCH = "Search"
    """Every better one was tried."""
    SOLVER = "Solver"
    """The solver HiGHS, about sums of resources and the limits of groups."""
    RESOURCES = "Resources"
    """Sums of resources alone."""
    RULES = "Rules"
    """What may be removed at all."""
    NOTHING = "Nothing"
    """Nothing was proved, since nothing had to be, or the search was interrupted."""


class ScaleUpObstacle(StrEnum):
    """What keeps a pod off a new node of a group."""

    LIMIT = "LimitReached"
    SIZE = "LargerThanNode"
    TAINT = "Taint"
    LABELS = "Labels"
    VOLUME = "Volume"
    OTHER_PODS = "OtherPods"
    NO_TEMPLATE = "NoTemplate"
    OTHER = "Other"


class Keeper(StrEnum):
    """What keeps a node."""

    CONTROL_PLANE = "ControlPlane"
    ANNOTATION = "Annotation"
    GROUP_SIZE = "GroupSize"
    DISRUPTION = "Disruption"
    LOCAL_STORAGE = "LocalStorage"
    UNMANAGED = "Unmanaged"
    BUDGET = "DisruptionBudget"
    NO_ROOM = "NoRoom"
    PREEMPTION = "Preemption"
    INTERRUPTED = "Interrupted"


@schema_name("Summary")
class NodesSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        text: the answer in one line.
        nodes: how many nodes there are.
        added: how many are to be added.
        removed: how many can go.
        pods: of a plan the pods that wait for a node, of a shrink those that would move.
        fitting: how many of them would fit without a new node.
        placed: how many would have a node in the end.
        pending: how many would not.
        preempting: of a plan, how many would preempt others rather than wait for a new node.
        waiting: of a shrink, how many pods are pending already; they are not considered, and take no room.
        cost_per_hour: what is added, or saved, per hour; null where a price is not known.
        bound: of a plan, no plan adds fewer nodes (costs less, with ``--minimize cost``); of a shrink, no more can go.
        bound_by: what proves that.
        gap: by which part of the bound the answer may be worse than the best one; 0 where it is proved to be the best.
        tried: how many plans, or removals, were tried by kube-scheduler's cycle.
        interrupted: whether the user ended the search, so that this is the best so far.
    """

    exit_code: int
    text: str
    nodes: int
    added: int = 0
    removed: int = 0
    pods: int = 0
    fitting: int = 0
    placed: int = 0
    pending: int = 0
    preempting: int = 0
    waiting: int = 0
    cost_per_hour: float | None = None
    bound: float = 0.0
    bound_by: BoundProof = BoundProof.NOTHING
    gap: float = 0.0
    tried: int = 0
    interrupted: bool = False


class TemplatePart(Record, frozen=True):
    """Where a part of a template is from.

    Attributes:
        part: e.g. ``taints``.
        origin: in words.
    """

    part: str
    origin: str


class NewNodes(Record, frozen=True, kw_only=True):
    """New nodes of one sort.

    Attributes:
        zone: their zone, "" for none.
        instance_type: their instance type, "" where nothing says.
        spot: whether they are spot capacity.
        count: how many.
        pods: how many of the pods they would take, those of DaemonSets not among them.
        price_per_hour: what one costs, null where that is not known.
        requests: how much of a new node is requested in the end, in percent on average, by resource.
        nodes: their names in this report.
    """

    zone: str
    instance_type: str
    spot: bool
    count: int
    pods: int
    price_per_hour: float | None
    requests: dict[str, float]
    nodes: list[str]


class GroupResult(Record, frozen=True, kw_only=True):
    """A group of nodes.

    Attributes:
        name: its name.
        origin: what it was found by.
        autoscaler: who makes its nodes: ``Karpenter``, ``ClusterAutoscaler`` or ``Unknown``.
        nodes: how many it has.
        count: how many are to be added.
        remove: how many can go.
        min_size: how many it has at least.
        max_size: how many it has at most, null for no limit.
        limits: the most that its nodes have together, by resource.
        new: the new nodes by sort.
        template: where what is known of a new node is from.
        labels, taints, startup_taints: of a new node; a taint is written ``key=value:effect``, and those of the start
            are gone when it is ready.
        allocatable: what pods can have of a new node, DaemonSets' share included, as it is written.
        notes: what the answer does not consider.
    """

    name: str
    origin: str
    autoscaler: str
    nodes: int
    count: int
    remove: int = 0
    min_size: int = 0
    max_size: int | None = None
    limits: dict[str, int] = {}
    new: list[NewNodes] = []
    template: list[TemplatePart] = []
    labels: dict[str, str] = {}
    taints: list[str] = []
    startup_taints: list[str] = []
    allocatable: dict[str, str] = {}
    notes: list[str] = []


class GroupRefusal(Record, frozen=True):
    """Why a new node of a group would not take a pod.

    Attributes:
        group: its name.
        obstacle: what is in the way.
        text: the same in words.
    """

    group: str
    obstacle: ScaleUpObstacle
    text: str


@schema_name("PendingPods")
class UnplacedPods(Record, frozen=True):
    """Pods that no number of new nodes helps.

    Attributes:
        owner: their workload, their pod group if it would not start, or the pod itself.
        pods: their keys.
        groups: why, group by group.
    """

    owner: str
    pods: list[str]
    groups: list[GroupRefusal]


class PlacedPod(Record, frozen=True):
    """Where a pod would go.

    Attributes:
        pod: its key.
        node: the node.
        new: whether that is a new one.
    """

    pod: str
    node: str
    new: bool = False


class PlanProposal(Record, frozen=True):
    """A plan that was tried.

    Attributes:
        by: who proposed it: an expander, ``solver`` or ``search``.
        groups: how many nodes of each group.
        cost: what it adds to what is minimized.
        complete: whether every pod has a node with it.
    """

    by: str
    groups: dict[str, int]
    cost: float
    complete: bool


class RemovedNode(Record, frozen=True, kw_only=True):
    """A node that can go, in the order in which it would be drained.

    Attributes:
        name: its name.
        group: its group, "" for none.
        moved: where its pods would go.
        lost: the pods that no controller recreates.
        frees: what pods can have of it, by resource.
        price_per_hour: what it costs, null where that is not known.
    """

    name: str
    group: str = ""
    moved: list[PlacedPod] = []
    lost: list[str] = []
    frees: dict[str, int] = {}
    price_per_hour: float | None = None


class KeptNode(Record, frozen=True, kw_only=True):
    """A node that stays.

    Attributes:
        name: its name.
        group: its group, "" for none.
        keeper: what keeps it.
        text: the same in words.
        pods: the pods that it is about.
        message: the FailedScheduling line of a pod that would find no other node, "" where it is something else.
    """

    name: str
    group: str = ""
    keeper: Keeper
    text: str
    pods: list[str] = []
    message: str = ""


class LaunchedNode(Record, frozen=True, kw_only=True):
    """A node that Karpenter would launch.

    Attributes:
        name: its name in this report.
        group: its NodePool.
        pods: those that Karpenter expects on it.
        instance_types: those that the cloud may choose from, the cheapest first.
        requirements: what else the cloud is asked for, in words.
        instance_type, zone, spot: what the cloud is taken to launch: the cheapest.
        price_per_hour: what that costs, null where it is not known.
    """

    name: str
    group: str
    pods: list[str]
    instance_types: list[str]
    requirements: list[str]
    instance_type: str = ""
    zone: str = ""
    spot: bool = False
    price_per_hour: float | None = None


class KarpenterStep(Record, frozen=True, kw_only=True):
    """What Karpenter makes of a pod when it is its turn.

    Attributes:
        pod: its key.
        node: the node that Karpenter expects it on, "" for none.
        launches: whether that node is launched for it.
        relaxed: the preferences that are given up for it, in order.
        instance_types: how many instance types a new node may still be.
        refusals: why no NodePool launches a node, by name of the pool.
    """

    pod: str
    node: str = ""
    launches: bool = False
    relaxed: list[str] = []
    instance_types: int = 0
    refusals: dict[str, str] = {}


class KarpenterCommand(Record, frozen=True, kw_only=True):
    """What Karpenter would do to consolidate.

    Attributes:
        method: ``Emptiness``, ``MultiNode`` or ``SingleNode``.
        nodes: those that go.
        replacement: the node that is launched instead, null for none.
        moved: where Karpenter expects the pods.
        saved_per_hour: what that saves, null where a price is not known.
    """

    method: str
    nodes: list[str]
    replacement: LaunchedNode | None = None
    moved: list[PlacedPod] = []
    saved_per_hour: float | None = None


class KarpenterAnswer(Record, frozen=True, kw_only=True):
    """What Karpenter would do, by its own rules and not by kube-scheduler's.

    Attributes:
        text: the answer in one line.
        launched: the nodes that it would launch.
        existing: the pods that it expects on nodes that are there.
        pending: the last step of each pod that it does nothing for.
        steps: what it makes of each pod, in order.
        commands: what it does to consolidate, in order.
        kept: the nodes that stay, by name.
        removed: how many nodes there are less when all commands are carried out.
        cost_per_hour: what is launched, or saved, per hour; null where a price is not known.
        pods: how many pods a run of kube-scheduler places again to verify it.
        placed: how many of them find a node.
        unplaced: the others.
    """

    text: str
    launched: list[LaunchedNode] = []
    existing: list[PlacedPod] = []
    pending: list[KarpenterStep] = []
    steps: list[KarpenterStep] = []
    commands: list[KarpenterCommand] = []
    kept: list[KeptNode] = []
    removed: int = 0
    cost_per_hour: float | None = None
    pods: int = 0
    placed: int = 0
    unplaced: list[str] = []


class NodesReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl nodes``.

    Attributes:
        metadata: under which conditions it was made.
        question: what was asked.
        minimize: of a plan, what is little: ``count`` or ``cost``.
        expander: of a plan, whose choice it is; "" for the best that was found.
        summary: the answer in numbers.
        groups: the groups of nodes, by name.
        nodes: the nodes that can go, in the order in which they would be drained.
        kept: the nodes that stay, by name.
        placements: where the pods of a plan would go, in the order of the queue.
        pending: the pods that no number of new nodes helps.
        unpriced: the groups that were passed over for the cheapest plan, as the price of nodes of them is not known.
        search: the plans that were tried, in order.
        preempted: the pods that would be preempted, where that is allowed.
        karpenter: what Karpenter would do (``--as-autoscaler karpenter``), null where that was not asked.
        notes: what the answer does not consider.
        guesses: what it rests on that could not be listed.
        node_map: the nodes that pictures show, new ones and those that can go among them; null unless the output has
            pictures (``html``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["NodesReport"] = "NodesReport"
    metadata: Metadata
    question: NodesQuestion
    minimize: Literal["", "count", "cost"] = ""
    expander: str = ""
    summary: NodesSummary
    groups: list[GroupResult] = []
    nodes: list[RemovedNode] = []
    kept: list[KeptNode] = []
    placements: list[PlacedPod] = []
    pending: list[UnplacedPods] = []
    unpriced: list[str] = []
    search: list[PlanProposal] = []
    preempted: list[str] = []
    karpenter: KarpenterAnswer | None = None
    notes: list[str] = []
    guesses: list[ReportedAssumption] = []
    node_map: NodeMap | None = None
