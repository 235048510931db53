"""The laws every plugin must satisfy, whatever it decides.

`check` runs them all for one plugin, cluster and pod, those of `schedctl.testing.promises` included, which hold a
plugin to what it promises. They prove that a plugin agrees with itself, one row at a time and all at once, remembered
and asked anew; that it agrees with Kubernetes is the conformance corpus's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from schedctl.api.meta import key_of
from schedctl.cache.arrays import IndexArray, IntArray
from schedctl.cache.changes import ChangeKind
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import Plugin, ReservePlugin
from schedctl.framework.statuses import Status
from schedctl.testing import promises
from schedctl.testing.coverage import Coverage
from schedctl.testing.plugin_answers import LawBroken, PluginAnswers, ask_plugin, call_plugin, require_equal

LAWS = (
    "slice",  # under one state, a row's verdict and raw score depend on that row alone
    "order",  # permuting the nodes permutes the answers
    "purity",  # asking changes nothing in the cluster
    "range",  # normalised scores lie in 0 to 100
    "reserve",  # a pod that is placed and released, once or twice, leaves the answers of before
    "state",  # what a plugin keeps outside of the cycle follows the cluster, as if it had been made anew
    *promises.LAWS,
)
"""Their names."""


def check(
    plugin: Plugin, cluster: Cluster, pod: PodInfo, laws: Iterable[str] = LAWS, coverage: Coverage | None = None
) -> None:
    """Check laws, all unless named, for one plugin, cluster and pod; the cluster is as before.

    Args:
        plugin: the plugin, as a scheduler over the cluster has made it.
        cluster: the cluster.
        pod: the pod that is asked about.
        laws: their names.
        coverage: takes note of what happened.

    Raises:
        LawBroken: a law does not hold.
        CycleError: the plugin fails, or answers what it must not.
    """
    if len(cluster.rows):
        trial = Trial(plugin, cluster, pod, coverage)
        for law in laws:
            trial.check(law)


class Trial:
    """One plugin that is held to the laws, one after the other, about one pod of one cluster."""

    def __init__(self, plugin: Plugin, cluster: Cluster, pod: PodInfo, coverage: Coverage | None = None) -> None:
        """Ask the plugin about the pod.

        Raises:
            CycleError: the plugin fails, or answers what it must not.
        """
        self._plugin, self._cluster, self._pod = plugin, cluster, pod
        self._coverage = coverage or Coverage()
        self._nodes, self._cycle, self._before = cluster.nodes_by_name, Cycle(pod), _picture(cluster)
        self._whole = ask_plugin(plugin, self._cycle, self._nodes, feasible_only=True)
        self._coverage.add(self._whole, self._nodes.names)

    def check(self, law: str) -> None:
        """Check a law.

        Raises:
            LawBroken: it does not hold.
            CycleError: the plugin fails, or answers what it must not.
        """
        checks = {
            "slice": self._check_slice,
            "order": self._check_order,
            "purity": self._check_purity,
            "range": self._check_range,
            "reserve": self._check_reserve,
            "state": self._check_state,
        }
        if law in checks:
            checks[law]()
        else:
            promises.LAWS[law](self._plugin, self._cluster, self._pod)

    def _check_slice(self) -> None:
        alone = _row_by_row(self._plugin, self._cycle, self._nodes, self._whole)
        require_equal("slice", self._whole, alone)

    def _check_order(self) -> None:
        shuffled = np.random.default_rng(len(self._nodes)).permutation(len(self._nodes)).astype(np.intp)
        require_equal("order", self._whole, self._ask(self._nodes.take(shuffled)))

    def _check_purity(self) -> None:
        if _picture(self._cluster) != self._before:
            raise LawBroken(f"purity: {self._plugin.name} changed the cluster it was asked about")

    def _check_range(self) -> None:
        scores = list(self._whole.normalized.values())
        if not all(0 <= score <= MAX_NODE_SCORE for score in scores):
            raise LawBroken(f"range: {self._plugin.name} normalises to {scores}")

    def _check_reserve(self) -> None:
        """See that Unreserve takes back what Reserve did, also where it is called twice, or without Reserve."""
        plugin, cluster = self._plugin, self._cluster
        if not isinstance(plugin, ReservePlugin):
            return
        for name in _some_feasible(self._whole, cluster):
            for times, reserves in ((1, False), (1, True), (2, True)):
                generation = cluster.generation
                with cluster.fork():
                    self._place_and_release(plugin, name, times, reserves=reserves)
                    released = "reserved and released" if times == 1 else "reserved and released twice"
                    when = f"after a pod was {released if reserves else 'released without having been reserved'} {name}"
                    again = self._ask(cluster.nodes_by_name)
                    require_equal("reserve", self._whole, again, f"at first and {{}} {when}")
                    for left in _changed_objects(cluster, generation):
                        raise LawBroken(f"reserve: {left} is not what it was {when}")
            self._coverage.reserved = True

    def _check_state(self) -> None:
        """See that what the plugin keeps for itself follows the cluster, into a fork and out of it."""
        plugin, cluster = self._plugin, self._cluster
        for name in _some_feasible(self._whole, cluster):
            stranger = promises.twin(self._pod, "placed")
            with cluster.fork():
                cluster.assume(stranger, name)
                self._compare_with_fresh(f"after a pod was placed on {name}")
            with cluster.fork():
                if isinstance(plugin, ReservePlugin):
                    self._place(plugin, stranger, name)
                    self._ask(cluster.nodes_by_name)
            again, when = (
                self._ask(cluster.nodes_by_name),
                f"after a pod was placed on {name} in a fork and that was left",
            )
            require_equal("state", self._whole, again, f"at first and {{}} {when}")
            self._coverage.placed = True
        for gone in list(cluster.pod_table)[:1]:
            with cluster.fork():
                cluster.remove_pod(gone)
                self._compare_with_fresh(f"after {gone.key} went")

    def _ask(self, nodes: Nodes) -> PluginAnswers:
        return ask_plugin(self._plugin, Cycle(self._pod), nodes, feasible_only=True)

    def _compare_with_fresh(self, when: str) -> None:
        plugin = self._plugin
        if getattr(plugin.handle, "listens", _listens_never)(plugin):  # it is told of events in a run alone
            return
        nodes = self._cluster.nodes_by_name
        fresh = call_plugin(plugin, lambda: type(plugin)(plugin.args, plugin.handle))
        expected = ask_plugin(fresh, Cycle(self._pod), nodes, feasible_only=True)
        require_equal("state", expected, self._ask(nodes), f"from a plugin just made, and {{}} from this one, {when}")

    def _place(self, plugin: ReservePlugin, pod: PodInfo, name: str, *, reserves: bool = True) -> Cycle:
        """Ask about a pod, assume it on a node and have the plugin reserve what it needs there; return its cycle."""
        cycle = Cycle(pod)
        ask_plugin(plugin, cycle, self._cluster.nodes_by_name, feasible_only=True)
        self._cluster.assume(pod, name)
        if reserves:
            call_plugin(plugin, lambda: plugin.reserve(cycle, name))
        return cycle

    def _place_and_release(self, plugin: ReservePlugin, name: str, times: int, *, reserves: bool) -> None:
        stranger = promises.twin(self._pod, "placed")
        cycle = self._place(plugin, stranger, name, reserves=reserves)
        for _ in range(times):
            call_plugin(plugin, lambda: plugin.unreserve(cycle, name))
        self._cluster.remove_pod(stranger)


def _some_feasible(whole: PluginAnswers, cluster: Cluster) -> list[str]:
    """Return the first and the last node, by name, that the plugin does not reject, as far as there are some."""
    if whole.is_rejected:
        return []
    names = [name for name in cluster.nodes_by_name.names if whole.accepts(name)]
    return list(dict.fromkeys((*names[:1], *names[-1:])))


def _listens_never(plugin: Plugin) -> bool:
    return False


def _row_by_row(plugin: Plugin, cycle: Cycle, nodes: Nodes, whole: PluginAnswers) -> PluginAnswers:
    """Ask about one row at a time, under the state of the whole column."""
    statuses: dict[str, Status] = {}
    scores: dict[str, int] = {}
    for position in range(len(nodes)):
        alone = whole.ask_again(plugin, cycle, nodes.take([position]), feasible_only=True)
        statuses |= alone.statuses
        scores |= alone.scores
    return replace(whole, statuses=statuses, scores=scores)


def _changed_objects(cluster: Cluster, generation: int) -> Iterator[str]:
    """Yield the objects that are not what they were at a generation, as texts."""
    first: dict[tuple[type, str], Any] = {}
    for change in cluster.changes_since(generation) or ():
        if change.kind is ChangeKind.OBJECT:
            first.setdefault((type(change.subject), key_of(change.subject)), change.before)
    for (kind, key), before in first.items():
        if cluster.get(kind, key) != before:
            yield f"{kind.__name__} {key}"


def _picture(cluster: Cluster) -> tuple[object, ...]:
    table, pods = cluster.node_table, cluster.pod_table
    arrays: tuple[IntArray | IndexArray, ...] = (
        table.requested[: len(table.resource_names), : len(table)],
        table.scored[:, : len(table)],
        table.pod_count[: len(table)],
        pods.node,
    )
    objects = [*table.objects, *(info.pod for info in (*pods, *cluster.pending.values()))]
    labels = [tuple((obj.metadata.labels or {}).items()) for obj in objects]
    return (cluster.generation, *(array.tobytes() for array in arrays), labels)
