"""The controllers of a cluster while workloads are rolled out in a run.

`RolloutController` asks each `Update` of ``workloads.rollouts`` what to do next whenever a pod is bound or gone, has
``workloads.api_server`` admit what it creates, and hands the run what follows as events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import count

import msgspec
from typing_extensions import override

from schedctl.api.pods import Pod, PodSpec
from schedctl.cache.changes import ChangeKind
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.replacement import ReplacementController, controller_of
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Rejected
from schedctl.workloads.expansion import Replica
from schedctl.workloads.pod_templates import exists
from schedctl.workloads.rollouts import ReplaceAll, RollingDeployment, Step, Update

_replace = msgspec.structs.replace
_EXISTS = "AlreadyExists"
_PLACEMENTS = (ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED)


class RolloutProgress(msgspec.Struct):
    """How far one workload is.

    Attributes:
        update: the update that is carried out.
        removed: the old pods that were deleted.
        terminating: the keys of those that are not gone yet.
        held: the pods that are created when those are gone.
    """

    update: Update
    removed: list[PodInfo] = msgspec.field(default_factory=list)
    terminating: set[str] = msgspec.field(default_factory=set)
    held: list[Replica] = msgspec.field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether nothing more is done before the old pods are gone; a rolling Deployment does not wait."""
        overlaps = isinstance(self.update, RollingDeployment) and not self.update.recreate
        return bool(self.terminating) and not overlaps


class _OverQuota(msgspec.Struct, frozen=True):
    """A pod that a quota refused; `number` says when, `rollout` is None for the successor of an evicted pod."""

    number: int
    rollout: RolloutProgress | None
    replica: Replica


