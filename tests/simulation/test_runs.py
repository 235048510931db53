"""Whole runs: where pods end up, in which order things happen, and when nothing can move any more."""

from __future__ import annotations

import re

import msgspec
import pytest

from schedctl.api.topology import HOSTNAME
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.errors import NotModelled
from schedctl.framework.events import Action, Resource, registers
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin, PermitPlugin, PreBindPlugin, ReservePlugin
from schedctl.framework.registries import Registry
from schedctl.framework.statuses import SUCCESS, error, unschedulable, wait
from schedctl.plugins.in_tree import IN_TREE, plugins_of
from schedctl.releases import NEWEST, RELEASES
from schedctl.scheduler import Scheduler
from schedctl.simulation import timeline
from schedctl.simulation.events import Controller, EventAction, SimulatedEvent
from schedctl.simulation.outcomes import PodState, RunEnd
from schedctl.simulation.runs import Options, Progress, run
from schedctl.simulation.tie_breaking import ReplayError, draw_ties, replay_nodes
from schedctl.testing.builders import cluster, node, pod


def scheduler(made, *plugins, **settings):
    """A scheduler of the default profile and these plugins."""
    if not plugins and not settings:
        return Scheduler(made, loading.default(made.release), plugins_of(made.release))
    lines = ["apiVersion: kubescheduler.config.k8s.io/v1", "kind: KubeSchedulerConfiguration"]
    lines += [f"{key}: {value}" for key, value in settings.items()]
    named = ", ".join(f"{{name: {plugin.__name__}}}" for plugin in plugins)
    lines += ["profiles:", "- plugins:", f"    multiPoint: {{enabled: [{named}]}}"]
    registry = Registry((*IN_TREE.values(), *plugins))
    return Scheduler(made, loading.load("\n".join(lines), "config"), registry)


def ends(facts):
    """Where each pod is: its node if it is bound, else its state."""
    return {
        key.removeprefix("default/"): outcome.node if outcome.state is PodState.BOUND else outcome.state
        for key, outcome in facts.pods.items()
    }


def timeline_records(facts, *kinds):
    """The records of some kinds, each as its time and its other values but the messages."""
    return [record for record in facts.timeline if isinstance(record, kinds)]


def test_pods_are_placed_in_the_order_of_the_queue_and_the_run_ends_when_all_are():
    made = cluster(node("a", cpu="2"), pod("low", cpu="2"), pod("high", cpu="2", priority=1))
    facts = run(Scheduler(made))
    assert ends(facts) == {"low": PodState.UNSCHEDULABLE, "high": "a"}
    assert facts.pods["default/low"].message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert facts.pods["default/low"].plugins == ("NodeResourcesFit",)
    assert facts.end is RunEnd.STUCK
    assert made.pod_table.row_of.keys() == {"default/high"}
    assert run(Scheduler(cluster(node("a"), pod("x")))).end is RunEnd.SETTLED


def test_pods_handed_over_join_the_cluster_and_others_are_left_alone():
    made = cluster(node("a"), pod("waits"))
    facts = run(Scheduler(made), [pod("comes")])
    assert ends(facts) == {"comes": "a"}
    assert made.pending.keys() == {"default/waits"}


def test_pods_of_another_scheduler_are_left_alone():
    facts = run(Scheduler(cluster(node("a"), pod("x", schedulerName="other"))))
    assert facts.pods == {}
    assert facts.end is RunEnd.SETTLED


def test_pods_of_another_scheduler_that_come_later_are_left_alone():
    made = cluster(node("a"), pod("y"))
    theirs = pod("x", schedulerName="other")
    facts = run(
        Scheduler(made), events=[SimulatedEvent(theirs, at=1), SimulatedEvent(theirs, EventAction.DELETE, at=2)]
    )
    assert ends(facts) == {"y": "a"}
    assert "default/x" not in made.pending


