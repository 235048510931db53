"""What plugins read of a cluster, and change nothing of: `ClusterView`, and `Nodes`, a column of its nodes.

A position in a column is a row of the node table in a given occupancy: in a hypothetical column other pods stand on a
node, or a node stands several times, and plugins cannot tell. Columns are views of live data wherever the choice is
all nodes in order: read them, copy what you keep.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import repeat
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from schedctl.api import resources
from schedctl.api.gaps import Gap
from schedctl.api.meta import Namespace
from schedctl.api.nodes import Node, Taint
from schedctl.api.read_only import ReadOnlyList
from schedctl.api.selectors import LabelQuery, Requirement
from schedctl.cache.affinity_terms import AffinityTerms
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, Interner, read_only
from schedctl.cache.changes import Change
from schedctl.cache.counters import Counters
from schedctl.cache.footprints import POD_COUNT, SCORED_CPU, SCORED_MEMORY
from schedctl.cache.labels import LabelColumns
from schedctl.cache.node_table import NodeTable
from schedctl.cache.pod_changes import PodChanges
from schedctl.cache.pod_counters import PodCounter
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.pod_queries import PodQuery
from schedctl.cache.pod_table import PodTable
from schedctl.cache.reads import UNHEARD, Reads, Tracked
from schedctl.cache.term_counters import TermCounter
from schedctl.releases import NEWEST, Release

T = TypeVar("T")
_ZEROS = repeat(0)


class ReadObserver(Protocol):
    """Hears of reading what could not be listed."""

    def read(self, kind: type) -> None:
        """Called when something is asked of a missing kind that only its objects could answer."""


class ClusterView:
    """The cluster as plugins read it; `schedctl.cache.cluster.Cluster` adds what changes it.

    Attributes:
        strings: interner of label values and namespaces, shared by nodes and pods.
        nodes_since: the generation since which there have been the same nodes.
        objects_since: the generation since which nothing has changed but which pods run where.
        next_start: where sampling begins its next round over the nodes.
        release: the kube-scheduler whose rules hold here.
        request_rules: how it adds up what pods request.
        compares_taints: whether its tolerations with Lt and Gt compare numbers.
        schedules_resizes: whether it sees to running pods whose resize is deferred; see `tries_resize`.
        missing: the kinds that could not be listed; see `Cluster.lack`.
        observer: is told what is read of them, None while nobody asks.
        reads: takes down what is read; the engine puts one of its own in its place while it listens to a plugin.
    """

    def __init__(self, release: Release = NEWEST) -> None:
        self.release = release
        self.request_rules = resources.rules_of(release)
        self.compares_taints = release.enabled("TaintTolerationComparisonOperators")
        self.schedules_resizes = release.enabled("InPlacePodVerticalScalingSchedulerPreemption")
        self.strings: Interner[str] = Interner()
        self._node_table = NodeTable(self.strings)
        self._pod_table = PodTable(self.strings)
        self._affinity_terms = AffinityTerms()
        self._pending: dict[str, PodInfo] = {}
        self._strays: dict[str, PodInfo] = {}
        self._generation = 0
        self.reads: Reads = UNHEARD
        self.nodes_since = 0
        self.objects_since = 0
        self.next_start = 0
        self._now: Callable[[], int] = time.time_ns
        self.missing: dict[type, Gap] = {}
        self.observer: ReadObserver | None = None
        self._objects: dict[type, dict[str, Any]] = {}
        self._versions: dict[type, int] = {}
        self._object_versions: dict[tuple[type, str], int] = {}
        self._derived: dict[Callable[[ClusterView], Any], _Derived] = {}
        self._log: list[Change] = []
        self._log_begins = 0
        self._counters = Counters()
        self._rows: IndexArray | None = None
        self._by_name: tuple[IndexArray, IndexArray] | None = None

    # what is read below may be anything: whoever is listened to rests on everything then

    @property
    def node_table(self) -> NodeTable:
        """The nodes as a table; `Nodes` tells more exactly what of it was read."""
        self.reads.everything = True
        return self._node_table

    @property
    def pod_table(self) -> PodTable:
        """The running pods as a table."""
        self.reads.everything = True
        return self._pod_table

    @property
    def affinity_terms(self) -> AffinityTerms:
        """The inter-pod affinity terms that running pods carry."""
        self.reads.everything = True
        return self._affinity_terms

    @property
    def pending(self) -> Mapping[str, PodInfo]:
        """Pods not on a node yet, by key, in order of arrival."""
        self.reads.everything = True
        return MappingProxyType(self._pending)

    @property
    def strays(self) -> Mapping[str, PodInfo]:
        """Pods on nodes that are not there, by key."""
        self.reads.everything = True
        return MappingProxyType(self._strays)

    @property
    def generation(self) -> int:
        """A number that grows with every change."""
        self.reads.everything = True
        return self._generation

    @property
    def now(self) -> Callable[[], int]:
        """Tells the time in Unix nanoseconds: the machine's, unless the cluster is of another moment."""
        self.reads.everything = True
        return self._now

    @now.setter
    def now(self, clock: Callable[[], int]) -> None:
        self._now = clock

    def table_of_nodes(self) -> NodeTable:
        """Return the nodes as a table, to read what any of them is, and nothing of their pods."""
        self.note_reads(Node)
        return self._node_table

    def counter(
        self,
        selector: LabelQuery | Mapping[str, str],
        namespaces: Iterable[str] | None = None,
        *conditions: tuple[LabelQuery, frozenset[str] | None],
        terminating: bool = True,
    ) -> PodCounter:
        """Return a live count of running pods, by node and by topology domain; equal ones are one.

        Args:
            selector: the pods to count, by label.
            namespaces: those they are in; None for all.
            *conditions: further selectors and namespaces, all of which a pod has to meet as well.
            terminating: whether pods on their way out count.
        """
        if not isinstance(selector, LabelQuery):
            selector = LabelQuery(
                tuple(Requirement(key, "In", frozenset((value,))) for key, value in sorted(selector.items()))
            )
        within = None if namespaces is None else frozenset(namespaces)
        return self._counters.of_pods(self, PodQuery(((selector, within), *conditions), terminating))

    def term_counter(self, kinds: tuple[str, ...], labels: Mapping[str, str], namespace: str) -> TermCounter:
        """Return a live sum of the terms of running pods that are about a pod.

        Args:
            kinds: of the terms, fields of `schedctl.cache.affinity_terms.CarriedTerms`; a required term weighs 1.
            labels: of the pod.
            namespace: of the pod.
        """
        about = self._counters.of_terms(self, labels, namespace)
        counter = TermCounter(about, kinds)
        self.reads.objects[Namespace, namespace] = self._object_versions.get((Namespace, namespace), 0)
        if about.reads_namespace:
            self.get(Namespace, namespace)  # for whoever wants to know that it may be missing
        return counter

    def claim_users(self, key: str) -> int:
        """Return how many times running pods mount a PersistentVolumeClaim (``namespace/name``) by name, live."""
        return self._counters.of_claims(self).of(key)

    def rest_on(
        self, *kinds: type, description: bool = False, occupancy: bool = False, tracked: Iterable[Tracked] = ()
    ) -> AbstractContextManager[None]:
        """Say what is read within a ``with`` block, where that is less than could be taken down.

        For who keeps an index of his own, or reads past what is listened to what `signature` covers.

        Args:
            *kinds: all objects of these kinds.
            description: what the nodes of the column are.
            occupancy: what pods have taken there.
            tracked: what is kept current, and knows which rows have changed.
        """
        return _RestingOn(self, kinds, description, occupancy, tracked)

    def rest_on_everything(self) -> None:
        """Say that an answer rests on more than can be taken down, such as on what is asked about together."""
        self.reads.everything = True

    @property
    def rows(self) -> IndexArray:
        """The rows of live nodes in order of arrival, intp (nodes,)."""
        if self._rows is None:
            self._rows = read_only(self._node_table.rows)
        return self._rows

    @property
    def nodes(self) -> Nodes:
        """All nodes in order of arrival; the column that needs no gathering."""
        self.reads.everything = True  # here and below: what is read of other rows is not told apart from one's own
        return Nodes(self, self.rows)

    @property
    def nodes_by_name(self) -> Nodes:
        """All nodes in order of their names."""
        self.reads.everything = True
        return Nodes(self, self._order_by_name()[0])

    @property
    def name_rank(self) -> IndexArray:
        """The place of each live node row when nodes are ordered by name, intp (rows,)."""
        return self._order_by_name()[1]

    def rank_by(self, key: Callable[[str], Any]) -> IndexArray:
        """Return the place of each live node row when nodes are ordered by a key of their names, intp (rows,)."""
        names, rows = self._node_table.names, self.rows
        rank = np.zeros(len(names), np.intp)
        rank[sorted(rows.tolist(), key=lambda row: key(names[row]))] = np.arange(len(rows))
        return read_only(rank)

    @property
    def in_name_order(self) -> bool:
        """Whether the nodes arrived in the order of their names."""
        by_name = self._by_name or self._order_by_name()
        return by_name[0] is self._rows

    def _order_by_name(self) -> tuple[IndexArray, IndexArray]:
        if self._by_name is None:
            names, rows = self._node_table.names, self.rows
            ordered = np.array(sorted(rows.tolist(), key=names.__getitem__), np.intp)
            rank = np.zeros(len(names), np.intp)
            rank[ordered] = np.arange(len(ordered))
            self._by_name = (rows if np.array_equal(ordered, rows) else read_only(ordered)), read_only(rank)
        return self._by_name

    @property
    def nodes_by_zone(self) -> Nodes:
        """All nodes in kube-scheduler's own order: one of each zone in turn."""
        self.reads.everything = True
        return Nodes(self, self._node_table.zone_interleaved())

    def nodes_named(self, names: Iterable[str]) -> Nodes:
        """Return the nodes with these names that exist, in the order given."""
        self.reads.everything = True
        row_of = self._node_table.row_of
        return Nodes(self, read_only(np.array([row_of[name] for name in names if name in row_of], np.intp)))

    def get(self, kind: type[T], key: str) -> T | None:
        """Return the object of a kind by ``name`` or ``namespace/name``, None if there is none."""
        found: T | None = self._objects.get(kind, {}).get(key)
        self.reads.objects[kind, key] = self._object_versions.get((kind, key), 0)
        if found is None and self.observer is not None and kind in self.missing:
            self.observer.read(kind)
        return found

    def every(self, kind: type[T]) -> Mapping[str, T]:
        """Return all objects of a kind by key, in order of arrival."""
        self.note_reads(kind)
        return MappingProxyType(self._objects.get(kind, {}))

    def version(self, *kinds: type) -> int:
        """Return a number that grows whenever an object of one of these kinds changes; of pods those on nodes count."""
        return sum(map(self._versions.get, kinds, _ZEROS))

    def derive(self, make: Callable[[ClusterView], T], *kinds: type) -> T:
        """Return what `make` computes from the objects of these kinds, computed anew only after one has changed.

        Args:
            make: a function of module level; what it returns is kept under it and must not be changed.
            *kinds: every kind it reads.
        """
        self.note_reads(*kinds)
        known = self._derived.get(make)
        if known is None or (known.generation != self._generation and kinds and known.version != self.version(*kinds)):
            # what it reads is what it is made of, of which the kinds tell
            reader, self.reads = self.reads, UNHEARD
            try:
                known = self._derived[make] = _Derived(self.version(*kinds), make(self))
            finally:
                self.reads = reader
        known.generation = self._generation
        derived: T = known.of
        return derived

    def note_reads(self, *kinds: type) -> None:
        """Take note that an answer rests on all objects of these kinds, for whoever remembers what it has read."""
        if self.reads is not UNHEARD:
            versions, reads = self._versions, self.reads.versions
            for kind in kinds:
                reads[kind] = versions.get(kind, 0)
        if self.observer is not None:
            for kind in kinds:
                if kind in self.missing and kind is not Node:  # on which all answers rest
                    self.observer.read(kind)

    @contextmanager
    def observe_reads(self, observer: ReadObserver) -> Iterator[None]:
        """Tell an observer what is read of missing kinds for the length of a ``with`` block, and no other."""
        before, self.observer = self.observer, observer
        try:
            yield
        finally:
            self.observer = before

    def tries_resize(self, pod: PodInfo) -> bool:
        """Return whether a pod runs and is in the queue all the same, to make room for the resize that it waits for."""
        return self.schedules_resizes and bool(pod.pod.spec.node_name) and pod.resize_is_deferred

    def has_changed(self, reads: Reads, since: int) -> bool:
        """Return whether an object that was read is another than at a generation, whenever it was read last."""
        versions, single = self._versions, self._object_versions
        for kind in reads.versions:  # where objects come with each pod, many columns ask
            if versions.get(kind, 0) > since:
                return True
        return bool(reads.objects) and any(single.get(key, 0) > since for key in reads.objects)

    def is_any_changed(self, kinds: Iterable[type], since: int) -> bool:
        """Return whether an object of one of these kinds is another than at a generation.

        Pods that come to nodes and go do not make it so: who rests on them looks at them anyway.
        """
        return self.objects_since > since and any(map(since.__lt__, map(self._versions.get, kinds, _ZEROS)))

    def kinds_changed(self, since: int) -> tuple[type, ...]:
        """Return the kinds of which an object is another than at a generation, pods on nodes among them."""
        return tuple([kind for kind, version in self._versions.items() if version > since])

    def pod_log(self, generation: int) -> Sequence[Change] | None:
        """Return what happened after a generation, for whoever keeps an index of pods and notes himself what is read.

        None when the log no longer reaches that far back.
        """
        return None if generation < self._log_begins else self._log[generation - self._log_begins :]

    def changes_since(self, generation: int) -> list[Change] | None:
        """Return what happened after a generation, None when the log no longer reaches that far back."""
        self.reads.everything = True
        if generation < self._log_begins:
            return None
        # every generation has one line, but for those of `Cluster` that change many objects at once
        return self._log[generation - self._log_begins :]


