"""Ageing: what changes of the cluster do to what is remembered of a template (`templates`).

All changes since the template was last used are taken together, in three steps: what they spoil, which of it plugins
can count into their states, and what then has to be forgotten or judged again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from schedctl.api.resources import kubelet_grant
from schedctl.api.sharing import content
from schedctl.cache.arrays import IndexArray
from schedctl.cache.changes import Change, ChangeKind
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.pod_table import NO_NODE
from schedctl.engine.batching.feasibility import Unfollowed
from schedctl.engine.batching.rankings import Moved
from schedctl.engine.batching.templates import Spoils, Template
from schedctl.framework.points import Plugin, Scope

_CONTENTS_KEPT = 4096
"""Of how many pods it is remembered what is written of them."""
_FEW = 16
"""Up to how many changes it is cheaper to go through them than through the generations of all rows."""
_NO_ROWS: IndexArray = np.empty(0, np.intp)
_OF_NODES = (ChangeKind.NODES, ChangeKind.NODE_UPDATED)
_OF_PODS = (ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED)
_SPOILS_KEPT = 1024
"""Of how many different pods a template remembers what they spoil when they come or go."""


class _Else(NamedTuple):
    """What a change spoils other than the row it touches."""

    change: Change
    plugin: Plugin
    scope: Scope | frozenset[int]


class Ageing:
    """Brings templates up to date with one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._contents: dict[int, tuple[PodInfo, bytes]] = {}

    def written(self, pod: PodInfo) -> bytes:
        """Return all that is written of a pod by which plugins may know it again, b"" where it cannot be compared."""
        known = self._contents.get(id(pod))
        if known is not None:
            return known[1]
        metadata, spec = pod.pod.metadata, pod.pod.spec
        named = metadata.name if any(volume.ephemeral for volume in spec.volumes or ()) else ""  # so are its claims
        template = metadata.namespace, metadata.labels, metadata.owner_references, spec, named
        encoded = content((template, kubelet_grant(pod.pod.status), pod.is_terminating)) or b""
        if len(self._contents) >= _CONTENTS_KEPT:
            self._contents.clear()
        self._contents[id(pod)] = pod, encoded
        return encoded

    def age(self, template: Template) -> None:
        """Bring what is remembered up to the cluster, and forget what changes have spoiled.

        Raises:
            CycleError: a plugin fails.
        """
        template.separate()
        cluster, since = self._cluster, template.generation
        spoiled: set[str] = set()
        moved_objects = since < cluster.objects_since or template.rests_on_pods
        if moved_objects and not cluster.holds(template.together):
            reads = template.runner.reads
            spoiled = {name for name in (*template.traced, *template.selecting) if not cluster.holds(reads[name])}
        changes = cluster.changes_since(since)
        if changes is None:  # beyond the change log, nobody can say what was spoiled
            spoiled |= template.untraced | template.selecting
            moved = Moved()
        else:
            by_label = cluster.pod_changes(since, template.together) if template.selecting else None
            concerning: dict[frozenset[str], Sequence[Change]] = (
                {template.untraced: changes} if template.untraced else {}
            )
            if by_label:
                concerning[template.selecting - spoiled] = by_label
            moved = self._walk(template, concerning, spoiled) if concerning else Moved()
        self._find_rows(template, changes, moved, spoiled)
        moved.placed = _placed(template, changes or ())
        for name in spoiled:
            template.spoil(name)
        # a verdict is one object for the whole column: one row of it moved, and all of it is asked for again
        for name in (*moved.columns, *moved.followed, *moved.rows):
            template.verdicts.pop(name, None)
        for name in moved.columns:
            template.raw.pop(name, None)
        for name, rows in moved.rows.items():
            if name in template.raw:
                template.raw[name].known[rows] = False
        _follow(template, moved, spoiled=bool(spoiled))

    def _find_rows(self, template: Template, changes: Sequence[Change] | None, moved: Moved, spoiled: set[str]) -> None:
        """Add the rows that changed since, for the plugins of which it is known what they read there."""
        described, occupied = self._changed_rows(template.generation, changes)
        both = occupied if not len(described) else np.union1d(described, occupied) if len(occupied) else described
        for name, description, occupancy in template.rows_read:
            rows = both if description and occupancy else described if description else occupied
            if len(rows) and name not in spoiled:
                moved.rows[name] = rows

    def _changed_rows(self, since: int, changes: Sequence[Change] | None) -> tuple[IndexArray, IndexArray]:
        """Return the rows of nodes that are described, and those that are occupied, otherwise than before, intp."""
        table = self._cluster.node_table
        if changes is not None and len(changes) <= _FEW:  # the usual case where pods of one template come in a row
            described = {change.row for change in changes if change.kind in _OF_NODES and table.alive[change.row]}
            occupied = {change.row for change in changes if change.kind in _OF_PODS and table.alive[change.row]}
            return _in_order(described), _in_order(occupied)
        alive = table.alive[: len(table)]
        return (
            np.flatnonzero((table.described[: len(table)] > since) & alive),
            np.flatnonzero((table.occupied[: len(table)] > since) & alive),
        )

    def _walk(
        self, template: Template, concerning: Mapping[frozenset[str], Sequence[Change]], spoiled: set[str]
    ) -> Moved:
        """Ask the other plugins what each change spoils; return what has moved, and add those spoiled altogether.

        Args:
            template: whose answers they are.
            concerning: the changes to ask some plugins about.
            spoiled: the plugins of which everything is.
        """
        touched: dict[tuple[str, ...], set[int]] = {}
        others: list[_Else] = []
        for names, changes in concerning.items():
            # once something is spoiled altogether, answers stand on a state that will be gone, and are not remembered
            lasting = bool(names)
            for change in changes if names else ():
                spoils = self._spoils(template, names, change, lasting=lasting)
                if spoils.rows:
                    touched.setdefault(spoils.rows, set()).add(change.row)
                for plugin, scope in spoils.others:
                    lasting = lasting and scope is not Scope.EVERYTHING
                    others.append(_Else(change, plugin, scope))
        if not (touched or others):
            return Moved()
        spoiled.update(each.plugin.name for each in others if each.scope is Scope.EVERYTHING)
        moved, rows = self._counted(template, others, spoiled)
        for plugins, of_plugins in touched.items():
            for name in plugins:
                if name not in spoiled:
                    rows.setdefault(name, set()).update(of_plugins)
        moved.rows = {name: np.array(sorted(of_name), np.intp) for name, of_name in rows.items() if of_name}
        return moved

    def _counted(
        self, template: Template, others: Iterable[_Else], spoiled: set[str]
    ) -> tuple[Moved, dict[str, set[int]]]:
        """Have changes counted that plugins can count, and return what else has been moved, and which rows.

        Only after all changes are known, for they are counted on the nodes as they have become since. What cannot be
        counted is spoiled.
        """
        moved = Moved()
        rows: dict[str, set[int]] = {}
        for change, plugin, scope in others:
            name = plugin.name
            if name in spoiled:
                continue
            moved.followed.add(name)
            if scope is Scope.DOMAINS:
                scope = template.runner.follow(plugin, template.cycle, change)
            if scope is Scope.DOMAINS:  # still: it was counted, and the count concerns all rows
                moved.columns.add(name)
            elif scope is Scope.EVERYTHING:
                spoiled.add(name)
            elif scope is not Scope.NOTHING:
                rows.setdefault(name, set()).update(self._there(scope, change))
        return moved, rows

    def _there(self, scope: Scope | frozenset[int], change: Change) -> Iterable[int]:
        """Return the rows that are spoiled, of nodes that are there."""
        rows = scope if isinstance(scope, frozenset) else (change.row,)
        alive = self._cluster.node_table.alive
        return [row for row in rows if 0 <= row < len(self._cluster.node_table) and alive[row]]

    def _spoils(self, template: Template, names: frozenset[str], change: Change, *, lasting: bool) -> Spoils:
        """Return what a change spoils of some plugins.

        Of pods that come and go it is remembered, while that is of lasting truth.
        """
        alike = [plugin for plugin in template.alike if plugin.name in names]
        apart = [plugin for plugin in template.apart if plugin.name in names]
        if change.kind is ChangeKind.POD_ADDED:
            remembered = template.come
        elif change.kind is ChangeKind.POD_REMOVED:
            remembered = template.gone
        else:
            # what pods move may depend on their node, as domains do, and on the objects that plugins read
            if change.kind is not ChangeKind.OBJECT or isinstance(change.subject, template.read):
                template.come.clear()
                template.gone.clear()
            return _asked_of((*alike, *apart), template, change)
        written = self.written(change.subject)
        spoils = remembered.get((names, written)) if written else None
        if spoils is None:
            spoils = _asked_of(alike, template, change)
            if written and lasting:
                if len(remembered) >= _SPOILS_KEPT:
                    remembered.clear()
                remembered[names, written] = spoils
        if not apart:
            return spoils
        individual = _asked_of(apart, template, change)
        return Spoils(spoils.rows + individual.rows, spoils.others + individual.others)


