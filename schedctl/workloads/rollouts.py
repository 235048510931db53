"""How new pods take the place of those that run already, step by step, as controllers wait for each other's pods.

`plan` answers with an `Update` for each workload, which names the next pods to remove and to create, given which of its
pods run by then; ``ownership`` finds the pods that run, ``changes`` says what differs.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Literal

import msgspec
from msgspec.structs import replace
from typing_extensions import override

from schedctl.api import workloads
from schedctl.api.custom_kinds import CustomWorkload
from schedctl.api.meta import Int32
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads.changes import WorkloadChange, workload_changes
from schedctl.workloads.clusters import find_pod
from schedctl.workloads.daemon_sets import node_of
from schedctl.workloads.expansion import Replica, Workload, stateful_replica
from schedctl.workloads.ownership import Owned, controller_reference, owner_key, pods_by_owner

RolloutStrategy = Literal["replace", "add", "rolling"]
ROLLOUT_STRATEGIES: tuple[RolloutStrategy, ...] = ("replace", "add", "rolling")
Runs = Callable[[str], bool]
"""Tells whether the pod of a key runs, which is to say that it is on a node."""


class Step(msgspec.Struct, frozen=True):
    """What to do next for one workload: first remove, then create; false while there is nothing to do.

    Attributes:
        remove: pods of the cluster that leave.
        create: pods that come, in this order.
    """

    remove: tuple[PodInfo, ...] = ()
    create: tuple[Replica, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.remove or self.create)


class Update:
    """One workload on its way from what runs to what is wanted.

    Which of its pods run is counted once (`count`) and then kept up to date (`note`), so that a step costs what it
    changes and not what the workload has.

    Attributes:
        workload: the workload.
        old: its pods in the cluster, before anything happens.
        changes: how it differs from what is there.
        unsent: the pods that are still to be created, by key, in order; those left at the end were waited for in vain.
        leaving: the old pods that are still to be removed, by key, in order.
        kept: the old pods that stay and count as replicas, by key.
        created: the pods created so far, by key.
    """

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        self.workload, self.old, self.changes = workload, tuple(old), tuple(changes)
        self.unsent: dict[str, Replica] = {replica.pod.key: replica for replica in workload.replicas}
        self.leaving: dict[str, PodInfo] = _by_key(old)
        self.kept: dict[str, PodInfo] = {}
        self.created: dict[str, Replica] = {}
        self._idle: set[str] = set()  # of those that stay or were created
        self._idle_leaving: set[str] = set()

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing left to remove or create."""
        return not (self.unsent or self.leaving)

    def next(self) -> Step:
        """Return what to do next, and count it as done; the pods that it creates do not run until that is noted.

        An empty step means that nothing can be done until more of the pods run, or ever, if `is_finished`.
        """
        raise NotImplementedError

    def count(self, runs: Runs) -> None:
        """Ask of each pod whether it runs."""
        self._idle = {key for key in (*self.kept, *self.created) if not runs(key)}
        self._idle_leaving = {key for key in self.leaving if not runs(key)}

    def note(self, key: str, *, runs: bool) -> None:
        """Note that a pod runs now, or no longer; a pod that was removed does not count."""
        if key in self.leaving:
            idle = self._idle_leaving
        elif key in self.created or key in self.kept:
            idle = self._idle
        else:
            return
        (idle.discard if runs else idle.add)(key)

    def _send(self, replicas: Iterable[Replica], remove: Iterable[PodInfo] = ()) -> Step:
        """Note the replicas as created and the pods as removed."""
        step = Step(tuple(remove), tuple(replicas))
        for info in step.remove:
            del self.leaving[info.key]
            self._idle_leaving.discard(info.key)
        for replica in step.create:
            key = replica.pod.key
            self.created[key] = self.unsent.pop(key)
            self._idle.add(key)
        return step

    def _first(self, most: int) -> list[Replica]:
        """Return the first pods that are still to be created."""
        return list(islice(self.unsent.values(), max(0, most)))


