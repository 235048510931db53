"""Listening to plugins: what each of them reads of the cluster while it answers about the pods of a template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.reads import Reads
from schedctl.engine.calls import PluginRunner
from schedctl.framework import points
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import NodeSet
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status


class ReadingRunner(PluginRunner):
    """Calls plugins directly, and takes down what their answers rest on.

    Attributes:
        reads: by plugin, what it has read since it last began anew.
        more: whether a plugin has read what it had not before; set back by whoever goes by it.
    """

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self.reads: defaultdict[str, Reads] = defaultdict(Reads)
        self.more = True

    def forget(self, plugin: str) -> None:
        """Begin anew with a plugin."""
        self.more = self.reads.pop(plugin, None) is not None or self.more

    @override
    def pre_filter(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        with self._listen_before_rows(plugin):
            return super().pre_filter(plugin, cycle, nodes)

    @override
    def filter(self, plugin: points.FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        cluster, reads = self._cluster, self.reads[plugin.name]
        before, cluster.reads, size = cluster.reads, reads, reads.size
        try:
            return super().filter(plugin, cycle, nodes)
        finally:
            cluster.reads = before
            self.more = self.more or reads.size != size

    @override
    def pre_score(self, plugin: points.PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        with self._listen_before_rows(plugin):
            return super().pre_score(plugin, cycle, nodes)

    @override
    def score(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        cluster, reads = self._cluster, self.reads[plugin.name]
        before, cluster.reads, size = cluster.reads, reads, reads.size
        try:
            return super().score(plugin, cycle, nodes)
        finally:
            cluster.reads = before
            self.more = self.more or reads.size != size

    @override
    def normalize(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        if type(plugin).normalize is points.ScorePlugin.normalize:
            return scores
        cluster, reads = self._cluster, self.reads[plugin.name]
        before, cluster.reads, size = cluster.reads, reads, reads.size
        try:
            return super().normalize(plugin, cycle, nodes, scores)
        finally:
            cluster.reads = before
            self.more = self.more or reads.size != size

    @contextmanager
    def listen_to_objects(self, plugin: points.Plugin) -> Iterator[None]:
        """Listen to which objects a plugin reads; of pods and nodes it goes by what it is told."""
        cluster, found, reads = self._cluster, Reads(), self.reads[plugin.name]
        before, cluster.reads, size = cluster.reads, found, reads.size
        try:
            yield
        finally:
            cluster.reads = before
            reads.versions.update(found.versions)
            reads.objects.update(found.objects)
            self.more = self.more or reads.size != size

    @contextmanager
    def _listen_before_rows(self, plugin: points.Plugin) -> Iterator[None]:
        """Listen to what is read before any row is judged: of rows it is all of them that the answers rest on."""
        cluster, found = self._cluster, Reads()
        before, cluster.reads = cluster.reads, found
        try:
            yield
        finally:
            kinds = [kind for kind, read in ((Node, found.description), (Pod, found.occupancy)) if read]
            found.description = found.occupancy = False
            cluster.note_reads(*kinds)
            cluster.reads = before
            self.reads[plugin.name].add(found)
            self.more = True
