"""A class of pods whose score columns another class has prepared already ranks nodes by them all the same."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from schedctl.framework import ScorePlugin
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {disabled: [{name: "*"}]}
    queueSort: {enabled: [{name: PrioritySort}]}
    preFilter: {enabled: [{name: NodeResourcesFit}]}
    filter: {enabled: [{name: NodeResourcesFit}]}
    score: {enabled: [{name: LastOne}]}
    bind: {enabled: [{name: DefaultBinder}]}
"""


class LastOne(ScorePlugin):
    """Reads nothing of a pod, so that all classes share its column."""

    reads_feasible_set = False

    def signature(self, pod) -> Hashable:
        return ()

    def score(self, cycle, nodes):
        return np.array([100 if name == "c" else 0 for name in nodes.names])


def test_every_class_is_ranked_by_a_column_that_they_share():
    scheduler = Scheduler.configured(cluster(*map(node, "abc")), CONFIGURATION, [LastOne])
    chosen = []
    for number in range(9):  # three classes, told apart by another plugin, in turn
        outcome = scheduler.attempt(pod(f"p{number}", cpu=f"{number % 3 + 1}00m"))
        scheduler.place(outcome)
        chosen.append(outcome.chosen)
    assert chosen == ["c"] * 9
