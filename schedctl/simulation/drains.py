"""Drains: what ``kubectl drain`` would do to nodes, and what would become of their pods.

All nodes are cordoned first, then emptied one after another. kubectl would wait for good for a pod whose budget never
lets it go; here the next node has its turn when nothing can move any more, as with ``--timeout``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import msgspec
from typing_extensions import override

from schedctl.api.pods import Pod
from schedctl.api.selectors import EVERYTHING, LabelQuery
from schedctl.api.workloads import DaemonSet
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.reports.drains import DrainFate
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.outcomes import Eviction, PodOutcome, PodState, RunEnd
from schedctl.simulation.pod_state import remaining_grace_period
from schedctl.simulation.replacement import ReplacementController, controller_of
from schedctl.simulation.runs import Options, Progress, run
from schedctl.simulation.what_ifs import is_mirror, pods_on
from schedctl.workloads.disruption_budgets import Budgets, RefusedEviction

RETRY = 5.0
"""Seconds after which kubectl asks again for an eviction that a budget did not allow."""
DAEMON_SET = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "Pods that declare no controller (use --force to override)"
"""Why kubectl refuses to drain a node, in its words, behind ``cannot delete``."""


class DrainFlags(msgspec.Struct, frozen=True):
    """The flags of ``kubectl drain``.

    Attributes:
        ignore_daemonsets: leave pods of DaemonSets where they are.
        delete_emptydir_data: evict pods with emptyDir volumes, whose contents are lost.
        force: evict pods that nobody controls, which do not come back.
        disable_eviction: delete pods instead, whatever their budgets say.
        pod_selector: evict these pods only.
        grace_period: seconds that each pod has, None for its own.
    """

    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False
    force: bool = False
    disable_eviction: bool = False
    pod_selector: LabelQuery = EVERYTHING
    grace_period: float | None = None


class Plan(Enum):
    """What kubectl means to do with a pod."""

    EVICT = "evict"
    IGNORE = "leave to its DaemonSet"
    SKIP = "leave to its kubelet"
    REFUSE = "refuse the node"


class DrainedPod(msgspec.Struct):
    """A pod of a node that is drained.

    Attributes:
        info: the pod as it ran.
        node: where.
        fate: what became of it.
        successor: the key of the pod in its place, "" for none.
        outcome: what became of that in the run, None where it took no part in one.
        successor_node: the node that one is on, "" for none.
        blocked: why the API server does not let it go.
        refusal: why kubectl refuses the node because of it.
        at: seconds after the drain of its node began when it was told to go.
        until: when it was gone.
        budgets: the budgets that select it, by key.
    """

    info: PodInfo
    node: str
    fate: DrainFate = DrainFate.KEPT
    successor: str = ""
    outcome: PodOutcome | None = None
    successor_node: str = ""
    blocked: RefusedEviction | None = None
    refusal: str = ""
    at: float = 0.0
    until: float = 0.0
    budgets: list[str] = msgspec.field(default_factory=list)


class DrainedNode(msgspec.Struct):
    """A node that is drained.

    Attributes:
        name: its name.
        pods: its pods, by name.
        refusals: why kubectl refuses it, in its words, one line for each reason; empty where it does not.
        clock: seconds until nothing could move any more.
    """

    name: str
    pods: list[DrainedPod] = msgspec.field(default_factory=list)
    refusals: list[str] = msgspec.field(default_factory=list)
    clock: float = 0.0


class Displacement(msgspec.Struct):
    """A pod of another node that had to make room for one that was evicted.

    Attributes:
        eviction: who, where and for whom.
        successor: the key of the pod in its place, "" for none.
        successor_node: the node that one is on, "" for none.
    """

    eviction: Eviction
    successor: str = ""
    successor_node: str = ""


class DrainFacts(msgspec.Struct):
    """The facts of a drain.

    Attributes:
        nodes: in the order given.
        displaced: who else had to go, in order.
        arrived: pods that were pending before and found room meanwhile, with their node.
        allowed: how many evictions each budget concerned allowed at first, by key.
        budgets: the books as they stand at the end.
        interrupted: whether it was ended by the user.
    """

    nodes: list[DrainedNode]
    displaced: list[Displacement]
    arrived: dict[str, str]
    allowed: dict[str, int]
    budgets: Budgets
    interrupted: bool = False


def drain(
    scheduler: Scheduler,
    names: Sequence[str],
    flags: DrainFlags | None = None,
    *,
    budgets: Budgets | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> DrainFacts:
    """Drain nodes and return what became of their pods. The cluster is changed: wrap it in ``scheduler.fork()``.

    Pods that were pending before take part, as they would.

    Args:
        scheduler: whose cluster and profiles are used.
        names: the nodes, in the order in which they are drained; all are in the cluster.
        flags: those of kubectl.
        budgets: the books from before the cluster was changed otherwise, None to begin them now.
        options: how the runs are run.
        progress: is told how far they have come.
    """
    flags, cluster = flags or DrainFlags(), scheduler.cluster
    options = options or Options(trace=False)
    budgets = budgets or Budgets.of(cluster)
    budgets.recount(cluster)
    allowed = {key: book.disruptions_allowed for key, book in budgets.books.items()}
    pending = {key for key, info in cluster.pending.items() if scheduler.profile_of(info)}
    for name in names:
        node_edits.edit_node(cluster, name, node_edits.cordon)
    controller = _Controllers(scheduler, budgets, flags)
    nodes: list[DrainedNode] = []
    evictions: dict[str, Eviction] = {}
    outcomes: dict[str, PodOutcome] = {}
    interrupted = False
    for name in names:
        node = DrainedNode(
            name, [_assess(info, name, cluster, flags, budgets) for info in _pods_to_drain(cluster, name, flags)]
        )
        nodes.append(node)
        node.refusals = _refusals(node.pods)
        leaving = [pod.info for pod in node.pods if pod.fate is DrainFate.MOVED]
        if interrupted or node.refusals or not node.pods:
            continue
        facts = run(
            scheduler, options=options, events=controller.begin(leaving), controller=controller, progress=progress
        )
        interrupted = facts.end is RunEnd.INTERRUPTED
        node.clock = facts.clock
        evictions |= {eviction.pod.key: eviction for eviction in facts.evictions}
        outcomes |= facts.pods
        # `begin` of the next node forgets who is blocked, so it is noted now
        for pod in node.pods:
            blocked = controller.blocked.get(pod.info.key)
            if blocked is not None:
                pod.fate, pod.blocked = DrainFate.BLOCKED, blocked
    # successors may still move while later nodes are drained, so that all are looked for at the end
    for node in nodes:
        for pod in node.pods:
            _conclude(pod, node, controller, evictions, outcomes, cluster)
    drained = {pod.info.key for node in nodes for pod in node.pods}
    displaced = [
        Displacement(each, replacement := controller.latest_successor(key), _node_of(cluster, replacement))
        for key, each in evictions.items()
        if each.by and key not in drained
    ]
    arrived = {key: node_name for key in sorted(pending) if (node_name := _node_of(cluster, key))}
    return DrainFacts(nodes, displaced, arrived, allowed, budgets, interrupted)


def plan_for(pod: Pod, cluster: Cluster, flags: DrainFlags) -> tuple[Plan, str]:
    """Return what kubectl means to do with a pod of a node, and why it refuses the node if it does.

    It looks at DaemonSets first, then at static pods, local storage and controllers. A DaemonSet that is not in the
    cluster is taken to be there if none is, for then nobody has listed them.
    """
    owner = controller_of(pod)
    if owner is not None and owner.kind == "DaemonSet":
        daemon_sets = cluster.every(DaemonSet)
        if daemon_sets and f"{pod.metadata.namespace}/{owner.name}" not in daemon_sets:
            if not flags.force:
                return Plan.REFUSE, f'daemonsets.apps "{owner.name}" not found'
        elif not flags.ignore_daemonsets:
            return Plan.REFUSE, DAEMON_SET
        else:
            return Plan.IGNORE, ""
    if is_mirror(pod):
        return Plan.SKIP, ""
    if any(volume.empty_dir is not None for volume in pod.spec.volumes or ()) and not flags.delete_emptydir_data:
        return Plan.REFUSE, LOCAL_STORAGE
    controlled = any(reference.controller for reference in pod.metadata.owner_references or ())
    if not controlled and not flags.force:
        return Plan.REFUSE, UNMANAGED
    return Plan.EVICT, ""


class _Controllers(ReplacementController):
    """kubectl and the controllers of the cluster while nodes are drained.

    Attributes:
        blocked: by key, why pods may not go as things stand.
    """

    def __init__(self, scheduler: Scheduler, budgets: Budgets, flags: DrainFlags) -> None:
        super().__init__(scheduler)
        self.blocked: dict[str, RefusedEviction] = {}
        self._budgets = budgets
        self._flags = flags
        self._to_evict: list[PodInfo] = []

    def begin(self, pods: Sequence[PodInfo]) -> list[SimulatedEvent]:
        """Return the evictions with which the drain of a node begins."""
        self._to_evict, self.blocked = list(pods), {}
        return list(self._evict(0.0))

    @override
    def on_bound(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        # a bound pod counts as healthy, so a budget may allow what it did not allow before
        self._budgets.note_running(pod)
        return self._evict(RETRY)

    @override
    def on_eviction(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        self._budgets.note_gone(pod)
        return super().on_eviction(pod, node_name)

    @override
    def on_deletion(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        self._budgets.note_gone(pod)
        return super().on_deletion(pod, node_name)

    def _evict(self, after: float) -> Iterator[SimulatedEvent]:
        """Yield the evictions that are possible as things stand."""
        pods, self._to_evict = self._to_evict, []
        for info in pods:
            if info.key not in self._cluster.pod_table.row_of:
                self.blocked.pop(info.key, None)
                continue
            blocked = None if self._flags.disable_eviction else self._budgets.evict(info)
            if blocked is None:
                self.blocked.pop(info.key, None)
                yield SimulatedEvent(info, EventAction.DELETE, after, self._flags.grace_period)
                continue
            self.blocked[info.key] = blocked
            if not blocked.lasting:
                self._to_evict.append(info)


def _pods_to_drain(cluster: Cluster, node: str, flags: DrainFlags) -> list[PodInfo]:
    return [info for info in pods_on(cluster, node) if flags.pod_selector.matches(info.labels)]


def _assess(info: PodInfo, node: str, cluster: Cluster, flags: DrainFlags, budgets: Budgets) -> DrainedPod:
    """Return a pod as kubectl sees it before it does anything; one to be evicted as if it were moved already."""
    pod = DrainedPod(info, node, budgets=[book.key for book in budgets.books_of(info)])
    plan, pod.refusal = plan_for(info.pod, cluster, flags)
    fates = {
        Plan.IGNORE: DrainFate.IGNORED,
        Plan.SKIP: DrainFate.MIRROR,
        Plan.REFUSE: DrainFate.REFUSED,
        Plan.EVICT: DrainFate.MOVED,
    }
    pod.fate = fates[plan]
    if plan is Plan.EVICT and info.is_terminating:
        pod.fate = DrainFate.TERMINATING
    return pod


def _refusals(pods: Iterable[DrainedPod]) -> list[str]:
    """Return why kubectl refuses a node, in its words."""
    keys_by_refusal: defaultdict[str, list[str]] = defaultdict(list)
    for pod in pods:
        if pod.fate is DrainFate.REFUSED:
            keys_by_refusal[pod.refusal].append(pod.info.key)
    return [f"cannot delete {why}: {', '.join(keys)}" for why, keys in keys_by_refusal.items()]


def _conclude(
    pod: DrainedPod,
    node: DrainedNode,
    controller: _Controllers,
    evictions: dict[str, Eviction],
    outcomes: dict[str, PodOutcome],
    cluster: Cluster,
) -> None:
    """Find out what became of a pod that was to go."""
    if pod.fate not in (DrainFate.MOVED, DrainFate.TERMINATING):
        return
    if node.refusals:
        pod.fate = DrainFate.KEPT
        return
    eviction = evictions.get(pod.info.key)
    if eviction is not None:
        pod.at, pod.until = eviction.at, eviction.until
    elif pod.fate is DrainFate.TERMINATING:
        pod.until = remaining_grace_period(pod.info)
    pod.successor = controller.latest_successor(pod.info.key)
    if pod.fate is DrainFate.TERMINATING and not pod.successor:
        return
    pod.successor_node = _node_of(cluster, pod.successor)
    pod.outcome = outcomes.get(pod.successor)
    if not pod.successor:
        pod.fate = DrainFate.LOST
    elif pod.successor_node:
        pod.fate = DrainFate.MOVED
    elif pod.successor in controller.foreign:
        pod.fate = DrainFate.FOREIGN_SCHEDULER
    elif pod.outcome is not None and pod.outcome.state is PodState.UNANSWERED:
        pod.fate = DrainFate.INCONCLUSIVE
    else:
        pod.fate = DrainFate.PENDING


def _node_of(cluster: Cluster, key: str) -> str:
    """Return the node a pod is on, "" for none."""
    row = cluster.pod_table.row_of.get(key)
    return "" if row is None else cluster.node_table.names[int(cluster.pod_table.node[row])]
