"""`CalibrationReport`: how far the decisions of a cluster come out as they were, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.explanations import LineDifference, ScoreDifference
from schedctl.reports.metadata import Metadata, Record, schema_name
from schedctl.reports.reasons import Reason


@schema_name("Outcome")
class DecisionOutcome(StrEnum):
    """How a decision comes out."""

    AGREES = "Agrees"
    """The node that was taken is among the best."""
    LOWER = "Lower"
    """It would do, but another scores more."""
    REFUSED = "Refused"
    """It is refused."""
    INCONCLUSIVE = "Inconclusive"
    """There is no answer."""


@schema_name("Cause")
class DecisionCause(Record, frozen=True):
    """What may be the cause of a difference; a trace, no proof.

    Attributes:
        kind: what it is, e.g. ``Gone``.
        names: of which pods or nodes, all of them.
        text: the same in words.
    """

    kind: str
    names: list[str] = []
    text: str = ""


class Decision(Record, frozen=True):
    """A decision that was made again.

    Attributes:
        pod: ``namespace/name``.
        node: the node that was taken.
        outcome: how it comes out.
        nodes: how many nodes there were.
        feasible: how many would do.
        chosen: the first by name of the best, "" where none would do.
        ties: how many are equally good.
        behind: by how much the node that was taken scores less than the best.
        differences: what that is made of.
        reasons: why it is refused.
        causes: what may be the cause.
        text: how it comes out, in words; "" where it agrees.
    """

    pod: str
    node: str
    outcome: DecisionOutcome
    nodes: int = 0
    feasible: int = 0
    chosen: str = ""
    ties: int = 0
    behind: int = 0
    differences: list[ScoreDifference] = []
    reasons: list[Reason] = []
    causes: list[DecisionCause] = []
    text: str = ""


@schema_name("Refusal")
class RefusalComparison(Record, frozen=True):
    """What a pending pod was told, next to what we tell it.

    Attributes:
        pod: ``namespace/name``.
        agrees: whether it is the same, if need be in other words.
        later: how many pods that were bound since are left out for that.
        theirs: what it was told.
        ours: what we tell it, "" for nothing.
        differences: in what the two differ.
        text: the same in words; "" where they agree on the state as it is.
    """

    pod: str
    agrees: bool
    later: int = 0
    theirs: str = ""
    ours: str = ""
    differences: list[LineDifference] = []
    text: str = ""


class PluginAgreement(Record, frozen=True):
    """How far one plugin agrees.

    Attributes:
        plugin: its name.
        asked: for how many decisions its filter was asked.
        accepts: how often it accepts the node that was taken.
        tells: in how many decisions its scores tell the feasible nodes apart.
        outvotes: how often it is among those for which another node would be taken.
        reasons: how many reasons the messages of its pending pods give, recorded or simulated.
        same: how many of those stand for as many nodes in our line.
    """

    plugin: str
    asked: int = 0
    accepts: int = 0
    tells: int = 0
    outvotes: int = 0
    reasons: int = 0
    same: int = 0


class NotReplayed(Record, frozen=True):
    """Pods on nodes that show no decision of a scheduler we have a profile of.

    Attributes:
        kind: why: ``ForeignScheduler``, ``Static``, ``NeverScheduled`` or ``NodeGone``.
        pods: which, as ``namespace/name``.
        text: why, in words.
    """

    kind: str
    pods: list[str]
    text: str


@schema_name("Summary")
class CalibrationSummary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        decisions: how many decisions were made again.
        agrees: how many agree.
        alone: in how many of those the node is the only best of several that would do.
        tied: in how many it is one of several equally good.
        only: in how many it is the only one that would do.
        lower: how many have the node scored lower than another.
        refused: how many have it refused.
        inconclusive: how many have no answer, which the rate leaves out.
        unexplained: how many that do not agree bear no trace of why.
        generic: how many bear none but such as almost any decision does.
        agreement: how many of a hundred agree, rounded down, null without an answer.
        refusals: how many pending pods have a recorded message.
        refusals_agree: how many of them are told the same.
        passed_over: how many older decisions were not made again.
    """

    exit_code: int
    decisions: int = 0
    agrees: int = 0
    alone: int = 0
    tied: int = 0
    only: int = 0
    lower: int = 0
    refused: int = 0
    inconclusive: int = 0
    unexplained: int = 0
    generic: int = 0
    agreement: float | None = None
    refusals: int = 0
    refusals_agree: int = 0
    passed_over: int = 0


class CalibrationReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl calibrate``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        plugins: how far each plugin agrees, in the order of the default profile; those that had no say are left out.
        decisions: the decisions made again, the newest first.
        refusals: the recorded messages of pending pods.
        not_replayed: pods that show no decision.
        notes: what a reader must know to read the answer right.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["CalibrationReport"] = "CalibrationReport"
    metadata: Metadata
    summary: CalibrationSummary
    plugins: list[PluginAgreement]
    decisions: list[Decision]
    refusals: list[RefusalComparison]
    not_replayed: list[NotReplayed]
    notes: list[str]
