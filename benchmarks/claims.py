"""Pods with volumes and device claims: shapes of scheduler_perf beside kube-scheduler's own plugins judging every node.

Both sides place the same pending pods of the same case in `bench` mode: filter, score, assume and Reserve are on the
clock, nothing else. The nodes the oracle chose are then replayed: each must be among our ties at its step.
"""

import argparse
import json
import statistics
import subprocess
import sys

import msgspec

from benchmarks.cycle import oracle_binary
from schedctl.conformance.answers import answer
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.scheduler import Scheduler

SHAPES = (
    "SchedulingInTreePVs",
    "SchedulingMigratedInTreePVs",
    "SchedulingCSIPVs",
    "SchedulingWithResourceClaimTemplate",
)


def case(shape: str, pods: int) -> bytes:
    """A shape with its published nodes and running pods, and so many pending pods, in JSON."""
    command = [sys.executable, "-m", "benchmarks.workloads", shape, "--pods", str(pods), "--percent", "100"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def replayed(asked: Case, placements: list[tuple[str, str]]) -> int:
    """How many of the oracle's placements are not among our ties when each is taken over."""
    cluster, pods = cluster_of(asked)
    scheduler = Scheduler(cluster, configuration(asked))
    by_key = {pod.key: pod for pod in pods}
    others = 0
    for key, node in placements:
        outcome = scheduler.attempt(by_key[key], make_room=False)
        others += node not in outcome.ties if node else bool(outcome.ties)
        if node:
            scheduler.place(outcome, node)
    return others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default=None, help="the oracle's binary; found in its cache when it is built")
    parser.add_argument("--pods", type=int, default=300, help="pending pods of each shape")
    parser.add_argument("--shape", action="append", choices=SHAPES)
    args = parser.parse_args()
    oracle = oracle_binary(args.oracle)
    print(f"{args.pods} pods of each shape, every node judged; pods a second")
    print(f"{'shape':<38}{'ours':>8}{'oracle':>8}{'ratio':>8}  decisions")
    ratios = []
    for shape in args.shape or SHAPES:
        raw = case(shape, args.pods)
        asked = msgspec.json.decode(raw, type=Case)
        mine = answer(asked)
        theirs = json.loads(subprocess.run([oracle], input=raw, stdout=subprocess.PIPE, check=True).stdout)
        ours, other = (len(each["placements"]) / each["seconds"] for each in (mine, theirs))
        differing = replayed(asked, theirs["placements"])
        ratios.append(ours / other)
        told = "the same" if not differing else f"{differing} differ"
        print(f"{shape:<38}{ours:>8.0f}{other:>8.0f}{ours / other:>7.0f}x  {told}", flush=True)
    print(f"{'median':<38}{'':>16}{statistics.median(ratios):>7.0f}x")


if __name__ == "__main__":
    main()
