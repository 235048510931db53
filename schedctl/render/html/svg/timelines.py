"""The timeline of a run: how many pods are bound and how many queued at each moment, and when pods are evicted."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.render.html.markup import Markup, element
from schedctl.reports.simulations import RunStep

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 960, 220, 48, 28, 12
_TICKS = 5


def timeline(steps: Sequence[RunStep]) -> Markup:
    """Return the picture of a run, with a legend."""
    end = max(steps[-1].at, 1.0)
    bound, total = [], 0
    for step in steps:
        total += step.bound
        bound.append((step.at, total))
    queued = [(step.at, step.queued) for step in steps]
    most = max(total, *(number for _, number in queued), 1)
    evictions = [step.at for step in steps if step.evicted]
    legend = [
        element("li", element("span", class_="key feasible"), f"bound, {total} in the end"),
        element("li", element("span", class_="key c1"), f"in the queue, {queued[-1][1]} in the end"),
        element(
            "li", element("span", class_="key c4"), f"evictions begin, {sum(step.evicted for step in steps)} in all"
        )
        if evictions
        else None,
    ]
    picture = element(
        "svg",
        _axes(end, most),
        [
            element("rect", class_="tick", x=_number(_x(at, end) - 1), y=_HEIGHT - _BOTTOM, width=3, height=8)
            for at in evictions
        ],
        element("path", class_="curve queued", d=_curve(queued, end, most)),
        element("path", class_="curve bound", d=_curve(bound, end, most)),
        class_="timeline",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"{total} pods bound within {steps[-1].at:g} seconds, {queued[-1][1]} in the queue in the end",
    )
    return element(
        "div",
        element("ul", legend, class_="legend"),
        element("div", picture, class_="scroll", tabindex="0", role="group", aria_label="Timeline"),
    )


def _axes(end: float, most: int) -> list[Markup]:
    lines = []
    for tick in range(_TICKS + 1):
        at = end * tick / _TICKS
        x = _number(_x(at, end))
        anchor = "end" if tick == _TICKS else "start" if tick == 0 else "middle"
        lines.append(element("text", f"{at:.3g} s", x=x, y=_HEIGHT - 4, text_anchor=anchor))
    for value in {0, most}:
        y = _number(_y(value, most))
        lines.append(element("line", x1=_LEFT, x2=_WIDTH, y1=y, y2=y, class_="grid-line"))
        lines.append(element("text", f"{value:,}", x=_LEFT - 8, y=_number(_y(value, most) + 4), text_anchor="end"))
    return lines


def _curve(points: Sequence[tuple[float, int]], end: float, most: int) -> str:
    """Return a path in steps: a number holds until the next moment."""
    parts = [f"M{_LEFT} {_number(_y(0, most))}"]
    for at, number in points:
        parts.append(f"H{_number(_x(at, end))}V{_number(_y(number, most))}")
    return "".join([*parts, f"H{_WIDTH}"])


def _x(at: float, end: float) -> float:
    return _LEFT + (_WIDTH - _LEFT) * at / end


def _y(number: int, most: int) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - number / most)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
