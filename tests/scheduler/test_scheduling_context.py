"""The scheduling context of a pod: which plugin is called when, what each answer causes, and what is undone.

Every test has a statement of the scheduling framework for its name. They run whole schedulers, in which two plugins
that take part at every point write down what they are called for, beside Kubernetes' own.
"""

from __future__ import annotations

import numpy as np
import pytest

from schedctl.errors import ConfigError, PluginError
from schedctl.framework import SKIP, SUCCESS, PluginArgs, Reason, StateKey, error, points, unschedulable, wait
from schedctl.framework.events import Action, Resource, registers
from schedctl.scheduler import Scheduler
from schedctl.simulation import timeline
from schedctl.simulation.events import SimulatedEvent
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.runs import Options, run
from schedctl.testing import cluster, node, pod

SEEN = StateKey[tuple[str, ...]]("seen")
CYCLE = ("pre_filter", "filter", "pre_score", "score", "normalize", "reserve", "permit")
BINDING = ("pre_bind", "bind", "post_bind")


class RecorderArgs(PluginArgs, frozen=True):
    """What a recorder answers."""

    colour: str = "none"


class Recorder(
    points.PreEnqueuePlugin, points.PreFilterPlugin, points.FilterPlugin, points.PostFilterPlugin,
    points.PreScorePlugin, points.ScorePlugin, points.ReservePlugin, points.PermitPlugin, points.PreBindPlugin,
    points.BindPlugin, points.PostBindPlugin,
):  # fmt: skip
    """Writes down every call, and answers what the test says for the point and the pod."""

    args_type = RecorderArgs
    no = Reason("node(s) were rejected")

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.test.made.append(self.name)

    def say(self, point, pod, fine):
        self.test.calls.append((point, self.name, pod.key.removeprefix("default/")))
        answers = self.test.answers
        answer = answers.get((point, self.name, pod.key), answers.get((point, self.name), fine))
        return answer() if callable(answer) else answer

    def pre_enqueue(self, pod):
        return self.say("pre_enqueue", pod, SUCCESS)

    def pre_filter(self, cycle, nodes):
        before = ()
        if SEEN in cycle.state:
            before = cycle.state[SEEN]
            self.test.shared.append((self.name, before))
        cycle.state[SEEN] = (*before, self.name)
        return self.say("pre_filter", cycle.pod, None)

    def with_pods(self, cycle, nodes):
        self.say("with_pods", cycle.pod, None)

    def filter(self, cycle, nodes):
        self.test.columns.append((self.name, sorted(nodes.names)))
        rejected = self.say("filter", cycle.pod, ())
        return self.no.where(np.array([name in rejected for name in nodes.names], np.bool_))

    def post_filter(self, cycle, nodes, codes):
        return points.PostFilterResult(self.say("post_filter", cycle.pod, unschedulable("no room")))

    def pre_score(self, cycle, nodes):
        self.test.columns.append((f"pre_score {self.name}", sorted(nodes.names)))
        return self.say("pre_score", cycle.pod, None)

    def score(self, cycle, nodes):
        return np.full(len(nodes), self.say("score", cycle.pod, 7), np.int64)

    def normalize(self, cycle, nodes, scores):
        self.test.columns.append((f"normalize {self.name}", scores.tolist()))
        return np.full(len(nodes), self.say("normalize", cycle.pod, 9), np.int64)

    def reserve(self, cycle, node_name):
        self.test.where.append(self.handle.cluster.node_of(cycle.pod.key))
        return self.say("reserve", cycle.pod, SUCCESS)

    def unreserve(self, cycle, node_name):
        self.say("unreserve", cycle.pod, None)

    def permit(self, cycle, node_name):
        return self.say("permit", cycle.pod, SUCCESS)

    def pre_bind(self, cycle, node_name):
        return self.say("pre_bind", cycle.pod, SUCCESS)

    def bind(self, cycle, node_name):
        return self.say("bind", cycle.pod, SKIP)

    def post_bind(self, cycle, node_name):
        self.say("post_bind", cycle.pod, None)

    def events_to_register(self):
        return self.test.events


