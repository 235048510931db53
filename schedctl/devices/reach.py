"""From which nodes slices of devices, and devices that choose nodes one by one, can be reached.

`pools` asks here which slices a node sees. Each distinct node selector is asked of the whole node table at once, since
slices by the thousand share a few.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import msgspec
import numpy as np

from schedctl.api.devices import Device, ResourceSlice, ResourceSliceSpec
from schedctl.api.node_selectors import compile_node_selector
from schedctl.api.pods import NodeSelector, NodeSelectorRequirement
from schedctl.api.selectors import SelectorError
from schedctl.cache.arrays import IndexArray
from schedctl.cache.node_matching import nodes_matching
from schedctl.cache.node_table import NodeTable


class Reach:
    """From where devices can be reached. Each distinct node selector is asked of the whole node table at once.

    Args:
        table: the nodes.
        shared: the slices that name no node.
        named: those that do; devices of theirs may nevertheless choose nodes one by one.
        counters_by_node: whether slices with counters count only where they are reached.
    """

    def __init__(
        self,
        table: NodeTable,
        shared: Sequence[ResourceSlice],
        named: Iterable[Sequence[ResourceSlice]],
        *,
        counters_by_node: bool,
    ) -> None:
        self._table = table
        self._counters_by_node = counters_by_node
        self._shared = shared
        self._codes: dict[int, int] = {}  # of selectors, by identity: the slices that hold them are kept by the caller
        self._faults: dict[int, str] = {}
        self._names: set[str] = set()
        selectors = self._selectors(each for slices in (shared, *named) for each in slices)
        self._matched = np.zeros(((len(selectors) + 7) // 8, len(table)), np.uint8)  # a bit for each selector and row
        for code, selector in enumerate(selectors):
            query = compile_node_selector(selector)
            try:
                matched = nodes_matching(table, query.require_valid())
            except SelectorError as error:
                self._faults[code] = f"failed to parse node selector {_go_text(selector)}: {error}"
            else:
                self._matched[code // 8] |= matched.view(np.uint8) << (code % 8)
        self._deciding: IndexArray = np.array([self._decides(each.spec) for each in shared], np.intp)

    def _selectors(self, slices: Iterable[ResourceSlice]) -> list[NodeSelector]:
        """Return the distinct selectors of slices and of devices that choose nodes; note their codes, and the names."""
        distinct: dict[bytes, NodeSelector] = {}
        code_of: dict[bytes, int] = {}
        for each in slices:
            devices = (each.spec.devices or ()) if each.spec.per_device_node_selection else ()
            self._names.update(device.node_name for device in devices if device.node_name)
            for where in (each.spec, *devices):
                if where.node_selector is not None:
                    written = msgspec.json.encode(where.node_selector)
                    distinct.setdefault(written, where.node_selector)
                    self._codes[id(where.node_selector)] = code_of.setdefault(written, len(code_of))
        return list(distinct.values())

    def _decides(self, spec: ResourceSliceSpec) -> int:
        """Return the code of the selector that alone decides about a slice, -1 if it must be asked about."""
        # -1 for a selector that cannot be parsed as well: asking about the slice raises its error.
        if spec.all_nodes or spec.node_selector is None or (spec.shared_counters and not self._counters_by_node):
            return -1
        code = self._codes[id(spec.node_selector)]
        return -1 if code in self._faults else code

    def candidates(self, row: int) -> list[ResourceSlice]:
        """Return the shared slices, in order, but for those whose selector does not match a node."""
        matched = np.unpackbits(self._matched[:, row], bitorder="little")
        possible = np.append(matched, 1)[self._deciding]  # -1 reads the last, which is always true
        return [self._shared[index] for index in np.flatnonzero(possible).tolist()]

    def signature(self, row: int) -> Hashable:
        """Return a value that is equal for nodes that reach the same of the shared slices and their devices."""
        # A name matters only where a device names it; all others are one.
        name = self._table.names[row]
        return name if name in self._names else "", self._matched[:, row].tobytes()

    def of(self, where: ResourceSliceSpec | Device, row: int) -> bool | str:
        """Return whether a node is meant, or the text of an error; a name, all nodes, a selector: the first decides."""
        if where.node_name:
            return where.node_name == self._table.names[row]
        if where.all_nodes:
            return True
        if where.node_selector is None:
            return False
        code = self._codes[id(where.node_selector)]
        return self._faults.get(code) or bool(self._matched[code // 8, row] >> (code % 8) & 1)


def _go_text(selector: NodeSelector) -> str:
    """A node selector as Go prints it."""
    terms = "".join(
        f"NodeSelectorTerm{{MatchExpressions:{_requirements(term.match_expressions)},"
        f"MatchFields:{_requirements(term.match_fields)},}},"
        for term in selector.node_selector_terms or ()
    )
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{terms}}},}}"


def _requirements(requirements: Sequence[NodeSelectorRequirement] | None) -> str:
    written = "".join(
        f"NodeSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values or ())}],}},"
        for each in requirements or ()
    )
    return f"[]NodeSelectorRequirement{{{written}}}"
