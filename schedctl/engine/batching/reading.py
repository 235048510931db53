"""Listening to a plugin: what it reads of the cluster while it answers, so that its answers may be kept."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.arrays import IndexArray, IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import Reads
from schedctl.engine import answers
from schedctl.engine.calls import DIRECT, PluginRunner
from schedctl.engine.faults import PASSING, plugin_fault
from schedctl.framework import points
from schedctl.framework.cycles import Cycle
from schedctl.framework.faults import ESCAPING
from schedctl.framework.points import NodeSet, Plugin
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status


class ReadingRunner(PluginRunner):
    """Calls one plugin directly, and takes down what its answers rest on.

    Attributes:
        before: what PreFilter and PreScore have read; what was read of rows there is read of all of them.
        rows: what Filter and Score have read.
    """

    __slots__ = ("_cluster", "before", "rows")

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self.before = Reads()
        self.rows = Reads()

    def rows_changed(self, since: int) -> IndexArray | None:
        """Return the node rows that have changed after a generation in what was read; None where it may be any."""
        cluster, before, rows = self._cluster, self.before, self.rows
        if before.everything or rows.everything or any(cluster.has_changed(reads, since) for reads in (before, rows)):
            return None
        for tracked in before.tracked.values():
            changed = tracked.rows_changed(since)
            if changed is None or len(changed):
                return None
        table = cluster.node_table
        parts = [np.flatnonzero(table.described[: len(table)] > since)] if rows.description else []
        if rows.occupancy:
            parts.append(np.flatnonzero(table.occupied[: len(table)] > since))
        for tracked in rows.tracked.values():
            changed = tracked.rows_changed(since)
            if changed is None:
                return None
            parts.append(changed)
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, np.intp)

    @override
    def pre_filter(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        cluster, before = self._cluster, self._cluster.reads
        cluster.reads = self.before
        try:
            return DIRECT.pre_filter(plugin, cycle, nodes)
        finally:
            self._rest_on_all_rows()
            cluster.reads = before

    @override
    def filter(self, plugin: points.FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        cluster, before = self._cluster, self._cluster.reads
        cluster.reads = self.rows
        try:
            return DIRECT.filter(plugin, cycle, nodes)
        finally:
            cluster.reads = before

    @override
    def pre_score(self, plugin: points.PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        cluster, before = self._cluster, self._cluster.reads
        cluster.reads = self.before
        try:
            return DIRECT.pre_score(plugin, cycle, nodes)
        finally:
            self._rest_on_all_rows()
            cluster.reads = before

    @override
    def score(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        cluster, before = self._cluster, self._cluster.reads
        cluster.reads = self.rows
        try:
            return DIRECT.score(plugin, cycle, nodes)
        finally:
            cluster.reads = before

    @override
    def normalize(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        cluster, before = self._cluster, self._cluster.reads
        cluster.reads = self.rows
        try:
            return DIRECT.normalize(plugin, cycle, nodes, scores)
        finally:
            cluster.reads = before

    def _rest_on_all_rows(self) -> None:
        """Take down that what was read of rows before any of them was judged concerns all."""
        before = self.before
        if before.description:
            self._cluster.note_reads(Node)
        if before.occupancy:
            self._cluster.note_reads(Pod)
        before.description = before.occupancy = False


def signature_of(plugin: Plugin, pod: PodInfo) -> Hashable | None:
    """Return all that a plugin reads of a pod, None where it is asked about each.

    Raises:
        CycleError: the plugin fails, or its signature cannot be hashed.
    """
    try:
        return answers.signature(plugin, plugin.signature(pod))
    except PASSING:
        raise
    except ESCAPING as fault:
        raise plugin_fault(plugin, fault) from fault
