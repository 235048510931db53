"""Whom preemption may evict: pods of lower priority, by node and importance, and what their disruption budgets allow.

Everything is an array over the possible victims of all nodes at once, grouped by node. Budgets are counted for each
node on its own, since a pod preempts on one node only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from schedctl.api import policies, selectors
from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo


@dataclass(frozen=True)
class Victims:
    """The possible victims of a column of nodes.

    Attributes:
        nodes: the nodes that have any, n of them.
        pods: intp (v,), rows of the pod table; those of a node are together, the most important first.
        at: intp (v,), the position of each victim's node.
        begin: intp (n + 1,), where the victims of each node begin, and the end.
    """

    nodes: Nodes
    pods: IndexArray
    at: IndexArray
    begin: IndexArray

    @cached_property
    def violates_budget(self) -> BoolArray:
        """Victims whose eviction, with that of the more important ones of the node, breaks a budget, bool (v,)."""
        return _violations(self.nodes.cluster, self.pods, self.at)


def possible_victims(nodes: Nodes, priority: int) -> Victims:
    """Return the pods of lower priority than this on a column in which every node stands once."""
    cluster = nodes.cluster
    table = cluster.pod_table
    lower = table.priority < priority
    if not lower.any():  # often: where nobody has a priority, pods without room are thousands, and none has victims
        nobody = np.empty(0, np.intp)
        return Victims(nodes.take(nobody), nobody, nobody, np.zeros(1, np.intp))
    position_of = np.full(len(cluster.node_table) + 1, -1, np.intp)  # the last entry is for `NO_NODE`
    position_of[nodes.rows] = np.arange(len(nodes))
    at = position_of[table.node]
    possible = at >= 0
    possible &= lower
    pods = table.by_importance
    pods = pods[possible[pods]]
    at = at[pods]
    counts = np.bincount(at, minlength=len(nodes))
    having = counts > 0
    at = (np.cumsum(having) - 1)[at]  # positions among the nodes that have any
    together = group_order(at, len(nodes))
    pods, at = pods[together], at[together]
    begin = np.concatenate((np.zeros(1, np.intp), np.cumsum(counts[having])))
    return Victims(nodes.take(having), pods, at, begin)


def group_order(keys: IndexArray, bound: int) -> IndexArray:
    """Return the order that sorts keys, all of them in range(bound), and keeps equal ones as they come."""
    return np.argsort(keys.astype(np.uint16) if bound <= 1 << 16 else keys, kind="stable")  # of 16 bits: by radix


def _violations(cluster: ClusterView, pods: IndexArray, at: IndexArray) -> BoolArray:
    """Return which victims, those of a node together, break a budget when they are evicted in order, bool (v,).

    Budgets are asked in order of their keys. A victim counts against each that selects it until one is overdrawn: that
    one it violates, and later ones are not asked.
    """
    violating = np.zeros(len(pods), np.bool_)
    budgets = cluster.every(policies.PodDisruptionBudget)
    for key in sorted(budgets):
        selected = _pods_of_budget(cluster, budgets[key])
        if selected is None:
            continue
        counting = np.flatnonzero(selected[pods] & ~violating)
        there = at[counting]
        # `there` is sorted, so that the first of a node's is found by bisection: how many it has drawn so far
        drawn = np.arange(1, len(there) + 1) - np.searchsorted(there, there)
        violating[counting[drawn > budgets[key].status.disruptions_allowed]] = True
    return violating


class BudgetCount:
    """Counts evictions, one pod after another, against all disruption budgets of a cluster as it is now."""

    def __init__(self, cluster: ClusterView) -> None:
        budgets = sorted(cluster.every(policies.PodDisruptionBudget).items())
        self._row_of = dict(cluster.pod_table.row_of)
        self._selected = [_pods_of_budget(cluster, budget) for _, budget in budgets]
        self._allowed = [budget.status.disruptions_allowed for _, budget in budgets]

    def violates(self, pod: PodInfo) -> bool:
        """Count the eviction of a running pod, and return whether it breaks a budget; later ones are not asked then."""
        row = self._row_of[pod.key]
        for number, selected in enumerate(self._selected):
            if selected is not None and selected[row]:
                self._allowed[number] -= 1
                if self._allowed[number] < 0:
                    return True
        return False


def is_preempted(pod: PodInfo) -> bool:
    """Return whether a pod is on its way out because the scheduler evicted it."""
    disruption = next((c for c in pod.pod.status.conditions or () if c.type == "DisruptionTarget"), None)
    if not pod.is_terminating or disruption is None:
        return False
    return disruption.status == "True" and disruption.reason == "PreemptionByScheduler"


def budgets_of(cluster: ClusterView, pods: Sequence[PodInfo]) -> list[list[str]]:
    """Return the keys of the disruption budgets that count each of some running pods."""
    rows = [cluster.pod_table.row_of[pod.key] for pod in pods]
    found: list[list[str]] = [[] for _ in pods]
    for key, budget in sorted(cluster.every(policies.PodDisruptionBudget).items()):
        selected = _pods_of_budget(cluster, budget)
        for row, keys in zip(rows, found, strict=True):
            if selected is not None and selected[row]:
                keys.append(key)
    return found


def _pods_of_budget(cluster: ClusterView, budget: policies.PodDisruptionBudget) -> BoolArray | None:
    """Return which pods a budget counts, bool (pod rows,), None for none.

    An absent or empty selector selects nothing, nor does a malformed one; pods without labels and those whose
    disruption has been noted already are not counted.
    """
    try:
        query = selectors.compile_selector(budget.spec.selector)
    except selectors.SelectorError:
        return None
    if query.nothing or query.everything:
        return None
    table, namespace = cluster.pod_table, budget.metadata.namespace
    selected = table.select(query, (namespace,))
    if query.matches(None):  # such as !key: it would select pods without labels, which upstream leaves out first
        bare = (row for row in np.flatnonzero(selected).tolist() if not table.labels.maps[row])
        selected[list(bare)] = False
    for name in budget.status.disrupted_pods or ():
        row = table.row_of.get(f"{namespace}/{name}")
        if row is not None:
            selected[row] = False
    return selected
