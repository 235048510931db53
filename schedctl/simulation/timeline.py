"""The timeline: one typed record for each move between queues, each decision, and each thing that happened.

Records are facts in the order in which they came about; equal runs have equal records, byte for byte, once they are
written (`lines`). Times are seconds on the clock of the run, pods are ``namespace/name``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import msgspec


class TimelineRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="kind", gc=False):
    """One line of the timeline.

    Attributes:
        at: seconds since the run began.
    """

    at: float


class Moved(TimelineRecord, frozen=True, tag=True, gc=False):
    """A pod came to another part of the queue.

    Attributes:
        pod: which.
        to: Active, Backoff, Unschedulable, Gated, InFlight (taken out to be scheduled) or "" for out of the queue.
        before: where it was, "" for nowhere.
        event: what moved it, as kube-scheduler calls it: ``UnscheduledPodAdd``, ``AssignedPodDelete``, ...
        until: for Backoff, when its backoff ends.
        plugin: for Gated, which plugin keeps it out.
        message: for Gated, why.
    """

    pod: str
    to: str
    before: str = ""
    event: str = ""
    until: float = 0.0
    plugin: str = ""
    message: str = ""


class Chosen(TimelineRecord, frozen=True, tag=True, gc=False):
    """An attempt found a node.

    Attributes:
        pod: for which.
        attempt: the how manieth attempt it is, from 1.
        node: the node taken.
        ties: how many nodes were equally good, this one included.
        feasible: how many nodes would have done.
    """

    pod: str
    attempt: int
    node: str
    ties: int
    feasible: int


class Refused(TimelineRecord, frozen=True, tag=True, gc=False):
    """No node is feasible, or Reserve or Permit refused the one that is chosen.

    Attributes:
        pod: for which.
        attempt: the how manieth attempt it is.
        message: kube-scheduler's line.
        plugins: who refused.
        nominated: the node promised to the pod once its victims are gone, "" for none.
    """

    pod: str
    attempt: int
    message: str
    plugins: tuple[str, ...] = ()
    nominated: str = ""


class Failed(TimelineRecord, frozen=True, tag=True, gc=False):
    """An attempt or a bind ended in a fault; the pod is tried again after a backoff."""

    pod: str
    attempt: int
    message: str
    plugin: str = ""


class Unanswered(TimelineRecord, frozen=True, tag=True, gc=False):
    """What the pod needs is not modelled; it leaves the run."""

    pod: str
    message: str


class Waiting(TimelineRecord, frozen=True, tag=True, gc=False):
    """Permit plugins hold a pod back that has its node.

    Attributes:
        pod: which.
        node: the node it is assumed on.
        until: by plugin, when its patience ends.
    """

    pod: str
    node: str
    until: dict[str, float]


class Called(TimelineRecord, frozen=True, tag=True, gc=False):
    """A plugin, or an extender that binds, was called in a binding cycle that was executed.

    Attributes:
        pod: for which.
        point: the extension point, ``Unreserve`` included.
        plugin: who was called.
        status: the code of the answer, as kube-scheduler calls it.
        message: what it answered, in words.
    """

    pod: str
    point: str
    plugin: str
    status: str
    message: str = ""


class Bound(TimelineRecord, frozen=True, tag=True, gc=False):
    """A pod is bound to its node."""

    pod: str
    node: str


class Released(TimelineRecord, frozen=True, tag=True, gc=False):
    """A pod that was assumed on a node is forgotten again, and what it had reserved is free."""

    pod: str
    node: str
    message: str
    plugin: str = ""


class Nominated(TimelineRecord, frozen=True, tag=True, gc=False):
    """A node was promised to a pod, or with "" a promise was taken back."""

    pod: str
    node: str = ""


class Evicted(TimelineRecord, frozen=True, tag=True, gc=False):
    """A running pod has been told to go.

    Attributes:
        pod: which.
        node: where it runs.
        by: the pod it makes room for, "" for none.
        until: when it will be gone.
    """

    pod: str
    node: str
    by: str = ""
    until: float = 0.0


class Gone(TimelineRecord, frozen=True, tag=True, gc=False):
    """A pod has left the cluster; `node` is where it ran, "" if it never did."""

    pod: str
    node: str = ""


class Happened(TimelineRecord, frozen=True, tag=True, gc=False):
    """Something happened to the cluster that the queue was told of.

    Attributes:
        event: its name.
        subject: the object, by name or ``namespace/name``.
    """

    event: str
    subject: str


class Ended(TimelineRecord, frozen=True, tag=True, gc=False):
    """The run is over; `reason` is that of `schedctl.simulation.outcomes.RunEnd`, in words."""

    reason: str


AnyRecord = (
    Moved
    | Chosen
    | Refused
    | Failed
    | Unanswered
    | Waiting
    | Called
    | Bound
    | Released
    | Nominated
    | Evicted
    | Gone
    | Happened
    | Ended
)


# -- as lines of JSON --------------------------------------------------------------------------------------------

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)


class TimelineDifference(NamedTuple):
    """Where two timelines part.

    Attributes:
        line: the first line that differs, from 1.
        before: what one has there, None if it has ended.
        after: what the other has there, None if it has ended.
    """

    line: int
    before: AnyRecord | None
    after: AnyRecord | None


def lines(records: Iterable[AnyRecord]) -> Iterator[bytes]:
    """Yield each record as a line of JSON, without the end of line."""
    return map(_ENCODER.encode, records)


def read(written: Iterable[bytes | str]) -> Iterator[AnyRecord]:
    """Yield the record of each line; empty lines are passed over.

    Raises:
        msgspec.ValidationError: a line is no record.
        msgspec.DecodeError: a line is no JSON.
    """
    return (_DECODER.decode(line) for line in written if line.strip())


def difference(before: Iterable[AnyRecord], after: Iterable[AnyRecord]) -> TimelineDifference | None:
    """Return where two timelines part, None where they are equal."""
    for line, (one, other) in enumerate(zip_longest(before, after), 1):
        if one != other:
            return TimelineDifference(line, one, other)
    return None


def placements(records: Iterable[AnyRecord]) -> dict[str, str]:
    """Return the node each bound pod was bound to last, for `schedctl.simulation.tie_breaking.replay_nodes`."""
    return {record.pod: record.node for record in records if isinstance(record, Bound)}
