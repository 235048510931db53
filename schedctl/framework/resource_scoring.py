"""How full a node would be, as a score: the arithmetic NodeResourcesFit and NodeResourcesBalancedAllocation share.

Both rate a few configured resources of each node before and after the pod (`resource_columns`), in int64 that wraps, as
in Go; the balance alone is float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce
from math import gcd
from typing import NamedTuple

import numpy as np

from schedctl.api.resources import CPU, EPHEMERAL_STORAGE, MEMORY, is_scalar
from schedctl.cache.arrays import FloatArray, IntArray, read_only
from schedctl.cache.node_table import LARGE
from schedctl.cache.nodes import Nodes
from schedctl.config.args import ResourceSpec, UtilizationShapePoint
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE, round_half_away, truncdiv
from schedctl.framework.device_classes import can_be_devices, classes_by_resource, shares_devices

_PLAIN = frozenset((CPU, MEMORY, EPHEMERAL_STORAGE))
"""The resources that nothing stands in for."""
MAX_CUSTOM_SCORE = 10
"""The best score a point of a configured shape can give."""

Rate = Callable[[IntArray, IntArray], IntArray]
"""Takes what is requested and what is allocatable (not 0), int64 (n,) each, and gives the score of each row."""


class ResourceColumn(NamedTuple):
    """One resource to be scored, over n nodes.

    Attributes:
        weight: how much it counts.
        allocatable: int64 (n,), what each node offers; 0 where it takes no part.
        allocated: int64 (n,), what pods have taken.
        requested: int64 (n,), the same with the pod.
        everywhere: whether every node offers it.
    """

    weight: int
    allocatable: IntArray
    allocated: IntArray
    requested: IntArray
    everywhere: bool


def resource_columns(
    nodes: Nodes,
    resources: Sequence[ResourceSpec],
    pod_requests: Mapping[str, int],
    *,
    minimum: bool,
    selectors: bool = True,
) -> list[ResourceColumn]:
    """Return the columns to be scored, in the order of the configuration.

    Args:
        nodes: the column.
        resources: what is configured.
        pod_requests: what the pod requests.
        minimum: whether containers that ask for no cpu or memory count as if they asked for a little.
        selectors: whether kube-scheduler can evaluate selectors of device classes here.

    Raises:
        PluginError: it cannot, and has to for one of several nodes.
    """
    columns = []
    for spec in resources:
        name, amount = spec.name, pod_requests.get(spec.name, 0)
        if is_scalar(name):
            if amount == 0:
                continue
        elif name not in (CPU, MEMORY, EPHEMERAL_STORAGE):
            continue
        if minimum and name == CPU:
            allocated = nodes.scored_cpu()
        elif minimum and name == MEMORY:
            allocated = nodes.scored_memory()
        else:
            allocated = nodes.requested(name)
        allocatable = nodes.allocatable(name)
        everywhere = bool(allocatable.all())
        if not everywhere and is_scalar(name) and _any_devices(nodes, resources):
            allocatable, allocated = _with_devices(nodes, name, allocatable, allocated, selectors)
            everywhere = bool(allocatable.all())
        columns.append(ResourceColumn(spec.weight, allocatable, allocated, allocated + amount, everywhere))
    return columns


class PlainResources:
    """Rates nodes by resources that nothing stands in for, with the same results as column by column.

    All resources are rated together, for it is the number of NumPy's calls that counts: what has changed since the last
    pod are a few dozen nodes as a rule. A few are rated in Python's own numbers, which is cheaper still.
    """

    def __init__(self, resources: Sequence[ResourceSpec], *, minimum: bool) -> None:
        self._names = tuple(spec.name for spec in resources)
        self._minimum = minimum
        self._applies = bool(self._names) and _PLAIN.issuperset(self._names)
        divisor = gcd(*(spec.weight for spec in resources)) or 1
        self._weights = [spec.weight // divisor for spec in resources]  # of which the mean is the same
        self._weight = sum(self._weights) or 1
        self._is_weighted = set(self._weights) != {1}

    def weighted_mean(self, nodes: Nodes, pod_requests: Mapping[str, int], rate: Rate) -> IntArray | None:
        """Return the same as `weighted_mean`; None where that has to be asked."""
        found = self._amounts(nodes, pod_requests)
        if found is None:
            return None
        offered, taken, amounts = found
        requested = taken + np.array(amounts, np.int64)[:, np.newaxis]
        if len(nodes) > FEW_ROWS or rate not in _OF_EACH:
            scores = rate(requested, offered)
            if self._is_weighted:
                scores *= np.array(self._weights, np.int64)[:, np.newaxis]
            total: IntArray = reduce(np.add, scores)
            return total // self._weight  # no rate is negative
        numbers = zip(requested.tolist(), offered.tolist(), self._weights, strict=True)
        of_each = [_OF_EACH[rate](*of_one) for of_one in numbers]
        return np.array([sum(of_one) // self._weight for of_one in zip(*of_each, strict=True)], np.int64)

    def balance(self, nodes: Nodes, pod_requests: Mapping[str, int], *, improves: bool) -> IntArray | None:
        """Return the same as `improvement` or `evenness`, for two resources; None where these have to be asked."""
        found = self._amounts(nodes, pod_requests) if len(self._names) == PAIR else None
        if found is None:
            return None
        offered, taken, amounts = found
        if len(nodes) > FEW_ROWS:
            return _balance_at_once(offered, taken, np.array(amounts, np.int64)[:, np.newaxis], improves=improves)
        shares, before = offered.tolist(), taken.tolist()
        after = [[had + amount for had in of_one] for of_one, amount in zip(before, amounts, strict=True)]
        now = _evenness_of_each(*after, *shares)
        if improves:
            # no evenness is below 50, so that what the division cuts off is never negative
            then = _evenness_of_each(*before, *shares)
            now = [(150 + with_pod - without) // 2 for with_pod, without in zip(now, then, strict=True)]
        return np.array(now, np.int64)

    def _amounts(self, nodes: Nodes, pod_requests: Mapping[str, int]) -> tuple[IntArray, IntArray, list[int]] | None:
        """Return what nodes offer and what is taken, int64 (resources, n), and what the pod requests of each.

        None if there is more to it.
        """
        found = nodes.amounts(self._names, scored=self._minimum) if self._applies else None
        if found is None:
            return None
        offered, taken = found
        amounts = [pod_requests.get(name, 0) for name in self._names]
        if not (min(amounts) >= 0 and max(amounts) < LARGE and offered.all()):  # what is not offered takes no part
            return None
        return offered, taken, amounts


PAIR = 2
"""Cpu and memory, the usual case."""
FEW_ROWS = 16
"""Up to how many nodes plain arithmetic is cheaper than NumPy's calls."""


