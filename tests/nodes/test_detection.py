"""Where groups of nodes come from, and what a new node of each is like."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.autoscalers import ConfigMap, NodeClaim, NodePool
from schedctl.api.storage import CSINode
from schedctl.autoscaling import instance_types
from schedctl.autoscaling.detection import detect
from schedctl.autoscaling.groups import Autoscaler
from schedctl.autoscaling.joining import Joining
from schedctl.testing.builders import ZONE, cluster, node, pod
from tests.nodes.conftest import FIXTURES

TYPES = str(FIXTURES / "autoscalers/instance-types.csv")


def group(found, name: str):
    return next(each for each in found.groups if each.name == name)


@pytest.mark.parametrize(
    "label",
    [
        "karpenter.sh/nodepool",
        "cloud.google.com/gke-nodepool",
        "eks.amazonaws.com/nodegroup",
        "kubernetes.azure.com/agentpool",
        "pool",
    ],
)
def test_labels_of_providers_tell_groups_apart(label):
    found = detect(
        cluster(node("a", labels={label: "x"}), node("b", labels={label: "y"}), node("c", labels={label: "y"}))
    )
    assert {each.name: each.nodes for each in found.groups} == {"x": ("a",), "y": ("b", "c")}
    assert group(found, "x").origin == f"label {label}"


def test_nodes_without_such_labels_are_grouped_by_what_they_are_like():
    taint = {"key": "gpu", "effect": "NoSchedule"}
    found = detect(cluster(node("web-1"), node("web-2"), node("large-1", cpu="32"), node("gpu-1", taints=[taint])))
    assert {each.name: each.nodes for each in found.groups} == {
        "web": ("web-1", "web-2"),
        "large-1": ("large-1",),
        "gpu-1": ("gpu-1",),
    }


def test_the_control_plane_is_in_no_group():
    found = detect(cluster(node("cp", labels={"node-role.kubernetes.io/control-plane": ""}), node("a")))
    assert [each.nodes for each in found.groups] == [("a",)]


def test_a_template_is_a_node_when_it_was_new():
    taints = [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]
    taints.append({"key": "node.kubernetes.io/unschedulable", "value": "", "effect": "NoSchedule"})
    images = [{"names": ["registry.example/web:v1"], "sizeBytes": 1}]
    found = detect(
        cluster(node("a", labels={"pool": "db"}, zone="z1", taints=taints, unschedulable=True, images=images))
    )
    (template,) = group(found, "db").templates
    assert [each.key for each in template.node.spec.taints] == ["dedicated"]
    assert not template.node.spec.unschedulable
    assert template.node.status.images is None
    assert template.node.metadata.labels == {ZONE: "z1", "pool": "db"}
    assert {each.name: each.origin for each in template.fields}["allocatable"] == "node a"


def test_a_group_has_a_template_for_each_zone():
    nodes = [node(f"n{zone}", zone=zone, labels={"pool": "general"}) for zone in ("z1", "z2", "z3")]
    assert [each.zone for each in group(detect(cluster(*nodes)), "general").templates] == ["z1", "z2", "z3"]


def test_a_node_pool_has_its_requirements_taints_weight_and_limits(state):
    found = detect(state("autoscalers/karpenter.yaml"))
    general, batch = group(found, "general"), group(found, "batch")
    assert (general.autoscaler, general.priority, general.nodes) == (Autoscaler.KARPENTER, 10, ("ip-10-0-1-7",))
    assert [each.zone for each in general.templates] == ["eu-west-1a", "eu-west-1b"]
    assert [each.key for each in general.startup_taints] == ["ready.example.com/network"]
    assert general.templates[0].node.spec.taints is None
    assert batch.limits == {"cpu": 4000}
    assert batch.disruption == "the disruption budget of NodePool batch allows no node"
    assert not batch.templates
    assert "no instance types are known" in batch.notes[0]


def test_instance_types_give_a_node_pool_what_it_may_launch(state):
    found = detect(state("autoscalers/karpenter.yaml"), instance_types.load(TYPES))
    general, batch = group(found, "general"), group(found, "batch")
    assert {each.instance_type for each in general.templates} == {"m6i.large", "m6i.xlarge", "m6i.2xlarge"}
    assert {each.spot for each in general.templates} == {False}
    assert {each.spot for each in batch.templates} == {True}
    assert "m7g.large" not in {each.instance_type for each in batch.templates}, "of another architecture"
    by_type = {each.instance_type: each for each in general.templates if each.zone == "eu-west-1a"}
    assert by_type["m6i.xlarge"].node.status.allocatable["cpu"] == "3920m", "that of a node of the type"
    assert by_type["m6i.large"].node.status.allocatable["cpu"] == "1920m", "less what EC2NodeClass reserves"
    labels = by_type["m6i.large"].node.metadata.labels
    assert labels["karpenter.sh/nodepool"] == "general"
    assert labels["team"] == "web"
    assert by_type["m6i.large"].price == 0.1


def test_limits_of_a_node_pool_count_what_it_has():
    pool = NodePool(metadata={"name": "p"}, spec={"limits": {"cpu": "8"}})
    made = cluster(node("a", cpu="4", labels={"karpenter.sh/nodepool": "p"}), _convert(pool))
    found = group(detect(made), "p")
    assert found.limit_reached(1, {"cpu": 4000}) == ""
    assert found.limit_reached(2, {"cpu": 8000}) == "cpu 8 of the group, which has 4"


def _pool_requiring(*requirements):
    written = [{"key": key, "operator": operator, "values": values} for key, operator, values in requirements]
    return _convert(NodePool(metadata={"name": "p"}, spec={"template": {"spec": {"requirements": written}}}))


def test_a_label_with_several_values_rules_out_no_instance_type():
    pool = _pool_requiring(
        ("team", "In", ["a", "b"]), ("node.kubernetes.io/instance-type", "In", ["m6i.large"]), ("slot", "Exists", None)
    )
    (found,) = detect(cluster(pool), instance_types.load(TYPES)).groups
    assert {each.instance_type for each in found.templates} == {"m6i.large"}
    of_one_sort = [each for each in found.templates if each.zone == found.templates[0].zone and not each.spot]
    assert [each.node.metadata.labels["team"] for each in of_one_sort] == ["a", "b"], "a node for each value"


def test_like_nodes_have_each_value_that_their_pool_lists():
    labels = {"karpenter.sh/nodepool": "p", "team": "a"}
    (found,) = detect(cluster(_pool_requiring(("team", "In", ["a", "b"])), node("n", labels=labels))).groups
    assert [each.node.metadata.labels["team"] for each in found.templates] == ["a", "b"]


def test_combinations_of_values_that_are_too_many_are_told():
    values = [str(number) for number in range(5)]
    pool = _pool_requiring(("one", "In", values), ("other", "In", values))
    (found,) = detect(cluster(pool, node("n", labels={"karpenter.sh/nodepool": "p"}))).groups
    assert len(found.templates) == 12
    assert "of 25 combinations of its labels one, other only 12 are tried" in found.notes


def test_a_requirement_that_a_catalogue_says_nothing_of_is_told():
    pool = _pool_requiring(("karpenter.k8s.aws/instance-hypervisor", "In", ["nitro"]))
    (found,) = detect(cluster(pool), instance_types.load(TYPES)).groups
    assert found.templates
    assert "its requirement of karpenter.k8s.aws/instance-hypervisor would not be considered" in found.notes[0]


def test_a_node_pool_without_node_and_types_is_told(state):
    made = cluster(_convert(NodePool(metadata={"name": "p"}, spec={})))
    assert "nothing says what a new node is like" in group(detect(made), "p").notes[0]


def test_claims_without_a_node_are_told():
    claim = NodeClaim(metadata={"name": "p-1", "labels": {"karpenter.sh/nodepool": "p"}})
    made = cluster(_convert(NodePool(metadata={"name": "p"}, spec={})), _convert(claim))
    assert "1 NodeClaim of it has no node yet and would not be counted" in group(detect(made), "p").notes


def test_annotations_of_machine_deployments_are_sizes_and_templates(state):
    found = detect(state("autoscalers/cluster-api.yaml"))
    workers, gpus = group(found, "workers"), group(found, "gpus")
    assert (workers.min_size, workers.max_size, workers.nodes) == (1, 3, ("workers-x7k2p-4",))
    assert workers.templates[0].like == "workers-x7k2p-4"
    (template,) = gpus.templates
    assert template.node.status.allocatable["nvidia.com/gpu"] == "1"
    assert template.node.metadata.labels["accelerator"] == "a10"
    assert [(each.key, each.value, each.effect) for each in template.node.spec.taints] == [
        ("nvidia.com/gpu", "present", "NoSchedule")
    ]
    assert {each.origin for each in template.fields if each.name == "taints"} == {
        "annotations of MachineDeployment gpus"
    }


def test_the_status_of_cluster_autoscaler_has_the_sizes(state):
    found = detect(state("clusters/shop", "autoscalers/autoscaler-status.yaml"))
    general, gpu = group(found, "general"), group(found, "gpu")
    assert (general.autoscaler, general.min_size, general.max_size) == (Autoscaler.CLUSTER_AUTOSCALER, 3, 9)
    assert gpu.notes == ("Cluster Autoscaler backs off after it failed to add a node",)


OLD_STATUS = """Cluster-autoscaler status at 2023-01-01:
NodeGroups:
  Name:        gke-prod-general-9f1b-grp
  Health:      Healthy (ready=1 unready=0 cloudProviderTarget=1 (minSize=1, maxSize=7))
  Name:        gke-prod-unknown-9f1b-grp
  Health:      Healthy (ready=0 cloudProviderTarget=0 (minSize=0, maxSize=2))
