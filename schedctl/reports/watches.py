"""`WatchLine`: what ``schedctl watch`` says each time there is news, as data; one document a line.

Within ``schedctl.dev/v1alpha1`` fields are only added. The time is that of this machine, when the news was there; next
steps are not looked for, since they try changed clusters and the next change may come before they are found.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.explanations import Explanation
from schedctl.reports.metadata import Record, schema_name
from schedctl.reports.pod_groups import PodGroupResult


@schema_name("Event")
class WatchEvent(StrEnum):
    """What the news is."""

    ANSWER = "Answer"
    """The answer, at first and whenever it has changed."""
    BOUND = "Bound"
    """The pod is on a node, or all pods of the group are; it is the last line."""
    DELETED = "Deleted"
    """It is gone, or another has its name; it is the last line."""
    ENDED = "Ended"
    """The pod has run to its end; it is the last line."""
    PENDING = "Pending"
    """It is still pending when the time is over; it is the last line."""


class WatchLine(Record, frozen=True, kw_only=True):
    """One piece of news about a pod or a pod group that is watched.

    Attributes:
        time: when it was there, RFC 3339.
        event: what it is.
        pod: the pod as ``namespace/name``, "" where a group is watched.
        group: the group as ``namespace/name``, "" where a pod is watched.
        node: where the pod is, "" for nowhere.
        result: the answer about the pod, null where it is none.
        group_result: the answer about the group, null where it is none.
        text: the news in words, "" for an answer.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["WatchLine"] = "WatchLine"
    time: str
    event: WatchEvent
    pod: str = ""
    group: str = ""
    node: str = ""
    result: Explanation | None = None
    group_result: PodGroupResult | None = None
    text: str = ""
