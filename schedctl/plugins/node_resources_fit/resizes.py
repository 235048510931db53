"""What NodeResourcesFit asks for, and how much less that is of the node on which the pod waits for a resize (KEP-5836).

A resize is deferred by the kubelet until there is room. The node counts what was asked for already, so that it has
enough when it has not given out more than it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from schedctl.api import resources
from schedctl.api.nodes import Node
from schedctl.api.quantities import MIN_INT64
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.pod_table import NO_NODE
from schedctl.framework.events import Action, Hint, QueueingHint, Registration, Resource, registers


class Requests(NamedTuple):
    """What the pod asks for.

    Attributes:
        amounts: by resource.
        names: of the resources of which it asks for more than none, pods first.
        least: how much of each must be free.
        held: what of it a node counts for the pod already.
        holder: the row of that node, `NO_NODE` for none.
    """

    amounts: Mapping[str, int]
    names: tuple[str, ...]
    least: IntArray
    held: Mapping[str, int] = {}
    holder: int = NO_NODE


def less_what_it_has(pod: PodInfo, requests: Requests, cluster: ClusterView) -> Requests:
    """Return the requests of a pod, with what its node counts for it if it runs there and waits for a resize."""
    if not cluster.tries_resize(pod):
        return requests
    pods = cluster.pod_table
    row = pods.row_of.get(pod.key)
    if row is None:
        return requests
    return requests._replace(held=pods.infos[row].requests.exact, holder=int(pods.node[row]))


def still_needed(nodes: Nodes, resource: str, requests: Requests) -> int | IntArray:
    """Return how much of a resource has to be free, int64 (n,) where a node counts some of it for the pod already."""
    amount = requests.amounts[resource]
    if requests.holder == NO_NODE:
        return amount
    rest = max(0, amount - requests.held.get(resource, 0))
    if not rest and resources.is_scalar(resource):  # passed over; of others, a node must not have given out too much
        rest = MIN_INT64
    needed: IntArray = np.where(nodes.rows == requests.holder, rest, amount)
    return needed


def registrations(room: Iterable[Registration]) -> tuple[Registration, ...]:
    """Return the events that make room, of which a pod that waits for a resize hears if they are about its node.

    Those come on top of which only such a pod wants to hear: that it asks for more, or that others there do.
    """
    return (
        *(each if each.hint is None else replace(each, hint=_on_its_node(each.hint)) for each in room),
        registers(Resource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_UP, _on_its_node(_after_scaling_up)),
        registers(Resource.TARGET_POD, Action.UPDATE_POD_SCALE_UP, _after_scaling_up),
    )


def _on_its_node(hint: QueueingHint) -> QueueingHint:
    """Return a hint that tells a pod that waits for a resize nothing of what happens on other nodes than its own."""

    def skip_other_nodes(pod: PodInfo, before: Any, after: Any) -> Hint:
        where = _node_of(before if after is None else after)
        elsewhere = where is not None and where != pod.pod.spec.node_name
        return Hint.SKIP if elsewhere and pod.resize_is_deferred else hint(pod, before, after)

    return skip_other_nodes


def _after_scaling_up(pod: PodInfo, before: PodInfo, after: PodInfo) -> Hint:
    return Hint.QUEUE if pod.resize_is_deferred else Hint.SKIP


def _node_of(obj: Any) -> str | None:
    """Return the node that an object is about, None for one that is about all of them."""
    if isinstance(obj, PodInfo):
        return obj.pod.spec.node_name
    return obj.metadata.name if isinstance(obj, Node) else None