def in_order(*plugins, binders=("DefaultBinder",)):
    """Plugins enabled at all their points, at Bind before those that do it otherwise."""
    listed, bind = (", ".join(f"{{name: {name}}}" for name in names) for names in (plugins, (*plugins, *binders)))
    return f'multiPoint: {{enabled: [{listed}]}}, bind: {{disabled: [{{name: "*"}}], enabled: [{bind}]}}'


class Context:
    """A scheduler with the plugins One and Two, and what they were called for."""

    def __init__(self):
        self.calls, self.made, self.columns, self.shared, self.where = [], [], [], [], []
        self.answers, self.events = {}, ()
        self.kinds = [type(name, (Recorder,), {"test": self}) for name in ("One", "Two")]

    def scheduler(self, *objects, profile="", more=""):
        text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        return Scheduler.configured(
            cluster(*objects), f"{text}- plugins: {{{profile or in_order('One', 'Two')}}}\n{more}", self.kinds
        )

    def run(self, *objects, events=(), horizon=1000.0, **options):
        self.facts = run(self.scheduler(*objects, **options), events=events, options=Options(horizon=horizon))
        return self.facts

    def state(self, name):
        return self.facts.pods[f"default/{name}"].state

    def points(self, plugin="One", name="p"):
        return [point for point, called, about in self.calls if (called, about) == (plugin, name)]

    def order(self, point):
        return [plugin for called, plugin, _ in self.calls if called == point]

    def records(self, kind):
        return [record for record in self.facts.timeline if isinstance(record, kind)]


@pytest.fixture
def context():
    return Context()


A, B = node("a"), node("b")


# -- order -----------------------------------------------------------------------------------------------------


def test_points_follow_each_other_as_the_framework_has_them(context):
    context.run(A, B, pod("p"))
    assert context.points() == ["pre_enqueue", *CYCLE, *BINDING]
    assert context.state("p") is PodState.BOUND


@pytest.mark.parametrize("point", ["pre_enqueue", *CYCLE, *BINDING])
def test_plugins_of_a_point_are_called_in_the_order_of_the_configuration(context, point):
    context.run(A, B, pod("p"), profile=in_order("Two", "One"))
    assert context.order(point) == ["Two", "One"]


def test_plugins_may_be_in_another_order_at_each_point(context):
    listed = "enabled: [{name: Two}, {name: One}]"
    context.run(
        A, B, pod("p"), profile=f"multiPoint: {{enabled: [{{name: One}}, {{name: Two}}]}}, permit: {{{listed}}}"
    )
    assert (context.order("reserve"), context.order("permit")) == (["One", "Two"], ["Two", "One"])


def test_plugin_that_takes_part_at_several_points_is_made_once(context):
    context.scheduler(A)
    assert context.made == ["One", "Two"]


def test_plugin_is_called_at_the_points_that_enable_it_alone(context):
    context.run(A, B, pod("p"), profile="permit: {enabled: [{name: One}]}")
    assert context.points() == ["permit"]


def test_star_disables_the_default_plugins_of_a_point(context):
    scheduler = context.scheduler(A, profile='filter: {disabled: [{name: "*"}], enabled: [{name: One}]}')
    (profile,) = scheduler.profiles.values()
    assert [plugin.name for plugin in profile.filter] == ["One"]
    assert "NodeResourcesFit" in {plugin.name for plugin in profile.pre_filter}


def test_arguments_that_are_left_out_are_the_defaults(context):
    more = "  pluginConfig: [{name: Two, args: {colour: red}}]\n"
    (profile,) = context.scheduler(A, more=more).profiles.values()
    assert (profile.plugins["One"].args.colour, profile.plugins["Two"].args.colour) == ("none", "red")


def test_only_one_plugin_may_order_the_queue(context):
    class Sorts(points.QueueSortPlugin):
        def sort_key(self, pod, arrival):
            return arrival

    context.kinds.append(Sorts)
    with pytest.raises(ConfigError, match="queueSort"):
        context.scheduler(A, profile="queueSort: {enabled: [{name: Sorts}]}")


# -- the scheduling cycle --------------------------------------------------------------------------------------