def test_a_run_in_a_fork_leaves_everything_as_it_was():
    made = cluster(node("a", cpu="1"), pod("x", on="a", cpu="1"), pod("y", cpu="1", priority=1))
    what_if = Scheduler(made)
    with what_if.fork():
        assert ends(run(what_if)) == {"y": "a"}
    assert (list(made.pod_table.row_of), list(made.pending)) == (["default/x"], ["default/y"])
    assert made.pending["default/y"].pod.status.nominated_node_name == ""
    assert not what_if.nominator


def test_equal_runs_leave_equal_bytes():
    def timeline_text():
        made = cluster(
            *(node(name, cpu="3") for name in "cab"),
            *(pod(f"low-{i}", on="abc"[i], cpu="2") for i in range(3)),
            *(pod(f"p-{i}", cpu="1", priority=i % 3) for i in range(9)),
        )
        return b"\n".join(timeline.lines(run(Scheduler(made)).timeline))

    assert timeline_text() == timeline_text()


def test_a_seed_takes_other_nodes_of_the_same_ties_and_nothing_else():
    def place_with(choose):
        made = cluster(*(node(f"n{i}") for i in range(8)), pod("free"), pod("tied", nodeSelector={HOSTNAME: "n5"}))
        facts = run(Scheduler(made), options=Options(choose=choose))
        return facts.pods["default/free"], ends(facts)

    taken = {place_with(draw_ties(seed))[1]["free"] for seed in range(12)}
    assert len(taken) > 1
    assert all(place_with(draw_ties(seed))[1]["tied"] == "n5" for seed in range(12))
    assert place_with(draw_ties(7))[1] == place_with(draw_ties(7))[1]
    assert place_with(draw_ties(7))[0].ties == 8


def test_a_run_can_be_replayed_as_far_as_the_ties_allow():
    def run_with(choose):
        return run(Scheduler(cluster(node("a"), node("b"), pod("x"))), options=Options(choose=choose))

    assert ends(run_with(replay_nodes({"default/x": "b"}))) == {"x": "b"}
    first = run_with(draw_ties(3))
    assert (
        timeline.difference(first.timeline, run_with(replay_nodes(timeline.placements(first.timeline))).timeline)
        is None
    )
    with pytest.raises(ReplayError, match="pod default/x cannot be placed on node c"):
        run_with(replay_nodes({"default/x": "c"}))


def test_a_timeline_is_written_and_read_back():
    made = cluster(node("a", cpu="1"), pod("x", on="a", cpu="1"), pod("y", cpu="1", priority=1), pod("z", cpu="9"))
    facts = run(Scheduler(made))
    assert list(timeline.read(timeline.lines(facts.timeline))) == facts.timeline
    shorter = timeline.difference(facts.timeline, facts.timeline[:-1])
    assert shorter == timeline.TimelineDifference(len(facts.timeline), facts.timeline[-1], None)
    assert isinstance(facts.timeline[-1], timeline.Ended)
    untraced = run(Scheduler(cluster(node("a"), pod("x"))), options=Options(trace=False))
    assert (untraced.timeline, ends(untraced)) == ([], {"x": "a"})


# -- preemption ----------------------------------------------------------------------


def test_a_victim_takes_its_grace_period_and_the_preemptor_waits_for_it():
    made = cluster(
        node("a", cpu="1"),
        pod("low", on="a", cpu="1", terminationGracePeriodSeconds=7),
        pod("high", cpu="1", priority=1),
    )
    facts = run(Scheduler(made))
    assert ends(facts) == {"high": "a"}
    assert facts.clock == 7
    assert [(e.pod.key, e.node, e.by, e.at, e.until) for e in facts.evictions] == [
        ("default/low", "a", "default/high", 0, 7)
    ]
    assert facts.evictions[0].pod.pod.spec.node_name == "a"
    assert facts.pods["default/high"].attempts == 2
    [nominated] = timeline_records(facts, timeline.Nominated)
    assert (nominated.at, nominated.node) == (0, "a")


