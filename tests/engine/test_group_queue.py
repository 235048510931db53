"""The scheduling queue with pod groups: the pods of a group enter, wait, back off and leave as one."""

from __future__ import annotations

import pytest

from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_groups import (
    BasicSchedulingPolicy,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
)
from schedctl.config import loading
from schedctl.engine.clocks import Clock
from schedctl.engine.queue.entries import Place, QueuedGroup
from schedctl.framework.events import (
    NODE_ADD,
    UNSCHEDULED_POD_ADD,
    Action,
    ClusterEvent,
    Resource,
)
from schedctl.framework.statuses import SUCCESS, error, unschedulable
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
POD_GROUP_ADD = ClusterEvent(Resource.POD_GROUP, Action.ADD)
POD_GROUP_UPDATE = ClusterEvent(Resource.POD_GROUP, Action.UPDATE)


def group(least=2, name="train", priority=0):
    policy = (
        PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=least))
        if least
        else PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
    )
    spec = PodGroupSpec(scheduling_policy=policy, priority=priority)
    return PodGroup(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


class Queue:
    """A queue over a cluster, with what a run would do around it."""

    def __init__(self, *groups: PodGroup) -> None:
        self.cluster = cluster(node("a"), *groups, release=RELEASE)
        self.clock = Clock()
        self.queue = Scheduler(self.cluster, loading.default(RELEASE), plugins_of(RELEASE)).queue(self.clock)

    def add(self, name, of="train", **spec):
        if of:
            spec["schedulingGroup"] = {"podGroupName": of}
        info = pod(name, **spec)
        self.cluster.add_pod(info)
        self.queue.add(info)
        self.queue.tell(UNSCHEDULED_POD_ADD, None, info)
        return info

    def create(self, made):
        before = self.cluster.get(PodGroup, made.key)
        self.cluster.put(made)
        self.queue.put_group(made)
        self.queue.tell(POD_GROUP_ADD if before is None else POD_GROUP_UPDATE, before, made)

    def delete(self, made):
        self.cluster.delete(made)
        self.queue.remove_group(made)

    def place(self, name):
        return self.queue.get(f"default/{name}").place

    def pop(self):
        entry = self.queue.pop()
        return None if entry is None else (entry.name, [queued.info.pod.metadata.name for queued in entry.pods])

    def fail(self, status=None):
        """Take a group out and return all its pods."""
        entry = self.queue.pop()
        assert isinstance(entry, QueuedGroup)
        for queued in entry.pods:
            self.queue.requeue(queued)
        self.queue.finish(entry, status or unschedulable("no room"))


def test_a_pod_without_its_group_waits_for_it():
    queue = Queue()
    queue.add("a")
    assert queue.place("a") is Place.INCOMPLETE
    assert queue.pop() is None
    queue.create(group(least=1))
    assert queue.pop() == ("default/train", ["a"])


def test_a_gang_with_too_few_pods_is_gated_until_there_are_enough():
    queue = Queue(group(least=2))
    queue.add("a")
    assert queue.place("a") is Place.GATED
    queue.add("b")
    assert queue.place("a") is Place.ACTIVE
    assert queue.pop() == ("default/train", ["a", "b"])


def test_a_smaller_min_count_lets_a_gang_in_and_a_larger_one_does_not():
    queue = Queue(group(least=3))
    queue.add("a")
    queue.create(group(least=4))
    assert queue.place("a") is Place.GATED
    queue.create(group(least=1))
    assert queue.place("a") is Place.ACTIVE


def test_one_gated_pod_keeps_its_whole_group_out():
    queue = Queue(group(least=0))
    queue.add("a")
    queue.add("b", schedulingGates=[{"name": "hold"}])
    assert (queue.place("a"), queue.place("b")) == (Place.GATED, Place.GATED)
    assert queue.queue.gate_of(queue.queue.get("default/a")).gating_plugin == "SchedulingGates"


@pytest.mark.parametrize(
    ("priority", "first"),
    [
        pytest.param(0, "default/single", id="an older pod of equal priority is first"),
        pytest.param(5, "default/train", id="a group of higher priority is first"),
    ],
)
def test_a_group_is_ordered_by_its_own_priority(priority, first):
    queue = Queue(group(least=1, priority=priority))
    queue.add("single", of="")
    queue.add("a", priority=priority)
    assert queue.pop()[0] == first


def test_pods_of_a_group_are_tried_by_priority_then_by_attempts_then_by_arrival():
    queue = Queue(group(least=1))
    queue.add("a")
    queue.add("b")
    queue.fail()
    queue.add("c")
    queue.add("urgent", priority=7)
    queue.clock.advance(10)
    queue.queue.flush()
    assert queue.pop() == ("default/train", ["urgent", "a", "b", "c"])


def test_a_refused_group_backs_off_and_no_event_shortens_that():
    queue = Queue(group(least=2))
    queue.add("a")
    queue.add("b")
    queue.fail()
    assert queue.place("a") is Place.BACKOFF
    queue.queue.tell(NODE_ADD, None, node("new"))
    assert (queue.pop(), queue.place("a")) == (None, Place.BACKOFF)
    queue.clock.advance(queue.queue.next_expiry)
    queue.queue.flush()
    assert queue.pop() == ("default/train", ["a", "b"])


def test_the_longest_backoff_grows_with_the_root_of_the_size():
    queue = Queue(group(least=0))
    for name in "abcd":
        queue.add(name)
    for _ in range(10):
        queue.fail()
        since = queue.clock.now
        queue.clock.advance(queue.queue.next_expiry)
        queue.queue.flush()
    assert 20 <= queue.clock.now - since <= 21


def test_after_a_success_the_rest_is_tried_again_at_once():
    queue = Queue(group(least=1))
    queue.add("a")
    queue.add("b")
    entry = queue.queue.pop()
    bound, left = entry.pods
    queue.queue.done(bound)
    queue.queue.requeue(left, frozenset({"NodeResourcesFit"}))
    queue.queue.finish(entry, SUCCESS)
    assert queue.pop() == ("default/train", ["b"])


def test_a_fault_counts_as_an_error():
    queue = Queue(group(least=1))
    queue.add("a")
    queue.fail(error("broken"))
    assert queue.place("a") is Place.BACKOFF


def test_a_pod_that_comes_during_the_cycle_of_its_group_joins_it_afterwards():
    queue = Queue(group(least=1))
    queue.add("a")
    entry = queue.queue.pop()
    queue.add("b")
    assert queue.place("b") is Place.IN_FLIGHT
    queue.queue.requeue(entry.pods[0])
    queue.queue.finish(entry, unschedulable("no room"))
    queue.clock.advance(3)
    queue.queue.flush()
    assert queue.pop() == ("default/train", ["a", "b"])


def test_a_gang_that_loses_a_pod_is_gated_again():
    queue = Queue(group(least=2))
    queue.add("a")
    second = queue.add("b")
    queue.cluster.remove_pod(second)
    queue.queue.delete(second)
    assert queue.place("a") is Place.GATED
    assert len(queue.queue) == 1


def test_without_its_last_pod_a_group_leaves_the_queue():
    queue = Queue(group(least=1))
    only = queue.add("a")
    queue.queue.delete(only)
    assert (queue.pop(), len(queue.queue)) == (None, 0)


def test_a_group_that_is_deleted_leaves_its_pods_waiting_for_another():
    queue = Queue(group(least=1))
    queue.add("a")
    queue.delete(group())
    assert queue.place("a") is Place.INCOMPLETE
    queue.create(group(least=1))
    assert queue.place("a") is Place.ACTIVE


def test_a_pod_that_is_activated_activates_its_group():
    queue = Queue(group(least=1))
    first = queue.add("a")
    queue.fail()
    queue.queue.activate([first])
    assert queue.place("a") is Place.ACTIVE


def test_what_is_counted_by_place_counts_pods():
    queue = Queue(group(least=1))
    for name in "abc":
        queue.add(name)
    assert queue.queue.count(Place.ACTIVE) == 3
    queue.fail()
    assert (queue.queue.count(Place.ACTIVE), queue.queue.count(Place.BACKOFF)) == (0, 3)
