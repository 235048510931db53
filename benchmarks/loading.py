"""Loading and explaining JSON, beside msgspec decoding it to plain dicts; and what loads faster, a snapshot made of it.

Each run is a process of its own, and all seconds are of the processor, so that others on the machine do not count.
Loading is reading the file and making the cluster of it, without interpreter and imports; explaining is the whole
command, these included; msgspec's time is that of the decoding alone. Peak memory is that of the whole schedctl
process. What `schedctl snapshot create` makes of a file is measured in turn with the file that it came from, and the
goal is for JSON as kubectl prints it, indented.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machines, snapshots
from benchmarks.placing import assemble_cluster
from benchmarks.processes import in_new_process

GOAL = 5
"""How many times as fast a converted snapshot has to load as the JSON that it came from."""
FILES = (
    ("as kubectl prints it", True, 4),
    ("the same without white space", True, None),
    ("bare manifests", False, None),
)
"""Files by what they are called: whether they hold what kubectl would print, and by how much they are indented."""


def time_decoding(path: str) -> float:
    """Seconds msgspec takes to decode the file to plain dicts."""
    return in_new_process(_decode, path)


def _decode(path: str) -> float:
    import msgspec

    data = Path(path).read_bytes()
    began = time.process_time()
    msgspec.json.decode(data)
    return time.process_time() - began


def time_loading(path: str) -> float:
    """Seconds of reading the file and making a cluster of it, when everything that takes is imported."""
    with tempfile.TemporaryDirectory() as folder:
        small = str(Path(folder, "small.json"))
        snapshots.write(small, 1, 1, 1, True)
        assemble_cluster(small)
    began = time.process_time()
    assemble_cluster(path)
    return time.process_time() - began


def time_reading(path: str) -> float:
    """Seconds of reading the objects of the file, without making a cluster of them."""
    from schedctl import sources

    sources.load_text(b'{"apiVersion":"v1","kind":"List","items":[]}', allow_empty=True)
    began = time.process_time()
    sources.load([path])
    return time.process_time() - began


def time_explaining(path: str) -> tuple[float, int]:
    """Seconds and peak bytes of `schedctl explain` for one pending pod of the file."""
    command = [sys.executable, "-m", "schedctl", "explain", "pod", "pod-00000", "-n", "sched-1", "-f", path]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def convert(path: Path) -> Path:
    """The snapshot file made of a list."""
    made = path.with_suffix(".snapshot.json")
    words = ["snapshot", "create", str(made), "--from", str(path), "--quiet", "--no-progress"]
    subprocess.run([sys.executable, "-m", "schedctl", *words], stdout=subprocess.DEVNULL, check=True)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--running", type=int, default=50000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    print(f"{args.nodes} nodes, {args.running} running pods; seconds of the processor, medians of {args.runs} runs")
    print(f"{'JSON':<30}{'MB':>7}{'decode':>9}{'load':>9}{'explain':>9}{'ratio':>8}{'peak MB':>9}{'ratio':>8}")
    compared = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "list.json")
        for label, noise, indent in FILES:
            # Written by a process of its own: what this one once held would count as the peak of its children.
            in_new_process(snapshots.write, str(path), args.nodes, args.running, 1, noise, indent)
            size = path.stat().st_size
            rounds = [
                (time_decoding(str(path)), in_new_process(time_loading, str(path)), *time_explaining(str(path)))
                for _ in range(args.runs)
            ]
            decode, load, explain, peak = map(statistics.median, zip(*rounds, strict=True))
            print(
                f"{label:<30}{size / 1e6:>7.1f}{decode:>8.2f}s{load:>8.2f}s{explain:>8.2f}s{explain / decode:>7.1f}x"
                f"{peak / 1e6:>9.0f}{peak / size:>7.1f}x",
                flush=True,
            )
            if noise:
                compared += _compare(label, path, convert(path), args.runs)
    print(f"\n{'a snapshot and its JSON':<30}{'MB':>7}{'MB':>7}  {'what':<18}{'JSON':>9}{'snapshot':>10}{'ratio':>8}")
    print("\n".join(compared))
    print(f"goal: a snapshot loads at least {GOAL}x as fast as the JSON that kubectl printed")


def _compare(label: str, path: Path, snapshot: Path, runs: int) -> list[str]:
    """How much faster a snapshot is than the file that it was made of, line by line; the two take turns."""
    lines = []
    sizes = f"{path.stat().st_size / 1e6:>7.1f}{snapshot.stat().st_size / 1e6:>7.1f}"
    for what, measure in (("read", time_reading), ("with the cluster", time_loading)):
        pairs = [(in_new_process(measure, str(path)), in_new_process(measure, str(snapshot))) for _ in range(runs)]
        before, after = map(statistics.median, zip(*pairs, strict=True))
        lines.append(f"{label:<30}{sizes}  {what:<18}{before:>8.2f}s{after:>9.2f}s{before / after:>7.1f}x")
    snapshot.unlink()
    return lines


if __name__ == "__main__":
    main()
