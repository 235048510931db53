"""The scheduling queue: who is tried next, who backs off, who waits, and what brings them back."""

from __future__ import annotations

import re

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from schedctl.engine.clocks import Clock
from schedctl.engine.queue.entries import Place
from schedctl.engine.queue.hints import Hints
from schedctl.engine.queue.queues import Backoff, SchedulingQueue
from schedctl.engine.reporters import Reporter
from schedctl.framework.events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    Action,
    ClusterEvent,
    Hint,
    Registration,
    Resource,
    registers,
)
from schedctl.framework.points import FilterPlugin, PreEnqueuePlugin
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import SUCCESS, unresolvable
from schedctl.plugins.priority_sort import PrioritySort
from schedctl.releases import NEWEST, RELEASES
from schedctl.testing.builders import node, pod

WAITING = NEWEST.with_gates({"SchedulerPopFromBackoffQ": False})
"""Where a pod is not tried before its backoff is over."""


class Room(FilterPlugin):
    """Hopes for any deleted pod, and for nodes that are large."""

    def filter(self, cycle, nodes):
        return ACCEPT

    def signature(self, pod):
        return ()

    def events_to_register(self):
        return (
            registers(Resource.ASSIGNED_POD, Action.DELETE),
            registers(Resource.NODE, Action.ADD, self.after_node),
        )

    def after_node(self, pod, before, after):
        self.args.append(pod.key)
        return Hint.QUEUE if after.metadata.name == "large" else Hint.SKIP


class Partner(FilterPlugin):
    """Waits for a partner, which any deleted pod may be."""

    def filter(self, cycle, nodes):
        return ACCEPT

    def events_to_register(self):
        return (registers(Resource.ASSIGNED_POD, Action.DELETE),)


class Broken(Partner):
    """Has a hint that fails."""

    def events_to_register(self):
        return (registers(Resource.NODE, Action.ADD, lambda pod, before, after: 1 / 0),)


class Door(PreEnqueuePlugin):
    """Keeps the pods out that are in `args`, and hopes for deleted pods."""

    def pre_enqueue(self, pod):
        return unresolvable("closed") if pod.pod.metadata.name in self.args else SUCCESS

    def events_to_register(self):
        return (registers(Resource.ASSIGNED_POD, Action.DELETE, lambda pod, before, after: Hint.SKIP),)


class Queue(SchedulingQueue):
    """A queue of one profile with the plugins above, which writes its moves down."""

    def __init__(self, backoff=None, reporter=None, release=NEWEST, partner=Partner):
        self.hint_calls, self.closed, self.moves = [], set(), []
        made = (Door(self.closed, None), Room(self.hint_calls, None), partner(None, None), Broken(None, None))
        profile = Profile(
            "default-scheduler",
            {plugin.name: plugin for plugin in made},
            pre_enqueue=made[:1],
            queue_sort=(PrioritySort(None, None),),
        )
        super().__init__(Hints([profile], reporter or Reporter(), release), Clock(), backoff, self.write_down)

    def write_down(self, queued, before, event):
        self.moves.append((queued.info.pod.metadata.name, queued.place and queued.place.value, event))

    def refuse(self, name, *plugins, pending=()):
        """Pop the pod, which has to be the next, and put it back refused."""
        queued = self.pop()
        assert queued.info.pod.metadata.name == name
        self.requeue(queued, frozenset((*plugins, *pending)), frozenset(pending))
        return queued

    def place(self, name):
        queued = self.get(f"default/{name}")
        return queued and queued.place

    def after(self, seconds):
        self.clock.advance(self.clock.now + seconds)
        self.flush()


def names(queue):
    popped = []
    while (queued := queue.pop()) is not None:
        popped.append(queued.info.pod.metadata.name)
        queue.done(queued)
    return popped


def test_pods_are_ordered_by_priority_then_arrival():
    queue = Queue()
    for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5)):
        queue.add(pod(name, priority=priority))
    assert names(queue) == ["b", "d", "a", "c"]
    assert len(queue) == 0


