"""Loading one list of a small cluster as JSON and as YAML, beside msgspec decoding the JSON to plain dicts.

Each measurement is a process of its own; times are those of reading alone, without interpreter and imports.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from benchmarks import machines
from benchmarks.loading import time_decoding
from benchmarks.snapshots import items

LOAD = """
import sys, time
from schedctl import sources
began = time.perf_counter()
loaded = sources.load([sys.argv[1]])
print(time.perf_counter() - began, len(loaded.objects))
"""


def time_loading(path: Path) -> float:
    """Seconds `schedctl.sources` takes to read a file."""
    found = subprocess.run([sys.executable, "-c", LOAD, str(path)], stdout=subprocess.PIPE, text=True, check=True)
    return float(found.stdout.split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--running", type=int, default=6000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    listed = {"apiVersion": "v1", "kind": "List", "items": list(items(args.nodes, args.running, 1, noise=True))}
    with tempfile.TemporaryDirectory() as folder:
        as_json, as_yaml = Path(folder) / "list.json", Path(folder) / "list.yaml"
        as_json.write_text(json.dumps(listed, separators=(",", ":")))
        as_yaml.write_text(yaml.dump(listed, Dumper=yaml.CSafeDumper, sort_keys=False))
        sizes = [path.stat().st_size / 1e6 for path in (as_json, as_yaml)]
        rounds = [(time_decoding(str(as_json)), time_loading(as_json), time_loading(as_yaml)) for _ in range(args.runs)]
    dicts, ours, slow = map(statistics.median, zip(*rounds, strict=True))
    print(f"JSON {sizes[0]:.1f} MB: msgspec to dicts {dicts:.2f} s, schedctl {ours:.2f} s: {ours / dicts:.1f}x")
    print(f"YAML {sizes[1]:.1f} MB: schedctl {slow:.2f} s, {sizes[1] / slow:.1f} MB/s")


if __name__ == "__main__":
    main()
