#!/usr/bin/env python3
"""Puts the results of the study beside the published ones: ``compare.py RESULTS.jsonl OPENB [PICTURE.svg]``."""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

sys.path.append(str(Path(__file__).parents[1]))
from draw import Numbers, curve, read

from schedctl.render.html.svg.curves import standalone

POLICIES = {
    "fgd": "06-FGD",
    "best-fit": "05-BestFit",
    "gpu-packing": "04-GpuPacking",
    "gpu-clustering": "03-GpuClustering",
    "dot-prod": "02-DotProd",
    "random-fit": "01-Random",
}
"""What the study calls a policy, and what the published table does."""
METRIC = "allocated.gpu"
AT = (90, 100, 130)
DRAWN_FROM = 80
"""Below that all policies allocate all that arrives."""
FACTOR = 4
"""A mean is within the tolerance if it is no further away than so many standard errors of the published seeds."""


def main(results: str, openb: str, picture: str = "") -> int:
    """Print a row for each policy and share, and draw the curves; return 1 if a row is out of the tolerance."""
    ours, theirs = read(results, METRIC), published(Path(openb) / "expected_allo_default.csv")
    outside = 0
    print("GPU allocated, % of the capacity, mean (standard deviation) over seeds")
    print(f"{'policy':<16} {'arrived':>7} {'published':>15} {'ours':>15} {'difference':>10}  tolerance")
    for policy in POLICIES:
        for at in AT:
            mine, other = ours[policy].get(at, []), theirs[policy].get(at, [])
            if len(mine) < 2:
                continue
            text = f"{policy:<16} {at:>6}% {shown(other):>15} {shown(mine):>15}"
            if len(other) > 1:
                tolerance = FACTOR * stdev(other) * math.sqrt(1 / len(mine) + 1 / len(other))
                difference = fmean(mine) - fmean(other)
                outside += abs(difference) > tolerance
                text += f" {difference:>+10.2f}  {tolerance:.2f}{' OUTSIDE' if abs(difference) > tolerance else ''}"
            print(text)
    if picture:
        Path(picture).write_text(drawn(ours, theirs))
    return 1 if outside else 0


def published(file: Path) -> Numbers:
    """Return the published numbers, none where the file is not there."""
    found: Numbers = defaultdict(lambda: defaultdict(list))
    names = {name: policy for policy, name in POLICIES.items()}
    if file.exists():
        with file.open(newline="") as lines:
            for row in csv.DictReader(lines):
                for column, value in row.items():
                    if column.isdecimal() and value:
                        found[names[row["sc_policy"]]][int(column)].append(float(value))
    return found


def drawn(ours: Numbers, theirs: Numbers) -> str:
    """Return the curves of all policies, ours as lines and the published ones as dots."""
    lines = []
    for policy in POLICIES:
        shares = [at for at in sorted(ours[policy]) if at >= DRAWN_FROM]
        for numbers, dotted in ((ours, False), (theirs, True)):
            one = curve("published" if dotted else policy, numbers[policy], shares, dotted=dotted)
            lines += [one] if one.points else []
    title = "GPUs allocated by six policies over GPUs asked for: ours as lines, published as dots"
    return standalone(lines, "GPUs asked for, % of the capacity", "GPUs allocated, % of the capacity", title)


def shown(values: list[float]) -> str:
    """Return mean and standard deviation."""
    return f"{fmean(values):.2f} ({stdev(values):.2f})" if len(values) > 1 else "-"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
