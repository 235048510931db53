"""Pods that have to go: preempted, evicted or deleted, terminating for their grace period, and gone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.queue.entries import QueuedPod
from schedctl.framework.events import ASSIGNED_POD_UPDATE
from schedctl.framework.waiting_pods import WaitingPod
from schedctl.releases import ReleaseChange
from schedctl.simulation.outcomes import Eviction, PodState
from schedctl.simulation.pod_state import grace_period, pod_on_node, terminating_pod
from schedctl.simulation.simulator.state import RunState
from schedctl.simulation.timeline import Evicted, Gone


class Evictions:
    """Makes pods go."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        release = state.cluster.release
        self._take_node = _let_back_off if release.includes(ReleaseChange.SPARED_WAITING_PODS) else _reject
        self._activates_preemptor = release.includes(ReleaseChange.ACTIVATED_PREEMPTORS)

    def preempt_within_cycle(self, preemptor: PodInfo, node_name: str, victims: Sequence[PodInfo]) -> None:
        """Evict the victims of a pod before its cycle ends, as without SchedulerAsyncPreemption."""
        for victim in victims:
            self._evict_victim(victim, preemptor)
        self._withdraw_nominations(node_name, preemptor)

    def preempt(self, queued: QueuedPod, node_name: str, victims: Sequence[PodInfo]) -> None:
        """Evict the victims of a pod, which is kept out of the queue until all have been told to go."""
        state = self._state
        preemptor, preemptors = queued.info, state.scheduler.preemptors
        self._withdraw_nominations(node_name, preemptor)
        *others, last = victims
        for victim in others:
            self._evict_victim(victim, preemptor)
        # kube-scheduler evicts the last victim when all others have been, and waits for that one's deletion
        preemptors.await_last(preemptor, last)
        in_memory = self._evict_victim(last, preemptor)
        preemptors.finish(preemptor)
        if in_memory and self._activates_preemptor:
            state.queue.activate((preemptor,))

    def _withdraw_nominations(self, node_name: str, preemptor: PodInfo) -> None:
        """Take a node from pods of lower priority that it was promised to: they may not fit there any more."""
        state = self._state
        for other in tuple(state.nominator.pods(node_name)):
            loser = state.queue.get(other.key)
            if loser is not None and other.priority < preemptor.priority:
                state.nominate(loser, "")

    def _evict_victim(self, victim: PodInfo, preemptor: PodInfo) -> bool:
        return self.evict(victim, preemptor.key)

    def evict(self, victim: PodInfo, by: str) -> bool:
        """Take a victim's node away; return whether that was done in memory, because it is not bound yet.

        Args:
            victim: the pod that has to make room.
            by: the key of the pod it makes room for.
        """
        for wait in self._state.permit_waits:
            if wait.waiting.pod.uid == victim.uid and self._take_node(wait.waiting):
                self._state.outcome_of(victim).preempted_by = by
                return True
        self.terminate(victim, None, by)
        return False

    def terminate(self, info: PodInfo, grace: float | None, by: str) -> None:
        """Tell a running pod to go, which it does after its grace period.

        Args:
            info: the pod.
            grace: its grace period in seconds, None for its own.
            by: the pod it makes room for, "" for none.
        """
        state = self._state
        if info.key not in state.cluster.pod_table.row_of or info.is_terminating:
            return
        now, node_name = state.clock.now, state.node_of(info)
        grace = grace_period(info) if grace is None else grace
        running, until = pod_on_node(info, node_name), now + grace
        state.facts.evictions.append(Eviction(running, node_name, by, now, until))
        outcome = state.facts.pods.get(info.key)
        if outcome is not None:
            outcome.preempted_by = by
        if by:
            state.patience.note_preempted(info)
        state.record(Evicted(now, info.key, node_name, by, until))
        state.note_change()
        if grace <= 0:
            self.remove(info)
            return
        leaving = terminating_pod(running, until, grace, preempted=bool(by))
        state.cluster.remove_pod(info)
        state.cluster.add_pod(leaving)
        if outcome is not None:
            state.set_state(outcome, PodState.TERMINATING)
        state.dispatcher.dispatch(ASSIGNED_POD_UPDATE, running, leaving)
        state.agenda.schedule(until, partial(self.remove, leaving))
        if state.has_controller:
            state.schedule_answers(state.controller.on_eviction(leaving, node_name))

    def remove(self, info: PodInfo) -> None:
        """Remove a running pod from the cluster, unless it has gone already."""
        state = self._state
        table = state.cluster.pod_table
        row = table.row_of.get(info.key)
        if row is None or table.infos[row].uid != info.uid:  # gone, and another may have its name by now
            return
        node_name, latest = state.node_of(info), table.infos[row]
        state.cluster.remove_pod(latest)
        self.note_gone(latest, node_name)

    def note_gone(self, info: PodInfo, node_name: str) -> None:
        """Note that a pod has left the cluster, and tell queue, plugins and controllers.

        Args:
            info: the pod.
            node_name: where it ran, "" for nowhere.
        """
        state = self._state
        state.note_change()
        state.patience.note_gone(info)
        state.record(Gone(state.clock.now, info.key, node_name))
        outcome = state.facts.pods.get(info.key)
        if outcome is not None:
            outcome.node = node_name
            state.set_state(outcome, PodState.GONE)
        if node_name:
            state.dispatcher.dispatch_departure(info, node_name)
        if state.has_controller:
            generation = state.cluster.generation
            state.schedule_answers(state.controller.on_deletion(pod_on_node(info, node_name), node_name))
            state.dispatcher.dispatch_objects(generation)


def _let_back_off(waiting: WaitingPod) -> bool:
    return waiting.preempt("DefaultPreemption", "preempted")


def _reject(waiting: WaitingPod) -> bool:
    return waiting.reject("DefaultPreemption", "preempted")
