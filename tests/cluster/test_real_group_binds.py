"""``schedctl bind --execute podgroup/NAME`` on a real API server: all pods of the group are bound, or none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.conftest import schedctl  # noqa: F401  the command line, as a fixture
from tests.cluster.group_stories import NODES, group, members, pod

pytestmark = pytest.mark.cluster
GATES = ("--feature-gates", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true")
CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: ours}]
"""


def ours(count):
    """Pods of the group whose scheduler runs nowhere, so that schedctl may stand in for it."""
    return members(count, schedulerName="ours")


@pytest.fixture
def words(api_of_groups, tmp_path):
    """The arguments of the command, on a cluster with five nodes that take a pod of the group each."""
    for obj in NODES:
        api_of_groups.create(obj)
    (tmp_path / "scheduler.yaml").write_text(CONFIGURATION)
    access = ("--kubeconfig", str(api_of_groups.kubeconfig), "--scheduler-config", str(tmp_path / "scheduler.yaml"))
    return ("bind", "podgroup/train", "-n", "default", *GATES, *access)


def nodes(api):
    """Where the pods of the group are."""
    return {
        each["metadata"]["name"]: each["spec"]["nodeName"]
        for each in api.all("Pod")
        if each["spec"].get("schedulingGroup") and each["spec"].get("nodeName")
    }


@pytest.mark.parametrize(
    ("of_group", "count", "code", "bound"),
    [
        pytest.param(group(least=5), 5, 0, 5, id="a gang that fits"),
        pytest.param(group(least=6), 6, 1, 0, id="of a gang that nearly fits none is bound"),
        pytest.param(group(least=2, key="rack"), 2, 0, 2, id="a gang in one rack"),
        pytest.param(group(least=3, key="rack"), 3, 1, 0, id="of a gang that no rack holds none is bound"),
        pytest.param(group(least=4), 6, 0, 5, id="a gang that starts without all its pods"),
        pytest.param(group(), 6, 0, 5, id="of a group that is no gang those that fit are bound"),
        pytest.param(group(least=3), 2, 1, 0, id="a gang with too few pods"),
    ],
)
def test_a_group_is_bound_as_far_as_kube_scheduler_would(api_of_groups, schedctl, words, of_group, count, code, bound):  # noqa: F811
    for obj in (of_group, *ours(count)):
        api_of_groups.create(obj)
    ended = schedctl(*words, "--execute", "--yes", "--exit-code")
    assert (ended.code, len(nodes(api_of_groups))) == (code, bound), ended
    if of_group["spec"].get("schedulingConstraints") and bound:
        racks = {each["metadata"]["name"]: each["metadata"]["labels"].get("rack") for each in NODES}
        assert len({racks[node] for node in nodes(api_of_groups).values()}) == 1


def test_nothing_is_sent_without_execute(api_of_groups, schedctl, words):  # noqa: F811
    for obj in (group(least=2), *ours(2)):
        api_of_groups.create(obj)
    ended = schedctl(*words)
    assert ended.code == 0
    assert "would be bound" in ended.out
    assert nodes(api_of_groups) == {}


def test_pods_that_run_count_for_the_group(api_of_groups, schedctl, words):  # noqa: F811
    running = pod("train-9", "train", schedulerName="ours", nodeName="n1")
    for obj in (group(least=3), running, *ours(2)):
        api_of_groups.create(obj)
    assert schedctl(*words, "--execute", "--yes").code == 0
    assert len(nodes(api_of_groups)) == 3


def test_of_two_that_bind_a_group_at_once_no_pod_is_bound_twice(api_of_groups, words):
    for obj in (group(least=4), *ours(4)):
        api_of_groups.create(obj)
    command = [sys.executable, "-m", "schedctl", *words, "--execute", "--yes"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ended = [process.communicate() for process in running]
    codes = [process.returncode for process in running]
    assert len(nodes(api_of_groups)) == 4, ended
    assert len(set(nodes(api_of_groups).values())) == 4, "a pod a node: none was bound by both"
    assert 0 in codes, ended