class ReplaceAll(Update):
    """All old pods leave, all new ones come; the pods of an ordered workload one after another."""

    @override
    def next(self) -> Step:
        most = len(self.unsent) if not self.workload.ordered else int(not self._idle)
        return self._send(self._first(most), self.leaving.values())


class Scaling(Update):
    """Old pods stay whatever their template; only the difference in number comes or goes (ReplicaSets, Jobs)."""

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        super().__init__(workload, old, changes)
        there = {index for info in old if (index := _index(info)) is not None}
        # An index of a Job has one pod; replicas without an ordinal are all the same.
        missing = [key for key, replica in self.unsent.items() if replica.ordinal < 0 or replica.ordinal not in there]
        surplus = len(old) - len(self.unsent)
        self.unsent = {key: self.unsent[key] for key in missing[: max(0, -surplus)]}
        self.leaving = _by_key(dispensable(old)[: max(0, surplus)])

    @override
    def next(self) -> Step:
        return self._send(self.unsent.values(), self.leaving.values())


class RollingDeployment(Update):
    """Pods of another ReplicaSet give way to the new ones, within maxSurge and maxUnavailable."""

    def __init__(
        self,
        workload: Workload,
        old: Sequence[PodInfo],
        changes: Sequence[WorkloadChange],
        strategy: workloads.UpdateStrategy | None,
    ) -> None:
        super().__init__(workload, old, changes)
        self.replicas = len(self.unsent)
        same = _keeps_template(changes)
        # Pods of the ReplicaSet that the new pods belong to need no replacement, whatever the manifest changed beside.
        current = {owner.name for replica in self._first(1) for owner in replica.pod.metadata.owner_references or ()}
        self.kept = _by_key(info for info in old if same or controller_reference(info)[1] in current)
        outdated = dispensable((info for info in old if info.key not in self.kept), old)
        self.surplus = dispensable(self.kept.values(), old)[: max(0, len(self.kept) - self.replicas)]
        for info in self.surplus:
            del self.kept[info.key]
        self.unsent = {replica.pod.key: replica for replica in self._first(self.replicas - len(self.kept))}
        self.leaving = _by_key([*self.surplus, *outdated])
        self.recreate = strategy is not None and strategy.type == "Recreate"
        rolling = (strategy.rolling_update if strategy else None) or workloads.RollingUpdate()
        self.surge = _share(rolling.max_surge, self.replicas, up=True, default="25%")
        self.unavailable = _share(rolling.max_unavailable, self.replicas, up=False, default="25%")
        # Percentages may both round to 0, and nothing would move: the controller then takes down one at a time.
        if not self.surge and not self.unavailable:
            self.unavailable = 1

    @override
    def next(self) -> Step:
        # Scaling down is no part of the rollout and waits for nothing.
        if self.surplus:
            surplus, self.surplus = self.surplus, []
            return self._send((), surplus)
        if self.recreate:
            return self._send((), self.leaving.values()) if self.leaving else self._send(self.unsent.values())
        total = len(self.kept) + len(self.created) + len(self.leaving)
        room = self.replicas + self.surge - total if self.leaving else len(self.unsent)
        if self.unsent and room > 0:
            return self._send(self._first(room))
        return self._send((), self._spare_pods(total))

    def _spare_pods(self, total: int) -> list[PodInfo]:
        """Return the old pods that can go now: first those that do not run, then as many as the others can spare."""
        least = self.replicas - self.unavailable
        most = total - least - len(self._idle)
        if most <= 0 or not self.leaving:
            return []
        idle_first = (info for key, info in self.leaving.items() if key in self._idle_leaving)
        idle = list(islice(idle_first, min(most, len(self._idle_leaving))))
        spare = min(total - len(self._idle) - len(self._idle_leaving) - least, most - len(idle))
        running = (info for key, info in self.leaving.items() if key not in self._idle_leaving)
        return idle + list(islice(running, max(0, spare)))