def test_pod_is_active_only_when_every_pre_enqueue_lets_it_in(context):
    context.answers["pre_enqueue", "Two"] = unschedulable("not yet")
    context.run(A, pod("p"))
    assert context.points() == ["pre_enqueue"]
    assert context.state("p") is PodState.GATED


def test_pre_filter_is_called_once_in_a_cycle_of_many_nodes(context):
    context.run(*(node(f"n{number}") for number in range(9)), pod("p"))
    assert context.points().count("pre_filter") == 1


@pytest.mark.parametrize("point", ["pre_filter", "pre_score"])
def test_error_before_the_nodes_are_asked_ends_the_cycle(context, point):
    context.answers[point, "One"] = error("broken")
    outcome = context.scheduler(A, B).attempt(pod("p"))
    assert "broken" in outcome.error
    assert context.points("One")[-1] == point
    assert point not in context.points("Two")


def test_added_pods_are_told_after_pre_filter_only(context):
    """Pods that are nominated to a node are counted in by AddPod, on a copy of the state."""
    promised = pod("promised", priority=9, status={"phase": "Pending", "nominatedNodeName": "a"})
    outcome = context.scheduler(A, promised).attempt(pod("p"))
    assert context.points()[1:5] == ["pre_filter", "with_pods", "filter", "filter"]
    assert outcome.cycle.state[SEEN] == ("One", "Two")


def test_filters_after_the_first_that_rejects_a_node_are_not_asked_about_it(context):
    context.answers["filter", "One"] = ("a",)
    context.run(A, B, pod("p"))
    assert context.columns[:2] == [("One", ["a", "b"]), ("Two", ["b"])]


def test_post_filter_is_called_only_where_no_node_is_feasible(context):
    context.scheduler(A, B).attempt(pod("p"))
    assert "post_filter" not in context.points()
    context.answers["filter", "One"] = ("a", "b")
    context.scheduler(A, B).attempt(pod("q"))
    assert "post_filter" in context.points(name="q")


def test_post_filters_after_the_first_that_makes_room_are_not_called(context):
    context.answers["filter", "One"] = ("a",)
    context.answers["post_filter", "One"] = SUCCESS
    profile = (
        f'{in_order("One", "Two")}, postFilter: {{disabled: [{{name: "*"}}], enabled: [{{name: One}}, {{name: Two}}]}}'
    )
    context.scheduler(A, profile=profile).attempt(pod("p"))
    assert context.order("post_filter") == ["One"]


def test_pre_score_gets_the_nodes_that_filters_left(context):
    context.answers["filter", "Two"] = ("a",)
    context.scheduler(A, B, node("c")).attempt(pod("p"))
    assert ("pre_score One", ["b", "c"]) in context.columns


def test_scores_are_normalised_once_for_each_plugin_from_its_own(context):
    context.answers["score", "Two"] = 30
    context.scheduler(A, B).attempt(pod("p"))
    assert context.order("normalize") == ["One", "Two"]
    assert ("normalize One", [7, 7]) in context.columns
    assert ("normalize Two", [30, 30]) in context.columns


def test_normalised_scores_are_weighted_and_added_up(context):
    context.answers["normalize", "Two"] = 20
    profile = 'score: {disabled: [{name: "*"}], enabled: [{name: One, weight: 3}, {name: Two, weight: 2}]}'
    outcome = context.scheduler(A, B, profile=profile).attempt(pod("p"))
    assert outcome.scoring.totals.tolist() == [3 * 9 + 2 * 20] * 2


@pytest.mark.parametrize("score", [-1, 101])
def test_score_outside_of_0_to_100_after_normalising_ends_the_cycle(context, score):
    context.answers["normalize", "One"] = score
    assert f'plugin "One" returns an invalid score {score}' in context.scheduler(A, B).attempt(pod("p")).error


def test_error_of_score_ends_the_cycle(context):
    def fails():
        raise PluginError("no scores today")

    context.answers["score", "One"] = fails
    outcome = context.scheduler(A, B).attempt(pod("p"))
    assert outcome.error == 'running Score plugins: plugin "One" failed with: no scores today'