def _asked_of(plugins: Iterable[Plugin], template: Template, change: Change) -> Spoils:
    scopes = [(plugin, template.runner.moved_by(plugin, template.cycle, change)) for plugin in plugins]
    if change.row == NO_NODE:  # "the row it touches" of a change that touches none: the safe reading is all of them
        scopes = [(plugin, Scope.EVERYTHING if scope is Scope.ROW else scope) for plugin, scope in scopes]
    rows = tuple(plugin.name for plugin, scope in scopes if scope is Scope.ROW)
    others = ((plugin, scope) for plugin, scope in scopes if scope and scope not in (Scope.NOTHING, Scope.ROW))
    return Spoils(rows, tuple(others))


def _placed(template: Template, changes: Sequence[Change]) -> int:
    """Return the row on which the template's last pod was placed, if that came last and nothing else happened to it."""
    last = next((change for change in reversed(changes) if change.kind is not ChangeKind.OBJECT), None)
    if last is None or last.kind is not ChangeKind.POD_ADDED or last.subject is not template.cycle.pod:
        return NO_NODE
    # a look-ahead holds for one more pod on the row, and for nothing else that happened there in between
    return last.row if sum(change.row == last.row for change in changes) == 1 else NO_NODE


def _follow(template: Template, moved: Moved, *, spoiled: bool) -> None:
    """Bring the template's ranking up to date, or do without."""
    ranking, template.ranking = template.ranking, None  # lost, should `follow` raise what is no `Unfollowed`
    if ranking is None or spoiled:
        return
    try:
        same = ranking.follow(moved)
        template.ranking = ranking
        template.raw.clear()  # of which the ranking has what is needed, in less room
    except Unfollowed:
        same = False
    if not same:  # what PreScore has left stands on other feasible nodes than those of the last full cycle
        template.feasible = np.empty(0, np.intp)


def _in_order(rows: set[int]) -> IndexArray:
    return np.array(sorted(rows), np.intp) if rows else _NO_ROWS
