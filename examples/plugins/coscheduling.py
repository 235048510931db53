"""Coscheduling: the pods of a group start together, or none of them does.

For training jobs, MPI and whatever else cannot begin with half of its workers. A pod says by the label
``scheduling.x-k8s.io/pod-group`` which PodGroup of its namespace it belongs to::

    apiVersion: scheduling.x-k8s.io/v1alpha1
    kind: PodGroup
    metadata: {name: train, namespace: ml}
    spec: {minMember: 8, scheduleTimeoutSeconds: 60}

Extension points: ``queueSort``, ``preFilter``, ``postFilter``, ``reserve``, ``permit``; a scheduler has one QueueSort
only, so that it is run with the profile beside it::

    schedctl explain pod train-0 -n ml -f cluster.yaml --plugin examples/plugins/coscheduling.py \
        --scheduler-config examples/profiles/coscheduling.yaml
    schedctl simulate train.yaml -f cluster.yaml --plugin examples/plugins/coscheduling.py \
        --scheduler-config examples/profiles/coscheduling.yaml
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from schedctl.api.kinds import Kind
from schedctl.api.meta import Int32, ObjectMeta, Struct
from schedctl.api.pods import ResourceList
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_counters import PodCounter
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import PluginArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import (
    EVERY_EVENT,
    UNSCHEDULED_POD_ADD,
    Action,
    ClusterEvent,
    Hint,
    Registration,
    Resource,
    registers,
)
from schedctl.framework.handles import Handle
from schedctl.framework.points import (
    PermitPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterPlugin,
    QueueSortPlugin,
    ReservePlugin,
)
from schedctl.framework.reasons import CodeColumn, Reason
from schedctl.framework.remarks import Remark, Trials, Tried
from schedctl.framework.statuses import SUCCESS, Status, unschedulable, wait
from schedctl.framework.waiting_pods import WaitingPod
from schedctl.framework.wording import few

GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


class PodGroupSpec(Struct, frozen=True):
    """How many pods belong together.

    Attributes:
        min_member: how many members must have a node before any of them is bound.
        schedule_timeout_seconds: for how long the first may wait for the last; else the plugin's argument says so.
        min_resources: read by nobody here, since room is looked for node by node.
    """

    min_member: Int32 = 1
    schedule_timeout_seconds: Int32 | None = None
    min_resources: ResourceList | None = None


class PodGroup(Struct, frozen=True):
    """``scheduling.x-k8s.io/v1alpha1`` PodGroup; no event tells of one that changes later."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()


class CoschedulingArgs(PluginArgs, frozen=True):
    """For how many seconds the first member waits for the last, where the PodGroup does not say."""

    permit_waiting_time_seconds: Int32 = 60

    def __post_init__(self) -> None:
        if self.permit_waiting_time_seconds < 1:
            raise ValueError("permitWaitingTimeSeconds must be at least 1")


