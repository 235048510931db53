"""Nodes as small squares in a block: a node each, in the order given, so that a glance shows how many are how."""

from __future__ import annotations

import math
from collections.abc import Sequence

from schedctl.render.html.markup import Markup, element

_WIDEST = 300
"""How many pixels wide a block is at most, so that it fits on a telephone."""
_SIZES = ((60, 18, 3), (400, 12, 2), (1500, 9, 1), (1 << 62, 7, 1))
"""Up to how many nodes of the cluster, how large a square is and how far from the next."""


def cell_size(nodes: int) -> tuple[int, int]:
    """Return how large the square of a node is and the gap to the next, for a cluster of so many nodes."""
    return next((size, gap) for most, size, gap in _SIZES if nodes <= most)


def grid(styles: Sequence[str], label: str, size: int, gap: int) -> Markup:
    """Return a block of squares.

    Args:
        styles: the classes of each node's square; the script finds the node by the order of the squares.
        label: what the block shows, for those who do not see it.
        size: of a square.
        gap: between two.
    """
    pitch = size + gap
    number = len(styles)
    columns = max(1, min(number, _WIDEST // pitch, max(6, math.ceil(math.sqrt(number * 3)))))
    rows = math.ceil(number / columns) if number else 1
    squares = [
        Markup(f'<rect class="{style}" x="{index % columns * pitch}" y="{index // columns * pitch}"/>')
        for index, style in enumerate(styles)
    ]
    width, height = columns * pitch - gap, rows * pitch - gap
    return element(
        "svg",
        squares,
        class_=f"grid s{size}",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=label,
    )
