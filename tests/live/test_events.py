"""Events that nobody can make sense of are left out and counted, and the others are told."""

from __future__ import annotations

from schedctl.live import events
from schedctl.live.connections import Connection
from schedctl.live.kubeconfigs import Access
from tests.live.servers import Cluster

EVENTS = "/api/v1/events"


def event(name: str, **fields: object) -> dict[str, object]:
    about = {"kind": "Pod", "namespace": "shop", "name": "web", "uid": "u"}
    return {"metadata": {"name": name}, "involvedObject": about, "reason": "FailedScheduling", **fields}


def test_unreadable_events_are_counted(serve, kubeconfig):
    found = [
        event("b", firstTimestamp="2026-11-01T00:00:02Z"),
        event("odd", count="often"),
        event("a", firstTimestamp="2026-11-01T00:00:01Z"),
    ]
    server = serve(Cluster({EVENTS: found}))
    read_events = events.read_events(Connection.open(Access(kubeconfig=kubeconfig(server.url))), "FailedScheduling")
    assert [each.metadata.name for each in read_events.events] == ["a", "b"]
    assert read_events.note == "1 of the events cannot be read and are ignored"
    assert read_events._replace(unreadable=0).note == ""
