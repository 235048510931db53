"""What the parts of a run share: the cluster, the queue and the clock, and the facts as they come about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.engine.clocks import Clock
from schedctl.engine.queue.entries import Place, QueuedPod
from schedctl.framework.events import ASSIGNED_POD_DELETE
from schedctl.framework.pod_groups import group_key
from schedctl.framework.waiting_pods import WaitingPod
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.scheduler import Scheduler
from schedctl.simulation.dispatch import EventDispatcher
from schedctl.simulation.events import Controller, SimulatedEvent
from schedctl.simulation.outcomes import PodOutcome, PodState, Run
from schedctl.simulation.pod_state import nominated_pod
from schedctl.simulation.simulator.agenda import Agenda
from schedctl.simulation.simulator.patience import Patience
from schedctl.simulation.timeline import AnyRecord, Moved, Nominated, Unanswered

_STATES = {
    Place.ACTIVE: PodState.QUEUED,
    Place.BACKOFF: PodState.QUEUED,
    Place.IN_FLIGHT: PodState.QUEUED,
    Place.UNSCHEDULABLE: PodState.UNSCHEDULABLE,
    Place.GATED: PodState.GATED,
    Place.INCOMPLETE: PodState.GATED,
}
_KEPT_OUT = (Place.GATED, Place.INCOMPLETE)


class PermitWait(msgspec.Struct):
    """A pod that Permit holds back.

    Attributes:
        queued: the pod.
        outcome: the attempt that found its node.
        waiting: the pod as plugins see it.
        timeouts: the numbers on the agenda of what is due when the patience of plugins ends.
        deleted: whether somebody deleted the pod meanwhile.
    """

    queued: QueuedPod
    outcome: Attempt
    waiting: WaitingPod
    timeouts: list[int]
    deleted: bool = False


class RunState:
    """The state of a run.

    Attributes:
        facts: what became of the pods so far.
        trace: whether the timeline is kept.
        world: grows with everything that could make a difference to another attempt.
        permit_waits: the pods that Permit holds back.
        permit_verdicts: those about which plugins have decided since.
        with_groups: whether pods of a group are scheduled as one.
        apply_event: carries out a `SimulatedEvent`; set by the run.
    """

    def __init__(self, scheduler: Scheduler, controller: Controller, *, trace: bool, patience: float) -> None:
        self.scheduler = scheduler
        self.cluster = scheduler.cluster
        self.nominator = scheduler.nominator
        self.controller = controller
        # the base class answers nothing, so that pods need not be made up to be shown to it
        self.has_controller = type(controller) is not Controller
        self.trace = trace
        self.clock = Clock()
        self.queue = scheduler.queue(self.clock, self._on_queue_move)
        self.patience = Patience(self.clock, patience)
        self.agenda = Agenda(self.clock, self.patience)
        self.facts = Run()
        record = self.record if trace else None
        self.dispatcher = EventDispatcher(self.queue, self.cluster, record, scheduler.handles.values())
        self.world = 0
        self.with_groups = self.cluster.release.enabled(GENERIC_WORKLOAD)
        self.permit_waits: list[PermitWait] = []
        self.permit_verdicts: list[WaitingPod] = []
        self.apply_event: Callable[[SimulatedEvent], None]

    def outcome_of(self, info: PodInfo) -> PodOutcome:
        """Return what became of a pod that is or was in the queue."""
        return self.facts.pods[info.key]

    def record(self, record: AnyRecord) -> None:
        """Add a record to the timeline, if one is kept."""
        if self.trace:
            self.facts.timeline.append(record)

    def set_state(self, outcome: PodOutcome, state: PodState) -> None:
        """Let a pod come into a state."""
        if outcome.state is not state:
            outcome.state, outcome.settled = state, self.clock.now

    def note_change(self) -> None:
        """Note that another attempt could end differently."""
        self.world += 1

    def node_of(self, info: PodInfo) -> str:
        """Return the node a pod of the pod table is on."""
        table = self.cluster.pod_table
        return self.cluster.node_table.names[int(table.node[table.row_of[info.key]])]

    def schedule_answers(self, events: Iterable[SimulatedEvent]) -> None:
        """Schedule what a controller answers."""
        for event in events:
            self.agenda.schedule(self.clock.now + event.at, partial(self.apply_event, event))

    def nominate(self, queued: QueuedPod, node_name: str | None) -> bool:
        """Nominate a node for a pod, "" for none, None for the one it has; return whether that changed the pod."""
        info = queued.info
        before = info.pod.status.nominated_node_name
        node_name = before if node_name is None else node_name
        if self.nominator.node_of(info) != node_name:
            self.nominator.nominate(info, node_name)
            self.note_change()
        if before == node_name:
            return False
        after = nominated_pod(info, node_name)
        self.outcome_of(info).nominated = node_name
        self.record(Nominated(self.clock.now, info.key, node_name))
        self.cluster.update_pending(after)
        self.queue.update(info, after)
        if before:
            self.dispatch_end_of_nomination(info)
        return True

    def dispatch_end_of_nomination(self, info: PodInfo) -> None:
        """Tell pods that a nominated pod does not outrank of its room; kube-scheduler sends them a pod deletion."""
        self.dispatcher.dispatch_to_queue(
            ASSIGNED_POD_DELETE, info, None, lambda other: other.info.priority <= info.priority
        )

    def leave_unanswered(self, info: PodInfo, message: str) -> None:
        """Note that a pod needs what is not modelled."""
        outcome = self.outcome_of(info)
        outcome.message = message
        self.set_state(outcome, PodState.UNANSWERED)
        self.record(Unanswered(self.clock.now, info.key, message))

    def _on_queue_move(self, queued: QueuedPod, before: Place | None, event: str) -> None:
        place, outcome = queued.place, self.outcome_of(queued.info)
        kept_out = place in _KEPT_OUT
        gate, gating_plugin = self._gate_of(queued) if kept_out else ("", "")
        if place is not None:
            # a refused group backs off, where a refused pod waits for an event
            refused = self.with_groups and place is Place.BACKOFF and group_key(queued.info) and not outcome.fault
            self.set_state(outcome, PodState.UNSCHEDULABLE if refused else _STATES[place])
        if kept_out:
            queued.seen = self.world
            outcome.message, outcome.plugins, outcome.fault = gate, (gating_plugin,), False
        if not self.trace:
            return
        now, key = self.clock.now, queued.info.key
        to, origin = place.value if place is not None else "", before.value if before is not None else ""
        if gating_plugin:
            self.record(Moved(now, key, to, origin, event, plugin=gating_plugin, message=gate))
        elif place is Place.BACKOFF and queued.expiration is not None:
            self.record(Moved(now, key, to, origin, event, queued.expiration))
        else:
            self.record(Moved(now, key, to, origin, event))

    def _gate_of(self, queued: QueuedPod) -> tuple[str, str]:
        """Return what keeps a pod out of the queue and whose word that is: its own gate, or one of its group."""
        if queued.place is Place.INCOMPLETE:
            profile = self.scheduler.profile_of(queued.info)
            for plugin in profile.pre_enqueue if profile is not None else ():
                if not (status := plugin.pre_enqueue(queued.info)).successful:
                    return status.message, plugin.name
            return "its PodGroup does not exist", ""
        gate = self.queue.gate_of(queued)
        return (gate.gate.message if gate.gate is not None else ""), gate.gating_plugin