def test_a_pod_with_several_victims_is_kept_out_until_the_last_is_told_to_go():
    victims = (pod(f"low-{i}", on="a", cpu="1", terminationGracePeriodSeconds=0) for i in range(3))
    facts = run(Scheduler(cluster(node("a", cpu="3"), *victims, pod("high", cpu="3", priority=1))))
    moves = [(move.to, move.event, move.plugin) for move in timeline_records(facts, timeline.Moved)]
    assert moves == [
        ("Active", "UnscheduledPodAdd", ""),
        ("InFlight", "", ""),
        ("Unschedulable", "ScheduleAttemptFailure", ""),
        ("Gated", "AssignedPodDelete", "DefaultPreemption"),
        ("Backoff", "AssignedPodDelete", ""),
        ("InFlight", "PopFromBackoffQ", ""),
        ("", "", ""),
    ]
    assert (ends(facts), facts.clock) == ({"high": "a"}, 0)


def test_a_pod_of_lower_priority_loses_the_node_it_was_promised():
    made = cluster(
        node("a", cpu="2"),
        pod("low-0", on="a", cpu="1"),
        pod("low-1", on="a", cpu="1"),
        pod("middle", cpu="1", priority=1),
    )
    high = SimulatedEvent(pod("high", cpu="2", priority=2), at=5)
    facts = run(Scheduler(made), events=[high])
    assert ends(facts) == {"middle": PodState.UNSCHEDULABLE, "high": "a"}
    promises = [(r.at, r.pod, r.node) for r in timeline_records(facts, timeline.Nominated)]
    assert promises == [
        (0, "default/middle", "a"),
        (5, "default/high", "a"),
        (5, "default/middle", ""),
    ]


def test_pods_on_their_way_out_when_a_run_begins_leave_after_their_grace_period():
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 12}
    made = cluster(node("a", cpu="1"), pod("old", on="a", cpu="1", metadata=leaving), pod("new", cpu="1"))
    facts = run(Scheduler(made))
    assert (ends(facts), facts.clock) == ({"new": "a"}, 12)


# -- the way from the chosen node to the bound pod -----------------------------------


FAILURE = "ScheduleAttemptFailure"


class Stumbles(ReservePlugin, PreBindPlugin):
    """Fails the first time, at the point named in the pod's annotation."""

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.calls = []

    def answer(self, cycle, point):
        self.calls.append(point)
        planned = (cycle.pod.pod.metadata.annotations or {}).get(point)
        if planned is None or self.calls.count(point) > 1:
            return SUCCESS
        return {"refuse": unschedulable("taken"), "fail": error("broken")}[planned]

    def reserve(self, cycle, node_name):
        return self.answer(cycle, "reserve")

    def unreserve(self, cycle, node_name):
        self.calls.append("unreserve")

    def pre_bind(self, cycle, node_name):
        return self.answer(cycle, "prebind")


@pytest.mark.parametrize(
    ("annotations", "message", "moves", "clock"),
    [
        pytest.param(
            {"reserve": "refuse"}, "0/1 nodes are available: 1 taken.",
            [("Unschedulable", FAILURE), ("Backoff", "TargetPodUpdate"), ("InFlight", "PopFromBackoffQ")], 0,
            id="a reservation refused: the pod waits for an event, and its own status written is one",
        ),
        pytest.param(
            {"reserve": "fail"}, 'running Reserve plugin "Stumbles": broken',
            [("Backoff", "ScheduleAttemptFailure"), ("Active", "BackoffComplete"), ("InFlight", "")], 2,
            id="a reservation that fails: the pod backs off",
        ),
        pytest.param(
            {"prebind": "fail"}, 'running PreBind plugin "Stumbles": broken',
            [("Backoff", "ScheduleAttemptFailure"), ("Active", "BackoffComplete"), ("InFlight", "")], 2,
            id="a PreBind that fails: the pod backs off",
        ),
        pytest.param(
            {"prebind": "refuse"}, "taken",
            [("Backoff", "ScheduleAttemptFailure"), ("Active", "BackoffComplete"), ("InFlight", "")], 2,
            id="a PreBind that refuses is beyond the point where refusals count",
        ),
    ],
)  # fmt: skip
def test_what_a_failing_step_undoes(annotations, message, moves, clock):
    made = cluster(node("a"), pod("x", metadata={"annotations": annotations}))
    stumbling = scheduler(made, Stumbles)
    facts = run(stumbling)
    assert (ends(facts), facts.clock) == ({"x": "a"}, clock)
    [why] = timeline_records(facts, timeline.Refused, timeline.Failed)
    assert why.message == message
    assert [(m.to, m.event) for m in timeline_records(facts, timeline.Moved)][2:-1] == moves
    assert len(timeline_records(facts, timeline.Released)) == 1
    assert stumbling.profiles["default-scheduler"].plugins["Stumbles"].calls.count("unreserve") == 1


