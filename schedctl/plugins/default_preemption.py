"""DefaultPreemption: makes room for a pod by evicting others of lower priority."""

from __future__ import annotations

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import PostFilterPlugin, PostFilterResult, PreEnqueuePlugin
from schedctl.framework.reasons import CodeColumn
from schedctl.framework.statuses import SUCCESS, Status, unschedulable

NOT_TRIED = "preemption: not tried (not modelled yet)"


class DefaultPreemption(PreEnqueuePlugin, PostFilterPlugin):
    """Makes room by evicting pods of lower priority, the fewest and least important; not modelled yet."""

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Let every pod in: none is waiting for victims to go."""
        return SUCCESS

    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Say that preemption was not tried, so that nobody takes silence for "it would not help"."""
        return PostFilterResult(unschedulable(NOT_TRIED))
