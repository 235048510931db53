"""Listening to plugins: what each of them reads of the cluster while it answers about the pods of a template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.arrays import IntArray
from schedctl.cache.changes import Change
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.reads import Reads
from schedctl.engine import answers
from schedctl.engine.calls import PluginRunner
from schedctl.engine.faults import PASSING, plugin_fault
from schedctl.framework import points
from schedctl.framework.cycles import Cycle
from schedctl.framework.faults import ESCAPING
from schedctl.framework.points import NodeSet, Plugin, Scope
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status

T = TypeVar("T")


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
        cluster, found = self._cluster, Reads()
        before, cluster.reads = cluster.reads, found
        try:
            return super().pre_filter(plugin, cycle, nodes)
        finally:
            self._add_before_rows(plugin, found)
            cluster.reads = before

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
        cluster, found = self._cluster, Reads()
        before, cluster.reads = cluster.reads, found
        try:
            return super().pre_score(plugin, cycle, nodes)
        finally:
            self._add_before_rows(plugin, found)
            cluster.reads = before

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

    def moved_by(self, plugin: points.Plugin, cycle: Cycle, change: Change) -> Scope | frozenset[int]:
        """Ask what a change spoils; of pods and nodes a plugin goes by the change, of objects it is listened to."""
        return answers.scope(plugin, self._listen_to_objects(plugin, plugin.moved_by, cycle, change))

    def follow(self, plugin: points.Plugin, cycle: Cycle, change: Change) -> Scope | frozenset[int]:
        """Have a change counted; see `moved_by`."""
        return answers.scope(plugin, self._listen_to_objects(plugin, plugin.follow, cycle, change), "follow")

    def _listen_to_objects(self, plugin: points.Plugin, question: Callable[..., Any], *about: Any) -> Any:
        cluster, found, reads = self._cluster, Reads(), self.reads[plugin.name]
        before, cluster.reads, size = cluster.reads, found, reads.size
        try:
            return ask_plugin(plugin, question, *about)
        finally:
            cluster.reads = before
            if found.versions or found.objects:
                reads.versions.update(found.versions)
                reads.objects.update(found.objects)
                self.more = self.more or reads.size != size

    def _add_before_rows(self, plugin: points.Plugin, found: Reads) -> None:
        """Take down what was read before any row was judged: of rows it is all of them that the answers rest on."""
        kinds = [kind for kind, read in ((Node, found.description), (Pod, found.occupancy)) if read]
        found.description = found.occupancy = False
        if kinds:
            self._cluster.note_reads(*kinds)
        self.reads[plugin.name].add(found)
        self.more = True


def ask_plugin(plugin: Plugin, question: Callable[..., T], *about: Any) -> T:
    """Return what a plugin answers to a question about reuse; what it lets out is its fault.

    Raises:
        CycleError: it fails.
    """
    try:
        return question(*about)
    except PASSING:
        raise
    except ESCAPING as fault:
        raise plugin_fault(plugin, fault) from fault
