"""The sorts of nodes that could be added, and the pods that they are for, in classes that nodes do not tell apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from schedctl.api.resources import PODS, allocatable
from schedctl.autoscaling.groups import NodeGroup, NodeTemplate
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import UsageError
from schedctl.scheduler import Scheduler

Objective = Literal["count", "cost"]
"""What is to be little: how many nodes are added, or what they cost."""
OBJECTIVES: tuple[Objective, ...] = ("count", "cost")
Counts = tuple[int, ...]
"""How many nodes of each option."""


class NodeOption(msgspec.Struct, frozen=True):
    """A sort of node that could be added.

    Attributes:
        group: the group that it would belong to.
        template: what it is like.
        cost: what one adds to the objective.
        capacity: what it counts for in the limits of its group.
    """

    group: NodeGroup
    template: NodeTemplate
    cost: float
    capacity: Mapping[str, int]

    @property
    def family(self) -> tuple[str, str, bool]:
        """What it has in common with those of other zones."""
        return self.group.name, self.template.instance_type, self.template.spot


class PodClass(msgspec.Struct):
    """Pods that no node tells apart.

    Attributes:
        pods: in the order of the queue.
        requests: what each takes, by resource, ``pods`` among them.
    """

    pods: list[PodInfo] = msgspec.field(default_factory=list)
    requests: Mapping[str, int] = msgspec.field(default_factory=dict)


def options_of(groups: Iterable[NodeGroup], objective: Objective) -> tuple[list[NodeOption], list[str]]:
    """Return the nodes that could be added, and what is not considered.

    Raises:
        UsageError: the cheapest nodes are asked for, and no price is known.
    """
    found: list[NodeOption] = []
    unpriced: list[str] = []
    types: set[str] = set()
    for group in groups:
        for template in group.templates:
            if objective == "cost" and template.price is None:
                unpriced.append(group.name)
                types.add(template.instance_type)
                continue
            cost = 1.0 if objective == "count" or template.price is None else template.price
            status = template.node.status
            capacity = {**allocatable(status.capacity or status.allocatable), "nodes": 1}
            found.append(NodeOption(group, template, cost, capacity))
    if unpriced and not found:
        names = ", ".join(sorted(types - {""}))
        of_types = f" with {names} in it" if names else ""
        raise UsageError(
            "no price of any node is known",
            f"give `--instance-types FILE`{of_types}, or pricePerHour in `--node-groups FILE`",
        )
    left_out = dict.fromkeys(unpriced)
    notes = [f"group {name} has nodes of unknown price, which were not considered" for name in left_out]
    return found, notes


def within_limits(options: Sequence[NodeOption], counts: Counts) -> bool:
    """Return whether groups may have so many more nodes."""
    return not any(limit_reached(options, counts, option.group) for option in options)


def limit_reached(options: Sequence[NodeOption], counts: Counts, group: NodeGroup) -> str:
    """Return which limit of a group so many new nodes exceed, in words; "" for none."""
    more: dict[str, int] = {}
    added = 0
    for option, count in zip(options, counts, strict=True):
        if option.group.name == group.name and count:
            added += count
            for resource in group.limits:
                more[resource] = more.get(resource, 0) + option.capacity.get(resource, 0) * count
    return group.limit_reached(added, more) if added else ""


def cost_of(options: Sequence[NodeOption], counts: Counts) -> float:
    """Return what so many nodes add to the objective."""
    return sum(option.cost * count for option, count in zip(options, counts, strict=True))


def with_more(counts: Counts, option: int, number: int = 1) -> Counts:
    """Return counts with some more nodes of an option."""
    return (*counts[:option], counts[option] + number, *counts[option + 1 :])


def classes_of(scheduler: Scheduler, pods: Iterable[PodInfo]) -> list[PodClass]:
    """Return pods in classes, in the order in which the first of each comes."""
    found: dict[Hashable, PodClass] = {}
    for info in pods:
        key = scheduler.equivalence_key(info)
        each = found.setdefault(info.key if key is None else (info.priority, key), PodClass())
        if not each.pods:
            each.requests = {**{name: amount for name, amount in info.demand.fit_requests.items() if amount}, PODS: 1}
        each.pods.append(info)
    return list(found.values())
