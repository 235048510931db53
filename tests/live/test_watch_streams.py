"""A watch whatever the server does: it goes on where it was, begins anew where it must, and says what it cannot."""

import json
import threading

import pytest

from schedctl.api.kinds import kind_named
from schedctl.errors import ClusterError
from schedctl.live import watching
from schedctl.live.connections import Answer
from schedctl.live.faults import Refused, Unanswered
from schedctl.live.listing import KindPage, Listing

POD, SERVICE = kind_named("Pod"), kind_named("Service")


def line(event, name="web", version="5"):
    return json.dumps({"type": event, "object": {"metadata": {"name": name, "resourceVersion": version}}}).encode()


GONE = json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}).encode()


def refuse(code):
    return Refused(code, "", "no", f"the server said {code}", "")


class Server:
    """A connection on which each watch is answered by the next of some answers, the last of which never ends."""

    name = "test"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.closed = threading.Event()

    def stream(self, path, query):
        self.requests.append((path, query["resourceVersion"]))
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return self.lines(answer)

    def lines(self, answer):
        if answer is None:
            self.closed.wait()
            return
        yield from answer

    def get(self, path, query=None):
        if path == "/version":
            return Answer(b'{"gitVersion": "v1.37.1"}', {})
        return Answer(b'{"apiVersion": "v1", "metadata": {"resourceVersion": "90"}, "items": []}', {})


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.0)
    monkeypatch.setattr(watching, "QUIET", 0.01)


@pytest.fixture
def watch():
    """Watch one kind on a server, and return the events until none comes for a moment."""

    def read_events_of(server, kind=POD):
        page = KindPage(kind, json.dumps({"apiVersion": kind.api_version}).encode())
        listed = Listing((page,), (), {kind.name: "1"}, "", "")
        events = []
        try:
            with watching.Watch(server, listed) as watched:
                while fresh := watched.events(0.2 if events else 5):
                    events += fresh
        finally:
            server.closed.set()
        return events

    return read_events_of


def test_watch_events_arrive_in_order(watch):
    events = watch(Server([line("ADDED"), line("MODIFIED"), line("DELETED")]))
    assert [type(each) for each in events] == [watching.Changed, watching.Changed, watching.Deleted]
    assert json.loads(events[0].body)["metadata"]["name"] == "web"


def test_watch_resumes_from_the_last_resource_version_or_bookmark(watch):
    server = Server([line("ADDED", version="7")], [line("BOOKMARK", version="40")], [])
    assert len(watch(server)) == 1
    assert [version for _, version in server.requests[:4]] == ["1", "7", "40", "40"]
    assert {path for path, _ in server.requests} == {"/api/v1/pods"}


@pytest.mark.parametrize("gone", [[GONE], refuse(410)], ids=["in the stream", "before it begins"])
def test_expired_resource_version_relists(watch, gone):
    server = Server(gone)
    (event,) = watch(server)
    assert isinstance(event, watching.Relisted)
    assert [version for _, version in server.requests] == ["1", "90"]


def test_truncated_line_is_no_event(watch):
    server = Server([line("ADDED", version="7"), line("ADDED", version="8")[:30]])
    assert len(watch(server)) == 1
    assert server.requests[1][1] == "7"


@pytest.mark.parametrize("fault", [Unanswered("nobody there", "", sent=False), refuse(503)], ids=["silence", "503"])
def test_transient_watch_error_is_reported_and_retried(watch, fault):
    server = Server(fault, [line("ADDED")])
    failure, event = watch(server)
    assert (failure, type(event)) == (watching.WatchFailure(POD, str(fault), lasting=False), watching.Changed)


def test_unwatchable_kind_is_reported_once(watch):
    server = Server(refuse(403))
    assert watch(server, SERVICE) == [watching.WatchFailure(SERVICE, "the server said 403", lasting=True)]
    assert len(server.requests) == 1


def test_unwatchable_pods_are_an_error(watch):
    with pytest.raises(ClusterError, match="the server said 403"):
        watch(Server(refuse(403)))


def test_malformed_line_within_a_watch_is_an_error(watch):
    first, *_ = watch(Server([b'{"type": ', line("ADDED")]))
    assert isinstance(first, watching.WatchFailure)
    assert not first.lasting
    assert "cannot read an event" in first.text


@pytest.mark.parametrize("code", [401, 429])
def test_transient_errors_do_not_end_the_watch(watch, code):
    failure, event = watch(Server(refuse(code), [line("ADDED")]))
    assert not failure.lasting
    assert isinstance(event, watching.Changed)


def test_unexpected_exception_is_reported(watch):
    (failure,) = watch(Server(ZeroDivisionError("of nobody")), SERVICE)
    assert failure.lasting
    assert "ZeroDivisionError" in failure.text


def test_brackets_nested_without_end_are_a_malformed_line(watch):
    first, *_ = watch(Server([b'{"type": "ADDED", "object": ' + b"[" * 100_000, line("ADDED")]))
    assert not first.lasting
    assert "cannot read an event" in first.text


def test_an_error_of_a_watch_is_one_line_of_reasonable_length(watch):
    said = json.dumps({"type": "ERROR", "object": {"code": 500, "message": "no\n" + "x" * 1_000_000}}).encode()
    first, *_ = watch(Server([said]))
    assert first.text.startswith("the watch of /api/v1/pods: no xxx")
    assert len(first.text) < 600