def _balance_at_once(offered: IntArray, taken: IntArray, amounts: IntArray, *, improves: bool) -> IntArray:
    """Return the same as `improvement` or `evenness` of two resources, which all nodes offer, int64 (2, n) each."""
    if not improves:
        return _evenness(_gap(*_fraction(taken + amounts, offered)))
    use = np.empty((2, *taken.shape))  # before, and with the pod
    np.divide(taken, offered, out=use[0])
    np.divide(taken + amounts, offered, out=use[1])
    np.minimum(use, 1.0, out=use)
    before, after = _evenness(_gap(use[:, 0], use[:, 1]))
    balance: IntArray = (150 + after - before) // 2
    return balance


def _evenness_of_each(
    first: Sequence[int], second: Sequence[int], all_of_first: Sequence[int], all_of_second: Sequence[int]
) -> list[int]:
    """Return how even the use of two resources is on each node."""
    scores = []
    for taken, other_taken, offered, other_offered in zip(first, second, all_of_first, all_of_second, strict=True):
        fraction, other = taken / offered, other_taken / other_offered
        if fraction > 1.0:
            fraction = 1.0
        if other > 1.0:
            other = 1.0
        scores.append(int((1.0 - abs((fraction - other) * 0.5)) * 100.0))
    return scores


def _least_allocated_of_each(requested: Sequence[int], offered: Sequence[int], weight: int) -> list[int]:
    rows = zip(requested, offered, strict=True)
    return [(most - taken) * MAX_NODE_SCORE // most * weight if taken <= most else 0 for taken, most in rows]


def _most_allocated_of_each(requested: Sequence[int], offered: Sequence[int], weight: int) -> list[int]:
    rows = zip(requested, offered, strict=True)
    return [(taken if taken < most else most) * MAX_NODE_SCORE // most * weight for taken, most in rows]


def least_allocated(requested: IntArray, allocatable: IntArray) -> IntArray:
    """Return the share that stays free, in percent; 0 where the request is too large."""
    # ((allocatable - requested) * 100) / allocatable; the comparison as a factor is cheaper than a choice by `where`
    return _percent((allocatable - requested) * (requested <= allocatable), allocatable)


def most_allocated(requested: IntArray, allocatable: IntArray) -> IntArray:
    """Return the share that is taken, in percent; 100 where the request is too large."""
    return _percent(np.minimum(requested, allocatable), allocatable)


def shape_rate(shape: Sequence[UtilizationShapePoint]) -> Rate:
    """Return the rate that reads the share taken, in percent, off a piecewise linear function."""
    table = _table(tuple((point.utilization, point.score * (MAX_NODE_SCORE // MAX_CUSTOM_SCORE)) for point in shape))

    def rate(requested: IntArray, allocatable: IntArray) -> IntArray:
        share = _percent(requested, allocatable)
        share[requested > allocatable] = 100
        scores: IntArray = table[share.clip(0, 100)]
        return scores

    return rate


_OF_EACH: Mapping[Rate, Callable[[Sequence[int], Sequence[int], int], list[int]]] = {
    least_allocated: _least_allocated_of_each,
    most_allocated: _most_allocated_of_each,
}
"""Rates of which there is a form for numbers, which takes a weight as well."""


def weighted_mean(columns: Sequence[ResourceColumn], rate: Rate, rows: int) -> IntArray:
    """Return the mean of the resources' scores by weight, rounded toward zero, int64 (n,); 0 for rows without any."""
    total = np.zeros(rows, np.int64)
    weights: IntArray | int = 0
    for column in columns:
        total += _rate_column(column, rate) * column.weight
        # no `+=`: it is a number until some resource is not offered everywhere, and a column from there on
        weights = weights + column.weight * (1 if column.everywhere else column.allocatable != 0)
    return truncdiv(total, np.where(weights, weights, 1) if np.ndim(weights) else weights or 1)


def mean_of_positive(columns: Sequence[ResourceColumn], rate: Rate, rows: int) -> IntArray:
    """Return the mean by weight of the scores above 0, rounded to the nearest, int64 (n,); 0 for rows without any."""
    total, weights = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for column in columns:
        scores = _rate_column(column, rate)
        counted = column.weight * (scores > 0)
        total += scores * counted
        weights += counted
    return round_half_away(total / np.where(weights, weights, 1)).astype(np.int64)


def improvement(columns: Sequence[ResourceColumn], rows: int) -> IntArray:
    """Return how much the pod evens out the use of a node's resources, int64 (n,), as since v1.36.

    75 changes nothing, 100 evens it out, 50 makes one resource the bottleneck.
    """
    before, half = _spread([column.allocated for column in columns], columns, rows), MAX_NODE_SCORE // 2
    return half + truncdiv(half + evenness(columns, rows) - _evenness(before), 2)


def evenness(columns: Sequence[ResourceColumn], rows: int) -> IntArray:
    """Return how even the use of a node's resources is with the pod, int64 (n,), as until v1.35; 100 is even."""
    return _evenness(_spread([column.requested for column in columns], columns, rows))


def _any_devices(nodes: Nodes, resources: Sequence[ResourceSpec]) -> bool:
    """Return whether a class stands in for one of the configured resources; only then are devices counted at all."""
    release = nodes.cluster.release
    names = [spec.name for spec in resources if can_be_devices(spec.name, release)] if shares_devices(release) else []
    return bool(names) and not classes_by_resource(nodes.cluster).keys().isdisjoint(names)


def _with_devices(
    nodes: Nodes, resource: str, allocatable: IntArray, allocated: IntArray, selectors: bool
) -> tuple[IntArray, IntArray]:
    """Return what nodes offer and have given away, in devices where they offer none of the resource itself."""
    device_class = classes_by_resource(nodes.cluster).get(resource)
    if device_class is None:
        return allocatable, allocated
    from schedctl.framework.device_scoring import device_counts  # few clusters have resources that devices stand for

    nodes.cluster.rest_on_everything()  # whether kube-scheduler crashes below depends on all the nodes it scores
    capacity, taken, selected = device_counts(nodes.cluster, device_class)
    if not selectors and len(nodes) > 1 and bool((selected[nodes.rows] & (allocatable == 0)).any()):
        raise PluginError(
            f'kube-scheduler crashes here: it evaluates the selectors of DeviceClass "{device_class.metadata.name}", '
            f'which backs "{resource}", without a cache for compiled expressions'
        )
    in_devices = (allocatable == 0) & (capacity[nodes.rows] > 0)
    return (
        np.where(in_devices, capacity[nodes.rows], allocatable),
        np.where(in_devices, taken[nodes.rows], allocated),
    )


def _rate_column(column: ResourceColumn, rate: Rate) -> IntArray:
    """Return the scores of a resource, 0 where it is not offered."""
    # a resource that the node does not offer takes no part in its score
    if column.everywhere:
        return rate(column.requested, column.allocatable)
    offered = column.allocatable != 0
    scores: IntArray = rate(column.requested, np.where(offered, column.allocatable, 1)) * offered
    return scores


def _percent(part: IntArray, whole: IntArray) -> IntArray:
    return truncdiv(part * 100, whole)


@lru_cache(maxsize=64)
def _table(points: tuple[tuple[int, int], ...]) -> IntArray:
    """Return the value of a piecewise linear function at each percent, int64 (101,), read-only.

    It is kept: whoever tries what would help makes a scheduler for every try, nearly always of the same shape.
    """
    return read_only(np.array([_interpolate(points, percent) for percent in range(101)], np.int64))


def _interpolate(points: Sequence[tuple[int, int]], percent: int) -> int:
    before = points[0]
    for point in points:
        if percent <= point[0]:
            if point is points[0]:
                return point[1]
            rise = (point[1] - before[1]) * (percent - before[0])
            return before[1] + int(truncdiv(rise, point[0] - before[0]))
        before = point
    return before[1]


def _evenness(deviation: FloatArray) -> IntArray:
    """Return what a standard deviation leaves of the best score, rounded toward zero."""
    scores = 1.0 - deviation
    scores *= float(MAX_NODE_SCORE)
    with np.errstate(invalid="ignore"):  # amounts that wrapped below 0 can leave the range of int64
        return scores.astype(np.int64)


def _fraction(taken: IntArray, allocatable: IntArray) -> FloatArray:
    """Return the fraction in use of what is offered (not 0), at most 1."""
    fraction = taken.astype(np.float64)
    fraction /= allocatable
    return np.minimum(fraction, 1.0, out=fraction)


def _spread(taken: Sequence[IntArray], columns: Sequence[ResourceColumn], rows: int) -> FloatArray:
    """Return the standard deviation of the fractions in use, float64 (n,)."""
    if len(columns) == 2 and columns[0].everywhere and columns[1].everywhere:  # cpu and memory, the usual case
        first, second = columns
        return _gap(_fraction(taken[0], first.allocatable), _fraction(taken[1], second.allocatable))
    return _deviation(taken, columns, rows)


def _gap(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the standard deviation of two fractions."""
    gap: FloatArray = first - second
    gap *= 0.5
    return np.abs(gap, out=gap)


def _deviation(taken: Sequence[IntArray], columns: Sequence[ResourceColumn], rows: int) -> FloatArray:
    """Return the standard deviation of the fractions in use of what each node offers, 0 for fewer than two."""
    offered = [column.allocatable != 0 for column in columns]
    fractions = [
        _fraction(amount, np.where(present, column.allocatable, 1))
        for amount, present, column in zip(taken, offered, columns, strict=True)
    ]
    total, squares, gap, count = np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows, np.int64)
    for fraction, present in zip(fractions, offered, strict=True):
        total += np.where(present, fraction, 0.0)
        gap += np.where(present, np.where(count == 0, fraction, -fraction), 0.0)  # of the first two, if there are two
        count += present
    # the order of the additions is kube-scheduler's: another would differ in the last bit
    divisor = np.maximum(count, 1)
    mean = total / divisor
    for fraction, present in zip(fractions, offered, strict=True):
        squares += np.where(present, (fraction - mean) * (fraction - mean), 0.0)
    deviation = np.sqrt(squares / divisor)
    deviation[count < 2] = 0.0
    return np.where(count == 2, np.abs(gap / 2), deviation)
