"""The binding cycle: a pod with a node is assumed there, reserved, permitted, and bound; or it is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from schedctl.engine.attempts import Attempt
from schedctl.engine.queue.entries import QueuedPod
from schedctl.framework.statuses import Code, Status
from schedctl.framework.waiting_pods import WaitingPod
from schedctl.releases import ReleaseChange
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.pod_state import nominated_pod
from schedctl.simulation.simulator.evictions import Evictions
from schedctl.simulation.simulator.requeue import Requeue
from schedctl.simulation.simulator.state import PermitWait, RunState
from schedctl.simulation.tie_breaking import ReplayError, TieBreaker
from schedctl.simulation.timeline import Bound, Chosen, Released, Waiting


class BindingCycle:
    """Takes pods from a successful attempt to their node."""

    def __init__(self, state: RunState, requeue: Requeue, evictions: Evictions, choose: TieBreaker) -> None:
        self._state = state
        self._requeue = requeue
        self._evictions = evictions
        self._choose = choose
        self._binds_silently = state.cluster.release.includes(ReleaseChange.SILENT_BINDINGS)

    def place(self, queued: QueuedPod, attempt: Attempt) -> None:
        """Assume the pod on a node, reserve, ask Permit, and bind unless it says Wait.

        Args:
            queued: the pod.
            attempt: a successful attempt.
        """
        state, info = self._state, queued.info
        outcome = state.outcome_of(info)
        node_name = self._choose(attempt, queued.attempts)
        outcome.ties, outcome.feasible = attempt.tie_count, attempt.feasible
        if state.trace:
            now, number = state.clock.now, outcome.attempts
            state.record(Chosen(now, info.key, number, node_name, outcome.ties, outcome.feasible))
        generation = state.cluster.generation
        reservation = state.scheduler.place(attempt, node_name)
        state.dispatcher.dispatch_objects(generation)
        status = reservation.status
        if status.successful:
            self._bind(queued, attempt, node_name)
        elif reservation.waits:
            self._wait_for_permit(queued, attempt, node_name, reservation.waits)
        else:
            state.record(Released(state.clock.now, info.key, node_name, status.message, status.plugin))
            self._requeue.reject(queued, status)

    def choose_in_trial(self, attempt: Attempt, number: int) -> str:
        """Return the node that a pod takes while its group is only tried.

        A replay knows the node where the pod went in the end; a trial that cannot have taken it there is another one.

        Args:
            attempt: a successful attempt.
            number: how often the pod was tried.
        """
        try:
            return self._choose(attempt, number)
        except ReplayError:
            return attempt.chosen

    def settle_permit_waits(self) -> None:
        """Bind the pods that Permit lets go on, and take those back that it does not."""
        state = self._state
        waits, verdicts = state.permit_waits, state.permit_verdicts
        # what one pod sets off may settle others, so the list is searched from the start each time
        while verdicts:
            wait = next((each for each in waits if each.waiting.verdict is not None), None)
            if wait is None:  # a plugin's thread is about to say so
                break
            verdicts.remove(wait.waiting)
            waits.remove(wait)
            state.agenda.cancel(wait.timeouts)
            state.scheduler.handles[wait.outcome.profile.scheduler_name].waiting.remove(wait.waiting)
            state.note_change()
            verdict, node_name = wait.waiting.verdict, wait.waiting.node_name
            assert verdict is not None
            if verdict.successful:
                self._bind(wait.queued, wait.outcome, node_name, waited=True)
            else:
                self._take_back(wait, node_name, verdict)

    def release_permit_waits(self) -> None:
        """Take the pods that Permit still holds off their nodes; their outcomes say that they wait there."""
        for wait in self._state.permit_waits:
            verdict = Status(Code.ERROR, ("the run ended",))
            self._state.scheduler.release(wait.outcome, wait.waiting.node_name, verdict)
        self._state.permit_waits.clear()

    def _expected(self, attempt: Attempt, node_name: str, *, waited: bool) -> str:
        """Return the node if it is nominated for the pod until it is bound, and whoever then hears of it; "" if not."""
        if not self._requeue.keeps_nominations:
            return ""
        return node_name if waited or self._state.scheduler.has_to_pre_bind(attempt, node_name) else ""

    def _bind(self, queued: QueuedPod, attempt: Attempt, node_name: str, *, waited: bool = False) -> None:
        state, info = self._state, queued.info
        expected = self._expected(attempt, node_name, waited=waited)
        state.queue.land(queued)
        generation = state.cluster.generation
        status = state.scheduler.bind(attempt, node_name)
        state.dispatcher.dispatch_objects(generation)
        if not status.successful:
            state.record(Released(state.clock.now, info.key, node_name, status.message, status.plugin))
            state.dispatcher.dispatch_release(info, node_name)
            self._requeue.fail(queued, status.message, status.plugin, rejected=status.is_rejected, expected=expected)
            return
        state.queue.done(queued)
        state.note_change()
        state.patience.note_bound(info.priority)
        outcome = state.outcome_of(info)
        outcome.node, outcome.message, outcome.plugins = node_name, "", ()
        outcome.fault, outcome.nominated = False, ""
        state.set_state(outcome, PodState.BOUND)
        if state.trace:
            state.record(Bound(state.clock.now, info.key, node_name))
        state.dispatcher.dispatch_arrival(info, node_name)
        promised = nominated_pod(info, expected) if expected else info
        if promised.pod.status.nominated_node_name and not self._binds_silently:
            state.dispatch_end_of_nomination(promised)
        state.schedule_answers(state.controller.on_bound(info, node_name))

    def _wait_for_permit(
        self, queued: QueuedPod, attempt: Attempt, node_name: str, timeouts: Mapping[str, float]
    ) -> None:
        state, now = self._state, self._state.clock.now
        waiting = WaitingPod(queued.info, node_name, timeouts, now, state.permit_verdicts.append)
        state.scheduler.handles[attempt.profile.scheduler_name].waiting.append(waiting)
        numbers = [
            state.agenda.schedule(until, partial(self._expire, waiting), lasting=False)
            for until in sorted(set(waiting.until.values()))
        ]
        state.permit_waits.append(PermitWait(queued, attempt, waiting, numbers))
        outcome = state.outcome_of(queued.info)
        outcome.node = node_name
        state.set_state(outcome, PodState.WAITING)
        state.note_change()
        state.record(Waiting(now, queued.info.key, node_name, dict(waiting.until)))

    def _expire(self, waiting: WaitingPod) -> None:
        waiting.expire(self._state.clock.now)

    def _take_back(self, wait: PermitWait, node_name: str, verdict: Status) -> None:
        """Forget a pod that Permit refused, or that lost its node."""
        state, queued, info = self._state, wait.queued, wait.queued.info
        state.outcome_of(info).node = ""
        state.scheduler.release(wait.outcome, node_name, verdict)
        state.record(Released(state.clock.now, info.key, node_name, verdict.message, verdict.plugin))
        if wait.deleted:
            state.queue.done(queued)
            state.cluster.remove_pod(info)
            self._evictions.note_gone(info, node_name)
            return
        # Others may have the room. A refused pod is there again by then: while it waited the node was nominated for it
        # (NominatedNodeNameForExpectation), which ends here, and kube-scheduler tells it, too; else others only.
        if not verdict.is_rejected:
            state.dispatcher.dispatch_release(info, node_name)
        keeps = self._requeue.keeps_nominations
        self._requeue.reject(queued, verdict, expected=node_name if keeps else "")
        if verdict.is_rejected:
            was_nominated = state.cluster.release.enabled("NominatedNodeNameForExpectation") and not keeps
            state.dispatcher.dispatch_release(info, node_name, to_itself=was_nominated)