def test_state_is_shared_by_the_plugins_of_a_cycle_and_by_nobody_after_it(context):
    scheduler = context.scheduler(A, B)
    scheduler.attempt(pod("p"))
    scheduler.attempt(pod("q"))
    assert context.shared == [("Two", ("One",))] * 2


# -- Reserve ---------------------------------------------------------------------------------------------------


def test_pod_counts_on_its_node_before_reserve_is_called(context):
    context.run(A, pod("p"))
    assert context.where == ["a", "a"]


def test_assumed_pod_takes_room_from_the_next_one(context):
    scheduler = context.scheduler(node("a", cpu="1"), pod("p", cpu="1"))
    scheduler.place(scheduler.attempt(scheduler.cluster.pending["default/p"]))
    assert scheduler.attempt(pod("q", cpu="1")).feasible == 0


def test_assumed_pod_is_nominated_no_longer(context):
    promised = pod("p", status={"phase": "Pending", "nominatedNodeName": "a"})
    scheduler = context.scheduler(A, promised)
    assert [each.key for each in scheduler.nominator.pods("a")] == ["default/p"]
    scheduler.place(scheduler.attempt(promised))
    assert list(scheduler.nominator.pods("a")) == []


def test_pod_that_is_on_a_node_already_is_not_assumed_again(context):
    scheduler = context.scheduler(A, B, pod("p"))
    outcome = scheduler.attempt(scheduler.cluster.pending["default/p"])
    scheduler.place(outcome, "a")
    with pytest.raises(ValueError, match=r'pod default/p is on node "a" already'):
        scheduler.place(outcome, "b")


def test_reserve_plugins_after_one_that_fails_are_not_called(context):
    context.answers["reserve", "One"] = unschedulable("taken")
    scheduler = context.scheduler(A, pod("p"))
    scheduler.place(scheduler.attempt(scheduler.cluster.pending["default/p"]))
    assert context.order("reserve") == ["One"]


def test_all_reserve_plugins_unreserve_in_reverse_also_those_not_called(context):
    context.answers["reserve", "One"] = unschedulable("taken")
    scheduler = context.scheduler(A, pod("p"))
    scheduler.place(scheduler.attempt(scheduler.cluster.pending["default/p"]))
    assert context.order("unreserve") == ["Two", "One"]
    assert "default/p" in scheduler.cluster.pending


STEPS = ("reserve", "permit", "pre_bind", "bind")


@pytest.mark.parametrize("point", STEPS)
def test_reserved_pod_ends_in_unreserve_or_in_post_bind(context, point):
    context.run(A, pod("p"))
    assert ("unreserve" in context.points(), "post_bind" in context.points()) == (False, True)
    context.calls.clear()
    context.answers[point, "One", "default/q"] = error("broken")
    context.run(A, pod("q"), horizon=0.5)
    assert ("unreserve" in context.points(name="q"), "post_bind" in context.points(name="q")) == (True, False)


@pytest.mark.parametrize("point", STEPS)
def test_pod_whose_context_is_aborted_is_tried_again(context, point):
    answers = iter((error("broken"),))
    context.answers[point, "One"] = lambda: next(answers, SKIP if point == "bind" else SUCCESS)
    context.run(A, pod("p"))
    assert context.state("p") is PodState.BOUND
    assert context.points().count("pre_filter") == 2


def test_unreserve_that_fails_keeps_no_other_from_being_called(context):
    def fails():
        raise KeyError("lost")

    context.answers |= {("permit", "One"): unschedulable("no"), ("unreserve", "Two"): fails}
    context.run(A, pod("p"), horizon=0.5)
    assert context.order("unreserve")[:2] == ["Two", "One"]
    assert "default/p" in context.facts.pods


@pytest.mark.parametrize("point", ["reserve", "permit"])
def test_rejected_pod_is_requeued_by_the_events_of_its_rejector(context, point):
    context.events = (registers(Resource.NODE, Action.ADD),)
    context.answers[point, "One"] = unschedulable("no")
    added = SimulatedEvent(node("b"), at=50)
    context.run(A, pod("p"), events=[added], horizon=40)
    before = context.points().count(point)
    context.calls.clear()
    context.run(A, pod("p"), events=[added], horizon=60)
    assert context.points().count(point) == before + 1


