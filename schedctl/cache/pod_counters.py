"""Live counters: running pods by node row and by topology domain, kept current with every placement.

A `PodCounter` counts the pods that selectors select, a `TermCounter` what the terms of running pods say about one pod.
`PodCounters` finds by label the counters that a pod moves, so that a placement costs what it changes, whoever counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar
from weakref import WeakValueDictionary, ref

import numpy as np
from typing_extensions import override

from schedctl.api.meta import Namespace
from schedctl.api.nodes import Node
from schedctl.api.selectors import LabelQuery
from schedctl.cache.affinity_terms import NO_TERMS, AffinityTerms, CarriedTerms, carried_terms, demanded_labels
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray, grow
from schedctl.cache.labels import Domains
from schedctl.cache.node_table import NodeTable
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.cache.pod_table import NO_NODE, PodTable
from schedctl.cache.reads import Journal, Reads, Tracked

NO_DOMAIN = 0
"""The domain of nodes without the label, in which nothing is counted."""
NO_MINIMUM = 2**31 - 1
"""The minimum over no domains, which upstream has as MaxInt32."""
_NO_ROWS: IndexArray = np.empty(0, np.intp)
Label = tuple[str, str]
Part = tuple[IndexArray, IntArray, IntArray]
"""Node rows, each once, what to add at each, and how many pods that is."""
K = TypeVar("K")
C = TypeVar("C", "PodCounter", "TermCounter")


class CountedCluster(Protocol):
    """What counters count in, and whom they tell what is read of them."""

    reads: Reads
    _node_table: NodeTable
    _pod_table: PodTable
    _affinity_terms: AffinityTerms
    _objects: dict[type, dict[str, object]]
    _versions: dict[type, int]
    _object_versions: dict[tuple[type, str], int]
    _generation: int

    @property
    def rows(self) -> IndexArray:
        """The rows of live nodes."""


class PodQuery(NamedTuple):
    """Which running pods are counted.

    Attributes:
        conditions: a selector and the names of namespaces, None for all; a pod has to meet every condition.
        terminating: whether pods on their way out count.
    """

    conditions: tuple[tuple[LabelQuery, frozenset[str] | None], ...]
    terminating: bool = True

    def matches(self, info: PodInfo) -> bool:
        """Return whether a pod is counted."""
        for selector, namespaces in self.conditions:
            if not (namespaces is None or info.namespace in namespaces) or not selector.matches(info.labels):
                return False
        return self.terminating or not info.is_terminating

    @property
    def demanded(self) -> Iterable[Label | None]:
        """The labels of which a pod must have one to be counted; None stands for "any pod may be"."""
        return () if any(each.nothing for each, _ in self.conditions) else demanded_labels(self.conditions[0][0])

    def nodes(self, table: PodTable) -> IndexArray:
        """Return the node row of each running pod that is counted, intp (pods,)."""
        (first, _), *rest = self.conditions
        if first.nothing:
            return _NO_ROWS
        labelled = table.labels.select(first)
        for selector, _ in rest:
            labelled &= table.labels.select(selector)
        pods = np.flatnonzero(labelled)
        counted: BoolArray = table.node[pods] != NO_NODE
        for _, namespaces in self.conditions:
            if namespaces is not None:
                codes = [table.strings.find_code(name) for name in namespaces]
                here = table.namespace[pods]
                counted &= here == codes[0] if len(codes) == 1 else np.isin(here, codes)
        if not self.terminating:
            counted &= ~table.terminating[pods]
        nodes: IndexArray = table.node[pods[counted]]
        return nodes


class _Sums:
    """Sums by domain of a topology key, over the nodes that take part.

    Attributes:
        eligible: bool (node rows,), the nodes that take part; None for all.
        sums: int64 (domains,).
        pairs: how many pods, or terms, were counted in a domain.
        journal: the node rows whose domain's sum changed.
        presence: those whose domain's sum became positive, or no longer is.
        minimum: the least sum of the domains that are present, None while nobody has asked.
        minimum_since: the generation at which it last changed.
        empty_since: the generation at which there last came to be any, or none.
    """

    __slots__ = (
        "_cluster",
        "_present",
        "domains",
        "eligible",
        "empty_since",
        "journal",
        "key",
        "minimum",
        "minimum_since",
        "pairs",
        "presence",
        "sums",
    )

    def __init__(
        self, cluster: CountedCluster, key: str, eligible: BoolArray | None, parts: Iterable[Part] = ()
    ) -> None:
        self._cluster = cluster
        self.key = key
        self.eligible = eligible
        self.journal = Journal(cluster._generation)
        self.presence = Journal(cluster._generation)
        self.refill(parts)

    def refill(self, parts: Iterable[Part]) -> None:
        """Count anew."""
        if self.eligible is not None and len(self.eligible) < len(self._cluster._node_table):
            # nodes that came since do not take part: who asked for this will ask for another
            self.eligible = grow(self.eligible, len(self._cluster._node_table))
        domains = self.domains = self._cluster._node_table.labels.domains(self.key)
        codes = domains.codes
        self.sums: IntArray = np.zeros(len(domains), np.int64)
        self.pairs = 0
        for rows, amounts, pods in parts:
            if self.eligible is not None:
                taking_part = self.eligible[rows]
                rows, amounts, pods = rows[taking_part], amounts[taking_part], pods[taking_part]
            at = codes[rows]
            self.sums += np.bincount(at, amounts, minlength=len(domains)).astype(np.int64)
            self.pairs += int(pods[at != NO_DOMAIN].sum())
        self.sums[NO_DOMAIN] = 0
        self._present: BoolArray | None = None
        self.minimum: int | None = None
        self.minimum_since = self.empty_since = self._cluster._generation
        self.journal.begin(self.minimum_since)
        self.presence.begin(self.minimum_since)

    @property
    def present(self) -> BoolArray:
        """The domains with a node that takes part, bool (domains,)."""
        if self._present is None:
            rows, codes = self._cluster.rows, self.domains.codes
            self._present = np.zeros(len(self.domains), np.bool_)
            self._present[codes[rows if self.eligible is None else rows[self.eligible[rows]]]] = True
        return self._present

    def add(self, row: int, amount: int, pods: int) -> None:
        """Count pods that came to a node, or went from there."""
        domain = self.domains.of(row)
        if domain == NO_DOMAIN or (self.eligible is not None and not self.eligible[row]):
            return
        generation = self._cluster._generation
        before = int(self.sums[domain])
        self.sums[domain] = now = before + amount
        if not self.pairs or not self.pairs + pods:
            self.empty_since = generation
        self.pairs += pods
        self.journal.note(generation, row)
        if (before > 0) != (now > 0):
            self.presence.note(generation, row)
        if self.minimum is not None and self.present[domain] and (before == self.minimum or now < self.minimum):
            least = int(self.sums[self.present].min())
            if least != self.minimum:
                self.minimum, self.minimum_since = least, generation

    def rows_in_domains_of(self, moved: set[int] | None) -> IndexArray | None:
        """Return the rows of all nodes in the domains of some node rows, intp; None for any."""
        if not moved:
            return None if moved is None else _NO_ROWS
        domains, codes = self.domains, self.domains.codes
        alone = [row for row in moved if domains.alone(row)]
        if len(alone) == len(moved):
            return np.array(alone, np.intp)
        shared = {int(codes[row]) for row in moved.difference(alone)}
        return np.concatenate((np.array(alone, np.intp), *(np.flatnonzero(codes == each) for each in shared)))

    def positive_at(self, domains: IndexArray) -> BoolArray:
        """Return in which of some domains the sum is above 0, bool (n,)."""
        positive: BoolArray = (
            (self.sums > 0)[domains] if len(domains) > len(self.sums) else self.sums[domains] > 0
        )  # `NO_DOMAIN` has none
        return positive


class _Counter:
    """What counters have in common: they count anew when nodes have changed, or many pods at once."""

    __slots__ = ("__weakref__", "_cluster", "_epoch", "_registry")

    def __init__(self, cluster: CountedCluster, registry: PodCounters) -> None:
        self._cluster = cluster
        self._registry = registry
        self._epoch = -1

    def refresh(self) -> None:
        """Count anew if that is needed."""
        if self._epoch != self._registry.epoch:
            self._epoch = self._registry.epoch
            self.recount()

    @property
    def is_stale(self) -> bool:
        """Whether all is counted anew before it is read next."""
        return self._epoch != self._registry.epoch

    def recount(self) -> None:
        """Count anew."""
        raise NotImplementedError


class DomainCounter(Tracked):
    """The pods of a `PodCounter` by domain of a topology key, on the nodes that take part."""

    __slots__ = ("__weakref__", "_cluster", "_counter", "_sums")

    def __init__(self, cluster: CountedCluster, counter: PodCounter, key: str, eligible: BoolArray | None) -> None:
        self._cluster = cluster
        self._counter = counter
        self._sums = _Sums(cluster, key, eligible, (counter.part(),))

    @property
    def key(self) -> str:
        """The topology key."""
        return self._sums.key

    @property
    def pods(self) -> PodCounter:
        """The pods that are counted, by node row."""
        return self._counter

    @property
    def eligible(self) -> BoolArray | None:
        """The nodes that take part, bool (node rows,), None for all."""
        return self._sums.eligible

    @property
    def present(self) -> BoolArray:
        """The domains with a node that takes part, bool (domains,)."""
        self._counter.refresh()
        self._cluster.reads.versions[Node] = self._cluster._versions.get(Node, 0)
        return self._sums.present

    @property
    def domains(self) -> Domains:
        """All domains of the topology key."""
        return self._sums.domains

    @property
    def sums(self) -> IntArray:
        """How many pods are in each domain, int64 (domains,); it is live: read it, copy what you keep."""
        self._counter.refresh()
        self._cluster.reads.tracked[self] = self
        return self._sums.sums

    @property
    def minimum(self) -> int:
        """The least count of the domains that are present, `NO_MINIMUM` where there are none."""
        self._counter.refresh()
        sums, aspect = self._sums, _Minimum(self)
        self._cluster.reads.tracked[aspect.name] = aspect
        if sums.minimum is None:
            sums.minimum = int(sums.sums[sums.present].min(initial=NO_MINIMUM))
        return sums.minimum

    @property
    def pairs(self) -> int:
        """How many pods are counted in a domain."""
        self._counter.refresh()
        self._cluster.reads.tracked[self] = self
        return self._sums.pairs

    @property
    def is_empty(self) -> bool:
        """Whether no pod is counted in any domain."""
        self._counter.refresh()
        aspect = _Emptiness(self)
        self._cluster.reads.tracked[aspect.name] = aspect
        return not self._sums.pairs

    def positive_at(self, domains: IndexArray) -> BoolArray:
        """Return in which of some domains there are pods, bool (n,)."""
        self._counter.refresh()
        aspect = _Presence(self)
        self._cluster.reads.tracked[aspect.name] = aspect
        return self._sums.positive_at(domains)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._counter.refresh()
        return self._sums.rows_in_domains_of(self._sums.journal.since(since))

    def add(self, row: int, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        self._sums.add(row, sign, sign)

    def refill(self) -> None:
        """Count anew, as the counter has."""
        self._sums.refill((self._counter.part(),))


class _Aspect(Tracked):
    """Something about a counter; two of the same counter are one thing that is read."""

    __slots__ = ("_of",)

    def __init__(self, of: DomainCounter) -> None:
        self._of = of

    @property
    def name(self) -> Hashable:
        """What it is known by."""
        return type(self), self._of


class _Minimum(_Aspect):
    """The least count, which concerns all rows."""

    __slots__ = ()

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of._counter.refresh()
        return None if self._of._sums.minimum_since > since else _NO_ROWS


class _Presence(_Aspect):
    """In which domains there are any."""

    __slots__ = ()

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of._counter.refresh()
        return self._of._sums.rows_in_domains_of(self._of._sums.presence.since(since))


class _Emptiness(_Aspect):
    """Whether there are any at all, which concerns all rows."""

    __slots__ = ()

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of._counter.refresh()
        return None if self._of._sums.empty_since > since else _NO_ROWS


class PodCounter(_Counter, Tracked):
    """The running pods that a query selects, by node row; as something that is read, how many are on each node."""

    __slots__ = ("_by_row", "_domains", "_journal", "query")

    def __init__(self, cluster: CountedCluster, registry: PodCounters, query: PodQuery) -> None:
        super().__init__(cluster, registry)
        self.query = query
        self._by_row: IntArray = np.zeros(0, np.int64)
        # those that nobody reads any more are not counted on
        self._domains: WeakValueDictionary[tuple[str, bytes | None], DomainCounter] = WeakValueDictionary()
        self._journal = Journal(cluster._generation)

    def by_domain(self, key: str, eligible: BoolArray | None = None) -> DomainCounter:
        """Return the pods by domain of a topology key, on the nodes that take part (bool by node row, None for all)."""
        self.refresh()
        name = key, None if eligible is None else eligible.tobytes()
        found = self._domains.get(name)
        if found is None:
            found = self._domains[name] = DomainCounter(self._cluster, self, key, eligible)
        return found

    @property
    def by_row(self) -> IntArray:
        """How many pods are on each node, int64 (node rows,); it is live: read it, copy what you keep."""
        self.refresh()
        self._cluster.reads.tracked[self] = self
        return self._by_row

    def part(self) -> Part:
        """Return the nodes that have such pods, and how many."""
        rows = np.flatnonzero(self._by_row)
        pods = self._by_row[rows]
        return rows, pods, pods

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self.refresh()
        moved = self._journal.since(since)
        return None if moved is None else np.array(sorted(moved), np.intp)

    def count(self, row: int, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        if self.is_stale:
            return
        self._by_row[row] += sign
        self._journal.note(self._cluster._generation, row)
        for by_domain in self._domains.values():
            by_domain.add(row, sign)

    @override
    def recount(self) -> None:
        rows = len(self._cluster._node_table)
        self._by_row = np.bincount(self.query.nodes(self._cluster._pod_table), minlength=rows)
        self._journal.begin(self._cluster._generation)
        for by_domain in self._domains.values():
            by_domain.refill()


class TermCounter(_Counter, Tracked):
    """What the terms of one kind that running pods carry say about a pod, summed by domain.

    Attributes:
        kind: a field of `CarriedTerms`; a required term weighs 1.
        labels, namespace: of the pod.
        reads_namespace: whether the labels of its namespace have been looked up.
    """

    __slots__ = ("_empty_since", "_is_empty", "_sums", "kind", "labels", "namespace", "reads_namespace")

    def __init__(
        self, cluster: CountedCluster, registry: PodCounters, kind: str, labels: Mapping[str, str], namespace: str
    ) -> None:
        super().__init__(cluster, registry)
        self.kind = kind
        self.labels = labels
        self.namespace = namespace
        self._sums: dict[str, _Sums] = {}
        self._is_empty = True
        self._empty_since = 0
        self.reads_namespace = False

    @property
    def keys(self) -> Iterable[str]:
        """The topology keys of the terms about the pod."""
        self.refresh()
        self._cluster.reads.tracked[self] = self
        return self._sums

    @property
    def is_empty(self) -> bool:
        """Whether no such term is carried on a node that has the term's topology key."""
        self.refresh()
        aspect = _TermEmptiness(self)
        self._cluster.reads.tracked[aspect.name] = aspect
        return self._is_empty

    def at(self, key: str, domains: IndexArray) -> IntArray:
        """Return the sum of the weights in some domains of a key, int64 (n,)."""
        sums: IntArray = self._sums[key].sums[domains]
        return sums

    def positive_at(self, key: str, domains: IndexArray) -> BoolArray:
        """Return in which of some domains of a key there is such a term, bool (n,)."""
        return self._sums[key].positive_at(domains)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self.refresh()
        found = [sums.rows_in_domains_of(sums.journal.since(since)) for sums in self._sums.values()]
        rows = [each for each in found if each is not None]
        return None if len(rows) < len(found) else np.concatenate(rows) if rows else _NO_ROWS

    def count(self, term: AffinityTerm, weight: int, row: int, sign: int) -> None:
        """Count a term that came with a pod (``+1``), or went (``-1``), if it is about this one."""
        if self.is_stale or not self._concerns(term):
            return
        sums = self._sums.get(term.topology_key)
        if sums is None:
            sums = self._sums[term.topology_key] = _Sums(self._cluster, term.topology_key, None)
        sums.add(row, sign * weight, sign)
        self._note_emptiness()

    @override
    def recount(self) -> None:
        found: dict[str, list[Part]] = {key: [] for key in self._sums}
        table = getattr(self._cluster._affinity_terms, self.kind)
        for each in table.about(self.labels, self._concerns):
            found.setdefault(each.term.topology_key, []).append((each.nodes, each.weights, each.counts))
        for key, parts in found.items():
            if key in self._sums:
                self._sums[key].refill(parts)
            else:
                self._sums[key] = _Sums(self._cluster, key, None, parts)
        self._note_emptiness()

    def _note_emptiness(self) -> None:
        empty = not any(sums.pairs for sums in self._sums.values())
        if empty != self._is_empty:
            self._is_empty, self._empty_since = empty, self._cluster._generation

    def _concerns(self, term: AffinityTerm) -> bool:
        return term.concerns(self.namespace, self.labels, self._labels_of_namespace)

    def _labels_of_namespace(self) -> Mapping[str, str] | None:
        self.reads_namespace = True
        namespace = self._cluster._objects.get(Namespace, {}).get(self.namespace)
        return namespace.metadata.labels if isinstance(namespace, Namespace) else None


