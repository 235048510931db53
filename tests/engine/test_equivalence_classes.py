"""When a choice is read off an equivalence class, when the cycle is run in full, and that nobody can tell."""

import msgspec
import numpy as np
import pytest

from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.engine.attempts import attempt
from schedctl.framework.cycles import StateKey
from schedctl.framework.events import Action, ClusterEvent, Resource
from schedctl.framework.points import FilterPlugin, NodeSet, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Reason
from schedctl.framework.statuses import SKIP, unschedulable
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import ZONE, cluster, node, pod
from schedctl.testing.law_tests import scheduler_with
from schedctl.testing.side_by_side import differences

replace = msgspec.structs.replace


def web(number, **more):
    """One pod of a template."""
    return pod(f"web-{number}", **{"cpu": "100m", "labels": {"app": "web"}, **more})


def place(scheduler, *pods):
    """Place pods one after another; what came of the last."""
    for each in pods:
        outcome = scheduler.attempt(each)
        scheduler.place(outcome, outcome.chosen)
    return outcome


def ask(scheduler, incoming, **options):
    """The answer for a pod, which is what it would be without a memory."""
    outcome = scheduler.attempt(incoming, **options)
    # read before the full cycle runs: reading must not be what makes both agree
    decision = outcome.chosen, outcome.ties, outcome.error
    percentage = scheduler.percentage(outcome.profile) if options.get("sampling") else None
    anew = attempt(outcome.profile, scheduler.cluster, incoming, scheduler.nominator, percentage=percentage)
    assert decision == (anew.chosen, anew.ties, anew.error)
    assert not list(differences(outcome, anew))
    return outcome


def uses_class(outcome):
    return outcome.equivalence_class is not None


def replace_node(made, name, **more):
    """The node of that name has something new."""
    made.add_node(node(name, **more))


@pytest.fixture
def scheduler():
    """Three nodes, and a pod that runs on the second."""
    return Scheduler(cluster(node("a", zone="x"), node("b", zone="x"), node("c", zone="y"), pod("old", on="b")))


def test_choice_is_read_off_the_class_from_the_first_pod_on(scheduler):
    assert uses_class(place(scheduler, web(0)))
    assert uses_class(ask(scheduler, web(1)))
    assert uses_class(ask(scheduler, web(1))), "and so is one who asks again"


def test_each_template_has_a_class_of_its_own(scheduler):
    place(scheduler, web(0))
    assert uses_class(ask(scheduler, web(1, cpu="200m")))
    assert uses_class(ask(scheduler, web(2, cpu="200m")))
    assert uses_class(ask(scheduler, web(3)))


def nothing(scheduler):
    pass


def a_pod_like_it_is_placed(scheduler):
    place(scheduler, web(100))


def ten_pods_like_it_are_placed(scheduler):
    place(scheduler, *(web(100 + number) for number in range(10)))


def another_pod_lands(scheduler):
    scheduler.cluster.assume(pod("other", cpu="2"), "a")


def a_pod_like_it_goes(scheduler):
    (gone,) = (info for info in scheduler.cluster.pod_table if info.key == "default/web-0")
    scheduler.cluster.remove_pod(gone)


def an_old_pod_goes(scheduler):
    (gone,) = (info for info in scheduler.cluster.pod_table if info.key == "default/old")
    scheduler.cluster.remove_pod(gone)


def a_namespace_comes(scheduler):
    scheduler.cluster.put(Namespace(metadata=ObjectMeta(name="shop")))


def a_node_fills_up(scheduler):
    scheduler.cluster.assume(pod("huge", cpu="4"), "c")


def a_node_is_resized(scheduler):
    replace_node(scheduler.cluster, "a", cpu="64", zone="x")


def a_node_is_added(scheduler):
    replace_node(scheduler.cluster, "d", zone="y")


def a_node_goes(scheduler):
    scheduler.cluster.remove_node("a")


def a_node_is_promised(scheduler):
    scheduler.nominator.nominate(pod("vip", priority=10, cpu="3"), "a")


def a_promise_is_taken_back(scheduler):
    promised = pod("vip", priority=10, cpu="3")
    scheduler.nominator.nominate(promised, "a")
    ask(scheduler, web(200))
    scheduler.nominator.withdraw(promised)


