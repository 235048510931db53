"""``schedulable`` with ``after: scaleUp``: pods that would find a node once a group has grown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedctl.autoscaling import files
from schedctl.autoscaling.group_files import GroupFiles
from schedctl.cli.running import run
from schedctl.policy import arguments, documents
from schedctl.policy.evaluations import Conditions
from schedctl.testing.builders import cluster, node
from tests.policy.evaluating import LOSE_ZONE, check, deployment, manifests_of, policy, report

AUTOSCALERS = Path(__file__).parents[2] / "fixtures/autoscalers"


def judged(*, after: documents.Schedulable, replicas: int = 3, **more):
    state = cluster(
        node("a", cpu="2", labels={"pool": "general"}),
        node("g", cpu="2", labels={"pool": "gpu"}, taints=[{"key": "gpu", "value": "", "effect": "NoSchedule"}]),
    )
    manifests = manifests_of(deployment(replicas=replicas, cpu="2", **more))
    (result,) = report(state, manifests, policy(check("schedulable", after))).results
    return result.outcome.value, result.message


@pytest.mark.parametrize(
    ("after", "outcome", "message"),
    [
        pytest.param(
            documents.Schedulable(),
            "Violated",
            "only 1 of 3 pods can be scheduled",
            id="new nodes count for nothing unless the check says so",
        ),
        pytest.param(
            documents.Schedulable(after="scaleUp"),
            "Passed",
            "only 1 of 3 pods can be scheduled; 2 new nodes (2 general) would take 2 more",
            id="pods that new nodes take count",
        ),
        pytest.param(
            documents.Schedulable(after="scaleUp", max_new_nodes=1),
            "Violated",
            "only 1 of 3 pods can be scheduled; 2 new nodes (2 general) would take 2 more, at most 1 allowed",
            id="more nodes than are allowed are a violation",
        ),
        pytest.param(
            documents.Schedulable(after="scaleUp", groups=("gpu",)),
            "Violated",
            "only 1 of 3 pods can be scheduled; new nodes would not help",
            id="only the groups that are named may grow",
        ),
        pytest.param(
            documents.Schedulable(after="scaleUp", groups=("none",)),
            "Inconclusive",
            "only 1 of 3 pods can be scheduled; no group of nodes is called none",
            id="a group that is not there decides nothing",
        ),
    ],
)
def test_what_a_scale_up_makes_of_a_workload(after, outcome, message):
    assert judged(after=after) == (outcome, message)


def test_a_pod_that_is_larger_than_any_new_node_is_not_helped():
    outcome, message = judged(after=documents.Schedulable(after="scaleUp"), replicas=1, memory="64Gi")
    assert (outcome, message) == ("Violated", "0 of 1 pod can be scheduled; new nodes would not help")


POLICY = """
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: fits}
spec:
  checks: [{name: after-scale-up, builtin: schedulable, with: {after: scaleUp, groups: [batch]}}]
"""
BATCH = """
apiVersion: v1
kind: Pod
metadata: {name: big}
spec:
  nodeSelector: {karpenter.sh/nodepool: batch}
  tolerations: [{operator: Exists}]
  containers: [{name: c, image: "x:1", resources: {requests: {cpu: 1500m}}}]
