"""What plans, shrinks and consolidations of a large cluster take of a processor: ``python -m benchmarks.nodes``."""

from __future__ import annotations

import argparse
import time
from random import Random
from typing import Any

import msgspec

from schedctl.api import autoscalers, node_labels
from schedctl.api.nodes import Node
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, MEMORY
from schedctl.autoscaling.detection import detect
from schedctl.autoscaling.instance_types import Catalogue, InstanceType, Offering
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.karpenter.consolidation import Consolidation, consolidate
from schedctl.simulation.karpenter.models import model_of
from schedctl.simulation.karpenter.offers import pools_of
from schedctl.simulation.scale_downs.removals import ScaleDown, shrink
from schedctl.simulation.scale_downs.rules import RemovalRules
from schedctl.simulation.scale_ups.options import options_of
from schedctl.simulation.scale_ups.planning import ScaleUp, plan
from schedctl.testing import builders
from schedctl.workloads.disruption_budgets import Budgets

NODES, PODS, PENDING = 1_000, 10_000, 2_000
_ZONES = ("a", "b", "c")
_POOLS = {"general": ("8", "32Gi"), "memory": ("8", "64Gi"), "compute": ("16", "32Gi")}
_SIZES = (("250m", "512Mi"), ("500m", "1Gi"), ("500m", "2Gi"), ("1", "2Gi"), ("2", "4Gi"))
_WORKLOADS = 40
_TYPES = {
    f"{family}.{cpu}": InstanceType(
        f"{family}.{cpu}", cpu * 1000, cpu * ratio << 30, offerings=(Offering(cpu * price, zones=_ZONES),)
    )
    for family, ratio, price in (("compute", 2, 0.04), ("general", 4, 0.05), ("memory", 8, 0.06))
    for cpu in (2, 4, 8, 16, 32)
}


def cluster(nodes: int = NODES, pods: int = PODS, pending: int = PENDING, *, fill: float = 1.0) -> Cluster:
    """Return a cluster of three pools in three zones, whose pods are of `_WORKLOADS` workloads.

    Args:
        nodes: how many nodes.
        pods: how many pods run.
        pending: how many wait.
        fill: which part of the nodes has pods.
    """
    random = Random(7)
    made = Cluster()
    made.add_nodes([_node(number) for number in range(nodes)])
    used = max(1, int(nodes * fill))
    free = [float(_POOLS[_pool_of(number)][0]) for number in range(used)]
    for number in range(pods):
        workload = random.randrange(_WORKLOADS)
        cpu = _cpu(workload)
        # the next node that has room: nothing runs on a node that is too small for it
        at = next((each % used for each in range(number, number + used) if free[each % used] >= cpu), None)
        if at is not None:
            free[at] -= cpu
            made.add_pod(_pod(workload, number, f"node-{at}"))
    made.add_pods(_pod(random.randrange(_WORKLOADS), pods + number, "") for number in range(pending))
    return made


def fill_up(state: Cluster) -> None:
    """Leave no room on any node."""
    for name in list(state.node_table.row_of):
        nodes = state.nodes_named([name])
        free = {each: max(0, int((nodes.allocatable(each) - nodes.requested(each))[0])) for each in (CPU, MEMORY)}
        state.add_pod(builders.pod(f"filler-{name}", cpu=f"{free[CPU]}m", memory=str(free[MEMORY]), on=name))


def _pool_of(number: int) -> str:
    return list(_POOLS)[number % len(_POOLS)]


def _cpu(workload: int) -> float:
    return parse(_SIZES[workload % len(_SIZES)][0]).milli_value / 1000


def _node(number: int) -> Node:
    pool = _pool_of(number)
    cpu, memory = _POOLS[pool]
    zone = _ZONES[(number // len(_POOLS)) % len(_ZONES)]
    return builders.node(f"node-{number}", cpu=cpu, memory=memory, zone=zone, labels={"pool": pool})


def _pod(workload: int, number: int, on: str) -> PodInfo:
    cpu, memory = _SIZES[workload % len(_SIZES)]
    spec: dict[str, Any] = {}
    if workload % 8 == 0:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 5,
                "topologyKey": builders.ZONE,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": f"app-{workload}"}},
            }
        ]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"app-{workload}", "uid": "u", "controller": True}
    name = f"app-{workload}-{number}"
    metadata = {"ownerReferences": [owner]}
    return builders.pod(
        name, cpu=cpu, memory=memory, on=on or None, labels={"app": f"app-{workload}"}, metadata=metadata, **spec
    )


