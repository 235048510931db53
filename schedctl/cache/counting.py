"""What counters have in common: what they count in, and when they count anew."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from typing_extensions import override

from schedctl.cache.affinity_terms import AffinityTerms
from schedctl.cache.arrays import IndexArray
from schedctl.cache.node_table import NodeTable
from schedctl.cache.pod_table import PodTable
from schedctl.cache.reads import Reads, Tracked

T = TypeVar("T", bound=Hashable)


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


class Registry(Protocol):
    """Those who count in one cluster.

    Attributes:
        epoch: grows whenever all counters have to count anew.
    """

    epoch: int


class Counter:
    """What counters have in common: they count anew when nodes have changed, or many pods at once."""

    __slots__ = ("__weakref__", "_cluster", "_epoch", "_registry")

    def __init__(self, cluster: CountedCluster, registry: Registry) -> None:
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


class Aspect(Tracked, Generic[T]):
    """Something about a counter; two of the same counter are one thing that is read."""

    __slots__ = ("_of",)

    def __init__(self, of: T) -> None:
        self._of = of

    @property
    @override
    def name(self) -> Hashable:
        return type(self), self._of
