"""StartTogether: a Permit that makes a pod wait on its node until the pod it belongs to has a node, too.

For pairs that are worth nothing alone: a broker and its worker, two ends of a benchmark. Each names the other, a pod of
its namespace, by the annotation ``pairs.example.com/with``.

Extension point: ``permit``::

    schedctl simulate pair.yaml -f cluster.yaml --plugin examples/plugins/start_together.py
"""

from __future__ import annotations

from schedctl.api.meta import Int32
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import PluginArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.points import PermitPlugin
from schedctl.framework.statuses import SUCCESS, Status, wait

PARTNER = "pairs.example.com/with"


class StartTogetherArgs(PluginArgs, frozen=True):
    """For how many seconds a pod waits for its partner."""

    timeout_seconds: Int32 = 120

    def __post_init__(self) -> None:
        if self.timeout_seconds < 1:
            raise ValueError("timeoutSeconds must be at least 1")


class StartTogether(PermitPlugin):
    """Binds a pod and its partner together.

    The first to find a node waits there, holding the room, and the second lets both go. A partner that does not come in
    time costs the waiting pod its node, and it is tried again later.
    """

    args_type = StartTogetherArgs
    memory_only = True

    def signature(self, pod: PodInfo) -> str:
        """Its partner."""
        return _partner(pod)

    def events_to_register(self) -> tuple[Registration, ...]:
        """The partner that runs. One that finds a node and has to wait calls for the other."""
        return (registers(Resource.ASSIGNED_POD, Action.ADD, _after_partner),)

    def permit(self, cycle: Cycle, node_name: str) -> Status:
        """Wait for the partner, or let it go on."""
        pod, cluster = cycle.pod, self.handle.cluster
        partner = _partner(pod)
        if not partner:
            return SUCCESS
        for waiting in self.handle.waiting_pods():
            if waiting.pod.key == partner:
                waiting.allow(self.name)
                return SUCCESS
        if partner in cluster.pod_table.row_of:  # it does not wait, so it runs
            return SUCCESS
        if partner in cluster.pending:
            self.handle.activate((cluster.pending[partner],))
        args: StartTogetherArgs = self.args or StartTogetherArgs()
        return wait(args.timeout_seconds)


def _partner(pod: PodInfo) -> str:
    """Return the key of the pod that a pod starts with, "" for none."""
    name = (pod.pod.metadata.annotations or {}).get(PARTNER, "")
    return f"{pod.namespace}/{name}" if name else ""


def _after_partner(pod: PodInfo, before: None, after: PodInfo) -> Hint:
    return Hint.QUEUE if after.key == _partner(pod) else Hint.SKIP
