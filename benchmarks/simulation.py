"""A whole simulation beside kube-scheduler's own plugins: 10,000 pods of 100 workloads on 5,000 nodes.

The shape is `Deployments`: a hundred workloads in ten kinds of constraint, three kinds of node, three zones. Ours is
what ``schedctl simulate`` runs once everything is read: the queue, the whole cycle of each pod, binding, and what every
event means for whom, until nothing can move; without the timeline. It has a process of its own, so that its peak memory
is its own, reading included.

The oracle filters, scores, assumes and reserves, with every node judged, and does nothing else. It takes minutes for
all the pods, so it schedules fewer of the same workloads and its time is scaled up; that is in its favour, since its
pods cost more the more are placed. Both times are told on the clock and as processor time: the oracle works on all
cores at once, we on one. The oracle's processor time is that of its process less that of one that only reads the case.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks import machines, oracles, processes, workloads
from benchmarks.placing import assemble_cluster

SHAPE = "Deployments"
GOAL = 20
GIGABYTES = 1.5


def case(nodes: int, init: int, pods: int) -> dict:
    """The shape as a case of the oracle, timed, with every node judged."""
    return {
        "id": SHAPE,
        "objects": list(workloads.objects(SHAPE, nodes, init, pods)),
        "bench": True,
        "percent": 100,
    }


def simulate(path: str) -> dict:
    """Seconds of reading and of the run, processor seconds of the run, what became of the pods, and bytes at most."""
    from schedctl.config import loading
    from schedctl.scheduler import Scheduler
    from schedctl.simulation.runs import Options, run

    began = time.perf_counter()
    scheduler = Scheduler(assemble_cluster(path).cluster, loading.default())
    read, used = time.perf_counter(), time.process_time()
    facts = run(scheduler, options=Options(trace=False))
    ended, spent = time.perf_counter(), time.process_time()
    return {
        "reading": read - began,
        "seconds": ended - read,
        "cpu": spent - used,
        "states": Counter(outcome.state.value for outcome in facts.pods.values()),
        "bytes": processes.peak(),
    }


def ours(nodes: int, init: int, pods: int) -> dict:
    """`simulate` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cluster.json")
        items = list(workloads.objects(SHAPE, nodes, init, pods))
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        return processes.in_new_process(simulate, str(path))


def theirs(oracle: str, raw: dict) -> tuple[float, float]:
    """Seconds the oracle scheduled for, and processor seconds of its whole process."""
    with tempfile.TemporaryDirectory() as folder:
        answer, spent = oracles.answer_of_case(oracle, raw, folder)
    return answer["seconds"], spent


def main() -> None:
    _, nodes, init, pods, *_ = workloads.SHAPES[SHAPE]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    oracles.option(parser)
    parser.add_argument("--oracle-pods", type=int, default=500, help="how many pods the oracle schedules")
    for name, number in (("nodes", nodes), ("init", init), ("pods", pods)):
        parser.add_argument(f"--{name}", type=int, default=number)
    args = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    oracle = oracles.require(args.oracle)
    print(f"{SHAPE}: {args.nodes} nodes, {args.init} running pods, {args.pods} pods of 100 workloads", flush=True)
    mine = ours(args.nodes, args.init, args.pods)
    states = ", ".join(f"{number} {state}" for state, number in mine["states"].items())
    print(f"schedctl: {states}; read in {mine['reading']:.1f} s beforehand", flush=True)
    _, idle = theirs(oracle, case(args.nodes, args.init, 0))
    seconds, cpu = theirs(oracle, case(args.nodes, args.init, args.oracle_pods))
    scale = args.pods / args.oracle_pods
    print(f"oracle: scheduled {args.oracle_pods} of the pods in {seconds:.1f} s; times {scale:g} for all of them")
    print(f"{'seconds':<20}{'schedctl':>12}{'oracle':>12}{'ratio':>9}")
    for name, one, other in (
        ("on the clock", mine["seconds"], seconds * scale),
        ("of processor time", mine["cpu"], max(cpu - idle, 0.0) * scale),
    ):
        print(f"{name:<20}{one:>12.1f}{other:>12.1f}{other / one:>8.1f}x")
    print(f"goals: {GOAL}x on the clock, at most {GIGABYTES:g} GB; peak memory {mine['bytes'] / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
