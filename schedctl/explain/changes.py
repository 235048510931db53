"""What could be changed so that a pod fits: the contract, which the closed set of changes keeps.

A `Change` knows how to make itself and how to say itself; it does not know whether it helps, which ``trials`` finds
out. ``pod_changes`` has those that make another pod, ``cluster_changes`` those that change the cluster, which is always
a fork. The docstring of each says in which situation it is the thing to try.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import ClassVar

from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster


class Change(ABC):
    """One thing to change.

    Attributes:
        kind: the name of the situation, as hints carry it.
        effort: how much it asks of people, to put cheap advice first.
    """

    kind: ClassVar[str]
    effort: ClassVar[int]

    @abstractmethod
    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Make the change in a fork and return the pod, which is another one if the change is about it."""

    @property
    @abstractmethod
    def condition(self) -> str:
        """What stands behind "would fit if"."""

    @property
    def subject(self) -> Hashable:
        """What it is about: of changes of one kind about one subject, the smallest that helps is enough."""
        return None

    @property
    def command(self) -> str:
        """What to type, "" where no single command does it."""
        return ""
