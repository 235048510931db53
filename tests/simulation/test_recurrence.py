"""Runs that come back to where they were: recognised where what follows is what followed before, and only there."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.config import loading
from schedctl.framework.points import PermitPlugin, ReservePlugin
from schedctl.framework.registries import Registry
from schedctl.framework.statuses import SUCCESS, wait
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.simulation import runs
from schedctl.simulation.events import SimulatedEvent
from schedctl.simulation.outcomes import PodState, RunEnd
from schedctl.simulation.runs import Options, run
from schedctl.simulation.simulator.recurrence import Recurrence
from schedctl.simulation.tie_breaking import draw_ties, first_in_shuffled_order
from schedctl.simulation.timeline import Ended
from schedctl.testing.builders import cluster, node, pod


class Together(PermitPlugin, ReservePlugin):
    """Holds the pods of a team back until there are as many as it says, and gives all of them up with the first."""

    def permit(self, cycle, node_name):
        labels = cycle.pod.labels
        others = [each for each in self.handle.waiting_pods() if each.pod.labels.get("team") == labels.get("team")]
        if len(others) + 1 < int(labels.get("size", 1)):
            return wait(int(labels["patience"]))
        for each in others:
            each.allow(self.name)
        return SUCCESS

    def reserve(self, cycle, node_name):
        return SUCCESS

    def unreserve(self, cycle, node_name):
        for each in self.handle.waiting_pods():
            if each.pod.labels.get("team") == cycle.pod.labels.get("team"):
                each.reject(self.name, f"{cycle.pod.pod.metadata.name} gives up")


CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Together}]}}}]
"""


def scheduler(*objects):
    return Scheduler(cluster(*objects), loading.load(CONFIGURATION, "c"), Registry((*IN_TREE.values(), Together)))


def team(name, count, size, patience=60, **spec):
    labels = {"team": name, "size": str(size), "patience": str(patience)}
    return [pod(f"{name}-{i}", labels=labels, cpu="1", **spec) for i in range(count)]


def test_a_team_that_never_finds_room_ends_the_run_as_soon_as_its_attempts_repeat():
    facts = run(scheduler(node("a", cpu="3"), *team("red", 5, 5)), options=Options(trace=True))
    assert (facts.end, facts.period) == (RunEnd.REPEATING, 60.0)
    assert facts.count() == {PodState.UNSCHEDULABLE: 2, PodState.WAITING: 3}
    reason = "the same attempts repeat every 60 s and change nothing that lasts"
    assert facts.end_in_words == reason
    assert facts.timeline[-1] == Ended(facts.clock, reason)
    assert facts.clock < 1000


def test_without_it_the_same_run_goes_on_until_its_patience_ends_and_comes_to_the_same():
    bounded = run(scheduler(node("a", cpu="3"), *team("red", 5, 5)), options=Options(horizon=10**6))
    facts = run(scheduler(node("a", cpu="3"), *team("red", 5, 5)))
    assert (bounded.end, bounded.period) == (RunEnd.PATIENCE, None)
    assert bounded.attempts > 2 * facts.attempts

    assert answers(bounded) == answers(facts)
    assert (bounded.clock - facts.clock) % facts.period == 0


def test_what_is_still_to_come_is_waited_for():
    late = SimulatedEvent(node("b", cpu="2"), at=3500)
    facts = run(scheduler(node("a", cpu="3"), *team("red", 5, 5)), events=[late])
    assert facts.end is RunEnd.SETTLED
    assert facts.count() == {PodState.BOUND: 5}


@pytest.mark.parametrize(
    ("options", "end"),
    [
        (Options(choose=first_in_shuffled_order("ab", 1)), RunEnd.REPEATING),
        (Options(choose=draw_ties(1)), RunEnd.PATIENCE),
        (Options(horizon=2000), RunEnd.HORIZON),
    ],
    ids=["in an order of its own", "with draws", "until a time"],
)
def test_only_runs_that_are_decided_by_where_they_stand_are_looked_at(options, end):
    made = scheduler(node("a", cpu="1"), node("b", cpu="1"), *team("red", 3, 3))
    assert run(made, options=options).end is end


def test_pods_that_are_written_alike_may_take_turns():
    """Which of them find room is another choice each time, so that no pod alone is where it was for long."""
    seen = []

    class Watching(Recurrence):
        def period(self, until):
            seen.append([queued.info.key for queued in sorted(self._state.queue, key=lambda each: each.stamp)])
            return super().period(until)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "Recurrence", Watching)
        facts = run(scheduler(node("a", cpu="3"), *team("red", 5, 5)))
    assert facts.end is RunEnd.REPEATING
    assert len({tuple(each) for each in seen}) > 1

    other = pod("red-9", labels={"team": "red", "size": "6", "patience": "60", "own": "yes"}, cpu="1")
    mixed = run(scheduler(node("a", cpu="3"), *team("red", 5, 6), other))
    assert mixed.attempts > facts.attempts


TEAMS = st.lists(
    st.tuples(st.integers(1, 5), st.integers(0, 1), st.sampled_from([10, 30, 60, 90]), st.sampled_from([0, 0, 5])),
    min_size=1,
    max_size=3,
)
SINGLES = st.lists(st.tuples(st.sampled_from(["1", "2", "9"]), st.sampled_from([0, 1, 10]), st.booleans()), max_size=3)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), TEAMS, SINGLES, st.lists(st.integers(0, 20), max_size=2))
def test_from_where_it_was_before_a_run_goes_on_as_before_and_binds_nothing_more(nodes, teams, singles, late):
    """The look is gone on with after the end: each situation then is the one of a period before."""

    def scene():
        objects = [node(f"n{i}", cpu=str(cpu)) for i, cpu in enumerate(nodes)]
        pods = []
        for i, (count, missing, patience, priority) in enumerate(teams):
            pods += team(f"t{i}", count, count + missing, patience, priority=priority)
        for i, (cpu, priority, gated) in enumerate(singles):
            gates = {"schedulingGates": [{"name": "data"}]} if gated else {}
            pods.append(pod(f"s{i}", cpu=cpu, priority=priority, **gates))
        events = [SimulatedEvent(pods.pop(i % len(pods)), at=100.0 + i) for i in late if pods]
        return scheduler(*objects, *pods), events

    made, events = scene()
    facts = run(made, events=events)
    situations = {}

    class GoesOn(Recurrence):
        def _digest(self, until):
            situations[self._state.clock.now] = found = super()._digest(until)
            return found

        def period(self, until):
            super().period(until)

    made, events = scene()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "Recurrence", GoesOn)
        whole = run(made, events=events)
    assert bound(facts) == bound(whole)
    assert answers(facts) == answers(whole)
    if facts.end is RunEnd.REPEATING:
        assert (whole.clock - facts.clock) % facts.period == 0
        later = [at for at in situations if at > facts.clock]
        assert [situations[at] for at in later] == [situations.get(at - facts.period) for at in later]
    else:
        assert (facts.end, facts.clock, facts.attempts) == (whole.end, whole.clock, whole.attempts)


def answers(facts):
    """How many pods of each sort have come to what; which of them, pods that are written alike take turns in."""
    return Counter(
        (
            each.pod.labels.get("team", key),
            each.state,
            each.node,
            each.plugins,
            re.sub(r"t\d-\d|red-\d", "a pod", each.message),
        )
        for key, each in facts.pods.items()
    )


def bound(facts):
    return {key: each.node for key, each in facts.pods.items() if each.state is PodState.BOUND}
