"""The few numbers that many scenarios come to."""

from __future__ import annotations

import math
from collections.abc import Sequence

from schedctl.reports.draws import Distribution, Share

_Z = 1.959963984540054
"""Of a normal distribution 95 % lies within so many standard deviations."""
_DIGITS = 4


def quantile(ordered: Sequence[float], part: float) -> float:
    """Return the least value that a part of all values does not exceed: one that occurs, never one in between.

    Args:
        ordered: the values in order, at least one.
        part: from 0 to 1.
    """
    return ordered[max(math.ceil(part * len(ordered)) - 1, 0)]


def distribution_of(values: Sequence[float]) -> Distribution:
    """Return how values are distributed; of none, all is 0."""
    ordered = sorted(values) or [0]
    return Distribution(
        mean=round(math.fsum(ordered) / len(ordered), 3),
        lowest=ordered[0],
        q05=quantile(ordered, 0.05),
        median=quantile(ordered, 0.5),
        q95=quantile(ordered, 0.95),
        highest=ordered[-1],
    )


def share_of(number: int, total: int) -> Share:
    """Return what part of all draws a number is, and where the probability lies (Wilson's score interval)."""
    if not total:
        return Share(0, 0.0, 0.0, 1.0)
    share, square = number / total, _Z * _Z
    middle = (share + square / (2 * total)) / (1 + square / total)
    width = _Z / (1 + square / total) * math.sqrt(share * (1 - share) / total + square / (4 * total * total))
    low, high = max(0.0, middle - width), min(1.0, middle + width)
    return Share(number, round(share, _DIGITS), round(low, _DIGITS), round(high, _DIGITS))
