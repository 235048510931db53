#!/usr/bin/env python3
"""Writes the small made trace of ``made/``: the form of openb's lists, and none of their contents."""

from __future__ import annotations

import csv
import random
from pathlib import Path

FOLDER = Path(__file__).with_name("made")
NODES = ((96_000, 393_216, 8, "A"), (64_000, 262_144, 2, "B"), (32_000, 131_072, 4, "C"), (16_000, 65_536, 0, ""))
KINDS = (
    (8, 4_000, 8_192, 1, 250),
    (8, 3_000, 6_144, 1, 500),
    (6, 6_000, 12_288, 1, 800),
    (10, 8_000, 32_768, 1, 1000),
    (2, 24_000, 98_304, 4, 1000),
    (6, 4_000, 8_192, 0, 0),
)
"""How often, and what such a pod asks for: CPU, memory, devices, and how much of each."""


def main() -> None:
    """Write both lists."""
    draws = random.Random(7)
    with (FOLDER / "openb_node_list_gpu_node.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("sn", "cpu_milli", "memory_mib", "gpu", "model"))
        for number in range(24):
            rows.writerow((f"made-node-{number:04}", *NODES[number % len(NODES)]))
    with (FOLDER / "openb_pod_list_default.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        columns = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase"
        rows.writerow((*columns.split(","), "creation_time", "deletion_time", "scheduled_time"))
        at = 0
        for number in range(120):
            (_, *asked), at = draws.choices(KINDS, [kind[0] for kind in KINDS])[0], at + draws.randint(1, 600)
            end = at + draws.randint(600, 36_000)
            rows.writerow((f"made-pod-{number:04}", *asked, "", "LS", "Running", at, end, at))


if __name__ == "__main__":
    main()
