"""Has a node room for what the devices of a claim take of it, beside what the pod asks for itself?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schedctl.api import resources
from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.framework.reasons import ACCEPT, NodeLookup, Reason, Verdicts
from schedctl.plugins.dynamic_resources.node_charges import Charge, Shortage
from schedctl.plugins.dynamic_resources.search import ClaimSearch, Outcome


class ChargeReasons(NamedTuple):
    """How nodes are refused.

    Attributes:
        failed: what devices take cannot be told.
        insufficient: there is no room for it.
        uncovered: requests or limits of the pod as a whole do not cover it.
    """

    failed: Reason
    insufficient: Reason
    uncovered: Mapping[Shortage, Reason]


def judge_charges(
    search: ClaimSearch, nodes: Nodes, outcomes: npt.NDArray[np.int8], reasons: ChargeReasons
) -> Verdicts:
    """Refuse nodes for what devices take of their own resources, where the claims could be had otherwise.

    Args:
        search: the claims of the pod.
        nodes: the nodes.
        outcomes: what became of the claims on each, int8 (n,) of `Outcome`.
        reasons: how nodes are refused.
    """
    rows = nodes.rows
    allocated = np.isin(outcomes, (Outcome.FITS, Outcome.UNAVAILABLE)).tolist()
    charges = [search.charge(row) if is_so else None for row, is_so in zip(rows.tolist(), allocated, strict=True)]

    def where(is_meant: Callable[[Charge], object]) -> BoolArray:
        return np.array([each is not None and bool(is_meant(each)) for each in charges], np.bool_)

    def of_row(field: str) -> NodeLookup:
        return NodeLookup(lambda row: getattr(search.charge(row), field), rows)

    verdicts = ACCEPT
    faults = where(lambda charge: charge.fault)
    if faults.any():
        verdicts |= reasons.failed.where(faults, text=of_row("fault"))
    for shortage, reason in reasons.uncovered.items():
        mask = where(lambda charge, meant=shortage: charge.shortage == meant)  # type: ignore[misc]
        if mask.any():
            verdicts |= reason.where(mask, resource=of_row("resource"), container=of_row("container"))
    for resource in sorted({name for charge in charges if charge is not None for name in charge.requests}):
        if not resources.is_extended(resource):
            needs = where(lambda charge, meant=resource: meant in charge.requests)  # type: ignore[misc]
            amounts = [charge.requests.get(resource, 0) if charge is not None else 0 for charge in charges]
            verdicts |= _without_room(nodes, resource, np.array(amounts, np.int64), needs, reasons.insufficient)
    return verdicts


def _without_room(nodes: Nodes, resource: str, amounts: IntArray, needs: BoolArray, reason: Reason) -> Verdicts:
    """Refuse nodes that have less left of a resource than the pod needs there, devices included."""
    used, capacity = nodes.requested(resource), nodes.allocatable(resource)
    short = needs & (amounts > capacity - used)
    if not resource.startswith("hugepages-"):  # of which even none is too much on a node that gave away too many
        short &= amounts > 0
    if not short.any():
        return ACCEPT
    exceeds = short & (amounts > capacity)
    return reason.where(
        short, unresolvable=exceeds, resource=resource, requested=amounts, used=used.copy(), capacity=capacity.copy()
    )
