"""Explaining 300 equal pending pods beside explaining one of them: 5,000 nodes, 50,000 running pods.

An equivalence class is judged once, so that many cost what one costs. Both are whole commands, run in turn; what counts
is the ratio of their processor times, and how much JSON is written.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machines, workloads
from benchmarks.startup import ROOT, processor_seconds

GOAL = 1.3
MOST_BYTES = 1_000_000
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "big-7f9c", "uid": "owner", "controller": True}


def state(nodes: int, running: int, pending: int) -> dict[str, Any]:
    """Nodes in three zones with pods on them, and pods of one ReplicaSet that fit nowhere."""
    fleet = [workloads.node(f"node-{n}", zone=f"zone{n % 3}") for n in range(nodes)]
    bound = [workloads.pod(f"running-{n}", "default", on=f"node-{n % nodes}") for n in range(running)]
    waiting = []
    for number in range(pending):
        pod = workloads.pod(f"big-7f9c-{number}", "default")
        pod["metadata"] |= {"labels": {"app": "big"}, "ownerReferences": [OWNER]}
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3950m", "memory": "500Mi"}}
        waiting.append(pod)
    return {"apiVersion": "v1", "kind": "List", "items": [*fleet, *bound, *waiting]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--running", type=int, default=50_000)
    parser.add_argument("--pending", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        commands = {}
        for pending in (1, options.pending):
            file = Path(folder) / f"{pending}.json"
            file.write_text(json.dumps(state(options.nodes, options.running, pending)))
            commands[pending] = ["-m", "schedctl", "explain", "--all-pending", "-f", str(file), "-o", "json"]
        rounds = [{n: processor_seconds(command) for n, command in commands.items()} for _ in range(options.runs)]
        written = subprocess.run(
            [sys.executable, *commands[options.pending]], cwd=ROOT, stdout=subprocess.PIPE, check=True
        ).stdout
    for pending in commands:
        print(f"{pending:5} pending  {statistics.median(each[pending] for each in rounds):6.2f} s of processor time")
    ratio = statistics.median(each[options.pending] / each[1] for each in rounds)
    print(f"ratio {ratio:.2f}x (goal {GOAL}x); {len(written):,} bytes of JSON (goal {MOST_BYTES:,})")


if __name__ == "__main__":
    main()
