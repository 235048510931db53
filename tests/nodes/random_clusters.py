"""Small random clusters with several groups of nodes, and what brute force finds out about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations, product
from random import Random

import msgspec

from schedctl.autoscaling.detection import detect
from schedctl.autoscaling.joining import Joining
from schedctl.scheduler import Scheduler
from schedctl.simulation.drains import DrainFlags, drain
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.replacement import ReplacementController
from schedctl.simulation.runs import Options, run
from schedctl.simulation.scale_downs.rules import RemovalRules, obstacle
from schedctl.testing.builders import ZONE, cluster, node, pod
from schedctl.workloads.disruption_budgets import Budgets

MOST_NODES = 4
OWNED = {
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "u", "controller": True}]
}
QUIET = Options(trace=False)


def _anti_affinity(key: str) -> dict:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "a"}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _spread(key: str) -> list[dict]:
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "b"}},
        }
    ]


def _pod(random: Random, name: str, **more):
    sort = random.randrange(8)
    spec: dict = {}
    labels = {}
    if sort == 0:
        labels, spec["affinity"] = {"app": "a"}, _anti_affinity("kubernetes.io/hostname")
    elif sort == 1:
        labels, spec["topology_spread_constraints"] = {"app": "b"}, None
        spec = {"topologySpreadConstraints": _spread(ZONE)}
    elif sort == 2:
        spec["tolerations"] = [{"key": "big", "operator": "Exists"}]
    elif sort == 3:
        spec["nodeSelector"] = {"pool": random.choice(("small", "big"))}
        spec["tolerations"] = [{"key": "big", "operator": "Exists"}]
    return pod(
        name,
        cpu=random.choice(("500m", "1", "1500m", "2", "3")),
        memory=random.choice(("512Mi", "1Gi", "4Gi", "7Gi")),
        labels=labels,
        **spec,
        **more,
    )


def pending_cluster(seed: int):
    """Two groups, one of them tainted, some pods that run and some that wait."""
    random = Random(seed)
    taints = [{"key": "big", "value": "", "effect": "NoSchedule"}] if random.random() < 0.4 else None
    objects = [
        node("small-1", cpu="4", memory="8Gi", zone="z1", labels={"pool": "small"}),
        node("big-1", cpu="8", memory="16Gi", zone=random.choice(("z1", "z2")), labels={"pool": "big"}, taints=taints),
    ]
    objects += [_pod(random, f"run-{i}", on=random.choice(("small-1", "big-1"))) for i in range(random.randrange(3))]
    objects += [_pod(random, f"wait-{i}", priority=random.choice((0, 0, 10))) for i in range(random.randrange(2, 9))]
    return cluster(*objects)


@contextmanager
def settled(scheduler: Scheduler, facts) -> Iterator[None]:
    """The cluster as it is when new nodes join: what fits is placed, and what no node helps is left out."""
    with scheduler.fork():
        for info in facts.unplaced:
            scheduler.cluster.remove_pod(info)
        rest = list(scheduler.cluster.pending.values())
        quiet = Options(trace=False, make_room=False)
        run(scheduler, rest, options=quiet, controller=ReplacementController(scheduler))
        yield


def is_complete(scheduler: Scheduler, options, counts, pods) -> bool:
    """Whether a run of kube-scheduler's cycle places pods with so many new nodes, and evicts none."""
    with scheduler.fork():
        joining = Joining(scheduler.cluster)
        for option, count in zip(options, counts, strict=True):
            joining.add(option.template, count)
        facts = run(scheduler, pods, options=QUIET, controller=ReplacementController(scheduler))
        return not facts.evictions and all(each.state is PodState.BOUND for each in facts.pods.values())


def least_cost(scheduler: Scheduler, options, pods, known: float) -> float:
    """The least cost of all plans of at most `MOST_NODES` nodes that cost less than a known one, else the known one."""
    best = known
    for counts in product(range(MOST_NODES + 1), repeat=len(options)):
        cost = sum(option.cost * count for option, count in zip(options, counts, strict=True))
        if sum(counts) <= MOST_NODES and cost < best - 1e-9 and is_complete(scheduler, options, counts, pods):
            best = cost
    return best


def running_cluster(seed: int):
    """Some nodes with pods, which might run on fewer of them."""
    random = Random(seed)
    zones = ("z1", "z2")
    names = [f"n{i}" for i in range(random.randrange(3, 6))]
    objects = [
        node(name, cpu=random.choice(("4", "8")), memory="16Gi", zone=random.choice(zones), labels={"pool": "general"})
        for name in names
    ]
    made = cluster(*objects)
    scheduler = Scheduler(made)
    for number in range(random.randrange(2, 9)):
        metadata = OWNED if random.random() < 0.9 else {}
        annotations = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"} if random.random() < 0.05 else None
        info = _pod(random, f"x{number}-p", metadata={**metadata, "annotations": annotations})
        outcome = scheduler.attempt(info)
        if outcome.fits:
            made.add_pod(_bound(info, random.choice(sorted(outcome.ties)) if random.random() < 0.5 else outcome.chosen))
    return made


def _bound(info, name: str):
    pod_object = info.pod
    status = msgspec.structs.replace(pod_object.status, phase="Running")
    return info.as_now(
        msgspec.structs.replace(
            pod_object, spec=msgspec.structs.replace(pod_object.spec, node_name=name), status=status
        )
    )


def most_removed(scheduler: Scheduler) -> int:
    """How many nodes a drain empties at most, in any order, with every pod placed again and none preempted."""
    state, groups, rules = scheduler.cluster, detect(scheduler.cluster), RemovalRules()
    budgets = Budgets.of(state)
    candidates = [
        name
        for name in sorted(state.node_table.row_of)
        if obstacle(state, name, groups.group_of(name), rules, budgets) is None
    ]
    for size in range(len(candidates), 0, -1):
        if any(can_go(scheduler, chosen) for chosen in permutations(candidates, size)):
            return size
    return 0


def can_go(scheduler: Scheduler, chosen) -> bool:
    """Whether a drain of nodes, one after another, leaves no pod behind and none pending."""
    flags = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True, force=True)
    with scheduler.fork():
        facts = drain(scheduler, list(chosen), flags, options=QUIET)
    fates = [pod.fate.value for each in facts.nodes for pod in each.pods]
    return not facts.displaced and all(fate == "Moved" for fate in fates)