class RolloutController(ReplacementController):
    """Carries out updates of workloads, and replaces the pods that are evicted meanwhile.

    Attributes:
        rollouts: the workloads, in the order given.
        rejected: why pods were not created in the end, by key.
    """

    def __init__(
        self, scheduler: Scheduler, updates: Iterable[Update], admission: Admission, *, scheduler_name: str = ""
    ) -> None:
        """Make a controller; nothing happens before `start`.

        Args:
            scheduler: whose cluster and profiles are used; the cluster changes only as the run carries out events.
            updates: the workloads, as `schedctl.workloads.rollouts.plan` returns them.
            admission: the API server; what it changed and refused is there.
            scheduler_name: the scheduler name of all pods of the workloads, "" for their own.
        """
        super().__init__(scheduler, admission)
        self.rollouts = [RolloutProgress(update) for update in updates]
        self.rejected: dict[str, Rejected] = {}
        self._scheduler_name = scheduler_name
        self._rollout_of: dict[str, RolloutProgress] = {}
        self._over_quota: dict[str, dict[Hashable, deque[_OverQuota]]] = {}  # by namespace, then by who makes the pods
        self._numbers = count()
        self._deleted: set[str] = set()  # old pods that rollouts deleted and that are not gone yet
        self._credited: set[str] = set()  # those of them that quotas do not count any more
        self._specs: dict[int, tuple[PodSpec, PodSpec]] = {}
        self._replicas: dict[str, tuple[Update, str]] = {}  # by key of a pod, whose it is and the key it began with
        self._generation = self._cluster.generation  # up to which the updates know which of their pods run

    def start(self) -> list[SimulatedEvent]:
        """Return what happens before the first pod is scheduled."""
        for rollout in self.rollouts:
            update = rollout.update
            self._replicas |= {info.key: (update, info.key) for info in update.old}
        self._count()
        return [event for rollout in self.rollouts for event in self._advance(rollout)]

    @override
    def on_bound(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        rollout = self._rollout_of.get(pod.key)
        return () if rollout is None or rollout.update.is_finished else self._advance(rollout)

    @override
    def on_eviction(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        return () if pod.key in self._deleted else super().on_eviction(pod, node_name)

    @override
    def on_deletion(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        self.sweep(pod)
        key = pod.key
        if key in self._credited:
            self._credited.discard(key)
        else:
            self.admission.credit(pod.pod)
        if key in self._deleted:
            self._deleted.discard(key)
            yield from self._resume(key)
        else:
            yield from self.replace_deleted(pod)
        yield from self._retry_over_quota(pod.namespace)

    # -- rollouts ------------------------------------------------------------------

    def _advance(self, rollout: RolloutProgress) -> Iterator[SimulatedEvent]:
        update = rollout.update
        while not (update.is_finished or rollout.waits):
            self._catch_up()
            step = update.next()
            if not step:
                return
            for replica in step.create:
                key = replica.pod.key
                self._replicas[key] = update, key
                update.note(key, runs=self._is_running(key))  # one of that name may run already
            yield from self._carry_out(rollout, step)

    def _count(self) -> None:
        """Have all updates count which of their pods run."""
        for rollout in self.rollouts:
            rollout.update.count(self._is_running)
        self._generation = self._cluster.generation

    def _catch_up(self) -> None:
        """Tell the updates which of their pods came to a node, or left one, since they heard of it last."""
        changes = self._cluster.changes_since(self._generation)
        if changes is None:
            self._count()
            return
        self._generation = self._cluster.generation
        for change in changes:
            if change.kind in _PLACEMENTS and change.subject.key in self._replicas:
                update, key = self._replicas[change.subject.key]
                update.note(key, runs=self._is_running(key))

    def _carry_out(self, rollout: RolloutProgress, step: Step) -> Iterator[SimulatedEvent]:
        for info in step.remove:
            self._rollout_of[info.key] = rollout
            rollout.removed.append(info)
            yield from self._delete(rollout, info)
        if rollout.waits:
            rollout.held += step.create
        else:
            yield from self._create_all(rollout, step.create)

    def _delete(self, rollout: RolloutProgress, info: PodInfo) -> Iterator[SimulatedEvent]:
        """Delete an old pod: at once where all are replaced at once, else with its grace period."""
        if info.key in self._cluster.strays or (info.is_terminating and isinstance(rollout.update, ReplaceAll)):
            self._cluster.remove_pod(info)
            self.sweep(info)
            self.admission.credit(info.pod)
            return
        self._deleted.add(info.key)
        if isinstance(rollout.update, ReplaceAll):
            self._credited.add(info.key)
            self.admission.credit(info.pod)
            yield SimulatedEvent(info, EventAction.DELETE, grace=0.0)
        else:
            rollout.terminating.add(info.key)
            yield SimulatedEvent(info, EventAction.DELETE)

    def _resume(self, key: str) -> Iterator[SimulatedEvent]:
        """Go on with a workload whose old pod is gone."""
        rollout = self._rollout_of.get(key)
        if rollout is None or isinstance(rollout.update, ReplaceAll):
            return
        rollout.terminating.discard(key)
        if not rollout.terminating and rollout.held:
            held, rollout.held = rollout.held, []
            yield from self._create_all(rollout, held)
        yield from self._advance(rollout)

    def _is_running(self, key: str) -> bool:
        """Whether a pod, or what took its place, is on a node and stays."""
        row = self._cluster.pod_table.row_of.get(self.latest(key))
        return row is not None and not self._cluster.pod_table.infos[row].is_terminating

    # -- pods ----------------------------------------------------------------------

    @override
    def _create_replacement(self, pod: PodInfo, replacement: Pod) -> Iterator[SimulatedEvent]:
        self._record_successor(pod, replacement)
        if pod.key in self._replicas:
            self._replicas[replacement.key] = self._replicas[pod.key]
        rollout = self._rollout_of.get(pod.key)
        if rollout is not None:
            self._rollout_of[replacement.key] = rollout
        yield from self._create_or_queue(None, Replica(replacement))

    def _create_all(self, rollout: RolloutProgress, replicas: Sequence[Replica]) -> Iterator[SimulatedEvent]:
        for replica in replicas:
            yield from self._create_or_queue(rollout, replica)

    def _create_or_queue(self, rollout: RolloutProgress | None, replica: Replica) -> Iterator[SimulatedEvent]:
        """Create a pod, and try it again later if a quota refuses it."""
        if (yield from self._create(rollout, replica)):
            metadata = replica.pod.metadata
            owner = controller_of(replica.pod)
            maker: Hashable = metadata.name
            if rollout is not None:
                maker = id(rollout)
            elif owner is not None:
                maker = owner.kind, owner.name
            waiting = self._over_quota.setdefault(metadata.namespace, {}).setdefault(maker, deque())
            waiting.append(_OverQuota(next(self._numbers), rollout, replica))

    def _create(self, rollout: RolloutProgress | None, replica: Replica) -> Generator[SimulatedEvent, None, bool]:
        """Have a pod admitted, yield what comes of it: its claims, then the pod; return whether a quota refused it."""
        key = replica.pod.key
        if rollout is not None:
            self._rollout_of[key] = rollout
        # an old pod of this name that terminates is no obstacle: the new one comes once it is gone
        if exists(key, self._cluster) and key not in self._deleted:
            self.rejected[key] = Rejected(replica.pod, _EXISTS, f'pods "{replica.pod.metadata.name}" already exists')
            return False
        created = self.admission.create(replica)
        for claim in created.claims:
            yield SimulatedEvent(claim)
        if isinstance(created, Rejected):
            self.rejected[key] = created
            return created.plugin == RESOURCE_QUOTA
        self.rejected.pop(key, None)
        pod = created.pod
        if rollout is not None and self._scheduler_name:
            pod = _replace(pod, spec=self._with_scheduler_name(pod.spec))
        yield from self._add_to_queue(PodInfo(pod))
        return False

    def _with_scheduler_name(self, spec: PodSpec) -> PodSpec:
        """Return a spec that asks for the scheduler of all; pods that share a spec still share one afterwards."""
        cached = self._specs.get(id(spec))
        if cached is None:
            # the first spec is kept too, so that its id is not given to another
            cached = self._specs[id(spec)] = (spec, _replace(spec, scheduler_name=self._scheduler_name))
        return cached[1]

    def _retry_over_quota(self, namespace: str) -> Iterator[SimulatedEvent]:
        """Try the pods of a namespace again that a quota refused, in order.

        A maker whose pod is refused again tries no more of its pods, as a controller that backs off.
        """
        makers = self._over_quota.get(namespace)
        if not makers:
            return
        by_number = {waiting[0].number: maker for maker, waiting in makers.items()}
        numbers = list(by_number)
        heapify(numbers)
        while numbers:
            maker = by_number[numbers[0]]
            waiting = makers[maker]
            first = waiting.popleft()
            if (yield from self._create(first.rollout, first.replica)):
                waiting.appendleft(first)
                heappop(numbers)
            elif waiting:
                by_number[waiting[0].number] = maker
                heapreplace(numbers, waiting[0].number)
            else:
                del makers[maker]
                heappop(numbers)