def test_a_pod_cannot_be_added_twice():
    queue = Queue()
    queue.add(pod("a"))
    with pytest.raises(ValueError, match="default/a is in the queue already"):
        queue.add(pod("a"))


def test_unschedulable_pod_waits_for_an_event_of_its_rejector():
    queue = Queue(Backoff(maximum=0))
    queue.add(pod("a"))
    queue.refuse("a", "Room")
    assert queue.place("a") is Place.UNSCHEDULABLE
    queue.tell(NODE_ADD, None, node("small"))
    assert queue.place("a") is Place.UNSCHEDULABLE
    queue.tell(NODE_ADD, None, node("large"))
    assert queue.place("a") is Place.ACTIVE
    assert queue.moves[-1] == ("a", "Active", "NodeAdd")


def test_hints_of_plugins_that_did_not_reject_are_not_called():
    queue = Queue()
    queue.add(pod("a"))
    queue.refuse("a", "Partner")
    queue.tell(NODE_ADD, None, node("large"))
    assert queue.place("a") is Place.UNSCHEDULABLE
    assert queue.hint_calls == []


def test_hint_is_called_once_for_equal_pods():
    queue = Queue()
    for name in "abc":
        queue.add(pod(name))
        queue.refuse(name, "Room")
    queue.tell(NODE_ADD, None, node("large"))
    assert len(queue.hint_calls) == 1
    assert queue.count(Place.UNSCHEDULABLE) == 0


def test_a_hint_that_fails_counts_as_queue_and_is_reported():
    failed = []

    class Hears(Reporter):
        def plugin_failed(self, plugin, message):
            failed.append((plugin, message))

    queue = Queue(Backoff(maximum=0), Hears())
    queue.add(pod("a"))
    queue.refuse("a", "Broken")
    queue.tell(NODE_ADD, None, node("small"))
    assert queue.place("a") is Place.ACTIVE
    ((plugin, text),) = failed
    assert plugin == "Broken"
    assert re.fullmatch(r'plugin "Broken" failed: ZeroDivisionError: division by zero \(test_queues\.py:\d+\)', text)


@pytest.mark.parametrize(
    ("count", "seconds"),
    [pytest.param(n, s, id=f"attempt {n}: {s} s") for n, s in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (60, 10))],
)
def test_backoff_doubles_up_to_ten_seconds(count, seconds):
    assert Backoff().duration(count) == seconds


def test_a_backoff_that_begins_beyond_the_maximum_is_the_maximum():
    assert Backoff(initial=20, maximum=10).duration(1) == 10


def test_backing_off_pod_is_popped_when_no_pod_is_active():
    queue = Queue()
    queue.add(pod("a"))
    queue.refuse("a", "Room")
    queue.add(pod("b"))
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert queue.place("a") is Place.BACKOFF
    assert names(queue) == ["b", "a"]
    assert ("a", "InFlight", "PopFromBackoffQ") in queue.moves


def test_pods_whose_backoffs_end_in_the_same_second_are_ordered_by_priority():
    queue = Queue()
    for name, priority in (("a", 0), ("b", 9)):
        queue.add(pod(name, priority=priority))
        queue.refuse(name, "Room")
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert names(queue) == ["b", "a"]


def test_without_pop_from_backoff_q_a_pod_backs_off_to_the_end():
    queue = Queue(release=WAITING)
    queue.clock.advance(0.5)
    for name, priority in (("a", 0), ("b", 9)):
        queue.add(pod(name, priority=priority))
        queue.refuse(name, "Room")
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert (queue.pop(), queue.next_expiry) == (None, 2.0)  # the first look after 1.5 s
    queue.after(1.25)
    assert queue.place("a") is Place.BACKOFF
    queue.after(0.25)
    assert names(queue) == ["b", "a"]


def test_without_pop_from_backoff_q_an_event_after_the_very_end_of_a_backoff_makes_a_pod_active():
    queue = Queue(release=WAITING)
    queue.add(pod("a"))
    queue.refuse("a", "Room")
    queue.after(1.25)
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert queue.place("a") is Place.ACTIVE


