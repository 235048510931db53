"""`ExplainReport`: what ``schedctl explain`` says, as data: the machine contract, and all that ``render`` ever reads.

Within ``schedctl.dev/v1alpha1`` fields are only added, and every field is always there (null or empty where it does not
apply). Every sentence is worded by `schedctl.explain`, nothing depends on the clock, and amounts are integers in the
units the scheduler counts in: millicores of cpu, bytes, or whole units.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.bound_pods import BoundPod
from schedctl.reports.metadata import Metadata, Record, ReportedAssumption, schema_name
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.nodes import ScaleUpObstacle
from schedctl.reports.pod_groups import PodGroupResult
from schedctl.reports.reasons import Hint, Reason, Remark


class Verdict(StrEnum):
    """What became of a pod."""

    SCHEDULED = "Scheduled"
    """A node was chosen."""
    UNSCHEDULABLE = "Unschedulable"
    """No node is feasible."""
    GATED = "Gated"
    """The pod does not enter the queue: it has scheduling gates, or another PreEnqueue plugin keeps it out."""
    DELETING = "Deleting"
    """The pod is terminating and is not scheduled."""
    FOREIGN_SCHEDULER = "ForeignScheduler"
    """No profile serves the pod's ``schedulerName``."""
    ERROR = "Error"
    """A plugin failed and kube-scheduler would abandon the cycle."""
    INCONCLUSIVE = "Inconclusive"
    """schedctl cannot tell: a search budget was spent, or kinds could not be listed that decide."""
    REJECTED = "Rejected"
    """The API server would reject the pod, so that the scheduler never sees it; `Explanation.error` is its answer."""
    BOUND = "Bound"
    """The pod has a node, so its scheduling is done."""


class NodeVerdict(StrEnum):
    """What became of one node."""

    FEASIBLE = "Feasible"
    """No filter rejects it."""
    REFUSED = "Refused"
    """A filter rejects it, or PreFilter the pod as a whole."""
    LEFT_OUT = "LeftOut"
    """PreFilter narrowed the search to other nodes."""
    UNSEEN = "Unseen"
    """It was not examined: enough other nodes were found, or the cycle ended before."""


class PodReference(Record, frozen=True):
    """The pod that was asked about.

    Attributes:
        namespace, name, uid: its identity; uid is "" where it has none.
        scheduler_name: the scheduler it asks for.
        priority: its resolved priority.
        node_name: where it runs, "" while it is pending.
        nominated_node_name: the node preemption promised it, "" for none.
    """

    namespace: str
    name: str
    uid: str = ""
    scheduler_name: str = ""
    priority: int = 0
    node_name: str = ""
    nominated_node_name: str = ""


class OwnerPods(Record, frozen=True):
    """How many of the pods that an answer holds for belong to one workload.

    Attributes:
        owner: the outermost controller, e.g. ``Deployment shop/web``; "" for pods that have none.
        pods: how many.
    """

    owner: str
    pods: int


class NodeCounts(Record, frozen=True):
    """How many nodes took part.

    Attributes:
        total: nodes in the cluster.
        judged: nodes that Filter was asked about.
        feasible: nodes nothing refused.
        left_out: nodes that PreFilter left out.
        unseen: nodes that sampling never looked at.
    """

    total: int = 0
    judged: int = 0
    feasible: int = 0
    left_out: int = 0
    unseen: int = 0


class FilterStep(Record, frozen=True):
    """One step of the search for feasible nodes.

    Attributes:
        plugin: the filter, or the plugins by which PreFilter narrowed the search, which is the first step.
        skipped: whether its PreFilter said Skip, so that it refuses nothing.
        refused: how many nodes it was the first to refuse.
        left: how many nodes were left then.
    """

    plugin: str
    skipped: bool = False
    refused: int = 0
    left: int = 0


class DomainPods(Record, frozen=True):
    """How many pods a rule counts in one domain."""

    domain: str
    pods: int


class DomainSpread(Record, frozen=True):
    """The domains that a spread rule of the pod tells apart, and how the pods it counts are spread over them.

    Attributes:
        plugin: whose rule it is.
        topology_key: the label whose values are the domains.
        hard: whether the rule rejects nodes; else it only scores them.
        max_skew: by how much a domain may outnumber the emptiest.
        adds: how many the pod itself would add to its domain: 1 or 0.
        minimum: what the skew is counted from: the fewest pods in a domain, or 0 while there are too few domains.
        number: how many domains there are.
        domains: the fullest first; of many domains the fullest and the emptiest.
    """

    plugin: str
    topology_key: str
    hard: bool
    max_skew: int
    adds: int
    minimum: int
    number: int
    domains: list[DomainPods] = []


