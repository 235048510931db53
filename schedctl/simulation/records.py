"""The timeline: one typed record for each move between queues, each decision, and each thing that happened.

Records are facts in the order in which they came about; equal runs have equal records, byte for byte, once they are
written (``timelines``). Times are seconds on the clock of the run, pods are ``namespace/name``.
"""

from __future__ import annotations

import msgspec


class Record(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="kind", gc=False):
    """One line of the timeline.

    Attributes:
        at: seconds since the run began.
    """

    at: float


class Moved(Record, frozen=True, tag=True, gc=False):
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


class Chosen(Record, frozen=True, tag=True, gc=False):
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


class Refused(Record, frozen=True, tag=True, gc=False):
    """No node will do, or Reserve or Permit refused the one that would.

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


class Failed(Record, frozen=True, tag=True, gc=False):
    """An attempt or a bind ended in a fault; the pod is tried again after a backoff."""

    pod: str
    attempt: int
    message: str
    plugin: str = ""


class Unanswered(Record, frozen=True, tag=True, gc=False):
    """What the pod needs is not modelled; it leaves the run."""

    pod: str
    message: str


class Waiting(Record, frozen=True, tag=True, gc=False):
    """Permit plugins hold a pod back that has its node.

    Attributes:
        pod: which.
        node: the node it is assumed on.
        until: by plugin, when its patience ends.
    """

    pod: str
    node: str
    until: dict[str, float]


class Bound(Record, frozen=True, tag=True, gc=False):
    """A pod is bound to its node."""

    pod: str
    node: str


class Released(Record, frozen=True, tag=True, gc=False):
    """A pod that was assumed on a node is forgotten again, and what it had reserved is free."""

    pod: str
    node: str
    message: str
    plugin: str = ""


class Nominated(Record, frozen=True, tag=True, gc=False):
    """A node was promised to a pod, or with "" a promise was taken back."""

    pod: str
    node: str = ""


class Evicted(Record, frozen=True, tag=True, gc=False):
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


class Gone(Record, frozen=True, tag=True, gc=False):
    """A pod has left the cluster; `node` is where it ran, "" if it never did."""

    pod: str
    node: str = ""


class Happened(Record, frozen=True, tag=True, gc=False):
    """Something happened to the cluster that the queue was told of.

    Attributes:
        event: its name.
        subject: the object, by name or ``namespace/name``.
    """

    event: str
    subject: str


class Ended(Record, frozen=True, tag=True, gc=False):
    """The run is over; `reason` is a value of `schedctl.simulation.outcomes.End`."""

    reason: str


AnyRecord = (
    Moved
    | Chosen
    | Refused
    | Failed
    | Unanswered
    | Waiting
    | Bound
    | Released
    | Nominated
    | Evicted
    | Gone
    | Happened
    | Ended
)