@pytest.mark.parametrize(
    ("happens", "from_class"),
    [
        (nothing, True),
        (a_pod_like_it_is_placed, True),
        (ten_pods_like_it_are_placed, True),
        (another_pod_lands, True),
        (a_pod_like_it_goes, True),
        (an_old_pod_goes, True),
        (a_namespace_comes, True),  # nobody has terms about its labels
        (a_node_fills_up, True),
        (a_node_is_resized, True),
        (a_node_is_added, True),
        (a_node_goes, True),
        (a_node_is_promised, False),
        (a_promise_is_taken_back, True),
    ],
)
def test_class_is_used_while_changes_can_be_followed(happens, from_class, scheduler):
    place(scheduler, web(0))
    ask(scheduler, web(1))
    happens(scheduler)
    assert uses_class(ask(scheduler, web(2))) is from_class


def test_sampling_never_uses_the_class(scheduler):
    place(scheduler, web(0), web(1))
    assert not uses_class(ask(scheduler, web(2), sampling=True))
    ask(scheduler, web(3))
    assert uses_class(ask(scheduler, web(4)))


def test_nominated_node_is_evaluated_before_the_class(scheduler):
    place(scheduler, web(0), web(1))
    status = replace(web(2).pod.status, nominated_node_name="b")
    promised = type(web(2))(replace(web(2).pod, status=status))
    outcome = ask(scheduler, promised)
    assert not uses_class(outcome)
    assert outcome.nominated_first
    assert outcome.chosen == "b"


def test_class_survives_a_reverted_fork(scheduler):
    place(scheduler, web(0), web(1))
    before = ask(scheduler, web(2)).ties
    with scheduler.fork():
        another_pod_lands(scheduler)
        assert ask(scheduler, web(2)).ties != before
    after = ask(scheduler, web(2))
    assert uses_class(after)
    assert after.ties == before


# -- room ------------------------------------------------------------------------


def test_nodes_fill_up_until_the_pod_is_unschedulable():
    scheduler = Scheduler(cluster(node("a", cpu="1"), node("b", cpu="1"), node("c", cpu="500m")))
    for number in range(5):
        outcome = ask(scheduler, web(number, cpu="500m"))
        scheduler.place(outcome, outcome.chosen)
        assert uses_class(outcome)
    refused = ask(scheduler, web(9, cpu="500m"))
    assert not uses_class(refused), "that nothing fits is for the whole cycle to say"
    assert refused.is_unschedulable
    assert refused.unschedulable_plugins == {"NodeResourcesFit"}


def test_full_node_becomes_feasible_again():
    scheduler = Scheduler(cluster(node("a", cpu="1"), node("b", cpu="1")))
    place(scheduler, web(0))
    full = pod("full", cpu="900m")
    scheduler.cluster.assume(full, "b")
    assert ask(scheduler, web(1)).feasible == 2
    scheduler.cluster.assume(web(2), "b")
    assert ask(scheduler, web(3)).feasible == 1
    scheduler.cluster.remove_pod(full)
    again = ask(scheduler, web(4))
    assert again.feasible == 2
    assert uses_class(again)


def test_newly_feasible_node_is_judged():
    full = pod("full", cpu="1", on="b")
    scheduler = Scheduler(cluster(node("a", cpu="1"), node("b", cpu="1"), full))
    place(scheduler, web(0), web(1))
    scheduler.cluster.remove_pod(full)
    judged = ask(scheduler, web(2))
    assert uses_class(judged)
    assert judged.feasible == 2
    assert uses_class(ask(scheduler, web(3)))


def test_a_taint_that_came_while_the_node_was_full_counts_once_it_is_not():
    full = pod("full", cpu="1", on="a")
    scheduler = Scheduler(cluster(node("a", cpu="1"), node("b", cpu="1"), full))
    place(scheduler, web(0))
    replace_node(scheduler.cluster, "a", cpu="1", taints=[{"key": "old", "effect": "PreferNoSchedule"}])
    place(scheduler, web(1), web(2))
    scheduler.cluster.remove_pod(full)
    judged = ask(scheduler, web(3))
    assert uses_class(judged)
    assert (judged.feasible, judged.chosen) == (2, "b")


