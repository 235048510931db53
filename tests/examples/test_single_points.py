"""The examples of single extension points: what each promises, as tables and as runs."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.explain.explanations import explain
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.outcomes import PodState, RunEnd
from schedctl.simulation.runs import Options, run
from schedctl.simulation.timeline import Bound, Waiting
from schedctl.testing.builders import cluster, node, pod


def annotated(obj, **annotations):
    """A node with annotations."""
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, annotations=annotations))


def noted(name, note, value, **spec):
    """A pod with one annotation."""
    return pod(name, metadata={"annotations": {note: value}}, **spec)


def order(facts):
    return [record.pod.removeprefix("default/") for record in facts.timeline if isinstance(record, Bound)]


# -- QueueSort -------------------------------------------------------------------


def test_pods_are_tried_by_priority_then_by_deadline_then_by_arrival(example):
    edf = example("earliest_deadline_first")
    due = edf.module.DEADLINE
    pods = [
        pod("whenever"),
        noted("late", due, "2030-01-02T00:00:00Z"),
        noted("soon", due, "2030-01-01T00:00:00+01:00"),
        noted("nonsense", due, "tomorrow"),
        pod("urgent", priority=10),
    ]
    facts = run(edf.scheduler(cluster(node("a"), *pods)))
    assert order(facts) == ["urgent", "soon", "late", "whenever", "nonsense"]


# -- PreEnqueue ------------------------------------------------------------------


@pytest.fixture
def limited(example):
    """A namespace that runs one pod at a time, and an example to schedule it with."""
    limit = example("concurrency_limit")

    def limited(number, *objects):
        metadata = ObjectMeta(name="default", annotations={limit.module.LIMIT: number})
        return limit.scheduler(cluster(node("a"), Namespace(metadata=metadata), *objects))

    return limited


def test_a_namespace_runs_no_more_pods_at_a_time_than_it_says(limited, ends):
    facts = run(limited("2", pod("runs", on="a"), pod("x"), pod("y")))
    assert ends(facts) == {"x": "a", "y": PodState.GATED}
    assert facts.pods["default/y"].message == "namespace default runs 2 pods at a time, and 2 are before this one"


def test_the_next_pod_comes_in_when_one_has_left(limited, ends):
    running = pod("runs", on="a")
    leaves = SimulatedEvent(running, EventAction.DELETE, at=5, grace=0.0)
    facts = run(limited("1", running, pod("x"), pod("y")), events=[leaves])
    assert ends(facts) == {"x": "a", "y": PodState.GATED}
    assert [record.at for record in facts.timeline if isinstance(record, Bound)] == [5]


def test_a_limit_that_is_no_number_is_named(limited):
    facts = run(limited("many", pod("x")))
    assert "is no number: many" in facts.pods["default/x"].message


def test_other_namespaces_are_not_limited(limited):
    facts = run(limited("0", pod("x", namespace="free")))
    assert facts.pods["free/x"].node == "a"


# -- Filter and Score ------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "team", "taken"),
    [
        pytest.param("red", "red", True, id="a team uses its own nodes"),
        pytest.param("red", "blue", False, id="and not those of another"),
        pytest.param("red", None, False, id="nor does whoever has no team"),
        pytest.param(None, "red", True, id="a node of nobody takes everybody"),
    ],
)
def test_a_node_of_a_team_takes_its_own_pods(example, owner, team, taken):
    made = cluster(node("n", labels={"team": owner} if owner else {}))
    outcome = example("team_fence").scheduler(made).attempt(pod(labels={"team": team} if team else None))
    assert bool(outcome.chosen) is taken
    if not taken:
        assert dict(outcome.filtering.histogram()) == {f"node(s) belong to team {owner}": 1}


def test_the_refusal_of_a_fenced_node_stands_in_the_explanation_with_its_evidence(example):
    made = cluster(node("n", labels={"team": "red"}))
    (reason,) = explain(example("team_fence").scheduler(made), pod()).reasons
    assert (reason.reference, reason.plugin) == ("team-fence/other-team", "TeamFence")
    assert reason.groups[0].evidence == {"owner": "red"}


def test_the_fence_offers_a_remedy_that_explain_tries_and_reports(example):
    made = cluster(node("n", labels={"team": "red"}))
    answer = explain(example("team_fence").scheduler(made), pod())
    assert answer.reasons[0].groups[0].detail == "belongs to team red"
    (hint,) = answer.hints
    assert hint.text == "would fit on n if it had label team=red"
    assert (hint.type, hint.tried, hint.fits, hint.node) == ("join-team", True, 1, "n")


def test_the_remedies_of_the_fence_go_together_with_those_of_kubernetes_own_plugins(example):
    made = cluster(node("n", cpu="2", labels={"team": "red"}))
    (hint,) = explain(example("team_fence").scheduler(made), pod(cpu="3")).hints
    assert sorted(hint.type.split("+")) == ["join-team", "lower-request"]
    assert hint.fits == 1


def test_a_fault_in_remedies_is_a_hint_and_costs_nothing_else(example, monkeypatch):
    fence = example("team_fence")
    monkeypatch.setattr(fence.module.TeamFence, "remedies", lambda plugin, pod, rejection: 1 / 0)
    answer = explain(fence.scheduler(cluster(node("n", labels={"team": "red"}))), pod())
    assert answer.reasons[0].text == "node(s) belong to team red"
    assert "TeamFence failed in remedies: ZeroDivisionError" in answer.hints[0].text


@pytest.mark.parametrize(
    ("prices", "scores"),
    [
        pytest.param(["0.20", "0.30", "0.40"], [100, 50, 0], id="in proportion from the cheapest to the dearest"),
        pytest.param(["0.20", None, "0.40"], [100, 0, 0], id="who says nothing counts as the dearest"),
        pytest.param(["0.20", "free", "-1"], [100, 0, 0], id="and so does nonsense"),
        pytest.param(["0.20", "0.20"], None, id="where all cost the same nobody is preferred"),
        pytest.param([None, None], None, id="nor where nobody says"),
    ],
)
def test_cheaper_power_scores_more(example, prices, scores):
    power = example("power_price")
    label = power.module.PRICE
    made = cluster(*(node(f"n{i}", labels={label: price} if price else {}) for i, price in enumerate(prices)))
    ranking = {score.node: score for score in explain(power.scheduler(made), pod()).scores}
    mine = [
        next((each.normalized for each in ranking[f"n{i}"].plugins if each.plugin == "PowerPrice"), None)
        for i in range(len(prices))
    ]
    assert mine == (scores or [None] * len(prices))


# -- PostFilter ------------------------------------------------------------------


def balloon(name, on, cpu, **spec):
    return pod(name, on=on, cpu=cpu, labels={"balloon": "true"}, terminationGracePeriodSeconds=0, **spec)


def test_as_few_balloons_as_possible_are_preempted(example, ends):
    made = cluster(
        node("a", cpu="4"),
        node("b", cpu="4"),
        *(balloon(f"a{i}", "a", "1") for i in range(4)),
        *(balloon(f"b{i}", "b", "2") for i in range(2)),
        pod("x", cpu="2"),
    )
    facts = run(example("balloons_first").scheduler(made))
    assert ends(facts)["x"] == "b"
    assert [(each.pod.key, each.by) for each in facts.evictions] == [("default/b1", "default/x")]


def test_others_are_preempted_only_where_no_balloon_makes_room(example, ends):
    made = cluster(node("a", cpu="2"), balloon("small", "a", "1"), pod("low", on="a", cpu="1", priority=-1))
    scheduler = example("balloons_first").scheduler(made)
    both = explain(scheduler, pod("x", cpu="2", priority=0)).preemption
    assert (both.nominated_node, sorted(both.victims)) == ("a", ["default/low"]) or both.nominated_node == ""
    alone = explain(scheduler, pod("x", cpu="1")).preemption
    assert (alone.nominated_node, alone.victims) == ("a", ["default/small"])


def test_a_balloon_makes_no_other_balloon_go(example):
    made = cluster(node("a", cpu="1"), balloon("old", "a", "1"))
    explanation = explain(example("balloons_first").scheduler(made), pod("new", cpu="1", labels={"balloon": "true"}))
    assert explanation.preemption.victims == []


# -- Reserve ---------------------------------------------------------------------


@pytest.fixture
def licensed(example):
    return example("license_seats")


def test_each_pod_gets_a_seat_of_its_own_and_the_rest_wait(licensed, ends):
    name = licensed.module.LICENSE
    made = cluster(node("a"), *(noted(f"p{i}", name, "simulator") for i in range(3)))
    facts = run(licensed.scheduler(made))
    assert ends(facts) == {"p0": "a", "p1": "a", "p2": PodState.UNSCHEDULABLE}
    assert {key: seat.seat for key, seat in made.every(licensed.module.Seat).items()} == {
        "default/p0": "key-1",
        "default/p1": "key-2",
    }
    assert "all 2 seats of licence simulator are taken" in facts.pods["default/p2"].message


def test_a_seat_of_a_pod_that_runs_already_is_taken_and_comes_free_with_it(licensed, ends):
    module = licensed.module
    running = pod("runs", on="a", metadata={"annotations": {module.LICENSE: "compiler", module.SEAT: "key-9"}})
    made = cluster(node("a"), running, noted("x", module.LICENSE, "compiler"))
    facts = run(licensed.scheduler(made), events=[SimulatedEvent(running, EventAction.DELETE, at=7, grace=0.0)])
    assert ends(facts) == {"x": "a"}
    assert made.get(module.Seat, "default/x").seat == "key-9"


def test_a_seat_is_given_back_when_the_bind_fails(licensed):
    made = cluster(node("a"), noted("x", licensed.module.LICENSE, "compiler"))
    scheduler = licensed.scheduler(made)
    outcome = scheduler.attempt(made.pending["default/x"])
    assert scheduler.place(outcome).status.successful
    assert "default/x" in made.every(licensed.module.Seat)
    for _ in range(2):  # Unreserve may be called again
        scheduler.handles["default-scheduler"].profile.plugins["LicenseSeats"].unreserve(outcome.cycle, "a")
    assert made.every(licensed.module.Seat) == {}


def test_a_what_if_takes_no_seat(licensed):
    made = cluster(node("a"), noted("x", licensed.module.LICENSE, "compiler"))
    scheduler = licensed.scheduler(made)
    with scheduler.fork():
        run(scheduler)
    assert made.every(licensed.module.Seat) == {}


@pytest.fixture
def fpga(example):
    return example("fpga_slots")


def card(fpga, name, slots):
    return annotated(node(name), **{fpga.module.SLOTS: slots})


def test_slots_are_allocated_where_the_fewest_are_left_over(fpga, ends):
    made = cluster(card(fpga, "big", "0,1,2,3"), card(fpga, "small", "0,1"), node("none"))
    made.add_pod(noted("x", fpga.module.WANTED, "2"))
    facts = run(fpga.scheduler(made))
    assert ends(facts) == {"x": "small"}
    held = made.get(fpga.module.FpgaAllocation, "default/x")
    assert (held.node, held.slots) == ("small", ["0", "1"])


def test_slots_of_running_pods_are_taken_and_the_lowest_free_ones_are_next(fpga):
    slots_wanted, slots_used = fpga.module.WANTED, fpga.module.USED
    running = pod("runs", on="n", metadata={"annotations": {slots_wanted: "1", slots_used: "1"}})
    made = cluster(card(fpga, "n", "0,1,2,3"), running, *(noted(f"p{i}", slots_wanted, "2") for i in range(2)))
    facts = run(fpga.scheduler(made))
    assert made.get(fpga.module.FpgaAllocation, "default/p0").slots == ["0", "2"]
    assert facts.pods["default/p1"].plugins == ("FpgaSlots",)


def test_slots_roll_back_at_unreserve_and_the_next_pod_has_them(fpga):
    made = cluster(card(fpga, "n", "0"), noted("x", fpga.module.WANTED, "1"))
    scheduler = fpga.scheduler(made)
    outcome = scheduler.attempt(made.pending["default/x"])
    placed = scheduler.place(outcome)
    assert made.get(fpga.module.FpgaAllocation, "default/x") is not None
    scheduler.release(outcome, "n", placed.status)
    assert made.get(fpga.module.FpgaAllocation, "default/x") is None
    assert scheduler.attempt(made.pending["default/x"]).chosen == "n"


def test_a_pod_waits_for_slots_until_a_holder_leaves(fpga, ends):
    slots_wanted, slots_used = fpga.module.WANTED, fpga.module.USED
    running = pod("runs", on="n", metadata={"annotations": {slots_wanted: "1", slots_used: "0"}})
    made = cluster(card(fpga, "n", "0"), running, noted("x", slots_wanted, "1"))
    facts = run(fpga.scheduler(made), events=[SimulatedEvent(running, EventAction.DELETE, at=3, grace=0.0)])
    assert ends(facts) == {"x": "n"}


# -- Permit ----------------------------------------------------------------------


def test_a_pod_and_its_partner_are_bound_together(example):
    pair = example("start_together")
    name = pair.module.PARTNER
    made = cluster(node("a"), noted("x", name, "y"))
    facts = run(pair.scheduler(made), events=[SimulatedEvent(noted("y", name, "x"), at=30)])
    assert {record.pod: record.at for record in facts.timeline if isinstance(record, Bound)} == {
        "default/x": 30,
        "default/y": 30,
    }
    (waited,) = (record for record in facts.timeline if isinstance(record, Waiting))
    assert (waited.pod, waited.until) == ("default/x", {"StartTogether": 120})


def test_a_pod_whose_partner_does_not_come_loses_its_node(example):
    pair = example("start_together")
    made = cluster(node("a"), noted("x", pair.module.PARTNER, "y"))
    facts = run(pair.scheduler(made), options=Options(patience=200))
    assert facts.count() == {PodState.UNSCHEDULABLE: 1}
    assert "rejected due to timeout after waiting 2m0s at plugin StartTogether" in facts.pods["default/x"].message


def test_a_pod_whose_partner_finds_no_room_gives_its_own_back(example):
    pair = example("start_together")
    name = pair.module.PARTNER
    made = cluster(node("a", cpu="1"), noted("x", name, "y", cpu="1"), noted("y", name, "x", cpu="1"))
    facts = run(pair.scheduler(made), options=Options(patience=600))
    assert facts.count()[PodState.BOUND] == 0
    assert facts.end is RunEnd.PATIENCE


# -- PreBind, Bind, PostBind -----------------------------------------------------


def test_a_placement_is_recorded_before_the_bind_and_a_pod_without_cost_center_is_refused(example, ends):
    ledger = example("placement_records")
    made = cluster(node("a"), pod("paid", labels={"cost-center": "42"}), pod("free"))
    facts = run(ledger.scheduler(made), options=Options(patience=60))
    assert ends(facts)["paid"] == "a"
    assert ends(facts)["free"] is not PodState.BOUND
    (record,) = made.every(ledger.module.PlacementRecord).values()
    assert (record.metadata.name, record.node, record.cost_center) == ("paid", "a", "42")
    assert "pod has no label cost-center" in facts.pods["default/free"].message


@pytest.mark.parametrize("profile", [True, False], ids=["with its profile", "beside Kubernetes' own plugins"])
def test_nothing_is_bound_to_a_node_under_maintenance(example, ends, profile):
    closed = example("maintenance_binder", profile=profile)
    made = cluster(annotated(node("a"), **{closed.module.UNTIL: "noon"}), pod("x"))
    facts = run(closed.scheduler(made), options=Options(patience=60))
    assert ends(facts)["x"] is not PodState.BOUND
    assert "node a is under maintenance until noon" in facts.pods["default/x"].message
    assert ends(run(closed.scheduler(cluster(node("b"), pod("x"))))) == {"x": "b"}


def test_binds_are_counted_by_namespace_and_zone_and_told_in_explanations(example):
    made = cluster(node("a", zone="z1"), node("b", zone="z2"), *(pod(f"p{i}") for i in range(4)))
    scheduler = example("bind_counts").scheduler(made)
    run(scheduler)
    assert scheduler.profiles["default-scheduler"].plugins["BindCounts"].counts() == {
        ("default", "z1"): 2,
        ("default", "z2"): 2,
    }
    (remark,) = explain(scheduler, pod("next")).remarks
    assert remark.text == "bound so far of namespace default: 2 in z1, 2 in z2"


# -- Handle.listen and Handle.activate -------------------------------------------


def test_a_pod_is_activated_when_the_one_it_waits_for_has_a_node(example, ends):
    after = example("start_after")
    made = cluster(node("a"), noted("web", after.module.AFTER, "db"), pod("other"))
    db = SimulatedEvent(pod("db-0", labels={"app": "db"}), at=20)
    facts = run(after.scheduler(made), events=[db])
    assert ends(facts) == {"web": "a", "other": "a", "db-0": "a"}
    assert order(facts) == ["other", "db-0", "web"]
    assert facts.clock == 20


def test_a_pod_whose_predecessor_never_comes_says_whom_it_waits_for(example):
    after = example("start_after")
    facts = run(after.scheduler(cluster(node("a"), noted("web", after.module.AFTER, "db"))))
    assert "waits for a pod with app=db to start" in facts.pods["default/web"].message
