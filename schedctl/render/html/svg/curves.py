"""Curves: numbers over what has arrived, each a line between its points, with the spread of scenarios behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schedctl.render.html.markup import Markup, element, join

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 960, 320, 64, 44, 14, 16
_TICKS = 5
_STYLES = 8
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
STYLE = """\
text { font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #57606a; }
.grid-line { stroke: #dfe3e8; } .band { opacity: .18; }
.p0 { stroke: #2a8fa8; fill: #2a8fa8; } .p1 { stroke: #7a5bd0; fill: #7a5bd0; }
.p2 { stroke: #b98a1b; fill: #b98a1b; } .p3 { stroke: #6d8f34; fill: #6d8f34; }
.p4 { stroke: #c4568f; fill: #c4568f; } .p5 { stroke: #2d69ae; fill: #2d69ae; }
.p6 { stroke: #d9603b; fill: #d9603b; } .p7 { stroke: #7d8894; fill: #7d8894; }
.line { fill: none; stroke-width: 2; } .dotted { stroke-dasharray: 1 6; stroke-width: 4; stroke-linecap: round; }
.band, .swatch { stroke: none; }
"""
"""What colours a picture that stands alone; a page has its own."""


class Point(NamedTuple):
    """A number at a place, and the least and the most of what it is the mean of."""

    at: float
    value: float
    low: float
    high: float


class Curve(NamedTuple):
    """One line of a picture.

    Attributes:
        name: what it is of.
        points: from left to right.
        dotted: whether it is drawn as dots, for numbers of somebody else; such a curve has the colour of the last one
            that is not.
    """

    name: str
    points: Sequence[Point]
    dotted: bool = False


def curves(lines: Sequence[Curve], across: str, up: str) -> Markup:
    """Return a picture of curves, with a legend.

    Args:
        lines: at most eight that are not dotted, each with a point.
        across: what is to the right.
        up: what is upwards.
    """
    styles = [*_styles(lines)]
    legend = [
        element("li", element("span", class_=f"key p{style}"), line.name)
        for line, style in zip(lines, styles, strict=True)
        if not line.dotted
    ]
    picture = element(
        "svg",
        _drawing(lines, styles, across, up),
        class_="curves",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"{up} over {across}: {', '.join(line.name for line in lines)}",
    )
    return element(
        "div",
        element("ul", legend, class_="legend"),
        element("div", picture, class_="scroll", tabindex="0", role="group", aria_label=up),
    )


def standalone(lines: Sequence[Curve], across: str, up: str, title: str) -> str:
    """Return the same picture as a file of its own, with the names of the curves below it."""
    styles = [*_styles(lines)]
    entries, x, y = [], float(_LEFT), _HEIGHT + 18.0
    dotted = next((line for line in lines if line.dotted), None)
    for line, style in zip(lines, styles, strict=True):
        if line.dotted and line is not dotted:
            continue  # one dotted line explains all of them
        width = 30 + 7.5 * len(line.name)
        if x + width > _WIDTH:
            x, y = float(_LEFT), y + 20
        if line.dotted:
            path = f"M{_number(x)} {_number(y - 4)}h14"
            entries.append(element("path", class_=f"line dotted p{style}", d=path))
        else:
            entries.append(
                element("rect", class_=f"swatch p{style}", x=_number(x), y=_number(y - 10), width=14, height=12)
            )
        entries.append(element("text", line.name, x=_number(x + 20), y=_number(y)))
        x += width
    written = element(
        "svg",
        element("title", title),
        element("style", Markup(STYLE)),
        element("rect", x=0, y=0, width=_WIDTH, height=_number(y + 12), fill="#ffffff"),
        _drawing(lines, styles, across, up),
        entries,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {_number(y + 12)}",
        role="img",
    )
    return f"{written}\n"


def _styles(lines: Sequence[Curve]) -> Iterator[int]:
    number = -1
    for line in lines:
        number += not line.dotted
        yield max(number, 0) % _STYLES


def _drawing(lines: Sequence[Curve], styles: Sequence[int], across: str, up: str) -> Markup:
    places = [point.at for line in lines for point in line.points]
    numbers = [number for line in lines for point in line.points for number in (point.low, point.high)]
    scale = _Scale(*_ends(places), *_ends(numbers))
    parts: list[Markup] = [*_axes(scale, across, up)]
    for line, style in zip(lines, styles, strict=True):
        if not line.dotted and any(point.low < point.high for point in line.points):
            parts.append(element("path", class_=f"band p{style}", d=_band(line.points, scale)))
    for line, style in zip(lines, styles, strict=True):
        name = f"line dotted p{style}" if line.dotted else f"line p{style}"
        parts.append(element("path", class_=name, d=_line([(each.at, each.value) for each in line.points], scale)))
    return join(parts)


class _Scale(NamedTuple):
    left: float
    right: float
    low: float
    high: float

    def x(self, at: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (at - self.left) / (self.right - self.left)

    def y(self, value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (self.high - value) / (self.high - self.low)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 1, high + 1)


def _axes(scale: _Scale, across: str, up: str) -> Iterator[Markup]:
    for value in _round_numbers(scale.low, scale.high):
        y = scale.y(value)
        yield element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=_number(y), y2=_number(y), class_="grid-line")
        yield element("text", f"{value:,.6g}", x=_LEFT - 8, y=_number(y + 4), text_anchor="end")
    for at in _round_numbers(scale.left, scale.right):
        yield element("text", f"{at:,.6g}", x=_number(scale.x(at)), y=_HEIGHT - 26, text_anchor="middle")
    yield element("text", across, x=_WIDTH - _RIGHT, y=_HEIGHT - 6, text_anchor="end")
    yield element("text", up, x=_LEFT, y=_HEIGHT - 6)


def _round_numbers(low: float, high: float) -> list[float]:
    """Return about five round numbers between two."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in _STEPS if each * power >= rough)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _line(points: Sequence[tuple[float, float]], scale: _Scale) -> str:
    return "M" + "L".join(f"{_number(scale.x(at))} {_number(scale.y(value))}" for at, value in points)


def _band(points: Sequence[Point], scale: _Scale) -> str:
    """Return the outline of the spread: along the most, and back along the least."""
    most = [(each.at, each.high) for each in points]
    least = [(each.at, each.low) for each in reversed(points)]
    return f"{_line([*most, *least], scale)}Z"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