# -- Permit ----------------------------------------------------------------------------------------------------


def test_pod_goes_on_once_all_permit_plugins_approve_it(context):
    context.run(A, pod("p"))
    assert context.points()[-4:] == ["permit", *BINDING]


def test_pod_that_any_permit_plugin_denies_goes_back_to_the_queue(context):
    context.answers["permit", "Two"] = unschedulable("not today")
    context.run(A, pod("p"), horizon=0.5)
    assert context.state("p") is not PodState.BOUND
    assert context.facts.pods["default/p"].plugins == ("Two",)
    assert "pre_bind" not in context.points()
    assert context.order("unreserve")[:2] == ["Two", "One"]


def test_denial_counts_although_another_plugin_would_wait(context):
    context.answers |= {("permit", "One"): wait(60), ("permit", "Two"): unschedulable("not today")}
    context.run(A, pod("p"), horizon=0.5)
    assert context.records(timeline.Waiting) == []
    assert context.state("p") is not PodState.BOUND


def test_fault_of_permit_is_told_with_its_plugin(context):
    context.answers["permit", "One"] = error("broken")
    context.run(A, pod("p"), horizon=0.5)
    assert context.facts.pods["default/p"].message == 'running Permit plugin "One": broken'


def test_pod_that_waits_is_not_bound_while_others_are_scheduled(context):
    context.answers["permit", "One", "default/p"] = wait(60)
    context.run(A, pod("p", priority=9), pod("q"), horizon=30)
    assert (context.state("p"), context.state("q")) == (PodState.WAITING, PodState.BOUND)


def test_pod_that_waits_holds_its_room(context):
    context.answers["permit", "One", "default/p"] = wait(60)
    context.run(node("a", cpu="1"), pod("p", cpu="1", priority=9), pod("q", cpu="1"), horizon=30)
    assert context.state("q") is PodState.UNSCHEDULABLE
    assert "Insufficient cpu" in context.facts.pods["default/q"].message


@pytest.mark.parametrize("who", ["One", "Two"])
def test_any_plugin_sees_the_pods_that_wait_and_may_let_them_go_on(context, who):
    context.answers["permit", "One", "default/p"] = wait(60)

    def allows():
        for waiting in handles[who].waiting_pods():
            waiting.allow("One")
        return SUCCESS

    context.answers["permit", who, "default/q"] = allows
    scheduler = context.scheduler(A, pod("p"))
    handles = {name: scheduler.profiles["default-scheduler"].plugins[name].handle for name in ("One", "Two")}
    context.facts = run(scheduler, events=[SimulatedEvent(pod("q"), at=20)], options=Options(horizon=100))
    assert [(record.at, record.pod) for record in context.records(timeline.Bound)] == [
        (20, "default/q"),
        (20, "default/p"),
    ]


def test_pod_goes_on_only_when_every_plugin_that_waits_allows_it(context):
    context.answers |= {("permit", "One", "default/p"): wait(60), ("permit", "Two", "default/p"): wait(60)}
    handles = []

    def allows(plugin):
        def allow():
            for waiting in handles[0].waiting_pods():
                waiting.allow(plugin)
            return SUCCESS

        return allow

    context.answers |= {
        ("permit", "One", "default/q"): allows("One"),
        ("permit", "One", "default/r"): allows("Two"),
    }
    scheduler = context.scheduler(A, pod("p"))
    handles.append(scheduler.profiles["default-scheduler"].plugins["One"].handle)
    events = [SimulatedEvent(pod("q"), at=10), SimulatedEvent(pod("r"), at=20)]
    context.facts = run(scheduler, events=events, options=Options(horizon=100))
    assert [record.at for record in context.records(timeline.Bound) if record.pod == "default/p"] == [20]


def test_wait_that_times_out_is_a_denial(context):
    context.answers["permit", "One"] = wait(30)
    context.run(A, pod("p"), horizon=31)
    (released,) = context.records(timeline.Released)
    assert (released.at, released.plugin) == (30, "One")
    assert released.message == "rejected due to timeout after waiting 30s at plugin One"
    assert context.order("unreserve")[:2] == ["Two", "One"]


