"""What resource claims take of a node's own resources, as the status of a pod says it (KEP-5517).

Devices may stand for CPU, memory and so on of their node, or cost some of it: what claims took is added to what the pod
requests itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.api import pods
from schedctl.api.meta import Quantity
from schedctl.api.quantities import Amount, parse

ClaimedItems = tuple[tuple[str, Quantity, int], ...]
"""Resource, quantity and how many times it counts: hashable."""


def claimed_items(statuses: list[pods.NodeAllocatableResourceClaimStatus] | None) -> ClaimedItems:
    """Return all that the claims of a pod take of its node."""
    return tuple(item for status in statuses or () for item in _items(status))


def claimed_amounts(items: ClaimedItems) -> dict[str, Amount]:
    """Return how much that is of each resource.

    Raises:
        ValueError: an amount is not a quantity.
    """
    total: dict[str, Amount] = {}
    for name, quantity, times in items:
        amount = parse(quantity).times(times)
        total[name] = total[name].plus(amount) if name in total else amount
    return total


def container_items(statuses: list[pods.NodeAllocatableResourceClaimStatus] | None, container: str) -> ClaimedItems:
    """Return what the claims that a container uses may add to its own limits."""
    return tuple(
        item
        for status in statuses or ()
        if container in (status.containers or ())
        for item in _items(status, of_one=True)
    )


def _items(
    status: pods.NodeAllocatableResourceClaimStatus, *, of_one: bool = False
) -> Iterator[tuple[str, Quantity, int]]:
    for mapped in status.mapping or ():
        if mapped.quantity is not None:
            yield mapped.name, mapped.quantity, 1
    for overhead in status.overhead or ():
        yield overhead.name, overhead.per_pod if overhead.per_pod is not None else 0, 1
        if overhead.per_container is not None:
            yield overhead.name, overhead.per_container, 1 if of_one else len(status.containers or ())
