"""Runs under several configurations: how interchangeable pods are compared, and what becomes of the others."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.config import loading
from schedctl.reports.metadata import Metadata
from schedctl.reports.run_comparisons import PlacementEffect
from schedctl.reports.simulations import Fate, OtherPod
from schedctl.scheduler import Scheduler
from schedctl.scheduler.sides import sides
from schedctl.simulation import report_builder, utilisation
from schedctl.simulation.comparisons import SideRun, compare, difference
from schedctl.simulation.simulations import simulate
from schedctl.sources import Terms, load_text
from schedctl.workloads.clusters import assemble
from tests.cluster.volume_stories import claim, storage_class
from tests.cluster.volume_stories import pod as claiming_pod

ZONES = {"a1": "a", "a2": "a", "b1": "b", "none": ""}
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = """
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}, {name: PodTopologySpread}]}}
"""
NO_PREEMPTION = """
profiles:
- plugins: {multiPoint: {disabled: [{name: DefaultPreemption}]}}
"""
ELSEWHERE = """
profiles:
- schedulerName: elsewhere
"""
NO_TAINTS = """
profiles:
- plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}
"""


@pytest.mark.parametrize(
    ("sentence", "before", "after", "same", "moves", "between_zones", "breaks", "mends"),
    [
        ("as many on each node: nothing moves", {"a1": 2, "b1": 1}, {"a1": 2, "b1": 1}, 3, 0, 0, 0, 0),
        ("another node of the zone", {"a1": 2}, {"a1": 1, "a2": 1}, 1, 1, 0, 0, 0),
        ("another zone", {"a1": 2}, {"a1": 1, "b1": 1}, 1, 1, 1, 0, 0),
        ("no zone is a zone of its own", {"a1": 1}, {"none": 1}, 0, 1, 1, 0, 0),
        ("fewer placed: those missing break, nobody moves", {"a1": 3}, {"a1": 1}, 1, 0, 0, 2, 0),
        ("more placed: the further ones mend", {"a1": 1}, {"a1": 1, "b1": 2}, 1, 0, 0, 0, 2),
        ("fewer, and elsewhere", {"a1": 3}, {"b1": 1}, 0, 1, 1, 2, 0),
        ("nowhere under either", {}, {}, 0, 0, 0, 0, 0),
    ],
)
def test_replicas_are_compared_by_number(sentence, before, after, same, moves, between_zones, breaks, mends):
    found = difference("B", before, after, ZONES)
    numbers = (found.same, found.moves, found.between_zones, found.breaks, found.mends)
    assert numbers == (same, moves, between_zones, breaks, mends), sentence


NUMBERS = st.dictionaries(st.sampled_from(sorted(ZONES)), st.integers(1, 4))


@given(NUMBERS, NUMBERS)
def test_the_numbers_add_up_and_mirror_each_other(before, after):
    there, back = difference("B", before, after, ZONES), difference("B", after, before, ZONES)
    assert there.same + there.moves + there.breaks == sum(before.values())
    assert there.same + there.moves + there.mends == sum(after.values())
    assert there.between_zones <= there.moves
    assert (there.same, there.moves, there.between_zones) == (back.same, back.moves, back.between_zones)
    assert (there.breaks, there.mends) == (back.mends, back.breaks)


# -- runs --------------------------------------------------------------------------


def one_node(name, cpu="4", zone="a", tainted=False):
    taints = "[{key: dedicated, value: gpu, effect: NoSchedule}]" if tainted else "[]"
    return f"""
---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}, kubernetes.io/hostname: {name}}}}}
spec: {{taints: {taints}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 16Gi, pods: "110"}}}}
"""


def one_pod(name, cpu, on=""):
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop}}
spec:
  nodeName: "{on}"
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
"""


def deployment(replicas, cpu, priority_class=""):
    return f"""
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      priorityClassName: "{priority_class}"
      containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
"""


