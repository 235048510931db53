#!/usr/bin/env python3
"""Puts the results of the study beside the published ones: ``compare.py RESULTS.jsonl OPENB``."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

POLICIES = {
    "fgd": "06-FGD",
    "best-fit": "05-BestFit",
    "gpu-packing": "04-GpuPacking",
    "gpu-clustering": "03-GpuClustering",
    "dot-prod": "02-DotProd",
    "random-fit": "01-Random",
}
"""What the study calls a policy, and what the published table does."""
AT = (90, 100, 130)
FACTOR = 4
"""A mean is within the tolerance if it is no further away than so many standard errors of the published seeds."""


def main(results: str, openb: str) -> int:
    """Print a row for each policy and share; return 1 if one is out of the tolerance."""
    ours: defaultdict[tuple[str, int], list[float]] = defaultdict(list)
    for line in Path(results).read_text().splitlines()[1:]:
        row = json.loads(line)
        for at in AT if not row["error"] else ():
            ours[row["axes"]["configuration"], at].append(row["values"][f"allocated.gpu@{at}"])
    theirs = published(Path(openb) / "expected_allo_default.csv")
    outside = 0
    print("GPU allocated, % of the capacity, mean (standard deviation) over seeds")
    print(f"{'policy':<16} {'arrived':>7} {'published':>15} {'ours':>15} {'difference':>10}  tolerance")
    for policy, name in POLICIES.items():
        for at in AT:
            mine = ours.get((policy, at), [])
            other = theirs.get((name, at), [])
            if len(mine) < 2:
                continue
            text = f"{policy:<16} {at:>6}% {shown(other):>15} {shown(mine):>15}"
            if len(other) > 1:
                tolerance = FACTOR * stdev(other) * math.sqrt(1 / len(mine) + 1 / len(other))
                difference = fmean(mine) - fmean(other)
                outside += abs(difference) > tolerance
                text += f" {difference:>+10.2f}  {tolerance:.2f}{' OUTSIDE' if abs(difference) > tolerance else ''}"
            print(text)
    return 1 if outside else 0


def published(file: Path) -> dict[tuple[str, int], list[float]]:
    """Return the published numbers, none where the file is not there."""
    found: defaultdict[tuple[str, int], list[float]] = defaultdict(list)
    if file.exists():
        with file.open(newline="") as lines:
            for row in csv.DictReader(lines):
                for at in AT:
                    found[row["sc_policy"], at].append(float(row[str(at)]))
    return found


def shown(values: list[float]) -> str:
    """Return mean and standard deviation."""
    return f"{fmean(values):.2f} ({stdev(values):.2f})" if len(values) > 1 else "-"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
