"""Decisions made again: on the state that they were made on, as far as it can be walked back to."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.api.events import Event
from schedctl.calibration import traces
from schedctl.calibration.replays import RETRIED, Result, recorded_refusals, replay
from schedctl.calibration.timelines import Gone, LeftOut, pods_gone, timeline
from schedctl.calibration.traces import KnownHistory, Trace
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod


def at(second: int) -> str:
    return f"2026-11-20T09:{second // 60:02}:{second % 60:02}Z"


def created(made, second: int):
    return msgspec.structs.replace(
        made, metadata=msgspec.structs.replace(made.metadata, creation_timestamp=at(second), uid=made.metadata.name)
    )


def bound(name: str, on: str, second: int, cpu: str = "1", **more):
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(second)}
    status = {"phase": "Running", "conditions": [condition]}
    metadata = {"uid": name, "creationTimestamp": at(second), **more.pop("metadata", {})}
    return pod(name, on=on, cpu=cpu, status=status, metadata=metadata, **more)


def refused(name: str, message: str, second: int, cpu: str):
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    status = {"phase": "Pending", "conditions": [{**condition, "lastTransitionTime": at(second)}]}
    return pod(name, cpu=cpu, status=status, metadata={"uid": name, "creationTimestamp": at(second)})


def replay_all(state, *, most=100, scheduled=()):
    scheduler = Scheduler(state)
    return replay(scheduler, timeline(scheduler, scheduled), most=most, lines=recorded_refusals(scheduler))


def results(made):
    return {each.pod.pod.metadata.name: each.result for each in made.replays}


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["2", "4", "8"]), min_size=1, max_size=5),
    st.lists(st.tuples(st.sampled_from(["250m", "1", "2"]), st.sampled_from(["x", "y"])), max_size=12),
    st.randoms(use_true_random=False),
)
def test_our_own_decisions_agree(sizes, pods, random):
    state = cluster(*(created(node(f"node-{i}", cpu=cpu, zone=f"zone-{i % 2}"), 0) for i, cpu in enumerate(sizes)))
    placed = []
    for second, (cpu, app) in enumerate(pods, 1):
        outcome = Scheduler(state).attempt(pod(f"pod-{second}", cpu=cpu, labels={"app": app}))
        if outcome.chosen:
            placed.append(bound(f"pod-{second}", random.choice(outcome.ties), second, cpu, labels={"app": app}))
            state.add_pod(placed[-1])
    made = replay_all(state)
    assert results(made) == dict.fromkeys((info.pod.metadata.name for info in reversed(placed)), Result.AGREES)


def test_a_replay_leaves_the_cluster_as_it_was():
    state = cluster(created(node("a"), 0), created(node("b"), 5), bound("x", "a", 1), bound("y", "b", 6))
    generation = {info.key for info in state.pod_table}, list(state.nodes_by_name.names)
    replay_all(state)
    assert ({info.key for info in state.pod_table}, list(state.nodes_by_name.names)) == generation


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (lambda: [bound("late", "a", 9, "3")], "a pod that was bound later took no room"),
        (lambda: [created(node("b", cpu="64"), 9)], "a node that was created later was no choice"),
    ],
    ids=["pods", "nodes"],
)
def test_what_came_later_is_left_out(later, why):
    state = cluster(created(node("a"), 0), bound("first", "a", 1, "3"), *later())
    assert results(replay_all(state))["first"] is Result.AGREES, why


def test_a_lower_score_has_the_differences_of_its_plugins():
    state = cluster(created(node("a"), 0), created(node("b", cpu="64"), 0), bound("x", "a", 1))
    (found,) = replay_all(state).replays
    assert (found.result, found.chosen, found.better) == (Result.LOWER, "b", ["b"])
    assert found.comparison.difference == sum(each.difference for each in found.comparison.plugins) > 0
    assert found.scores["NodeResourcesFit"] is False
    assert all(found.filters.values())


def test_a_refused_node_has_its_reasons_and_the_verdicts_of_all_filters():
    state = cluster(created(node("a", unschedulable=True), 0), created(node("b"), 0), bound("x", "a", 1))
    (found,) = replay_all(state).replays
    assert found.result is Result.REFUSED
    assert [reason.plugin for reason in found.reasons] == ["NodeUnschedulable"]
    assert (found.filters["NodeUnschedulable"], found.filters["NodeResourcesFit"]) == (False, True)
    assert [each.trace for each in traces.of(found, KnownHistory(timeline(Scheduler(state))))] == [Trace.CORDONED]


def test_only_the_newest_decisions_are_replayed():
    state = cluster(created(node("a"), 0), *(bound(f"x-{i}", "a", i, "100m") for i in range(1, 6)))
    made = replay_all(state, most=2)
    assert [each.pod.pod.metadata.name for each in made.replays] == ["x-5", "x-4"]
    assert made.passed_over == 3


def test_pods_without_a_decision_are_left_out_by_reason():
    static = bound("static", "a", 1, metadata={"annotations": {"kubernetes.io/config.mirror": "x"}})
    state = cluster(
        created(node("a"), 0),
        static,
        pod("unscheduled", on="a", metadata={"uid": "h", "creationTimestamp": at(2)}),
        bound("foreign", "a", 3, schedulerName="other"),
        bound("lost", "nowhere", 4),
    )
    assert timeline(Scheduler(state)).left_out == {
        LeftOut.STATIC: ["default/static"],
        LeftOut.UNSCHEDULED: ["default/unscheduled"],
        LeftOut.FOREIGN: ["default/foreign"],
        LeftOut.NODE_GONE: ["default/lost"],
    }


def test_a_recorded_refusal_is_looked_for_on_earlier_states():
    line = (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims"
        " found for incoming pod."
    )
    earlier = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not"
    state = cluster(
        created(node("a"), 0),
        refused("now", line, 2, "4"),
        refused("then", f"{earlier} helpful for scheduling.", 2, "9"),
        bound("early", "a", 1, "1"),
        created(node("b", cpu="1"), 5),
        bound("late", "b", 6, "1"),
    )
    found = {each.pod.pod.metadata.name: each for each in replay_all(state).refusals}
    assert (found["now"].agrees, found["now"].later) == (True, 1)
    assert (found["then"].agrees, found["then"].later) == (True, 1)


def test_a_refusal_that_no_earlier_state_explains_stays_a_difference():
    state = cluster(created(node("a"), 0), refused("odd", "0/7 nodes are available: 7 Too many pods.", 2, "9"))
    (found,) = replay_all(state).refusals
    assert (found.agrees, found.would_be_placed_on) == (False, "")
    assert found.differences


def event(uid: str, time: str, **more) -> Event:
    return msgspec.convert(
        {"involvedObject": {"uid": uid, "namespace": "default", "name": uid}, "eventTime": time, **more}, Event
    )


def test_events_put_pods_of_one_second_in_order_and_name_those_that_have_gone():
    state = cluster(created(node("a"), 0), bound("x", "a", 5, "100m"), bound("y", "a", 5, "100m"))
    scheduled = [event("y", "2026-11-20T09:00:05.100000Z"), event("x", "2026-11-20T09:00:05.900000Z")]
    scheduled += [event("z", "2026-11-20T09:00:01.000000Z")]
    line = timeline(Scheduler(state), scheduled)
    assert [each.pod.uid for each in line.decisions] == ["x", "y"]
    assert line.near(line.decisions[0]) == []
    assert len(timeline(Scheduler(state)).near(timeline(Scheduler(state)).decisions[0])) == 1
    assert [each.pod for each in pods_gone(state, [], scheduled)] == ["default/z"]


def test_a_node_that_is_passed_over_again_and_again_is_a_trace():
    pods = [bound(f"x-{i}", "a", i, "100m") for i in range(1, 5)]
    state = cluster(created(node("a"), 0), created(node("b", cpu="64"), 0), *pods)
    made = replay_all(state)
    known = KnownHistory(made.timeline, shunned_nodes=traces.shunned_nodes(made.replays))
    assert {each.trace for found in made.replays for each in traces.of(found, known)} == {Trace.SHUNNED}
    few = replay_all(cluster(created(node("a"), 0), created(node("b", cpu="64"), 0), *pods[:2]))
    assert all(not nodes for nodes in traces.shunned_nodes(few.replays).values())


def test_a_nomination_is_a_trace():
    state = cluster(created(node("a"), 0), created(node("b", cpu="64"), 0), bound("x", "a", 1))
    message = {"message": "Preempted by pod x on node a", "related": {"uid": "x"}}
    known = KnownHistory(timeline(Scheduler(state)), promised=traces.nominations([event("victim", at(1), **message)]))
    (found,) = replay_all(state).replays
    assert [each.trace for each in traces.of(found, known)] == [Trace.PROMISED]


def test_a_pod_that_nobody_scheduled_in_the_same_second_may_be_the_cause():
    early = pod("unscheduled", on="a", cpu="3", metadata={"uid": "unscheduled", "creationTimestamp": at(5)})
    state = cluster(created(node("a", cpu="4"), 0), early, bound("scheduled", "a", 5, "2"))
    made = replay_all(state)
    (decided,) = made.replays
    assert decided.result is Result.REFUSED
    found = {each.trace: each.names for each in traces.of(decided, KnownHistory(made.timeline))}
    assert found[Trace.PLACED_THEN] == ("default/unscheduled",)


def test_an_agreement_with_other_nodes_cordoned_is_marked():
    state = cluster(created(node("a"), 0), created(node("b", unschedulable=True), 0), bound("x", "a", 5))
    (decided,) = replay_all(state).replays
    assert (decided.result, decided.narrowed) == (Result.AGREES, {"NodeUnschedulable"})


def test_a_cordon_is_the_first_trace():
    state = cluster(
        created(node("a", unschedulable=True), 0), created(node("b"), 0), bound("x", "a", 5), bound("y", "b", 5)
    )
    made = replay_all(state)
    (refused_,) = (each for each in made.replays if each.result is Result.REFUSED)
    assert traces.of(refused_, KnownHistory(made.timeline))[0].trace is Trace.CORDONED


@pytest.mark.parametrize(
    ("on", "explains"),
    [("a", True), ("b", True), ("c", False), ("", False)],
    ids=["taken", "better", "third", "unknown"],
)
def test_a_pod_that_has_gone_is_a_trace_only_where_it_was_on_a_node_of_the_comparison(on, explains):
    nodes = created(node("a"), 0), created(node("b", cpu="64"), 0), created(node("c", cpu="1"), 0)
    state = cluster(*nodes, bound("x", "a", 5))
    (found,) = replay_all(state).replays
    known = KnownHistory(timeline(Scheduler(state)), gone=[Gone(0, "other/done", on)])
    assert ([each.trace for each in traces.of(found, known)] == [Trace.GONE]) is explains


def test_the_node_of_a_deleted_pod_is_in_its_event_or_spec():
    state = cluster(created(node("a"), 0))
    message = {"message": "Successfully assigned default/z to a"}
    done = bound("done", "b", 1).pod
    assert [each.node for each in pods_gone(state, [done], [event("z", "2026-11-20T09:00:00Z", **message)])] == [
        "a",
        "b",
    ]


def test_pending_pods_past_those_that_are_asked_again_are_counted():
    line = "0/7 nodes are available: 7 Too many pods."
    state = cluster(created(node("a"), 0), *(refused(f"odd-{i}", line, 2, "9") for i in range(RETRIED + 2)))
    assert replay_all(state).not_retried == 2