def karpenter_cluster(nodes: int, pods: int) -> Cluster:
    """Return the same with a NodePool of Karpenter for each pool, which may have nodes of five sizes."""
    made = cluster(nodes, pods, 0)
    for node in list(made.node_table.objects):
        labels = dict(node.metadata.labels or {})
        pool = labels["pool"]
        labels |= {node_labels.KARPENTER_POOL: pool, node_labels.CAPACITY_TYPE: "on-demand"}
        labels[node_labels.INSTANCE_TYPE] = f"{pool}.{_POOLS[pool][0]}"
        made.add_node(msgspec.structs.replace(node, metadata=msgspec.structs.replace(node.metadata, labels=labels)))
    for pool in _POOLS:
        allowed = [name for name in _TYPES if name.startswith(pool)]
        requirements = [{"key": node_labels.INSTANCE_TYPE, "operator": "In", "values": allowed}]
        spec = {"template": {"metadata": {"labels": {"pool": pool}}, "spec": {"requirements": requirements}}}
        made.put(msgspec.convert({"metadata": {"name": pool}, "spec": spec}, autoscalers.NodePool))
    return made


def run_plan(nodes: int, pods: int, pending: int) -> tuple[float, ScaleUp]:
    """Return what a plan for the pending pods of a full cluster takes of a processor, and the plan."""
    state = cluster(nodes, pods, pending)
    fill_up(state)
    scheduler = Scheduler(state)
    options, _ = options_of(detect(state).groups, "count")
    began = time.process_time()
    found = plan(scheduler, list(state.pending.values()), options)
    return time.process_time() - began, found


def run_shrink(nodes: int, pods: int) -> tuple[float, ScaleDown]:
    """Return what a shrink takes of a processor, and what it found."""
    state = cluster(nodes, pods, 0)
    scheduler = Scheduler(state)
    began = time.process_time()
    found = shrink(scheduler, detect(state), RemovalRules())
    return time.process_time() - began, found


def run_consolidation(nodes: int, pods: int) -> tuple[float, Consolidation]:
    """Return what Karpenter's consolidation takes of a processor, and what it would do."""
    state, catalogue = karpenter_cluster(nodes, pods), Catalogue(_TYPES, "types.csv")
    labels = {
        name: state.node_table.objects[row].metadata.labels or {} for name, row in state.node_table.row_of.items()
    }
    prices = {name: _TYPES[each[node_labels.INSTANCE_TYPE]].price() for name, each in labels.items()}
    began = time.process_time()
    pools = {each.metadata.name: each for each in state.every(autoscalers.NodePool).values()}
    model = model_of(state, pools_of(detect(state, catalogue).groups, pools, catalogue), prices)
    found = consolidate(model, Budgets.of(state), {name: {} for name in labels})
    return time.process_time() - began, found


def main() -> None:
    """Measure them and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--pods", type=int, default=PODS)
    parser.add_argument("--pending", type=int, default=PENDING)
    parser.add_argument("--only", choices=("plan", "shrink", "consolidation"))
    arguments = parser.parse_args()
    if arguments.only in (None, "plan"):
        seconds, up = run_plan(arguments.nodes, arguments.pods, arguments.pending)
        added = sum(up.counts)
        print(
            f"plan: {len(up.pods)} pending, {arguments.nodes} nodes: {seconds:.1f} s; {up.fitting} fit, add {added},"
            f" bound {up.bound.value:.0f} by {up.bound.by}, gap {up.gap:.1%}, {up.tried} plans tried,"
            f" {len(up.unplaced)} unplaced"
        )
    if arguments.only in (None, "shrink"):
        seconds, down = run_shrink(arguments.nodes, arguments.pods)
        print(
            f"shrink: {arguments.pods} pods, {arguments.nodes} nodes: {seconds:.1f} s; {len(down.removals)} can go,"
            f" at most {down.bound} by {down.bound_by}, {down.tried} removals tried"
        )
    if arguments.only in (None, "consolidation"):
        seconds, found = run_consolidation(arguments.nodes, arguments.pods)
        gone = {name for command in found.commands for name in command.nodes}
        print(
            f"consolidation: {arguments.pods} pods, {arguments.nodes} nodes: {seconds:.1f} s;"
            f" {len(found.commands)} commands, {len(gone)} nodes go"
        )


if __name__ == "__main__":
    main()
