"""Events: what a component has recorded about an object. Nothing is decided by them; they tell what was decided.

They are no kind that scheduling reads, and are asked for one question at a time.
"""

from __future__ import annotations

from schedctl.api.meta import ObjectMeta, ObjectReference, Struct, Time

FAILED = "FailedScheduling"
SCHEDULED = "Scheduled"
PREEMPTED = "Preempted"
"""The reasons of the events that kube-scheduler records about a pod; a victim's preemptor is the related object."""


class EventSeries(Struct, frozen=True):
    """How often an event has happened, and when it was seen last."""

    count: int = 0
    last_observed_time: Time | None = None


class EventSource(Struct, frozen=True):
    """Who recorded an event, as recorders wrote it before ``reportingComponent``."""

    component: str = ""


class Event(Struct, frozen=True):
    """``v1.Event``; recorders of today fill in ``eventTime``, older ones the two timestamps and the count.

    An event that happens again is counted rather than written again, and keeps the words of the first time.
    """

    metadata: ObjectMeta = ObjectMeta()
    involved_object: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    reporting_component: str = ""
    event_time: Time | None = None
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    count: int = 0
    series: EventSeries | None = None

    @property
    def reporter(self) -> str:
        """Who recorded it, "" where nobody says."""
        return self.reporting_component or self.source.component

    @property
    def first(self) -> str:
        """When it happened first, which is when its message was worded; "" where nobody says."""
        return self.event_time or self.first_timestamp or self.metadata.creation_timestamp or ""

    @property
    def last(self) -> str:
        """When it was seen last, "" where nobody says."""
        observed = self.series.last_observed_time if self.series else None
        return observed or self.last_timestamp or self.first

    @property
    def times(self) -> int:
        """How often it has happened."""
        return max(self.series.count if self.series else 0, self.count, 1)
