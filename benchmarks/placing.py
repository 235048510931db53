"""What runs on our side of the shapes, each call in a process of its own.

The cluster is read as ``schedctl`` reads a file, so that the peak of memory is that of the whole way: bytes, structs,
columns, cycles. Then the pending pods are placed one after the other: one whole cycle each, every node judged, and
Reserve; nothing else is on the clock.
"""

import gc
import random
import time
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import processes
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.scheduler import Scheduler
from schedctl.workloads.clusters import AssembledCluster


def assemble_cluster(path: str) -> AssembledCluster:
    """The cluster of a file, with what the command line does about it."""
    from schedctl.session.states import StateSource

    return StateSource((path,)).load().assembled


def queue_pods(scheduler: Scheduler, shuffled: bool = True) -> list[PodInfo]:
    """The pending pods in the order of the queue, which is by chance among equals."""
    sort = next(iter(scheduler.profiles.values())).queue_sort[0]
    pods = list(scheduler.cluster.pending.values())
    if shuffled:  # as in the oracle, where equals come in an arbitrary order, though here in the same one every time
        random.Random(0).shuffle(pods)
    return sorted(pods, key=lambda pod: sort.sort_key(pod, 0.0))


def place(scheduler: Scheduler, pods: list[PodInfo]) -> int:
    """Place pods; return how many found a node."""
    count = 0
    for pod in pods:
        outcome = scheduler.attempt(pod, make_room=False)
        if outcome.chosen:
            scheduler.place(outcome)
            count += 1
    return count


def measure(path: str, config: str, shuffled: bool, marks: list[int]) -> dict[str, Any]:
    """Place the pending pods of a file.

    Returns how many there were and how many found a node, the seconds on the clock and of the processor, the seconds
    until each mark (so many pods), those of the first pod, and the most bytes that the process was resident with.
    """
    began = time.perf_counter()
    cluster = assemble_cluster(path).cluster
    scheduler = Scheduler(cluster, loading.load(config, "config") if config else loading.default())
    pods = queue_pods(scheduler, shuffled)
    read = time.perf_counter() - began
    bounds = sorted({1, len(pods), *(mark for mark in marks if mark < len(pods))})
    count, reached, start = 0, {}, 0
    began, used = time.perf_counter(), time.process_time()
    for bound in bounds:
        count += place(scheduler, pods[start:bound])
        reached[bound] = time.perf_counter() - began
        start = bound
    spent = time.process_time() - used
    return {
        "pods": len(pods),
        "placed": count,
        "seconds": reached[len(pods)],
        "processorSeconds": spent,
        "firstSeconds": reached[1],
        "secondsUntil": {str(mark): reached[mark] for mark in marks if mark in reached},
        "readingSeconds": read,
        "peakBytes": processes.peak(),
    }


def replay(case: str, placements: str) -> list[str]:
    """The pods of the oracle whose nodes are not among our ties when each placement is taken over."""
    others: list[str] = follow(case, placements)["others"]
    return others


def follow(case: str, placements: str) -> dict[str, Any]:
    """Place the pods of a case where the oracle has placed them, in its order.

    Returns how many there were, the seconds on the clock and the microseconds of the processor for each, of one whole
    cycle and Reserve, and the pods whose nodes are not among our ties.
    """
    decoded = msgspec.json.decode(Path(case).read_bytes(), type=Case)
    cluster, pods = cluster_of(decoded)
    scheduler = Scheduler(cluster, configuration(decoded))
    by_key = {pod.key: pod for pod in pods}
    steps = msgspec.json.decode(Path(placements).read_bytes())
    gc.freeze()  # what has been read, as schedctl does
    row_of = cluster.node_table.row_of
    others, spent, seconds = [], [], 0.0
    for key, node in steps:
        began, used = time.perf_counter(), time.process_time_ns()
        outcome = scheduler.attempt(by_key[key], make_room=False)
        seconds += time.perf_counter() - began
        processor = time.process_time_ns() - used
        # off the clock, and by row: naming all ties would leave nothing of the cycle in the processor's caches
        if not (row_of[node] in outcome.tie_rows if node else outcome.tie_count == 0):
            others.append(key)
        began, used = time.perf_counter(), time.process_time_ns()
        if node:
            scheduler.place(outcome, node)
        seconds += time.perf_counter() - began
        spent.append((processor + time.process_time_ns() - used) / 1000)
    return {"pods": len(steps), "seconds": seconds, "spent": spent, "others": others}
