"""Plugins hear of cluster events in a run, as an informer would tell them, and a fault of theirs changes nothing."""

from __future__ import annotations

import re

import pytest

from schedctl import framework
from schedctl.engine.reporters import Reporter
from schedctl.errors import ConfigError
from schedctl.framework.reasons import ACCEPT
from schedctl.scheduler import Scheduler
from schedctl.scheduler.configurations import load_configuration
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.runs import run
from schedctl.testing import cluster, node, pod

EVERYTHING = [
    framework.ClusterEvent(resource, framework.Action.ALL)
    for resource in framework.Resource
    if resource is not framework.Resource.EVERY
]


class Listens(framework.FilterPlugin):
    """Writes down what it hears."""

    events = EVERYTHING

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.heard = []
        handle.listen(self.events, self.hear)

    def hear(self, event, before, after):
        self.heard.append((event.label, named(before), named(after)))

    def filter(self, cycle, nodes):
        return ACCEPT


def named(obj):
    if obj is None:
        return None
    return (obj.pod if hasattr(obj, "pod") else obj).metadata.name


class Failing(Listens):
    """Cannot cope with what it hears."""

    def hear(self, event, before, after):
        raise KeyError("team")


class OnlyNodes(Listens):
    """Hears of nodes that come."""

    events = framework.ClusterEvent(framework.Resource.NODE, framework.Action.ADD)


class Refusing(Listens, framework.PermitPlugin):
    """Lets no pod through."""

    def permit(self, cycle, node_name):
        return framework.unschedulable("no")


class RecordingReporter(Reporter):
    def __init__(self):
        self.messages = []

    def plugin_failed(self, plugin, message):
        self.messages.append(message)


def scheduler_with(kind, *objects):
    configuration, registry = load_configuration(b"", [kind])
    reporter = RecordingReporter()
    scheduler = Scheduler(cluster(*objects), configuration, registry, reporter)
    return scheduler, scheduler.profiles["default-scheduler"].plugins[kind.name], reporter


def test_a_plugin_receives_each_pod_and_node_event_once():
    scheduler, plugin, _ = scheduler_with(Listens, node("a"), pod("old", on="a"))
    events = [
        SimulatedEvent(node("b"), at=1.0),
        SimulatedEvent(node("a", labels={"x": "y"}), at=2.0),
        SimulatedEvent(pod("old"), EventAction.DELETE, at=3.0, grace=5.0),
        SimulatedEvent(node("b"), EventAction.DELETE, at=20.0),
    ]
    run(scheduler, [pod("new")], events=events)
    assert plugin.heard == [
        ("UnscheduledPodAdd", None, "new"),
        ("AssignedPodAdd", None, "new"),
        ("NodeAdd", None, "b"),
        ("NodeUpdateNodeLabel", "a", "a"),
        ("AssignedPodUpdate", "old", "old"),
        ("AssignedPodDelete", "old", None),
        ("NodeDelete", "b", None),
    ]


def test_a_plugin_receives_only_the_events_it_registered():
    scheduler, plugin, _ = scheduler_with(OnlyNodes, node("a"))
    run(scheduler, [pod("new")], events=[SimulatedEvent(node("b"), at=1.0)])
    assert plugin.heard == [("NodeAdd", None, "b")]


def test_a_pod_that_is_taken_back_before_its_bind_was_never_there():
    scheduler, plugin, _ = scheduler_with(Refusing, node("a"))
    run(scheduler, [pod("new")])
    assert plugin.heard == [("UnscheduledPodAdd", None, "new")]


def test_a_failing_listener_is_reported_and_changes_nothing():
    scheduler, _, reporter = scheduler_with(Failing, node("a"))
    assert run(scheduler, [pod("new")]).pods["default/new"].state is PodState.BOUND
    expected = r"plugin \"Failing\" failed: KeyError: 'team' \(test_listening\.py:\d+\)"
    assert [bool(re.fullmatch(expected, message)) for message in reporter.messages] == [True, True]


@pytest.mark.parametrize("kind", [Listens])
def test_outside_of_a_run_there_are_no_events(kind):
    scheduler, plugin, _ = scheduler_with(kind, node("a"))
    scheduler.place(scheduler.attempt(pod("new")))
    assert plugin.heard == []


@pytest.mark.parametrize(
    ("events", "callback", "message"),
    [
        ([3], print, "TypeError: listen takes events, not 3"),
        (None, print, "TypeError: 'NoneType' object is not iterable"),
        (EVERYTHING, None, "TypeError: listen calls back a function, not None"),
    ],
)
def test_registering_an_unknown_event_points_at_the_line(events, callback, message):
    class Odd(Listens):
        def __init__(self, args, handle):
            super().__init__(args, handle)
            handle.listen(events, callback)

    with pytest.raises(ConfigError, match=re.escape(message) + r" \(test_listening\.py:\d+\)"):
        Scheduler(cluster(node("a")), *load_configuration("", [Odd]))


def test_activating_no_pod_points_at_the_line():
    class Odd(Listens):
        def filter(self, cycle, nodes):
            self.handle.activate([None])
            return ACCEPT

    outcome = Scheduler(cluster(node("a")), *load_configuration("", [Odd])).attempt(pod())
    assert re.search(r"TypeError: activate takes pods, not None \(test_listening\.py:\d+\)", outcome.error)


def test_system_exit_in_a_listener_is_reported():
    class Quits(Listens):
        def hear(self, event, before, after):
            raise SystemExit(0)

    reporter = RecordingReporter()
    scheduler = Scheduler(cluster(), *load_configuration("", [Quits]), reporter=reporter)
    for handle in scheduler.handles.values():
        handle.tell(framework.ClusterEvent(framework.Resource.NODE, framework.Action.ADD), None, node("a"))
    assert "SystemExit: 0" in reporter.messages[0]
