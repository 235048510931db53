"""`PodQuery`: which running pods are counted, and the labels by which that is found out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from schedctl.api.selectors import LabelQuery
from schedctl.cache.affinity_terms import index_labels
from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.pod_table import NO_NODE, PodTable

Label = tuple[str, str]


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
    def index_labels(self) -> Iterable[Label | None]:
        """The labels of which a pod must have one to be counted; None stands for "any pod may be"."""
        return () if any(each.nothing for each, _ in self.conditions) else index_labels(self.conditions[0][0])

    def nodes(self, table: PodTable) -> IndexArray:
        """Return the node row of each running pod that is counted, intp (pods,)."""
        (first, _), *rest = self.conditions
        if first.nothing or not any(each is None or table.labels.may_have(*each) for each in index_labels(first)):
            return NO_ROWS
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
