"""Sampling: how many feasible nodes kube-scheduler looks for, and which it therefore never looks at.

Off unless asked for: every node is judged. With it, nodes are taken one of each zone in turn, beginning where the last
cycle stopped, until enough feasible ones are found.
"""

from __future__ import annotations

import numpy as np

from schedctl.cache.nodes import Nodes
from schedctl.engine.filtering import Filtering, Refusal

MIN_FEASIBLE_NODES = 100
MIN_PERCENTAGE = 5


def nodes_to_find(percentage: int, nodes: int) -> int:
    """Return how many feasible nodes are enough; a percentage of 0 adapts to the size of the cluster."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:  # upstream's adaptive default: 50 % less one for every 125 nodes
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def rotate(nodes: Nodes, start: int) -> Nodes:
    """Return the column beginning at a position and wrapping around."""
    if not len(nodes):
        return nodes
    return nodes.take(np.roll(np.arange(len(nodes)), -(start % len(nodes))))


def keep_first_feasible(filtering: Filtering, enough: int) -> Filtering:
    """Return the outcome of only those rows that are looked at until enough feasible ones are found."""
    found = np.cumsum(filtering.feasible)
    if len(found) == 0 or found[-1] <= enough:
        return filtering
    # exact here; kube-scheduler searches on several threads and may look at a few nodes more
    kept = int(np.searchsorted(found, enough + 1))  # the search ends when it meets one feasible node too many
    refusals = [
        Refusal(r.plugin, r.verdicts, np.pad(r.mask[:kept], (0, len(found) - kept))) for r in filtering.refusals
    ]
    feasible = np.pad(filtering.feasible[:kept], (0, len(found) - kept))
    within = filtering.nominated_positions < kept
    nominated = None
    if filtering.nominated is not None and within.any():
        early = filtering.nominated
        # columns of the nominated pass keep their length: their positions are told by `nominated_positions`
        inner = [Refusal(r.plugin, r.verdicts, r.mask & within) for r in early.refusals]
        nominated = Filtering(early.nodes, early.feasible, inner, None)
    seen = filtering.nodes.rows[:kept]
    findings = {name: found.among(seen) for name, found in filtering.findings.items()}
    return Filtering(filtering.nodes, feasible, refusals, nominated, filtering.nominated_positions, findings=findings)
