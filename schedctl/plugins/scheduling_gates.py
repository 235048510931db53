"""SchedulingGates: a pod with gates waits outside the queue until somebody has removed them all (KEP-3521)."""

from __future__ import annotations

from collections.abc import Hashable

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.events import Action, Registration, Resource, registers
from schedctl.framework.points import PreEnqueuePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SUCCESS, Status


class SchedulingGates(PreEnqueuePlugin):
    """Keeps gated pods out of the queue."""

    gated = Reason("waiting for scheduling gates: [{gates}]", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """Its gates, in order."""
        return tuple(gate.name for gate in pod.pod.spec.scheduling_gates or ())

    def events_to_register(self) -> tuple[Registration, ...]:
        """The last gate removed."""
        return (registers(Resource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED),)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Name the gates that are left."""
        gates = pod.pod.spec.scheduling_gates
        return self.gated.status(gates=" ".join(gate.name for gate in gates)) if gates else SUCCESS
