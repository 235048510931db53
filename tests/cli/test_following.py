"""Following a live cluster: it ends in time whatever happens, and what is not heard any more is not known."""

from __future__ import annotations

import pytest

from schedctl.api.kinds import kind_named
from schedctl.cli.notifiers import StandardError
from schedctl.explain.explanations import explain
from schedctl.live.watching import Deleted, WatchFailure
from schedctl.reports.explanations import Explanation
from schedctl.session.sessions import Session
from schedctl.session.states import State, StateSource
from schedctl.session.watch import PodWatch, WatchWarnings, apply_events
from schedctl.sources import Manifests
from schedctl.testing.builders import node, pod
from schedctl.workloads.clusters import assemble

SERVICE, NODE = kind_named("Service"), kind_named("Node")


@pytest.fixture
def assembled():
    return assemble([node("a"), node("b"), pod("web", labels={"app": "web"}, metadata={"uid": "1"}).pod])


@pytest.fixture
def session(assembled):
    session = Session(StateSource(), notifier=StandardError())
    session.load(State(Manifests([]), assembled))
    return session


def verdict(session) -> Explanation:
    (waiting,) = session.cluster.pending.values()
    return explain(session.scheduler(), waiting.pod, hints=False)


def test_patience_ends_although_something_happens_all_the_time(session):
    (waiting,) = session.cluster.pending.values()
    heartbeat = Deleted(NODE, b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "nobody"}}')
    lines = []
    pod_watch = PodWatch(session, waiting.pod, lines.append, lambda answer: answer)
    assert pod_watch.run(lambda left: [heartbeat], 0.05) == 1
    assert lines[-1].text == "pod default/web is still pending"


def test_a_kind_whose_changes_are_not_seen_makes_what_needs_it_a_guess(session):
    assert verdict(session).verdict == "Scheduled"
    assert apply_events(session.state.assembled, [WatchFailure(SERVICE, "services is forbidden", lasting=True)])
    answer = verdict(session)
    assert answer.verdict == "Inconclusive"
    assert "whose changes are not watched" in answer.guesses[0].text


def test_a_failing_watch_is_warned_of_once_until_it_recovers(capsys):
    troubles = WatchWarnings(StandardError())
    failure, other = WatchFailure(SERVICE, "it fell silent", lasting=False), Deleted(NODE, b"{}")
    for events in ([failure], [other], [failure], [Deleted(SERVICE, b"{}")], [failure]):
        troubles.report(events)
    assert capsys.readouterr().err.count("the watch of the cluster is interrupted") == 2