IMPORTANT = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: important}
value: 1000
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
"""


def compare_releases(state, manifests, *texts, fail=False, owner=""):
    """Manifests in a state under configurations, "" for Kubernetes' defaults; the cluster must be as before."""
    cluster = assemble(one.object for one in load_text((IMPORTANT + state).encode(), "state.yaml").objects).cluster
    release = load_text(manifests.encode(), "release.yaml", terms=Terms(creating=True))
    assert not release.problems
    was = (list(cluster.pending), sorted(cluster.pod_table.row_of), utilisation.measure(cluster))
    runs = []
    for side, text in zip(sides(map(str, range(len(texts)))), texts, strict=True):
        with cluster.fork():
            scheduler = Scheduler(cluster, loading.load(HEAD + text, "test.yaml") if text else None)
            facts = simulate(scheduler, release.objects)
            runs.append(SideRun.of(side, report_builder.report(facts, cluster, metadata=Metadata()), facts))
    assert (list(cluster.pending), sorted(cluster.pod_table.row_of), utilisation.measure(cluster)) == was
    zones = utilisation.zones(cluster)
    return compare(runs, metadata=Metadata(), zones=zones, owner_of=lambda pod: owner, fail=fail)


def test_pods_that_gather_on_one_node_move_and_the_balance_says_so():
    found = compare_releases(one_node("a1") + one_node("b1", zone="b"), deployment(4, "500m"), "", PACKING)
    (result,) = found.results
    assert [outcome.nodes for outcome in result.outcomes] == [{"a1": 2, "b1": 2}, {"a1": 4}]
    assert [outcome.zone_skew for outcome in result.outcomes] == [0, 4]
    difference = found.summary.workload_pods[0]
    assert (difference.same, difference.moves, difference.between_zones) == (2, 2, 2)
    deviations = [side.balance[0].after.deviation for side in found.sides]
    assert deviations == [0.0, 25.0]


def test_what_is_assumed_of_provisioned_volumes_is_told_once_for_all_sides():
    objects = [storage_class("disks"), claim("shop", storage_class="disks"), claiming_pod("shop")]
    release = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    found = compare_releases(one_node("a1"), release, "", PACKING)
    assert [(each.storage_class, each.claims) for each in found.assumed_volumes] == [("disks", ["shop/data"])]


def test_pods_that_one_side_does_not_place_break_and_say_why():
    found = compare_releases(one_node("a1"), deployment(2, "1"), "", ELSEWHERE, fail=True)
    assert found.summary.workload_pods[0].breaks == 2
    assert found.results[0].outcomes[1].messages == ['schedulerName "default-scheduler" belongs to another scheduler']
    assert found.summary.exit_code == 1


def test_pods_that_the_first_side_does_not_place_mend():
    found = compare_releases(one_node("a1", tainted=True), deployment(2, "1"), "", NO_TAINTS, fail=True)
    assert (found.summary.workload_pods[0].mends, found.summary.exit_code) == (2, 0)


def test_a_pod_that_has_to_make_room_under_one_side_alone_breaks_there():
    state = one_node("a1", cpu="1") + one_pod("old", "1", on="a1")
    found = compare_releases(state, deployment(1, "1", "important"), NO_PREEMPTION, "", fail=True)
    (other,) = found.others
    assert (other.pod, other.effects) == ("shop/old", [PlacementEffect.BREAKS])
    assert [each.node for each in other.whereabouts] == ["a1", ""]
    assert other.whereabouts[1].preempted_by.startswith("shop/web-")
    assert [len(side.preemptions) for side in found.sides] == [0, 1]
    assert (found.summary.workload_pods[0].mends, found.summary.other_pods[0].breaks) == (1, 1)
    assert found.summary.exit_code == 1