class RollingStatefulSet(Update):
    """Ordinals are filled from below, and replaced from above down to the partition, each waiting for the others."""

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        super().__init__(workload, old, changes)
        strategy: workloads.UpdateStrategy | None = workload.object.spec.update_strategy
        rolling = (strategy.rolling_update if strategy else None) or workloads.RollingUpdate()
        on_delete = strategy is not None and strategy.type == "OnDelete"
        first = rolling.partition or 0
        stays = _keeps_template(changes) or on_delete
        self.most_missing = max(1, _share(rolling.max_unavailable, len(self.unsent), up=True, default=1))
        surplus = [info for info in old if info.key not in self.unsent]
        self.surplus = sorted(surplus, key=lambda info: _ordinal(info.key), reverse=True)
        self.kept = {
            key: self.leaving[key]
            for key, replica in self.unsent.items()
            if key in self.leaving and (stays or replica.ordinal < first)
        }
        for key in self.kept:
            del self.unsent[key], self.leaving[key]
        # A new pod has the name, and so the key, of the old one in whose place it comes.
        self._missing = deque(replica for key, replica in self.unsent.items() if key not in self.leaving)
        replacing = [replica for key, replica in self.unsent.items() if key in self.leaving]
        self._replacing = deque(sorted(replacing, key=lambda replica: -replica.ordinal))

    @override
    def next(self) -> Step:
        # OrderedReady: an ordinal is filled when all below it run, old pods of theirs included.
        if self.workload.ordered and self._missing:
            below = self._missing[0].ordinal
            blocked = any(0 <= _ordinal(key) < below for key in (*self._idle, *self._idle_leaving))
            return Step() if blocked else self._send([self._missing.popleft()])
        if self._missing:
            missing, self._missing = self._missing, deque()
            return self._send(missing)
        surplus = {info.key for info in self.surplus}
        idle = len(self._idle) + len(self._idle_leaving - surplus)
        if self.workload.ordered and idle and self.most_missing == 1:
            return Step()
        if self.surplus:
            removed = self.surplus[:1] if self.workload.ordered else self.surplus
            self.surplus = self.surplus[len(removed) :]
            return self._send((), removed)
        budget = min(len(self._replacing), max(0, self.most_missing - idle))
        turn = [self._replacing.popleft() for _ in range(budget)]
        return self._send(turn, [self.leaving[replica.pod.key] for replica in turn])


class RollingDaemonSet(Update):
    """Nodes without a pod get one; the others are changed a few at a time."""

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        super().__init__(workload, old, changes)
        strategy: workloads.UpdateStrategy | None = workload.object.spec.update_strategy
        rolling = (strategy.rolling_update if strategy else None) or workloads.RollingUpdate()
        self.target_nodes = {replica.node for replica in self.unsent.values()}
        stays = _keeps_template(changes) or (strategy is not None and strategy.type == "OnDelete")
        count = len(self.target_nodes)
        self.surge = _share(rolling.max_surge, count, up=True, default=0)
        # Rounded up, where a Deployment's is rounded down; and with a surge a node need not be without a pod.
        self.unavailable = _share(rolling.max_unavailable, count, up=True, default=0 if self.surge else 1)
        covered = {node_of(info.pod) for info in old}
        self._uncovered = [replica for replica in self.unsent.values() if replica.node not in covered]
        self._stray = [info for info in old if node_of(info.pod) not in self.target_nodes]
        if stays:
            self.unsent = {replica.pod.key: replica for replica in self._uncovered}
            self.leaving = _by_key(self._stray)
        self._old_on: dict[str, list[PodInfo]] = {}
        for info in self.leaving.values():
            self._old_on.setdefault(node_of(info.pod), []).append(info)
        self._replacing: dict[str, str] = {}  # with a surge, the key of the new pod by the node of the old one

    @override
    def next(self) -> Step:
        # Nodes that gain or lose eligibility are served at once; only replacements count against the limits.
        if self._uncovered or self._stray:
            uncovered, stray = self._uncovered, self._stray
            self._uncovered, self._stray = [], []
            return self._send(uncovered, stray)
        if not self.surge:
            turn = self._replaceable()
            return self._send(turn, [info for replica in turn for info in self._old_on[replica.node]])
        if replaced := [node for node, key in self._replacing.items() if key not in self._idle]:
            for node in replaced:
                del self._replacing[node]
            return self._send((), [info for node in replaced for info in self._old_on[node]])
        turn = self._first(self.surge - len(self._replacing))
        self._replacing |= {replica.node: replica.pod.key for replica in turn}
        return self._send(turn)

    def _replaceable(self) -> list[Replica]:
        """Return the pods whose turn it is: all whose old pod does not run, since that costs nothing, then others."""
        turn = []
        if self._idle_leaving:
            turn = [one for one in self.unsent.values() if not self._has_running_pod(one.node)]
        room = max(0, self.unavailable - len(self._idle) - len(turn))
        return turn + list(islice((one for one in self.unsent.values() if self._has_running_pod(one.node)), room))

    def _has_running_pod(self, node: str) -> bool:
        return any(info.key not in self._idle_leaving for info in self._old_on[node])


