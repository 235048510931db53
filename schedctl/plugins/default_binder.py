"""DefaultBinder: binds the pod through whoever runs the scheduler, which in a dry run does nothing."""

from __future__ import annotations

from collections.abc import Hashable

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import BindPlugin
from schedctl.framework.statuses import Status


class DefaultBinder(BindPlugin):
    """Binds the pod to the chosen node."""

    def signature(self, pod: PodInfo) -> Hashable:
        """Reads nothing of the pod."""
        return ()

    def bind(self, cycle: Cycle, node_name: str) -> Status:
        """Pass the binding on."""
        return self.handle.bind(cycle.pod, node_name)