class PreFilter(Record, frozen=True):
    """What PreFilter said of the pod as a whole.

    Attributes:
        code: ``Success``, or the code of its refusal.
        plugin: the plugin that rejected it, "" for none.
        reasons: in Kubernetes' words.
        nodes: the nodes the search was narrowed to, null where it was not.
        narrowing_plugins: who narrowed it.
    """

    code: str = "Success"
    plugin: str = ""
    reasons: list[str] = []
    nodes: list[str] | None = None
    narrowing_plugins: list[str] = []


class Victim(Record, frozen=True):
    """A pod that would be evicted.

    Attributes:
        pod: ``namespace/name``.
        priority: its priority.
        start_time: when it started, "" where it has not.
        terminating: whether it is on its way out already.
        budgets: the disruption budgets that count it, as ``namespace/name``.
        breaks_budget: whether its eviction, after that of the more important victims, breaks one.
        elsewhere: the node that one like it would be placed on afterwards, "" for none; null where schedctl cannot
            tell, and for one that is on its way out.
        text: the same in words.
    """

    pod: str
    priority: int
    start_time: str = ""
    terminating: bool = False
    budgets: list[str] = []
    breaks_budget: bool = False
    elsewhere: str | None = None
    text: str = ""


class Candidate(Record, frozen=True):
    """A node on which evictions would make room, with what nodes are compared by: first by the first number, and so on.

    Attributes:
        node: its name.
        violations: how many victims' evictions break a budget; the fewer the better.
        highest_priority: of its victims; the lower the better.
        priority_sum: of its victims; the lower the better, where each counts from -2147483648.
        victims: who would be evicted, the most important first; the fewer the better.
        started: the earliest start of the most important victims, "" where they have not; the later the better.
    """

    node: str
    violations: int
    highest_priority: int
    priority_sum: int
    victims: list[str]
    started: str = ""


class Preemption(Record, frozen=True):
    """What PostFilter achieved.

    Attributes:
        tried: whether any PostFilter plugin ran.
        code, plugin, message: its answer, empty where it was not tried.
        nominated_node: where room would be made, "" for nowhere.
        victims: the pods that would be evicted, as ``namespace/name``.
        potential_nodes: how many nodes were refused for reasons that evictions might remedy.
        tried_nodes: on how many of them evictions were tried.
        enough: with how many candidates the search ends.
        candidates: the nodes where evictions would make room, the best first.
        criterion: what singled the nominated node out, "" where it was the only one or where the name decided.
        ties: the nodes as good as the nominated one, itself included; kube-scheduler takes any of them.
        evictions: more about the victims, the most important first.
        text: why this node, in words; "" where none was found.
    """

    tried: bool = False
    code: str = ""
    plugin: str = ""
    message: str = ""
    nominated_node: str = ""
    victims: list[str] = []
    potential_nodes: int = 0
    tried_nodes: int = 0
    enough: int = 0
    candidates: list[Candidate] = []
    criterion: str = ""
    ties: list[str] = []
    evictions: list[Victim] = []
    text: str = ""


class Outlook(StrEnum):
    """What it would take for a pod to run on this cluster."""

    FITS = "Fits"
    """It fits now."""
    FITS_AFTER_PREEMPTION = "FitsAfterPreemption"
    """It fits once preemption has evicted others."""
    FITS_AFTER_SCALE_UP = "FitsAfterScaleUp"
    """It fits once an autoscaler has added a node."""
    FITS_EMPTY_NODE = "FitsEmptyNode"
    """It would fit on an empty node, but preemption cannot make room for it."""
    FITS_NOWHERE = "FitsNowhere"
    """It would fit on no node of the cluster, even if no pod ran there."""


class ScaleUpGroup(Record, frozen=True):
    """What a new node of a group would change for a pod.

    Attributes:
        group: its name.
        helps: whether the pod would fit there.
        obstacle: what is in the way, null where it would fit.
        text: the same in words.
    """

    group: str
    helps: bool
    obstacle: ScaleUpObstacle | None = None
    text: str = ""


