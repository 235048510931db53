"""PreScore, Score, NormalizeScore and the weighted sum, over the feasible nodes."""

from __future__ import annotations

import msgspec
import numpy as np

from schedctl.cache.arrays import IndexArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.engine.calls import DIRECT, PluginRunner
from schedctl.engine.faults import CycleError
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE, largest_unsigned
from schedctl.framework.cycles import Cycle
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import Code


class PluginScores(msgspec.Struct, frozen=True):
    """What one plugin gave each feasible node.

    Attributes:
        plugin: its name.
        raw: int64 (n,), as it scored.
        normalized: int64 (n,), 0 to 100.
        weight: what the normalised score is multiplied with.
    """

    plugin: str
    raw: IntArray
    normalized: IntArray
    weight: int

    @property
    def weighted(self) -> IntArray:
        """The part of the sum, int64 (n,)."""
        return self.normalized if self.weight == 1 else self.normalized * self.weight


class Scoring(msgspec.Struct, frozen=True):
    """The outcome of Score over the feasible nodes.

    Attributes:
        nodes: the feasible nodes.
        plugins: scores by plugin in profile order; plugins that skipped are absent.
        totals: int64 (n,).
    """

    nodes: Nodes
    plugins: tuple[PluginScores, ...]
    totals: IntArray

    @property
    def ties(self) -> IndexArray:
        """The positions with the best total, intp; kube-scheduler takes any one of them."""
        return np.flatnonzero(self.totals == self.totals.max())


def score_nodes(profile: Profile, cycle: Cycle, nodes: Nodes, runner: PluginRunner = DIRECT) -> Scoring:
    """Score a column of feasible nodes, at least one.

    Raises:
        CycleError: a plugin failed, or its normalised score is outside 0 to 100.
    """
    for plugin in profile.pre_score:
        status = runner.pre_score(plugin, cycle, nodes)
        if status is None or status.successful:
            continue
        if status.code is not Code.SKIP:
            raise CycleError(f'running PreScore plugin "{plugin.name}": {status.message}', plugin.name)
        cycle.skip_score.add(plugin.name)
    totals = np.zeros(len(nodes), np.int64)
    scored: list[PluginScores] = []
    in_range = True
    for scorer in profile.score:
        if scorer.name in cycle.skip_score:
            continue
        try:
            raw = runner.score(scorer, cycle, nodes)
        except PluginError as fault:
            raise CycleError(
                f'running Score plugins: plugin "{scorer.name}" failed with: {fault}', scorer.name
            ) from fault
        normalized = runner.normalize(scorer, cycle, nodes, raw)
        most = largest_unsigned(normalized)
        in_range = in_range and most <= MAX_NODE_SCORE
        scores = PluginScores(scorer.name, raw, normalized, profile.weights[scorer.name])
        scored.append(scores)
        if most:  # a column of zeros adds nothing
            totals += scores.weighted
    # only after all have scored: of several faults that of the first node by name is told
    if not in_range:
        raise _out_of_range(nodes, scored)
    return Scoring(nodes, tuple(scored), totals)


def _out_of_range(nodes: Nodes, scored: list[PluginScores]) -> CycleError:
    """The fault of the first node by name with a score outside the range, and of its first such plugin."""
    names = nodes.names
    for position in sorted(range(len(names)), key=names.__getitem__):
        for scores in scored:
            score = int(scores.normalized[position])
            if not 0 <= score <= MAX_NODE_SCORE:
                return CycleError(
                    f'applying score defaultWeights on Score plugins: plugin "{scores.plugin}" returns an invalid '
                    f"score {score}, it should in the range of [0, {MAX_NODE_SCORE}] after normalizing",
                    scores.plugin,
                )
    raise AssertionError("every score is in the range")
