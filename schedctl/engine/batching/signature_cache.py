"""`SignatureCache`: the memory of one scheduler, by what plugins read of a pod.

Pods are of one class when every plugin of the profile gives them equal signatures; plugins that read two classes alike
share a column. An `EquivalenceClass` answers where it can; where it cannot, the cycle is run in full over what columns
know (`CachedRunner`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import compress
from operator import ne
from typing import NamedTuple
from weakref import WeakValueDictionary

from schedctl.api.resources import grant_identity, kubelet_grant
from schedctl.api.sharing import content
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.batching.answer_columns import AnswerColumn, CannotUpdate
from schedctl.engine.batching.cached_runner import CachedRunner
from schedctl.engine.batching.constant_columns import ConstantColumns
from schedctl.engine.batching.equivalence_classes import EquivalenceClass
from schedctl.engine.batching.plugin_orders import PluginOrder
from schedctl.engine.batching.plugin_points import PluginPoints
from schedctl.engine.batching.reading import signature_of
from schedctl.engine.batching.surroundings import Surroundings
from schedctl.engine.faults import PASSING, CycleError
from schedctl.engine.handles import ProfileHandle
from schedctl.errors import NotModelled, PluginError
from schedctl.framework.faults import ESCAPING
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.signatures import AsWritten

_SIGNATURES_KEPT = 4096
"""Of how many pods that are written differently the signatures are remembered."""
_KEPT = 2048
"""How many classes are remembered; the least recently used goes first."""
_ROWS_KEPT = 6_000_000
"""And how many rows of nodes at most, over all classes, but for `_FEWEST` classes."""
_FEWEST = 16
_Key = tuple[Hashable, ...]


class SignatureCache:
    """The memory of one scheduler over one cluster, or over the nodes of a placement in it."""

    def __init__(self, cluster: Cluster, placement: Nodes | None = None, whole: SignatureCache | None = None) -> None:
        """Begin, with nothing known yet.

        Args:
            cluster: the cluster.
            placement: the nodes to place pods on, each once and in the order of rows; None for all.
            whole: the memory over all of them, which knows already how pods are written.
        """
        self._cluster = cluster
        self._placement = placement
        self._whole = whole
        self._nodes_since = -1
        self._classes: dict[_Key, EquivalenceClass] = {}
        self._columns: WeakValueDictionary[tuple[str, str, Hashable], AnswerColumn] = WeakValueDictionary()
        self._written: dict[tuple[str, bytes], _Written] = {}
        self._contents: dict[Hashable, tuple[PodInfo, bytes]] = {}
        self._latest: dict[tuple[str, frozenset[str]], _Latest] = {}
        self._points: dict[int, PluginPoints] = {} if whole is None else whole._points
        self._orders: dict[tuple[str, frozenset[str], frozenset[str]], PluginOrder] = {}
        self._around = Surroundings(cluster, placement)

    def within(self, placement: Nodes) -> SignatureCache | None:
        """Return an empty memory over the nodes of a placement, None where that would not help."""
        rows = placement.rows
        if len(rows) < 2 or not bool((rows[1:] > rows[:-1]).all()):  # nodes are found by row, and ties broken by it
            return None
        return SignatureCache(self._cluster, placement, self)

    def runner(self, profile: Profile, pod: PodInfo) -> CachedRunner:
        """Return what a cycle about to begin is run with.

        Raises:
            CycleError: a plugin fails.
        """
        return CachedRunner(self._class_of(profile, pod))

    def update(self, profile: Profile, pod: PodInfo) -> EquivalenceClass | None:
        """Return the pod's class, which knows the best nodes; None where the cycle is to be run in full.

        Raises:
            CycleError: a plugin fails over its signature.
        """
        found = self._class_of(profile, pod)
        if found.is_new:
            found.is_new = False
            if (
                found.anew
            ):  # a plugin that is asked about every pod may well reject nodes, and is not asked twice for it
                return None
        try:
            found.update(pod)
        except (CannotUpdate, CycleError, PluginError, NotModelled):
            return None
        return found

    def refusing_class(self, profile: Profile, pod: PodInfo) -> EquivalenceClass | None:
        """Return the pod's class where that knows, after `update`, that Filter lets no node pass; None otherwise.

        Raises:
            CycleError: a plugin fails over its signature.
        """
        found = self._class_of(profile, pod)
        is_current = found.generation == self._cluster.generation
        # who narrows the nodes to none refuses the pod as a whole, and a plugin asked about every pod might fail
        return found if is_current and not (found.feasible_nodes or found.narrowing_plugins or found.anew) else None

    def _class_of(self, profile: Profile, pod: PodInfo) -> EquivalenceClass:
        if self._nodes_since != self._cluster.nodes_since:  # other nodes are other positions for all that is kept
            self._nodes_since = self._cluster.nodes_since
            self._classes.clear()
            self._columns.clear()
            self._latest.clear()
            self._written.clear()
            self._around = Surroundings(self._cluster, self._placement)
        written = self._written_as(profile, pod)
        parts: tuple[Hashable, ...] = ()
        if written is None:
            signatures = _signatures(profile.deciding_plugins, pod)
        else:
            if written.is_new:
                parts, written.is_new = written.parts, False
            elif written.asked:
                parts = _signatures(written.asked.values(), pod)
            # hashing all signatures would take longer than the rest of this: they are, mostly, what they were
            if written.found is not None and parts == written.parts:
                return written.found
            signatures = written.signatures_with(parts)
        anew = frozenset[str]()
        if None in signatures:
            names = (plugin.name for plugin in profile.deciding_plugins)
            anew = frozenset([name for name, part in zip(names, signatures, strict=True) if part is None])
        latest = self._latest.get((profile.scheduler_name, anew), _NOTHING)
        others = self._columns_beside(latest, profile, pod, signatures)
        columns = {**latest.columns, **others}
        # columns stand for the signatures, which take long to hash; their order is that of the plugins
        key = profile.scheduler_name, *columns.values()
        found = self._classes.pop(key, None)
        if found is None:
            self._make_room()
            constants = self._constants_of(latest, profile, anew, columns, others)
            self._latest[profile.scheduler_name, anew] = _Latest(signatures, columns, constants)
            found = EquivalenceClass(self._around, self._order(profile, anew), columns, constants)
        self._classes[key] = found  # put back last, so that they are more or less in order of use
        if written is not None:
            written.parts, written.found = parts, found
        return found

    def _make_room(self) -> None:
        """Forget the class that was used least recently, if there are too many."""
        if len(self._classes) >= max(_FEWEST, min(_KEPT, _ROWS_KEPT // max(1, len(self._around.nodes)))):
            gone = self._classes.pop(next(iter(self._classes)))
            for written in self._written.values():
                if written.found is gone:
                    written.found = None

    def _columns_beside(
        self, latest: _Latest, profile: Profile, pod: PodInfo, signatures: tuple[Hashable, ...]
    ) -> dict[str, AnswerColumn]:
        """Return the columns of plugins that do not read a pod as those of the class made last, which are few.

        Raises:
            CycleError: a signature cannot be hashed.
        """
        plugins = profile.deciding_plugins
        before = latest.signatures or (None,) * len(plugins)
        try:
            return {
                plugin.name: self._column(profile, plugin, part, pod)
                for plugin, part in compress(zip(plugins, signatures, strict=True), map(ne, signatures, before))
            }
        except PASSING:
            raise
        except ESCAPING:  # asked once more, one by one, so that it is the fault of one
            for plugin in plugins:
                signature_of(plugin, pod)
            raise

    def _constants_of(
        self,
        latest: _Latest,
        profile: Profile,
        anew: frozenset[str],
        columns: Mapping[str, AnswerColumn],
        others: Mapping[str, AnswerColumn],
    ) -> ConstantColumns | None:
        """Return those of some columns that are constant, as far as earlier classes have found out; None for none."""
        constants = latest.constants
        known = frozenset[str]() if constants is None or constants.is_void else constants.names
        names = known.difference(others)
        more = [name for name in columns.keys() - names - others.keys() if columns[name].is_constant]
        if names == known and not more:
            return constants if names else None
        # somebody may have asked one of them anew, and nobody have looked at all of them together since
        names = frozenset([*(name for name in names if columns[name].is_constant), *more])
        if not names:
            return None
        return ConstantColumns(self._around, self._order(profile, anew, names), {n: columns[n] for n in names})

    def _order(self, profile: Profile, anew: frozenset[str], besides: frozenset[str] = frozenset()) -> PluginOrder:
        key = profile.scheduler_name, anew, besides
        order = self._orders.get(key)
        if order is None:
            order = self._orders[key] = PluginOrder(profile, anew, besides)
        return order

    def _column(self, profile: Profile, plugin: Plugin, signature: Hashable, pod: PodInfo) -> AnswerColumn:
        key = profile.scheduler_name, plugin.name, signature
        column = self._columns.get(key)
        if column is None:
            listens = isinstance(plugin.handle, ProfileHandle) and plugin.handle.listens(plugin)
            column = self._columns[key] = AnswerColumn(self._around, self._points_of(plugin), pod, listens=listens)
        return column

    def _points_of(self, plugin: Plugin) -> PluginPoints:
        points = self._points.get(id(plugin))  # which it holds, so that the id is not another's
        if points is None:
            points = self._points[id(plugin)] = PluginPoints(plugin)
        return points

    def _written_as(self, profile: Profile, pod: PodInfo) -> _Written | None:
        """Return what is known of pods that are written like this one, None where that cannot be compared."""
        content = self._content_of(pod)
        if not content:
            return None
        key = profile.scheduler_name, content
        known = self._written.get(key)
        if known is None:
            if len(self._written) >= _SIGNATURES_KEPT:
                self._written.clear()
            elsewhere = self._whole._written_as(profile, pod) if self._whole is not None else None
            if elsewhere is None:
                known = _Written(profile, pod, _signatures(profile.deciding_plugins, pod))
                known.is_new = True
            else:
                known = _Written(profile, pod, elsewhere.signatures)
                elsewhere.is_new = False  # its class is asked for by no cycle now
            self._written[key] = known
        elif known.pod is not pod:
            pod.take_demand(known.pod)  # rather than have each add up the same requests
        return known

    def _content_of(self, pod: PodInfo) -> bytes:
        """Return all that a template writes of a pod, and the kubelet grants it; b"" where it cannot be compared."""
        if self._whole is not None:
            return self._whole._content_of(pod)
        metadata, spec, status, ends = pod.pod.metadata, pod.pod.spec, pod.pod.status, pod.is_terminating
        labels, owners = metadata.labels, metadata.owner_references
        named = ""
        if spec.volumes and any(volume.ephemeral for volume in spec.volumes):
            named = metadata.name  # so are its claims
        # pods of one template share the very parts, as a rule; holding one of them keeps the ids from being used again
        parts = metadata.namespace, id(labels), id(owners), id(spec), named, grant_identity(status), ends
        known = self._contents.get(parts)
        if known is not None:
            return known[1]
        encoded = content((metadata.namespace, labels, owners, spec, named, kubelet_grant(status), ends)) or b""
        if len(self._contents) >= _SIGNATURES_KEPT:
            self._contents.clear()
        self._contents[parts] = pod, encoded
        return encoded


class _Latest(NamedTuple):
    """What the class made last is made of.

    Attributes:
        signatures: by plugin.
        columns: of those that have a signature for its pods, by name.
        constants: those of them that were constant.
    """

    signatures: tuple[Hashable, ...]
    columns: Mapping[str, AnswerColumn]
    constants: ConstantColumns | None


_NOTHING = _Latest((), {}, None)


class _Written:
    """What is known of pods that are written alike.

    Attributes:
        pod: the first of them.
        signatures: of that pod, by plugin.
        asked: those plugins, by their place, that are asked about every pod: their signatures may be others.
        parts: the signatures of these, of the pod that came last.
        found: its class, None where there is none any more.
        is_new: whether the parts are those of the very cycle that has begun.
    """

    __slots__ = ("asked", "found", "is_new", "parts", "pod", "signatures")

    def __init__(self, profile: Profile, pod: PodInfo, signatures: tuple[Hashable, ...]) -> None:
        self.pod = pod
        self.signatures = signatures
        specific = profile.pod_specific_plugins.items()
        self.asked = {place: p for place, p in specific if not isinstance(signatures[place], AsWritten)}
        self.parts: tuple[Hashable, ...] = tuple([signatures[place] for place in self.asked])
        self.found: EquivalenceClass | None = None
        self.is_new = False

    def signatures_with(self, parts: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Return all signatures of a pod that is written like this, given those that are its own."""
        if not parts:
            return self.signatures
        part_at = dict(zip(self.asked, parts, strict=True))
        return tuple([part_at.get(place, signature) for place, signature in enumerate(self.signatures)])


def _signatures(plugins: Collection[Plugin], pod: PodInfo) -> tuple[Hashable, ...]:
    """Return the signatures of some plugins.

    Raises:
        CycleError: a plugin fails.
    """
    try:
        return tuple([plugin.signature(pod) for plugin in plugins])
    except PASSING:
        raise
    except ESCAPING:  # asked once more, one by one, so that it is the fault of one
        return tuple([signature_of(plugin, pod) for plugin in plugins])


def signature(profile: Profile, pod: PodInfo, plugins: Iterable[Plugin]) -> Hashable | None:
    """Return all that some plugins of a profile read of a pod, None where one of them forbids reuse.

    Raises:
        CycleError: a plugin fails, or its signature is not hashable.
    """
    parts = tuple(signature_of(plugin, pod) for plugin in plugins)
    return None if None in parts else (profile.scheduler_name, *parts)
