"""A distribution as one line: from the least to the most, a box for nine of ten values, and a stroke for the median."""

from __future__ import annotations

from schedctl.render.html.markup import Markup, element
from schedctl.reports.draws import Distribution

_LENGTH, _HEIGHT = 1000, 12
_STROKE = 4


def span(values: Distribution, low: float, high: float) -> Markup:
    """Return the picture of a distribution.

    Args:
        values: the distribution.
        low: the number at the left end of the picture.
        high: the number at its right end; the same for all pictures that are compared.
    """
    least, from_, median, to, most = (
        _place(number, low, high) for number in (values.lowest, values.q05, values.median, values.q95, values.highest)
    )
    return element(
        "svg",
        _rect(least, most, 5, 2, "whisker"),
        _rect(from_, to, 1, _HEIGHT - 2, "fill"),
        _rect(median - _STROKE / 2, median + _STROKE / 2, 0, _HEIGHT, "mark"),
        class_="bar",
        viewBox=f"0 0 {_LENGTH} {_HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
        focusable="false",
    )


def _place(number: float, low: float, high: float) -> float:
    """Return where a number is, with room for a stroke at both ends."""
    share = (number - low) / (high - low) if high > low else 0.0
    return _STROKE + share * (_LENGTH - 2 * _STROKE)


def _rect(start: float, end: float, y: int, height: int, style: str) -> Markup:
    left, width = min(start, _LENGTH - _STROKE), max(end - start, _STROKE)
    return element("rect", x=_number(left), y=y, width=_number(width), height=height, class_=style)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
