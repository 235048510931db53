"""Pods under several configurations: what counts as moving and as breaking, and which plugin is to blame."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.api.workloads import Service
from schedctl.config import loading
from schedctl.explain.comparisons import compare
from schedctl.explain.explanations import explain
from schedctl.reports.explanations import Explanation, PodReference, Preemption, Verdict
from schedctl.reports.metadata import Metadata
from schedctl.reports.pod_comparisons import PodEffect
from schedctl.scheduler import Scheduler
from schedctl.scheduler.sides import sides
from schedctl.testing.builders import cluster, node, pod

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = """
profiles:
- plugins:
    score:
      disabled:
      - name: NodeResourcesBalancedAllocation
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}]
"""
EVEN = """
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
"""
ELSEWHERE = """
profiles:
- schedulerName: elsewhere
"""
NO_TAINTS = """
profiles:
- plugins:
    multiPoint:
      disabled:
      - name: TaintToleration
"""
TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
MIRRORED = {PodEffect.BREAKS: PodEffect.MENDS, PodEffect.MENDS: PodEffect.BREAKS}


def explain_all(state, text, pods):
    """The explanations of pods under a configuration, "" for Kubernetes' defaults."""
    scheduler = Scheduler(state, loading.load(HEAD + text, "test.yaml") if text else None)
    return [explain(scheduler, each, hints=False) for each in pods]


def compare_pending_pods(state, *texts, fail=False):
    """All pending pods of a state under configurations."""
    pods = list(state.pending.values())
    answers = [explain_all(state, text, pods) for text in texts]
    named = sides(f"side {number}" for number in range(len(texts)))
    return compare(named, answers, metadata=Metadata(), zones={}, fail=fail)


@pytest.fixture
def half_full():
    """Two nodes, one of them half full of cpu; a pod that asks for little of it, and for more memory."""
    return cluster(
        node("empty", cpu="4"),
        node("half", cpu="4"),
        pod("runs", on="half", cpu="2"),
        pod("small", cpu="500m", memory="4Gi"),
    )


def explanation(**answer) -> Explanation:
    """An answer by what a comparison reads of it."""
    return Explanation(pod=PodReference(namespace="shop", name="web"), **answer)


def on(*ties: str) -> Explanation:
    return explanation(verdict=Verdict.SCHEDULED, chosen=ties[0], ties=list(ties), score=1)


REFUSED = explanation(verdict=Verdict.UNSCHEDULABLE)
PREEMPTING = explanation(
    verdict=Verdict.UNSCHEDULABLE, preemption=Preemption(nominated_node="a", victims=["shop/other"])
)


@pytest.mark.parametrize(
    ("sentence", "before", "after", "effect"),
    [
        ("the same node is the same", on("a"), on("a"), PodEffect.SAME),
        ("the same equals are the same", on("a", "b"), on("a", "b"), PodEffect.SAME),
        ("another node moves it", on("a"), on("b"), PodEffect.MOVES),
        ("with none of the equals left it moves", on("a", "b"), on("c", "d"), PodEffect.MOVES),
        ("with some of the equals left it may move", on("a", "b"), on("b", "c"), PodEffect.MAY_MOVE),
        ("fewer equals may move it, even where the first by name stays", on("a", "b"), on("a"), PodEffect.MAY_MOVE),
        ("a node and then none breaks it", on("a"), REFUSED, PodEffect.BREAKS),
        ("room by preemption is no node", on("a"), PREEMPTING, PodEffect.BREAKS),
        ("another scheduler breaks it", on("a"), explanation(verdict=Verdict.FOREIGN_SCHEDULER), PodEffect.BREAKS),
        ("a fault breaks it", on("a"), explanation(verdict=Verdict.ERROR, error="broken"), PodEffect.BREAKS),
        ("no node and then one mends it", REFUSED, on("a"), PodEffect.MENDS),
        ("no node under either is the same", REFUSED, REFUSED, PodEffect.SAME),
        ("no node, and preemption that makes room, is otherwise", REFUSED, PREEMPTING, PodEffect.OTHERWISE),
        ("no node for another verdict is otherwise", REFUSED, explanation(verdict=Verdict.GATED), PodEffect.OTHERWISE),
        (
            "an inconclusive answer proves nothing",
            on("a"),
            explanation(verdict=Verdict.INCONCLUSIVE),
            PodEffect.UNCLEAR,
        ),
    ],
)
def test_an_effect(sentence, before, after, effect):
    there, back = (
        compare(sides("ab"), [[one], [other]], metadata=Metadata(), zones={}).results[0].differences[0]
        for one, other in ((before, after), (after, before))
    )
    assert there.effect is effect, sentence
    assert back.effect is MIRRORED.get(effect, effect), sentence


def test_a_pod_that_moves_is_told_with_the_plugin_whose_favour_has_changed(half_full):
    found = compare_pending_pods(half_full, "", PACKING)
    difference = found.results[0].differences[0]
    assert [outcome.node for outcome in found.results[0].outcomes] == ["empty", "half"]
    assert difference.effect is PodEffect.MOVES
    assert difference.shifts[0].plugin == "NodeResourcesFit"
    assert difference.shifts[0].before > 0 > difference.shifts[0].after
    assert difference.text.startswith("lead of empty over half: NodeResourcesFit +")