class Pairs(PermitPlugin):
    """Lets pods go two by two."""

    def permit(self, cycle, node_name):
        for waiting in self.handle.waiting_pods():
            waiting.allow(self.name)
            return SUCCESS
        return wait(60)


class Closes(Pairs):
    """Is willing to wait, in vain; hears of nothing."""

    def permit(self, cycle, node_name):
        return wait(90)

    def events_to_register(self):
        return ()


def test_a_pod_waits_for_permit_until_another_lets_it_go():
    made = cluster(node("a"), pod("one"))
    facts = run(scheduler(made, Pairs), events=[SimulatedEvent(pod("two"), at=20)])
    assert ends(facts) == {"one": "a", "two": "a"}
    assert [(r.at, r.pod) for r in timeline_records(facts, timeline.Bound)] == [
        (20, "default/two"),
        (20, "default/one"),
    ]
    [held] = timeline_records(facts, timeline.Waiting)
    assert (held.pod, held.until) == ("default/one", {"Pairs": 60})


def test_a_pod_nobody_lets_go_is_refused_when_the_patience_of_permit_ends():
    facts = run(scheduler(cluster(node("a"), pod("one")), Closes), options=Options(horizon=100))
    [released] = timeline_records(facts, timeline.Released)
    assert released.at == 90
    assert released.message == "rejected due to timeout after waiting 1m30s at plugin Closes"
    assert facts.pods["default/one"].plugins == ("Closes",)
    assert ends(facts) == {"one": PodState.UNSCHEDULABLE}


@pytest.mark.parametrize("verdict", ["refused", "preempted"])
def test_the_release_of_an_assumed_pod_is_one_event(verdict):
    class Ends(Closes):
        def permit(self, cycle, node_name):
            for waiting in self.handle.waiting_pods():
                waiting.reject(self.name, "no") if verdict == "refused" else waiting.preempt(self.name, "gone")
            return wait(90)

    late = SimulatedEvent(pod("late"), at=5)
    facts = run(scheduler(cluster(node("a"), pod("one")), Ends), events=[late], options=Options(horizon=20))
    [released] = [each for each in timeline_records(facts, timeline.Released) if each.pod == "default/one"][:1]
    told = [each for each in timeline_records(facts, timeline.Happened) if (each.subject, each.at) == (released.pod, 5)]
    assert [each.event for each in told] == ["AssignedPodDelete"]


@pytest.mark.parametrize(
    ("nominates", "place"),
    [pytest.param(True, PodState.QUEUED, id="on"), pytest.param(False, PodState.UNSCHEDULABLE, id="off")],
)
def test_a_pod_that_permit_refuses_hears_of_its_own_release_if_the_node_was_nominated_for_it(nominates, place):
    class Hopes(Pairs):
        def permit(self, cycle, node_name):
            return wait(9)

        def events_to_register(self):
            return (registers(Resource.ASSIGNED_POD, Action.DELETE),)

    release = NEWEST.with_gates({"NominatedNodeNameForExpectation": nominates, "SchedulerPopFromBackoffQ": False})
    made = cluster(node("a"), pod("one"), release=release)
    assert ends(run(scheduler(made, Hopes), options=Options(horizon=9.5))) == {"one": place}


