"""The scheduler as a plugin of one profile sees it; implements `schedctl.framework.handles.Handle`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar, cast

from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.assumptions import Assumption
from schedctl.engine.binding import BindingCycle
from schedctl.engine.calls import runner_of
from schedctl.engine.filtering import Filtering, filter_column, filter_nodes, refit
from schedctl.engine.nominators import Nominator
from schedctl.engine.queue.preemptors import Preemptors
from schedctl.engine.reporters import Reporter
from schedctl.framework import faults
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import ClusterEvent
from schedctl.framework.extenders import Extender, Unanswered
from schedctl.framework.handles import Handle, Listener
from schedctl.framework.live_binds import LiveBind, ObjectJournal
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SUCCESS, Status
from schedctl.framework.waiting_pods import WaitingPod

T = TypeVar("T")


class ProfileHandle:
    """Made before the plugins of a profile, and given the profile once they are made.

    Attributes:
        cluster: the cluster of the scheduler.
        nominator: which pods are promised to which nodes.
        preemptors: which pods have evictions under way.
        profile: the profile the plugins belong to.
        scheduler_names: those of all profiles; None where every pod is served.
        waiting: pods that Permit holds back.
        activated: pods plugins asked to move to the active queue, until the queue takes them.
        live: the pods that are being bound in a live cluster, by uid; empty in a dry run.
    """

    def __init__(
        self,
        cluster: Cluster,
        nominator: Nominator,
        preemptors: Preemptors | None = None,
        reporter: Reporter | None = None,
        scheduler_names: Collection[str] | None = None,
    ) -> None:
        self.scheduler_names = scheduler_names
        self.cluster = cluster
        self.nominator = nominator
        self.preemptors = preemptors or Preemptors(cluster)
        self.profile = Profile("")
        self.waiting: list[WaitingPod] = []
        self.activated: list[PodInfo] = []
        self.live: dict[str, LiveBind] = {}
        self._reporter = reporter or Reporter()
        self._listeners: list[tuple[tuple[ClusterEvent, ...], Listener]] = []

    @property
    def has_listeners(self) -> bool:
        """Whether a plugin listens to events."""
        return bool(self._listeners)

    @property
    def profile_name(self) -> str:
        """The scheduler name of the profile."""
        return self.profile.scheduler_name

    def serves(self, pod: PodInfo) -> bool:
        """Return whether a profile of the scheduler serves a pod; see the protocol."""
        return self.scheduler_names is None or pod.pod.spec.scheduler_name in self.scheduler_names

    def nominated_pods(self, node_name: str) -> Sequence[PodInfo]:
        """Return the pods nominated to a node, in order of nomination."""
        return self.nominator.pods(node_name)

    @property
    def extenders(self) -> Sequence[Extender]:
        """The extenders of the scheduler, in the order in which they are asked."""
        return self.profile.extenders

    def note_silence(self, extender: Extender, why: Unanswered) -> None:
        """Take down that an extender gave no answer at PostFilter; see the protocol."""
        runner_of(self.cluster).note_silence(Assumption("postFilter", extender.name, type(why)))

    def run_filters(self, cycle: Cycle, nodes: Nodes, *, nominated: bool) -> Filtering:
        """Run the profile's filters on a column; see the protocol."""
        if nominated:
            return filter_nodes(self.profile, cycle, nodes, self.nominator)
        return filter_column(self.profile, cycle, nodes)

    def place_again(self, cycle: Cycle, node_name: str) -> bool:
        """Return whether the pod of an earlier cycle fits on a node now, and assume it there; see the protocol."""
        again = refit(self.profile, cycle, self.cluster.nodes_named([node_name]), self.nominator)
        if again is None:
            return False
        BindingCycle(self.profile, self.cluster, again, node_name, Reporter()).assume()
        return True

    def activate(self, pods: Sequence[PodInfo]) -> None:
        """Move pods to the active queue without waiting for an event."""
        infos = _all(PodInfo, pods, "activate takes pods")
        self.activated += infos

    def waiting_pods(self) -> Sequence[WaitingPod]:
        """Return the pods that Permit holds back; see the protocol."""
        return tuple(self.waiting)

    def listen(self, events: ClusterEvent | Sequence[ClusterEvent], callback: Listener) -> None:
        """Hear of events from now on; see the protocol."""
        heard = (events,) if isinstance(events, ClusterEvent) else _all(ClusterEvent, events, "listen takes events")
        if not callable(callback):
            raise TypeError(f"listen calls back a function, not {faults.quote(callback)}")
        self._listeners.append((heard, callback))

    def tell(self, event: ClusterEvent, before: Any, after: Any) -> None:
        """Tell the listeners among the plugins of an event."""
        for events, callback in self._listeners:
            if any(each.covers(event) for each in events):
                try:
                    callback(event, before, after)
                except KeyboardInterrupt:
                    raise
                except faults.ESCAPING as fault:  # what happened has happened, whatever a plugin makes of it
                    self._blame(callback, fault)

    def listens(self, plugin: Plugin) -> bool:
        """Return whether a plugin listens to events, and so may know what it has not read."""
        return any(getattr(callback, "__self__", plugin) is plugin for _, callback in self._listeners)

    def _blame(self, callback: Listener, fault: BaseException) -> None:
        plugin = getattr(callback, "__self__", None)
        if isinstance(plugin, Plugin):
            name = plugin.name
        else:
            name = getattr(callback, "__qualname__", type(callback).__name__).partition(".")[0]
        self._reporter.plugin_failed(name, f'plugin "{name}" failed: {faults.describe(fault, plugin)}')

    def has_preemption_underway(self, pod: PodInfo) -> bool:
        """Return whether evictions that a pod has asked for are still being carried out."""
        return pod in self.preemptors

    def bind(self, pod: PodInfo, node_name: str) -> Status:
        """Send the Binding of a pod that is being bound; in a dry run answer Success; see the protocol."""
        live = self.live.get(pod.uid)
        return SUCCESS if live is None else live.send()

    def journal(self, pod: PodInfo) -> ObjectJournal | None:
        """Return where PreBind writes objects for a pod; see the protocol."""
        live = self.live.get(pod.uid)
        return None if live is None else live.journal

    @property
    def client(self) -> Any:
        """None: the plugin has not said that it wants a client; see the protocol."""
        return None


class ClientHandle:
    """The handle of a profile as a plugin has it that wants a client of the API server."""

    def __init__(self, handle: ProfileHandle) -> None:
        self._handle = handle
        self._client: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)

    @property
    def client(self) -> Any:
        """A ``kubernetes.client.ApiClient`` while pods are being bound, None in a dry run."""
        if self._client is None and self._handle.live:
            self._client = next(iter(self._handle.live.values())).client
        return self._client


def handle_for(plugin: type[Plugin], handle: ProfileHandle) -> Handle:
    """Return the handle of a profile as a plugin is to have it."""
    return cast(Handle, ClientHandle(handle)) if plugin.wants_client else handle


def _all(kind: type[T], items: Sequence[T], what: str) -> tuple[T, ...]:
    """Return what a plugin hands over, which would otherwise go wrong later, in the name of the engine.

    Raises:
        TypeError: something in it is of another kind.
    """
    for one in (taken := tuple(items)):
        if not isinstance(one, kind):
            raise TypeError(f"{what}, not {faults.quote(one)}")
    return taken
