"""Extenders in a cycle: who is asked about which nodes, what their answers do, and what becomes of it without one."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from schedctl.config import loading
from schedctl.config import types as config
from schedctl.engine.assumptions import Assumption
from schedctl.engine.attempts import matrix
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.engine.fit_error import message
from schedctl.engine.queue.hints import Hints, Strategy
from schedctl.engine.reporters import Reporter
from schedctl.framework.events import EVERY_EVENT
from schedctl.framework.extenders import (
    Extender,
    ExtenderError,
    FilterAnswer,
    NodeVictims,
    NotAsked,
    in_order,
)
from schedctl.framework.points import BindPlugin
from schedctl.framework.statuses import Code, unschedulable
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

ABC = (node("a"), node("b"), node("c"))


class FakeExtender(Extender):
    """An extender with an answer to each question, which writes down what it was asked."""

    def __init__(self, url="http://x", *, keeps=None, scores=None, victims=None, ignorable=False, **more):
        verbs = {
            "filter_verb": keeps is not None,
            "prioritize_verb": scores is not None,
            "preempt_verb": victims is not None,
        }
        offered = {name: "v" for name, is_offered in verbs.items() if is_offered}
        super().__init__(config.Extender(url_prefix=url, ignorable=ignorable, **{"weight": 1, **offered, **more}))
        self.keeps, self.scores, self.victims = keeps, scores, victims
        self.calls = []

    def filter(self, pod, nodes):
        self.calls.append(nodes.names)
        return evaluate_answer(self.keeps, nodes.names)

    def prioritize(self, pod, nodes):
        self.calls.append(nodes.names)
        return evaluate_answer(self.scores, nodes.names)

    def preempt(self, pod, victims, nodes):
        self.calls.append(sorted(victims))
        return evaluate_answer(self.victims, victims)


def evaluate_answer(answer, question):
    if isinstance(answer, Exception):
        raise answer
    return answer(question) if callable(answer) else answer


def keep(*names, **more):
    return FilterAnswer(names, **more)


def scheduler(*objects, extenders=None, configuration=None):
    return Scheduler(cluster(*objects), configuration, extenders=extenders)


def run(*extenders, pod_=None, objects=ABC, **options):
    return scheduler(*objects, extenders=extenders).attempt(pod_ or pod(), **options)


def test_each_extender_is_asked_about_the_nodes_that_the_one_before_left():
    first = FakeExtender(keeps=lambda names: keep(*names[:2]))
    second = FakeExtender(keeps=lambda names: keep(names[0]))
    outcome = run(first, second, objects=(*ABC, node("d", unschedulable=True)))
    assert first.calls == [["a", "b", "c"]]
    assert second.calls == [["a", "b"]]
    assert outcome.chosen == "a"


def test_no_extender_is_called_once_no_node_is_left():
    second = FakeExtender(keeps=keep("a"))
    run(FakeExtender(keeps=keep()), second)
    assert second.calls == []


def test_reasons_of_an_extender_are_in_the_fit_error():
    answer = FilterAnswer((), {"a": "no licence", "b": "no licence"}, {"c": "wrong rack"})
    outcome = run(FakeExtender(keeps=answer), make_room=False)
    assert message(outcome) == "0/3 nodes are available: 1 wrong rack, 2 no licence."
    assert outcome.filtering.status(0).plugin == "Extender:http://x"
    assert outcome.filtering.codes.tolist() == [
        Code.UNSCHEDULABLE,
        Code.UNSCHEDULABLE,
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ]


def test_a_node_in_both_maps_is_unresolvable():
    answer = FilterAnswer(("b", "c"), {"a": "soft"}, {"a": "hard"})
    outcome = run(FakeExtender(keeps=answer))
    assert outcome.filtering.status(0).reasons == ("hard",)


def test_a_node_left_out_without_a_reason_is_not_counted_and_no_eviction_helps_it():
    outcome = run(FakeExtender(keeps=keep()), make_room=False)
    assert message(outcome) == "0/3 nodes are available:"
    assert set(outcome.filtering.codes.tolist()) == {Code.UNSCHEDULABLE_AND_UNRESOLVABLE}


def test_reasons_for_unknown_nodes_count_in_the_fit_error():
    answer = FilterAnswer((), {"a": "full", "b": "full", "ghost": "haunted"})
    outcome = run(FakeExtender(keeps=answer), objects=(node("a"), node("b", unschedulable=True)), make_room=False)
    assert message(outcome) == "0/2 nodes are available: 1 haunted, 2 full."
    assert outcome.unschedulable_plugins == {"Extender", "NodeUnschedulable"}


def test_reason_for_a_kept_node_is_ignored():
    outcome = run(FakeExtender(keeps=FilterAnswer(("a", "b", "c"), {"a": "no"})))
    assert outcome.ties == ["a", "b", "c"]
    assert not outcome.consultation.rejected


def test_an_extender_that_fails_ends_the_cycle():
    outcome = run(FakeExtender(keeps=ExtenderError("failed v with extender at URL http://x/v, code 500")))
    assert outcome.error == "failed v with extender at URL http://x/v, code 500"
    assert not outcome.chosen


def test_an_ignorable_extender_that_fails_is_passed_over():
    outcome = run(FakeExtender(keeps=ExtenderError("broken"), ignorable=True))
    assert outcome.ties == ["a", "b", "c"]
    (failure,) = outcome.consultation.failures
    assert (failure.extender, failure.text, failure.ignored) == ("Extender:http://x", "broken", True)


def test_ignorable_extenders_are_asked_last_and_equal_addresses_are_told_apart():
    extenders = [config.Extender(url_prefix="http://x", ignorable=flag) for flag in (True, False, True)]
    assert [(each.ignorable, name) for each, name in in_order(extenders)] == [
        (False, "Extender:http://x"),
        (True, "Extender:http://x#2"),
        (True, "Extender:http://x#3"),
    ]


@pytest.mark.parametrize("where", ["requests", "limits"])
@pytest.mark.parametrize("containers", ["containers", "initContainers"])
def test_managed_resources_select_the_pods(where, containers):
    extender = FakeExtender(keeps=keep(), managed_resources=(config.ExtenderManagedResource("example.com/gpu"),))
    wanting = {"name": "x", "image": "x", "resources": {where: {"example.com/gpu": "1"}}}
    assert not extender.is_interested(pod(cpu="1"))
    assert extender.is_interested(pod(**{containers: [wanting]}))
    assert run(extender).ties == ["a", "b", "c"]


def test_extender_scores_are_scaled_weighted_and_added():
    extender = FakeExtender(scores=[("b", 7), ("ghost", 10)], weight=3)
    outcome = run(extender)
    last = outcome.scoring.plugins[-1]
    assert (last.plugin, last.weight) == ("Extender:http://x", 3)
    assert last.raw.tolist() == [0, 7, 0]
    assert last.weighted.tolist() == [0, 210, 0]
    assert outcome.chosen == "b"


def test_scores_out_of_range_count_and_several_for_one_node_add_up():
    outcome = run(FakeExtender(scores=[("a", -3), ("b", 400), ("b", 1)]))
    assert outcome.scoring.plugins[-1].raw.tolist() == [-3, 401, 0]


def test_huge_scores_wrap_as_in_go():
    outcome = run(FakeExtender(scores=[("a", (1 << 63) - 1), ("a", 1)]))
    assert outcome.scoring.plugins[-1].raw.tolist()[0] == -(1 << 63)


def test_failing_extender_adds_no_scores():
    outcome = run(FakeExtender(scores=ExtenderError("broken")))
    assert outcome.ties == ["a", "b", "c"]
    assert [plugin.plugin for plugin in outcome.scoring.plugins if plugin.plugin.startswith("Ext")] == []
    assert outcome.consultation.failures[0].ignored


def test_a_single_node_is_not_scored_by_extenders():
    extender = FakeExtender(scores=[("a", 1)])
    assert run(extender, objects=[node("a")]).chosen == "a"
    assert extender.calls == []


def test_nodes_sent_back_whole_are_scored_as_if_nothing_were_on_them():
    busy = (node("a", images=[{"names": ["registry.example/web:v1"], "sizeBytes": 900 << 20}]), node("b"))
    apart = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    spread = [{**apart, "labelSelector": {"matchLabels": {"app": "web"}}}]
    incoming = pod(labels={"app": "web"}, topologySpreadConstraints=spread)
    running = pod("x", on="a", cpu="3", labels={"app": "web"})
    by_name = run(FakeExtender(keeps=lambda names: keep(*names)), pod_=incoming, objects=(*busy, running))
    whole = run(FakeExtender(keeps=lambda names: keep(*names, described=True)), pod_=incoming, objects=(*busy, running))
    assert len(set(by_name.scoring.totals.tolist())) == 2
    assert whole.ties == ["a", "b"]
    assert [plugin.plugin for plugin in whole.scoring.plugins if np.ptp(plugin.weighted)] == []


def test_every_event_requeues_a_pod_rejected_by_extenders():
    made = scheduler(*ABC, extenders=[FakeExtender(keeps=FilterAnswer((), dict.fromkeys("abc", "no")))])
    outcome = made.attempt(pod())
    assert outcome.unschedulable_plugins == {"Extender"}
    hints = Hints(made.profiles.values(), Reporter())
    for registration in EVERY_EVENT:
        assert hints.hears(registration.event, "Extender")
        strategy = hints.strategy(
            outcome.pod, outcome.unschedulable_plugins, frozenset(), registration.event, None, None
        )
        assert strategy is Strategy.AFTER_BACKOFF


def test_no_events_are_registered_without_extenders():
    hints = Hints(scheduler(*ABC).profiles.values(), Reporter())
    assert not any(hints.hears(registration.event, "Extender") for registration in EVERY_EVENT)


def test_matrix_has_the_answers_of_extenders_without_calling_again():
    extender = FakeExtender(keeps=FilterAnswer(("b", "c"), {"a": "no"}))
    made = scheduler(*ABC, extenders=[extender])
    outcome = made.attempt(pod())
    verdicts = matrix(outcome)["Extender:http://x"]
    assert verdicts.mask.tolist() == [True, False, False]
    alone = matrix(outcome, made.cluster.nodes_named(["a"]))["Extender:http://x"]
    assert alone.status(0).reasons == ("no",)
    assert not matrix(outcome, made.cluster.nodes_named(["b"]))["Extender:http://x"].mask.any()
    assert len(extender.calls) == 1


def test_a_nominated_node_that_an_extender_refuses_is_asked_about_again_among_all():
    extender = FakeExtender(keeps=lambda names: keep(*(name for name in names if name != "b")))
    outcome = run(extender, pod_=pod(status={"nominatedNodeName": "b"}))
    assert extender.calls == [["b"], ["a", "b", "c"]]
    assert outcome.ties == ["a", "c"]


def test_extender_error_on_the_nominated_node_does_not_end_the_cycle():
    answers = iter([ExtenderError("broken"), keep("c")])
    extender = FakeExtender(keeps=lambda names: evaluate_answer(next(answers), names))
    outcome = run(extender, pod_=pod(status={"nominatedNodeName": "b"}))
    assert outcome.error == ""
    assert outcome.chosen == "c"


def test_extenders_are_asked_anew_for_each_pod():
    extender = FakeExtender(keeps=lambda names: keep(*names))
    made = scheduler(*ABC, extenders=[extender])
    made.attempt(pod("x"))
    made.attempt(pod("y"))
    assert len(extender.calls) == 2
    assert made.equivalence_key(pod("x")) is None


# -- extenders that nobody may ask -------------------------------------------------


def configured(**extender):
    fields = {"url_prefix": "http://x", "weight": 1, **extender}
    return loading.default().__class__(profiles=loading.default().profiles, extenders=(config.Extender(**fields),))


@pytest.mark.parametrize(
    ("verb", "point"),
    [
        pytest.param("filter_verb", "filter", id="that it fits hangs on the one that filters"),
        pytest.param("prioritize_verb", "score", id="where it goes hangs on the one that scores"),
    ],
)
def test_uncalled_extender_is_an_assumption(verb, point):
    outcome = scheduler(*ABC, configuration=configured(**{verb: "v"})).attempt(pod())
    assert assumptions_affecting_verdict(outcome) == {Assumption(point, "Extender:http://x", NotAsked)}
    assert outcome.chosen == "a"


@pytest.mark.parametrize(
    ("extender", "objects"),
    [
        pytest.param({"filter_verb": "v"}, [node("a", unschedulable=True)], id="no node is left to ask about"),
        pytest.param({"prioritize_verb": "v"}, [node("a")], id="one node is not scored"),
        pytest.param({"bind_verb": "v"}, ABC, id="binding is not asked for"),
        pytest.param({}, ABC, id="it offers nothing"),
        pytest.param(
            {"filter_verb": "v", "managed_resources": (config.ExtenderManagedResource("example.com/gpu"),)},
            ABC,
            id="it has to do with other pods",
        ),
    ],
)
def test_irrelevant_extender_is_no_assumption(extender, objects):
    assert not assumptions_affecting_verdict(scheduler(*objects, configuration=configured(**extender)).attempt(pod()))


def test_binder_is_reported_and_not_called():
    extender = FakeExtender(bind_verb="bind")
    assert run(extender).consultation.binder == "Extender:http://x"


class Unwilling(BindPlugin):
    """Never binds."""

    def bind(self, cycle, node_name):
        return unschedulable("not today")


def bound(*extenders):
    made = scheduler(node("a"), extenders=extenders)
    alone = replace(made.profiles["default-scheduler"], bind=(Unwilling(None, made.handles["default-scheduler"]),))
    outcome = msgspec.structs.replace(made.attempt(pod()), profile=alone)
    made.place(outcome)
    return made.bind(outcome)


def test_an_extender_that_binds_takes_the_place_of_the_plugins():
    assert bound(FakeExtender(bind_verb="bind")).successful
    assert not bound(FakeExtender()).successful


# -- preemption --------------------------------------------------------------------

FULL = (
    node("a", cpu="1"),
    node("b", cpu="1"),
    pod("x", on="a", cpu="1", priority=1),
    pod("y", on="b", cpu="1", priority=5),
)


def urgent():
    return pod("urgent", cpu="1", priority=10)


def test_the_candidates_are_those_that_an_extender_leaves():
    extender = FakeExtender(victims=lambda victims: {"b": victims["b"]})
    outcome = run(extender, pod_=urgent(), objects=FULL)
    assert extender.calls == [["a", "b"]]
    assert outcome.post_filter.nominated_node == "b"
    assert [victim.key for victim in outcome.post_filter.victims] == ["default/y"]


def test_budget_violations_are_counted_by_the_extender():
    extender = FakeExtender(victims=lambda v: {"a": NodeVictims(v["a"].pods, 1), "b": v["b"]})
    assert run(extender, pod_=urgent(), objects=FULL).post_filter.nominated_node == "b"


def test_an_extender_may_choose_victims_nobody_proposed():
    objects = (*FULL, pod("z", on="a", priority=100))
    made = scheduler(*objects, extenders=[])
    z = next(info for info in made.cluster.pod_table.on(0) if info.key == "default/z")
    extender = FakeExtender(victims={"a": NodeVictims((z,), 0)})
    outcome = run(extender, pod_=urgent(), objects=objects)
    assert [victim.key for victim in outcome.post_filter.victims] == ["default/z"]


@pytest.mark.parametrize(
    ("extender", "code", "text"),
    [
        pytest.param(
            FakeExtender(victims={}),
            Code.UNSCHEDULABLE,
            "preemption: no candidate node for preemption",
            id="it leaves none",
        ),
        pytest.param(FakeExtender(victims=ExtenderError("broken")), Code.ERROR, "preemption: broken", id="it fails"),
        pytest.param(
            FakeExtender(victims={"a": NodeVictims((), 0)}),
            Code.ERROR,
            'preemption: expected at least one victim pod on node "a"',
            id="it names no victim",
        ),
        pytest.param(
            FakeExtender(victims={"a": NodeVictims((), 0)}, ignorable=True),
            Code.UNSCHEDULABLE,
            "preemption: no candidate node for preemption",
            id="it is ignorable and names no victim",
        ),
    ],
)
def test_extender_can_reject_all_preemption_candidates(extender, code, text):
    status = run(extender, pod_=urgent(), objects=FULL).post_filter.status
    assert (status.code, status.message) == (code, text)


def test_an_ignorable_extender_that_fails_leaves_the_candidates_alone():
    outcome = run(FakeExtender(victims=ExtenderError("broken"), ignorable=True), pod_=urgent(), objects=FULL)
    assert outcome.post_filter.nominated_node == "a"
    assert outcome.post_filter.findings.passed_over == (("Extender:http://x", "broken"),)


def test_preemption_without_its_extender_is_an_assumption():
    outcome = scheduler(*FULL, configuration=configured(preempt_verb="v")).attempt(urgent())
    assert assumptions_affecting_verdict(outcome) == {Assumption("postFilter", "Extender:http://x", NotAsked)}
