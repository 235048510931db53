"""`Nodes`: the read-only column of nodes that plugins see.

A position in the column is a row of the node table in a given occupancy. `Nodes.hypothetical` makes columns in which
other pods stand on a node, or a node stands several times; plugins read ``requested`` or ``pod_count`` and cannot
tell. What a plugin keeps in its own state of pods gained and lost it is told through ``with_pods``, from `changes`.

A supposed column is kept as what sets it apart from the one it was made from, and each quantity is worked out from
there when first asked for. So supposing one more pod everywhere costs as much as there are positions, however many
pods were supposed before.

Columns are views of live data wherever the choice is all nodes in order: read them, copy what you keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from schedctl.api import resources
from schedctl.api.nodes import Node, Taint
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, read_only
from schedctl.cache.footprints import POD_COUNT, SCORED_CPU, SCORED_MEMORY
from schedctl.cache.labels import LabelColumns
from schedctl.cache.pod_info import HostPort, PodInfo

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster


class PodChanges:
    """Pods supposed gained or lost, in the order in which they come and go at each position.

    Attributes:
        positions: intp (changes,), the position in the column each is about.
        rows: intp (changes,), the row of each pod in the pod table, -1 for a pod that does not run.
        footprints: int32 (changes,), what each pod takes, by code.
        signs: int64 (changes,), +1 for a pod gained, -1 for one lost.
    """

    __slots__ = ("_pods", "footprints", "positions", "rows", "signs")

    def __init__(
        self,
        positions: IndexArray,
        rows: IndexArray,
        footprints: CodeArray,
        signs: IntArray,
        pods: Callable[[], npt.NDArray[np.object_]],
    ) -> None:
        self.positions = positions
        self.rows = rows
        self.footprints = footprints
        self.signs = signs
        self._pods = pods

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def pods(self) -> npt.NDArray[np.object_]:
        """The `PodInfo` of each change, object (changes,)."""
        return self._pods()

    def at(self, position: int) -> list[tuple[PodInfo, int]]:
        """Return (pod, sign) of the changes at one position, in order."""
        here = np.flatnonzero(self.positions == position)
        return list(zip(self.pods[here].tolist(), self.signs[here].tolist(), strict=True))

    def take(self, positions: IndexArray) -> PodChanges:
        """Return the changes at these positions, each of which may be asked for several times, as those of a column."""
        by_position = np.argsort(self.positions, kind="stable")
        ordered = self.positions[by_position]
        begin = np.searchsorted(ordered, positions)
        counts = np.searchsorted(ordered, positions, "right") - begin
        now = np.repeat(np.arange(len(positions), dtype=np.intp), counts)
        within = np.arange(len(now)) - np.repeat(np.cumsum(counts) - counts, counts)
        index = by_position[np.repeat(begin, counts) + within]
        return PodChanges(now, self.rows[index], self.footprints[index], self.signs[index], lambda: self.pods[index])

    def then(self, later: PodChanges) -> PodChanges:
        """Return these changes and then others of the same column."""
        return PodChanges(
            np.concatenate((self.positions, later.positions)),
            np.concatenate((self.rows, later.rows)),
            np.concatenate((self.footprints, later.footprints)),
            np.concatenate((self.signs, later.signs)),
            lambda: np.concatenate((self.pods, later.pods)),
        )


class Nodes:
    """A choice of node rows, possibly with pods supposed on them.

    Attributes:
        cluster: where the rows come from.
        rows: intp (n,), the node table row at each position.
        bare: whether the column is known by its objects alone; see `as_bare_objects`.
    """

    __slots__ = ("__dict__", "_before", "_known", "_more", "_picked", "_whole", "bare", "cluster", "rows")

    def __init__(self, cluster: Cluster, rows: IndexArray) -> None:
        self.cluster = cluster
        self.rows = rows
        self._whole = len(rows) == len(cluster.node_table) and rows is cluster.rows
        self._before: Nodes | None = None
        self._picked: IndexArray | None = None
        self._more: PodChanges | None = None
        self._known: dict[str, IntArray] = {}
        self.bare = False

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def names(self) -> list[str]:
        """Node names by position."""
        names = self.cluster.node_table.names
        return [names[row] for row in self.rows.tolist()]

    def positions(self, rows: IndexArray) -> IndexArray:
        """Return where some node rows stand in a column of nodes in order of arrival, intp (rows,)."""
        return rows if self._whole else np.searchsorted(self.rows, rows)

    def position(self, row: int) -> int:
        """Return where one node row stands; see `positions`."""
        return row if self._whole else int(np.searchsorted(self.rows, row))

    def take(self, positions: npt.NDArray[Any] | Sequence[int]) -> Nodes:
        """Return the column of these positions (indices or a mask), changes included."""
        chosen = np.asarray(positions)
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.intp, copy=False)
        taken = Nodes(self.cluster, self.rows[chosen])
        if self.is_hypothetical:
            taken._before, taken._picked, taken.bare = self, chosen, self.bare
        return taken

    # -- what is supposed --------------------------------------------------------

    @property
    def is_hypothetical(self) -> bool:
        """Whether pods are supposed gained or lost; False when the column is as the cluster is."""
        return self._before is not None

    @cached_property
    def changes(self) -> PodChanges | None:
        """Pods supposed gained or lost, None when the column is as the cluster is."""
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
        table = self.cluster.pod_table
        where = np.asarray(positions, np.intp)
        given = np.fromiter(pods, np.object_, len(pods))
        changes = PodChanges(
            where,
            np.fromiter((table.row_of.get(info.key, -1) for info in pods), np.intp, len(pods)),
            np.fromiter((table.footprints.code(info) for info in pods), np.int32, len(pods)),
            np.broadcast_to(np.asarray(signs, np.int64), where.shape),
            lambda: given,
        )
        return self._hypothetical(changes)

    def hypothetical_copies(self, positions: IndexArray, pod: PodInfo) -> Nodes:
        """Return the column with a pod like this one, which does not run, gained at each of the positions.

        As `hypothetical`, but with nothing done for each position.
        """
        where = positions.shape
        footprint = np.int32(self.cluster.pod_table.footprints.code(pod))
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
        table = self.cluster.pod_table
        signs = np.broadcast_to(np.int64(sign), positions.shape)
        changes = PodChanges(positions, pod_rows, table.footprint[pod_rows], signs, lambda: table.infos[pod_rows])
        return self._hypothetical(changes)

    def without_pods(self) -> Nodes:
        """Return the column with all running pods gone; pods that were supposed gained stay."""
        table = self.cluster.pod_table
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
        column = Nodes(self.cluster, self.rows)
        column._before, column._more = self, changes
        return column

    # -- what the node is --------------------------------------------------------

    def object(self, position: int) -> Node:
        """Return the Kubernetes object at a position."""
        return self.cluster.node_table.objects[int(self.rows[position])]

    @property
    def unschedulable(self) -> BoolArray:
        """Which nodes are cordoned, bool (n,)."""
        return self._gather(self.cluster.node_table.unschedulable)

    def label(self, key: str) -> CodeArray:
        """Return the codes of a label, int32 (n,), `ABSENT` where a node has none; texts are in `cluster.strings`."""
        return self._gather(self.labels.column(key))

    @property
    def labels(self) -> LabelColumns:
        """The label columns of the whole node table, indexed by row, not by position."""
        return self.cluster.node_table.labels

    def gather(self, by_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a column of this choice from one over the whole node table."""
        return self._gather(by_row)

    def allocatable(self, resource: str) -> IntArray:
        """Return what each node offers of a resource, int64 (n,): millicores, bytes or units; 0 where none."""
        table = self.cluster.node_table
        return self._gather(table.column(table.allocatable, resource))

    # -- what pods have taken ----------------------------------------------------

    def requested(self, resource: str) -> IntArray:
        """Return what pods have taken of a resource, int64 (n,), supposed changes included."""
        return self._taken(resource)

    def scored_cpu(self) -> IntArray:
        """Return millicores taken, with the minimum for containers that ask for none, int64 (n,)."""
        return self._taken(SCORED_CPU)

    def scored_memory(self) -> IntArray:
        """Return bytes taken, with the minimum for containers that ask for none, int64 (n,)."""
        return self._taken(SCORED_MEMORY)

    @property
    def pod_count(self) -> IntArray:
        """How many pods stand on each node, int64 (n,)."""
        return self._taken(POD_COUNT)

    @property
    def allowed_pods(self) -> IntArray:
        """How many pods each node may hold, int64 (n,)."""
        return self.allocatable(resources.PODS)

    def pods_on(self, position: int) -> list[PodInfo]:
        """Return the pods standing on the node at a position, supposed changes included."""
        pods = self.cluster.pod_table.on(int(self.rows[position]))
        if self.changes is not None:
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
        taken = self.cluster.node_table.ports.get((protocol, port), {})
        if self.changes is None:
            if not taken:
                return []
            if self._whole:
                return list(taken.items())
            position_of = self._positions_of(taken)
            return [(position, taken[row]) for row, position in position_of]
        held = {position: set(taken[row]) for row, position in self._positions_of(taken)}
        changes, addresses = self.changes, self.cluster.pod_table.footprints.addresses(protocol, port)
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
        if len(self.rows) <= len(taken):
            return [(row, position) for position, row in enumerate(self.rows.tolist()) if row in taken]
        wanted = np.isin(self.rows, np.fromiter(taken, np.intp, len(taken)))
        return [(int(self.rows[position]), int(position)) for position in np.flatnonzero(wanted)]

    def _gather(self, by_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self._whole:
            return read_only(by_row[: len(self.rows)])
        gathered: npt.NDArray[Any] = by_row[self.rows]
        return gathered

    def _taken(self, quantity: str) -> IntArray:
        """Return what pods have taken of a quantity, int64 (n,), worked out from the columns this one was made from."""
        steps: list[Nodes] = []
        column = self
        while column._before is not None and quantity not in column._known:
            steps.append(column)
            column = column._before
        if column._before is None:
            taken = column._gather(self.cluster.node_table.taken(quantity))
        else:
            taken = column._known[quantity]
        for step in reversed(steps):
            taken = taken.copy() if step._picked is None else taken[step._picked]
            if (more := step._more) is not None:
                amounts = self.cluster.pod_table.footprints.amounts(quantity)[more.footprints]
                np.add.at(taken, more.positions, amounts * more.signs)
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
    def labels(self) -> dict[str, str]:
        """The node's labels, empty where it has none."""
        return self.object.metadata.labels or {}

    @property
    def taints(self) -> list[Taint]:
        """The node's taints, empty where it has none."""
        return self.object.spec.taints or []

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


__all__ = ["HostPort", "NodeInfo", "Nodes", "PodChanges"]
