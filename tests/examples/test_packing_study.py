"""The packing study: its numbers are those of the page about studies."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from statistics import fmean

from schedctl.studies import reading, sweeps

ROOT = Path(__file__).parents[2]
NAMES = {
    "LeastAllocated": "least-allocated",
    "MostAllocated": "most-allocated",
    "RequestedToCapacityRatio": "requested-to-capacity-ratio",
}
COLUMNS = ("nodesUsed", "fragmented", "disruption")


def test_table_and_pictures_of_the_page_are_those_of_the_study(tmp_path):
    results = tmp_path / "packing.jsonl"
    sweeps.sweep(sweeps.prepare(reading.read(str(ROOT / "examples/studies/packing/study.yaml"), {})), str(results))
    rows = [json.loads(line) for line in results.read_text().splitlines()[1:]]
    for metric in COLUMNS:
        drawn = subprocess.run(
            [sys.executable, str(ROOT / "examples/studies/draw.py"), str(results), f"PackingMeter.{metric}"],
            check=True,
            capture_output=True,
            cwd=ROOT,
        ).stdout
        assert drawn == (ROOT / f"docs/charts/packing-{metric}.svg").read_bytes(), "make study-packing draws them"
    page = (ROOT / "docs/studies.md").read_text()
    for strategy, configuration in NAMES.items():
        (line,) = re.findall(rf"^\| `{strategy}`[^|]*\|(.*)\|$", page, re.MULTILINE)
        written = [[int(number) for number in re.findall(r"\d+", cell)] for cell in line.split("|")]
        values = [row["values"] for row in rows if row["axes"]["configuration"] == configuration]
        assert len(values) == 5
        found = [
            [round(fmean(v[f"PackingMeter.{name}@{at}"] for v in values)) for at in (30, 60, 90)] for name in COLUMNS
        ]
        assert written == found