def test_without_pop_from_backoff_q_a_gate_is_asked_when_the_backoff_ends():
    queue = Queue(release=WAITING)
    queue.add(pod("a"))
    queue.refuse("a", "Room")
    queue.closed.add("a")
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert queue.place("a") is Place.BACKOFF
    queue.after(2)
    assert queue.place("a") is Place.GATED


def test_pod_is_not_popped_before_its_backoff_after_an_error():
    queue = Queue()
    queue.add(pod("a"))
    queue.refuse("a")
    assert queue.place("a") is Place.BACKOFF
    assert queue.pop() is None
    assert queue.next_expiry == 2.0  # one second, and whole seconds are over when the next begins
    queue.after(1)
    assert queue.place("a") is Place.BACKOFF
    queue.after(1)
    assert queue.moves[-1] == ("a", "Active", "BackoffComplete")


def test_errors_are_counted_apart_from_rejections_and_reset_by_one():
    queue = Queue()
    queued = queue.add(pod("a"))
    queue.refuse("a")
    queue.after(2)
    queue.refuse("a")
    assert (queued.error_count, queued.unschedulable_count) == (2, 0)
    queue.after(3)
    queue.refuse("a", "Room")
    assert (queued.error_count, queued.unschedulable_count) == (0, 1)


def test_events_in_flight_count_when_the_pod_is_requeued():
    queue = Queue()
    queue.add(pod("a"))
    queue.add(pod("b"))
    first = queue.pop()
    queue.tell(NODE_ADD, None, node("large"))
    second = queue.pop()
    queue.requeue(first, frozenset(("Room",)))
    queue.requeue(second, frozenset(("Room",)))
    assert queue.place("a") is Place.BACKOFF
    assert queue.place("b") is Place.UNSCHEDULABLE  # the node was there when its attempt began


def test_event_of_a_pending_plugin_skips_the_backoff():
    queue = Queue()
    queue.add(pod("a"))
    queue.refuse("a", "Room", pending=("Partner",))
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert queue.place("a") is Place.ACTIVE


def test_an_unschedulable_pod_is_tried_again_after_five_minutes():
    queue = Queue()
    queue.add(pod("a"))
    queue.refuse("a", "Room")
    queue.flush()
    assert queue.next_timeout() == 330.0  # more than 300 s, looked after every 30 s
    queue.after(300)
    assert queue.place("a") is Place.UNSCHEDULABLE
    queue.after(30)
    assert queue.moves[-1] == ("a", "Active", "UnschedulableTimeout")


def test_gated_pod_is_active_once_its_gate_opens():
    queue = Queue()
    queue.closed.add("a")
    queue.add(pod("a"))
    assert queue.place("a") is Place.GATED
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert queue.place("a") is Place.GATED
    queue.closed.clear()
    queue.tell(NODE_ADD, None, node("large"))
    assert queue.place("a") is Place.GATED  # the gating plugin does not hear of nodes
    queue.activate([pod("a")])
    assert queue.place("a") is Place.ACTIVE


def test_requeued_pod_is_gated_when_its_gate_has_closed():
    queue = Queue()
    queued = queue.add(pod("a"))
    queue.refuse("a", "Room")
    queue.closed.add("a")
    queue.tell(ASSIGNED_POD_DELETE, pod("x", on="n"), None)
    assert queue.place("a") is Place.GATED
    assert queued.gate.reasons == ("closed",)
    assert queued.unschedulable_plugins == {"Room", "Door"}
    queue.closed.clear()
    queue.tell(ASSIGNED_POD_DELETE, pod("y", on="n"), None)
    assert queue.place("a") is Place.BACKOFF


def test_activated_pod_skips_its_backoff():
    queue = Queue()
    queue.add(pod("a"))
    queue.refuse("a")
    queue.activate([pod("a")])
    assert queue.place("a") is Place.ACTIVE
    flying = queue.pop()
    queue.activate([pod("a")])
    queue.requeue(flying, frozenset(("Partner",)))
    assert queue.place("a") is Place.BACKOFF


