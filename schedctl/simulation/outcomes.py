"""What a run found out: what became of each pod, who had to go, and why it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum

import msgspec

from schedctl.api.pod_groups import PodGroup, PodGroupCondition
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.simulation.timeline import AnyRecord


class RunEnd(Enum):
    """Why a run ended, in words that a period may be put into."""

    SETTLED = "no pod is waiting for a node"
    STUCK = "no remaining event can unblock the pending pods"
    PATIENCE = "the last events changed nothing that lasts"
    REPEATING = "the same attempts repeat every {period:g} s and change nothing that lasts"
    HORIZON = "the time limit of the run is reached"
    INTERRUPTED = "interrupted"


class PodState(Enum):
    """Where a pod is when a run ends."""

    BOUND = "bound"
    WAITING = "waiting for Permit"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    QUEUED = "queued"
    """In the active queue or backing off: the run ended before it could be tried again, or after a fault."""
    TERMINATING = "terminating"
    GONE = "gone"
    UNANSWERED = "not modelled"
    ORPHANED = "orphaned"
    """Its ``spec.nodeName`` names no node: no scheduler places it, and no kubelet runs it."""


class PodOutcome(msgspec.Struct):
    """What became of a pod that was in the queue during a run, or that was created with a node in its spec.

    Attributes:
        pod: the pod as it came, or as it was last changed by an event.
        state: where it is now.
        node: where it is bound or waits, or ran before it went; "" for nowhere.
        attempts: how often it was tried.
        arrived: when it came.
        settled: when it came into its state.
        ties: how many nodes were equally good when it got its node, that one included.
        feasible: how many nodes would have done then.
        message: why it is not bound: kube-scheduler's line, the text of the gate, or the fault.
        plugins: who refused or gates it, by name.
        fault: whether `message` is a fault and no refusal.
        nominated: the node promised to it, "" for none.
        preempted_by: the pod it had to make room for, "" for none.
    """

    pod: PodInfo
    state: PodState = PodState.QUEUED
    node: str = ""
    attempts: int = 0
    arrived: float = 0.0
    settled: float = 0.0
    ties: int = 0
    feasible: int = 0
    message: str = ""
    plugins: tuple[str, ...] = ()
    fault: bool = False
    nominated: str = ""
    preempted_by: str = ""

    @property
    def is_pending(self) -> bool:
        """Whether it still wants a node."""
        return self.state in (PodState.WAITING, PodState.UNSCHEDULABLE, PodState.GATED, PodState.QUEUED)


class Eviction(msgspec.Struct, frozen=True):
    """A running pod that was told to go.

    Attributes:
        pod: as it ran, with its node.
        node: where it ran.
        by: the pod it makes room for, "" for none.
        at: when it was told.
        until: when it is gone.
    """

    pod: PodInfo
    node: str
    by: str
    at: float
    until: float


class GroupOutcome(msgspec.Struct):
    """What became of a pod group that was in the queue.

    Attributes:
        group: the group.
        attempts: how often it was tried.
        attempt: the last attempt, None before the first.
        condition: what kube-scheduler wrote last as ``PodGroupInitiallyScheduled``; once it is true it stays.
    """

    group: PodGroup
    attempts: int = 0
    attempt: GroupAttempt | None = None
    condition: PodGroupCondition | None = None

    def note(self, attempt: GroupAttempt) -> None:
        """Take down an attempt."""
        self.attempt = attempt
        if self.condition is None or self.condition.status != "True" or attempt.status.successful:
            self.condition = attempt.condition


class Run(msgspec.Struct):
    """The facts of a run.

    Attributes:
        pods: by ``namespace/name``, in order of arrival, every pod that was in the queue, and those created with a node
            in their spec; of several that had the same name one after another, the last.
        evictions: in order.
        end: why it ended; None while it goes on.
        period: after how many seconds it repeats itself, None where it does not.
        clock: seconds that went by on its clock.
        attempts: how many attempts were made, those answered from memory included.
        remembered: how many of them were.
        timeline: every record; empty where none were asked for.
        groups: by ``namespace/name``, the pod groups that were tried.
    """

    pods: dict[str, PodOutcome] = msgspec.field(default_factory=dict)
    evictions: list[Eviction] = msgspec.field(default_factory=list)
    end: RunEnd | None = None
    period: float | None = None
    clock: float = 0.0
    attempts: int = 0
    remembered: int = 0
    timeline: list[AnyRecord] = msgspec.field(default_factory=list)
    groups: dict[str, GroupOutcome] = msgspec.field(default_factory=dict)

    @property
    def end_in_words(self) -> str:
        """Why it ended, and how often what comes comes again."""
        end = self.end or RunEnd.INTERRUPTED
        return end.value.format(period=self.period)

    def count(self) -> Mapping[PodState, int]:
        """Return how many pods are in each state."""
        return Counter(outcome.state for outcome in self.pods.values())

    def of(self, state: PodState) -> Sequence[PodOutcome]:
        """Return the pods in a state, in order of arrival."""
        return [outcome for outcome in self.pods.values() if outcome.state is state]
