"""`BindReport`: what ``schedctl bind`` says, as data.

Within ``schedctl.dev/v1alpha1`` fields are only added; readers ignore those they do not know, and every field is
always there.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from schedctl.reports.explanations import Explanation
from schedctl.reports.metadata import Metadata, Record


class BindOutcome(StrEnum):
    """What became of the bind."""

    PLANNED = "Planned"
    """It can be done; nothing was sent."""
    ACCEPTED = "Accepted"
    """The API server was asked to change nothing, and would have bound the pod (``--dry-run=server``)."""
    BOUND = "Bound"
    """The pod is bound."""
    NOT_SCHEDULED = "NotScheduled"
    """The pod is not scheduled as things are; `decision` says why."""
    REFUSED = "Refused"
    """The pod cannot be bound, or not to the node asked for."""
    INCONCLUSIVE = "Inconclusive"
    """schedctl cannot tell, and binds nothing on a guess."""


class BindSummary(Record, frozen=True, kw_only=True):
    """The answer, and the exit code of the command.

    Attributes:
        exit_code: 0 where the pod is bound or could be.
        outcome: what became of the bind.
        pod: ``namespace/name``.
        node: the node, "" for none.
        text: why not, in words; "" where the decision says all.
    """

    exit_code: int
    outcome: BindOutcome
    pod: str
    node: str = ""
    text: str = ""


class PlannedWrite(Record, frozen=True, kw_only=True):
    """Something that PreBind writes before the pod is bound.

    Attributes:
        kind: of the object.
        name: ``namespace/name`` of the object, or its name; "" for one that is made.
        text: what is done, in words.
    """

    kind: str
    name: str
    text: str


class BindCall(Record, frozen=True, kw_only=True):
    """A call of a plugin, or of an extender that binds, from Reserve on.

    Attributes:
        point: the extension point, ``Unreserve`` included.
        plugin: the plugin, or ``Extender:URL``.
        status: the code of its answer; "" for one that would be called.
        text: what it answered, in words; "" for nothing.
        at: when it answered, in seconds since the binding cycle began; 0 for one that would be called.
    """

    point: str
    plugin: str
    status: str = ""
    text: str = ""
    at: float = 0.0


class PermitWait(Record, frozen=True, kw_only=True):
    """A Permit plugin that holds the pod back.

    Attributes:
        plugin: the plugin.
        timeout: for how many seconds at most.
    """

    plugin: str
    timeout: float


class BindReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl bind``.

    Attributes:
        cluster: which cluster, as ``context prod``; "" for files.
        executing: whether the pod was to be bound, by ``--execute``.
        binding: the Binding, null where there is none.
        calls: the plugins that would be called from Reserve on, in order; once executed, those that were.
        waits: the Permit plugins that hold the pod back. A plan knows only of those that may be asked for it.
        waited: for how many seconds Permit held the pod back.
        writes: what is written before it, in order.
        moved: what moved in the moment between the last look and the bind.
        warnings: what else went wrong.
        decision: why this node, or why none.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["BindReport"] = "BindReport"
    metadata: Metadata
    summary: BindSummary
    cluster: str = ""
    executing: bool = False
    binding: dict[str, Any] | None = None
    calls: list[BindCall] = []
    waits: list[PermitWait] = []
    waited: float = 0.0
    writes: list[PlannedWrite] = []
    moved: list[str] = []
    warnings: list[str] = []
    decision: Explanation


class GangBindSummary(Record, frozen=True, kw_only=True):
    """The answer about several pods, and the exit code of the command.

    Attributes:
        exit_code: 0 where all pods are bound or could be.
        outcome: what became of them together: Bound for all, Refused where one is not.
        pods: how many there are.
        bound: how many are bound.
        text: why not all, in words.
    """

    exit_code: int
    outcome: BindOutcome
    pods: int
    bound: int = 0
    text: str = ""


class GangBindReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl bind`` about several pods, which are bound together or not at all.

    Attributes:
        cluster: which cluster, as ``context prod``; "" for files.
        results: one answer for each pod, in the order in which they are scheduled.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["GangBindReport"] = "GangBindReport"
    metadata: Metadata
    summary: GangBindSummary
    cluster: str = ""
    results: list[BindReport]
