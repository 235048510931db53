"""The laws every plugin must satisfy, whatever it decides.

`check` runs them all for one plugin, cluster and pod, those of `schedctl.testing.promises` included, which hold a
plugin to what it promises. They prove that a plugin agrees with itself, one row at a time and all at once, remembered
and asked anew; that it agrees with Kubernetes is the conformance corpus's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from schedctl.cache.arrays import IndexArray, IntArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import Plugin, ReservePlugin
from schedctl.framework.statuses import Status
from schedctl.testing import promises
from schedctl.testing.plugin_answers import LawBroken, PluginAnswers, ask_plugin, require_equal

LAWS = (
    "slice",  # under one state, a row's verdict and raw score depend on that row alone
    "order",  # permuting the nodes permutes the answers
    "purity",  # asking changes nothing in the cluster
    "range",  # normalised scores lie in 0 to 100
    "reserve",  # a pod that is placed and released again leaves the answers of before
    "state",  # and so does one whose fork is left: what a plugin keeps outside of the cycle follows the cluster
    *promises.LAWS,
)
"""Their names."""


def check(plugin: Plugin, cluster: Cluster, pod: PodInfo, laws: Iterable[str] = LAWS) -> None:
    """Check laws, all unless named, for one plugin, cluster and pod; the cluster is as before.

    Raises:
        LawBroken: a law does not hold.
        CycleError: the plugin fails, or answers what it must not.
    """
    nodes, law_names = cluster.nodes_by_name, frozenset(laws)
    if not len(nodes):
        return
    before = _picture(cluster)
    cycle = Cycle(pod)
    whole = ask_plugin(plugin, cycle, nodes, feasible_only=True)
    if "slice" in law_names:
        require_equal("slice", whole, _row_by_row(plugin, cycle, nodes, whole))
    if "order" in law_names:
        shuffled = np.random.default_rng(len(nodes)).permutation(len(nodes)).astype(np.intp)
        require_equal("order", whole, ask_plugin(plugin, Cycle(pod), nodes.take(shuffled), feasible_only=True))
    if "range" in law_names and not all(0 <= score <= MAX_NODE_SCORE for score in whole.normalized.values()):
        raise LawBroken(f"range: {plugin.name} normalises to {list(whole.normalized.values())}")
    if "purity" in law_names and _picture(cluster) != before:
        raise LawBroken(f"purity: {plugin.name} changed the cluster it was asked about")
    if "reserve" in law_names and isinstance(plugin, ReservePlugin):
        _check_release(plugin, cluster, pod, whole)
    if "state" in law_names:
        _check_own_state(plugin, cluster, pod, whole)
    for law, holds in promises.LAWS.items():
        if law in law_names:
            holds(plugin, cluster, pod)


def _check_release(plugin: ReservePlugin, cluster: Cluster, pod: PodInfo, whole: PluginAnswers) -> None:
    for name in _some_feasible(whole, cluster):
        with cluster.fork():
            stranger = promises.twin(pod, "placed")
            cycle = _place(plugin, cluster, stranger, name)
            plugin.unreserve(cycle, name)
            cluster.forget(stranger)
            again = ask_plugin(plugin, Cycle(pod), cluster.nodes_by_name, feasible_only=True)
        require_equal("reserve", whole, again, f"at first and {{}} after a pod was reserved {name} and released")


def _check_own_state(plugin: Plugin, cluster: Cluster, pod: PodInfo, whole: PluginAnswers) -> None:
    for name in _some_feasible(whole, cluster):
        with cluster.fork():
            stranger = promises.twin(pod, "placed")
            if isinstance(plugin, ReservePlugin):
                _place(plugin, cluster, stranger, name)
            else:
                cluster.assume(stranger, name)
            ask_plugin(plugin, Cycle(pod), cluster.nodes_by_name, feasible_only=True)
        again = ask_plugin(plugin, Cycle(pod), cluster.nodes_by_name, feasible_only=True)
        require_equal(
            "state", whole, again, f"at first and {{}} after a pod was placed on {name} in a fork and that was left"
        )


def _some_feasible(whole: PluginAnswers, cluster: Cluster) -> list[str]:
    """Return the first and the last node, by name, that the plugin does not reject, as far as there are some."""
    if whole.is_rejected:
        return []
    names = [name for name in cluster.nodes_by_name.names if whole.accepts(name)]
    return list(dict.fromkeys((*names[:1], *names[-1:])))


def _place(plugin: ReservePlugin, cluster: Cluster, pod: PodInfo, name: str) -> Cycle:
    """Ask about a pod, assume it on a node and have the plugin reserve what it needs there; return its cycle."""
    cycle = Cycle(pod)
    ask_plugin(plugin, cycle, cluster.nodes_by_name, feasible_only=True)
    cluster.assume(pod, name)
    plugin.reserve(cycle, name)
    return cycle


def _row_by_row(plugin: Plugin, cycle: Cycle, nodes: Nodes, whole: PluginAnswers) -> PluginAnswers:
    """Ask about one row at a time, under the state of the whole column."""
    statuses: dict[str, Status] = {}
    scores: dict[str, int] = {}
    for position in range(len(nodes)):
        alone = whole.ask_again(plugin, cycle, nodes.take([position]), feasible_only=True)
        statuses |= alone.statuses
        scores |= alone.scores
    return replace(whole, statuses=statuses, scores=scores)


def _picture(cluster: Cluster) -> tuple[object, ...]:
    table, pods = cluster.node_table, cluster.pod_table
    arrays: tuple[IntArray | IndexArray, ...] = (
        table.requested[: len(table.resource_names), : len(table)],
        table.scored[:, : len(table)],
        table.pod_count[: len(table)],
        pods.node,
    )
    return (cluster.generation, *(array.tobytes() for array in arrays))