@pytest.mark.parametrize("waits", [True, False])
def test_victims_go_within_the_cycle_of_their_preemptor_without_async_preemption(waits):
    made = cluster(
        *(node("a", cpu="1"), pod("low", on="a", cpu="1"), pod("high", cpu="1", priority=9)),
        release=NEWEST.with_gates({"SchedulerAsyncPreemption": waits}),
    )
    served = Scheduler(made)
    facts = run(served)
    assert ends(facts) == {"high": "a"}
    assert [(each.pod, each.by) for each in timeline_records(facts, timeline.Evicted)] == [
        ("default/low", "default/high")
    ]
    preemption = served.profiles["default-scheduler"].plugins["DefaultPreemption"]
    assert bool(preemption.events_to_register()) is waits


def test_waiting_pods_are_there_when_a_run_ends_before_their_time():
    facts = run(scheduler(cluster(node("a"), pod("one")), Closes), options=Options(horizon=50))
    assert (ends(facts), facts.clock, facts.end) == ({"one": PodState.WAITING}, 50, RunEnd.HORIZON)
    assert facts.pods["default/one"].node == "a"


def test_endless_waiting_ends_with_the_patience_of_the_run():
    facts = run(scheduler(cluster(node("a"), pod("one")), Closes), options=Options(patience=600))
    assert facts.end is RunEnd.PATIENCE
    assert facts.clock < 1000


def test_a_pod_that_permit_holds_when_a_run_ends_is_pending_again_and_a_second_run_finds_it():
    made = cluster(node("a"), pod("one"))
    served = scheduler(made, Closes)
    assert ends(run(served, options=Options(horizon=10))) == {"one": PodState.WAITING}
    assert (made.pending.keys(), made.pod_table.row_of.keys()) == ({"default/one"}, set())
    assert ends(run(served, options=Options(horizon=10))) == {"one": PodState.WAITING}


class Spurns(ReservePlugin):
    """Refuses a node to one pod, for which others have been evicted."""

    def reserve(self, cycle, node_name):
        return unschedulable("no") if cycle.pod.pod.metadata.name == "big" else SUCCESS

    def unreserve(self, cycle, node_name):
        pass


class Again(Controller):
    """Makes each evicted pod again."""

    made = 0

    def on_eviction(self, pod_, node_name):
        self.made += 1
        return (SimulatedEvent(pod(f"small-{self.made}", cpu="2")),)


def test_a_run_in_which_pods_evict_each_other_for_good_ends_with_its_patience():
    made = cluster(node("a", cpu="2"), pod("small", cpu="2", nodeName="a"), pod("big", cpu="2", priority=10))
    facts = run(scheduler(made, Spurns), controller=Again(), options=Options(patience=600))
    assert facts.end is RunEnd.PATIENCE
    assert facts.evictions
    assert facts.clock < 1000


def test_a_waiting_pod_is_preempted_in_memory_and_goes_back_to_the_queue():
    made = cluster(node("a", cpu="1"), pod("one", cpu="1"))
    high = SimulatedEvent(pod("high", cpu="1", priority=5), at=10)
    facts = run(scheduler(made, Closes), events=[high], options=Options(horizon=60))
    assert facts.evictions == []
    assert ends(facts) == {"one": PodState.UNSCHEDULABLE, "high": PodState.WAITING}
    released = timeline_records(facts, timeline.Released)[0]
    assert (released.at, released.message) == (10, "waiting on permit for pod: preempted")
    assert facts.pods["default/one"].preempted_by == "default/high"


@pytest.mark.parametrize(
    ("release", "message", "moved_to"),
    [
        *((old, "preempted", "Unschedulable") for old in RELEASES[:2]),
        *((new, "waiting on permit for pod: preempted", "Backoff") for new in RELEASES[2:]),
    ],
)
def test_a_waiting_pod_that_is_preempted_counts_as_rejected_before_v1_36(release, message, moved_to):
    made = cluster(node("a", cpu="1"), pod("one", cpu="1"), release=release)
    high = SimulatedEvent(pod("high", cpu="1", priority=5), at=10)
    facts = run(scheduler(made, Closes), events=[high], options=Options(horizon=60))
    released = timeline_records(facts, timeline.Released)[0]
    assert (released.at, released.message) == (10, message)
    back = next(r.to for r in timeline_records(facts, timeline.Moved) if r.at == 10 and r.pod == "default/one")
    assert back == moved_to


