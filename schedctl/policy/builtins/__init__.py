"""The built-in checks, a module each; none of them needs an expression.

A built-in is a function of a `View`, of its arguments, and of the object it is asked about, which its scope decides: a
workload, a node, or the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from schedctl.policy.builtins import (
    drain_safe,
    gang_schedulable,
    headroom,
    max_nodes,
    max_utilization,
    no_preemption,
    no_regression,
    placement,
    schedulable,
    snapshot_fresh,
    spread,
    survives,
)
from schedctl.policy.findings import Finding, Judged, View

Judge = Callable[[View, Any, Judged], Iterable[Finding]]
"""Judges one object: what it may look at, the arguments of the check, and the object.

It returns mostly one finding; where nodes are judged in groups, one for each group.
"""

JUDGES: Final[Mapping[str, Judge]] = {
    "schedulable": schedulable.judge,
    "gang-schedulable": gang_schedulable.judge,
    "no-preemption": no_preemption.judge,
    "spread": spread.judge,
    "survives": survives.judge,
    "headroom": headroom.judge,
    "placement": placement.judge,
    "no-regression": no_regression.judge,
    "drain-safe": drain_safe.judge,
    "max-nodes": max_nodes.judge,
    "max-utilization": max_utilization.judge,
    "snapshot-fresh": snapshot_fresh.judge,
}
"""By the names of `schedctl.policy.documents.BUILTINS`.

What they make of pods without a node:

===================  ============================  ==================================  ===============================
fate of a pod        schedulable, survives         spread, placement, max-nodes        headroom, max-utilization
===================  ============================  ==================================  ===============================
pending, gated       violated, unless few enough   no pass where its node could make   no pass where what it requests
                     are allowed to be             the difference: inconclusive        could: inconclusive
rejected, not        the same: it does not run     the same                            the same
created
evicted for good     the same                      the same                            the same
inconclusive, other  inconclusive, unless enough   inconclusive where its node could   inconclusive where what it
scheduler            run, or too few in any case   make the difference                 requests could
===================  ============================  ==================================  ===============================

All but those of the last row are left out by ``ignorePending``.

``no-preemption`` is inconclusive where an inconclusive pod might evict, ``no-regression`` where a pod is one that takes
the place of another; ``drain-safe`` asks the same about the pods that a drain moves. What is proved wrong is violated,
whatever else cannot be told.
"""
