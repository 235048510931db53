"""The PodGroup that the Job controller makes for a Job, with the gate WorkloadWithJob."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.meta import ObjectMeta, OwnerReference
from schedctl.api.pod_groups import PodGroup, PodGroupSpec, WorkloadReference
from schedctl.api.workloads import Job
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.testing.builders import cluster
from schedctl.workloads.expansion import UnsourcedObject, expand

GATES = dict.fromkeys((*OF_GROUPS, "WorkloadWithJob"), True)
ON, OFF = NEWEST.with_gates(GATES), NEWEST.with_gates({**GATES, "WorkloadWithJob": False})
GANG = {"schedulingPolicy": {"gang": {}}}


def job(scheduling=None, *, group=None, owner="", parallelism=4, **spec):
    pod_spec = {"containers": [{"name": "a"}], "restartPolicy": "Never", "priorityClassName": "high"}
    if group:
        pod_spec["schedulingGroup"] = {"podGroupName": group}
    metadata = {"name": "sum", "namespace": "ml"}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner, "name": "parent", "controller": True}]
    written = {"parallelism": parallelism, "template": {"spec": pod_spec}, **spec}
    if scheduling is not None:
        written["scheduling"] = scheduling
    return msgspec.convert({"metadata": metadata, "spec": written}, Job)


def expanded(obj, *there, release=ON):
    return expand([UnsourcedObject(obj)], cluster(*there, release=release))


def group_of(expansion):
    (group,) = [obj for obj in expansion.joined if isinstance(obj, PodGroup)]
    return group


def names_in_pods(expansion):
    (workload,) = expansion.groups
    return {pod.spec.scheduling_group and pod.spec.scheduling_group.pod_group_name for pod in workload.pods}


@pytest.mark.parametrize(
    ("scheduling", "least"),
    [
        pytest.param(None, None, id="a Job that says nothing of its scheduling makes a group that is no gang"),
        pytest.param({"schedulingPolicy": {"basic": {}}}, None, id="so does one that asks for it"),
        pytest.param(GANG, 4, id="a gang needs as many pods as run at once"),
        pytest.param({"schedulingPolicy": {"gang": {"minCount": 3}}}, 3, id="or as many as it says"),
    ],
)
def test_the_policy_of_the_group_is_that_of_the_job(scheduling, least):
    expansion = expanded(job(scheduling))
    group = group_of(expansion)
    policy = group.spec.scheduling_policy
    assert (policy.gang.min_count if policy.gang else None) == least
    assert group.spec.priority_class_name == "high"
    assert names_in_pods(expansion) == {group.metadata.name}


def test_a_suspended_gang_of_no_pods_makes_none():
    expansion = expanded(job(GANG, suspend=True))
    assert not any(isinstance(obj, PodGroup) for obj in expansion.joined)


def test_topology_and_disruption_of_the_group_are_those_of_the_job():
    more = {"schedulingConstraints": {"topology": [{"key": "rack"}]}, "disruptionMode": {"all": {}}}
    group = group_of(expanded(job({**GANG, **more})))
    assert (group.topology_key, group.is_disrupted_whole) == ("rack", True)


def test_the_group_is_named_like_the_job_and_the_answer_says_that_the_name_ends_otherwise():
    expansion = expanded(job(GANG))
    name = group_of(expansion).metadata.name
    assert name.startswith("sum-")
    assert "-sum-pgt-0-" in name
    assert any(name in note and "uid" in note for note in expansion.groups[0].notes)


@pytest.mark.parametrize(
    ("obj", "release", "named"),
    [
        pytest.param(job(), OFF, None, id="the gate is off"),
        pytest.param(job(group="mine"), ON, "mine", id="its template names a group"),
        pytest.param(job(owner="CronJob"), ON, None, id="a controller has made it"),
    ],
)
def test_jobs_for_which_no_group_is_made(obj, release, named):
    expansion = expanded(obj, release=release)
    assert not any(isinstance(each, PodGroup) for each in expansion.joined)
    assert names_in_pods(expansion) == {named}


@pytest.mark.parametrize(
    ("obj", "release", "message"),
    [
        pytest.param(
            job(GANG),
            OFF,
            "spec.scheduling: is forbidden while the gate WorkloadWithJob is off",
            id="spec.scheduling without the gate",
        ),
        pytest.param(
            job({"schedulingPolicy": {"gang": {"minCount": 5}}}),
            ON,
            "spec.scheduling.schedulingPolicy.gang.minCount: must not be greater than parallelism (4)",
            id="a gang larger than the Job",
        ),
    ],
)
def test_what_the_api_server_refuses(obj, release, message):
    expansion = expanded(obj, release=release)
    (problem,) = expansion.refused
    assert message in str(problem)
    assert not expansion.groups


def test_a_job_that_is_there_keeps_the_group_it_has_and_gets_none_anew():
    there = job(GANG)
    there = msgspec.structs.replace(there, metadata=msgspec.structs.replace(there.metadata, uid="uid-of-the-job"))
    owned = ObjectMeta(
        name="sum-x", namespace="ml", owner_references=[OwnerReference(kind="Job", name="sum", controller=True)]
    )
    group = PodGroup(metadata=owned, spec=PodGroupSpec(workload_ref=WorkloadReference("sum-1", "sum-pgt-0")))
    assert names_in_pods(expanded(job(GANG), there, group)) == {"sum-x"}
    alone = expanded(job(GANG), there)
    assert names_in_pods(alone) == {None}
    assert "is in the cluster without a PodGroup of its own" in alone.groups[0].notes[0]
