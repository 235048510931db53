"""Why here: the scores of the feasible nodes, and what sets two of them apart."""

from __future__ import annotations

from schedctl.engine.scoring import Scoring
from schedctl.reports.explanations import Comparison, NodeScore, PluginScore, ScoreDifference


def ranking(scoring: Scoring) -> list[NodeScore]:
    """Return the scores of all feasible nodes, best first and by name among equals."""
    columns = [
        (each.plugin, each.weight, each.raw.tolist(), each.normalized.tolist(), each.weighted.tolist())
        for each in scoring.plugins
    ]
    scores = [
        NodeScore(
            node=name,
            total=total,
            plugins=[
                PluginScore(plugin=plugin, raw=raw[i], normalized=normalized[i], weight=weight, weighted=weighted[i])
                for plugin, weight, raw, normalized, weighted in columns
            ],
        )
        for i, (name, total) in enumerate(zip(scoring.nodes.names, scoring.totals.tolist(), strict=True))
    ]
    return sorted(scores, key=lambda score: (-score.total, score.node))


def rank(scores: list[NodeScore], node: NodeScore) -> int:
    """Return the place of a node from 1; equal totals share a place."""
    return 1 + sum(score.total > node.total for score in scores)


def runner_up(scores: list[NodeScore]) -> NodeScore | None:
    """Return the best of the nodes that score less than the winner, None if there is none."""
    return next((score for score in scores if score.total < scores[0].total), None)


def compare(ours: NodeScore, theirs: NodeScore) -> Comparison:
    """Return what sets the first node's total apart from the second's."""
    differences = [
        ScoreDifference(plugin=a.plugin, ours=a.weighted, theirs=b.weighted, difference=a.weighted - b.weighted)
        for a, b in zip(ours.plugins, theirs.plugins, strict=True)
        if a.weighted != b.weighted
    ]
    differences.sort(key=lambda each: (-abs(each.difference), each.plugin))
    difference = ours.total - theirs.total
    made_of = ", ".join(
        f"{each.plugin} {each.difference:+d} ({each.ours} against {each.theirs})" for each in differences
    )
    if difference:
        text = f"{ours.node} beats {theirs.node} by {difference}: {made_of}"
    else:
        text = f"{ours.node} ties with {theirs.node}" + (f": {made_of}" if made_of else "")
    return Comparison(node=ours.node, other=theirs.node, difference=difference, plugins=differences, text=text)