@pytest.mark.parametrize(
    ("release", "place"), [*zip(RELEASES, (Place.GATED, Place.GATED, Place.GATED, Place.ACTIVE), strict=True)]
)
def test_a_gated_pod_is_looked_at_again_after_five_minutes_since_v1_37(release, place):
    queue = Queue(release=release)
    queue.closed.add("a")
    queue.add(pod("a"))
    queue.closed.clear()
    assert (queue.next_timeout() is None) == (place is Place.GATED)
    queue.after(330)
    assert queue.place("a") is place


@pytest.mark.parametrize(
    ("release", "place"), [*zip(RELEASES, (Place.GATED, Place.ACTIVE, Place.ACTIVE, Place.ACTIVE), strict=True)]
)
def test_a_pod_activated_out_of_its_backoff_passes_its_gate_again_in_v1_34_only(release, place):
    queue = Queue(release=release)
    queue.add(pod("a"))
    queue.refuse("a")
    queue.closed.add("a")
    queue.activate([pod("a")])
    assert queue.place("a") is place


class Newcomer(Partner):
    """Hopes for new nodes, in vain."""

    def events_to_register(self):
        return (registers(Resource.NODE, Action.ADD, lambda pod, before, after: Hint.SKIP),)


@pytest.mark.parametrize(
    ("release", "place"), [*((old, Place.BACKOFF) for old in RELEASES[:-1]), (NEWEST, Place.UNSCHEDULABLE)]
)
def test_who_hears_of_new_nodes_hears_of_every_taint_before_v1_37(release, place):
    queue = Queue(release=release, partner=Newcomer)
    queue.add(pod("a"))
    queue.refuse("a", "Newcomer")
    queue.tell(ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT), node("n"), node("n"))
    assert queue.place("a") is place


class Selfish(Partner):
    """Hopes for an update of the pod itself."""

    def events_to_register(self):
        return (registers(Resource.TARGET_POD, Action.UPDATE),)


@pytest.mark.parametrize(
    ("release", "place", "added"),
    [
        *((old, Place.UNSCHEDULABLE, "UnschedulablePodAdd") for old in RELEASES[:-1]),
        (NEWEST, Place.BACKOFF, "UnscheduledPodAdd"),
    ],
)
def test_the_update_of_another_pod_in_flight_counts_since_v1_37(release, place, added):
    queue = Queue(release=release, partner=Selfish)
    for name in ("a", "b"):
        queue.add(pod(name))
    first, _ = queue.pop(), queue.pop()
    assert {event for _, _, event in queue.moves[:2]} == {added}
    queue.update(pod("b"), pod("b"))
    queue.requeue(first, frozenset(("Selfish",)))
    assert queue.place("a") is place


def test_updated_pod_is_ordered_by_its_new_priority():
    queue = Queue()
    queue.add(pod("a"))
    queue.add(pod("b"))
    queue.update(pod("b"), pod("b", priority=9))
    assert names(queue) == ["b", "a"]
    queue.update(pod("c"), pod("c"))
    assert queue.place("c") is Place.ACTIVE


def test_a_deleted_pod_is_never_popped():
    queue = Queue()
    for name in "ab":
        queue.add(pod(name))
    queue.refuse("a", "Room")
    queue.delete(pod("a"))
    queue.delete(pod("b"))
    assert names(queue) == []
    assert len(queue) == 0


def test_a_clock_does_not_go_back():
    clock = Clock(5)
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(4)


