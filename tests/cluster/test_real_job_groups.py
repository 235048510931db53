"""Jobs with the gate WorkloadWithJob: the real Job controller makes the PodGroups that we say it makes.

What the API server refuses of ``spec.scheduling`` is refused by us at the same field; `tests/workloads` has the rest.
"""

from __future__ import annotations

import time

import msgspec
import pytest

from schedctl.api.pod_groups import PodGroup
from schedctl.api.policies import PriorityClass
from schedctl.api.workloads import Job
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.testing.builders import cluster
from schedctl.workloads.api_server import Admission, join
from schedctl.workloads.expansion import UnsourcedObject, expand
from tests.cluster.control_plane import PATIENCE, Refused
from tests.cluster.refused_groups import CLASSES, GROUPS, group

pytestmark = pytest.mark.cluster

GATES = (*sorted(OF_GROUPS), "WorkloadWithJob")
RELEASE = NEWEST.with_gates(dict.fromkeys(GATES, True))
GANG = {"schedulingPolicy": {"gang": {}}}
RACKS = {"schedulingConstraints": {"topology": [{"key": "fabric.example/rack"}]}}
MINE = {"schedulingPolicy": {"gang": {"minCount": 2}}}


@pytest.fixture(scope="module", autouse=True)
def classes(api_of_jobs):
    """Create the PriorityClasses."""
    for each in CLASSES:
        api_of_jobs.create(each)


def job(name, scheduling=None, *, group="", priority_class="", **spec):
    pod_spec = {"containers": [{"name": "main", "image": "example.com/main"}], "restartPolicy": "Never"}
    if group:
        pod_spec["schedulingGroup"] = {"podGroupName": group}
    if priority_class:
        pod_spec["priorityClassName"] = priority_class
    written = {"parallelism": 3, "completions": 3, "template": {"spec": pod_spec}, **spec}
    if scheduling is not None:
        written["scheduling"] = scheduling
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": written}


JOBS = [
    pytest.param(job("silent"), id="a Job that says nothing of its scheduling"),
    pytest.param(job("basic", {"schedulingPolicy": {"basic": {}}}), id="one that asks for no gang"),
    pytest.param(job("gang", GANG), id="a gang of all pods that run at once"),
    pytest.param(job("fewer", MINE), id="a gang of fewer"),
    pytest.param(job("more", GANG, completions=9), id="a gang of a Job that has more to do than runs at once"),
    pytest.param(job("racks", {**GANG, **RACKS}), id="a gang in one rack"),
    pytest.param(job("whole", {**GANG, "disruptionMode": {"all": {}}}), id="a gang that is disrupted whole"),
    pytest.param(job("indexed", GANG, completionMode="Indexed"), id="an indexed Job"),
    pytest.param(job("less", GANG, completions=2), id="a gang of a Job that has less to do than may run at once"),
    pytest.param(job("one", GANG, parallelism=None, completions=None), id="a gang of a Job that says no numbers"),
    pytest.param(job("singly", {**GANG, "disruptionMode": {"single": {}}}), id="a gang that is disrupted pod by pod"),
    pytest.param(job("important", GANG, priority_class="high"), id="a gang of a priority class"),
    pytest.param(job("own", group="mine"), id="a Job whose template names a group"),
]


@pytest.mark.parametrize("obj", JOBS)
def test_the_controller_makes_the_group_that_we_say_it_makes(api_of_jobs, obj):
    api_of_jobs.create(obj)
    groups, pods = made_of(api_of_jobs, obj)
    ours, template_names = expanded(obj)
    assert [what_it_says(group) for group in groups] == [what_it_says(group) for group in ours]
    if groups and template_names == {ours[0].metadata.name}:
        template_names = {groups[0].metadata.name}
    named = {pod["spec"].get("schedulingGroup", {}).get("podGroupName") for pod in pods}
    assert named == (template_names if pods else set())


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(job("suspended", GANG, suspend=True), id="a gang that is suspended"),
        pytest.param(job("none", GANG, parallelism=0), id="a gang of no pods"),
    ],
)
def test_a_group_that_is_made_for_no_pods_is_none_of_ours(api_of_jobs, obj):
    api_of_jobs.create(obj)
    deadline = time.monotonic() + PATIENCE
    while not (made := made_of(api_of_jobs, obj))[0]:
        assert time.monotonic() < deadline, "no group is made"
        time.sleep(0.05)
    assert made[1] == []
    assert expanded(obj)[0] == []


