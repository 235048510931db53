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


class BindReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl bind``.

    Attributes:
        cluster: which cluster, as ``context prod``; "" for files.
        binding: the Binding, null where there is none.
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
    binding: dict[str, Any] | None = None
    writes: list[PlannedWrite] = []
    moved: list[str] = []
    warnings: list[str] = []
    decision: Explanation
