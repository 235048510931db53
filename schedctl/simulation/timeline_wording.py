"""The records of a timeline in words, without their time and their pod."""

from __future__ import annotations

from schedctl.reports import counts
from schedctl.simulation import timeline
from schedctl.simulation.timeline import AnyRecord


def pod_of(record: AnyRecord) -> str:
    """Return whom a record is about, "" for nobody."""
    return getattr(record, "pod", "")


def describe(record: AnyRecord) -> str:
    """Return what a record says."""
    match record:
        case timeline.Moved():
            return _move(record)
        case timeline.Chosen():
            tied = f", {record.ties} tied" if record.ties > 1 else ""
            feasible = counts.nodes(record.feasible, "feasible ")
            return f"attempt {record.attempt}: {record.node} chosen ({feasible}{tied})"
        case timeline.Refused():
            nominated = f"; nominated to {record.nominated}" if record.nominated else ""
            return f"attempt {record.attempt}: {record.message}{nominated}"
        case timeline.Failed():
            return f"attempt {record.attempt} failed: {record.message}"
        case timeline.Unanswered():
            return f"inconclusive: {record.message}"
        case timeline.Waiting():
            until = ", ".join(f"{plugin} until {seconds:g} s" for plugin, seconds in sorted(record.until.items()))
            return f"waits for Permit on {record.node}: {until}"
        case timeline.Called():
            message = f" ({record.message})" if record.message else ""
            return f"{record.point} {record.plugin}: {record.status}{message}"
        case timeline.Bound():
            return f"bound to {record.node}"
        case timeline.Released():
            return f"released from {record.node}: {record.message}"
        case timeline.Nominated():
            return f"nominated to {record.node}" if record.node else "nomination withdrawn"
        case timeline.Evicted():
            reason = f" to make room for {record.by}" if record.by else ""
            return f"evicted from {record.node}{reason}, gone at {record.until:g} s"
        case timeline.Gone():
            return f"gone from {record.node}" if record.node else "gone"
        case timeline.Happened():
            return f"{record.event} {record.subject}"
        case timeline.Ended():
            return f"ended: {record.reason}"


def _move(record: timeline.Moved) -> str:
    by = f" by {record.event}" if record.event else ""
    if not record.to:
        return f"left the queue{by}"
    until = f" until {record.until:g} s" if record.until else ""
    why = f": {record.message}" if record.message else ""
    return f"to {record.to}{until}{by}{why}"