def test_a_plugin_without_a_score_under_one_side_is_named_as_such(half_full):
    shifts = {
        shift.plugin: shift for shift in compare_pending_pods(half_full, "", PACKING).results[0].differences[0].shifts
    }
    assert shifts["NodeResourcesBalancedAllocation"].after is None


def test_a_pod_that_breaks_is_told_with_who_refuses_its_node():
    state = cluster(
        node("a", cpu="4", zone="za"),
        node("b", cpu="1", zone="zb"),
        *(pod(f"web-{number}", on="a", labels={"app": "web"}) for number in range(2)),
        pod("full", on="b", cpu="1"),
        pod("web-2", cpu="500m", labels={"app": "web"}),
    )
    state.put(service("web"))
    found = compare_pending_pods(state, "", EVEN, fail=True)
    difference = found.results[0].differences[0]
    assert difference.effect is PodEffect.BREAKS
    assert [refusal.plugin for refusal in difference.refusals] == ["PodTopologySpread"]
    assert difference.text.startswith("a is rejected under B: node(s) didn't match pod topology spread constraints")
    assert (found.summary.exit_code, found.summary.tallies[0].breaks) == (1, 1)


def service(app):
    return msgspec.convert(
        {"metadata": {"name": app, "namespace": "default"}, "spec": {"selector": {"app": app}}}, Service
    )


def test_a_pod_that_mends_is_told_with_who_refused_it_before():
    state = cluster(node("a", taints=[TAINT]), pod("web"))
    difference = compare_pending_pods(state, "", NO_TAINTS).results[0].differences[0]
    assert difference.effect is PodEffect.MENDS
    assert difference.text == "a is rejected under A: node(s) had untolerated taint(s) [TaintToleration]"


def test_a_pod_that_no_profile_serves_under_a_side_breaks_and_says_so(half_full):
    difference = compare_pending_pods(half_full, "", ELSEWHERE).results[0].differences[0]
    assert difference.effect is PodEffect.BREAKS
    assert difference.text == "no profile of B has schedulerName default-scheduler"


def test_three_sides_are_each_compared_with_the_first(half_full):
    found = compare_pending_pods(half_full, PACKING, "", PACKING)
    assert [each.effect for each in found.results[0].differences] == [PodEffect.MOVES, PodEffect.SAME]
    assert [(tally.side, tally.same, tally.moves) for tally in found.summary.tallies] == [("B", 0, 1), ("C", 1, 0)]


CONFIGURATIONS = ["", PACKING, EVEN, ELSEWHERE, NO_TAINTS]
NODES = st.tuples(st.sampled_from(["1", "4"]), st.sampled_from(["za", "zb"]), st.booleans())
PODS = st.tuples(st.sampled_from(["100m", "2", "8"]), st.sampled_from(["web", "db"]))


@st.composite
def clusters(draw):
    nodes = draw(st.lists(NODES, min_size=1, max_size=4))
    made = [
        node(f"node-{number}", cpu=cpu, zone=zone, taints=[TAINT] if tainted else None)
        for number, (cpu, zone, tainted) in enumerate(nodes)
    ]
    running = draw(st.lists(st.tuples(st.integers(0, 3), PODS), max_size=4))
    made += [
        pod(f"runs-{number}", on=f"node-{place % len(nodes)}", cpu=cpu, labels={"app": app})
        for number, (place, (cpu, app)) in enumerate(running)
    ]
    waiting = draw(st.lists(PODS, min_size=1, max_size=3))
    made += [pod(f"waits-{number}", cpu=cpu, labels={"app": app}) for number, (cpu, app) in enumerate(waiting)]
    return cluster(*made, service("web"))


@settings(deadline=None, max_examples=40)
@given(clusters(), st.sampled_from(CONFIGURATIONS))
def test_against_itself_nothing_differs(state, text):
    found = compare_pending_pods(state, text, text, fail=True)
    assert {each.effect for result in found.results for each in result.differences} == {PodEffect.SAME}
    assert found.summary.tallies[0].same == found.summary.pods
    assert not any(each.text for result in found.results for each in result.differences)
    assert found.summary.exit_code == 0


@settings(deadline=None, max_examples=40)
@given(clusters(), st.sampled_from(CONFIGURATIONS), st.sampled_from(CONFIGURATIONS))
def test_the_other_way_round_is_the_mirror_image(state, one, other):
    there, back = compare_pending_pods(state, one, other), compare_pending_pods(state, other, one)
    for forth, reverse in zip(there.results, back.results, strict=True):
        difference, mirrored = forth.differences[0], reverse.differences[0]
        assert mirrored.effect is MIRRORED.get(difference.effect, difference.effect)
        assert {shift.plugin for shift in difference.shifts} == {shift.plugin for shift in mirrored.shifts}
        assert {refusal.node for refusal in difference.refusals} == {refusal.node for refusal in mirrored.refusals}
    tally, mirror = there.summary.tallies[0], back.summary.tallies[0]
    assert (tally.moves, tally.breaks, tally.mends) == (mirror.moves, mirror.mends, mirror.breaks)
