"""A release: workloads on their way into a cluster, carried out in a run.

`simulate` is the way from manifests to the facts, through expansion, admission and the queue. `RolloutController`
stands for the controllers meanwhile: it asks each `Update` what to do next whenever a pod is bound or gone, has what
it creates admitted, and hands the run what follows as events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from itertools import count

import msgspec

from schedctl.api.pods import PodSpec
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import InputError
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import Controller, EventAction, SimulatedEvent
from schedctl.simulation.outcomes import Run
from schedctl.simulation.replacement import comes_later, controller_of, successor
from schedctl.simulation.runs import Options, Progress, run
from schedctl.simulation.utilisation import Measure, measure
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Rejected, join
from schedctl.workloads.expansion import Expansion, Given, Replica, expand
from schedctl.workloads.pod_templates import exists
from schedctl.workloads.rollouts import AtOnce, RollingDeployment, RolloutStrategy, Step, Update, plan

_replace = msgspec.structs.replace
_EXISTS = "AlreadyExists"


@dataclass(slots=True)
class RolloutProgress:
    """Where one workload stands.

    Attributes:
        update: the update that is carried out.
        removed: the old pods that have been told to go.
        going: the old pods that have been told to go and are not gone.
        held: the pods that come when those are gone.
    """

    update: Update
    removed: list[PodInfo] = field(default_factory=list)
    going: set[str] = field(default_factory=set)
    held: list[Replica] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether nothing more is done before the pods that go are gone; a rolling Deployment does not wait."""
        overlaps = isinstance(self.update, RollingDeployment) and not self.update.recreate
        return bool(self.going) and not overlaps


@dataclass(frozen=True, slots=True)
class _Refused:
    """A pod that a quota refused; `number` says when, `rollout` is None for the successor of an evicted pod."""

    number: int
    rollout: RolloutProgress | None
    replica: Replica


@dataclass(frozen=True, slots=True)
class Simulation:
    """The facts of a simulated release; the cluster is as the run left it.

    Attributes:
        run: what became of the pods.
        release: which pods were created, refused and replaced.
        expansion: what the manifests make.
        before, after: how full the cluster was and is.
    """

    run: Run
    release: RolloutController
    expansion: Expansion
    before: Measure
    after: Measure


