"""How new pods take the place of those that run already, step by step, as controllers wait for each other's pods.

`plan` answers with an `Update` for each workload, which names the next pods to remove and to create, given which of its
pods run by then; ``ownership`` finds the pods that run, ``changes`` says what differs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Step:
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

    Attributes:
        workload: the workload.
        old: its pods in the cluster, before anything happens.
        changes: how it differs from what is there.
        unsent: the pods that are still to be created, in order; those left at the end were waited for in vain.
        leaving: the old pods that are still to be removed.
        created: the pods created so far, by key.
    """

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        self.workload, self.old, self.changes = workload, tuple(old), tuple(changes)
        self.unsent: list[Replica] = list(workload.replicas)
        self.leaving: list[PodInfo] = list(old)
        self.created: dict[str, Replica] = {}

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing left to remove or create."""
        return not (self.unsent or self.leaving)

    def next(self, runs: Runs) -> Step:
        """Return what to do next, and count it as done.

        An empty step means that nothing can be done until more of the pods run, or ever, if `is_finished`.
        """
        raise NotImplementedError

    def _send(self, replicas: Iterable[Replica], remove: Iterable[PodInfo] = ()) -> Step:
        """Note the replicas as created and the pods as removed."""
        step = Step(tuple(remove), tuple(replicas))
        # One at a time is the common case of rollouts of thousands of pods, where sets would be built anew every step.
        if len(step.remove) == 1:
            self.leaving.remove(step.remove[0])
        elif step.remove:
            gone = {id(info) for info in step.remove}
            self.leaving = [info for info in self.leaving if id(info) not in gone]
        if len(step.create) == 1:
            del self.unsent[next(i for i, replica in enumerate(self.unsent) if replica is step.create[0])]
        elif step.create:
            sent = {id(replica) for replica in step.create}
            self.unsent = [replica for replica in self.unsent if id(replica) not in sent]
        self.created |= {replica.pod.key: replica for replica in step.create}
        return step

    def _all_run(self, runs: Runs) -> bool:
        return all(map(runs, reversed(self.created)))  # what is waited for is mostly the last one


class ReplaceAll(Update):
    """All old pods leave, all new ones come; the pods of an ordered workload one after another."""

    @override
    def next(self, runs: Runs) -> Step:
        if self.workload.ordered:
            return self._send(self.unsent[:1] if self._all_run(runs) else (), self.leaving)
        return self._send(self.unsent, self.leaving)


class Scaling(Update):
    """Old pods stay whatever their template; only the difference in number comes or goes (ReplicaSets, Jobs)."""

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        super().__init__(workload, old, changes)
        there = {index for info in old if (index := _index(info)) is not None}
        # An index of a Job has one pod; replicas without an ordinal are all the same.
        missing = [replica for replica in self.unsent if replica.ordinal < 0 or replica.ordinal not in there]
        surplus = len(old) - len(self.unsent)
        self.unsent = missing[: max(0, -surplus)]
        self.leaving = dispensable(old)[: max(0, surplus)]

    @override
    def next(self, runs: Runs) -> Step:
        return self._send(self.unsent, self.leaving)


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
        current = {owner.name for replica in self.unsent[:1] for owner in replica.pod.metadata.owner_references or ()}
        kept = [info for info in old if same or controller_reference(info)[1] in current]
        surplus = dispensable(kept, old)[: max(0, len(kept) - self.replicas)]
        gone = {id(info) for info in surplus}
        self.kept = [info for info in kept if id(info) not in gone]
        self.surplus = surplus
        current_pods = {id(info) for info in kept}
        self.unsent = self.unsent[: self.replicas - len(self.kept)]
        self.leaving = [*surplus, *dispensable((info for info in old if id(info) not in current_pods), old)]
        self.recreate = strategy is not None and strategy.type == "Recreate"
        rolling = (strategy.rolling_update if strategy else None) or workloads.RollingUpdate()
        self.surge = _share(rolling.max_surge, self.replicas, up=True, default="25%")
        self.unavailable = _share(rolling.max_unavailable, self.replicas, up=False, default="25%")
        # Percentages may both round to 0, and nothing would move: the controller then takes down one at a time.
        if not self.surge and not self.unavailable:
            self.unavailable = 1

    @override
    def next(self, runs: Runs) -> Step:
        # Scaling down is no part of the rollout and waits for nothing.
        if self.surplus:
            surplus, self.surplus = self.surplus, []
            return self._send((), surplus)
        if self.recreate:
            return self._send((), self.leaving) if self.leaving else self._send(self.unsent)
        total = len(self.kept) + len(self.created) + len(self.leaving)
        room = self.replicas + self.surge - total if self.leaving else len(self.unsent)
        if self.unsent and room > 0:
            return self._send(self.unsent[:room])
        return self._send((), self._spare_pods(runs, total))

    def _spare_pods(self, runs: Runs, total: int) -> list[PodInfo]:
        """Return the old pods that can go now: first those that do not run, then as many as the others can spare."""
        least = self.replicas - self.unavailable
        most = total - least
        if most <= 0 or not self.leaving:
            return []
        new_running = 0
        for key in (*reversed(self.created), *(info.key for info in self.kept)):  # mostly the last do not run yet
            if runs(key):
                new_running += 1
            elif (most := most - 1) <= 0:
                return []
        idle: list[PodInfo] = []
        running: list[PodInfo] = []
        for info in self.leaving:
            (running if runs(info.key) else idle).append(info)
        idle = idle[:most]
        spare = min(new_running + len(running) - least, most - len(idle))
        return idle + running[: max(0, spare)]


class RollingStatefulSet(Update):
    """Ordinals are filled from below, and replaced from above down to the partition, each waiting for the others."""

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        super().__init__(workload, old, changes)
        strategy: workloads.UpdateStrategy | None = workload.object.spec.update_strategy
        rolling = (strategy.rolling_update if strategy else None) or workloads.RollingUpdate()
        on_delete = strategy is not None and strategy.type == "OnDelete"
        first = rolling.partition or 0
        here = {info.pod.metadata.name: info for info in old}
        names = {replica.pod.metadata.name for replica in self.unsent}
        stays = _keeps_template(changes) or on_delete
        self.most_missing = max(1, _share(rolling.max_unavailable, len(names), up=True, default=1))
        self.kept = [
            info
            for replica in self.unsent
            if (info := here.get(replica.pod.metadata.name)) and (stays or replica.ordinal < first)
        ]
        kept = {info.pod.metadata.name for info in self.kept}
        self.unsent = [replica for replica in self.unsent if replica.pod.metadata.name not in kept]
        self.leaving = [info for info in old if info.pod.metadata.name not in kept]
        self.surplus = sorted(
            (info for info in self.leaving if info.pod.metadata.name not in names), key=_ordinal, reverse=True
        )

    @override
    def next(self, runs: Runs) -> Step:
        replaced = {info.pod.metadata.name: info for info in self.leaving}
        missing = [replica for replica in self.unsent if replica.pod.metadata.name not in replaced]
        idle = sum(not runs(key) for key in (*(info.key for info in self.kept), *self.created))
        idle += sum(not runs(info.key) for info in self.leaving if info not in self.surplus)
        # OrderedReady: an ordinal is filled when all below it run, old pods of theirs included.
        if self.workload.ordered and missing:
            below = missing[0].ordinal
            lower = [info.key for info in (*self.kept, *self.leaving) if 0 <= _ordinal(info) < below]
            lower += [key for key, replica in self.created.items() if replica.ordinal < below]
            blocked = not all(map(runs, lower))
            return Step() if blocked else self._send(missing[:1])
        if missing:
            return self._send(missing)
        if self.workload.ordered and idle and self.most_missing == 1:
            return Step()
        if self.surplus:
            removed = self.surplus[:1] if self.workload.ordered else self.surplus
            self.surplus = self.surplus[len(removed) :]
            return self._send((), removed)
        budget = self.most_missing - idle
        turn = sorted(self.unsent, key=lambda replica: -replica.ordinal)[: max(0, budget)]
        return self._send(turn, [replaced[replica.pod.metadata.name] for replica in turn])


class RollingDaemonSet(Update):
    """Nodes without a pod get one; the others are changed a few at a time."""

    def __init__(self, workload: Workload, old: Sequence[PodInfo], changes: Sequence[WorkloadChange]) -> None:
        super().__init__(workload, old, changes)
        strategy: workloads.UpdateStrategy | None = workload.object.spec.update_strategy
        rolling = (strategy.rolling_update if strategy else None) or workloads.RollingUpdate()
        self.target_nodes = {replica.node for replica in self.unsent}
        stays = _keeps_template(changes) or (strategy is not None and strategy.type == "OnDelete")
        count = len(self.target_nodes)
        self.surge = _share(rolling.max_surge, count, up=True, default=0)
        # Rounded up, where a Deployment's is rounded down; and with a surge a node need not be without a pod.
        self.unavailable = _share(rolling.max_unavailable, count, up=True, default=0 if self.surge else 1)
        nodes = {node_of(info.pod) for info in old}
        if stays:
            self.unsent = [replica for replica in self.unsent if replica.node not in nodes]
            self.leaving = [info for info in old if node_of(info.pod) not in self.target_nodes]

    @override
    def next(self, runs: Runs) -> Step:
        old = {node_of(info.pod): info for info in self.leaving}
        new = {replica.node: key for key, replica in self.created.items()}
        # Nodes that gain or lose eligibility are served at once; only replacements count against the limits.
        uncovered = [replica for replica in self.unsent if replica.node not in old]
        stray = [info for node, info in old.items() if node not in self.target_nodes]
        if uncovered or stray:
            return self._send(uncovered, stray)
        if self.surge:
            replaced = [info for node, info in old.items() if node in new and runs(new[node])]
            if replaced:
                return self._send((), replaced)
            return self._send(self.unsent[: max(0, self.surge - sum(node in new for node in old))])
        idle = sum(not runs(key) for key in new.values())
        # An old pod that does not run costs nothing to replace.
        turn = [replica for replica in self.unsent if not runs(old[replica.node].key)]
        waiting = [replica for replica in self.unsent if runs(old[replica.node].key)]
        turn += waiting[: max(0, self.unavailable - idle - len(turn))]
        return self._send(turn, [old[replica.node] for replica in turn])


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
        first = 1 + max(map(_ordinal, old))
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


def _ordinal(info: PodInfo) -> int:
    end = info.pod.metadata.name.rpartition("-")[2]
    return int(end) if end.isdecimal() else -1


def _index(info: PodInfo) -> int | None:
    index = (info.pod.metadata.annotations or {}).get("batch.kubernetes.io/job-completion-index", "")
    return int(index) if index.isdecimal() else None