# -- by domain -------------------------------------------------------------------


def term(app, key=ZONE):
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


APART = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term("web")]}}
NEAR = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term("web")]}}
SPREAD = [{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **term("web")}]


@pytest.mark.parametrize(
    "wishes",
    [
        pytest.param({"affinity": NEAR}, id="pods that want company"),
        pytest.param({"topologySpreadConstraints": SPREAD}, id="pods that must be spread"),
        pytest.param(
            {"topologySpreadConstraints": [{**SPREAD[0], "whenUnsatisfiable": "ScheduleAnyway"}]},
            id="pods that would rather be spread",
        ),
    ],
)
def test_class_follows_affinity_and_spreading(wishes, scheduler):
    place(scheduler, web(0, **wishes), web(1, **wishes), web(2, **wishes))
    assert uses_class(ask(scheduler, web(3, **wishes)))
    a_pod_like_it_goes(scheduler)
    ask(scheduler, web(4, **wishes))


def test_anti_affinity_uses_up_the_zones(scheduler):
    place(scheduler, web(0, affinity=APART))
    last = ask(scheduler, web(1, affinity=APART))
    scheduler.place(last, last.chosen)
    assert ask(scheduler, web(2, affinity=APART)).is_unschedulable


def test_node_that_changes_zone_moves_its_anti_affinity_counts():
    db = pod("db", on="n", affinity=APART)
    scheduler = Scheduler(cluster(node("n", zone="a"), node("m", zone="a"), node("z", zone="b"), db))
    ask(scheduler, web(0))
    assert ask(scheduler, web(1)).ties == ["z"]
    scheduler.cluster.add_node(node("n"))
    scheduler.cluster.remove_pod(db)
    assert ask(scheduler, web(2)).feasible == 3


# -- plugins that are asked anew ---------------------------------------------------