def test_other_pods_of_one_owner_that_change_places_come_to_nothing():
    def run(side, places):
        ends = [OtherPod(pod=pod, fate=Fate.PLACED if node else Fate.UNSCHEDULABLE, node=node) for pod, node in places]
        cluster = assemble(()).cluster
        report = report_builder.report(simulate(Scheduler(cluster), ()), cluster, metadata=Metadata())
        return SideRun(side, msgspec.structs.replace(report, others=ends), frozenset())

    first, second = sides(["one", "two"])
    runs = [run(first, [("shop/a", "n1"), ("shop/b", "")]), run(second, [("shop/a", ""), ("shop/b", "n1")])]
    found = compare(runs, metadata=Metadata(), zones={}, owner_of=lambda pod: "Deployment shop/web", fail=True)
    (owner,) = found.owners
    assert (owner.owner, owner.pods) == ("Deployment shop/web", ["shop/a", "shop/b"])
    assert [each.nodes for each in owner.outcomes] == [{"n1": 1}, {"n1": 1}]
    total = found.summary.other_pods[0]
    assert (total.same, total.moves, total.breaks, total.mends, found.summary.exit_code) == (1, 0, 0, 0, 0)
    assert [pod.effects for pod in found.others] == [[PlacementEffect.BREAKS], [PlacementEffect.MENDS]]


def test_a_pod_that_was_pending_before_is_compared_by_itself():
    state = one_node("a1", tainted=True) + one_pod("waits", "1")
    found = compare_releases(state, deployment(1, "1"), "", NO_TAINTS)
    assert [(other.pod, other.effects) for other in found.others] == [("shop/waits", [PlacementEffect.MENDS])]


def test_a_pod_that_moves_when_it_was_pending_before_counts_once():
    state = one_node("a1") + one_node("b1", zone="b") + one_pod("runs", "1", on="b1") + one_pod("waits", "1")
    found = compare_releases(state, deployment(0, "1"), "", PACKING)
    assert [other.effects for other in found.others] == [[PlacementEffect.MOVES]]
    assert (found.summary.other_pods[0].moves, found.summary.other_pods[0].between_zones) == (1, 1)


CONFIGURATIONS = ["", PACKING, NO_PREEMPTION, ELSEWHERE, NO_TAINTS]


@st.composite
def situations(draw):
    """A state of a few nodes and pods, and a Deployment."""
    nodes = draw(
        st.lists(st.tuples(st.sampled_from("124"), st.sampled_from("ab"), st.booleans()), min_size=1, max_size=3)
    )
    state = "".join(one_node(f"n{place}", *each) for place, each in enumerate(nodes))
    for number, (place, cpu) in enumerate(
        draw(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("12")), max_size=3))
    ):
        state += one_pod(f"p{number}", cpu, on=f"n{place}" if place < len(nodes) else "")
    return state, deployment(
        draw(st.integers(1, 4)), draw(st.sampled_from("12")), draw(st.sampled_from(["", "important"]))
    )


@settings(deadline=None, max_examples=25)
@given(situations(), st.sampled_from(CONFIGURATIONS))
def test_against_itself_nothing_differs(situation, text):
    found = compare_releases(*situation, text, text, fail=True)
    for each in (*found.summary.workload_pods, *found.summary.other_pods):
        assert (each.moves, each.between_zones, each.breaks, each.mends) == (0, 0, 0, 0)
    assert (found.others, found.summary.exit_code) == ([], 0)


@settings(deadline=None, max_examples=25)
@given(situations(), st.sampled_from(CONFIGURATIONS), st.sampled_from(CONFIGURATIONS))
def test_the_other_way_round_is_the_mirror_image(situation, one, other):
    there, back = compare_releases(*situation, one, other), compare_releases(*situation, other, one)
    for forth, reverse in (
        (there.summary.workload_pods[0], back.summary.workload_pods[0]),
        (there.summary.other_pods[0], back.summary.other_pods[0]),
    ):
        assert (forth.same, forth.moves, forth.between_zones) == (reverse.same, reverse.moves, reverse.between_zones)
        assert (forth.breaks, forth.mends) == (reverse.mends, reverse.breaks)
    assert {other.pod for other in there.others} == {other.pod for other in back.others}
