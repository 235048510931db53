"""What Karpenter does by its own rules: which nodes it launches, step by step, and which it consolidates."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.autoscalers import KINDS, NodePool
from schedctl.autoscaling.detection import detect
from schedctl.autoscaling.instance_types import Catalogue, InstanceType, Offering
from schedctl.simulation.karpenter.consolidation import Method, consolidate
from schedctl.simulation.karpenter.models import model_of
from schedctl.simulation.karpenter.offers import pools_of
from schedctl.simulation.karpenter.preparation import PreparedModel
from schedctl.simulation.karpenter.solving import solve
from schedctl.simulation.karpenter.waiting_pods import waiting_pod
from schedctl.testing.builders import HOSTNAME, ZONE, node, pod
from schedctl.workloads.clusters import assemble
from schedctl.workloads.disruption_budgets import Budgets

SMALL, LARGE = "m5.large", "m5.2xlarge"
OWNED = {
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "u", "controller": True}]
}
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def kind(name, cpu, price, zones=("a", "b")):
    return InstanceType(name, cpu * 1000, cpu << 32, offerings=(Offering(price, False, zones),))


CATALOGUE = Catalogue({each.name: each for each in (kind(SMALL, 2, 0.1), kind(LARGE, 8, 0.4))}, "types.csv")


def pool(name="general", *, requirements=(), taints=(), labels=None, disruption=None, **spec):
    template = {
        "metadata": {"labels": labels or {}},
        "spec": {"requirements": list(requirements), "taints": list(taints)},
    }
    found = {"metadata": {"name": name}, "spec": {"template": template, "disruption": disruption or {}, **spec}}
    return msgspec.convert(found, NodePool)


def model(*objects, catalogue=CATALOGUE):
    cluster = assemble((getattr(each, "pod", each) for each in objects), kinds=KINDS).cluster
    node_pools = {each.metadata.name: each for each in cluster.every(NodePool).values()}
    groups = detect(cluster, catalogue).groups
    prices = {SMALL: 0.1, LARGE: 0.4}
    types = {name: (row.metadata.labels or {}) for name, row in _nodes(cluster)}
    found = {name: prices.get(labels.get("node.kubernetes.io/instance-type", "")) for name, labels in types.items()}
    return cluster, model_of(cluster, pools_of(groups, node_pools, catalogue), found)


def _nodes(cluster):
    return [(name, cluster.node_table.objects[row]) for name, row in cluster.node_table.row_of.items()]


def solution(*objects):
    cluster, found = model(*objects)
    return solve(PreparedModel(found), [waiting_pod(info) for info in cluster.pending.values()])


def karpenter_node(name, instance_type=LARGE, zone="a", capacity_type="on-demand"):
    labels = {
        "karpenter.sh/nodepool": "general",
        "node.kubernetes.io/instance-type": instance_type,
        "karpenter.sh/capacity-type": capacity_type,
    }
    cpu = {SMALL: 2, LARGE: 8}[instance_type]
    return node(name, cpu=str(cpu), memory=f"{cpu * 4}Gi", zone=zone, labels=labels)


def soft(key, weight=1):
    term = {"matchExpressions": [{"key": key, "operator": "Exists"}]}
    return {"nodeAffinity": {PREFERRED: [{"weight": weight, "preference": term}]}}


# -- launches ----------------------------------------------------------------------


def test_pods_share_a_claim_that_may_be_of_fewer_types_with_each():
    found = solution(pool(), *(pod(f"p{i}", cpu="1500m") for i in range(2)))
    (claim,) = found.claims
    assert [each.types for each in found.steps] == [2, 1]
    assert [each.name for each in claim.types] == [LARGE]


def test_largest_pod_has_its_turn_first():
    found = solution(pool(), pod("small", cpu="1"), pod("large", cpu="4"))
    assert [each.pod for each in found.steps] == ["default/large", "default/small"]


def test_heavier_pool_is_asked_first():
    found = solution(pool("light", weight=1), pool("heavy", weight=50), pod("p", cpu="1"))
    assert [claim.pool.name for claim in found.claims] == ["heavy"]


def test_of_equal_pools_the_later_name_is_asked_first():
    found = solution(pool("a"), pool("b"), pod("p", cpu="1"))
    assert [claim.pool.name for claim in found.claims] == ["b"]


def test_limit_counts_the_largest_type_that_a_claim_may_be():
    spread = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule"}
    spread["labelSelector"] = {"matchLabels": {"app": "x"}}
    pods = [pod(f"p{i}", cpu="1", labels={"app": "x"}, topologySpreadConstraints=[spread]) for i in range(2)]
    found = solution(pool(limits={"cpu": "9"}), *pods)
    assert len(found.claims) == 1
    (step,) = found.unplaced.values()
    assert "limit reached" in step.refusals["general"]


def test_preference_is_a_requirement_until_it_is_in_the_way():
    found = solution(pool(), pod("p", cpu="1", affinity=soft("nowhere")))
    (step,) = found.steps
    assert step.is_new
    assert step.relaxed == ("a preferred node affinity",)


def test_preference_of_a_taint_is_hard_at_first():
    taint = {"key": "team", "value": "a", "effect": "PreferNoSchedule"}
    found = solution(pool(taints=[taint]), pod("p", cpu="1"))
    assert [each.relaxed for each in found.steps] == [("taints of effect PreferNoSchedule",)]


def test_node_that_is_there_comes_before_a_new_one():
    found = solution(pool(), karpenter_node("n"), pod("p", cpu="1"))
    assert not found.claims
    assert [each.node for each in found.steps] == ["n"]


def test_zones_of_a_spread_are_those_of_new_nodes():
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    spread["labelSelector"] = {"matchLabels": {"app": "x"}}
    pods = [pod(f"p{i}", cpu="1", labels={"app": "x"}, topologySpreadConstraints=[spread]) for i in range(2)]
    found = solution(pool(), *pods)
    assert sorted(claim.requirements[ZONE].only or "" for claim in found.claims) == ["a", "b"]


def test_too_few_types_for_min_values_launch_nothing():
    requirement = {"key": "node.kubernetes.io/instance-type", "operator": "Exists", "values": [], "minValues": 2}
    found = solution(pool(requirements=[requirement]), pod("p", cpu="4"))
    (step,) = found.unplaced.values()
    assert step.refusals == {"general": "too few different values would be left for its minValues"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cpu": "9"}, "no instance type has room for it"),
        ({"cpu": "1", "nodeSelector": {ZONE: "z"}}, "its requirements do not go with"),
        (
            {"cpu": "1", "nodeSelector": {"disk": "ssd"}},
            "its requirements do not go with what the pod requires of disk",
        ),
    ],
)
def test_reason_why_a_pool_launches_nothing(changes, reason):
    requirement = {"key": ZONE, "operator": "In", "values": ["a", "b"]}
    found = solution(pool(requirements=[requirement]), pod("p", **changes))
    assert reason in found.unplaced["default/p"].refusals["general"]


@pytest.mark.parametrize(
    "requirement",
    [
        {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["many"]},
        {"key": "karpenter.k8s.aws/instance-cpu", "operator": "About", "values": ["4"]},
    ],
    ids=["a bound that is no number", "an unknown operator"],
)
def test_pool_whose_requirement_cannot_be_read_launches_nothing(requirement):
    found = solution(pool(requirements=[requirement]), pod("p", cpu="1"))
    assert not found.claims
    assert found.unplaced["default/p"].refusals == {"general": "no instance type meets its requirements"}


# -- consolidation -----------------------------------------------------------------


def consolidation(*objects):
    cluster, found = model(*objects)
    return consolidate(found, Budgets.of(cluster), {}, [])


def running(name, on, cpu="1"):
    return pod(name, on=on, cpu=cpu, metadata=OWNED)


ANY_NUMBER = {"budgets": [{"nodes": "100%"}]}
ON_DEMAND = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}


def test_empty_nodes_go_first():
    facts = consolidation(pool(disruption=ANY_NUMBER), karpenter_node("n1"), karpenter_node("n2"))
    (command,) = facts.commands
    assert command.method is Method.EMPTINESS
    assert command.nodes == ("n1", "n2")


def test_budget_of_a_pool_holds_for_each_command():
    facts = consolidation(
        pool(disruption={"budgets": [{"nodes": "1"}]}), *(karpenter_node(name) for name in ("n1", "n2"))
    )
    assert [each.nodes for each in facts.commands] == [("n1",), ("n2",)]


def test_node_whose_pods_fit_elsewhere_is_removed():
    objects = [karpenter_node("n1"), karpenter_node("n2"), running("p1", "n1", "5"), running("p2", "n2", "3")]
    facts = consolidation(pool(disruption=ANY_NUMBER), *objects)
    (command,) = facts.commands
    assert command.replacement is None
    assert len(command.nodes) == 1


def test_node_is_replaced_by_a_cheaper_one():
    general = pool(requirements=[ON_DEMAND], disruption=ANY_NUMBER)
    facts = consolidation(general, karpenter_node("n1"), running("p", "n1"))
    (command,) = facts.commands
    assert command.method is Method.SINGLE_NODE
    assert command.replacement is not None
    assert command.replacement.instance_type.name == SMALL
    assert command.saved == pytest.approx(0.3)


def test_several_nodes_are_replaced_by_one_that_is_cheaper_than_they_are_together():
    general = pool(requirements=[ON_DEMAND], disruption=ANY_NUMBER)
    objects = [general, *(karpenter_node(name) for name in ("n1", "n2", "n3"))]
    pods = [running("p1", "n1", "500m"), running("p2", "n2", "500m"), running("full", "n3", "8")]
    command = consolidation(*objects, *pods).commands[0]
    assert command.method is Method.MULTI_NODE
    assert command.nodes == ("n1", "n2")
    assert command.replacement is not None
    assert command.replacement.instance_type.name == SMALL


def test_several_nodes_are_not_replaced_where_too_few_instance_types_would_be_left():
    of_types = {"key": "node.kubernetes.io/instance-type", "operator": "Exists", "values": [], "minValues": 2}
    general = pool(requirements=[ON_DEMAND, of_types], disruption=ANY_NUMBER)
    objects = [general, *(karpenter_node(name) for name in ("n1", "n2", "n3"))]
    pods = [running("p1", "n1", "500m"), running("p2", "n2", "500m"), running("full", "n3", "8")]
    facts = consolidation(*objects, *pods)
    assert Method.MULTI_NODE not in [each.method for each in facts.commands]


def test_a_pod_that_waits_runs_on_the_node_that_is_launched_for_it():
    general = pool(requirements=[ON_DEMAND], disruption=ANY_NUMBER)
    waiting = pod("w", cpu="1500m", metadata=OWNED)
    cluster, found = model(general, karpenter_node("n1"), running("p", "n1", "6500m"), waiting)
    facts = consolidate(found, Budgets.of(cluster), {}, list(cluster.pending.values()))
    assert not facts.commands, "the node that the pods would need together is no cheaper"
    cluster, found = model(general, karpenter_node("n1"), running("p", "n1", "500m"), waiting)
    found.nodes["n1"].capacity, found.nodes["n1"].allocatable = {}, {"cpu": 600, "memory": 1 << 40, "pods": 9}
    (command,) = consolidate(found, Budgets.of(cluster), {}, list(cluster.pending.values())).commands
    assert command.replacement is not None
    assert command.started == {"default/w": command.replacement.name}


def test_replacement_that_could_be_dearer_on_demand_has_to_be_spot_capacity():
    facts = consolidation(pool(disruption=ANY_NUMBER), karpenter_node("n1"), running("p", "n1"))
    assert not facts.commands
    assert "only spot capacity" in facts.kept["n1"].text


@pytest.mark.parametrize(
    ("disruption", "metadata", "reason"),
    [
        ({"consolidateAfter": "Never"}, {}, "consolidateAfter: Never"),
        ({"consolidationPolicy": "WhenEmpty"}, {}, "only empty nodes"),
        ({"budgets": [{"nodes": "0"}]}, {}, "budgets of NodePool general allow no more nodes"),
        ({}, {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, "annotation karpenter.sh/do-not-disrupt"),
    ],
)
def test_reason_why_a_node_stays(disruption, metadata, reason):
    kept = pod("p", on="n1", cpu="1", metadata={**OWNED, **metadata})
    facts = consolidation(pool(disruption=disruption), karpenter_node("n1"), kept)
    assert not facts.commands
    assert reason in facts.kept["n1"].text


def test_spot_capacity_is_not_replaced_by_spot_capacity():
    types = {
        name: InstanceType(name, cpu * 1000, cpu << 32, offerings=(Offering(price, True, ("a",)),))
        for name, cpu, price in ((SMALL, 2, 0.1), (LARGE, 8, 0.4))
    }
    objects = [pool(disruption=ANY_NUMBER), karpenter_node("n1", capacity_type="spot"), running("p", "n1")]
    cluster, found = model(*objects, catalogue=Catalogue(types, "types.csv"))
    facts = consolidate(found, Budgets.of(cluster), {}, [])
    assert not facts.commands
    assert "SpotToSpotConsolidation" in facts.kept["n1"].text
