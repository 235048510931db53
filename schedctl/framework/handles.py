"""What a plugin may ask of the scheduler around it (upstream's ``framework.Handle``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from schedctl.cache.arrays import BoolArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import ClusterEvent
from schedctl.framework.extenders import Extender, Unanswered
from schedctl.framework.live_binds import ObjectJournal
from schedctl.framework.statuses import Status
from schedctl.framework.waiting_pods import WaitingPod

Listener = Callable[[ClusterEvent, Any, Any], None]
"""Called with an event, the object before, None if it was added, and after it, None if it was deleted.

Pods come as `PodInfo`, everything else as API structs. What it answers is not looked at.
"""


# `Fault` and `Filtered` are what plugins see of classes of the engine, which this package does not import.


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

    def serves(self, pod: PodInfo) -> bool:
        """Return whether a profile of this scheduler serves a pod; any other is left to another scheduler."""

    def nominated_pods(self, node_name: str) -> Sequence[PodInfo]:
        """Return the pods nominated to a node, in order of nomination."""

    @property
    def extenders(self) -> Sequence[Extender]:
        """The extenders of the scheduler, in the order in which they are asked."""

    def note_silence(self, extender: Extender, why: Unanswered) -> None:
        """Say that an extender should have been asked at PostFilter and gave no answer."""

    def run_filters(self, cycle: Cycle, nodes: Nodes, *, nominated: bool) -> Filtered:
        """Run the profile's filters on a column; `nominated` counts pods nominated to its nodes in, as Filter does.

        The cycle is the current one, whatever the column supposes: plugin states are made to fit it.
        """

    def place_again(self, cycle: Cycle, node_name: str) -> bool:
        """Return whether the pod of an earlier cycle fits on a node now; if it does, it is assumed and reserved there.

        Plugins whose PreFilter skipped then are not asked now. The caller takes it back, with a fork of the cluster.
        """

    def activate(self, pods: Sequence[PodInfo]) -> None:
        """Move pods to the active queue without waiting for an event."""

    def waiting_pods(self) -> Sequence[WaitingPod]:
        """Return the pods that Permit holds back, in order; plugins may let them go on, or refuse them."""

    def has_preemption_underway(self, pod: PodInfo) -> bool:
        """Return whether evictions that a pod has asked for are still being carried out."""

    def listen(self, events: ClusterEvent | Sequence[ClusterEvent], callback: Listener) -> None:
        """Hear of events from now on, each once, as an informer of kube-scheduler would: after the cluster has changed.

        There are events in a run only. What a run that is undone has told is not taken back, so that whoever keeps
        books by it begins them anew, or reads the cluster. A fault of the callback, best a method of the plugin, is
        told in the plugin's name and changes nothing else.

        Args:
            events: what to hear of; actions and kinds may be unions, as in registrations.
            callback: what to call.
        """

    def bind(self, pod: PodInfo, node_name: str) -> Status:
        """Tell the API server to bind a pod to a node, held to its uid and resourceVersion, as DefaultBinder does.

        Only ``bind --execute`` tells it; in a dry run the answer is Success.

        Raises:
            ClusterError: the API server refuses, or nobody knows whether the pod is bound.
        """

    def journal(self, pod: PodInfo) -> ObjectJournal | None:
        """Return where PreBind writes objects for a pod, so that they are taken back if it is not bound.

        None in a dry run.
        """

    @property
    def client(self) -> Any:
        """A ``kubernetes.client.ApiClient`` for a plugin that has `wants_client`, under ``bind --execute``; else None.

        It has the rights of whoever runs the command, and what is done with it is not taken back.
        """
