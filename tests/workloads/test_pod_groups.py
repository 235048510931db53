"""Creating a pod group: the API server refuses what it refuses of its priority, and says why in its own words."""

from __future__ import annotations

import json

import pytest

from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.workloads.api_server import Admission, join
from schedctl.workloads.expansion import expand
from tests.cluster.refused_groups import CLASSES, GROUPS, group

ON = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
STATE = "\n---\n".join(map(json.dumps, CLASSES))


def joined(manifests_of, cluster_of, obj, release=ON, disabled=()):
    cluster = cluster_of(STATE, release=release)
    admission = Admission(cluster, disabled)
    join(expand(manifests_of(json.dumps(obj)).objects, cluster), cluster, admission)
    return [rejected.message for rejected in admission.rejected]


@pytest.mark.parametrize("wrong", GROUPS)
def test_a_group_is_refused_because_of(wrong, manifests_of, cluster_of):
    spec, message = GROUPS[wrong]
    assert joined(manifests_of, cluster_of, group(spec)) == [message]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="no class and no priority"),
        pytest.param({"priorityClassName": "high"}, id="a class that is there"),
        pytest.param(
            {"priorityClassName": "patient", "preemptionPolicy": "Never", "priority": 1000}, id="what it gives"
        ),
    ],
)
def test_a_group_is_taken_that_says(spec, manifests_of, cluster_of):
    assert joined(manifests_of, cluster_of, group(spec)) == []


def test_without_the_gate_nobody_knows_groups_and_none_is_refused(manifests_of, cluster_of):
    (spec, _), *_ = GROUPS.values()
    assert joined(manifests_of, cluster_of, group(spec), release=NEWEST) == []


def test_a_server_without_the_priority_plugin_refuses_no_priority(manifests_of, cluster_of):
    (spec, _), *_ = GROUPS.values()
    assert joined(manifests_of, cluster_of, group(spec), disabled=["Priority"]) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        pytest.param("system-cluster-critical", "must be less than or equal to 1000000000", id="of the system"),
        pytest.param("patient", "computed Never from the given PriorityClass name", id="that never preempts"),
    ],
)
def test_a_job_makes_no_pods_if_its_group_is_refused_because_of_a_class(name, why, manifests_of, cluster_of):
    pod = {"containers": [{"name": "a", "image": "a"}], "restartPolicy": "Never"}
    template = {"spec": {**pod, "priorityClassName": name}}
    spec = {"parallelism": 2, "scheduling": {"schedulingPolicy": {"gang": {}}}, "template": template}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "tune", "namespace": "default"}, "spec": spec}
    cluster = cluster_of(STATE, release=ON.with_gates({**dict.fromkeys(OF_GROUPS, True), "WorkloadWithJob": True}))
    admission = Admission(cluster)
    assert join(expand(manifests_of(json.dumps(job)).objects, cluster), cluster, admission) == []
    assert why in admission.rejected[0].message
