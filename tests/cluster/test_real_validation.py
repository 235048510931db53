"""The real API server refuses what we say that it refuses, and takes what we say that it takes.

The cases are those of ``tests/sources``, which say nothing of what scheduling does not read: images and the like are
filled in. Each is sent as a dry run, so that nothing is left behind.
"""

from __future__ import annotations

import time

import pytest
import yaml

from tests.cluster.control_plane import PATIENCE, Refused
from tests.cluster.refused_pods import LIMITED, LIMITS, PODS, PREFIX, pod
from tests.sources.test_validation import cases

pytestmark = pytest.mark.cluster

ELSEWHERE = {
    'metadata.namespace: "-a" is not a name': "the namespace stands in the address that is asked",
    "metadata.namespace: a Node has no namespace": "the namespace stands in the address that is asked",
    "a system priority class": "the server has made it itself",
    "every field of a slice": "one is of a gate that is off",
    "every field of a volume": "fields stand without those they need, to be read",
    "every field of a pod group": "its PriorityClass is not there",
}
"""Cases that say nothing about a request, and why."""


def of_requests(file):
    """The cases of a file that a request can show."""
    for case in cases(file):
        text, what = case.values
        if "kind: List" not in text and not any(what.startswith(each) for each in ELSEWHERE):  # a List is no object
            yield pytest.param(text, id=case.id)


@pytest.fixture(scope="module")
def resources(api_of_jobs):
    """The resources that the server has of each API version, by kind."""
    known = {}

    def of(version):
        if version not in known:
            answer = api_of_jobs.request("GET", root_of(version))
            known[version] = {each["kind"]: each for each in answer["resources"] if "/" not in each["name"]}
        return known[version]

    return of


@pytest.fixture
def send(api_of_jobs, resources):
    """Sends an object as a dry run."""

    def create(text):
        obj = complete(yaml.safe_load(text))
        resource = resources(obj["apiVersion"])[obj["kind"]]
        path = root_of(obj["apiVersion"])
        if resource["namespaced"]:
            obj["metadata"]["namespace"] = "default"
            path += "/namespaces/default"
        api_of_jobs.request("POST", f"{path}/{resource['name']}?dryRun=All", obj)

    return create


@pytest.mark.parametrize("text", list(of_requests("refused.yaml")))
def test_the_api_server_refuses(send, text):
    with pytest.raises(Refused, match=r"is invalid|is forbidden|cannot be handled"):
        send(text)


@pytest.mark.parametrize("text", list(of_requests("accepted.yaml")))
def test_the_api_server_takes(send, text):
    send(text)


@pytest.fixture(scope="module")
def send_pod(api_of_jobs):
    """Sends a pod as a dry run, to a server whose admission knows the LimitRange."""

    def create(spec, *, limited):
        namespace = LIMITED if limited else "default"
        path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
        return api_of_jobs.request("POST", path, pod(spec, limited=limited))

    api_of_jobs.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LIMITED}})
    api_of_jobs.request("POST", f"/api/v1/namespaces/{LIMITED}/limitranges", LIMITS)
    probe, deadline = {"containers": [{"name": "main", "image": "example.com/main"}]}, time.monotonic() + PATIENCE
    while "limits" not in create(probe, limited=True)["spec"]["containers"][0]["resources"]:
        assert time.monotonic() < deadline, "admission does not know the LimitRange"
        time.sleep(0.05)
    return create


@pytest.mark.parametrize("wrong", PODS)
def test_the_api_server_refuses_a_pod_because_of(send_pod, wrong):
    limited, spec, message = PODS[wrong]
    with pytest.raises(Refused) as refused:
        send_pod(spec, limited=limited)
    assert str(refused.value).endswith(f": {PREFIX}{message}")


def root_of(version):
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def complete(obj):
    """Fill in what every pod needs to be taken, and no decision reads."""
    spec = obj.get("spec") or {}
    pod = spec if obj["kind"] == "Pod" else spec.get("template", {}).get("spec", {})
    for container in (*(pod.get("containers") or ()), *(pod.get("initContainers") or ())):
        container.setdefault("name", "main")
        container.setdefault("image", "example.com/main")
    if obj["kind"] == "Job":
        pod.setdefault("restartPolicy", "Never")
    return obj