class Anew(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Has no signature, and does what a pod's annotation ``does`` says."""

    no = Reason("not today")

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.called_for = []

    def pre_filter(self, cycle, nodes):
        self.does = (cycle.pod.pod.metadata.annotations or {}).get("does", "")
        self.called_for.append(cycle.pod.key)
        if self.does == "narrow":
            return NodeSet(frozenset(("b",)))
        return {"skip": SKIP, "refuse": unschedulable("no")}.get(self.does)

    def filter(self, cycle, nodes):
        assert self.does != "skip"
        if self.does == "fail":
            raise KeyError("lost")
        return self.no.where(np.array(nodes.names) == "a") if self.does == "refuse a" else ACCEPT

    def pre_score(self, cycle, nodes):
        return SKIP if self.does == "skip score" else None

    def score(self, cycle, nodes):
        assert self.does != "skip score"
        is_c = np.array(nodes.names) == "c"
        return (is_c * (101 if self.does == "overshoot" else 100)).astype(np.int64)


def doing(number, what):
    return web(number, metadata={"annotations": {"does": what}})


@pytest.mark.parametrize(
    ("does", "from_class", "feasible"),
    [
        pytest.param("", True, 3, id="one that passes all nodes is asked, and the rest is read off"),
        pytest.param("skip", True, 3, id="one that skips Filter is asked to score"),
        pytest.param("skip score", True, 3, id="one that skips Score is not asked to"),
        pytest.param("refuse a", False, 2, id="one that refuses a node has the cycle run in full"),
        pytest.param("refuse", False, 0, id="one that refuses the pod, too"),
        pytest.param("narrow", False, 1, id="one that narrows the search, too"),
        pytest.param("fail", False, 0, id="one that fails is the error of a full cycle"),
        pytest.param("overshoot", False, 0, id="one that scores beyond the range, too"),
    ],
)
def test_plugin_without_signature_is_called_for_every_pod(does, from_class, feasible):
    scheduler = scheduler_with(Anew, cluster(node("a"), node("b"), node("c")))
    assert place(scheduler, web(0), web(1)).chosen == "c"
    outcome = ask(scheduler, doing(2, does))
    assert uses_class(outcome) is from_class
    assert outcome.feasible == feasible
    assert bool(outcome.error) is (does in ("fail", "overshoot"))
    ask(scheduler, web(3))
    (plugin,) = (p for p in outcome.profile.plugins.values() if isinstance(p, Anew))
    assert [key for key in plugin.called_for if key in ("default/web-0", "default/web-1")] == [
        "default/web-0",
        "default/web-1",
    ]


def test_class_survives_a_rejection_by_a_plugin_without_signature():
    scheduler = scheduler_with(Anew, cluster(node("a"), node("b"), node("c")))
    place(scheduler, web(0), web(1), doing(2, "refuse a"))
    ask(scheduler, web(3))
    assert uses_class(ask(scheduler, web(4)))


# -- state -------------------------------------------------------------------------

PODS = StateKey[int]("Crowded")


class Crowded(PreScorePlugin, ScorePlugin):
    """Scores all nodes by how many pods run in all."""

    reads_feasible_set = False
    foreseeable = True

    def pre_score(self, cycle, nodes):
        cycle.state[PODS] = nodes.cluster.counter({})

    def score(self, cycle, nodes):
        return np.full(len(nodes), min(int(cycle.state[PODS].by_row.sum()), 100))

    def signature(self, pod):
        return ()


def test_plugin_is_called_again_after_changes_while_unschedulable():
    full = pod("full", cpu="1", on="a")
    scheduler = scheduler_with(Crowded, cluster(node("a", cpu="1"), full))
    assert ask(scheduler, web(0)).is_unschedulable
    scheduler.cluster.assume(pod("other-0"), "a")
    assert ask(scheduler, web(1)).is_unschedulable
    scheduler.cluster.remove_pod(full)
    place(scheduler, web(2), web(3))
    scheduler.cluster.assume(pod("other-1"), "a")
    ask(scheduler, web(4))


def test_a_plugin_that_is_asked_after_a_change_which_it_had_no_part_in_is_not_asked_anew_by_another_class():
    scheduler = Scheduler(cluster(*(node(f"n{number:02}", cpu="100m") for number in range(20))))
    fits, never = {"cpu": "1"}, {"cpu": "100"}
    assert ask(scheduler, web(0, **fits)).is_unschedulable
    assert ask(scheduler, web(1, **never)).is_unschedulable
    replace_node(scheduler.cluster, "n00", cpu="8")
    assert ask(scheduler, web(2, **fits)).chosen == "n00"  # plugins score for the first time
    assert ask(scheduler, web(3, **never)).is_unschedulable  # and nobody here would have them score again
    for name in ("n00", "n01"):
        scheduler.cluster.assume(pod(f"other-{name}"), name)
    assert ask(scheduler, web(4, **fits)).chosen == "n00"


class Stops(PreFilterPlugin):
    """Refuses all pods while there is a certain namespace."""

    def pre_filter(self, cycle, nodes):
        return unschedulable("stop") if nodes.cluster.get(Namespace, "stop") else None

    def signature(self, pod):
        return ()


def test_nothing_is_foreseen_of_nodes_that_have_changed_while_pods_were_refused():
    scheduler = scheduler_with(Stops, cluster(*(node(f"n{number:02}", cpu="16") for number in range(4))))
    for number in range(12):
        place(scheduler, web(number))
    assert uses_class(ask(scheduler, web(12)))
    stop = Namespace(metadata=ObjectMeta(name="stop"))
    scheduler.cluster.put(stop)
    assert ask(scheduler, web(13)).is_unschedulable
    for number, cpu in enumerate(("8", "1", "2", "3")):
        scheduler.cluster.assume(pod(f"big-{number}", cpu=cpu), f"n{number:02}")
    scheduler.cluster.delete(stop)
    for number in range(14, 40):
        outcome = ask(scheduler, web(number))
        scheduler.place(outcome, outcome.chosen)


class Liking(PreFilterPlugin, ScorePlugin):
    """Likes nodes by a number in their name."""

    reads_feasible_set = False

    def pre_filter(self, cycle, nodes):
        return None

    def score(self, cycle, nodes):
        return np.array([int(name[1:]) for name in nodes.names], np.int64)

    def signature(self, pod):
        return ()


def test_scores_of_a_sampled_cycle_are_kept_by_row():
    scheduler = scheduler_with(Liking, cluster(*(node(f"n{number}", zone="xxy"[number % 3]) for number in range(6))))
    assert ask(scheduler, web(0), sampling=True).chosen == "n5"
    assert ask(scheduler, web(1)).chosen == "n5"


def test_a_score_that_another_class_has_asked_for_counts_where_a_node_becomes_feasible():
    nodes = [node(f"n{number}", zone="x") for number in range(1, 31)]
    running = pod("web-old", on="n90", labels={"app": "web"})
    scheduler = scheduler_with(Liking, cluster(*nodes, node("n90", zone="y"), running))
    spread = {"topologySpreadConstraints": SPREAD}
    for _ in range(2):
        assert ask(scheduler, web(0, **spread)).feasible == 30
    assert ask(scheduler, web(1)).feasible == 31
    scheduler.cluster.assume(pod("web-more", labels={"app": "web"}), "n1")
    assert ask(scheduler, web(2, **spread)).feasible == 31


class Heard(FilterPlugin):
    """Rejects a node once it has heard of any."""

    heard = Reason("heard")

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.rejected = set()
        handle.listen(ClusterEvent(Resource.NODE, Action.ALL), lambda *_: self.rejected.add("n05"))

    def filter(self, cycle, nodes):
        assert nodes.pod_count.min() >= 0
        return self.heard.where(np.array([name in self.rejected for name in nodes.names], np.bool_))

    def signature(self, pod):
        return ()


class AsksAnew(FilterPlugin):
    """Has no signature, so that the first pod of a class is judged by a full cycle."""

    def filter(self, cycle, nodes):
        return ACCEPT


def test_a_plugin_that_listens_is_asked_again_after_what_it_has_heard():
    made = cluster(*(node(f"n{number:02}") for number in range(20)))
    config = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Heard}, {name: AsksAnew}]}}}]
