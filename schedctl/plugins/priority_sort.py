"""PrioritySort: the order of the queue, by priority and then by age."""

from __future__ import annotations

from collections.abc import Hashable

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.points import QueueSortPlugin


class PrioritySort(QueueSortPlugin):
    """Puts pods of higher priority first; of equal ones, those that came first."""

    def signature(self, pod: PodInfo) -> Hashable:
        """Its priority."""
        return pod.priority

    def sort_key(self, pod: PodInfo, arrival: float) -> tuple[int, float]:
        """Return the priority, turned round, and the arrival."""
        return -pod.priority, arrival
