"""Loading and explaining a JSON snapshot, beside msgspec decoding the same file to plain dicts.

Both run as processes of their own. The time of schedctl is that of the whole command, interpreter and imports
included; that of msgspec is the decoding alone. Peak memory is that of the whole schedctl process.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.snapshots import items

DECODE = """
import sys, time, msgspec
data = open(sys.argv[1], "rb").read()
began = time.perf_counter()
msgspec.json.decode(data)
print(time.perf_counter() - began)
"""
WRITE = "from benchmarks.loading import write; "


def write(path: str, nodes: int, running: int, noise: bool) -> None:
    """Write a snapshot of a cluster as one JSON list."""
    listed = {"apiVersion": "v1", "kind": "List", "items": list(items(nodes, running, 1, noise=noise))}
    Path(path).write_text(json.dumps(listed, separators=(",", ":")))


def decoding(path: str) -> float:
    """Seconds msgspec takes to decode the file to plain dicts."""
    return float(subprocess.run([sys.executable, "-c", DECODE, path], stdout=subprocess.PIPE, check=True).stdout)


def explaining(path: str) -> tuple[float, int]:
    """Seconds and peak bytes of `schedctl explain` for one pending pod of the file."""
    command = [sys.executable, "-m", "schedctl", "explain", "pod", "pod-00000", "-n", "sched-1", "-f", path]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - began, usage.ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--running", type=int, default=50000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    print(f"{args.nodes} nodes, {args.running} running pods; medians of {args.runs} runs")
    print(f"{'snapshot':<28}{'MB':>7}{'decode':>9}{'explain':>9}{'ratio':>8}{'peak MB':>9}{'ratio':>8}")
    for noise, label in ((True, "as kubectl prints it"), (False, "bare manifests")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cluster.json"
            # Written by a process of its own: what this one once held would count as the peak of its children.
            written = f"write({str(path)!r}, {args.nodes}, {args.running}, {noise})"
            subprocess.run([sys.executable, "-c", WRITE + written], check=True)
            size = path.stat().st_size
            pairs = [(decoding(str(path)), *explaining(str(path))) for _ in range(args.runs)]
        decode, explain, peak = map(statistics.median, zip(*pairs, strict=True))
        print(
            f"{label:<28}{size / 1e6:>7.1f}{decode:>8.2f}s{explain:>8.2f}s{explain / decode:>7.1f}x"
            f"{peak / 1e6:>9.0f}{peak / size:>7.1f}x",
            flush=True,
        )


if __name__ == "__main__":
    main()
