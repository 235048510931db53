"""Following a live cluster: it ends in time whatever happens, and what is not heard any more is not known."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.kinds import kind_named
from schedctl.api.pod_groups import PodGroup
from schedctl.cli.notifiers import StandardError
from schedctl.explain.explanations import explain
from schedctl.live.watching import Changed, Deleted, WatchFailure
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.reports.explanations import Explanation
from schedctl.session.sessions import Session
from schedctl.session.states import State, StateSource
from schedctl.session.version_options import VersionOptions
from schedctl.session.watch import PodWatch, WatchWarnings, apply_events, follow_events
from schedctl.session.watch_groups import GroupWatch, headline
from schedctl.sources import Manifests
from schedctl.testing.builders import node, pod
from schedctl.workloads.clusters import assemble
from tests.engine.test_group_queue import group

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
    assert follow_events(session, pod_watch, lambda left: [heartbeat], 0.05) == 1
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


RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))


def member(number, on=""):
    spec = {"schedulingGroup": {"podGroupName": "train"}}
    return pod(f"train-{number}", cpu="3", metadata={"uid": f"u{number}"}, on=on, **spec).pod


@pytest.fixture
def session_of_groups():
    there = [node("a", cpu="4"), group(2), member(0), member(1)]
    session = Session(StateSource(versions=VersionOptions("v1.37.1", "GenericWorkload=true")))
    session.load(State(Manifests([]), assemble(there, release=RELEASE)))
    return session


def follow_group(session, *steps, seconds=60.0):
    """Return the exit code and the news where these events come one step after another, and then nothing more."""
    lines, coming = [], iter(steps)
    (watched,) = session.cluster.every(PodGroup).values()
    subject = GroupWatch(session, watched, lines.append, headline)
    return follow_events(session, subject, lambda left: next(coming, []), seconds), lines


def listed(obj, kind, version="v1"):
    return Changed(
        kind_named(kind), msgspec.json.encode({"apiVersion": version, "kind": kind, **msgspec.to_builtins(obj)})
    )


def test_a_group_is_followed_until_all_its_pods_are_bound(session_of_groups):
    code, lines = follow_group(
        session_of_groups,
        [listed(node("b", cpu="4"), "Node")],
        [listed(member(0, on="a"), "Pod"), listed(member(1, on="b"), "Pod")],
    )
    assert [line.group_result.text for line in lines[:-1]] == [
        "GANG WAITS: 1 of 2 placed, needs 2",
        "GANG WOULD START: 2 of 2 placed, needs 2",
    ]
    assert (code, lines[-1].text) == (0, "podgroup default/train runs: 2 pods bound")


def test_a_group_that_is_deleted_is_followed_no_longer(session_of_groups):
    gone = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", **msgspec.to_builtins(group(2))}
    code, lines = follow_group(session_of_groups, [Deleted(kind_named("PodGroup"), msgspec.json.encode(gone))])
    assert (code, lines[-1].text) == (1, "podgroup default/train was deleted")


def test_a_group_that_waits_is_pending_when_the_time_is_over(session_of_groups):
    code, lines = follow_group(session_of_groups, seconds=0.0)
    assert (code, lines[-1].text) == (1, "podgroup default/train is still pending")
    assert len(lines) == 2


def test_a_pod_of_a_group_is_followed_as_one_of_it(session_of_groups):
    lines = []
    waiting = session_of_groups.cluster.pending["default/train-0"]
    subject = PodWatch(session_of_groups, waiting.pod, lines.append, lambda answer: answer)
    follow_events(session_of_groups, subject, lambda left: [], 0.0)
    assert (lines[0].result.verdict, lines[0].result.pod_group_text) == (
        "Unschedulable",
        "GANG WAITS: 1 of 2 placed, needs 2",
    )