@pytest.mark.parametrize(
    ("release", "event"),
    [*((old, "AssignedPodDelete") for old in RELEASES[:-1]), (RELEASES[-1], "ForceActivate")],
)
def test_the_preemptor_of_a_waiting_pod_is_activated_since_v1_37(release, event):
    made = cluster(node("a", cpu="1"), pod("one", cpu="1"), release=release)
    high = SimulatedEvent(pod("high", cpu="1", priority=5), at=10)
    facts = run(scheduler(made, Closes), events=[high], options=Options(horizon=60))
    moves = [r.event for r in timeline_records(facts, timeline.Moved) if r.pod == "default/high" and r.event]
    assert event in moves
    assert ends(facts)["high"] is PodState.WAITING


@pytest.mark.parametrize(("release", "attempts"), [*zip(RELEASES, (2, 1, 1, 1), strict=True)])
def test_binding_a_nominated_pod_requeues_lower_pods_in_v1_34_only(release, attempts):
    made = cluster(node("a", cpu="1"), pod("large", cpu="2"), release=release)
    high = SimulatedEvent(pod("high", priority=1, status={"nominatedNodeName": "a"}), at=10)
    facts = run(scheduler(made), events=[high], options=Options(horizon=60))
    assert ends(facts) == {"high": "a", "large": PodState.UNSCHEDULABLE}
    assert facts.pods["default/large"].attempts == attempts


NOMINATES = {"NominatedNodeNameForExpectation": True}
V134 = RELEASES[0]


class Refuses(PermitPlugin):
    """Lets pods wait, and nobody lets them go on."""

    def permit(self, cycle, node_name):
        return wait(9)


@pytest.mark.parametrize(
    ("release", "nominated"),
    [
        pytest.param(V134.with_gates(NOMINATES), "a", id="v1.34 with the gate: the node it waited on"),
        pytest.param(V134, "", id="v1.34 by default"),
        pytest.param(RELEASES[1], "", id="v1.35, where the gate is on: it ends with the attempt"),
    ],
)
def test_a_pod_that_permit_refuses_stays_nominated_in_v1_34_with_the_gate_only(release, nominated):
    made = cluster(node("a"), pod("one"), release=release)
    facts = run(scheduler(made, Refuses), options=Options(horizon=9.5))
    assert facts.pods["default/one"].nominated == nominated


class Breaks(FilterPlugin):
    """Fails on every pod."""

    @per_node
    def filter(self, cycle, node):
        raise ValueError("no")


@pytest.mark.parametrize(
    ("release", "nominated"),
    [(V134.with_gates(NOMINATES), "a"), (V134, ""), *((release, "") for release in RELEASES[1:])],
)
def test_an_attempt_that_fails_ends_the_nomination_but_in_v1_34_with_the_gate(release, nominated):
    made = cluster(node("a"), pod("one", status={"nominatedNodeName": "a"}), release=release)
    facts = run(scheduler(made, Breaks), options=Options(horizon=5))
    assert facts.pods["default/one"].message
    assert facts.pods["default/one"].nominated == nominated


@pytest.mark.parametrize(
    ("release", "gates", "attempts"),
    [
        pytest.param(V134, {}, 1, id="v1.34 by default: no event"),
        pytest.param(V134, NOMINATES, 2, id="v1.34 with the gate: what has to be pre-bound was nominated"),
        pytest.param(RELEASES[1], {}, 1, id="v1.35: bindings are silent"),
    ],
)
def test_binding_a_pod_with_work_for_pre_bind_requeues_lower_pods_in_v1_34_with_the_gate(release, gates, attempts):
    class Writes(PreBindPlugin):
        def pre_bind(self, cycle, node_name):
            return SUCCESS

    made = cluster(node("a", cpu="1"), pod("large", cpu="2"), release=release.with_gates(gates))
    facts = run(
        scheduler(made, Writes), events=[SimulatedEvent(pod("high", priority=1), at=10)], options=Options(horizon=60)
    )
    assert ends(facts) == {"high": "a", "large": PodState.UNSCHEDULABLE}
    assert facts.pods["default/large"].attempts == attempts


