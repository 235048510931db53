"""One lean scheduling cycle beside kube-scheduler's own plugins judging every node.

The cluster has 5,000 nodes and 50,000 running pods of the templates of `MixedSchedulingBasePod` and `Deployments`.
Pending pods come in pairs: the first of a pair is one whose like was never seen, the second is its equal. Both are
placed, as the oracle places them, so the second pays for what the first one moved. The oracle runs the same cases in
`bench` mode: filter, score, assume and reserve, every node judged, nothing else on the clock.
"""

import argparse
import gc
import statistics
import tempfile
import time

import msgspec

from benchmarks import machines, oracles, snapshots, workloads
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.scheduler import Scheduler

TEMPLATES = ("default", "nodeaffinity", "anti", "affinity", "prefer", "avoid", "spread", "spread-soft", "inclusion")


def case(template: str, nodes: int, running: int, pairs: int) -> dict:
    """A cluster of mixed running pods, and pending pods of one template whose requests differ from pair to pair."""
    names = [f"node-{i:05d}" for i in range(nodes)]
    objects = [workloads.node(n, f"zone{i % 3}", cpu="32", memory="256Gi") for i, n in enumerate(names)]
    objects += snapshots.mixed(names, running)
    objects += [
        workloads.pod(f"pod-{i:03d}-{twin}", "sched-1", template, cpu=f"{100 + i}m", memory="500Mi")
        for i in range(pairs)
        for twin in "ab"
    ]
    return {"id": template, "objects": objects, "bench": True, "percent": 100}


def ours(raw: dict) -> tuple[list[float], list[float]]:
    """Seconds of each cycle: for pods never seen before, and for their equals."""
    made = msgspec.convert(raw, Case)
    cluster, pods = cluster_of(made)
    scheduler = Scheduler(cluster, configuration(made))
    gc.freeze()
    scheduler.attempt(
        pods.pop(0), make_room=False
    )  # columns built, as in a scheduler that has been running for a while
    first, second = [], []
    for number, pod in enumerate(pods[1:]):
        began = time.perf_counter()
        outcome = scheduler.attempt(pod, make_room=False)
        if outcome.chosen:
            scheduler.place(outcome)
        (second if number % 2 else first).append(time.perf_counter() - began)
    return first, second


def theirs(oracle: str, raw: dict) -> float:
    """Seconds of one of the oracle's cycles."""
    with tempfile.TemporaryDirectory() as folder:
        answer, _ = oracles.answer_of_case(oracle, raw, folder)
    return answer["seconds"] / len(answer["placements"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    oracles.option(parser)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--running", type=int, default=50000)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--template", action="append", choices=TEMPLATES)
    args = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    oracle = oracles.require(args.oracle)
    print(f"{args.nodes} nodes, {args.running} running pods; medians of {args.pairs} pods, milliseconds a cycle")
    print(f"{'template':<14}{'never seen':>12}{'its equal':>12}{'oracle':>12}{'ratio':>9}{'ratio':>9}")
    ratios: list[tuple[float, float]] = []
    for template in args.template or TEMPLATES:
        raw = case(template, args.nodes, args.running, args.pairs)
        first, second = map(statistics.median, ours(raw))
        other = theirs(oracle, raw)
        ratios.append((other / first, other / second))
        times = "".join(f"{seconds * 1000:>12.3f}" for seconds in (first, second, other))
        print(f"{template:<14}{times}{other / first:>8.0f}x{other / second:>8.0f}x", flush=True)
    medians = [statistics.median(column) for column in zip(*ratios, strict=True)]
    print(f"{'median':<14}{'':>36}{medians[0]:>8.0f}x{medians[1]:>8.0f}x")


if __name__ == "__main__":
    main()
