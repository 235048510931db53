"""New nodes for pod groups: a gang is helped as a whole, evicts nobody, and is told as one where nothing helps it."""

from __future__ import annotations

import json

import pytest

GATES = ("--feature-gates", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true")
GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {{name: train, namespace: ml}}
spec:
  priorityClassName: {priority}
  schedulingPolicy: {{gang: {{minCount: {least}}}}}
  schedulingConstraints: {constraints}
---
"""
CLASSES = "".join(
    f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n---\n"
    for name, value in (("low", 0), ("high", 100))
)


def node(name, rack):
    labels = f"{{pool: gpu, rack: {rack}, kubernetes.io/hostname: {name}}}"
    allocatable = "{cpu: '4', memory: 8Gi, pods: '20'}"
    head = f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {labels}}}"
    return f"{head}\nstatus: {{allocatable: {allocatable}}}\n---\n"


def pod(name, *, group="train", cpu=1, on="", priority="low"):
    of_group = f"  schedulingGroup: {{podGroupName: {group}}}\n" if group else ""
    bound = f"  nodeName: {on}\n" if on else ""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ml}}\nspec:\n{of_group}{bound}"
        f"  priorityClassName: {priority}\n"
        f"  containers: [{{name: a, image: a, resources: {{requests: {{cpu: {cpu}}}}}}}]\n---\n"
    )


def gang(pods, *, topology=False, cpu=1, priority="low", least=0):
    constraints = "{topology: [{key: rack}]}" if topology else "null"
    group = GROUP.format(least=least or pods, constraints=constraints, priority=priority)
    return group + "".join(pod(f"train-{number}", cpu=cpu, priority=priority) for number in range(pods))


@pytest.fixture
def nodes(schedctl, tmp_path):
    """Ask which nodes to add to two racks of one node each, with these objects beside them."""

    def ask(*objects, options=()):
        (tmp_path / "state.yaml").write_text(CLASSES + node("a", "r1") + node("b", "r2") + "".join(objects))
        ended = schedctl("nodes", "-f", str(tmp_path / "state.yaml"), *GATES, *options, "-o", "json")
        return json.loads(ended.out)

    return ask


def test_a_gang_that_must_share_a_rack_gets_a_node_there_though_each_pod_would_fit_somewhere(nodes):
    report = nodes(gang(6, topology=True))  # 8 cpus are free, 4 in each rack
    assert (report["summary"]["added"], report["summary"]["pending"]) == (1, 0)
    assert len({each["node"] for each in report["placements"]}) == 2


def test_a_gang_that_would_evict_others_gets_new_nodes_and_evicts_nobody(nodes):
    low = [pod(f"low-{name}", group="", cpu=4, on=name) for name in "ab"]
    report = nodes(gang(6, priority="high"), *low)
    assert (report["summary"]["added"], report["summary"]["placed"]) == (2, 6)
    assert report["summary"]["preempting"] == 6  # rather than wait, unless the nodes are there first


def test_a_gang_that_no_nodes_help_is_told_as_a_whole_and_is_in_nobodys_way(nodes):
    low = pod("alone", group="", cpu=4)
    full = [pod(f"low-{name}", group="", cpu=4, on=name) for name in "ab"]
    report = nodes(gang(3, cpu=5), low, *full)
    assert (report["summary"]["added"], report["summary"]["placed"], report["summary"]["pending"]) == (1, 1, 3)
    (unplaced,) = report["pending"]
    assert unplaced["owner"] == "PodGroup ml/train"
    assert len(unplaced["pods"]) == 3
    assert unplaced["groups"][0]["text"] == "larger than a new node: cpu 5 requested, 4 free"


def test_a_gang_for_which_limits_leave_too_few_nodes_says_so(nodes, tmp_path):
    (tmp_path / "groups.yaml").write_text(
        "apiVersion: schedctl.dev/v1alpha1\nkind: NodeGroups\ngroups:\n- {name: gpu, maxSize: 3}\n"
    )
    options = ("--node-groups", str(tmp_path / "groups.yaml"))
    assert nodes(gang(12), options=options)["summary"]["added"] == 1
    report = nodes(gang(13), options=options)
    assert (report["summary"]["added"], report["summary"]["pending"]) == (0, 13)
    (unplaced,) = report["pending"]
    assert "do not let PodGroup ml/train start with all of its pods" in unplaced["groups"][0]["text"]


def test_two_gangs_are_both_helped(nodes):
    other = gang(6, topology=True).replace("name: train", "name: tune").replace("train", "tune")
    report = nodes(gang(6, topology=True), other)
    assert (report["summary"]["pending"], report["summary"]["placed"]) == (0, 12)
    assert report["summary"]["added"] == 2
