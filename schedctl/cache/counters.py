"""`Counters`: the live counters of a cluster, found by label: a placement costs what it changes, whoever counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar
from weakref import WeakValueDictionary, ref

from schedctl.cache.affinity_terms import CarriedTerms
from schedctl.cache.claim_users import ClaimUsers
from schedctl.cache.counting import CountedCluster
from schedctl.cache.pod_counters import PodCounter
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.pod_queries import Label, PodQuery
from schedctl.cache.term_counters import TermsAboutPod

K = TypeVar("K")
C = TypeVar("C", PodCounter, TermsAboutPod)


class Counters:
    """The counters of a cluster that somebody still reads, found by label.

    Attributes:
        epoch: grows whenever all counters have to count anew.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._claims: ClaimUsers | None = None
        self._pods: WeakValueDictionary[PodQuery, PodCounter] = WeakValueDictionary()
        self._terms: WeakValueDictionary[tuple[frozenset[Label], str], TermsAboutPod] = WeakValueDictionary()
        self._pods_filed: _Files[Label | None, PodCounter] = _Files()
        self._terms_filed: _Files[Label | None, TermsAboutPod] = _Files()

    def __reduce__(self) -> tuple[type[Counters], tuple[()]]:
        """Counters stay where they are read: a cluster that is sent elsewhere begins without."""
        return Counters, ()

    def of_pods(self, cluster: CountedCluster, query: PodQuery) -> PodCounter:
        """Return the counter of the pods that a query selects."""
        counter = self._pods.get(query)
        if counter is None:
            counter = self._pods[query] = PodCounter(cluster, self, query)
            self._pods_filed.add(query.index_labels, counter)
        return counter

    def of_terms(self, cluster: CountedCluster, labels: Mapping[str, str], namespace: str) -> TermsAboutPod:
        """Return what the terms of running pods say about a pod."""
        name = frozenset(labels.items()), namespace
        about = self._terms.get(name)
        if about is None:
            about = self._terms[name] = TermsAboutPod(cluster, self, labels, namespace)
            self._terms_filed.add((None, *labels.items()), about)
        return about

    def of_claims(self, cluster: CountedCluster) -> ClaimUsers:
        """Return the count of the users of claims."""
        if self._claims is None:
            self._claims = ClaimUsers(cluster, self)
        return self._claims

    def count(self, info: PodInfo, terms: CarriedTerms, row: int, sign: int) -> None:
        """Count a pod, with the terms it carries, that came to a node (``+1``), or went from there (``-1``)."""
        if self._claims is not None:
            self._claims.count(info, sign)
        if self._pods_filed:
            for label in (None, *info.labels.items()):
                for counter in self._pods_filed.under(label):
                    if counter.query.matches(info):
                        counter.count(row, sign)
        if self._terms_filed:
            for kind, term, weight, labels in terms.each:
                for label in labels:
                    for about in self._terms_filed.under(label):
                        about.count(kind, term, weight, row, sign)

    def begin_anew(self) -> None:
        """Have all counted anew: nodes or namespaces are others, or too much has happened to count it one by one."""
        self.epoch += 1


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
