"""Which nodes can go, and what keeps the others."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.policies import PodDisruptionBudget
from schedctl.autoscaling.detection import detect
from schedctl.reports.nodes import BoundProof, Keeper
from schedctl.scheduler import Scheduler
from schedctl.simulation.scale_downs.removals import shrink
from schedctl.simulation.scale_downs.rules import RemovalRules
from schedctl.testing.builders import cluster, node, pod

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}


def owned(name: str, on: str, *, annotations=None, **more):
    return pod(name, on=on, metadata={"ownerReferences": [OWNER], "annotations": annotations}, **more)


def shrunk(state, rules: RemovalRules | None = None, **more):
    return shrink(Scheduler(state), detect(state), rules or RemovalRules(), **more)


def two(*pods):
    return cluster(node("a", cpu="4"), node("b", cpu="4"), *pods)


def test_three_of_four_nodes_can_go_where_one_holds_all_pods():
    state = cluster(
        *(node(f"n{i}", cpu="4") for i in range(4)), *(owned(f"p{i}-x", f"n{i}", cpu="1") for i in range(4))
    )
    facts = shrunk(state)
    assert len(facts.removals) == 3
    assert (facts.bound, facts.kept["n3"].keeper) == (3, Keeper.NO_ROOM)
    assert facts.kept["n3"].message.startswith("0/")
    assert {each for removal in facts.removals for each in removal.moved.values()} == {"n3"}


def test_the_dear_nodes_go_first():
    state = two(owned("p-x", "a", cpu="1"), owned("q-x", "b", cpu="1"))
    prices = {"a": 1.0, "b": 5.0}
    facts = shrunk(state, price=prices.get)
    assert [(each.name, each.price) for each in facts.removals] == [("b", 5.0)]


def test_no_more_than_the_rest_has_room_for():
    state = two(owned("p-x", "a", cpu="3"), owned("q-x", "b", cpu="3"))
    facts = shrunk(state)
    assert (facts.removals, facts.bound, facts.bound_by) == ([], 0, BoundProof.RESOURCES)


@pytest.mark.parametrize(
    ("made", "keeper", "text"),
    [
        pytest.param(
            owned("p", "a", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
            Keeper.ANNOTATION,
            "annotation cluster-autoscaler.kubernetes.io/safe-to-evict: false",
            id="not safe to evict",
        ),
        pytest.param(
            owned("p", "a", annotations={"karpenter.sh/do-not-disrupt": "true"}),
            Keeper.ANNOTATION,
            "annotation karpenter.sh/do-not-disrupt",
            id="not to be disrupted",
        ),
        pytest.param(
            owned("p", "a", volumes=[{"name": "scratch", "emptyDir": {}}]),
            Keeper.LOCAL_STORAGE,
            "its emptyDir would be lost",
            id="local storage",
        ),
        pytest.param(pod("p", on="a"), Keeper.UNMANAGED, "no controller recreates it", id="without a controller"),
    ],
)
def test_a_pod_that_may_not_go_keeps_its_node(made, keeper, text):
    facts = shrunk(two(made))
    assert "a" not in {each.name for each in facts.removals}
    assert facts.kept["a"].keeper is keeper
    assert text in facts.kept["a"].text


@pytest.mark.parametrize(
    "annotations",
    [
        {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
        {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "scratch"},
    ],
)
def test_annotations_let_local_storage_go(annotations):
    made = owned("p-x", "a", annotations=annotations, volumes=[{"name": "scratch", "emptyDir": {}}])
    facts = shrunk(two(made))
    assert Keeper.LOCAL_STORAGE not in {each.keeper for each in facts.kept.values()}


def test_options_let_local_storage_and_pods_without_controller_go():
    made = pod("p", on="a", volumes=[{"name": "scratch", "emptyDir": {}}])
    facts = shrunk(two(made), RemovalRules(delete_emptydir_data=True, force=True))
    assert "a" in {each.name for each in facts.removals}
    assert next(each for each in facts.removals if each.name == "a").lost == ("default/p",)


def test_pods_that_would_be_lost_need_no_room():
    state = two(pod("p", on="a", cpu="4"), pod("q", on="b", cpu="3"), owned("r-x", "b", cpu="1"))
    facts = shrunk(state, RemovalRules(force=True))
    assert [(each.name, each.lost) for each in facts.removals] == [("a", ("default/p",))]
    assert facts.bound == 1


def test_a_disruption_budget_without_room_keeps_a_node():
    budget = _budget({"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}})
    facts = shrunk(two(budget, owned("p-x", "a", labels={"app": "web"})))
    assert facts.kept["a"].text == "pod default/p-x: PodDisruptionBudget default/web allows no eviction"


def test_a_disruption_budget_with_room_lets_pods_go_one_by_one():
    budget = _budget({"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}})
    pods = [owned(f"p{i}-x", "a" if i < 2 else "b", labels={"app": "web"}, cpu="100m") for i in range(4)]
    assert len(shrunk(two(budget, *pods)).removals) == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}, "scale-down-disabled"),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, "karpenter.sh/do-not-disrupt of the node"),
        ({"labels": {"node-role.kubernetes.io/control-plane": ""}}, "control plane"),
    ],
)
def test_a_node_that_may_not_go_stays(change, text):
    kept = node("a")
    labels = {**kept.metadata.labels, **change.get("labels", {})}
    metadata = msgspec.structs.replace(kept.metadata, labels=labels, annotations=change.get("annotations"))
    facts = shrunk(cluster(msgspec.structs.replace(kept, metadata=metadata), node("b")))
    assert text in facts.kept["a"].text


def test_groups_keep_their_minimum(state):
    facts = shrunk(state("autoscalers/cluster-api.yaml"))
    assert facts.kept["workers-x7k2p-4"].keeper is Keeper.GROUP_SIZE


def test_a_pool_whose_budget_allows_no_disruption_keeps_its_nodes(state):
    made = state("autoscalers/karpenter.yaml")
    made.add_node(node("spot-1", labels={"karpenter.sh/nodepool": "batch"}))
    facts = shrunk(made)
    assert facts.kept["spot-1"].text == "the disruption budget of NodePool batch allows no node"


def test_nobody_is_preempted_unless_that_is_allowed():
    state = two(owned("high-x", "a", cpu="3", priority=10), owned("low-x", "b", cpu="3", priority=-10))
    assert shrunk(state).removals == []


def test_the_cluster_is_as_before():
    state = two(owned("p-x", "a", cpu="1"), owned("q-x", "b", cpu="1"))
    before = {key: state.node_of(key) for key in state.pod_table.row_of}
    shrunk(state)
    assert {key: state.node_of(key) for key in state.pod_table.row_of} == before
    assert not any(each.spec.unschedulable for each in state.node_table.objects)


def test_an_interrupt_leaves_the_best_so_far():
    state = cluster(*(node(f"n{i}") for i in range(4)), *(owned(f"p{i}-x", f"n{i}") for i in range(4)))

    def interrupt(made: int, most: int) -> None:
        if made == 2:
            raise KeyboardInterrupt

    facts = shrunk(state, on_trial=interrupt)
    assert facts.interrupted
    assert {each.keeper for each in facts.kept.values()} >= {Keeper.INTERRUPTED}
    assert list(state.pod_table.row_of)


def _budget(spec):
    return msgspec.convert({"metadata": {"name": "web", "namespace": "default"}, "spec": spec}, PodDisruptionBudget)


def test_room_that_no_pod_could_use_counts_for_nothing_in_the_bound():
    nodes = [node(f"n{number}", cpu="8", memory="8Gi") for number in range(4)]
    pods = [owned(f"p{number}-x", f"n{number}", cpu="1", memory="5Gi") for number in range(4)]
    facts = shrunk(cluster(*nodes, *pods), effort=1)
    assert (facts.bound, facts.bound_by) == (0, BoundProof.RESOURCES), "three nodes have 24Gi, and hold 3 pods of 5Gi"


def test_resources_bound_nothing_where_pods_make_room_for_themselves():
    state = two(owned("p-x", "a", cpu="3"), owned("q-x", "b", cpu="3"))
    assert shrunk(state, effort=1).bound == 0
    assert shrunk(state, RemovalRules(allow_preemption=True), effort=1).bound_by is not BoundProof.RESOURCES