def plan(groups: Iterable[Workload], cluster: Cluster, strategy: RolloutStrategy = "replace") -> list[Update]:
    """Return how each workload gets from what runs to what is wanted, in the order given.

    Args:
        groups: the workloads, as `expansion.expand` returns them.
        cluster: as it was when they were expanded: before anything joins it.
        strategy: ``replace`` removes all old pods at once and creates all new ones, ``add`` keeps the old ones, and
            ``rolling`` does what the controllers do, under maxSurge, maxUnavailable and partition.
    """
    owned = pods_by_owner(cluster)
    updates: list[Update] = []
    for workload in groups:
        if workload.standing:
            updates.append(ReplaceAll(workload, (), [WorkloadChange("unchanged", "unchanged; its pods stay")]))
            continue
        old = _old_pods(workload, owned, cluster)
        changes = workload_changes(workload, old, cluster)
        if strategy == "replace":
            updates.append(ReplaceAll(workload, old, changes))
        elif strategy == "add":
            updates.append(ReplaceAll(_beside(workload, old, cluster), (), changes))
        else:
            updates.append(_rolling_update(workload, [info for info in old if not info.is_terminating], changes))
    return updates


def _old_pods(workload: Workload, owned: Mapping[Owned, list[PodInfo]], cluster: Cluster) -> list[PodInfo]:
    """Return the pods of a workload that are in the cluster."""
    old = owned.get(owner_key(workload.api_version, workload.kind, workload.namespace, workload.name), [])
    if not isinstance(workload.object, CustomWorkload) or workload.object.made is None:
        return old
    # Operators put kinds of their own between the resource and its pods, which nobody reads: names tell as well.
    keys = {info.key for info in old}
    same = (find_pod(replica.pod.key, cluster) for replica in workload.replicas if replica.pod.key not in keys)
    return [*old, *(info for info in same if info is not None)]


def dispensable(pods: Iterable[PodInfo], related: Iterable[PodInfo] | None = None) -> list[PodInfo]:
    """Return pods in the order in which a ReplicaSet gives them up.

    Those on no node come first, then those whose phase is not yet Running, those that are not ready, those of a lower
    ``controller.kubernetes.io/pod-deletion-cost``, those that share their node with most others, and the youngest.
    Since when a pod is ready and how often it was restarted, which a ReplicaSet asks before its age, is not read; and
    the age counts to the second, not by its logarithm.

    Args:
        pods: the pods.
        related: the pods that count as sharing a node: those of the whole workload; None for `pods` alone.
    """
    pods = list(pods)
    together = Counter(info.pod.spec.node_name for info in (pods if related is None else related))

    def rank(info: PodInfo) -> tuple[bool, int, bool, int, int]:
        node, phase = info.pod.spec.node_name, _PHASES.get(info.pod.status.phase, 0)
        return bool(node), phase, _ready(info), _deletion_cost(info), -together[node]

    # Three stable sorts, the least important first; timestamps compare as text, and descending.
    by_name = sorted(pods, key=lambda info: info.key)
    youngest = sorted(by_name, key=lambda info: info.pod.metadata.creation_timestamp or "", reverse=True)
    return sorted(youngest, key=rank)