class Coscheduling(QueueSortPlugin, PreFilterPlugin, PostFilterPlugin, ReservePlugin, PermitPlugin):
    """Binds the pods of a PodGroup together, or none of them.

    PreFilter refuses a member of a group that has too few pods. Permit holds members back on their nodes until there
    are enough. PostFilter gives up the nodes of the others as soon as one member finds none, and Unreserve as soon as
    one has waited in vain: both let another group have a turn. Members that are bound stay bound: one that fails in
    PreBind after all have been let go leaves the group incomplete.
    """

    args_type = CoschedulingArgs
    memory_only = True
    reads = (PodGroup,)
    kinds = (Kind("scheduling.x-k8s.io/v1alpha1", "PodGroup", PodGroup),)

    unknown = Reason("there is no PodGroup {group}", unresolvable=True)
    too_few = Reason("PodGroup {group} has {members} of {needed} pods", unresolvable=True)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._last_seen: dict[tuple[str, str], frozenset[PodInfo]] = {}  # by group, its pending members
        self._placed_members: dict[tuple[str, str], PodCounter] = {}
        handle.listen(UNSCHEDULED_POD_ADD, self._arrived)

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Nothing of a pod without a group; of a member no answer is kept: a sibling that comes is no change there."""
        return pod.priority if not _named(pod) else None

    def events_to_register(self) -> tuple[Registration, ...]:
        """Whatever could help one of the group, since all have to be tried again; but not what the group did itself.

        That it let go of nodes is no reason to take them again.
        """
        others = (each.event for each in EVERY_EVENT if each.event.resource is not Resource.TARGET_POD)
        return (
            registers(Resource.TARGET_POD, Action.UPDATE_POD_LABEL),
            *(Registration(event, _after_others, _group_key) for event in others),
        )

    def sort_key(self, pod: PodInfo, arrival: float) -> tuple[int, int, str, str, float]:
        """Return what keeps a group in one piece: groups come first, the older ones before the others.

        Two groups with their members mixed would each take half of the room.
        """
        name = _named(pod)
        if not name:
            return -pod.priority, 1, "", "", arrival
        group = self._group(pod)
        created = group.metadata.creation_timestamp if group is not None else None
        return -pod.priority, 0, created or "", name, arrival

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Refuse a pod whose group is not known, or has too few pods to ever be complete."""
        pod = cycle.pod
        name, group = _named(pod), self._group(pod)
        if not name:
            return None
        if group is None:
            return self.unknown.status(group=name)
        members, needed = self._count_placed(pod), group.spec.min_member
        # each of them comes by here: as long as those that were pending still are, not all pods are looked through
        if members < needed and not self._sees_again(pod, needed - members):
            members += len(self._pending(pod))
            if members < needed:
                return self.too_few.status(group=name, members=members, needed=needed)
        return None

    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Give up the nodes of waiting members, unless the group is complete without this pod."""
        pod, group = cycle.pod, self._group(cycle.pod)
        waiting = self._waiting(pod)
        if group is None or not waiting or self._bound(pod) >= group.spec.min_member:
            return PostFilterResult(unschedulable())
        text = f"PodGroup {_named(pod)} gets rejected because pod {pod.pod.metadata.name} finds no node"
        for each in waiting:
            each.reject(self.name, text)
        return PostFilterResult(unschedulable(text))

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Take nothing: a member on its node is all there is to count."""
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Give up the nodes of the others when one member loses its own."""
        pod = cycle.pod
        text = f"PodGroup {_named(pod)} gets rejected: {pod.pod.metadata.name} lost its node"
        for waiting in self.handle.waiting_pods():
            # those that are rejected already are on their way back, and each of them comes by here
            if waiting.verdict is None and waiting.pod.uid != pod.uid and _alike(waiting.pod, pod):
                waiting.reject(self.name, text)

    def permit(self, cycle: Cycle, node_name: str) -> Status:
        """Let the group go once there are enough of it; else hold the pod back."""
        pod = cycle.pod
        group = self._group(pod)
        if group is None:
            return SUCCESS
        if self._count_placed(pod) < group.spec.min_member:
            return wait(group.spec.schedule_timeout_seconds or self._args.permit_waiting_time_seconds)
        for waiting in self._waiting(pod):
            waiting.allow(self.name)
        return SUCCESS

    def remarks(self, cycle: Cycle, trials: Trials) -> Sequence[Remark]:
        """Say how many members find room together, who does not, and which minimum would."""
        pod = cycle.pod
        name, group = _named(pod), self._group(pod)
        if group is None:
            return ()
        standing = [member.key for member in self._placed(pod) if member.uid != pod.uid]
        tried = trials.together(self._pending(pod))
        found = {each.pod.key: each.node for each in tried if each.node}
        refused = [each for each in tried if not each.node]
        members, room, needed = len(standing) + len(tried), len(standing) + len(found), group.spec.min_member
        complete = room >= needed
        if complete:
            text = f"PodGroup {name}: {room} of {members} pods find room together, minMember {needed}: they start"
        else:
            text = f"PodGroup {name}: {room} of {members} pods find room together, minMember {needed}: none starts"
        details = [] if complete or not room else [f"minMember {room} would find room"]
        details += [f"{few(names)}: {why}" for why, names in _by_reason(refused).items()]
        evidence = {
            "group": f"{pod.namespace}/{name}",
            "minMember": needed,
            "members": members,
            "complete": complete,
            "passingMinimum": room,
            "running": standing,
            "placed": found,
            "refused": [{"pod": each.pod.key, "plugins": each.plugins, "message": each.message} for each in refused],
        }
        return (Remark(text, tuple(details), evidence, starts=complete),)

    def _arrived(self, event: ClusterEvent, before: None, after: PodInfo) -> None:
        """Activate the members that wait for company, once it is there: of pods that come the queue tells nobody."""
        group = self._group(after)
        if group is None:
            return
        needed = group.spec.min_member - self._count_placed(after)
        if len(self.handle.cluster.pending) < needed:
            return  # whoever they are
        members = self._pending(after)
        if len(members) >= needed:
            self.handle.activate([member for member in members if member.uid != after.uid])

    @property
    def _args(self) -> CoschedulingArgs:
        args: CoschedulingArgs = self.args or CoschedulingArgs()
        return args

    def _group(self, pod: PodInfo) -> PodGroup | None:
        name = _named(pod)
        return self.handle.cluster.get(PodGroup, f"{pod.namespace}/{name}") if name else None

    def _placed(self, pod: PodInfo) -> list[PodInfo]:
        """Return the members on nodes, those that wait there included, and the pod itself if it has one."""
        running = self.handle.cluster.pod_table
        return [member for member in running if _alike(member, pod) and not member.is_terminating]

    def _count_placed(self, pod: PodInfo) -> int:
        """Return how many these are, which the cluster counts for as long as somebody holds its counter."""
        key = _group_key(pod)
        if key not in self._placed_members:
            members = self.handle.cluster.counter({GROUP_LABEL: _named(pod)}, (pod.namespace,), terminating=False)
            self._placed_members[key] = members
        return int(self._placed_members[key].by_row.sum())

    def _pending(self, pod: PodInfo) -> list[PodInfo]:
        """Return the members without a node, in order of arrival, and the pod itself if it has none."""
        pending = self.handle.cluster.pending.values()
        members = [member for member in pending if _alike(member, pod) and not member.is_terminating]
        self._last_seen[_group_key(pod)] = frozenset(members)
        known = pod.key in self.handle.cluster.pending or pod.key in self.handle.cluster.pod_table.row_of
        return members if known else [*members, pod]

    def _sees_again(self, pod: PodInfo, many: int) -> bool:
        """Return whether so many of the members that were pending when last looked are so now."""
        members = self._last_seen.get(_group_key(pod), frozenset())
        return len(members.intersection(self.handle.cluster.pending.values())) >= many

    def _waiting(self, pod: PodInfo) -> list[WaitingPod]:
        return [waiting for waiting in self.handle.waiting_pods() if _alike(waiting.pod, pod)]

    def _bound(self, pod: PodInfo) -> int:
        waiting = {each.pod.uid for each in self._waiting(pod)}
        return sum(member.uid not in waiting for member in self._placed(pod))


def _named(pod: PodInfo) -> str:
    """Return the name of the group of a pod, "" where it is in none."""
    return pod.labels.get(GROUP_LABEL, "")


def _group_key(pod: PodInfo) -> tuple[str, str]:
    return pod.namespace, _named(pod)


def _alike(one: PodInfo, other: PodInfo) -> bool:
    return bool(_named(one)) and _group_key(one) == _group_key(other)


def _after_others(pod: PodInfo, before: Any, after: Any) -> Hint:
    """Does it help that something changed which is no pod of the group?"""
    of_group = isinstance(before, PodInfo) and _alike(pod, before)
    return Hint.SKIP if of_group else Hint.QUEUE


def _by_reason(refused: Sequence[Tried]) -> dict[str, list[str]]:
    """Return the names of refused pods by why they are."""
    names: dict[str, list[str]] = {}
    for each in refused:
        by = f" [{', '.join(each.plugins)}]" if each.plugins else ""
        names.setdefault(f"{each.message}{by}", []).append(each.pod.pod.metadata.name)
    return names