"""


def test_an_older_status_is_read_and_groups_without_nodes_are_told():
    status = _convert(ConfigMap(metadata={"name": "cluster-autoscaler-status", "namespace": "kube-system"}))
    status = _replace(status, data={"status": OLD_STATUS})
    found = detect(cluster(node("a", labels={"pool": "general"}), status))
    assert group(found, "general").max_size == 7
    assert "node group gke-prod-unknown-9f1b-grp of Cluster Autoscaler has no node" in found.notes[0]


@pytest.mark.parametrize("text", ["", "{", "nodeGroups: 3", "nodeGroups: [{name: 1}]", "nodeGroups: [a]"])
def test_a_status_that_says_nothing_is_told(text):
    status = _convert(ConfigMap(metadata={"name": "cluster-autoscaler-status", "namespace": "kube-system"}))
    found = detect(cluster(node("a"), _replace(status, data={"status": text})))
    assert "names no node group with its sizes" in found.notes[0]


def test_what_exceeds_its_limits_already_is_told():
    pool = _convert(NodePool(metadata={"name": "p"}, spec={"limits": {"cpu": "2"}}))
    found = detect(cluster(node("a", labels={"karpenter.sh/nodepool": "p"}), pool))
    assert "group p has cpu 4 already, more than its limit 2" in found.notes


def test_a_template_without_zone_is_told_where_others_have_one():
    found = detect(cluster(node("a", zone="z1", labels={"pool": "x"}), node("b", labels={"pool": "y"})))
    assert found.notes == ("a new node of group y has no zone: what is spread over zones would not fit there",)


def test_types_without_a_price_are_told():
    labels = {"pool": "x", "node.kubernetes.io/instance-type": "odd"}
    found = detect(cluster(node("a", labels=labels)), instance_types.load(TYPES))
    assert f"instance type odd is not in {TYPES}" in found.notes[0]


def test_a_new_node_runs_the_pods_of_daemon_sets_and_publishes_what_others_do(state):
    made = state("clusters/shop")
    general = group(detect(made), "general")
    with made.fork():
        first, second = Joining(made).add(general.templates[0], 2)
        keys = [len(made.pod_table.on(made.node_table.row_of[name])) for name in (first, second)]
        assert keys[0] == keys[1] > 0
        assert made.get(CSINode, first) is not None
    assert first not in made.node_table.row_of


def test_a_pod_of_a_full_node_is_no_daemon_of_a_new_one():
    made = cluster(node("a", labels={"pool": "x"}), pod("p", on="a"))
    with made.fork():
        joining = Joining(made)
        (first,) = joining.add(detect(made).groups[0].templates[0])
        made.add_pod(pod("q", on=first))
        (second,) = joining.add(detect(made).groups[0].templates[0])
        assert not made.node_table.pod_count[made.node_table.row_of[second]]


def _convert(obj):
    return msgspec.convert(msgspec.to_builtins(obj), type(obj))


def _replace(obj, **changes):
    return msgspec.structs.replace(obj, **changes)