_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_COST = re.compile(r"0|-[0-9]+|[1-9][0-9]*")


def _ready(info: PodInfo) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in info.pod.status.conditions or ())


def _deletion_cost(info: PodInfo) -> int:
    """Return what a pod's deletion costs by its annotation, an int32 written plainly; anything else counts as 0."""
    written = (info.pod.metadata.annotations or {}).get(_DELETION_COST, "")
    cost = int(written) if len(written) < 1000 and _COST.fullmatch(written) else 0
    return cost if -(1 << 31) <= cost < 1 << 31 else 0


def _rolling_update(workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> Update:
    obj = workload.object
    if isinstance(obj, workloads.Deployment):
        return RollingDeployment(workload, old, changes, obj.spec.strategy)
    if isinstance(obj, CustomWorkload):
        if obj.made is not None and not old:
            return ReplaceAll(workload, old, changes)
        if obj.made is not None:
            note = "how its operator replaces pods is not modelled; all are replaced at once"
            return ReplaceAll(replace(workload, notes=(*workload.notes, note)), old, changes)
        return RollingDeployment(workload, old, changes, None)
    if isinstance(obj, workloads.StatefulSet):
        return RollingStatefulSet(workload, old, changes)
    if isinstance(obj, workloads.DaemonSet):
        return RollingDaemonSet(workload, old, changes)
    return Scaling(workload, old, changes)


def _beside(workload: Workload, old: Sequence[PodInfo], cluster: Cluster) -> Workload:
    """Return the workload with names that are free while its old pods stay."""
    replicas, notes = list(workload.replicas), list(workload.notes)
    if isinstance(workload.object, workloads.StatefulSet) and old:
        first = 1 + max(_ordinal(info.key) for info in old)
        replicas = [stateful_replica(workload.object, first + i, cluster) for i in range(len(replicas))]
        notes.append(f"its new pods begin at ordinal {first}, after those that stay")
    elif isinstance(workload.object, workloads.DaemonSet):
        nodes = {node_of(info.pod) for info in old}
        replicas = [replica for replica in replicas if replica.node not in nodes]
    else:
        taken = {info.pod.metadata.name for info in old}
        replicas = [replica for replica in replicas if replica.pod.metadata.name not in taken]
    missing = len(workload.replicas) - len(replicas)
    if missing:
        notes.append(f"{missing} of its pods exist already and cannot be added a second time")
    return replace(workload, replicas=tuple(replicas), notes=tuple(notes))


def _share(value: Int32 | str | None, of: int, *, up: bool, default: int | str) -> int:
    """Return a number of pods that is written as a number or as a percentage of all."""
    if value is None:
        value = default
    if isinstance(value, str):
        percent = int(value.rstrip("%")) if value.rstrip("%").isdecimal() else 0
        return -(-of * percent // 100) if up else of * percent // 100
    return max(0, value)


def _keeps_template(changes: Iterable[WorkloadChange]) -> bool:
    return not any(change.what in ("new", "template") for change in changes)


def _by_key(pods: Iterable[PodInfo]) -> dict[str, PodInfo]:
    return {info.key: info for info in pods}


def _ordinal(key: str) -> int:
    end = key.rpartition("-")[2]
    return int(end) if end.isdecimal() else -1


def _index(info: PodInfo) -> int | None:
    index = (info.pod.metadata.annotations or {}).get("batch.kubernetes.io/job-completion-index", "")
    return int(index) if index.isdecimal() else None
