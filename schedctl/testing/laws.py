"""The laws every plugin must satisfy, whatever it decides.

* *slice*: under one state, a row's verdict and raw score depend on that row alone;
* *order*: permuting the nodes permutes the answers;
* *purity*: asking changes nothing in the cluster;
* *range*: normalised scores lie in 0 to 100.

`check` runs them all for one plugin, cluster and pod. They prove that a plugin agrees with itself, one row at a time
and all at once; that it agrees with Kubernetes is the conformance corpus's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from schedctl.cache.arrays import IndexArray, IntArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.asking import DIRECTLY
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.statuses import Status

LAWS = ("slice", "order", "purity", "range")
"""Their names."""


class LawBroken(AssertionError):
    """A plugin breaks a law; the message says which, where, and what it answered."""


@dataclass(frozen=True)
class _Answers:
    """Everything a plugin says of a column: a status per node and a raw score per node, by name."""

    statuses: dict[str, Status]
    scores: dict[str, int]


def check(plugin: Plugin, cluster: Cluster, pod: PodInfo, laws: Iterable[str] = LAWS) -> None:
    """Check laws, all unless named, for one plugin, cluster and pod.

    Raises:
        LawBroken: a law does not hold.
        CycleError: the plugin fails, or answers what it must not.
    """
    nodes, wanted = cluster.nodes_by_name, frozenset(laws)
    if not len(nodes):
        return
    before = _picture(cluster)
    cycle = Cycle(pod)
    whole = _answers(plugin, cycle, nodes)
    if whole is None:
        return
    if "slice" in wanted:
        _compare("slice", whole, _row_by_row(plugin, cycle, nodes, scored=bool(whole.scores)))
    if "order" in wanted:
        shuffled = np.random.default_rng(len(nodes)).permutation(len(nodes)).astype(np.intp)
        _compare("order", whole, _answers(plugin, Cycle(pod), nodes.take(shuffled)))
    if "range" in wanted and isinstance(plugin, ScorePlugin) and whole.scores:
        normalized = DIRECTLY.normalize(
            plugin, cycle, nodes, np.array([whole.scores[n] for n in nodes.names], np.int64)
        )
        if normalized.min() < 0 or normalized.max() > MAX_NODE_SCORE:
            raise LawBroken(f"range: {plugin.name} normalises to {normalized.tolist()}")
    if "purity" in wanted and _picture(cluster) != before:
        raise LawBroken(f"purity: {plugin.name} changed the cluster it was asked about")


def _answers(plugin: Plugin, cycle: Cycle, nodes: Nodes) -> _Answers | None:
    """Ask a plugin as the engine does; None where its PreFilter or PreScore leaves it out of the cycle."""
    if isinstance(plugin, PreFilterPlugin):
        answer = DIRECTLY.pre_filter(plugin, cycle, nodes)
        if isinstance(answer, Status) and not answer.successful:
            return None
    if isinstance(plugin, PreScorePlugin):
        status = DIRECTLY.pre_score(plugin, cycle, nodes)
        if status is not None and not status.successful:
            return _Answers(_statuses(plugin, cycle, nodes), {})
    return _Answers(_statuses(plugin, cycle, nodes), _scores(plugin, cycle, nodes))


def _row_by_row(plugin: Plugin, cycle: Cycle, nodes: Nodes, *, scored: bool) -> _Answers:
    """Ask about one row at a time, under the state of the whole column."""
    statuses: dict[str, Status] = {}
    scores: dict[str, int] = {}
    for position in range(len(nodes)):
        row = nodes.take([position])
        statuses |= _statuses(plugin, cycle, row)
        if scored:
            scores |= _scores(plugin, cycle, row)
    return _Answers(statuses, scores)


def _statuses(plugin: Plugin, cycle: Cycle, nodes: Nodes) -> dict[str, Status]:
    if not isinstance(plugin, FilterPlugin):
        return {}
    verdicts = DIRECTLY.filter(plugin, cycle, nodes)
    return {name: verdicts.status(position) for position, name in enumerate(nodes.names)}


def _scores(plugin: Plugin, cycle: Cycle, nodes: Nodes) -> dict[str, int]:
    if not isinstance(plugin, ScorePlugin):
        return {}
    return dict(zip(nodes.names, DIRECTLY.score(plugin, cycle, nodes).tolist(), strict=True))


def _compare(law: str, expected: _Answers, found: _Answers | None) -> None:
    if found is None:
        raise LawBroken(f"{law}: left out of the cycle once, and not another time")
    for what, a, b in (
        ("verdict", expected.statuses, found.statuses),
        ("score", expected.scores, found.scores),
    ):
        if what == "score" and not a:
            continue
        for name in a:
            if a[name] != b.get(name):
                raise LawBroken(f"{law}: the {what} of {name} is {a[name]} in one column and {b.get(name)} in another")


def _picture(cluster: Cluster) -> tuple[object, ...]:
    table, pods = cluster.node_table, cluster.pod_table
    arrays: tuple[IntArray | IndexArray, ...] = (
        table.requested[: len(table.resource_names), : len(table)],
        table.scored[:, : len(table)],
        table.pod_count[: len(table)],
        pods.node,
    )
    return (cluster.generation, *(array.tobytes() for array in arrays))
