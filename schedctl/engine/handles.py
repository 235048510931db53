"""The scheduler as a plugin of one profile sees it; implements `schedctl.framework.handles.Handle`."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.filtering import Filtering, filter_column, filter_nodes
from schedctl.engine.nominators import Nominator
from schedctl.engine.preemptors import Preemptors
from schedctl.framework.cycles import Cycle
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SUCCESS, Status
from schedctl.framework.waiting_pods import WaitingPod


class ProfileHandle:
    """Made before the plugins of a profile, and given the profile once they are made.

    Attributes:
        cluster: the cluster of the scheduler.
        nominator: which pods are promised to which nodes.
        preemptors: which pods have evictions under way.
        profile: the profile the plugins belong to.
        waiting: pods that Permit holds back.
        activated: pods plugins asked to move to the active queue, until the queue takes them.
    """

    def __init__(self, cluster: Cluster, nominator: Nominator, preemptors: Preemptors | None = None) -> None:
        self.cluster = cluster
        self.nominator = nominator
        self.preemptors = preemptors or Preemptors(cluster)
        self.profile = Profile("")
        self.waiting: list[WaitingPod] = []
        self.activated: list[PodInfo] = []

    @property
    def profile_name(self) -> str:
        """The scheduler name of the profile."""
        return self.profile.scheduler_name

    def nominated_pods(self, node_name: str) -> Sequence[PodInfo]:
        """Return the pods nominated to a node, in order of nomination."""
        return self.nominator.pods(node_name)

    def run_filters(self, cycle: Cycle, nodes: Nodes, *, nominated: bool) -> Filtering:
        """Run the profile's filters on a column; see the protocol."""
        if nominated:
            return filter_nodes(self.profile, cycle, nodes, self.nominator)
        return filter_column(self.profile, cycle, nodes)

    def activate(self, pods: Sequence[PodInfo]) -> None:
        """Move pods to the active queue without waiting for an event."""
        self.activated += pods

    def waiting_pods(self) -> Sequence[WaitingPod]:
        """Return the pods that Permit holds back; see the protocol."""
        return tuple(self.waiting)

    def preempting(self, pod: PodInfo) -> bool:
        """Return whether evictions that a pod has asked for are still being carried out."""
        return pod in self.preemptors

    def bind(self, pod: PodInfo, node_name: str) -> Status:
        """Answer Success without doing anything: a dry run; see the protocol."""
        return SUCCESS