# -- what happens besides ------------------------------------------------------------


def test_a_new_node_helps_a_pod_at_once():
    made = cluster(node("a", cpu="1"), pod("big", cpu="2"))
    facts = run(Scheduler(made), events=[SimulatedEvent(node("b"), at=40)])
    assert ends(facts) == {"big": "b"}
    assert facts.pods["default/big"].settled == 40


def test_a_node_that_does_not_help_is_not_tried():
    made = cluster(node("a", cpu="1"), pod("big", cpu="2"))
    facts = run(Scheduler(made), events=[SimulatedEvent(node("b", cpu="1"), at=40)], options=Options(horizon=60))
    assert (facts.attempts, facts.end) == (1, RunEnd.HORIZON)


def test_a_pod_without_an_event_is_tried_again_after_five_minutes_once_the_world_has_changed():
    made = cluster(node("a", cpu="1"), pod("big", cpu="2"))
    facts = run(Scheduler(made), events=[SimulatedEvent(node("b", cpu="1"), at=40)])
    assert (facts.attempts, facts.clock, facts.end) == (2, 330, RunEnd.STUCK)


def test_a_gated_pod_comes_in_when_its_gates_are_gone():
    gates = [{"name": "hold"}]
    facts = run(
        Scheduler(cluster(node("a"), pod("x", schedulingGates=gates), pod("y", schedulingGates=gates))),
        events=[SimulatedEvent(pod("x"), at=3)],
    )
    assert ends(facts) == {"x": "a", "y": PodState.GATED}
    assert facts.pods["default/y"].message == "waiting for scheduling gates: [hold]"
    assert facts.pods["default/y"].plugins == ("SchedulingGates",)


def test_a_deleted_pod_makes_room_after_its_grace_period():
    running = pod("old", on="a", cpu="1")
    made = cluster(node("a", cpu="1"), running, pod("new", cpu="1"))
    facts = run(Scheduler(made), events=[SimulatedEvent(running, EventAction.DELETE, at=5, grace=10)])
    assert (ends(facts), facts.clock) == ({"new": "a"}, 15)


def test_pods_that_are_deleted_before_they_run_are_gone():
    waiting = pod("new", cpu="9")
    facts = run(Scheduler(cluster(node("a"), waiting)), events=[SimulatedEvent(waiting, EventAction.DELETE, at=5)])
    assert ends(facts) == {"new": PodState.GONE}
    assert facts.end is RunEnd.SETTLED


def test_the_pods_of_a_deleted_node_are_gone_with_it():
    made = cluster(node("a"), node("b"), pod("x", nodeSelector={HOSTNAME: "a"}))
    facts = run(Scheduler(made), events=[SimulatedEvent(node("a"), EventAction.DELETE, at=5)])
    assert ends(facts) == {"x": PodState.GONE}
    assert facts.pods["default/x"].node == "a"


class Replaces(Controller):
    """Makes a new pod for each that is gone, a second later."""

    def __init__(self):
        self.made = 0

    def on_deletion(self, pod, node_name):
        self.made += 1
        metadata = msgspec.structs.replace(pod.pod.metadata, name=f"again-{self.made}", deletion_timestamp=None)
        spec = msgspec.structs.replace(pod.pod.spec, node_name="")
        yield SimulatedEvent(PodInfo(msgspec.structs.replace(pod.pod, metadata=metadata, spec=spec)), at=1)


def test_a_controller_answers_with_more_happenings():
    made = cluster(
        node("a", cpu="1"), node("b", cpu="1"), pod("x", on="b", cpu="1", priority=9), pod("low", on="a", cpu="1"),
        pod("high", cpu="1", priority=1),
    )  # fmt: skip
    facts = run(Scheduler(made), events=[SimulatedEvent(node("c", cpu="1"), at=100)], controller=Replaces())
    assert ends(facts) == {"high": "a", "again-1": "c"}
    assert facts.pods["default/again-1"].arrived == 31


