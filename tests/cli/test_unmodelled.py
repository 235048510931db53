"""What `simulate`, `check` and `explain` say of resources and groups that are not modelled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SHOP = "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: a, namespace: shop}\nspec: {replicas: 2, image: x}\n"
GROUP = "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: train}\nspec: {minMember: 2}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: a}]\n"
GROUPED = POD + "  schedulingGroup: {podGroupName: train}\n"
STATE = "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus: {allocatable: {cpu: '4', pods: '9'}}\n"
POLICY = """
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: mine}
spec:
  %s
  checks: [{name: fits, builtin: schedulable}]
"""


@pytest.fixture(autouse=True)
def folder(schedctl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("state.yaml").write_text(STATE)


def test_simulate_names_resources_of_which_pods_may_be_made(schedctl):
    Path("release.yaml").write_text(f"{POD}---\n{SHOP}")
    ended = schedctl("simulate", "release.yaml", "-f", "state.yaml")
    assert ended.code == 0
    assert "Shop shop/a: not modelled, an operator may make pods of it  [release.yaml:7]" in ended.out
    report = json.loads(schedctl("simulate", "release.yaml", "-f", "state.yaml", "-o", "json").out)
    assert [each["subject"] for each in report["unmodelled"]] == ["Shop shop/a"]
    assert report["passed"] == {}


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        pytest.param("match: {}", 5, id="inconclusive"),
        pytest.param("allowUnmodelledKinds: [Shop.example.com]", 0, id="unless the policy allows the kind"),
        pytest.param("allowUnmodelledKinds: ['*']", 0, id="or all kinds"),
        pytest.param("allowUnmodelledKinds: [Farm.example.com]", 5, id="another kind allows nothing"),
        pytest.param("allowUnmodelledKinds: [Shop]", 2, id="a kind has a group"),
    ],
)
def test_check_is_inconclusive_about_them(schedctl, policy, code):
    Path("release.yaml").write_text(f"{POD}---\n{SHOP}")
    Path("policy.yaml").write_text(POLICY % policy)
    ended = schedctl("check", "release.yaml", "-f", "state.yaml", "-p", "policy.yaml")
    assert ended.code == code
    assert ("inconclusive [fits] Shop shop/a: not checked" in ended.out) == (code == 5)


def test_check_of_such_a_resource_alone_is_inconclusive(schedctl):
    Path("release.yaml").write_text(SHOP)
    assert schedctl("check", "release.yaml", "-f", "state.yaml").code == 5


OLDER = GROUP.replace("scheduling.x-k8s.io/v1alpha1", "scheduling.k8s.io/v1alpha2")
COMPOSITE = OLDER.replace("PodGroup", "CompositePodGroup").replace("v1alpha2", "v1alpha3")


@pytest.mark.parametrize("command", ["simulate", "check"])
@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param(GROUP, "PodGroup default/train", id="of scheduler-plugins"),
        pytest.param(OLDER, "PodGroup default/train", id="of an earlier API of Kubernetes"),
        pytest.param(COMPOSITE, "CompositePodGroup default/train", id="of groups of groups"),
    ],
)
def test_a_group_that_is_not_modelled_is_never_a_quiet_success(schedctl, command, text, named):
    Path("release.yaml").write_text(f"{POD}---\n{text}")
    ended = schedctl(command, "release.yaml", "-f", "state.yaml")
    assert ended.code == 5
    assert named in ended.out


@pytest.mark.parametrize(
    "command", [("simulate", "pods.yaml"), ("check", "pods.yaml"), ("explain", "pod", "a", "-f", "pods.yaml")]
)
def test_a_pod_is_scheduled_without_its_group_while_groups_are_off_with_a_warning(schedctl, command):
    Path("pods.yaml").write_text(GROUPED)
    ended = schedctl(*command, "-f", "state.yaml")
    assert ended.code == 0
    assert "the pod is of PodGroup default/train, each of whose pods kube-scheduler" in ended.out
    assert "--feature-gates GenericWorkload=true schedules the group" in ended.out
