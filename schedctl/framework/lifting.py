"""`@per_node`: a ``filter`` or ``score`` written for one node, lifted to the column form that everything else sees.

A ``filter`` answers a `Verdict`, or None to accept; a ``score`` answers an integer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, overload

import numpy as np

from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import NodeInfo, Nodes
from schedctl.errors import PluginError
from schedctl.framework import faults, reasons
from schedctl.framework.cycles import Cycle

P = TypeVar("P")


@overload
def per_node(
    method: Callable[[P, Cycle, NodeInfo], reasons.Verdict | None],
) -> Callable[[P, Cycle, Nodes], reasons.Verdicts]: ...
@overload
def per_node(method: Callable[[P, Cycle, NodeInfo], int]) -> Callable[[P, Cycle, Nodes], IntArray]: ...
def per_node(method: Callable[[Any, Cycle, NodeInfo], Any]) -> Callable[[Any, Cycle, Nodes], Any]:
    """Lift a ``filter`` or ``score`` method written for one `NodeInfo` to one that takes `Nodes`.

    Raises:
        TypeError: the method is neither.
    """
    if method.__name__ == "filter":

        @wraps(method)
        def filter_column(self: Any, cycle: Cycle, nodes: Nodes) -> reasons.Verdicts:
            verdicts = [method(self, cycle, NodeInfo(nodes, i)) for i in range(len(nodes))]
            for verdict in verdicts:
                if verdict is not None and not isinstance(verdict, reasons.Verdict):
                    raise _wrong(self, "filter", verdict, "None, or a Reason called with its evidence")
            return _by_reason(verdicts)

        return filter_column
    if method.__name__ == "score":

        @wraps(method)
        def score_column(self: Any, cycle: Cycle, nodes: Nodes) -> IntArray:
            scores = [method(self, cycle, NodeInfo(nodes, i)) for i in range(len(nodes))]
            for score in scores:
                if not isinstance(score, int | np.integer):
                    raise _wrong(self, "score", score, "an integer")
            return np.array(scores, np.int64)

        return score_column
    raise TypeError(f"per_node lifts filter and score, not {method.__name__}")


def _wrong(plugin: Any, method: str, answer: Any, expected: str) -> PluginError:
    return PluginError(faults.wrong(plugin, method, answer, expected))


def _by_reason(verdicts: list[reasons.Verdict | None]) -> reasons.Verdicts:
    refused: dict[reasons.Reason, list[int]] = {}
    for row, verdict in enumerate(verdicts):
        if verdict is not None:
            refused.setdefault(verdict.reason, []).append(row)
    if not refused:
        return reasons.ACCEPT
    parts = []
    for reason, rows in refused.items():
        mask = np.zeros(len(verdicts), np.bool_)
        mask[rows] = True
        names = {name for row in rows for name in _evidence(verdicts, row)}
        evidence = {}
        for name in sorted(names):
            column = np.full(len(verdicts), None, object)
            for row in rows:
                column[row] = _evidence(verdicts, row).get(name)
            evidence[name] = column
        parts.append(reasons.Part(reason, mask, None, evidence))
    return reasons.Verdicts(tuple(parts))


def _evidence(verdicts: list[reasons.Verdict | None], row: int) -> dict[str, Any]:
    verdict = verdicts[row]
    return dict(verdict.evidence) if verdict is not None else {}
