"""What every what-if is: a change that makes itself on a cluster, and what it did."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import msgspec

from schedctl.cache.cluster import Cluster
from schedctl.reports.metadata import Record


class WhatIfResult(Record, frozen=True):
    """What a change did.

    Attributes:
        kind: the word for it, e.g. ``cordon``.
        text: in words, e.g. ``cordoned general-a-1``.
        nodes: the nodes it changed, added or removed.
        waiting: the pods that are on no node because of it, as ``namespace/name``.
        gone: the pods that are gone because of it.
        successors: by pod that is gone, the one its controller makes in its place, which waits.
    """

    kind: str
    text: str
    nodes: list[str] = msgspec.field(default_factory=list)
    waiting: list[str] = msgspec.field(default_factory=list)
    gone: list[str] = msgspec.field(default_factory=list)
    successors: dict[str, str] = msgspec.field(default_factory=dict)


class WhatIf(ABC):
    """One thing to change.

    Attributes:
        kind: the word for it.
    """

    kind: ClassVar[str]

    @abstractmethod
    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Make the change and return what it did.

        Raises:
            UsageError: what it is about is not there; with the nearest names.
        """


def apply(changes: Iterable[WhatIf], cluster: Cluster) -> list[WhatIfResult]:
    """Make changes in the order given and return what each did.

    Raises:
        UsageError: what one is about is not there.
    """
    return [change.apply(cluster) for change in changes]
