"""From an attempt that placed no pod back to the queue: refusals, with their preemptions, and faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from schedctl.engine.attempts import Attempt
from schedctl.engine.fit_error import message as fit_error
from schedctl.engine.queue.entries import QueuedPod
from schedctl.framework.points import PostFilterResult
from schedctl.framework.statuses import Status, none_available
from schedctl.releases import ReleaseChange
from schedctl.simulation.simulator.evictions import Evictions
from schedctl.simulation.simulator.state import RunState
from schedctl.simulation.timeline import Failed, Refused


class Refusal(msgspec.Struct, frozen=True):
    """Why no node is feasible for a pod, and for all equal pods as long as nothing changes.

    Attributes:
        message: kube-scheduler's line.
        plugins: who refused it.
        pending: who said Pending.
        result: what PostFilter found, without the findings on the way, which would keep much else in memory.
    """

    message: str
    plugins: frozenset[str]
    pending: frozenset[str]
    result: PostFilterResult | None

    @classmethod
    def of(cls, attempt: Attempt) -> Refusal:
        """Return why an attempt found no node."""
        result = attempt.post_filter
        lean = None if result is None else replace(result, findings=None)
        return cls(fit_error(attempt), attempt.unschedulable_plugins, attempt.pending_plugins, lean)


class RefusalCache:
    """Refusals of equal pods, valid until the cluster or a nomination changes."""

    def __init__(self, state: RunState) -> None:
        self._scheduler = state.scheduler
        self._refusals: dict[Any, Refusal] = {}
        self._version = (-1, -1)

    @property
    def _current_version(self) -> tuple[int, int]:
        return self._scheduler.cluster.generation, self._scheduler.nominator.version

    def get(self, queued: QueuedPod) -> Refusal | None:
        """Return why a pod is refused, if an equal one was since anything changed."""
        if not self._refusals or self._version != self._current_version:
            return None
        key = self._scheduler.equivalence_key(queued.info)
        return self._refusals.get(key) if key is not None else None

    def add(self, attempt: Attempt, refusal: Refusal) -> None:
        """Keep a refusal for equal pods, unless PostFilter found a way that another pod would not find again."""
        result = attempt.post_filter
        if result is not None and (result.status.successful or result.settles or result.nominated_node):
            return
        version = self._current_version
        if version != self._version:
            self._refusals.clear()
            self._version = version
        key = self._scheduler.equivalence_key(attempt.pod)
        if key is not None:
            self._refusals[key] = refusal


class Requeue:
    """Puts pods back into the queue.

    Attributes:
        keeps_nominations: whether a pod that fails past its filters stays nominated, as in v1.34 with
            NominatedNodeNameForExpectation on.
    """

    def __init__(self, state: RunState, evictions: Evictions) -> None:
        self._state = state
        self._evictions = evictions
        release = state.cluster.release
        clears = release.includes(ReleaseChange.CLEARED_NOMINATIONS)
        self._without_post_filter = "" if clears else None
        self.keeps_nominations = not clears and release.enabled("NominatedNodeNameForExpectation")

    def refuse(self, queued: QueuedPod, refusal: Refusal, attempt: Attempt | None = None) -> None:
        """Put a pod back that fits nowhere, and evict those that PostFilter found in its way.

        Args:
            queued: the pod.
            refusal: why.
            attempt: the attempt; None where an equal pod's refusal answered.
        """
        state, result, info = self._state, refusal.result, queued.info
        victims = [victim for victim in result.victims if not victim.is_terminating] if result is not None else []
        if attempt is not None and result is not None and result.settles:
            generation = state.cluster.generation
            state.scheduler.settle(attempt)
            state.dispatcher.dispatch_objects(generation)
        nominated = result.nominated_node if result is not None else self._without_post_filter
        if state.trace:
            plugins = tuple(sorted(refusal.plugins))
            number = state.outcome_of(info).attempts
            state.record(Refused(state.clock.now, info.key, number, refusal.message, plugins, nominated or ""))
        within_cycle = not state.cluster.release.enabled("SchedulerAsyncPreemption")
        if victims and within_cycle:
            self._evictions.preempt_within_cycle(info, nominated or "", victims)
        elif victims:
            state.scheduler.preemptors.begin(info)
        self._put_back(queued, refusal.message, refusal.plugins, refusal.pending, nominated=nominated)
        if victims and not within_cycle:
            self._evictions.preempt(queued, nominated or "", victims)

    def reject(self, queued: QueuedPod, status: Status, *, expected: str = "") -> None:
        """Put a pod back that Reserve or Permit refused or failed on, or that lost its node while it waited.

        Args:
            queued: the pod.
            status: why.
            expected: the node that was nominated for it in the meantime, "" for none.
        """
        if not status.is_rejected:
            self.fail(queued, status.message, status.plugin, expected=expected)
            return
        state = self._state
        message = none_available(1, dict.fromkeys(status.reasons, 1))
        plugins = frozenset((status.plugin,) if status.plugin else ())
        number = state.outcome_of(queued.info).attempts
        state.record(Refused(state.clock.now, queued.info.key, number, message, tuple(plugins)))
        self._put_back(queued, message, plugins, nominated=self._nomination(expected))

    def return_member(
        self,
        queued: QueuedPod,
        status: Status,
        plugins: frozenset[str],
        pending: frozenset[str],
        nominated: str | None,
    ) -> None:
        """Return a pod from the cycle of its group.

        Args:
            queued: the pod.
            status: why it is not placed.
            plugins: who refused it; nobody where that was its group.
            pending: who said Pending.
            nominated: the node, "" for none, None to leave the nomination as it is.
        """
        state = self._state
        now, key, number = state.clock.now, queued.info.key, state.outcome_of(queued.info).attempts
        if status.is_rejected:
            state.record(Refused(now, key, number, status.message, tuple(sorted(plugins)), nominated or ""))
        else:
            state.record(Failed(now, key, number, status.message, status.plugin))
        self._put_back(queued, status.message, plugins, pending, nominated=nominated, fault=not status.is_rejected)

    def fail(
        self, queued: QueuedPod, message: str, plugin: str = "", *, rejected: bool = False, expected: str = ""
    ) -> None:
        """Put a pod back after a fault, or, `rejected`, after a refusal that no event can remedy; see `reject`."""
        state = self._state
        outcome = state.outcome_of(queued.info)
        if state.cluster.node_table.row_of and message != outcome.message:
            queued.seen = None  # another attempt may go well in the world as it is; the same fault twice will stay
        state.record(Failed(state.clock.now, queued.info.key, outcome.attempts, message, plugin))
        self._put_back(queued, message, nominated=self._nomination(expected), fault=not rejected)

    def _nomination(self, expected: str) -> str | None:
        """Return what becomes of the nomination of a pod that fails; `expected` as for `reject`."""
        return (expected or None) if self.keeps_nominations else ""

    def _put_back(
        self,
        queued: QueuedPod,
        message: str,
        plugins: frozenset[str] = frozenset(),
        pending: frozenset[str] = frozenset(),
        *,
        nominated: str | None,
        fault: bool = False,
    ) -> None:
        """Return a pod to the queue, nominate a node for it or withdraw the nomination, and write its status.

        Args:
            queued: the pod.
            message: why it is not placed.
            plugins: who refused it.
            pending: who said Pending.
            nominated: the node, "" for none, None to leave the nomination as it is.
            fault: whether the message is a fault.
        """
        outcome = self._state.outcome_of(queued.info)
        status_changes = (message, fault) != (outcome.message, outcome.fault)
        outcome.message, outcome.fault = message, fault
        outcome.plugins = tuple(sorted(plugins))
        self._state.queue.requeue(queued, plugins, pending)
        if not self._state.nominate(queued, nominated) and status_changes:
            self._state.queue.touch(queued)
