"""``schedulable`` with ``after: scaleUp``: pods that would find a node once a group has grown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedctl.cli.running import run
from schedctl.policy import arguments, documents
from schedctl.testing.builders import cluster, node
from tests.policy.evaluating import check, deployment, manifests_of, policy, report

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