"""
    scheduler = Scheduler.configured(made, config, [Heard, AsksAnew])
    place(scheduler, web(0))
    made.put(Namespace(metadata=ObjectMeta(name="x")))
    scheduler.handles["default-scheduler"].tell(ClusterEvent(Resource.NODE, Action.ADD), None, None)
    assert ask(scheduler, web(1)).feasible == 19


# -- numbers -----------------------------------------------------------------------


class Overshoots(ScorePlugin):
    """Scores beyond the range once a node has a pod."""

    reads_feasible_set = False

    def score(self, cycle, nodes):
        return nodes.pod_count * 60

    def signature(self, pod):
        return ()


def test_score_out_of_range_is_reported_by_a_full_cycle():
    scheduler = scheduler_with(Overshoots, cluster(node("a")))
    place(scheduler, web(0), web(1))
    assert "returns an invalid score 120" in ask(scheduler, web(2)).error
    assert "returns an invalid score 120" in ask(scheduler, web(3)).error


class Fuller(ScorePlugin):
    """Prefers full nodes."""

    reads_feasible_set = False

    def score(self, cycle, nodes):
        return np.minimum(nodes.pod_count, 100)

    def signature(self, pod):
        return ()


@pytest.mark.parametrize(("weight", "width"), [(1, np.int32), (2**31 - 1, np.int64)])
def test_totals_are_int64_only_for_large_weights(weight, width):
    configuration = f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: Fuller, weight: {weight}}}]}}}}}}]
"""
    scheduler = Scheduler.configured(cluster(node("a"), node("b")), configuration.encode(), [Fuller])
    place(scheduler, *(web(number) for number in range(6)))
    outcome = ask(scheduler, web(6))
    assert outcome.equivalence_class.totals.dtype == width
    assert outcome.equivalence_class.totals.max() == outcome.scoring.totals.max()


# -- reading later -------------------------------------------------------------------


def test_filtering_and_scoring_are_computed_when_read(scheduler):
    place(scheduler, web(0))
    outcome = scheduler.attempt(web(1))
    assert not outcome.cycle.findings
    assert outcome.filtering.feasible.all()
    assert [each.plugin for each in outcome.scoring.plugins]
    assert outcome.scoring is outcome.scoring
    assert sorted(outcome.evaluated_column.names) == ["a", "b", "c"]