class _Derived:
    """What was computed of objects of some kinds.

    Attributes:
        version: of the kinds.
        of: what was computed.
        generation: of the cluster, at which that was current.
    """

    __slots__ = ("generation", "of", "version")

    def __init__(self, version: int, of: Any) -> None:
        self.generation = -1
        self.version = version
        self.of = of


class _RestingOn:
    """The block of `ClusterView.rest_on`; a generator, as `contextmanager` has it, would take several times as long."""

    __slots__ = ("_cluster", "_description", "_kinds", "_occupancy", "_reader", "_tracked")

    def __init__(
        self,
        cluster: ClusterView,
        kinds: tuple[type, ...],
        description: bool,
        occupancy: bool,
        tracked: Iterable[Tracked],
    ) -> None:
        self._cluster = cluster
        self._kinds, self._tracked = kinds, tracked
        self._description, self._occupancy = description, occupancy
        self._reader: Reads = UNHEARD

    def __enter__(self) -> None:
        self._reader, self._cluster.reads = self._cluster.reads, UNHEARD

    def __exit__(self, fault: type[BaseException] | None, *_: object) -> None:
        cluster, reader = self._cluster, self._reader
        cluster.reads = reader
        if fault is not None or reader is UNHEARD:
            return
        versions, read = cluster._versions, reader.versions
        for kind in self._kinds:
            read[kind] = versions.get(kind, 0)
        reader.description |= self._description
        reader.occupancy |= self._occupancy
        for each in self._tracked:
            reader.add_tracked(each)


