"""What would wake a refused pod up: what its refusing plugins have registered, in words, and as the queue sees it.

The queue is the judge: what is not listed leaves the pod where it is, what nobody looks closer at moves it, and of what
is looked at closer exactly those move it that were counted.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schedctl.config import loading
from schedctl.engine.clocks import Clock
from schedctl.engine.queue.entries import Place
from schedctl.explain.explanations import explain
from schedctl.explain.requeue_events import of, requeue_events
from schedctl.framework.events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    POD_RESOURCES,
    Action,
    ClusterEvent,
    Hint,
    Resource,
    registers,
)
from schedctl.framework.points import ReservePlugin
from schedctl.framework.registries import Registry
from schedctl.framework.statuses import unschedulable
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster as cluster_of
from schedctl.testing.builders import node, pod


@pytest.mark.parametrize(
    ("registration", "texts"),
    [
        (
            registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            ["a node is added", "labels of a node change"],
        ),
        (registers(Resource.ASSIGNED_POD, Action.DELETE), ["a pod leaves its node"]),
        (registers(Resource.TARGET_POD, Action.UPDATE_POD_TOLERATION), ["a toleration is added to this pod"]),
        (
            registers(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE),
            ["a PersistentVolumeClaim is added", "a PersistentVolumeClaim changes"],
        ),
        (
            registers(Resource.POD, Action.ADD),
            ["a pod is bound to a node", "another pending pod is added"],
        ),
    ],
)
def test_each_action_of_a_registration_is_an_event_of_its_own(registration, texts):
    *found, last = requeue_events({"Asking": [registration]})
    assert [waking.text for waking in found] == texts
    assert last.text == "5 minutes pass without any of these"


def test_an_event_that_two_plugins_ask_for_is_listed_once_and_hinted_only_if_both_look_closer():
    hinted = registers(Resource.NODE, Action.ADD, lambda pod, before, after: Hint.SKIP)
    plain = registers(Resource.NODE, Action.ADD)
    found, _ = requeue_events({"Closer": [hinted], "Any": [plain]})
    assert (found.event, found.plugins, found.hinted) == ("NodeAdd", ["Closer", "Any"], False)


def test_a_pod_that_leaves_counts_where_it_was_in_the_way():
    state = cluster_of(
        node("n1", cpu="4"),
        pod("in-the-way", on="n1", labels={"app": "web"}),
        pod("beside", on="n1", labels={"app": "db"}),
        pod("alone", affinity=WISHES["affinity"]),
    )
    explanation = explain(Scheduler(state), next(iter(state.pending.values())), hints=False)
    leaves = next(each for each in explanation.wakings if each.event == "AssignedPodDelete")
    assert leaves.text == "a pod leaves its node"
    assert (leaves.counting, leaves.asked) == (1, 2)


def test_a_gated_pod_waits_for_its_last_gate_to_go():
    cluster = cluster_of(node("n1", cpu="4"), pod("held", schedulingGates=[{"name": "quota"}]))
    explanation = explain(Scheduler(cluster), next(iter(cluster.pending.values())), hints=False)
    assert [waking.text for waking in explanation.wakings] == ["the last scheduling gate of this pod is removed"]


class TakesItBack(ReservePlugin):
    """Refuses every node that was chosen, and hopes for further ones."""

    def reserve(self, cycle, node_name):
        return unschedulable("not there")

    def unreserve(self, cycle, node_name):
        pass

    def events_to_register(self):
        return (registers(Resource.NODE, Action.ADD),)


def test_a_pod_whose_node_is_taken_back_waits_for_the_plugin_that_took_it():
    text = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: TakesItBack}]}}}]
"""
    state = cluster_of(node("n1"), pod("wanted"))
    scheduler = Scheduler(state, loading.load(text), Registry((*IN_TREE.values(), TakesItBack)))
    found, _ = explain(scheduler, next(iter(state.pending.values())), hints=False).wakings
    assert (found.text, found.plugins) == ("a node is added", ["TakesItBack"])


def test_a_pod_that_finds_a_node_waits_for_nothing():
    cluster = cluster_of(node("n1", cpu="4"), pod("fits", cpu="1"))
    explanation = explain(Scheduler(cluster), next(iter(cluster.pending.values())), hints=False)
    assert explanation.wakings == []


