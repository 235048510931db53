"""DynamicResources where DynamicResourceAllocation is off: a profile that names it gets a plugin that does nothing."""

from __future__ import annotations

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Registration
from schedctl.framework.points import (
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)
from schedctl.framework.reasons import ACCEPT, CodeColumn, Verdicts
from schedctl.framework.statuses import SKIP, SUCCESS, Status, unschedulable


class DisabledDynamicResources(
    PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, PostFilterPlugin, ReservePlugin, PreBindPlugin
):
    """Accepts every pod and node, whatever the pod claims, and makes no room."""

    name = "DynamicResources"
    memory_only = True
    reads_feasible_set = False

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Let every pod into the queue."""
        return SUCCESS

    def events_to_register(self) -> tuple[Registration, ...]:
        """Hear of nothing: it rejects nobody."""
        return ()

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        """Skip every pod."""
        return SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Accept every node."""
        return ACCEPT

    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Make no room, and say why."""
        return PostFilterResult(unschedulable("plugin disabled"))

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Take nothing."""
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Give nothing back."""

    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Write nothing."""
        return SUCCESS

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> bool:
        """Return that there is never anything to do."""
        return False

    def signature(self, pod: PodInfo) -> str:
        """All pods are alike."""
        return ""