# -- the end -------------------------------------------------------------------------


def test_a_fault_that_stays_ends_the_run():
    class Fails(PreBindPlugin):
        def pre_bind(self, cycle, node_name):
            raise OSError("no such volume")

    facts = run(scheduler(cluster(node("a"), pod("x")), Fails))
    assert (facts.attempts, facts.clock, facts.end) == (2, 2, RunEnd.STUCK)
    message = r'running PreBind plugin "Fails": OSError: no such volume \(test_runs\.py:\d+\)'
    assert re.fullmatch(message, facts.pods["default/x"].message)
    assert facts.pods["default/x"].fault


def test_pods_refused_alike_are_answered_from_memory_and_in_the_same_words():
    made = cluster(node("a", cpu="1"), *(pod(f"p{i}", cpu="2") for i in range(20)))
    facts = run(Scheduler(made))
    assert (facts.attempts, facts.remembered) == (20, 19)
    assert len({outcome.message for outcome in facts.pods.values()}) == 1
    assert facts.end is RunEnd.STUCK


def test_without_nodes_pods_back_off_and_the_run_ends():
    facts = run(Scheduler(cluster(pod("x"))))
    assert facts.pods["default/x"].message == "no nodes available to schedule pods"
    assert (facts.end, facts.clock, ends(facts)) == (RunEnd.STUCK, 0, {"x": PodState.QUEUED})


class Beyond(Scheduler):
    """Cannot answer about the pod x."""

    def attempt(self, pod, **options):
        if pod.key == "default/x":
            raise NotModelled("Sundial", "sundials", "pod default/x")
        return super().attempt(pod, **options)


def test_what_is_not_modelled_hides_nothing_else():
    facts = run(Beyond(cluster(node("a"), pod("x"), pod("y"))))
    assert ends(facts) == {"x": PodState.UNANSWERED, "y": "a"}


def test_an_interrupted_run_says_what_is_known_so_far():
    class Stops(Progress):
        def on_attempt(self, run, queued):
            if run.attempts == 3:
                raise KeyboardInterrupt

    facts = run(Scheduler(cluster(node("a"), *(pod(f"p{i}") for i in range(9)))), progress=Stops())
    assert facts.end is RunEnd.INTERRUPTED
    assert facts.count() == {PodState.BOUND: 3, PodState.QUEUED: 6}


def test_backoff_is_the_configurations():
    settings = {"podInitialBackoffSeconds": 4, "podMaxBackoffSeconds": 5}
    made = cluster(node("a"), pod("x", metadata={"annotations": {"reserve": "fail"}}))
    assert run(scheduler(made, Stumbles, **settings)).clock == 5


class Squabble(PermitPlugin):
    """Holds every pod back, calls for all others, and gives up whoever held a node before."""

    def permit(self, cycle, node_name):
        for waiting in self.handle.waiting_pods():
            waiting.reject(self.name, "somebody else's turn")
        self.handle.activate([other for other in self.handle.cluster.pending.values() if other is not cycle.pod])
        return wait(60)


def test_a_run_in_which_no_time_goes_by_and_nothing_comes_about_ends():
    facts = run(scheduler(cluster(node("a"), pod("x"), pod("y")), Squabble), options=Options(trace=False))
    assert facts.end is RunEnd.PATIENCE
    assert facts.clock == 0


def test_the_clock_does_not_wait_for_a_timeout_that_nobody_needs_any_more():
    made = cluster(node("a"), pod("x"), pod("y"))
    facts = run(scheduler(made, Pairs))
    assert ends(facts) == {"x": "a", "y": "a"}
    assert facts.clock == 0


class Pairs(PermitPlugin):
    """Lets two pods go together."""

    def permit(self, cycle, node_name):
        for waiting in self.handle.waiting_pods():
            waiting.allow(self.name)
            return SUCCESS
        return wait(60)
