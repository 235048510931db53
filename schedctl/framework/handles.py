"""What a plugin may ask of the scheduler around it (upstream's ``framework.Handle``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from schedctl.cache.arrays import BoolArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import Status
from schedctl.framework.waiting_pods import WaitingPod


class Fault(Protocol):
    """A filter failed on a row."""

    @property
    def text(self) -> str:
        """What went wrong, as kube-scheduler words it."""


class Filtered(Protocol):
    """What the filters of a profile say of a column, the first refusal of each row."""

    @property
    def feasible(self) -> BoolArray:
        """Rows no filter refused or failed on, bool (n,)."""

    @property
    def faults(self) -> Mapping[int, Fault]:
        """By position, the rows on which a filter failed."""

    def histogram(self) -> Counter[str]:
        """Return how many rows were refused for each reason text."""


class Handle(Protocol):
    """Given to a plugin when it is made; everything here can be asked at any time.

    Attributes:
        cluster: the cluster as the current cycle sees it. Only Reserve, Unreserve and PreBind put objects into it.
    """

    @property
    def cluster(self) -> Cluster:
        """The cluster as the current cycle sees it."""

    @property
    def profile_name(self) -> str:
        """The scheduler name of the profile the plugin was made for."""

    def nominated_pods(self, node_name: str) -> Sequence[PodInfo]:
        """Return the pods nominated to a node, in order of nomination."""

    def run_filters(self, cycle: Cycle, nodes: Nodes, *, nominated: bool) -> Filtered:
        """Run the profile's filters on a column; `nominated` counts pods nominated to its nodes in, as Filter does.

        The cycle is the current one, whatever the column supposes: plugin states are made to fit it.
        """

    def activate(self, pods: Sequence[PodInfo]) -> None:
        """Move pods to the active queue without waiting for an event."""

    def waiting_pods(self) -> Sequence[WaitingPod]:
        """Return the pods that Permit holds back, in order; plugins may let them go on, or refuse them."""

    def preempting(self, pod: PodInfo) -> bool:
        """Return whether evictions that a pod has asked for are still being carried out."""

    def bind(self, pod: PodInfo, node_name: str) -> Status:
        """Tell the API server to bind a pod to a node; in a dry run nothing is told and the answer is Success."""