class ScaleUp(Record, frozen=True, kw_only=True):
    """Whether new nodes would help a pending pod.

    Attributes:
        groups: what each group would change, by name.
        group: the group that would be taken: of those that help the one of the highest priority; "" for none.
        new_nodes: how many nodes of it the pod and its companions need.
        companions: how many other pods of its workload wait.
        left: how many of all these would have no place even then.
        text: the same in words.
    """

    groups: list[ScaleUpGroup]
    group: str = ""
    new_nodes: int = 0
    companions: int = 0
    left: int = 0
    text: str = ""


class PluginScore(Record, frozen=True):
    """What one plugin gave one node; ``weighted = normalized * weight``."""

    plugin: str
    raw: int
    normalized: int
    weight: int
    weighted: int


@schema_name("Taking")
class ClaimAllocation(Record, frozen=True):
    """Something a pod takes along on a node: a volume for a claim, the devices for a request.

    Attributes:
        plugin: who finds it.
        claim: the claim it is for, ``namespace/name``; "" where there is none yet.
        request: the request of that claim it is for, "" where claims have none.
        names: what it is: the volume, or the devices as ``driver/pool/device``; empty where it has no name yet.
        made: whether it does not exist yet and is made for the pod.
        text: the same in words.
    """

    plugin: str
    claim: str = ""
    request: str = ""
    names: list[str] = []
    made: bool = False
    text: str = ""


class NodeScore(Record, frozen=True):
    """The score of a feasible node; ``total`` is the sum of the weighted scores."""

    node: str
    total: int
    plugins: list[PluginScore] = []


class ScoreDifference(Record, frozen=True):
    """How two nodes differ in one plugin's weighted score; ``difference = ours - theirs``."""

    plugin: str
    ours: int
    theirs: int
    difference: int


class Comparison(Record, frozen=True):
    """Why one node beats another.

    Attributes:
        node, other: the two nodes.
        difference: total of the first minus that of the second.
        plugins: what the difference is made of, largest contribution first; equal plugins are left out.
        text: the same in words.
    """

    node: str
    other: str
    difference: int
    plugins: list[ScoreDifference] = []
    text: str = ""


class PluginRefusals(Record, frozen=True):
    """Everything that a filter rejects, including what another filter rejected before it.

    Attributes:
        plugin: the filter.
        asked: False where its PreFilter said Skip, so that it refuses nothing.
        refused: how many nodes it refuses.
        reasons: why.
    """

    plugin: str
    asked: bool
    refused: int = 0
    reasons: list[Reason] = []


class Pattern(Record, frozen=True):
    """Nodes that the same filters reject; no filters where the nodes are feasible."""

    refused_by: list[str]
    nodes: list[str]
    zones: dict[str, int] = {}


class Matrix(Record, frozen=True):
    """The verdict of every filter on every node.

    Attributes:
        filters: in the order of the profile.
        patterns: the nodes by who refuses them, fewest refusals first.
    """

    filters: list[PluginRefusals]
    patterns: list[Pattern]


class ResourceUse(Record, frozen=True):
    """One resource of one node, in the scheduler's units; `free` is what is left before the pod comes."""

    resource: str
    allocatable: int
    used: int
    free: int
    requested: int


class NodeDetail(Record, frozen=True):
    """Everything about the pod and one node.

    Attributes:
        name: the node.
        verdict: what became of it.
        labels, taints: of the node; a taint is written ``key=value:effect``.
        unschedulable: whether it is cordoned.
        pods: how many pods stand on it.
        resources: those the pod asks for, and cpu, memory and pods.
        filters: every filter's verdict, in order.
        score: its score, null unless feasible.
        rank: its place among the feasible nodes from 1, 0 unless feasible; equal totals share a place.
        comparison: why the winner beats it, null for the winner itself and for refused nodes.
        takes: what the pod takes along there, empty unless feasible.
    """

    name: str
    verdict: NodeVerdict
    labels: dict[str, str] = {}
    taints: list[str] = []
    unschedulable: bool = False
    pods: int = 0
    resources: list[ResourceUse] = []
    filters: list[PluginRefusals] = []
    score: NodeScore | None = None
    rank: int = 0
    comparison: Comparison | None = None
    takes: list[ClaimAllocation] = []


