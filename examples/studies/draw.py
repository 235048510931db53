#!/usr/bin/env python3
"""Draws a metric of a study over what has arrived, a curve for each configuration: ``draw.py RESULTS.jsonl METRIC``.

The picture goes to standard output, as SVG. The pages of ``schedctl sweep -o html`` have the same curves.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from schedctl.render.html.svg.curves import Curve, Point, standalone

Numbers = dict[str, dict[int, list[float]]]
"""By configuration and share, the numbers of all seeds."""


def read(results: str, metric: str) -> Numbers:
    """Return a metric as the rows of a study have it."""
    found: Numbers = defaultdict(lambda: defaultdict(list))
    for line in Path(results).read_text().splitlines()[1:]:
        row = json.loads(line)
        for name, value in row["values"].items():
            base, _, at = name.rpartition("@")
            if base == metric:
                found[row["axes"]["configuration"]][int(at)].append(value)
    return found


def curve(name: str, by_share: dict[int, list[float]], shares: Iterable[int], *, dotted: bool = False) -> Curve:
    """Return the means of some shares as a curve, with their spread."""
    points = [Point(at, fmean(by_share[at]), min(by_share[at]), max(by_share[at])) for at in shares if by_share.get(at)]
    return Curve(name, points, dotted)


def main(results: str, metric: str) -> None:
    """Draw a metric at all shares that there are."""
    numbers = read(results, metric)
    lines = [curve(name, by_share, sorted(by_share)) for name, by_share in numbers.items()]
    sys.stdout.write(standalone(lines, "arrived, % of the capacity", metric, f"{metric} over what has arrived"))


if __name__ == "__main__":
    main(*sys.argv[1:])
