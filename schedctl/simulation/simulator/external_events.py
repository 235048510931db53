"""What others do to the cluster during a run: users, controllers and kubelets add, change and delete objects."""

from __future__ import annotations

from typing import Any

from schedctl.api.nodes import Node
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.framework import events
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.outcomes import PodOutcome, PodState
from schedctl.simulation.pod_state import pod_on_node
from schedctl.simulation.simulator.binding import BindingCycle
from schedctl.simulation.simulator.evictions import Evictions
from schedctl.simulation.simulator.state import PermitWait, RunState

MISSING_NODE = (
    "node {0} of spec.nodeName does not exist: no scheduler places the pod, and the pod garbage collector deletes it"
)
"""Why a pod that names its node is on none."""


class ExternalEvents:
    """Carries out events on the cluster, and tells queue and plugins of them."""

    def __init__(self, state: RunState, evictions: Evictions, binding: BindingCycle) -> None:
        self._state = state
        self._evictions = evictions
        self._binding = binding

    def apply(self, event: SimulatedEvent) -> None:
        """Carry out an event."""
        subject, is_put = event.subject, event.action is EventAction.PUT
        if isinstance(subject, PodInfo):
            if is_put:
                self._put_pod(subject)
            else:
                self._delete_pod(subject, event.grace)
        elif isinstance(subject, Node):
            if is_put:
                self._put_node(subject)
            else:
                self._delete_node(subject)
        else:
            self._apply_object(subject, is_put=is_put)

    def add_pod(self, info: PodInfo) -> None:
        """Let a pod join the queue, and the cluster if it is not in it."""
        state = self._state
        if info.key not in state.cluster.pending:
            state.cluster.add_pod(info)
            state.dispatcher.dispatch_to_plugins(events.UNSCHEDULED_POD_ADD, None, info)
        outcome = state.facts.pods[info.key] = PodOutcome(info, arrived=state.clock.now, settled=state.clock.now)
        nominated = info.pod.status.nominated_node_name
        if state.nominator.node_of(info) != nominated:
            state.nominator.nominate(info, nominated)
        outcome.nominated = nominated
        try:
            state.queue.add(info)
        except NotModelled as missing:
            state.leave_unanswered(info, str(missing))
        if state.with_groups:
            state.dispatcher.dispatch_to_queue(events.UNSCHEDULED_POD_ADD, None, info)

    # -- pods ----------------------------------------------------------------------

    def _put_pod(self, info: PodInfo) -> None:
        state = self._state
        state.note_change()
        if info.key in state.cluster.pending:
            self._update_pending(info)
        elif info.key in state.cluster.pod_table.row_of:
            self._update_running(info)
        elif info.pod.spec.node_name:
            self._add_assigned_pod(info)
        elif state.scheduler.profile_of(info) is None:
            state.cluster.add_pod(info)  # waits for another scheduler
            state.dispatcher.dispatch_to_plugins(events.UNSCHEDULED_POD_ADD, None, info)
        else:
            state.controller.on_arrival(info)
            self.add_pod(info)

    def _add_assigned_pod(self, info: PodInfo) -> None:
        """Add a pod whose spec names its node: it is bound as soon as it is created, if there is such a node."""
        state, name = self._state, info.pod.spec.node_name
        state.cluster.add_pod(info)
        now = state.clock.now
        outcome = state.facts.pods[info.key] = PodOutcome(info, PodState.ORPHANED, arrived=now, settled=now)
        if name not in state.cluster.node_table.row_of:
            outcome.message = MISSING_NODE.format(name)
            return
        outcome.state, outcome.node = PodState.BOUND, name
        state.dispatcher.dispatch(events.ASSIGNED_POD_ADD, None, info)
        state.schedule_answers(state.controller.on_bound(info, name))

    def _update_pending(self, info: PodInfo) -> None:
        state = self._state
        before = state.cluster.pending[info.key]
        state.cluster.update_pending(info)
        for event in events.pod_changes(before, info, target=False):
            state.dispatcher.dispatch_to_plugins(event, before, info)
        outcome = state.facts.pods.get(info.key)
        if outcome is None:
            return
        outcome.pod = info
        state.nominator.nominate(info, info.pod.status.nominated_node_name or state.nominator.node_of(before))
        state.queue.update(before, info)

    def _update_running(self, info: PodInfo) -> None:
        state, table = self._state, self._state.cluster.pod_table
        if self._permit_wait(info) is not None:
            return  # kube-scheduler leaves a pod alone that it has assumed
        before = table.infos[table.row_of[info.key]]
        after = pod_on_node(info, state.node_of(before))
        state.cluster.remove_pod(before)
        state.cluster.add_pod(after)
        for event in events.pod_changes(before, after, target=False):
            state.dispatcher.dispatch(event, before, after)

    def _delete_pod(self, info: PodInfo, grace: float | None) -> None:
        state, table = self._state, self._state.cluster.pod_table
        wait = self._permit_wait(info)
        if wait is not None:
            wait.deleted = wait.waiting.reject("", "removed")
            return
        if info.key in table.row_of:
            self._evictions.terminate(table.infos[table.row_of[info.key]], grace, "")
            return
        pending = state.cluster.pending.get(info.key)
        if pending is None:
            return
        state.queue.delete(pending)
        state.nominator.withdraw(pending)
        state.cluster.remove_pod(pending)
        self._evictions.note_gone(pending, "")
        state.dispatcher.dispatch_to_plugins(events.UNSCHEDULED_POD_DELETE, pending, None)
        if pending.pod.status.nominated_node_name:
            state.dispatch_end_of_nomination(pending)

    def _permit_wait(self, info: PodInfo) -> PermitWait | None:
        return next((wait for wait in self._state.permit_waits if wait.waiting.pod.key == info.key), None)

    # -- nodes and other objects ---------------------------------------------------

    def _put_node(self, node: Node) -> None:
        state, table = self._state, self._state.cluster.node_table
        row = table.row_of.get(node.metadata.name)
        before = table.objects[row] if row is not None else None
        state.cluster.add_node(node)
        state.note_change()
        after = table.objects[table.row_of[node.metadata.name]]
        for event in (events.NODE_ADD,) if before is None else events.node_changes(before, after):
            state.dispatcher.dispatch(event, before, after)

    def _delete_node(self, node: Node) -> None:
        state, name = self._state, node.metadata.name
        row = state.cluster.node_table.row_of.get(name)
        if row is None:
            return
        state.note_change()
        before = state.cluster.node_table.objects[row]
        state.dispatcher.dispatch_to_queue(events.NODE_DELETE, before, None)
        for wait in state.permit_waits:
            if wait.waiting.node_name == name:
                wait.waiting.reject("", "removed")
        self._binding.settle_permit_waits()
        removed = state.cluster.remove_node(name)
        state.dispatcher.dispatch_to_plugins(events.NODE_DELETE, before, None)
        for info in removed:
            self._evictions.note_gone(info, name)

    def _apply_object(self, subject: Any, *, is_put: bool) -> None:
        state = self._state
        generation = state.cluster.generation
        if is_put:
            state.cluster.put(subject)
        else:
            state.cluster.delete(subject)
        state.controller.on_object(subject)
        state.note_change()
        state.dispatcher.dispatch_objects(generation)