class CurrentNode(Record, frozen=True):
    """Where a bound pod runs, compared with where it would go now.

    Attributes:
        name: the node.
        exists: whether the cluster still has it.
        feasible: whether it would be allowed there again.
        best: whether it is among the best nodes.
        score: its score now, null unless feasible.
        reasons: why not, where it would be refused.
        comparison: why the chosen node beats it, null where it is as good.
        text: the same in words.
    """

    name: str
    exists: bool
    feasible: bool
    best: bool
    score: NodeScore | None = None
    reasons: list[Reason] = []
    comparison: Comparison | None = None
    text: str = ""


@schema_name("Waking")
class RequeueEvent(Record, frozen=True):
    """An event that requeues a rejected pod.

    Attributes:
        event: what kube-scheduler calls it, e.g. ``AssignedPodDelete``.
        text: the same in words.
        plugins: who of those that refused the pod asks for it.
        hinted: whether each of them looks at the very object first, and lets the pod wait where it could not help.
        counting, asked: of how many pods that could leave, or nodes like which one could be added, how many would bring
            it back; null where that was not tried.
    """

    event: str
    text: str
    plugins: list[str] = []
    hinted: bool = False
    counting: int | None = None
    asked: int | None = None


class Reservation(Record, frozen=True):
    """What Reserve and Permit say of the chosen node, tried and undone.

    Attributes:
        code: ``Success``, ``Wait``, or the code with which the reservation is rejected.
        plugin: the plugin that rejects the reservation, "" for none.
        message: in whose words.
        waits: the plugins that hold the pod back, and for how many seconds at most.
        text: the same in words, "" for success.
    """

    code: str = "Success"
    plugin: str = ""
    message: str = ""
    waits: dict[str, float] = {}
    text: str = ""


class Agreement(StrEnum):
    """Whether the recorded message and this answer are the same."""

    AGREES = "Agrees"
    """Byte for byte."""
    AGREES_AS_FAR = "AgreesAsFar"
    """Up to where the recorded message is cut off."""
    OTHER_WORDS = "OtherWords"
    """In the words of another version."""
    DIFFERS = "Differs"
    """They differ in more than that."""


class LineDifference(Record, frozen=True):
    """One way in which a line of kube-scheduler's differs from ours.

    Attributes:
        kind: in what: ``Nodes``, ``Gained``, ``Lost``, ``Count``, ``Text``, ``Preemption`` or ``Verdict``.
        reason: the reason, in our words; "" for none.
        plugin: the plugin it belongs to, "" if it is not known.
        theirs: how many nodes it stood for then; where no nodes are counted, what was said.
        ours: likewise, now.
        text: the same in words.
    """

    kind: str
    reason: str = ""
    plugin: str = ""
    theirs: int | str = 0
    ours: int | str = 0
    text: str = ""


@schema_name("Recorded")
class RecordedMessage(Record, frozen=True):
    """What a scheduler has said of the pod before, beside this answer.

    Attributes:
        source: ``Condition`` for the pod's own PodScheduled condition, ``Event`` for an event about it.
        message: what was said; an event carries at most 1,024 bytes of it.
        reason: ``FailedScheduling``, or the reason of the condition.
        count: how often; an event that happens again keeps the words of the first time.
        first: when first, "" if it is not known; of a condition without an event of the same words, since when the pod
            has been refused.
        last: when last, "" if it is not known.
        reporter: the component that recorded it, "" if it is not known.
        agreement: whether it is what we say.
        differences: in what it is not.
        circumstances: what has changed since, as far as the cluster shows it.
        text: who said it when, and whether it is what we say.
    """

    source: str
    message: str
    reason: str = ""
    count: int = 1
    first: str = ""
    last: str = ""
    reporter: str = ""
    agreement: Agreement = Agreement.DIFFERS
    differences: list[LineDifference] = []
    circumstances: list[str] = []
    text: str = ""


