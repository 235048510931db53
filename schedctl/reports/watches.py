"""`WatchLine`: what ``schedctl watch`` says each time there is news, as data; one document a line.

Within ``schedctl.dev/v1alpha1`` fields are only added. The time is that of this machine, when the news was there; next
steps are not looked for, since they try changed clusters and the next change may come before they are found.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.explanations import Explanation
from schedctl.reports.metadata import Record, schema_name


@schema_name("Event")
class WatchEvent(StrEnum):
    """What the news is."""

    ANSWER = "Answer"
    """The answer about the pod, at first and whenever it has changed."""
    BOUND = "Bound"
    """The pod is on a node; it is the last line."""
    DELETED = "Deleted"
    """The pod is gone, or another has its name; it is the last line."""
    ENDED = "Ended"
    """The pod has run to its end; it is the last line."""
    PENDING = "Pending"
    """The pod is still pending when the time is over; it is the last line."""


class WatchLine(Record, frozen=True, kw_only=True):
    """One piece of news about a pod that is watched.

    Attributes:
        time: when it was there, RFC 3339.
        event: what it is.
        pod: ``namespace/name``.
        node: where the pod is, "" for nowhere.
        result: the answer, null where it is none.
        text: the news in words, "" for an answer.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["WatchLine"] = "WatchLine"
    time: str
    event: WatchEvent
    pod: str
    node: str = ""
    result: Explanation | None = None
    text: str = ""
