"""Status codes and statuses: Kubernetes' own, numbered as upstream numbers them, and the line that counts refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple


class Code(IntEnum):
    """What a plugin says. The value is upstream's, so arrays of codes are int8 arrays of these."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def label(self) -> str:
        """The name Kubernetes prints, e.g. ``UnschedulableAndUnresolvable``."""
        return _LABELS[self]


_LABELS = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}
_SUCCESS = Code.SUCCESS  # looking up a member of an enumeration takes longer than comparing with it
REJECTIONS = frozenset((Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING))


class Cause(NamedTuple):
    """What stands behind one reason text.

    Attributes:
        reference: the stable name of the reason.
        evidence: by name, plain values or structs.
    """

    reference: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Status:
    """An answer about the pod as a whole, or about one node.

    Attributes:
        code: what it causes.
        reasons: texts, in the order in which they were given.
        plugin: who said so; "" until the engine fills it in.
        timeout: with Wait, how many seconds the pod may be held back.
        causes: what stands behind the reasons, one for each, or none at all; not compared.
    """

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    timeout: float = 0.0
    causes: tuple[Cause, ...] = field(default=(), compare=False, repr=False)

    @property
    def message(self) -> str:
        """The reasons as upstream joins them."""
        return ", ".join(self.reasons)

    @property
    def is_rejected(self) -> bool:
        """Whether it is a refusal rather than a success or a fault."""
        return self.code in REJECTIONS

    @property
    def successful(self) -> bool:
        """Whether it lets the pod go on."""
        return self.code is _SUCCESS

    def by(self, plugin: str) -> Status:
        """Return the status in the name of a plugin."""
        if self is SUCCESS:
            return _success_by(plugin)
        return Status(self.code, self.reasons, plugin, self.timeout, self.causes)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


@cache
def _success_by(plugin: str) -> Status:
    return Status(Code.SUCCESS, plugin=plugin)


def unschedulable(*reasons: str) -> Status:
    """Return a refusal that preemption might overcome."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Return a refusal that preemption cannot overcome."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """Return a fault, with which the cycle ends."""
    return Status(Code.ERROR, reasons)


def wait(seconds: float) -> Status:
    """Return Permit's answer that the pod is to be held back for at most so many seconds."""
    return Status(Code.WAIT, timeout=seconds)


def none_available(nodes: int, reasons: Mapping[str, int]) -> str:
    """Return kube-scheduler's line for a cluster of so many nodes, from how many of them each reason stands for.

    ``0/3 nodes are available: 1 this, 2 that.``
    """
    # sorted as texts, number included, as upstream sorts them: "10 that" stands before "2 this"
    counted = ", ".join(sorted(f"{number} {text}" for text, number in reasons.items()))
    return f"0/{nodes} nodes are available:" + (f" {counted}." if counted else "")
