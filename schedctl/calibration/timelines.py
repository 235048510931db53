"""What came when: pods and nodes in the order in which they came, and which pods show a decision of ours.

Binding sets a pod's PodScheduled condition, with the time to the second; a live cluster has an event besides, to the
microsecond, for as long as events are kept. Nothing tells when a node was cordoned, tainted or labelled, nor when pods
went that are not there any more: `traces` names that where it matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import msgspec

from schedctl.api.events import Event
from schedctl.api.meta import controller_of
from schedctl.api.pods import Pod
from schedctl.api.times import unix_nanoseconds
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.explain.histories import binding_time
from schedctl.scheduler import Scheduler

MIRROR = "kubernetes.io/config.mirror"
SECOND = 10**9
_ASSIGNED = re.compile(r" to (\S+)$")
AT_ONCE = SECOND // 10
"""Nanoseconds within which exact times do not tell who was first: events are recorded when bindings are through, and
those run side by side."""


class LeftOut(Enum):
    """Why a pod on a node shows no decision that could be made again."""

    FOREIGN = "ForeignScheduler"
    STATIC = "Static"
    UNSCHEDULED = "NeverScheduled"
    NODE_GONE = "NodeGone"


class Arrival(msgspec.Struct, frozen=True):
    """A pod or a node that came into the state.

    Attributes:
        at: when, in nanoseconds since 1970.
        pod: the pod, None for a node.
        node: the node; of a pod, the one it is on, "" where it is pending.
        decided: whether it shows a decision that can be made again.
        exact: whether the time is better than to the second.
    """

    at: int
    pod: PodInfo | None
    node: str
    decided: bool = False
    exact: bool = False


class Timeline(msgspec.Struct):
    """What came when.

    Attributes:
        arrivals: the newest first.
        left_out: the pods that show no decision, by why.
        timeless: the pods that carry no time at all, and so take part always.
    """

    arrivals: list[Arrival] = msgspec.field(default_factory=list)
    left_out: dict[LeftOut, list[str]] = msgspec.field(default_factory=dict)
    timeless: list[str] = msgspec.field(default_factory=list)

    @property
    def decisions(self) -> list[Arrival]:
        """The decisions that can be made again, the newest first."""
        return [each for each in self.arrivals if each.decided]

    def near(self, decision: Arrival) -> list[str]:
        """Return the pods decided about so close to another that the times do not tell who was first."""
        return [
            each.pod.key
            for each in self.arrivals
            if each.decided and each.pod is not decision.pod and each.pod and _at_once(each, decision)
        ]

    def beside(self, decision: Arrival) -> list[str]:
        """Return the pods that came to a node by no decision of ours, too close to one to know whether it saw them."""
        return [
            each.pod.key
            for each in self.arrivals
            if each.pod is not None and each.node and not each.decided and _at_once(each, decision)
        ]


def timeline(scheduler: Scheduler, scheduled: Iterable[Event] = ()) -> Timeline:
    """Return what came when in a scheduler's cluster.

    Args:
        scheduler: the profiles and the cluster.
        scheduled: the events that pods were scheduled.
    """
    cluster, made = scheduler.cluster, Timeline()
    precise = {event.involved_object.uid: event.first for event in scheduled if event.first}
    names = cluster.node_table.names
    for info in cluster.strays.values():
        made.left_out.setdefault(LeftOut.NODE_GONE, []).append(info.key)
    for info in cluster.pod_table:
        why = _reason_left_out(info, scheduler)
        condition = binding_time(info.pod)
        event = precise.get(info.pod.metadata.uid, "") if info.pod.metadata.uid else ""
        text = event or condition or info.pod.metadata.creation_timestamp or ""
        if why is not None:
            made.left_out.setdefault(why, []).append(info.key)
        if not text:
            made.timeless.append(info.key)
            continue
        node = names[int(cluster.pod_table.node[cluster.pod_table.row_of[info.key]])]
        made.arrivals.append(Arrival(unix_nanoseconds(text), info, node, why is None, bool(event)))
    made.arrivals += _others(cluster)
    made.arrivals.sort(key=_newest_first)
    return made


def _at_once(one: Arrival, other: Arrival) -> bool:
    return abs(one.at - other.at) < (AT_ONCE if one.exact and other.exact else SECOND)


def _newest_first(arrival: Arrival) -> tuple[int, int, str]:
    # Pods bound in the same second mostly come in the order in which they were created.
    created = arrival.pod.pod.metadata.creation_timestamp if arrival.pod is not None else None
    return -arrival.at, -unix_nanoseconds(created) if created else 0, arrival.pod.key if arrival.pod else arrival.node


def _others(cluster: Cluster) -> Iterable[Arrival]:
    """Yield the nodes, and the pending pods, whose nominations count against others."""
    nodes = cluster.nodes_by_name
    for name, row in zip(nodes.names, nodes.rows.tolist(), strict=True):
        created = cluster.node_table.objects[row].metadata.creation_timestamp
        if created:
            yield Arrival(unix_nanoseconds(created), None, name)
    for info in cluster.pending.values():
        created = info.pod.metadata.creation_timestamp
        if created:
            yield Arrival(unix_nanoseconds(created), info, "")


def _reason_left_out(info: PodInfo, scheduler: Scheduler) -> LeftOut | None:
    # First, since a static pod may carry a PodScheduled condition as well.
    owner = controller_of(info.pod)
    if MIRROR in (info.pod.metadata.annotations or {}) or (owner is not None and owner.kind == "Node"):
        return LeftOut.STATIC
    if not binding_time(info.pod):
        return LeftOut.UNSCHEDULED
    return None if scheduler.profile_of(info) is not None else LeftOut.FOREIGN


@dataclass(frozen=True, slots=True, order=True)
class Gone:
    """A pod that was on a node once and is not any more.

    Attributes:
        at: when it came, in nanoseconds since 1970.
        pod: ``namespace/name``.
        node: the node, "" where nobody says.
    """

    at: int
    pod: str
    node: str = ""


def pods_gone(cluster: Cluster, finished: Sequence[Pod], scheduled: Iterable[Event]) -> list[Gone]:
    """Return the pods that were on nodes once and are not any more, as far as that is known.

    Args:
        cluster: the cluster as it is.
        finished: pods that have run to their end.
        scheduled: the events that pods were scheduled, which say where.
    """
    there = {info.pod.metadata.uid for info in cluster.pod_table}
    ended = {pod.metadata.uid for pod in finished}
    found = set()
    for event in scheduled:
        if event.first and event.involved_object.uid not in there | ended:
            on = _ASSIGNED.search(event.message)
            key = f"{event.involved_object.namespace}/{event.involved_object.name}"
            found.add(Gone(unix_nanoseconds(event.first), key, on[1] if on else ""))
    found |= {
        Gone(unix_nanoseconds(at), pod.key, pod.spec.node_name or "") for pod in finished if (at := binding_time(pod))
    }
    return sorted(found)