def simulate(
    scheduler: Scheduler,
    given: Iterable[Given],
    *,
    passed: Mapping[str, int] | None = None,
    strategy: RolloutStrategy = "replace",
    disabled: Collection[str] = (),
    strict: bool = False,
    name: str = "",
    before: Measure | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Create objects in the scheduler's cluster, run until nothing can move, and return the facts.

    The cluster is changed; wrap it in ``with scheduler.fork():`` to have it back. Pods that were pending before take
    part as well.

    Args:
        scheduler: the profiles and the cluster.
        given: the objects, in the order in which they are created.
        passed: how many objects there were beside them that are not read.
        strategy: how new pods take the place of old ones.
        disabled: admission plugins that are switched off.
        strict: whether an object that the API server would refuse ends everything before anything has changed.
        name: the scheduler name of all pods that are created, "" for their own.
        before: how full the cluster was before anything; as it is now if None.
        options: how the run is run.
        progress: is told how far the run has come.

    Raises:
        ValueError: there is no admission plugin of a name in `disabled`.
        InputError: with `strict`.
    """
    cluster = scheduler.cluster
    before = before or measure(cluster)
    expansion = expand(given, cluster, passed)
    if strict and expansion.refused:
        raise InputError(expansion.refused)
    updates = plan(expansion.groups, cluster, strategy)
    admission = Admission(cluster, disabled)
    there = {id(group.object) for group in join(expansion, cluster, admission)}
    updates = [update for update in updates if id(update.workload.object) in there]
    release = RolloutController(updates, cluster, admission, schedulers=scheduler.profiles, scheduler=name)
    events = release.begin()
    facts = run(scheduler, options=options, events=events, controller=release, progress=progress)
    return Simulation(facts, release, expansion, before, measure(cluster, before.label))


class RolloutController(Controller):
    """The controllers of a cluster while a release goes on.

    Attributes:
        turns: the workloads, in the order given.
        admission: the API server; what it changed and refused is there.
        rejected: why pods were not created in the end, by key.
        foreign: the pods that ask for a scheduler none of the profiles is, by key.
        successors: by key of a pod that was evicted, the key of the pod that took its place.
    """

    def __init__(
        self,
        updates: Iterable[Update],
        cluster: Cluster,
        admission: Admission,
        *,
        schedulers: Collection[str],
        scheduler: str = "",
    ) -> None:
        """Make a release; nothing happens before `begin`.

        Args:
            updates: the workloads, as `schedctl.workloads.rollouts.plan` returns them.
            cluster: where to; it changes only as the run carries out what is answered.
            admission: the API server.
            schedulers: the scheduler names that profiles serve.
            scheduler: the scheduler name of all pods that are created, "" for their own.
        """
        self.rollouts = [RolloutProgress(update) for update in updates]
        self.admission = admission
        self.rejected: dict[str, Rejected] = {}
        self.foreign: dict[str, PodInfo] = {}
        self.successors: dict[str, str] = {}
        self._taken: set[str] = set()  # the keys of successors, some of which are still on their way
        self._cluster = cluster
        self._schedulers = schedulers
        self._scheduler = scheduler
        self._rollout_of: dict[str, RolloutProgress] = {}
        self._replaced = {info.key for info in cluster.pod_table if info.terminating and not comes_later(info.pod)}
        self._refused: dict[str, dict[Hashable, deque[_Refused]]] = {}  # by namespace, then by who makes the pods
        self._numbers = count()
        self._dismissed: set[str] = set()
        self._credited: set[str] = set()
        self._specs: dict[int, tuple[PodSpec, PodSpec]] = {}

    def begin(self) -> list[SimulatedEvent]:
        """Return how it begins: what happens before the first pod is scheduled."""
        return [event for rollout in self.rollouts for event in self._advance(rollout)]

    def now(self, key: str) -> str:
        """Return the key of the pod that stands for a replica now: its own, or that of its last successor."""
        seen = {key}
        while (after := self.successors.get(key, key)) not in seen:
            seen.add(after)
            key = after
        return key

    # -- what the run tells --------------------------------------------------------

    def bound(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Go on with the workload whose pod runs now."""
        rollout = self._rollout_of.get(pod.key)
        return () if rollout is None or rollout.update.finished else self._advance(rollout)

    def evicted(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Replace a pod that has to go, where its controller does not wait until it is gone."""
        return () if pod.key in self._dismissed or comes_later(pod.pod) else self._succeed(pod)

    def gone(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Credit the quotas, replace what has not been replaced, and go on with what waited for this."""
        key = pod.key
        if key in self._credited:
            self._credited.discard(key)
        else:
            self.admission.deleted(pod.pod)
        if key in self._dismissed:
            self._dismissed.discard(key)
            yield from self._cleared(key)
        elif key in self._replaced:
            self._replaced.discard(key)  # on its way out from the beginning; its successor is there already
        elif key not in self.successors or self.successors[key] == key:
            yield from self._succeed(pod)
        yield from self._retried(pod.namespace)

    # -- what follows --------------------------------------------------------------

    def _advance(self, rollout: RolloutProgress) -> Iterator[SimulatedEvent]:
        while not (rollout.update.finished or rollout.waits):
            step = rollout.update.next(self._runs)
            if not step:
                return
            yield from self._carry_out(rollout, step)

    def _carry_out(self, rollout: RolloutProgress, step: Step) -> Iterator[SimulatedEvent]:
        for info in step.remove:
            self._rollout_of[info.key] = rollout
            rollout.removed.append(info)
            yield from self._remove(rollout, info)
        if rollout.waits:
            rollout.held += step.create
        else:
            yield from self._create_all(rollout, step.create)

    def _remove(self, rollout: RolloutProgress, info: PodInfo) -> Iterator[SimulatedEvent]:
        """Remove an old pod: at once where all are replaced at once, else as it goes by itself."""
        if info.key in self._cluster.strays or (info.terminating and isinstance(rollout.update, AtOnce)):
            self._cluster.remove_pod(info)
            self.admission.deleted(info.pod)
            return
        self._dismissed.add(info.key)
        if isinstance(rollout.update, AtOnce):
            self._credited.add(info.key)
            self.admission.deleted(info.pod)
            yield SimulatedEvent(info, EventAction.DELETE, grace=0.0)
        else:
            rollout.going.add(info.key)
            yield SimulatedEvent(info, EventAction.DELETE)

    def _cleared(self, key: str) -> Iterator[SimulatedEvent]:
        """Go on with a workload whose old pod is gone."""
        rollout = self._rollout_of.get(key)
        if rollout is None or isinstance(rollout.update, AtOnce):
            return
        rollout.going.discard(key)
        if not rollout.going and rollout.held:
            held, rollout.held = rollout.held, []
            yield from self._create_all(rollout, held)
        yield from self._advance(rollout)

    def _create_all(self, rollout: RolloutProgress, replicas: Sequence[Replica]) -> Iterator[SimulatedEvent]:
        for replica in replicas:
            yield from self._create_or_keep(rollout, replica)

    def _create_or_keep(self, rollout: RolloutProgress | None, replica: Replica) -> Iterator[SimulatedEvent]:
        """Create a pod, and remember it if a quota refuses it."""
        if (yield from self._create(rollout, replica)):
            metadata = replica.pod.metadata
            owner = controller_of(replica.pod)
            maker: Hashable = (
                id(rollout) if rollout is not None else (owner.kind, owner.name) if owner else metadata.name
            )
            waiting = self._refused.setdefault(metadata.namespace, {}).setdefault(maker, deque())
            waiting.append(_Refused(next(self._numbers), rollout, replica))

    def _create(self, rollout: RolloutProgress | None, replica: Replica) -> Generator[SimulatedEvent, None, bool]:
        """Have a pod admitted, yield what comes of it: its claims, then the pod; return whether a quota refused it."""
        key = replica.pod.key
        if rollout is not None:
            self._rollout_of[key] = rollout
        if exists(key, self._cluster) and key not in self._dismissed:
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
        if rollout is not None and self._scheduler:
            pod = _replace(pod, spec=self._with_scheduler(pod.spec))
        info = PodInfo(pod)
        if pod.spec.scheduler_name in self._schedulers:
            yield SimulatedEvent(info)
        else:
            self.foreign[key] = info
        return False

    def _with_scheduler(self, spec: PodSpec) -> PodSpec:
        """Return a spec that asks for the scheduler all are to be placed by; pods that share one still do."""
        known = self._specs.get(id(spec))
        if known is None:
            known = self._specs[id(spec)] = (spec, _replace(spec, scheduler_name=self._scheduler))
        return known[1]

    def _succeed(self, pod: PodInfo) -> Iterator[SimulatedEvent]:
        """Create the pod that takes the place of one that was evicted, if anything does."""
        made = successor(pod.pod, lambda key: key in self._taken or exists(key, self._cluster))
        if made is None:
            return
        self.successors[pod.key] = made.key
        self._taken.add(made.key)
        rollout = self._rollout_of.get(pod.key)
        if rollout is not None:
            self._rollout_of[made.key] = rollout
        yield from self._create_or_keep(None, Replica(made))

    def _retried(self, namespace: str) -> Iterator[SimulatedEvent]:
        """Try the pods of a namespace again that a quota refused, in order; who is refused again tries no more."""
        makers = self._refused.get(namespace)
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

    def _runs(self, key: str) -> bool:
        """Whether a pod, or what took its place, is on a node and stays."""
        row = self._cluster.pod_table.row_of.get(self.now(key))
        return row is not None and not self._cluster.pod_table.infos[row].terminating