class Nodes:
    """A choice of node rows, possibly with pods supposed on them.

    Attributes:
        cluster: where the rows come from.
        rows: intp (n,), the node table row at each position.
        bare: whether the column is known by its objects alone; see `as_bare_objects`.
    """

    __slots__ = (
        "__dict__",
        "_amounts",
        "_before",
        "_known",
        "_more",
        "_offered",
        "_passing",
        "_picked",
        "_whole",
        "bare",
        "cluster",
        "rows",
    )

    def __init__(self, cluster: ClusterView, rows: IndexArray) -> None:
        self.cluster = cluster
        self.rows = rows
        # positions are rows of the table, so that columns are views of it and nothing has to be gathered
        self._whole = len(rows) == len(cluster._node_table) and rows is cluster.rows
        self._before: Nodes | None = None  # the hypothetical column that this one is a step from, or the real one
        self._picked: IndexArray | None = None  # the positions of `_before` that it takes
        self._more: PodChanges | None = None  # or the changes that it adds
        self._known: dict[str, IntArray] = {}  # usage by quantity, as far as it was asked for
        self._offered: dict[str, IntArray] = {}  # and what is offered of resources
        self._amounts: tuple[IntArray, IntArray, IntArray] | None = None  # both of all resources, and with the minimum
        self._passing = False  # whether it is dropped before the cluster changes, so that it may keep what it gathers
        self.bare = False

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def names(self) -> list[str]:
        """Node names by position."""
        names = self.cluster._node_table.names
        return ReadOnlyList([names[row] for row in self.rows.tolist()])

    @property
    def is_whole(self) -> bool:
        """Whether it is of all nodes, and positions are rows of the table."""
        return self._whole

    def positions(self, rows: IndexArray) -> IndexArray:
        """Return where some node rows stand in a column of nodes in order of arrival, intp (rows,)."""
        return rows if self._whole else np.searchsorted(self.rows, rows)

    def places(self, column: Nodes) -> slice | IndexArray:
        """Return where the nodes of a column stand, to index columns with; see `positions`."""
        # indexing with a slice is several times as fast
        return slice(None) if column.rows is self.rows else self.positions(column.rows)

    def position(self, row: int) -> int:
        """Return where one node row stands; see `positions`."""
        return row if self._whole else int(np.searchsorted(self.rows, row))

    def take(self, positions: npt.NDArray[Any] | Sequence[int]) -> Nodes:
        """Return the column of these positions (indices or a mask), changes included."""
        chosen = np.asarray(positions)
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.intp, copy=False)
        rows = self.rows[chosen]
        rows.flags.writeable = False
        taken = Nodes(self.cluster, rows)
        if self.is_hypothetical:
            taken._before, taken._picked, taken.bare = self, chosen, self.bare
        return taken

    def take_now(self, positions: IndexArray) -> Nodes:
        """Return the column of these positions for as long as the cluster stays as it is.

        What several plugins read of it is gathered once.
        """
        taken = self.take(positions)
        taken._passing = True
        return taken

    # -- what is supposed --------------------------------------------------------

    @property
    def is_hypothetical(self) -> bool:
        """Whether pods are supposed gained or lost; False when the column is as the cluster is."""
        return self._before is not None

    @cached_property
    def changes(self) -> PodChanges | None:
        """Pods supposed gained or lost, None when the column is as the cluster is."""
        # a loop and no recursion: reprieves may make columns that are thousands of steps from the cluster
        steps: list[Nodes] = []
        column = self
        while column._before is not None and "changes" not in column.__dict__:
            steps.append(column)
            column = column._before
        changes = column.__dict__.get("changes")
        for step in reversed(steps):
            if step._picked is not None and changes is not None:
                changes = changes.take(step._picked)
            if step._more is not None:
                changes = step._more if changes is None else changes.then(step._more)
        return changes

    def hypothetical(self, positions: npt.ArrayLike, pods: Sequence[PodInfo], signs: npt.ArrayLike) -> Nodes:
        """Return the column with pods gained (+1) or lost (-1) at positions, after changes it already supposes.

        Args:
            positions: where, one for each pod.
            pods: the pods, running or not.
            signs: +1 or -1, one for each pod or one for all.
        """
        table = self.cluster._pod_table
        where = np.asarray(positions, np.intp)
        infos = np.fromiter(pods, np.object_, len(pods))
        changes = PodChanges(
            where,
            np.fromiter((table.row_of.get(info.key, -1) for info in pods), np.intp, len(pods)),
            np.fromiter((table.footprints.code(info) for info in pods), np.int32, len(pods)),
            np.broadcast_to(np.asarray(signs, np.int64), where.shape),
            lambda: infos,
        )
        return self._hypothetical(changes)

    def hypothetical_copies(self, positions: IndexArray, pod: PodInfo) -> Nodes:
        """Return the column with a pod like this one, which does not run, gained at each of the positions.

        As `hypothetical`, but with nothing done for each position.
        """
        where = positions.shape
        footprint = np.int32(self.cluster._pod_table.footprints.code(pod))
        changes = PodChanges(
            positions,
            np.broadcast_to(np.intp(-1), where),
            np.broadcast_to(footprint, where),
            np.broadcast_to(np.int64(1), where),
            lambda: np.full(where, pod, np.object_),
        )
        return self._hypothetical(changes)

    def hypothetical_running(self, positions: IndexArray, pod_rows: IndexArray, sign: int) -> Nodes:
        """Return the column with running pods, by row of the pod table, gained (+1) or lost (-1) at positions.

        As `hypothetical`, but with nothing done for each pod.
        """
        table = self.cluster._pod_table
        signs = np.broadcast_to(np.int64(sign), positions.shape)
        changes = PodChanges(positions, pod_rows, table.footprint[pod_rows], signs, lambda: table.infos[pod_rows])
        return self._hypothetical(changes)

    def without_pods(self) -> Nodes:
        """Return the column with all running pods gone; pods that were supposed gained stay."""
        table = self.cluster._pod_table
        alive = np.flatnonzero(table.alive)
        signs = np.broadcast_to(np.int64(-1), alive.shape)
        standing = PodChanges(table.node[alive], alive, table.footprint[alive], signs, lambda: table.infos[alive])
        return self._hypothetical(standing.take(self.rows))

    def as_bare_objects(self) -> Nodes:
        """Return the column as the bare objects tell: no pod stands anywhere, and of images nothing is known.

        So kube-scheduler scores nodes that an extender has sent back whole.
        """
        column = self.without_pods()
        column.bare = True
        return column

    def _hypothetical(self, changes: PodChanges) -> Nodes:
        # only the difference is kept, and each quantity is worked out from it when first asked for: one more pod
        # everywhere costs as much as there are positions, however many changes came before
        column = Nodes(self.cluster, self.rows)
        column._before, column._more = self, changes
        return column

    # -- what the node is --------------------------------------------------------

    def object(self, position: int) -> Node:
        """Return the Kubernetes object at a position."""
        self.cluster.reads.description = True
        return self.cluster._node_table.objects[int(self.rows[position])]

    @property
    def unschedulable(self) -> BoolArray:
        """Which nodes are cordoned, bool (n,); may be a view of the cluster."""
        return self.gather(self.descriptions.unschedulable)

    @property
    def descriptions(self) -> NodeTable:
        """The table of all nodes, to read what nodes are at the rows of this column, and nothing of their pods."""
        self.cluster.reads.description = True
        return self.cluster._node_table

    def label(self, key: str) -> CodeArray:
        """Return the codes of a label, int32 (n,), `ABSENT` where a node has none.

        Compare them with `cluster.strings.find_code(value)`, which interns nothing.
        """
        return self.gather(self.descriptions.labels.column(key))

    @property
    def labels(self) -> LabelColumns:
        """The label columns of the whole node table, indexed by row, not by position."""
        self.cluster.note_reads(Node)
        return self.cluster._node_table.labels

    def gather(self, by_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a column of this choice from one over the whole node table; of all nodes it is a view, to be read."""
        if self._whole:
            return read_only(by_row[: len(self.rows)])  # tables have room for more rows than there are
        gathered: npt.NDArray[Any] = by_row[self.rows]
        gathered.flags.writeable = False  # as the view: what works on some nodes has to work on all
        return gathered

    def allocatable(self, resource: str) -> IntArray:
        """Return what each node offers of a resource, int64 (n,): millicores, bytes or units; 0 where none."""
        table = self.descriptions
        if not self._passing:
            return self.gather(table.column(table.allocatable, resource))
        known = self._offered.get(resource)
        if known is None:
            known = self._offered[resource] = self.gather(table.column(table.allocatable, resource))
        return known

    def amounts(self, names: tuple[str, ...], *, scored: bool = False) -> tuple[IntArray, IntArray] | None:
        """Return what each node offers of some resources and what pods have taken, int64 (resources, n) each.

        They are to be read. None where there is more to it: pods are supposed, nobody has spoken of a resource, or
        amounts are too large for arithmetic that need not mind the bounds of int64 and float64; and for the column of
        all nodes where they would have to be copied, for single resources can be read without.

        Args:
            names: of the resources; of pods it is their number that is taken.
            scored: whether of cpu and memory what was taken has the minimum for containers that ask for none.
        """
        table = self.cluster._node_table
        if self.is_hypothetical or table.has_large_amounts:
            return None
        reads = self.cluster.reads
        reads.description = reads.occupancy = True
        codes = table.codes(names)
        if codes is None:
            return None
        if self._whole:
            return table.amounts_of_all(codes, len(self.rows), scored=scored)
        found = self._amounts
        if found is None:
            found = table.amounts(self.rows)
            if self._passing:
                self._amounts = found
        offered, requested, with_minimum = found
        return offered[codes], (with_minimum if scored else requested)[codes]

    # -- what pods have taken ----------------------------------------------------

    def requested(self, resource: str) -> IntArray:
        """Return what pods have taken of a resource, int64 (n,), supposed changes included."""
        return self._usage(resource)

    def scored_cpu(self) -> IntArray:
        """Return millicores taken, with the minimum for containers that ask for none, int64 (n,)."""
        return self._usage(SCORED_CPU)

    def scored_memory(self) -> IntArray:
        """Return bytes taken, with the minimum for containers that ask for none, int64 (n,)."""
        return self._usage(SCORED_MEMORY)

    @property
    def pod_count(self) -> IntArray:
        """How many pods stand on each node, int64 (n,)."""
        return self._usage(POD_COUNT)

    @property
    def occupancy(self) -> IntArray:
        """A number for each node that is another after each change of the pods on it, int64 (n,); -1 where supposed.

        For what a plugin works out of the pods on a node and keeps: it is true while the number is the same.
        """
        self.cluster.reads.occupancy = True
        numbers = self.gather(self.cluster._node_table.occupied)
        if not self.is_hypothetical or self.changes is None:
            return numbers
        supposed = numbers.copy()
        supposed[self.changes.positions] = -1
        return read_only(supposed)

    @property
    def allowed_pods(self) -> IntArray:
        """How many pods each node may hold, int64 (n,)."""
        return self.allocatable(resources.PODS)

    def pods_on(self, position: int) -> list[PodInfo]:
        """Return the pods standing on the node at a position, supposed changes included."""
        self.cluster.reads.occupancy = True
        pods = self.cluster._pod_table.on(int(self.rows[position]))
        if self.is_hypothetical and self.changes is not None:
            for info, sign in self.changes.at(position):
                if sign > 0:
                    pods.append(info)
                else:
                    pods = [p for p in pods if p.key != info.key]
        return pods

    def port_users(self, protocol: str, port: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return (position, addresses taken) of each node on which some pod holds a host port.

        Ports are a set on a node, as upstream's are: of two pods that hold the same one, the first to go frees it.
        """
        self.cluster.reads.occupancy = True
        taken = self.cluster._node_table.ports.get((protocol, port), {})
        if self.changes is None:
            if not taken:
                return []
            if self._whole:
                return list(taken.items())
            position_of = self._positions_of(taken)
            return [(position, taken[row]) for row, position in position_of]
        held = {position: set(taken[row]) for row, position in self._positions_of(taken)}
        changes, addresses = self.changes, self.cluster._pod_table.footprints.addresses(protocol, port)
        holders = np.flatnonzero(np.isin(changes.footprints, list(addresses)))
        for position, footprint, sign in zip(
            changes.positions[holders].tolist(),
            changes.footprints[holders].tolist(),
            changes.signs[holders].tolist(),
            strict=True,
        ):
            here = held.setdefault(position, set())
            (here.update if sign > 0 else here.difference_update)(addresses[footprint])
        return [(position, tuple(sorted(here))) for position, here in held.items() if here]

    # -- inside ------------------------------------------------------------------

    def _positions_of(self, taken: dict[int, tuple[str, ...]]) -> list[tuple[int, int]]:
        """Return (row, position) of the positions whose rows have an entry, by whichever of both is shorter."""
        if len(self.rows) <= len(taken):
            return [(row, position) for position, row in enumerate(self.rows.tolist()) if row in taken]
        has_entry = np.zeros(len(self.cluster._node_table), np.bool_)  # several times as fast as `np.isin`
        has_entry[np.fromiter(taken, np.intp, len(taken))] = True
        positions = np.flatnonzero(has_entry[self.rows])
        return list(zip(self.rows[positions].tolist(), positions.tolist(), strict=True))

    def _usage(self, quantity: str) -> IntArray:
        """Return what pods have taken of a quantity, int64 (n,), worked out from the columns this one was made from."""
        self.cluster.reads.occupancy = True
        steps: list[Nodes] = []
        column = self
        while column._before is not None and quantity not in column._known:
            steps.append(column)
            column = column._before
        if column._before is None and quantity not in column._known:
            taken = column.gather(self.cluster._node_table.usage(quantity))
            if column._passing:
                column._known[quantity] = taken
        else:
            taken = column._known[quantity]
        for step in reversed(steps):
            taken = taken.copy() if step._picked is None else taken[step._picked]
            if (more := step._more) is not None:
                amounts = self.cluster._pod_table.footprints.amounts(quantity)[more.footprints]
                np.add.at(taken, more.positions, amounts * more.signs)  # `+=` would count a position once
            taken = step._known[quantity] = read_only(taken)
        return taken


class NodeInfo:
    """One position of a column, for plugins written ``@per_node`` and for explanations.

    Attributes:
        nodes: the column.
        position: the place in it.
    """

    __slots__ = ("nodes", "position")

    def __init__(self, nodes: Nodes, position: int) -> None:
        self.nodes = nodes
        self.position = position

    @property
    def object(self) -> Node:
        """The Kubernetes object."""
        return self.nodes.object(self.position)

    @property
    def name(self) -> str:
        """The node's name."""
        return self.object.metadata.name

    @property
    def row(self) -> int:
        """The row of the cluster's node table, which a node keeps while it exists."""
        return int(self.nodes.rows[self.position])

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels, empty where it has none."""
        return MappingProxyType(self.object.metadata.labels or {})

    @property
    def taints(self) -> Sequence[Taint]:
        """The node's taints, empty where it has none."""
        return tuple(self.object.spec.taints or ())

    @property
    def pods(self) -> list[PodInfo]:
        """The pods standing on the node."""
        return self.nodes.pods_on(self.position)

    def allocatable(self, resource: str) -> int:
        """Return what the node offers of a resource: millicores, bytes or units."""
        return int(self.nodes.take([self.position]).allocatable(resource)[0])

    def requested(self, resource: str) -> int:
        """Return what pods have taken of a resource: millicores, bytes or units."""
        return int(self.nodes.take([self.position]).requested(resource)[0])
