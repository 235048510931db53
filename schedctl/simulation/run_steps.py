"""What happened in a run at each moment of its clock, counted: the timeline as reports have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from schedctl.reports.simulations import RunStep
from schedctl.simulation.timeline import (
    AnyRecord,
    Bound,
    Chosen,
    Evicted,
    Failed,
    Gone,
    Moved,
    Refused,
    TimelineRecord,
    Unanswered,
    Waiting,
)

_COUNTED: dict[type[TimelineRecord], tuple[str, ...]] = {
    Chosen: ("attempts", "chosen"),
    Refused: ("attempts", "refused"),
    Failed: ("attempts", "failed"),
    Unanswered: ("attempts", "failed"),
    Waiting: ("waiting",),
    Bound: ("bound",),
    Evicted: ("evicted",),
    Gone: ("gone",),
}
"""What each kind of record is counted as."""
_NOT_QUEUED = ("", "InFlight")


def steps(timeline: Iterable[AnyRecord]) -> list[RunStep]:
    """Return a step for each moment at which something happened; times in between have none."""
    found: list[RunStep] = []
    queued = 0
    for at, records in groupby(timeline, lambda record: record.at):
        counts: Counter[str] = Counter()
        for record in records:
            counts.update(_COUNTED.get(type(record), ()))
            if isinstance(record, Moved):
                queued += (record.to not in _NOT_QUEUED) - (record.before not in _NOT_QUEUED)
        if counts:
            found.append(RunStep(at=at, queued=queued, **counts))
    return found
