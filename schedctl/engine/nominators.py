"""Pods promised to nodes: those that preempted and wait for their victims to go (upstream's nominator)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from schedctl.cache.pod_info import PodInfo


class Nominator:
    """Which pods are nominated to which node, in order of nomination.

    Attributes:
        version: grows whenever that changes.
    """

    def __init__(self) -> None:
        self.version = 0
        self._pods: dict[str, list[PodInfo]] = {}
        self._node_of: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._pods)

    def __bool__(self) -> bool:
        return bool(self._pods)

    def nominate(self, info: PodInfo, node_name: str) -> None:
        """Promise a node to a pod, instead of any it was promised before."""
        self.withdraw(info)
        if node_name:
            self._pods.setdefault(node_name, []).append(info)
            self._node_of[info.uid] = node_name
            self.version += 1

    def withdraw(self, info: PodInfo) -> None:
        """Take back the promise to a pod, if there is one."""
        node_name = self._node_of.pop(info.uid, None)
        if node_name is None:
            return
        self.version += 1
        kept = [other for other in self._pods[node_name] if other.uid != info.uid]
        if kept:
            self._pods[node_name] = kept
        else:
            del self._pods[node_name]

    @contextmanager
    def fork(self) -> Iterator[None]:
        """Promise and take back for the length of a ``with`` block; leaving it undoes everything."""
        pods, node_of = {name: list(promised) for name, promised in self._pods.items()}, dict(self._node_of)
        try:
            yield
        finally:
            self._pods, self._node_of = pods, node_of
            self.version += 1  # never back to what it was: whoever compares versions has seen those in between

    def pods(self, node_name: str) -> Sequence[PodInfo]:
        """Return the pods nominated to a node."""
        return self._pods.get(node_name, ())

    def rivals(self, pod: PodInfo) -> bool:
        """Return whether a node is promised to another pod that outranks or equals this one."""
        if not self._pods:
            return False
        promised = (other for others in self._pods.values() for other in others)
        return any(other.priority >= pod.priority and other.uid != pod.uid for other in promised)

    def node_of(self, info: PodInfo) -> str:
        """Return the node a pod is nominated to, "" for none."""
        return self._node_of.get(info.uid, "")
