"""Which of several equally good nodes is taken; kube-scheduler takes any.

The default is the first by name, so that a run is the same on any machine. A seed takes others of the same ties and
nothing else; a replay takes what was taken before, as far as it is among the ties.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

from schedctl.cache.arrays import IndexArray
from schedctl.cache.cluster import Cluster
from schedctl.engine.attempts import Attempt

TieBreaker = Callable[[Attempt, int], str]
"""Called with a successful attempt and its number, from 1; returns one of its `ties`."""


def first_by_name(outcome: Attempt, number: int) -> str:
    """Return the first by name."""
    return outcome.chosen


def draw_ties(seed: int) -> TieBreaker:
    """Return a chooser that draws from the ties; pod and attempt decide the draw, not what came before."""

    def choose(outcome: Attempt, number: int) -> str:
        rows = outcome.tie_rows
        if len(rows) == 1:
            return outcome.chosen
        cluster = outcome.cluster
        place = random.Random(f"{seed}/{outcome.pod.key}/{number}").choice(range(len(rows)))
        # of hundreds of ties one is named, not all: a run asks for every pod
        return cluster.node_table.names[int(rows[cluster.name_rank[rows].argsort()[place]])]

    return choose


def first_in_shuffled_order(nodes: Iterable[str], seed: int) -> TieBreaker:
    """Return a chooser that takes the first in an order of all nodes, which a seed shuffles once for the whole run.

    A node that comes later stands behind them, in the order of names.
    """
    order = sorted(nodes)
    random.Random(f"{seed}/nodes").shuffle(order)
    return _Order(order)


class _Order:
    """Takes the first of the ties in an order of the nodes, of which it knows the place of each row."""

    def __init__(self, order: Sequence[str]) -> None:
        places = {name: place for place, name in enumerate(order)}
        self._place = lambda name: (places.get(name, len(places)), name)
        self._cluster: Cluster | None = None
        self._since = -1
        self._rank: IndexArray

    def __call__(self, outcome: Attempt, number: int) -> str:
        rows = outcome.tie_rows
        if len(rows) == 1:
            return outcome.chosen
        cluster = outcome.cluster
        if cluster is not self._cluster or cluster.nodes_since != self._since:
            self._cluster, self._since = cluster, cluster.nodes_since
            self._rank = cluster.rank_by(self._place)
        return cluster.node_table.names[int(rows[self._rank[rows].argmin()])]


def ignores_history(choose: TieBreaker) -> bool:
    """Return whether a chooser takes the same of the same nodes, whichever pod it is for and however often tried."""
    return choose is first_by_name or isinstance(choose, _Order)


def replay_nodes(nodes: Mapping[str, str]) -> TieBreaker:
    """Return a chooser that takes the nodes given, by ``namespace/name`` of the pod, others first by name.

    The chooser raises `ReplayError` where the node given is not among the ties.
    """

    def choose(outcome: Attempt, number: int) -> str:
        node = nodes.get(outcome.pod.key)
        if node is None:
            return outcome.chosen
        if node not in outcome.ties:
            raise ReplayError(outcome.pod.key, node, tuple(outcome.ties))
        return node

    return choose


class ReplayError(ValueError):
    """A pod's node is not among the nodes that were equally good.

    Attributes:
        pod: which, as ``namespace/name``.
        node: the node to be taken.
        ties: the nodes that could have been.
    """

    def __init__(self, pod: str, node: str, ties: tuple[str, ...]) -> None:
        super().__init__(
            f"pod {pod} cannot be placed on node {node}, which is not among the highest scores: {', '.join(ties[:5])}"
        )
        self.pod, self.node, self.ties = pod, node, ties
