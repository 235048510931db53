"""`SweepReport`: what ``schedctl sweep`` says in the end, as data; and the rows that it writes on the way."""

from __future__ import annotations

from typing import Literal

from schedctl.reports.draws import Distribution
from schedctl.reports.metadata import Metadata, Record, schema_name


class SweepRow(Record, frozen=True, kw_only=True):
    """One scenario, as a line of the results.

    Attributes:
        scenario: its number, from 0.
        axes: what it has of each axis.
        values: what the question comes to, by name.
        pending: pods that are pending, as ``namespace/name``, 50 of more.
        error: why there is no answer, "" where there is one.
    """

    scenario: int
    axes: dict[str, str | int]
    values: dict[str, float] = {}
    pending: list[str] = []
    error: str = ""


class SweepHead(Record, frozen=True, kw_only=True):
    """The first line of the results: which study they are of.

    Attributes:
        study: its name.
        digest: ``sha256:...`` of the study and of all that it reads.
        scenarios: how many there are.
        axes: how many values each axis has.
        tool_version: the schedctl that ran it.
    """

    study: str
    digest: str
    scenarios: int
    axes: dict[str, int]
    tool_version: str


class SweepCase(Record, frozen=True):
    """A scenario by name.

    Attributes:
        scenario: its number.
        axes: what it has of each axis.
        value: the number that decides which scenario is the worst.
        command: what repeats it.
        pending: pods that are pending in it, a few of many.
    """

    scenario: int
    axes: dict[str, str | int]
    value: float
    command: str
    pending: list[str]


class SweepGroup(Record, frozen=True):
    """All scenarios that have something in common.

    Attributes:
        axis: the axis.
        value: what they have of it.
        scenarios: how many have an answer.
        distribution: of the number that decides which scenario is the worst.
    """

    axis: str
    value: str | int
    scenarios: int
    distribution: Distribution


class CurvePoint(Record, frozen=True):
    """A metric when so much has arrived.

    Attributes:
        at: what has arrived, in percent of the capacity.
        mean, lowest, highest: the metric over the scenarios of the curve.
    """

    at: int
    mean: float
    lowest: float
    highest: float


class SweepCurve(Record, frozen=True):
    """A metric over what has arrived, of all scenarios that have something in common.

    Attributes:
        metric: its name.
        axis: the axis, "" where the curve is about all scenarios.
        value: what they have of it.
        points: in the order of `at`.
    """

    metric: str
    axis: str
    value: str | int
    points: list[CurvePoint]


class PendingShare(Record, frozen=True):
    """A pod that is pending somewhere.

    Attributes:
        pod: it, as ``namespace/name``.
        scenarios: in how many scenarios.
    """

    pod: str
    scenarios: int


@schema_name("Summary")
class SweepSummary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        scenarios: how many there are.
        answered: how many have an answer.
        failed: how many have an error in its place.
        resumed: how many were there from an earlier run.
    """

    exit_code: int
    scenarios: int
    answered: int
    failed: int = 0
    resumed: int = 0


class SweepReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl sweep``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        study: its name.
        question: what is asked in each scenario.
        results: the file with a line for each scenario.
        decisive: the number that decides which scenario is the worst.
        values: how each number is distributed over all scenarios.
        groups: the decisive number by what scenarios have in common, of axes with few values.
        worst: the worst scenarios, the worst first.
        pending: pods that are pending in any scenario, the most frequent first.
        errors: how many scenarios failed for which reason.
        arrived: the resource whose arrived share the curves go by, "" where there are none.
        curves: metrics of a run over what has arrived, by the first axis with few values.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["SweepReport"] = "SweepReport"
    metadata: Metadata
    summary: SweepSummary
    study: str
    question: str
    results: str
    decisive: str
    values: dict[str, Distribution]
    groups: list[SweepGroup]
    worst: list[SweepCase]
    pending: list[PendingShare]
    errors: dict[str, int] = {}
    arrived: str = ""
    curves: list[SweepCurve] = []