class NoPodIsLostOrPoppedTwice(RuleBasedStateMachine):
    """Whatever happens, every pod is in one place, and is popped once for each time it is put back."""

    def __init__(self):
        super().__init__()
        self.queue = Queue()
        self.pods: dict[str, object] = {}
        self.flying: dict[str, object] = {}
        self.made = 0

    @rule(priority=st.integers(0, 2), closed=st.booleans())
    def add(self, priority, closed):
        name = f"p{self.made}"
        self.made += 1
        if closed:
            self.queue.closed.add(name)
        self.pods[name] = pod(name, priority=priority)
        self.queue.add(self.pods[name])

    @rule()
    def pop(self):
        queued = self.queue.pop()
        if queued is None:
            assert self.queue.count(Place.ACTIVE) == 0
        else:
            name = queued.info.pod.metadata.name
            assert name in self.pods
            assert name not in self.flying
            self.flying[name] = queued

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), plugins=st.sets(st.sampled_from(("Room", "Partner", "Broken"))), pending=st.booleans())
    def requeue(self, data, plugins, pending):
        name = data.draw(st.sampled_from(sorted(self.flying)))
        self.queue.requeue(self.flying.pop(name), frozenset(plugins), frozenset(plugins if pending else ()))

    @precondition(lambda self: self.flying)
    @rule(data=st.data())
    def done(self, data):
        name = data.draw(st.sampled_from(sorted(self.flying)))
        self.queue.done(self.flying.pop(name))
        del self.pods[name]

    @precondition(lambda self: set(self.pods) - set(self.flying))
    @rule(data=st.data(), priority=st.integers(0, 2), deed=st.sampled_from(("update", "delete", "activate", "open")))
    def change(self, data, priority, deed):
        name = data.draw(st.sampled_from(sorted(set(self.pods) - set(self.flying))))
        if deed == "delete":
            self.queue.delete(self.pods.pop(name))
        elif deed == "activate":
            self.queue.activate([self.pods[name]])
        elif deed == "open":
            self.queue.closed.discard(name)
        else:
            before, self.pods[name] = self.pods[name], pod(name, priority=priority)
            self.queue.update(before, self.pods[name])

    @rule(large=st.booleans())
    def node_comes(self, large):
        self.queue.tell(NODE_ADD, None, node("large" if large else "small"))

    @rule()
    def pod_goes(self):
        self.queue.tell(ASSIGNED_POD_DELETE, pod("gone", on="n"), None)

    @rule(seconds=st.sampled_from((0, 1, 7, 400)))
    def time_passes(self, seconds):
        self.queue.after(seconds)

    @invariant()
    def every_pod_is_in_one_place(self):
        assert {queued.info.pod.metadata.name for queued in self.queue} == set(self.pods)
        assert len(self.queue) == len(self.pods) == sum(self.queue.count(place) for place in Place)
        assert self.queue.count(Place.IN_FLIGHT) == len(self.flying)

    def teardown(self):
        """In the end every pod that is let in comes out, once."""
        for queued in list(self.flying.values()):
            self.queue.requeue(queued, frozenset(("Room",)))
        self.queue.closed.clear()
        self.queue.activate(self.pods.values())
        assert sorted(names(self.queue)) == sorted(self.pods)


TestNoPodIsLostOrPoppedTwice = NoPodIsLostOrPoppedTwice.TestCase


class Team(Partner):
    """Waits for nodes, of which its hint tells by the team of a pod; nothing is said of what else the plugin reads."""

    def events_to_register(self):
        event = ClusterEvent(Resource.NODE, Action.ADD)
        return (Registration(event, self.after_node, lambda pod: pod.labels.get("team")),)

    def after_node(self, pod, before, after):
        asked.append(pod.pod.metadata.name)
        return Hint.QUEUE if after.metadata.name == pod.labels.get("team") else Hint.SKIP


asked: list[str] = []


def of_teams():
    """A queue with pods of two teams."""
    asked.clear()
    queue = Queue(partner=Team)
    for name, team in (("a", "red"), ("b", "red"), ("c", "blue")):
        queue.add(pod(name, labels={"team": team}))
    return queue


def test_pods_of_which_a_hint_reads_the_same_are_asked_about_once_though_the_plugin_names_no_signature():
    queue = of_teams()
    for name in "abc":
        queue.refuse(name, "Team")
    queue.tell(NODE_ADD, None, node("red"))
    assert asked == ["a", "c"]
    assert [queue.place(name) is Place.UNSCHEDULABLE for name in "abc"] == [False, False, True]


def test_what_happened_while_such_pods_were_in_flight_is_asked_about_once():
    queue = of_teams()
    in_flight = [queue.pop() for _ in range(3)]
    queue.tell(NODE_ADD, None, node("blue"))
    for queued in in_flight:
        queue.requeue(queued, frozenset(("Team",)))
    assert asked == ["a", "c"]
    assert [queue.place(name) is Place.UNSCHEDULABLE for name in "abc"] == [True, True, False]