class Explanation(Record, frozen=True):
    """The answer about one pod, and about all that it holds for as well.

    Attributes:
        pod: the pod; of equal pods the one that was judged.
        verdict: what became of it.
        profile: the profile that was run, "" where none serves the pod.
        message: the line kube-scheduler writes into a FailedScheduling event, byte for byte; "" where it writes none.
        error: the fault the cycle was abandoned with, or what the API server answers, "" for none.
        gates: the scheduling gates that hold the pod.
        nodes: how many nodes took part.
        pre_filter: what PreFilter said.
        chosen: the first by name of the best nodes, "" where no node is feasible.
        ties: all the best nodes, of which kube-scheduler takes any one.
        takes: what the pod takes along on the chosen node: volumes for its claims, devices.
        score: the best total, null where no node is feasible.
        reasons: why the other nodes are rejected, what is nearest to being fixed first, then the most frequent; first
            refusals only, as Kubernetes counts.
        unschedulable_plugins: who refused, where no node is feasible.
        preemption: what PostFilter achieved.
        outlook: what it would take, null where nodes were not judged, or filters guess.
        scores: of every feasible node, best first.
        comparison: why the winner beats the best of the nodes that lost, null with fewer than two.
        matrix: every filter about every node, null unless asked for.
        node: one node in depth, null unless asked for.
        current: for a bound pod, where it runs against where it would go.
        hints: next steps.
        wakings: what brings the pod back into the queue; empty where it is not waiting for anything.
        notes: what a reader must know to read the answer right.
        guesses: what the answer rests on that could not be listed, what decides first; where something does, the
            verdict is Inconclusive, and all that was found out stands here for a cluster without it.
        apparent: what the verdict would be if there were none of it; null unless a guess decides.
        history: what a scheduler has said of the pod before; empty unless asked for.
        reservation: what Reserve and Permit say of the chosen node; null where there is none, no plugin is asked, or
            the answer depends on guesses. If they reject it, the verdict is as if it had never been chosen.
        remarks: what plugins say of the pod beyond their verdicts.
        pods: every pod that the answer holds for as ``namespace/name``, `pod` first.
        owners: whose these pods are, most pods first.
        bound: where a pod with the verdict Bound is, and what the kubelet says of it; null for every other verdict.
        warnings: what plugins find in the spec that does not do what was probably meant, for every verdict.
        pod_group: the PodGroup that it was scheduled with, as ``namespace/name``; "" for a pod that is scheduled alone.
        pod_group_text: what becomes of that group, or of one that a plugin holds together at Permit, in words.
        scale_up: whether new nodes would help; null where the pod has a place, or no autoscaler is known.
        filters: the search for feasible nodes step by step, in the order of the profile; empty where none was made.
        spread: how the pods that the pod is to be spread among are spread now, rule by rule.
    """

    pod: PodReference
    verdict: Verdict
    profile: str = ""
    message: str = ""
    error: str = ""
    gates: list[str] = []
    nodes: NodeCounts = NodeCounts()
    pre_filter: PreFilter = PreFilter()
    chosen: str = ""
    ties: list[str] = []
    takes: list[ClaimAllocation] = []
    score: int | None = None
    reasons: list[Reason] = []
    unschedulable_plugins: list[str] = []
    preemption: Preemption = Preemption()
    outlook: Outlook | None = None
    scores: list[NodeScore] = []
    comparison: Comparison | None = None
    matrix: Matrix | None = None
    node: NodeDetail | None = None
    current: CurrentNode | None = None
    hints: list[Hint] = []
    wakings: list[RequeueEvent] = []
    notes: list[str] = []
    guesses: list[ReportedAssumption] = []
    apparent: Verdict | None = None
    history: list[RecordedMessage] = []
    reservation: Reservation | None = None
    remarks: list[Remark] = []
    pods: list[str] = []
    owners: list[OwnerPods] = []
    bound: BoundPod | None = None
    warnings: list[Remark] = []
    pod_group: str = ""
    pod_group_text: str = ""
    scale_up: ScaleUp | None = None
    filters: list[FilterStep] = []
    spread: list[DomainSpread] = []


@schema_name("Summary")
class ExplainSummary(Record, frozen=True):
    """The answer in numbers: pods by verdict, and the exit code of the command.

    Attributes:
        bound_not_running: with ``--all-pending``, the pods that have a node and do not run there; they are counted
            here only, and are not among `pods`.
    """

    exit_code: int
    pods: int
    scheduled: int = 0
    unschedulable: int = 0
    gated: int = 0
    deleting: int = 0
    foreign_scheduler: int = 0
    error: int = 0
    inconclusive: int = 0
    bound: int = 0
    rejected: int = 0
    bound_not_running: int = 0


class ExplainReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl explain``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        results: each distinct answer.
        groups: the pod groups that were asked about, and those of pods that were (GenericWorkload).
        node_map: the nodes that pictures show; null unless the output has pictures (``html``, ``wide``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["ExplainReport"] = "ExplainReport"
    metadata: Metadata
    summary: ExplainSummary
    results: list[Explanation]
    groups: list[PodGroupResult] = []
    node_map: NodeMap | None = None
