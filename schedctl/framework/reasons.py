"""Reasons and verdicts: why a row was refused, with the numbers behind it and no text until somebody reads it.

A `Reason` is declared on the plugin, beside the rule: ``reason.where(mask, free=...)`` makes the verdict of a column,
``reason(team=...)`` that of one node. ``a | b`` refuses for both reasons, ``a.then(b)`` for the first that applies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from schedctl.api.texts import tidy
from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.errors import PluginError
from schedctl.framework import faults
from schedctl.framework.statuses import Cause, Code, Status

CodeColumn = npt.NDArray[np.int8]
# codes are numbered as upstream numbers them, which is not in the order in which one outweighs another
_SEVERITY = {
    Code.SUCCESS: 0,
    Code.SKIP: 0,
    Code.WAIT: 1,
    Code.PENDING: 2,
    Code.UNSCHEDULABLE: 3,
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 4,
    Code.ERROR: 5,
}


def kebab(name: str) -> str:
    """Return ``NodeResourcesFit`` or ``too_many_pods`` as ``node-resources-fit``, ``too-many-pods``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).replace("_", "-").lower()


class Reason:
    """A way in which a plugin refuses, declared as a class attribute of the plugin.

    Attributes:
        text: the message as Kubernetes words it; ``{name}`` stands for a piece of evidence.
        code: UnschedulableAndUnresolvable for a refusal that no preemption could overcome, else Unschedulable; Error
            for a fault.
        fields: the evidence the text names.
        reference: a stable name, ``node-resources-fit/insufficient``, used by machine output, docs and policies.
    """

    def __init__(self, text: str, *, unresolvable: bool = False, code: Code | None = None) -> None:
        self.text = text
        self.code = code or (Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE)
        self.fields = tuple(re.findall(r"\{(\w+)\}", text))
        self.reference = kebab(text)

    def __set_name__(self, owner: type, name: str) -> None:
        named = owner.__dict__.get("name")  # as configurations call the plugin; the class is not made yet
        plugin = named if isinstance(named, str) and named else owner.__name__
        self.reference = f"{kebab(plugin)}/{kebab(name)}"

    def __repr__(self) -> str:
        return f"<Reason {self.reference}>"

    def where(self, mask: BoolArray, *, unresolvable: BoolArray | None = None, **evidence: Any) -> Verdicts:
        """Return the verdict that refuses the rows of a mask.

        Args:
            mask: bool (n,), the rows refused; owned by the verdict from now on.
            unresolvable: bool (n,), the rows among them that no preemption could help; the reason's own code if None.
            **evidence: what stands behind it: scalars, arrays over the n rows that the verdict may keep, or `OnDemand`.
        """
        return Verdicts((Part(self, mask, unresolvable, evidence),))

    def __call__(self, **evidence: Any) -> Verdict:
        """Return the refusal of one node."""
        return Verdict(self, evidence)

    def status(self, **evidence: Any) -> Status:
        """Return the refusal of the pod as a whole, as PreFilter gives it."""
        return Status(self.code, (self.format(evidence),), causes=(Cause(self.reference, evidence),))

    def format(self, evidence: Mapping[str, Any]) -> str:
        """Return the text with the evidence filled in; a value whose text fails is told as that."""
        if not self.fields:
            return self.text
        try:
            return tidy(self.text.format_map(evidence))
        except KeyboardInterrupt:
            raise
        except faults.ESCAPING as fault:  # turning a value into text is code of the plugin's
            return f"{self.text} ({faults.describe(fault)})"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The refusal of one node, as ``@per_node`` plugins give it."""

    reason: Reason
    evidence: Mapping[str, Any]


class OnDemand(Protocol):
    """Evidence too dear for the hot path, worked out for a row when somebody reads it."""

    def at(self, row: int) -> Any:
        """Return the evidence of one row."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """Evidence, or findings, of which there are few distinct values, found out when somebody reads it.

    Attributes:
        values: the distinct values; an array, or any sequence.
        codes: int (n,), the index of each row's value; owned by the verdict.
    """

    values: Sequence[Any] | npt.NDArray[Any]
    codes: npt.NDArray[np.integer[Any]]

    def at(self, row: int) -> Any:
        """Return the value of one row."""
        return self.values[int(self.codes[row])]


@dataclass(frozen=True, slots=True)
class NodeLookup:
    """Evidence, or findings, known by row of the node table, found out when somebody reads it.

    Attributes:
        find: finds it for a row of the node table.
        rows: intp (n,), the row of the node table at each position of the column.
    """

    find: Callable[[int], Any]
    rows: IndexArray

    def at(self, row: int) -> Any:
        """Return what is known at one position."""
        return self.find(int(self.rows[row]))


@dataclass(frozen=True, slots=True)
class Part:
    """One reason and the rows it refuses.

    Attributes:
        reason: why.
        mask: bool (n,).
        unresolvable: bool (n,) or None, see `Reason.where`.
        evidence: by name, scalars, arrays over the n rows, or `OnDemand`.
    """

    reason: Reason
    mask: BoolArray
    unresolvable: BoolArray | None
    evidence: Mapping[str, Any]

    def at(self, row: int) -> dict[str, Any]:
        """Return the evidence of one row as plain Python values."""
        try:
            return {name: _value(value, row) for name, value in self.evidence.items()}
        except KeyboardInterrupt:
            raise
        except faults.ESCAPING as fault:  # evidence on demand is code of the plugin's
            raise PluginError(f"the evidence of {self.reason.reference} fails: {faults.describe(fault)}") from fault

    def text(self, row: int) -> str:
        """Return the words for one row."""
        return self.reason.format(self.at(row)) if self.reason.fields else self.reason.text

    def count(self, within: BoolArray) -> Counter[str]:
        """Return how many of these rows are refused in which words."""
        rows = self.mask & within
        # with the same evidence everywhere, in what the text names, there is one text for all rows
        if not any(varies(self.evidence.get(name)) for name in self.reason.fields):
            number = int(np.count_nonzero(rows))
            return Counter({self.reason.format(self.evidence): number} if number else {})
        return Counter(self.text(row) for row in np.flatnonzero(rows).tolist())

    def code(self, row: int) -> Code:
        """Return the code for one row."""
        if self.unresolvable is None:
            return self.reason.code
        return Code.UNSCHEDULABLE_AND_UNRESOLVABLE if self.unresolvable[row] else Code.UNSCHEDULABLE


@dataclass(frozen=True)
class Verdicts:
    """What a filter says of a column of n nodes: the rows it refuses, for which reasons.

    Attributes:
        parts: the reasons in the order in which they are given to a row.
        findings: what the filter found out about each row besides, for its own later steps; by row, None for nothing.
    """

    parts: tuple[Part, ...] = ()
    findings: OnDemand | None = None

    def __or__(self, other: Verdicts) -> Verdicts:
        """Collect: a row is refused for every reason that applies; its code is the worst. Findings are not combined."""
        return Verdicts(self.parts + other.parts)

    def then(self, other: Verdicts) -> Verdicts:
        """Keep the first: the other's reasons apply only to rows not refused already."""
        if not self.parts:  # which has no mask to tell who stands
            return other
        standing = ~self.mask
        later = (Part(p.reason, p.mask & standing, p.unresolvable, p.evidence) for p in other.parts)
        return Verdicts((*self.parts, *later))

    @cached_property
    def mask(self) -> BoolArray:
        """Which rows are refused, bool (n,). Only for verdicts that have parts."""
        first, *rest = self.parts
        if not rest:
            return first.mask
        refused = first.mask.copy()
        for part in rest:
            refused |= part.mask
        return refused

    def codes(self, rows: int) -> CodeColumn:
        """Return the code of each of the n rows, the worst of its reasons, int8 (n,)."""
        severities = np.zeros(rows, np.int8)
        codes = np.zeros(rows, np.int8)
        for part in self.parts:
            if part.unresolvable is None:
                choices = [(part.mask, part.reason.code)]
            else:
                choices = [
                    (part.mask & part.unresolvable, Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
                    (part.mask & ~part.unresolvable, Code.UNSCHEDULABLE),
                ]
            for mask, code in choices:
                worse = mask & (severities < _SEVERITY[code])
                severities[worse] = _SEVERITY[code]
                codes[worse] = code
        return codes

    def at(self, row: int) -> list[Part]:
        """Return the reasons that refuse one row, in order."""
        return [part for part in self.parts if part.mask[row]]

    def status(self, row: int, plugin: str = "") -> Status:
        """Return what is said of one row as a status."""
        parts = self.at(row)
        code = max((part.code(row) for part in parts), key=_SEVERITY.__getitem__, default=Code.SUCCESS)
        return Status(code, tuple(part.text(row) for part in parts), plugin if parts else "")


ACCEPT = Verdicts()
"""The verdict that refuses no row."""


def is_on_demand(value: object) -> TypeGuard[OnDemand]:
    """Return whether a value is `OnDemand`: only its class is looked at, because this is asked of each row."""
    return hasattr(type(value), "at")


def varies(value: object) -> bool:
    """Return whether evidence may be another at each row."""
    return _is_column(value) or is_on_demand(value)


def _is_column(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _value(value: Any, row: int) -> Any:
    if is_on_demand(value):
        value = value.at(row)
    elif _is_column(value):
        value = value[row]
    return value.item() if isinstance(value, np.generic) else value
