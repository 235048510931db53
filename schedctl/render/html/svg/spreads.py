"""Spreads: from the least to the most of a number, where nine of ten are, and the median, as one line."""

from __future__ import annotations

from schedctl.render.html.markup import Markup, element
from schedctl.reports.draws import Distribution

_LENGTH, _HEIGHT = 1000, 12


def spread(values: Distribution, least: float, most: float) -> Markup:
    """Return the picture of a distribution, on a scale from the least to the most of all that stand together."""
    parts = [
        _part(values.lowest, values.highest, least, most, 5, 2, "lost"),
        _part(values.q05, values.q95, least, most, 2, 8, "fill"),
        _part(values.median, values.median, least, most, 0, _HEIGHT, "mark"),
    ]
    return element(
        "svg",
        parts,
        class_="bar",
        viewBox=f"0 0 {_LENGTH} {_HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
        focusable="false",
    )


def _part(low: float, high: float, least: float, most: float, y: int, height: int, style: str) -> Markup:
    span = most - least
    start, end = ((value - least) / span * (_LENGTH - 4) if span > 0 else 0.0 for value in (low, high))
    return element("rect", x=_number(start), y=y, width=_number(max(end - start, 0) + 4), height=height, class_=style)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
