"""What Karpenter would do about pods that wait, or nodes that are not needed (``--as-autoscaler karpenter``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schedctl.api.autoscalers import NodePool
from schedctl.autoscaling.templates import node_of
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import UsageError
from schedctl.reports.nodes import KarpenterAnswer
from schedctl.scheduler import Scheduler
from schedctl.session.node_inventories import Inventory
from schedctl.simulation.karpenter import report_builder
from schedctl.simulation.karpenter.consolidation import Command, Consolidation, consolidate
from schedctl.simulation.karpenter.launches import Launch, Verification, launch, verify_launches, verify_removals
from schedctl.simulation.karpenter.models import Model, model_of
from schedctl.simulation.karpenter.offers import pools_of
from schedctl.simulation.karpenter.preparation import PreparedModel
from schedctl.simulation.karpenter.solving import solve
from schedctl.simulation.karpenter.volumes import volume_requirements
from schedctl.simulation.karpenter.waiting_pods import WaitingPod, waiting_pod
from schedctl.simulation.scale_ups.planning import ScaleUp
from schedctl.workloads.disruption_budgets import Budgets

KARPENTER = "karpenter"
LAUNCH_NOTES = (
    "Karpenter: the cloud is taken to launch the cheapest instance type that is left; volume limits of nodes, "
    "reserved capacity and NodeOverlays are not modelled",
)
CONSOLIDATION_NOTES = (
    "Karpenter: each command is taken to be carried out before the next; budgets with a schedule, consolidateAfter, "
    "expireAfter and drift are not modelled",
)


def check_known(name: str) -> None:
    """Check what ``--as-autoscaler`` names.

    Raises:
        UsageError: there is no such autoscaler.
    """
    if name not in ("", KARPENTER):
        raise UsageError(f'unknown autoscaler "{name}"', f"--as-autoscaler takes {KARPENTER}")


def launches(
    scheduler: Scheduler, known: Inventory, facts: ScaleUp, prices: Mapping[str, float | None]
) -> KarpenterAnswer:
    """Return what Karpenter would launch for the pods that fit on no node; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster, with the pods.
        known: the groups of nodes and the instance types.
        facts: the plan, which knows what kube-scheduler places without new nodes.
        prices: what nodes cost.

    Raises:
        UsageError: there is no NodePool.
    """
    cluster = scheduler.cluster
    gated = {info.key for info in facts.gated}
    pods = [info for info in (*facts.pods, *facts.unplaced) if info.key not in gated]
    with scheduler.fork():
        for key, node in facts.nodes_of_fitting.items():
            cluster.assume(cluster.pending[key], node)
        solution = solve(PreparedModel(_model(cluster, known, prices)), _waiting(cluster, pods))
        joined = [each for claim in solution.claims if (each := launch(claim)) is not None]
        verification = verify_launches(scheduler, joined, pods)
    return report_builder.launch_answer(solution, verification)


def consolidation(scheduler: Scheduler, known: Inventory, prices: Mapping[str, float | None]) -> KarpenterAnswer:
    """Return which nodes Karpenter would remove or replace; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        known: the groups of nodes and the instance types.
        prices: what nodes cost.

    Raises:
        UsageError: there is no NodePool.
    """
    cluster = scheduler.cluster
    names = list(cluster.node_table.row_of)
    annotations = {name: dict(node_of(cluster, name).metadata.annotations or {}) for name in names}
    pending = [info for info in cluster.pending.values() if not info.pod.spec.scheduling_gates]
    facts = consolidate(_model(cluster, known, prices), Budgets.of(cluster), annotations, pending)
    groups = {name: group.name for group in known.groups.groups for name in group.nodes}
    return report_builder.consolidation_answer(facts, len(names), groups, _verify(scheduler, facts))


def _verify(scheduler: Scheduler, facts: Consolidation) -> Verification:
    """Have the nodes that go in the end drained by kube-scheduler, with the replacements that stay."""
    gone = [name for command in facts.commands for name in command.nodes]
    there = scheduler.cluster.node_table.row_of
    stay = [_launch(each) for each in facts.commands if each.replacement and each.replacement.name not in gone]
    removed = [name for name in gone if name in there]
    if not removed:
        return Verification()
    with scheduler.fork():
        for info in list(scheduler.cluster.pending.values()):
            scheduler.cluster.remove_pod(info)
        return verify_removals(scheduler, removed, stay)


def _launch(command: Command) -> Launch:
    new = command.replacement
    assert new is not None
    return Launch(new.claim, new.instance_type, new.offering, new.offering.template)


def _model(cluster: Cluster, known: Inventory, prices: Mapping[str, float | None]) -> Model:
    node_pools = {each.metadata.name: each for each in cluster.every(NodePool).values()}
    if not node_pools:
        raise UsageError("there is no NodePool of Karpenter in this state", "leave out `--as-autoscaler karpenter`")
    return model_of(cluster, pools_of(known.groups.groups, node_pools, known.catalogue), prices)


def _waiting(cluster: Cluster, pods: Sequence[PodInfo]) -> Iterable[WaitingPod]:
    return [waiting_pod(info, volume_requirements(cluster, info) or None) for info in pods]