class _TermEmptiness(Tracked):
    """Whether a counter of terms has counted any."""

    __slots__ = ("_of",)

    def __init__(self, of: TermCounter) -> None:
        self._of = of

    @property
    def name(self) -> Hashable:
        """What it is known by."""
        return type(self), self._of

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of.refresh()
        return None if self._of._empty_since > since else _NO_ROWS


class ClaimUsers:
    """How many times running pods mount each PersistentVolumeClaim by name, once somebody asks for it."""

    def __init__(self, cluster: CountedCluster, registry: PodCounters) -> None:
        self._cluster = cluster
        self._registry = registry
        self._epoch = -1
        self._users: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._begins = 0

    def of(self, key: str) -> int:
        """Return how many times a claim (``namespace/name``) is mounted."""
        self._refresh()
        aspect = _ClaimUse(self, key)
        self._cluster.reads.tracked[aspect.name] = aspect
        return self._users.get(key, 0)

    def changed_at(self, key: str) -> int:
        """Return the generation at which that last changed."""
        self._refresh()
        return max(self._changed.get(key, 0), self._begins)

    def count(self, info: PodInfo, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        for volume in info.pod.spec.volumes or ():
            if volume.persistent_volume_claim is not None:
                key = f"{info.namespace}/{volume.persistent_volume_claim.claim_name}"
                self._users[key] = self._users.get(key, 0) + sign
                self._changed[key] = self._cluster._generation

    def _refresh(self) -> None:
        if self._epoch == self._registry.epoch:
            return
        generation = self._cluster._generation
        if self._epoch < 0:
            self._begins = generation
        before, noted = self._users, self._changed
        self._epoch, self._users, self._changed = self._registry.epoch, {}, {}
        for info in self._cluster._pod_table:
            self.count(info, 1)
        # counted anew, most claims have the users they had: only the others have changed
        moved = [key for key in before.keys() | self._users.keys() if before.get(key, 0) != self._users.get(key, 0)]
        self._changed = noted | dict.fromkeys(moved, generation)


class _ClaimUse(Tracked):
    """Who mounts one claim, which concerns all rows."""

    __slots__ = ("_key", "_users")

    def __init__(self, users: ClaimUsers, key: str) -> None:
        self._users = users
        self._key = key

    @property
    def name(self) -> Hashable:
        """What it is known by."""
        return type(self), self._key

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        return None if self._users.changed_at(self._key) > since else _NO_ROWS


class _Files(Generic[K, C]):
    """Counters that somebody still reads, filed under labels."""

    __slots__ = ("_files",)

    def __init__(self) -> None:
        self._files: dict[K, list[ref[C]]] = {}

    def __bool__(self) -> bool:
        return bool(self._files)

    def add(self, names: Iterable[K], counter: C) -> None:
        """File a counter under some names."""
        for name in names:
            self._files.setdefault(name, []).append(ref(counter))

    def under(self, name: K) -> Sequence[C]:
        """Return the counters that are filed under a name."""
        files = self._files.get(name)
        if files is None:
            return ()
        found: list[C] = [counter for each in files if (counter := each()) is not None]
        if len(found) < len(files):
            if found:
                self._files[name] = [ref(counter) for counter in found]
            else:
                del self._files[name]
        return found


class PodCounters:
    """The counters of a cluster that somebody still reads, found by label.

    Attributes:
        epoch: grows whenever all counters have to count anew.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._claims: ClaimUsers | None = None
        self._pods: WeakValueDictionary[PodQuery, PodCounter] = WeakValueDictionary()
        self._terms: WeakValueDictionary[tuple[str, frozenset[Label], str], TermCounter] = WeakValueDictionary()
        self._pods_filed: _Files[Label | None, PodCounter] = _Files()
        self._terms_filed: _Files[tuple[str, Label | None], TermCounter] = _Files()

    def __reduce__(self) -> tuple[type[PodCounters], tuple[()]]:
        """Counters stay where they are read: a cluster that is sent elsewhere begins without."""
        return PodCounters, ()

    def of_pods(self, cluster: CountedCluster, query: PodQuery) -> PodCounter:
        """Return the counter of the pods that a query selects."""
        counter = self._pods.get(query)
        if counter is None:
            counter = self._pods[query] = PodCounter(cluster, self, query)
            self._pods_filed.add(query.demanded, counter)
        return counter

    def of_terms(self, cluster: CountedCluster, kind: str, labels: Mapping[str, str], namespace: str) -> TermCounter:
        """Return the counter of the terms of one kind that are about a pod."""
        name = kind, frozenset(labels.items()), namespace
        counter = self._terms.get(name)
        if counter is None:
            counter = self._terms[name] = TermCounter(cluster, self, kind, labels, namespace)
            self._terms_filed.add([(kind, label) for label in (None, *labels.items())], counter)
        return counter

    def of_claims(self, cluster: CountedCluster) -> ClaimUsers:
        """Return the count of the users of claims."""
        if self._claims is None:
            self._claims = ClaimUsers(cluster, self)
        return self._claims

    def count(self, info: PodInfo, row: int, sign: int) -> None:
        """Count a pod that came to a node (``+1``), or went from there (``-1``)."""
        if self._claims is not None:
            self._claims.count(info, sign)
        if self._pods_filed:
            for label in (None, *info.labels.items()):
                for counter in self._pods_filed.under(label):
                    if counter.query.matches(info):
                        counter.count(row, sign)
        if self._terms_filed and (carried := carried_terms(info)) is not NO_TERMS:
            for kind, term, weight in _weighted(carried):
                for label in demanded_labels(term.selector):
                    for of_terms in self._terms_filed.under((kind, label)):
                        of_terms.count(term, weight, row, sign)

    def begin_anew(self) -> None:
        """Have all counted anew: nodes or namespaces are others, or too much has happened to count it one by one."""
        self.epoch += 1


def _weighted(carried: CarriedTerms) -> Iterator[tuple[str, AffinityTerm, int]]:
    for kind in ("required", "required_anti"):
        for term in getattr(carried, kind):
            yield kind, term, 1
    for kind in ("preferred", "preferred_anti"):
        for term, weight in getattr(carried, kind):
            yield kind, term, weight
