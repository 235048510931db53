"""What a group of nodes is: its limits, and a template for each sort of node that it could get."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from schedctl.api.amounts import quantity
from schedctl.api.nodes import Node, Taint


class Autoscaler(StrEnum):
    """Who makes the nodes of a group."""

    KARPENTER = "Karpenter"
    CLUSTER_AUTOSCALER = "ClusterAutoscaler"
    UNKNOWN = "Unknown"


class TemplateField(msgspec.Struct, frozen=True):
    """Where a part of a template is from.

    Attributes:
        name: the part, e.g. ``taints``.
        origin: in words, e.g. ``NodePool general``.
    """

    name: str
    origin: str


class NodeTemplate(msgspec.Struct, frozen=True):
    """What a new node of a group is like.

    Attributes:
        node: the node, under the name of the group; without the taints that it has only while it starts.
        zone: its zone, "" for none.
        instance_type: its instance type, "" where nothing says.
        spot: whether it is spot capacity.
        like: the node whose volume limits and devices it has, "" for none.
        price: what it costs per hour, None where that is not known.
        fields: where its parts are from.
    """

    node: Node
    zone: str = ""
    instance_type: str = ""
    spot: bool = False
    like: str = ""
    price: float | None = None
    fields: tuple[TemplateField, ...] = ()


class NodeGroup(msgspec.Struct, frozen=True):
    """A group of nodes that could grow or shrink.

    Attributes:
        name: its name; no two groups have one in common.
        origin: in words, what it was found by.
        autoscaler: who makes its nodes.
        templates: a new node, for each zone and instance type it can be of; none where nothing says what one is like.
        nodes: the nodes that it has, by name.
        min_size: how many it has at least.
        max_size: how many it has at most, None for no limit.
        limits: the most that all its nodes have together, by resource in the scheduler's units.
        used: what its nodes have together, by resource of `limits`.
        priority: which group is taken first, the highest; the weight of a NodePool.
        startup_taints: the taints that a new node has until it is ready.
        disruption: why an autoscaler disrupts none of its nodes, "" where it may.
        notes: what an answer about it does not consider.
    """

    name: str
    origin: str
    autoscaler: Autoscaler = Autoscaler.UNKNOWN
    templates: tuple[NodeTemplate, ...] = ()
    nodes: tuple[str, ...] = ()
    min_size: int = 0
    max_size: int | None = None
    limits: Mapping[str, int] = msgspec.field(default_factory=dict)
    used: Mapping[str, int] = msgspec.field(default_factory=dict)
    priority: int = 0
    startup_taints: tuple[Taint, ...] = ()
    disruption: str = ""
    notes: tuple[str, ...] = ()

    def limit_reached(self, added: int, more: Mapping[str, int]) -> str:
        """Return which limit is in the way of new nodes, in words; "" for none.

        Args:
            added: how many nodes are added.
            more: what they have together, by resource.
        """
        size = len(self.nodes) + added
        if self.max_size is not None and size > self.max_size:
            return f"maximum size {self.max_size} of the group, which has {len(self.nodes)}"
        for resource, limit in self.limits.items():
            if self.used.get(resource, 0) + more.get(resource, 0) > limit:
                amount, used = quantity(resource, limit), quantity(resource, self.used.get(resource, 0))
                return f"{resource} {amount} of the group, which has {used}"
        return ""