def test_wait_is_never_longer_than_fifteen_minutes(context):
    context.answers["permit", "One"] = wait(3600)
    context.run(A, pod("p"), horizon=901)
    assert [record.at for record in context.records(timeline.Released)] == [900]


def test_first_plugin_whose_time_is_over_denies_the_pod(context):
    context.answers |= {("permit", "One"): wait(50), ("permit", "Two"): wait(20)}
    context.run(A, pod("p"), horizon=21)
    assert [(record.at, record.plugin) for record in context.records(timeline.Released)] == [(20, "Two")]


def test_room_of_a_pod_that_is_released_is_an_event_for_the_others(context):
    context.answers["permit", "One", "default/p"] = wait(30)
    context.run(node("a", cpu="1"), pod("p", cpu="1", priority=9), pod("q", cpu="1"), horizon=31)
    assert ("AssignedPodDelete", "default/p") in [
        (record.event, record.subject) for record in context.records(timeline.Happened)
    ]
    assert context.state("q") is PodState.BOUND


# -- the binding cycle -----------------------------------------------------------------------------------------


def test_bind_is_not_called_before_every_pre_bind_is_through(context):
    context.run(A, pod("p"))
    both = [(point, plugin) for point, plugin, _ in context.calls if point in ("pre_bind", "bind")]
    assert both[:3] == [("pre_bind", "One"), ("pre_bind", "Two"), ("bind", "One")]


def test_pod_that_pre_bind_fails_for_is_rejected_and_never_bound(context):
    context.answers["pre_bind", "Two"] = error("no volume")
    context.run(A, pod("p"), horizon=0.5)
    assert context.facts.pods["default/p"].message == 'running PreBind plugin "Two": no volume'
    assert "bind" not in context.points()


@pytest.mark.parametrize(
    ("answers", "called", "bound"),
    [
        pytest.param({"One": SUCCESS}, ["One"], True, id="the first binds it: the others are skipped"),
        pytest.param({"Two": SUCCESS}, ["One", "Two"], True, id="the first chooses not to handle it"),
        pytest.param({"One": error("broken")}, ["One"], False, id="an error is no choice: nobody else is called"),
        pytest.param({}, ["One", "Two"], False, id="nobody handles it: it is rejected"),
    ],
)
def test_bind_plugins_are_called_in_order_until_one_handles_the_pod(context, answers, called, bound):
    context.answers |= {("bind", plugin): answer for plugin, answer in answers.items()}
    context.run(A, pod("p"), profile=in_order("One", "Two", binders=()), horizon=0.5)
    assert context.order("bind")[: len(called)] == called
    assert (context.state("p") is PodState.BOUND) is bound
    assert ("unreserve" in context.points()) is not bound


def test_post_bind_is_the_end_and_changes_nothing(context):
    def fails():
        raise KeyError("lost")

    context.answers["post_bind", "One"] = fails
    context.run(A, pod("p"))
    assert context.state("p") is PodState.BOUND
    assert context.order("post_bind") == ["One", "Two"]


def test_pods_are_told_apart_by_their_own_context(context):
    """A pod that waits and one that is bound meanwhile each have a state of their own."""
    context.answers["permit", "One", "default/p"] = wait(10)
    context.run(A, pod("p", priority=9), pod("q"), horizon=11)
    assert context.points(name="q")[-3:] == list(BINDING)
    assert "pre_bind" not in context.points(name="p")


def test_profile_by_the_name_of_the_scheduler_of_the_pod(context):
    more = "- schedulerName: other\n  plugins: {permit: {enabled: [{name: One}]}}\n"
    scheduler = context.scheduler(A, more=f"  schedulerName: default-scheduler\n{more}")
    scheduler.place(scheduler.attempt(pod("p", schedulerName="other")))
    assert context.points() == ["permit"]


def test_plugin_is_made_for_each_profile(context):
    more = "- schedulerName: other\n  plugins: {permit: {enabled: [{name: One}]}}\n"
    context.scheduler(A, more=f"  schedulerName: default-scheduler\n{more}")
    assert context.made.count("One") == 2
