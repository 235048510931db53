"""The cycle of a pod group beside the same pods placed one by one: 5,000 nodes in blocks, a gang of 1,000 and of 600.

Each gang is tried in a scheduler that has seen none of its pods: one that fits anywhere, one that has to fit into one
block of twenty, and one of pods that no node has room for, which ends with the search for victims. Processor time
counts; the ratio is to the same pods without a group, each attempted and assumed. Then a whole run binds the gang.
"""

import argparse
import statistics
import time

from msgspec.structs import replace

from benchmarks import goals, machines, workloads
from schedctl.api.pod_groups import PodGroup
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.conformance.cases import Case, cluster_of
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.scheduler import Scheduler
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.runs import Options, run

GOAL = 1.0
"""Seconds in which a group is to be decided."""
RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
BLOCKS = 20
ROOMY, HUGE = "3", "5"
"""Cores that a pod requests: one of the first takes a node of four, none of the second fits."""


def scheduler_of(nodes: int, members: int, cpu: str, *, block: bool, running: int) -> Scheduler:
    """Return a scheduler of nodes in blocks, with one gang that waits and pods that run on some of the nodes."""
    spec = {"schedulingPolicy": {"gang": {"minCount": members}}}
    if block:
        spec["schedulingConstraints"] = {"topology": [{"key": "block"}]}
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup"}
    objects = [
        *(workloads.node(f"node-{n:05d}", labels={"block": f"b{n % BLOCKS:02d}"}) for n in range(nodes)),
        *(workloads.pod(f"running-{n}", "default", on=f"node-{n % nodes:05d}") for n in range(running)),
        {**group, "metadata": {"name": "train", "namespace": "default"}, "spec": spec},
        *(
            workloads.pod(f"train-{n}", "default", cpu=cpu, schedulingGroup={"podGroupName": "train"})
            for n in range(members)
        ),
    ]
    cluster, _ = cluster_of(Case(id="groups", objects=objects), RELEASE)
    return Scheduler(cluster, loading.default(RELEASE), plugins_of(RELEASE))


def group_seconds(scheduler: Scheduler, *, starts: bool) -> float:
    """Return the processor seconds of the group's cycle."""
    (group,) = scheduler.cluster.every(PodGroup).values()
    pods = list(scheduler.cluster.pending.values())
    began = time.process_time()
    attempt = scheduler.attempt_group(group, pods)
    taken = time.process_time() - began
    if attempt.status.successful != starts:
        raise RuntimeError(f"the group was expected to {'start' if starts else 'wait'}: {attempt.status.message}")
    return taken


def single_seconds(scheduler: Scheduler) -> float:
    """Return the processor seconds of the same pods, each of which is tried by itself."""
    pods = [_alone(info) for info in scheduler.cluster.pending.values()]
    with scheduler.fork():
        began = time.process_time()
        for info in pods:
            outcome = scheduler.attempt(info, admitted=True)
            if outcome.fits:
                scheduler.place(outcome)
        return time.process_time() - began


def run_seconds(scheduler: Scheduler) -> float:
    """Return the processor seconds of a run that binds the gang."""
    began = time.process_time()
    facts = run(scheduler, options=Options(trace=False))
    taken = time.process_time() - began
    if any(outcome.state is not PodState.BOUND for outcome in facts.pods.values()):
        raise RuntimeError("the run was expected to bind every pod")
    return taken


def _alone(info: PodInfo) -> PodInfo:
    pod = info.pod
    return PodInfo(replace(pod, spec=replace(pod.spec, scheduling_group=None)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--waiting", type=int, default=600)
    parser.add_argument("--running", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(machines.sentence(machines.about()), flush=True)
    in_block = min(options.members, options.nodes // BLOCKS)
    shapes = (
        (f"{options.members} that fit", options.members, ROOMY, False, True),
        (f"{in_block} that fit into one block", in_block, ROOMY, True, True),
        (f"{options.waiting} that cannot fit", options.waiting, HUGE, False, False),
    )
    for name, members, cpu, block, starts in shapes:
        groups, singles = [], []
        for _ in range(options.runs):
            once, again = (
                scheduler_of(options.nodes, members, cpu, block=block, running=options.running) for _ in range(2)
            )
            groups.append(group_seconds(once, starts=starts))
            singles.append(single_seconds(again))
        cycle, alone = statistics.median(groups), statistics.median(singles)
        ratio = statistics.median(one / other for one, other in zip(groups, singles, strict=True))
        print(f"{name:28} {cycle:6.2f} s, {ratio:5.2f}x of {alone:.2f} s one by one ({goals.limit(cycle, GOAL, ' s')})")
    taken = [
        run_seconds(scheduler_of(options.nodes, options.members, ROOMY, block=False, running=options.running))
        for _ in range(options.runs)
    ]
    print(f"{'a run that binds them all':28} {statistics.median(taken):6.2f} s", flush=True)


if __name__ == "__main__":
    main()