"""


def test_instance_types_count_as_they_do_for_nodes(tmp_path, capsys):
    for name, text in (("policy.yaml", POLICY), ("pod.yaml", BATCH)):
        (tmp_path / name).write_text(text)
    pod, state = str(tmp_path / "pod.yaml"), ("-f", str(AUTOSCALERS / "karpenter.yaml"))
    types = ("--instance-types", str(AUTOSCALERS / "instance-types.csv"))
    ask = ("check", pod, *state, "-p", str(tmp_path / "policy.yaml"), "-o", "json")
    assert run(ask) == 1
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["message"].endswith("new nodes would not help (what one of batch is like is not known)")
    assert run((*ask, *types)) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["results"][0]["message"].endswith("1 new node (1 batch) would take 1 more")
    assert [each["source"] for each in report["metadata"]["inputs"] if each["role"] == "InstanceTypes"] == [types[1]]
    assert run(("nodes", "--for", pod, *state, *types, "-o", "name")) == 0
    assert "group/batch 1" in capsys.readouterr().out


GROUPS = """
apiVersion: schedctl.dev/v1alpha1
kind: NodeGroups
groups: [{name: batch, like: ip-10-0-1-7, labels: {karpenter.sh/nodepool: batch}, maxSize: 2}]
"""


def test_groups_that_a_file_describes_count_as_they_do_for_nodes(tmp_path, capsys):
    for name, text in (("policy.yaml", POLICY), ("pod.yaml", BATCH), ("groups.yaml", GROUPS)):
        (tmp_path / name).write_text(text)
    groups = str(tmp_path / "groups.yaml")
    ask = ("check", str(tmp_path / "pod.yaml"), "-f", str(AUTOSCALERS / "karpenter.yaml"), "--node-groups", groups)
    assert run((*ask, "-p", str(tmp_path / "policy.yaml"), "-o", "json")) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["results"][0]["message"].endswith("1 new node (1 batch) would take 1 more")
    assert [each["source"] for each in report["metadata"]["inputs"] if each["role"] == "NodeGroups"] == [groups]
    run((*ask, "-o", "json"))
    assert json.loads(capsys.readouterr().out)["notes"] == ["no check has `after: scaleUp`, so that no new node counts"]


def test_a_group_that_is_like_no_node_is_told_with_its_place(tmp_path, capsys):
    for name, text in (("policy.yaml", POLICY), ("pod.yaml", BATCH), ("groups.yaml", GROUPS.replace("1-7", "1-8"))):
        (tmp_path / name).write_text(text)
    pod, rules, groups = (str(tmp_path / name) for name in ("pod.yaml", "policy.yaml", "groups.yaml"))
    assert run(("check", pod, "-f", str(AUTOSCALERS / "karpenter.yaml"), "-p", rules, "--node-groups", groups)) == 3
    assert 'groups.yaml:4:30: groups[0].like: node "ip-10-0-1-8" not found' in capsys.readouterr().err


def test_a_group_whose_model_a_scenario_takes_away_decides_nothing():
    state = cluster(node("a", zone="eu-1a", cpu="2"), node("b", zone="eu-1b", cpu="2"))
    entry = files.NodeGroupEntry(name="more", like="a", zones=["eu-1b"])
    conditions = Conditions(group_files=GroupFiles(written=files.WrittenGroups([entry], "groups.yaml", "", {})))
    rule = check("schedulable", documents.Schedulable(after="scaleUp", groups=("more",)), scenarios=("lose-zone",))
    rules = policy(rule, scenarios=(LOSE_ZONE,))
    found = report(state, manifests_of(deployment(replicas=2, cpu="2")), rules, conditions=conditions)
    assert {each.scenario: (each.outcome.value, each.message) for each in found.results} == {
        "lose-zone=eu-1a": (
            "Inconclusive",
            'only 1 of 2 pods can be scheduled; groups[0].like: node "a" not found',
        ),
        "lose-zone=eu-1b": ("Passed", "only 1 of 2 pods can be scheduled; 1 new node (1 more) would take 1 more"),
    }


@pytest.mark.parametrize(
    ("written", "field"),
    [
        (documents.Schedulable(groups=("general",)), "groups"),
        (documents.Schedulable(max_new_nodes=0), "maxNewNodes"),
        (documents.Schedulable(after="scaleUp", max_new_nodes=-1), "maxNewNodes"),
    ],
)
def test_arguments_that_have_no_meaning_are_refused(written, field):
    assert [name for name, *_ in arguments.argument_mistakes(written, ())] == [field]