# -- against the queue -----------------------------------------------------------

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
ZONES = ("zone-a", "zone-b")
APPS = ("web", "db")
NODES = st.builds(
    lambda cpu, zone, tainted, cordoned: {
        "cpu": cpu,
        "zone": zone,
        "taints": [TAINT] if tainted else None,
        "unschedulable": cordoned,
    },
    st.sampled_from(["1", "4"]),
    st.sampled_from(ZONES),
    st.booleans(),
    st.booleans(),
)
RUNNING = st.tuples(st.integers(0, 2), st.sampled_from(["100m", "900m"]), st.sampled_from(APPS), st.booleans())
SELECTOR = {"matchLabels": {"app": "web"}}
PORT = [{"containerPort": 80, "hostPort": 80}]
WISHES = {
    "nodeSelector": {"topology.kubernetes.io/zone": "zone-a"},
    "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": SELECTOR, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": SELECTOR,
        }
    ],
    "ports": PORT,
    "schedulingGates": [{"name": "quota"}],
}


@st.composite
def refused(draw):
    """A scheduler, and a pod that it refuses or gates."""
    nodes = draw(st.lists(NODES, min_size=1, max_size=3))
    made = [node(f"node-{number}", **one) for number, one in enumerate(nodes)]
    made += [
        pod(
            f"runs-{number}",
            on=f"node-{place % len(nodes)}",
            cpu=cpu,
            labels={"app": app},
            ports=PORT if port else None,
        )
        for number, (place, cpu, app, port) in enumerate(draw(st.lists(RUNNING, max_size=4)))
    ]
    wishes = draw(st.sets(st.sampled_from(sorted(WISHES)), max_size=3))
    subject = pod(
        "wanted", cpu=draw(st.sampled_from(["500m", "2", "8"])), labels={"app": "web"}, **{w: WISHES[w] for w in wishes}
    )
    scheduler = Scheduler(cluster_of(*made, subject))
    outcome = scheduler.attempt(subject)
    assume(not outcome.chosen)
    return scheduler, outcome


def is_requeued(scheduler, outcome, event, before=None, after=None):
    """Whether an event moves the pod that was refused, in a queue in which it has come to rest."""
    queue = scheduler.queue(Clock())
    queued = queue.add(outcome.pod)
    if outcome.gated is None:
        assert queue.pop() is queued
        queue.requeue(queued, outcome.unschedulable_plugins, outcome.pending_plugins)
    assert queued.place in (Place.UNSCHEDULABLE, Place.GATED)
    queue.tell(event, before, after)
    return queued.place not in (Place.UNSCHEDULABLE, Place.GATED)


def single_events():
    """Every kind of event that can happen, one action each."""
    for resource in Resource:
        if resource in (Resource.EVERY, Resource.POD):
            continue
        prefix = "UPDATE_NODE_" if resource is Resource.NODE else "UPDATE_POD_" if resource in POD_RESOURCES else "none"
        updates = [action for action in Action if action.name.startswith(prefix)]
        for action in (Action.ADD, Action.DELETE, *(updates or [Action.UPDATE])):
            yield ClusterEvent(resource, action)


@settings(deadline=None, max_examples=40)
@given(refused())
def test_the_queue_moves_a_pod_for_what_is_listed_and_for_nothing_else(situation):
    scheduler, outcome = situation
    listed = {waking.event: waking for waking in of(outcome)}
    for event in single_events():
        waking = listed.get(event.label) or listed.get(ClusterEvent(event.resource, Action.UPDATE).label)
        if waking is None or (waking.event != event.label and event.action in (Action.ADD, Action.DELETE)):
            assert not is_requeued(scheduler, outcome, event), event.label
        elif not waking.hinted and outcome.gated is None:
            assert is_requeued(scheduler, outcome, event), event.label


@settings(deadline=None, max_examples=40)
@given(refused())
def test_the_queue_moves_a_pod_for_as_many_nodes_and_departures_as_are_counted(situation):
    scheduler, outcome = situation
    state = scheduler.cluster
    instances = {
        NODE_ADD: [(None, state.node_table.objects[row]) for row in state.node_table.row_of.values()],
        ASSIGNED_POD_DELETE: [(info, None) for info in state.pod_table],
    }
    listed = {waking.event: waking for waking in of(outcome)}
    for event, every in instances.items():
        waking = listed.get(event.label)
        if waking is not None and waking.asked:
            assert waking.asked == len(every)
            assert waking.counting == sum(is_requeued(scheduler, outcome, event, *one) for one in every)