@pytest.mark.parametrize("what", ["filtering", "scoring", "evaluated_column", "unschedulable_plugins"])
def test_filtering_and_scoring_cannot_be_computed_after_a_change(what, scheduler):
    place(scheduler, web(0))
    outcome = scheduler.attempt(web(1))
    another_pod_lands(scheduler)
    with pytest.raises(ValueError, match="the cluster has changed"):
        getattr(outcome, what)


def test_filtering_read_before_a_change_is_kept(scheduler):
    place(scheduler, web(0))
    outcome = scheduler.attempt(web(1))
    totals = outcome.scoring.totals.tolist()
    another_pod_lands(scheduler)
    assert outcome.scoring.totals.tolist() == totals


def test_ties_can_be_read_after_a_change(scheduler):
    place(scheduler, web(0))
    outcome = scheduler.attempt(web(1))
    ties = attempt(outcome.profile, scheduler.cluster, web(1), scheduler.nominator).ties
    place(scheduler, *(web(number) for number in range(2, 9)))
    assert outcome.ties == ties
    assert [scheduler.cluster.node_table.names[row] for row in outcome.tie_rows] == ties


# -- rows --------------------------------------------------------------------------


def test_first_node_by_name_is_chosen_whatever_the_order_of_arrival():
    scheduler = Scheduler(cluster(node("c"), node("a"), node("b")))
    place(scheduler, web(0), web(1))
    third = ask(scheduler, web(2))
    assert uses_class(third)
    assert (third.chosen, third.ties) == ("c", ["c"])
    scheduler.place(third, "c")
    assert ask(scheduler, web(3)).ties == ["a", "b", "c"]
    assert ask(scheduler, web(3)).chosen == "a"


def test_class_ignores_rows_of_removed_nodes():
    scheduler = Scheduler(cluster(node("a"), node("b"), node("c"), node("d")))
    place(scheduler, web(0), web(1))
    scheduler.cluster.remove_node("a")
    for number in range(2, 9):
        outcome = ask(scheduler, web(number))
        assert "a" not in outcome.ties
        assert uses_class(outcome)
        scheduler.place(outcome, outcome.chosen)


class Choosy(FilterPlugin):
    """Rejects the nodes of a list, and counts how often it was asked."""

    refuses = Reason("node(s) were not chosen")
    asked = 0

    def filter(self, cycle, nodes):
        type(self).asked += 1
        return self.refuses.where(np.ones(len(nodes), np.bool_))

    def signature(self, pod):
        return ()


def test_a_lazy_attempt_works_out_why_no_node_is_feasible_when_that_is_read():
    scheduler = scheduler_with(Choosy, cluster(node("a"), node("b")))
    scheduler.attempt(web(0), lazy=True, make_room=False)
    before = Choosy.asked
    outcome = scheduler.attempt(web(1), lazy=True, make_room=False)
    assert (outcome.fits, outcome.is_unschedulable, Choosy.asked) == (False, True, before)
    assert not list(differences(outcome, scheduler.attempt(web(1), make_room=False)))
    assert outcome.unschedulable_plugins == {"Choosy"}
    assert Choosy.asked > before


def test_a_lazy_attempt_does_not_answer_for_a_cluster_that_has_changed():
    scheduler = scheduler_with(Choosy, cluster(node("a")))
    outcome = scheduler.attempt(web(0), lazy=True, make_room=False)
    a_node_is_resized(scheduler)
    with pytest.raises(ValueError, match="the cluster has changed"):
        _ = outcome.filtering


@pytest.mark.parametrize(
    "pre_filter",
    [
        pytest.param(lambda: NodeSet(frozenset()), id="that leaves no node"),
        pytest.param(lambda: unschedulable("not today"), id="that refuses the pod"),
    ],
)
def test_a_lazy_attempt_knows_at_once_of_a_pre_filter(pre_filter):
    class Early(PreFilterPlugin):
        def pre_filter(self, cycle, nodes):
            return pre_filter()

        def signature(self, pod):
            return ()

    scheduler = scheduler_with(Early, cluster(node("a")))
    outcome = scheduler.attempt(web(0), lazy=True, make_room=False)
    assert not outcome.pre_filter.successful
    assert outcome.pre_filter == scheduler.attempt(web(0), make_room=False).pre_filter
