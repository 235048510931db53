"""Bars: one share of a whole, several parts of one, and what was before beside what is after."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.render.html.markup import Markup, element

_LENGTH = 1000
"""How long the longest bar is; the page stretches it to the room there is."""
_HEIGHT = 12


def bar(value: float, most: float, style: str = "fill", mark: float | None = None) -> Markup:
    """Return a bar.

    Args:
        value: how long it is.
        most: the value of the longest; a value that is not 0 is never shown as nothing.
        style: the class that colours it.
        mark: where a line is drawn across it, None for nowhere.
    """
    return stack([(value, style)], most, mark)


def stack(parts: Sequence[tuple[float, str]], most: float, mark: float | None = None) -> Markup:
    """Return a bar of several parts, each with the class that colours it."""
    rects, start = [], 0.0
    for value, style in parts:
        length = _scaled(value, most)
        if length:
            rects.append(element("rect", x=_number(start), y=0, width=_number(length), height=_HEIGHT, class_=style))
        start += length
    if mark is not None:
        at = min(_scaled(mark, most), _LENGTH - 3)
        rects.append(element("rect", x=_number(at), y=0, width=3, height=_HEIGHT, class_="mark"))
    return _frame(rects)


def change(before: float, after: float, most: float) -> Markup:
    """Return a bar of what stays, what is added and what is freed."""
    stays = min(before, after)
    return stack(
        [(stays, "fill"), (max(after - before, 0), "added"), (max(before - after, 0), "freed")], max(most, 1e-9)
    )


def difference(value: float, most: float) -> Markup:
    """Return a bar that goes to the right of the middle for more and to the left for less."""
    half = _LENGTH / 2
    length = min(abs(value) / most, 1.0) * half if most else 0
    start = half if value > 0 else half - length
    return _frame(
        [
            element("rect", x=_number(half - 1), y=0, width=2, height=_HEIGHT, class_="axis"),
            element(
                "rect",
                x=_number(start),
                y=0,
                width=_number(length),
                height=_HEIGHT,
                class_="added" if value > 0 else "freed",
            ),
        ]
    )


def _frame(content: Sequence[Markup]) -> Markup:
    return element(
        "svg",
        content,
        class_="bar",
        viewBox=f"0 0 {_LENGTH} {_HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
        focusable="false",
    )


def _scaled(value: float, most: float) -> float:
    if value <= 0 or most <= 0:
        return 0.0
    return max(min(value / most, 1.0) * _LENGTH, 4.0)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
