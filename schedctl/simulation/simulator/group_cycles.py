"""The cycle of a pod group in a run: its pods are bound as far as it got, or return to the queue as one."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.engine.attempts import Attempt
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.engine.queue.entries import QueuedGroup, QueuedPod
from schedctl.engine.queue.group_queue import GroupQueue
from schedctl.errors import NotModelled
from schedctl.framework.statuses import SUCCESS, Code
from schedctl.simulation.outcomes import GroupOutcome
from schedctl.simulation.simulator.binding import BindingCycle
from schedctl.simulation.simulator.evictions import Evictions
from schedctl.simulation.simulator.requeue import Requeue
from schedctl.simulation.simulator.state import RunState


class GroupCycles:
    """Tries groups, and does what follows."""

    def __init__(
        self, state: RunState, requeue: Requeue, evictions: Evictions, binding: BindingCycle, *, makes_room: bool
    ) -> None:
        self._makes_room = makes_room
        self._state = state
        self._requeue = requeue
        self._evictions = evictions
        self._binding = binding
        self._last: dict[str, tuple[int, frozenset[str], GroupAttempt]] = {}

    def attempt(self, entry: QueuedGroup) -> None:
        """Try to schedule a group that came out of the queue."""
        state, queue = self._state, self._queue
        waiting = [queued for queued in entry.members if not queued.info.is_terminating]
        for queued in entry.members:
            self._count(queued)
            if queued.info.is_terminating:
                queue.done(queued)
        if not waiting:
            queue.finish(entry, SUCCESS)
            return
        facts = state.facts.groups.setdefault(entry.name, GroupOutcome(entry.group))
        facts.attempts += 1
        try:
            attempt = self._try(entry, waiting)
        except NotModelled as missing:
            for queued in waiting:
                queue.done(queued)
                state.leave_unanswered(queued.info, str(missing))
            queue.finish(entry, SUCCESS)
            return
        facts.note(attempt)
        for queued in waiting:
            self._follow(queued, attempt)
        self._settle(attempt, waiting)
        queue.finish(entry, attempt.status)

    @property
    def _queue(self) -> GroupQueue:
        queue = self._state.queue
        assert isinstance(queue, GroupQueue)  # no other queue has groups
        return queue

    def _count(self, queued: QueuedPod) -> None:
        state = self._state
        state.outcome_of(queued.info).attempts += 1
        state.facts.attempts += 1
        queued.seen = state.world

    def _try(self, entry: QueuedGroup, waiting: Sequence[QueuedPod]) -> GroupAttempt:
        """Return what comes of the group; where nothing has changed since it was refused, what came of it then.

        A refused group backs off and is tried again, whatever happens meanwhile: with events it would not wait for.
        """
        state, uids = self._state, frozenset(queued.info.uid for queued in waiting)
        known = self._last.get(entry.name)
        if known is not None and known[:2] == (state.world, uids):
            state.facts.remembered += len(waiting)
            return known[2]
        numbers = {queued.info.key: queued.attempts for queued in waiting}

        def choose(outcome: Attempt) -> str:
            return self._binding.choose_in_trial(outcome, numbers[outcome.pod.key])

        attempt = state.scheduler.attempt_group(
            entry.group, [queued.info for queued in waiting], choose=choose, make_room=self._makes_room
        )
        if attempt.status.code is Code.UNSCHEDULABLE and not attempt.awaits_preemption:
            self._last[entry.name] = state.world, uids, attempt
        else:
            self._last.pop(entry.name, None)
        return attempt

    def _follow(self, queued: QueuedPod, attempt: GroupAttempt) -> None:
        """Bind a pod that is to be bound, and return any other."""
        status, member = attempt.message_of(queued.info), attempt.member_of(queued.info)
        if status.successful and member is not None:
            self._binding.place(queued, member.outcome)
            return
        plugins = pending = frozenset[str]()
        if member is not None and not member.status.successful and attempt.status.code is not Code.ERROR:
            plugins, pending = member.outcome.unschedulable_plugins, member.outcome.pending_plugins
        self._requeue.return_member(queued, status, plugins, pending, attempt.nomination_after(queued.info))

    def _settle(self, attempt: GroupAttempt, waiting: Sequence[QueuedPod]) -> None:
        """Do what PodGroupPostFilter wants done. The victims are told to go before the group is queued again."""
        state, result = self._state, attempt.post_filter
        if result is None:
            return
        generation = state.cluster.generation
        for obj in result.objects:
            state.cluster.put(obj)
        for obj in result.removed:
            state.cluster.delete(obj)
        state.dispatcher.dispatch_objects(generation)
        if not attempt.awaits_preemption:
            return
        victims = [victim for victim in result.victims if not victim.is_terminating]
        # a victim makes room for the pod that is nominated to its node, where there is one, else for the first
        preemptors = {node: key for key, node in reversed(list(result.nominations.items()))}
        for victim in victims:
            by = preemptors.get(state.node_of(victim), waiting[0].info.key)
            self._evictions.evict(victim, by)
