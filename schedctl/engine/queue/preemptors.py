"""Pods whose evictions are being carried out, and which are kept out of the queue meanwhile (KEP-4832).

kube-scheduler evicts while it goes on scheduling. The last victim of a pod is evicted once all the others are; as soon
as it is gone, or has been told to go, the pod may be tried again.
"""

from __future__ import annotations

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo


class Preemptors:
    """The pods of one cluster that have asked for evictions which are not all under way yet."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._last: dict[str, str | None] = {}  # the key of the last victim, None while others are still to be evicted

    def begin(self, pod: PodInfo) -> None:
        """Keep a pod out from now on."""
        self._last[pod.uid] = None

    def await_last(self, pod: PodInfo, victim: PodInfo) -> None:
        """Keep a pod out only for as long as this, its last victim, has not been told to go."""
        self._last[pod.uid] = victim.key

    def finish(self, pod: PodInfo) -> None:
        """Let a pod in again."""
        self._last.pop(pod.uid, None)

    def clear(self) -> None:
        """Let every pod in again."""
        self._last.clear()

    def __contains__(self, pod: PodInfo) -> bool:
        if pod.uid not in self._last:
            return False
        key = self._last[pod.uid]
        if key is None:
            return True
        row = self._cluster.pod_table.row_of.get(key)
        return row is not None and not bool(self._cluster.pod_table.terminating[row])
