"""`Cluster`: every object the scheduler reads, changed only in ways that can be undone.

Nodes and running pods are kept in tables (`node_table`, `pod_table`), the other kinds as objects by kind and key; what
plugins see of both is a `schedctl.cache.nodes.ClusterView`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import msgspec
import numpy as np

from schedctl.api import defaults, kinds
from schedctl.api.gaps import Gap
from schedctl.api.meta import Namespace, key_of
from schedctl.api.nodes import Node
from schedctl.api.pods import FINISHED, Pod
from schedctl.cache.affinity_terms import carried_terms
from schedctl.cache.changes import OBJECT, POD_ADDED, POD_REMOVED, Change, ChangeKind
from schedctl.cache.counters import Counters
from schedctl.cache.footprints import group_equal_pods
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import UNHEARD
from schedctl.releases import NEWEST, Release

_CHANGES_KEPT = 4096
_MANY = 256
"""From how many pods on it pays to remove them at once, after which nothing is known from memory."""


class Cluster(ClusterView):
    """The cluster in memory.

    Every change leaves a line in the change log, and while a fork is open its inverse in the undo log, so that leaving
    the fork takes time proportional to what changed. A pod on a node that is not there takes part in nothing, as in
    kube-scheduler; it is kept and reported (`strays`).

    Attributes:
        sealed: whether the cluster is only read, as in a scheduling cycle; every change is then a RuntimeError.
    """

    def __init__(self, release: Release = NEWEST) -> None:
        super().__init__(release)
        self.sealed = False
        self._undo: list[Callable[[], object]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has, in this process or another: the objects as they are now, outside of any fork.

        What was worked out of them is worked out again, and who listens here does not listen there.
        """
        fresh = {"sealed": False, "reads": UNHEARD, "observer": None, "_undo": None, "_derived": {}}
        changes = {"_log": [], "_log_begins": self._generation, "_counters": Counters()}
        return self.__dict__ | fresh | changes

    @classmethod
    def of(cls, objects: Iterable[Any], release: Release = NEWEST) -> Cluster:
        """Return a cluster of these API structs: nodes first, then the rest in order."""
        cluster = cls(release)
        nodes: list[Node] = []
        rest: list[Any] = []
        for obj in objects:
            (nodes if isinstance(obj, Node) else rest).append(obj)
        cluster.add_nodes(nodes)
        cluster.add_pods(PodInfo(defaults.pod(obj)) for obj in rest if isinstance(obj, Pod))
        for obj in rest:
            if not isinstance(obj, Pod):
                cluster.put(obj)
        return cluster

    # -- changing ----------------------------------------------------------------

    def lack(self, gaps: Iterable[Gap], others: Iterable[kinds.Kind] = ()) -> None:
        """Take note of kinds that could not be listed, so that there may be more of them than the cluster knows.

        Args:
            gaps: the kinds; one that is not read is passed over.
            others: other people's kinds that are read besides those of Kubernetes.
        """
        known = {kind.name: kind for kind in (*kinds.KINDS, *others)}
        self.missing = {known[gap.kind].struct: gap for gap in gaps if gap.kind in known}

    def add_node(self, node: Node) -> None:
        """Add a node, or replace the one of that name."""
        self._require_unsealed()
        node = defaults.node(node)
        name = node.metadata.name
        if name in self._node_table.row_of:
            row = self._node_table.row_of[name]
            before = self._node_table.objects[row]
            self._update_node(row, node)
            self._undoes(lambda: self._update_node(row, before))
            return
        row = int(self._node_table.append([node])[0])
        self._enliven(row)
        self._undoes(lambda: self._drop(row))
        # pods that were bound to it while it was not there run on it now
        for info in [info for info in self._strays.values() if info.pod.spec.node_name == name]:
            self.remove_pod(info)
            self.add_pod(info)

    def add_nodes(self, nodes: Sequence[Node]) -> None:
        """Add many nodes at once, which costs much less than one by one; see `add_node`."""
        self._require_unsealed()
        table = self._node_table
        names = {node.metadata.name for node in nodes}
        plain = self._undo is None and not self._strays  # what has to be undone, or is waited for, goes one by one
        if not (plain and 1 < len(nodes) == len(names) and names.isdisjoint(table.row_of)):
            for node in nodes:
                self.add_node(node)
            return
        rows = table.append([*map(defaults.node, nodes)])
        table.alive[rows] = True
        table.row_of.update((node.metadata.name, row) for node, row in zip(nodes, rows.tolist(), strict=True))
        self._rows = self._by_name = None
        self._note_many(Node, len(nodes))
        self.nodes_since = self.objects_since = self._generation

    def remove_node(self, name: str) -> list[PodInfo]:
        """Remove a node and return the pods that stood on it, which are now nowhere.

        Raises:
            KeyError: there is no such node.
        """
        self._require_unsealed()
        row = self._node_table.row_of[name]
        pods = self._pod_table.on(row) if self._node_table.pod_count[row] else []
        for info in pods:  # before the node, so that undone in reverse they find it there again
            self.remove_pod(info)
        self._retire(row)
        self._undoes(lambda: self._enliven(row))
        return pods

    def add_pod(self, info: PodInfo) -> None:
        """Add a pod: to its node's row, to the pending ones, or to the strays. Finished pods take part in nothing.

        Raises:
            ValueError: a pod of that key is there already.
        """
        self._require_unsealed()
        spec = info.count_by(self.request_rules).pod.spec
        if info.pod.status.phase in FINISHED:
            return
        if self._has_pod(info.key):
            raise ValueError(f"pod {info.key} is in the cluster already")
        if not spec.node_name:
            self._hold(self._pending, info)
        elif spec.node_name in self._node_table.row_of:
            self._place(info, self._node_table.row_of[spec.node_name])
        else:
            self._hold(self._strays, info)

    def add_pods(self, infos: Iterable[PodInfo]) -> None:
        """Add many pods at once, which costs much less than one by one; see `add_pod`.

        Raises:
            ValueError: a pod of one of the keys is there already, or comes twice.
        """
        self._require_unsealed()
        row_of = self._node_table.row_of if self._undo is None else {}  # in a fork all pods are added one by one
        running: list[PodInfo] = []
        on: list[int] = []
        others: list[PodInfo] = []
        for info in infos:
            pod = info.count_by(self.request_rules).pod
            row = row_of.get(pod.spec.node_name)
            if pod.status.phase in FINISHED:
                continue
            if row is None:
                others.append(info)
            else:
                running.append(info)
                on.append(row)
        self._refuse_known([info.key for info in (*running, *others)])
        for info in others:
            self.add_pod(info)
        rows, equal_pods = np.array(on, np.intp), group_equal_pods(running)
        self._pod_table.put_all(running, rows, equal_pods)
        self._node_table.charge_all(rows, running, equal_pods)
        self._affinity_terms.count_all(equal_pods.first, equal_pods.of, rows)
        self._note_many(Pod, len(running))
        self._node_table.occupied[rows] = self._generation

    def assume(self, info: PodInfo, node_name: str) -> None:
        """Count a pod that is on no node as running on one, as the scheduler does before the bind is through.

        It stays assumed until it is confirmed, forgotten or removed: as in kube-scheduler, no time takes it back.

        Raises:
            KeyError: there is no such node.
            ValueError: the pod is on a node already.
        """
        self._require_unsealed()
        row = self._node_table.row_of[node_name]
        if info.key in self._pod_table.row_of or info.key in self._strays:
            raise ValueError(f'pod {info.key} is on node "{self.node_of(info.key)}" already')
        begins = None if self._undo is None else len(self._undo)
        waited = info.key in self._pending
        if waited:
            self._release(self._pending, info)
        self._place(info, row)
        if begins is not None and waited:
            self._undoes(_Assumption(info.key, begins))

    def confirm(self, info: PodInfo) -> None:
        """Take note that an assumed pod is bound, to the node that it now names, whichever it was assumed on.

        Raises:
            ValueError: the pod is not assumed, or names no node.
        """
        self._require_unsealed()
        if not self.is_assumed(info.key):
            raise ValueError(f"pod {info.key} is not assumed")
        if not info.pod.spec.node_name:
            raise ValueError(f"pod {info.key} names no node")
        self._displace(info)
        self.add_pod(info)

    def forget(self, info: PodInfo) -> None:
        """Take back an `assume`: the pod is pending again. One that is on no node, or gone, is left as it is.

        Raises:
            ValueError: the pod is bound to its node.
        """
        self._require_unsealed()
        last = self._undo[-1] if self._undo else None
        if isinstance(last, _Assumption) and last.key == info.key:
            self._take_back(last.begins)
        elif self.is_assumed(info.key):
            self._hold(self._pending, self._displace(info))
        elif bound_to := self.node_of(info.key):
            raise ValueError(f'pod {info.key} is bound to node "{bound_to}": only an assumed pod is forgotten')

    def is_assumed(self, key: str) -> bool:
        """Return whether a pod counts as running on a node without being bound to it."""
        row = self._pod_table.row_of.get(key)
        return row is not None and not self._pod_table.infos[row].pod.spec.node_name

    def node_of(self, key: str) -> str | None:
        """Return the name of the node that a pod runs on, or is bound to though it is not there; None for none."""
        row = self._pod_table.row_of.get(key)
        if row is not None:
            return self._node_table.names[int(self._pod_table.node[row])]
        stray = self._strays.get(key)
        return None if stray is None else stray.pod.spec.node_name

    def update_pending(self, info: PodInfo) -> None:
        """Replace a pending pod by its updated self, which keeps its turn.

        Raises:
            KeyError: no such pod is pending.
        """
        self._require_unsealed()
        before = self._pending[info.key]
        self._pending[info.key] = info.count_by(self.request_rules)
        self._undoes(lambda: self.update_pending(before))

    def remove_pod(self, info: PodInfo) -> None:
        """Remove a pod wherever it is.

        Raises:
            KeyError: it is not in the cluster.
        """
        self._require_unsealed()
        if info.key in self._pod_table.row_of:
            self._displace(info)
        else:
            self._release(self._pending if info.key in self._pending else self._strays, info)

    def remove_pods(self, infos: Sequence[PodInfo]) -> None:
        """Remove many running pods at once, which costs much less than one by one.

        Raises:
            KeyError: one does not run on a node that is there, or comes twice.
        """
        self._require_unsealed()
        known = {info.key: self._pod_table.pod(info.key) for info in infos}
        if len(known) < len(infos):
            raise KeyError("a pod comes twice")
        alone = [info for info in known.values() if info.host_ports]  # their order decides whose ports are free
        for info in known.values() if len(infos) < _MANY else alone:
            self._displace(info)
        if len(infos) >= _MANY:
            self._displace_all([info for info in known.values() if not info.host_ports])

    def put(self, obj: Any) -> None:
        """Add or replace an object of any kind but Node and Pod."""
        self._require_unsealed()
        kind = type(obj)
        key = key_of(obj)
        objects = self._objects.setdefault(kind, {})
        before = objects.get(key)
        objects[key] = obj
        self._note(Change(OBJECT, subject=obj, before=before))
        self._undoes(lambda: self.delete(obj) if before is None else self.put(before))

    def delete(self, obj: Any) -> None:
        """Remove an object of any kind but Node and Pod.

        Raises:
            KeyError: it is not there.
        """
        self._require_unsealed()
        before = self._objects[type(obj)].pop(key_of(obj))
        self._note(Change(OBJECT, subject=before, before=before))
        self._undoes(lambda: self.put(before))

    def start_next_at(self, position: int) -> None:
        """Remember where sampling goes on in the next cycle."""
        before = self.next_start
        self.next_start = position
        self._undoes(lambda: setattr(self, "next_start", before))

    @contextmanager
    def fork(self) -> Iterator[Cluster]:
        """Change the cluster for the length of a ``with`` block; leaving it undoes everything, nested forks too."""
        outer, self._undo = self._undo, []
        turns = list(self._pending)
        try:
            yield self
        finally:
            self._take_back(0)
            self._undo = outer
            if list(self._pending) != turns:  # a pod that was placed and taken back stands last
                pending = dict(self._pending)
                self._pending.clear()
                self._pending.update((key, pending[key]) for key in turns)

    def seal(self) -> AbstractContextManager[None]:
        """Refuse every change for the length of a ``with`` block."""
        return _Seal(self)

    # -- inside ------------------------------------------------------------------

    def _require_unsealed(self) -> None:
        if self.sealed:
            raise RuntimeError("the cluster is only read here: Reserve, Unreserve and PreBind alone change it")

    def _has_pod(self, key: str) -> bool:
        return key in self._pod_table.row_of or key in self._pending or key in self._strays

    def _refuse_known(self, keys: Sequence[str]) -> None:
        """Refuse pods of which one is there already, or comes twice.

        Raises:
            ValueError: that is so.
        """
        distinct = set(keys)
        holders = (self._pod_table.row_of, self._pending, self._strays)
        if len(distinct) < len(keys) or not all(distinct.isdisjoint(held) for held in holders):
            key = next(key for key, times in Counter(keys).items() if times > 1 or self._has_pod(key))
            raise ValueError(f"pod {key} is in the cluster already")

    def _undoes(self, undo: Callable[[], object]) -> None:
        if self._undo is not None:
            self._undo.append(undo)

    def _take_back(self, begins: int) -> None:
        """Undo what the innermost fork has noted from a position on."""
        log, self._undo = self._undo or [], None  # undoing is not to be undone: it adds to no log, the outer one either
        while len(log) > begins:
            log.pop()()
        self._undo = log

    def _note(self, change: Change) -> None:
        kind, versions = change.kind, self._versions
        self._generation = generation = self._generation + 1
        if kind is POD_ADDED or kind is POD_REMOVED:
            versions[Pod] = generation
            self._node_table.occupied[change.row] = generation
        elif kind is OBJECT:
            what = type(change.subject)
            versions[what] = self._object_versions[what, key_of(change.subject)] = generation
            self.objects_since = generation
            if what is Namespace:
                self._counters.begin_anew()
        else:
            versions[Node] = generation
            self._node_table.described[change.row] = generation
            self.objects_since = generation
            if kind is ChangeKind.NODES:
                self.nodes_since = generation
            self._counters.begin_anew()
        self._log.append(change)
        if len(self._log) > 2 * _CHANGES_KEPT:  # half at a time, for each cut moves what is left
            del self._log[:_CHANGES_KEPT]
            self._log_begins += _CHANGES_KEPT

    def _note_many(self, kind: type, many: int) -> None:
        """Count so many changes of a kind, too many to tell one by one."""
        self._generation += many
        self._versions[kind] = self._generation
        self._log.clear()
        self._log_begins = self._generation
        self._counters.begin_anew()

    def _enliven(self, row: int) -> None:
        self._node_table.alive[row] = True
        self._node_table.row_of[self._node_table.names[row]] = row
        self._rows = self._by_name = None
        self._note(Change(ChangeKind.NODES, row))

    def _retire(self, row: int) -> None:
        self._node_table.alive[row] = False
        del self._node_table.row_of[self._node_table.names[row]]
        self._rows = self._by_name = None
        self._note(Change(ChangeKind.NODES, row))

    def _drop(self, row: int) -> None:
        """Take back the last node that was added: a what-if tried often must not leave a row each time."""
        self._retire(row)
        self._node_table.drop_last()

    def _update_node(self, row: int, node: Node) -> None:
        self._node_table.describe(row, node)
        self._note(Change(ChangeKind.NODE_UPDATED, row))

    def _place(self, info: PodInfo, row: int) -> None:
        footprint = self._pod_table.put(info, row)
        taken = self._node_table.ports_taken(row, footprint.host_ports) if footprint.host_ports else ()
        self._node_table.charge(row, footprint, 1)
        terms = carried_terms(info)
        self._affinity_terms.count(terms, row, 1)
        self._note(Change(POD_ADDED, row, info))
        self._counters.count(info, terms, row, 1)
        if self._undo is not None:
            self._undoes(lambda: self._displace(info))
            self._undoes_ports(row, taken)

    def _displace(self, copy: PodInfo) -> PodInfo:
        """Take a running pod off its node and return it as it was counted there, of which this may be a later copy."""
        info = self._pod_table.pod(copy.key)
        row, footprint = self._pod_table.drop(info)
        taken = self._node_table.ports_taken(row, footprint.host_ports)
        self._node_table.charge(row, footprint, -1)
        terms = carried_terms(info)
        self._affinity_terms.count(terms, row, -1)
        self._note(Change(POD_REMOVED, row, info))
        self._counters.count(info, terms, row, -1)
        if self._undo is not None:
            self._undoes(lambda: self._place(info, row))
            self._undoes_ports(row, taken)
        return info

    def _displace_all(self, infos: Sequence[PodInfo]) -> None:
        """Remove many running pods that hold no host ports."""
        equal_pods = group_equal_pods(infos)
        rows, node_rows = self._pod_table.drop_all(infos)

        def count(sign: int) -> None:
            self._node_table.charge_all(node_rows, infos, equal_pods, sign)
            self._affinity_terms.count_all(equal_pods.first, equal_pods.of, node_rows, sign)
            self._note_many(Pod, len(infos))
            self._node_table.occupied[node_rows] = self._generation

        def put_back() -> None:
            self._pod_table.put_back(rows, infos, node_rows, equal_pods)
            count(1)

        count(-1)
        self._undoes(put_back)

    def _undoes_ports(self, row: int, taken: Sequence[tuple[tuple[str, int], tuple[str, ...]]]) -> None:
        """Put back the ports of a node after the change noted last has been undone."""
        if taken and self._undo:
            undo = self._undo.pop()  # that of the caller, which must come first: it charges the ports of the pod

            def undo_with_ports() -> None:
                undo()
                self._node_table.retake(row, taken)

            self._undo.append(undo_with_ports)

    def _hold(self, where: dict[str, PodInfo], info: PodInfo) -> None:
        where[info.key] = info
        self._undoes(lambda: self._release(where, info))

    def _release(self, where: dict[str, PodInfo], info: PodInfo) -> None:
        before = where.pop(info.key)  # what is assumed may be an edited copy of what was pending
        self._undoes(lambda: self._hold(where, before))


class _Assumption(msgspec.Struct, frozen=True):
    """Stands in the undo log of a fork behind what assumed a pending pod there.

    A pod that is forgotten while nothing stands behind that is taken back by undoing it, as if it had never been
    assumed; else leaving the fork would assume and forget it once more, which is half of what trying a group costs.
    """

    key: str
    begins: int

    def __call__(self) -> None:
        """Undo nothing: what stands before it does."""


class _Seal:
    """Seals a cluster for a while; a generator, as `contextmanager` has it, would take several times as long."""

    __slots__ = ("_before", "_cluster")

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._before = cluster.sealed

    def __enter__(self) -> None:
        self._before, self._cluster.sealed = self._cluster.sealed, True

    def __exit__(self, *_: object) -> None:
        self._cluster.sealed = self._before
