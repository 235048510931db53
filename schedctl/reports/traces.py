"""`TraceReport` and `TraceDiff`: what ``schedctl trace`` says of the files that ``--trace`` writes, as data."""

from __future__ import annotations

from typing import Literal

from schedctl.reports.metadata import Head, Record


class TraceStep(Record, frozen=True, kw_only=True):
    """A step of a trace.

    Attributes:
        line: its line in the file, from 1.
        at: seconds since the run began.
        pod: the pod it is about, ``namespace/name``; "" where it is about none.
        step: what kind of step: ``Moved``, ``Chosen``, ``Refused``, ``Bound``, ...
        text: the same in words.
    """

    line: int
    at: float
    pod: str
    step: str
    text: str


class TracedPod(Record, frozen=True, kw_only=True):
    """A pod of a trace, as it ends.

    Attributes:
        pod: ``namespace/name``.
        attempts: how often it was tried.
        node: where it is bound at the end, "" for nowhere.
        text: its last step in words.
    """

    pod: str
    attempts: int
    node: str
    text: str


class TraceReport(Record, frozen=True, kw_only=True):
    """``schedctl trace show``: the life of a pod, or all pods of a trace.

    Attributes:
        file: the trace.
        pod: the pod whose life it is, "" for all.
        steps: its steps in order; empty where all pods are listed.
        pods: the pods, in the order in which they come up.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["TraceReport"] = "TraceReport"
    metadata: Head = Head()
    file: str
    pod: str = ""
    steps: list[TraceStep] = []
    pods: list[TracedPod] = []


class PlacementDifference(Record, frozen=True, kw_only=True):
    """A pod that is bound elsewhere at the end.

    Attributes:
        pod: ``namespace/name``.
        before: its node in the first trace, "" for none.
        after: its node in the second.
    """

    pod: str
    before: str
    after: str


class TraceDiffSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers, and the exit code of the command.

    Attributes:
        exit_code: 1 where they differ and that was asked for.
        equal: whether all steps are equal.
        placements: how many pods are bound elsewhere.
    """

    exit_code: int
    equal: bool
    placements: int


class TraceDiff(Record, frozen=True, kw_only=True):
    """``schedctl trace diff``: where two traces part, and what comes of it.

    Attributes:
        before, after: the files.
        line: the first line that differs, 0 where none does.
        first, second: the step that stands there, null at the end of a trace.
        placements: the pods that are bound elsewhere at the end.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["TraceDiff"] = "TraceDiff"
    metadata: Head = Head()
    summary: TraceDiffSummary
    before: str
    after: str
    line: int = 0
    first: TraceStep | None = None
    second: TraceStep | None = None
    placements: list[PlacementDifference] = []
