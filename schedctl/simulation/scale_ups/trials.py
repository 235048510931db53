"""Places the pods of a plan on forks of the cluster with new nodes: cycle by cycle, and as a whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from schedctl.autoscaling.joining import Joining
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.framework.statuses import Code
from schedctl.scheduler import Scheduler
from schedctl.simulation.outcomes import PodState, RunEnd
from schedctl.simulation.replacement import ReplacementController
from schedctl.simulation.runs import Options, run
from schedctl.simulation.scale_ups.options import Counts, NodeOption

OnTrial = Callable[[int], None]
"""Called with how many plans were tried."""


class Placement(msgspec.Struct, frozen=True):
    """Where the pods go when so many nodes were added.

    Attributes:
        counts: how many nodes of each option.
        nodes: the new nodes, and the option each is of.
        placed: the node of each pod that has one.
        pending: the pods that have none.
        evicted: how many pods were preempted.
    """

    counts: Counts
    nodes: dict[str, int] = msgspec.field(default_factory=dict)
    placed: dict[str, str] = msgspec.field(default_factory=dict)
    pending: tuple[str, ...] = ()
    evicted: int = 0

    @property
    def complete(self) -> bool:
        """Whether every pod has a node, and no other lost its own."""
        return not self.pending and not self.evicted


class Trials:
    """Tries plans, each once.

    Attributes:
        options: the sorts of nodes that could be added.
        made: how many plans were tried.
        most: how many may be.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        pods: Sequence[PodInfo],
        options: Sequence[NodeOption],
        most: int,
        on_trial: OnTrial = lambda made: None,
    ) -> None:
        self.options = options
        self.made = 0
        self.most = most
        self._scheduler = scheduler
        self._pods = list(pods)
        self._on_trial = on_trial
        self._known: dict[Counts, Placement] = {}

    @property
    def exhausted(self) -> bool:
        """Whether no more plans may be tried."""
        return self.made >= self.most

    @contextmanager
    def joined(self, counts: Counts) -> Iterator[dict[str, int]]:
        """Have new nodes in the cluster for the length of a ``with`` block; their names and options are returned."""
        with self._scheduler.fork():
            joining = Joining(self._scheduler.cluster)
            yield {
                name: number
                for number, (option, count) in enumerate(zip(self.options, counts, strict=True))
                for name in joining.add(option.template, count)
            }

    def run(self, counts: Counts) -> Placement:
        """Return where a whole run places the pods, with its queue, its events and its preemption.

        Raises:
            KeyboardInterrupt: the user interrupted it.
        """
        known = self._known.get(counts)
        if known is not None:
            return known
        self.made += 1
        self._on_trial(self.made)
        with self.joined(counts) as nodes:
            controller = ReplacementController(self._scheduler)
            facts = run(self._scheduler, self._pods, options=Options(trace=False), controller=controller)
            if facts.end is RunEnd.INTERRUPTED:
                raise KeyboardInterrupt
            placed = {
                info.key: facts.pods[info.key].node
                for info in self._pods
                if facts.pods[info.key].state is PodState.BOUND
            }
        pending = tuple(info.key for info in self._pods if info.key not in placed)
        found = self._known[counts] = Placement(counts, nodes, placed, pending, len(facts.evictions))
        return found

    def might_fit(self, counts: Counts) -> bool:
        """Return whether cycle after cycle places every pod; it stops at the first that finds no node."""
        self.made += 1
        self._on_trial(self.made)
        with self.joined(counts):
            return not place(self._scheduler, self._pods, most_pending=0)


def place(scheduler: Scheduler, pods: Sequence[PodInfo], *, most_pending: int | None = None) -> list[PodInfo]:
    """Place pods in the cluster, cycle after cycle and without preemption, and return those that found no node.

    Pods are tried again as long as others find a node, since they may wait for those.

    Args:
        scheduler: the profiles, and the cluster, which is changed.
        pods: in the order of the queue.
        most_pending: give up when more than so many have no node, None for never.
    """
    left = list(pods)
    while True:
        pending: list[PodInfo] = []
        for info in left:
            if not place_one(scheduler, info):
                pending.append(info)
                if most_pending is not None and len(pending) > most_pending and not _may_wait(info):
                    return pending
        if not pending or len(pending) == len(left):
            return pending
        left = pending


def place_one(scheduler: Scheduler, info: PodInfo) -> bool:
    """Place a pod if it fits; return whether it does."""
    try:
        outcome = scheduler.attempt(info, make_room=False, admitted=True)
    except NotModelled:
        return False
    if not outcome.fits:
        return False
    node = outcome.chosen
    status = scheduler.place(outcome, node).status
    if status.code is Code.WAIT:  # for the others of its gang; it keeps its room, and a run says whether all start
        return True
    return status.successful and scheduler.bind(outcome, node).successful


def _may_wait(info: PodInfo) -> bool:
    """Return whether a pod may fit only after others that come behind it."""
    spec = info.pod.spec
    affinity = spec.affinity is not None and spec.affinity.pod_affinity is not None
    return affinity or bool(spec.topology_spread_constraints) or bool(spec.resource_claims)