@pytest.mark.parametrize("name", ["patient", "system-cluster-critical"])
def test_a_job_makes_no_pods_if_its_group_is_refused_because_of_its_class(api_of_jobs, name):
    obj = job(name, GANG, priority_class=name)
    api_of_jobs.create(obj)
    time.sleep(2.0)  # nothing is waited for: several times as long as others take
    assert [pod for pod in api_of_jobs.all("Pod") if is_of(pod, name)] == []
    given = cluster(*(msgspec.convert(each, PriorityClass) for each in CLASSES), release=RELEASE)
    admission = Admission(given)
    assert join(expand([UnsourcedObject(msgspec.convert(obj, Job))], given), given, admission) == []
    assert len(admission.rejected) == 1


def test_the_group_of_a_job_that_something_else_controls_is_left_to_that(api_of_jobs):
    owner = next(each for each in api_of_jobs.all("Namespace") if each["metadata"]["name"] == "default")
    reference = {"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": owner["metadata"]["uid"]}
    obj = job("controlled", GANG)
    obj["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    api_of_jobs.create(obj)
    assert made_of(api_of_jobs, obj)[0] == expanded(obj)[0] == []


@pytest.mark.parametrize("wrong", GROUPS)
def test_the_api_server_refuses_a_group_because_of(api_of_jobs, wrong):
    spec, message = GROUPS[wrong]
    assert refusal(api_of_jobs, group(spec)).endswith(f": {message}")


def refusal(api, obj):
    """Return why an object is refused, but for a PriorityClass just made, which admission may not know for a moment."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with pytest.raises(Refused) as refused:
            api.create(obj)
        if "no PriorityClass with name high" not in str(refused.value) or time.monotonic() > deadline:
            return str(refused.value)
        time.sleep(0.05)


@pytest.mark.parametrize(
    "scheduling",
    [
        pytest.param({"schedulingPolicy": {"gang": {"minCount": 5}}}, id="a gang larger than the Job"),
    ],
)
def test_what_the_api_server_refuses_of_a_job_we_refuse_at_the_same_field(api_of_jobs, scheduling):
    obj = job("refused", scheduling)
    with pytest.raises(Refused) as refusal:
        api_of_jobs.create(obj)
    (problem,) = expand([UnsourcedObject(msgspec.convert(obj, Job))], cluster(release=RELEASE)).refused
    field = str(problem).split(": ")[1]
    assert field in str(refusal.value)


def made_of(api, obj):
    """Return the groups and pods that the controller has made of a Job, once it has made as many pods as it wants."""
    spec, name = obj["spec"], obj["metadata"]["name"]
    at_once = (1 if spec[key] is None else spec[key] for key in ("parallelism", "completions"))
    wanted = 0 if spec.get("suspend") else min(at_once)
    deadline = time.monotonic() + PATIENCE
    while True:
        pods = [pod for pod in api.all("Pod") if is_of(pod, name)]
        if len(pods) == wanted:
            break
        assert time.monotonic() < deadline, f"{len(pods)} of {wanted} pods of Job {name}"
        time.sleep(0.05)
    groups = [group for group in api.all("PodGroup") if is_of(group, name)]
    return [msgspec.convert(group, PodGroup) for group in groups], pods


def is_of(obj, name):
    return any((owner["kind"], owner["name"]) == ("Job", name) for owner in obj["metadata"].get("ownerReferences", ()))


def expanded(obj):
    """Return the groups that we say a Job makes, and the names of groups in its pods."""
    expansion = expand([UnsourcedObject(msgspec.convert(obj, Job))], cluster(release=RELEASE))
    assert not expansion.refused, expansion.refused
    (workload,) = expansion.groups
    named = {pod.spec.scheduling_group and pod.spec.scheduling_group.pod_group_name for pod in workload.pods}
    return [each for each in expansion.joined if isinstance(each, PodGroup)], named


def what_it_says(group):
    """Return what scheduling reads of a group, and which template of which Workload it is made from."""
    reference = group.spec.workload_ref
    owners = [
        (owner.api_version, owner.kind, bool(owner.controller)) for owner in group.metadata.owner_references or ()
    ]
    return {
        "policy": group.spec.scheduling_policy,
        "topology": group.topology_key,
        "whole": group.is_disrupted_whole,
        "class": group.spec.priority_class_name,
        "claims": group.spec.resource_claims,
        "template": reference and reference.template_name,
        "owners": sorted(owners),
    }
