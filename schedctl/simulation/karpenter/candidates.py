"""Which nodes Karpenter may consolidate, what their disruption costs, and how many of a pool at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

import msgspec

from schedctl.api import annotation_keys as keys
from schedctl.api import node_labels, topology
from schedctl.api.autoscalers import NodePool
from schedctl.api.nodes import Taint
from schedctl.api.tolerations import NO_SCHEDULE
from schedctl.cache.pod_info import PodInfo
from schedctl.reports.nodes import Keeper
from schedctl.simulation.karpenter.models import ModelNode, owner_kind
from schedctl.simulation.karpenter.offers import Pool
from schedctl.simulation.karpenter.topology_groups import tolerated
from schedctl.simulation.scale_downs.rules import Obstacle
from schedctl.workloads.disruption_budgets import Budgets

EMPTY, UNDERUTILIZED = "Empty", "Underutilized"
"""The reasons of disruption that budgets are about."""
_DEFAULT_BUDGET = "10%"
_TRUE = "true"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_DISRUPTED = Taint(key="karpenter.sh/disrupted", effect=NO_SCHEDULE)
_MOST_COST = 10.0


class Candidate(msgspec.Struct, frozen=True):
    """A node that could be consolidated.

    Attributes:
        node: the node.
        pool: its NodePool.
        cost: what disrupting its pods costs, in Karpenter's own units.
        pods: those that would have to find another node.
    """

    node: ModelNode
    pool: Pool
    cost: float
    pods: Sequence[PodInfo]

    @property
    def instance_type(self) -> str:
        """The instance type of the node."""
        return node_labels.instance_type_of(self.node.labels)

    @property
    def is_spot(self) -> bool:
        """Whether the node is spot capacity."""
        return self.node.labels.get(node_labels.CAPACITY_TYPE) == node_labels.SPOT


def candidate(
    node: ModelNode, pools: Iterable[Pool], budgets: Budgets, annotations: dict[str, str]
) -> Candidate | Obstacle:
    """Return a node as a candidate, or why Karpenter leaves it alone."""
    why = _of_node(node, annotations)
    pool = next((each for each in pools if each.name == node.pool), None)
    if why is None and pool is None:
        why = Obstacle(Keeper.DISRUPTION, f"NodePool {node.pool} is not there, or its nodes are not launched by need")
    if why is None and pool is not None:
        why = _of_pool(node, pool) or _of_pods(node, budgets)
    if why is not None or pool is None:
        return why or Obstacle(Keeper.DISRUPTION, "it is not Karpenter's")
    return Candidate(node, pool, sum(_eviction_cost(info) for info in node.pods), node.rescheduled())


def allowed(pool: NodePool, nodes: int, reason: str) -> int:
    """Return how many of the nodes of a pool may be disrupted at a time; budgets with a schedule are passed over."""
    written = pool.spec.disruption.budgets
    budgets = [(each.nodes, each.reasons, each.schedule) for each in written or ()]
    if written is None:
        budgets = [(_DEFAULT_BUDGET, None, None)]
    found = nodes
    for amount, reasons, schedule in budgets:
        if schedule is None and (not reasons or reason in reasons):
            found = min(found, _scaled(str(amount), nodes))
    return max(0, found)


def _scaled(amount: str, nodes: int) -> int:
    """Return a number, or a percentage of nodes rounded up; what is neither allows none."""
    number = amount.removesuffix("%")
    if not number.isdecimal():
        return 0
    return ceil(int(number) * nodes / 100) if amount.endswith("%") else int(number)


def _of_node(node: ModelNode, annotations: dict[str, str]) -> Obstacle | None:
    if not node.pool:
        return Obstacle(Keeper.DISRUPTION, "it is not a node of a NodePool, and Karpenter leaves it alone")
    if not (node.exists and node.initialized):
        return Obstacle(Keeper.DISRUPTION, "it is not initialized yet")
    if annotations.get(keys.DO_NOT_DISRUPT) == _TRUE:
        return Obstacle(Keeper.ANNOTATION, f"annotation {keys.DO_NOT_DISRUPT} of the node")
    return None


def _of_pool(node: ModelNode, pool: Pool) -> Obstacle | None:
    disruption = pool.written.spec.disruption
    if disruption.consolidate_after == "Never":
        return Obstacle(Keeper.DISRUPTION, f"NodePool {pool.name} has consolidateAfter: Never")
    if disruption.consolidation_policy == "WhenEmpty" and node.rescheduled():
        return Obstacle(Keeper.DISRUPTION, f"NodePool {pool.name} consolidates only empty nodes (WhenEmpty)")
    if not node.rescheduled():
        return None
    for label in (node_labels.CAPACITY_TYPE, topology.ZONE):
        if label not in node.labels:
            return Obstacle(Keeper.DISRUPTION, f"it has no label {label}, so that Karpenter does not know its price")
    instance_type = node_labels.instance_type_of(node.labels)
    if not any(each.name == instance_type for each in pool.known_types):
        return Obstacle(Keeper.DISRUPTION, f'instance type "{instance_type}" is not known')
    return None


def _of_pods(node: ModelNode, budgets: Budgets) -> Obstacle | None:
    for info in node.pods:
        annotations = info.pod.metadata.annotations or {}
        if not info.is_terminating and annotations.get(keys.DO_NOT_DISRUPT) == _TRUE:
            return Obstacle(Keeper.ANNOTATION, f"pod {info.key}: annotation {keys.DO_NOT_DISRUPT}", (info.key,))
        if info.is_terminating or owner_kind(info) == "Node":
            continue
        if tolerated((_DISRUPTED,), tuple(info.pod.spec.tolerations or ())):
            continue  # Karpenter does not evict it
        books = budgets.books_of(info)
        if len(books) > 1:
            text = f"pod {info.key}: several PodDisruptionBudgets select it, so that no eviction is allowed"
            return Obstacle(Keeper.BUDGET, text, (info.key,))
        for book in books:
            if not book.disruptions_allowed and not (book.lenient and info.key not in book.healthy):
                text = f"pod {info.key}: PodDisruptionBudget {book.key} allows no eviction"
                return Obstacle(Keeper.BUDGET, text, (info.key,))
    return None


def _eviction_cost(info: PodInfo) -> float:
    """Return what evicting a pod costs: 1, more or less by its priority and deletion cost."""
    written = (info.pod.metadata.annotations or {}).get(_DELETION_COST, "0")
    try:
        deletion_cost = float(written)
    except ValueError:
        deletion_cost = 0.0
    cost = 1.0 + deletion_cost / 2**27 + info.priority / 2**25
    return max(-_MOST_COST, min(_MOST_COST, cost))
