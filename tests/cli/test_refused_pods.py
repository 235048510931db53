"""Pods that are not in the cluster yet are admitted before they are judged, as the API server would admit them."""

import json

import pytest

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}},
}
QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team", "namespace": "shop"}}
RANGE = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "small", "namespace": "shop"},
    "spec": {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]},
}
GVISOR = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "gvisor"},
    "handler": "runsc",
}


def pod(cpu="1", uid="", **spec):
    container = {"name": "app", "image": "a", "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}}
    metadata = {"name": "web", "namespace": "shop", **({"uid": uid} if uid else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def quota(cpu, used=None):
    status = {"status": {"hard": {"requests.cpu": cpu}, "used": {"requests.cpu": used}}} if used else {}
    return {**QUOTA, "spec": {"hard": {"requests.cpu": cpu}}, **status}


@pytest.fixture
def ask(schedctl, tmp_path):
    """Explain pod shop/web on a cluster of one node and the objects given."""

    def ask(*objects):
        (tmp_path / "state.json").write_text(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]})
        )
        return schedctl("explain", "pod", "shop/web", "-f", str(tmp_path / "state.json"), "--exit-code")

    return ask


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        pytest.param(
            [quota("2", "1500m"), pod()],
            "exceeded quota: team, requested: requests.cpu=1, used: requests.cpu=1500m, limited: requests.cpu=2",
            id="a quota that is used up",
        ),
        pytest.param([RANGE, pod()], "maximum cpu usage per Container is 500m", id="the bounds of a LimitRange"),
        pytest.param(
            [GVISOR, pod(runtimeClassName="gvizor")], 'RuntimeClass "gvizor" not found', id="a missing RuntimeClass"
        ),
    ],
)
def test_a_new_pod_is_rejected_because_of(objects, words, ask):
    ended = ask(*objects)
    assert "REJECTED by the API server" in ended.out
    assert words in ended.out
    assert ended.code == 1


@pytest.mark.parametrize(
    ("objects", "fixes"),
    [
        pytest.param(
            [quota("2", "1500m"), pod()],
            [
                "would be admitted with requests.cpu <= 500m",
                "would be admitted if quota team allows requests.cpu=2500m; the pod would be placed on a",
            ],
            id="the pod may ask for less",
        ),
        pytest.param(
            [quota("2", "2"), pod("9")],
            ["would be admitted if quota team allows requests.cpu=11; the pod would then fit nowhere"],
            id="nothing is left, and no node has as much",
        ),
    ],
)
def test_a_pod_that_a_quota_refuses_is_told_what_would_be_admitted(objects, fixes, schedctl, tmp_path):
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]}))
    answer = json.loads(schedctl("explain", "pod", "shop/web", "-f", str(state), "-o", "json").out)
    assert [hint["text"] for hint in answer["results"][0]["hints"]] == fixes


def test_the_table_of_answers_says_why_the_api_server_refuses_a_pod(schedctl, tmp_path):
    large = pod("9")
    large["metadata"]["name"] = "large"
    items = [NODE, quota("2", "1500m"), pod(), large]
    (tmp_path / "state.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    table = schedctl("explain", "--all-pending", "-f", str(tmp_path / "state.json")).out.partition("\n\n")[0]
    assert 'REJECTED by the API server: pods "web" is forbidden: exceeded quota: team' in " ".join(table.split())


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([quota("1"), pod()], id="a quota counts the pod once"),
        pytest.param([quota("2", "1500m"), pod(uid="1-2")], id="a pod that is in the cluster was admitted"),
    ],
)
def test_a_pod_is_placed_where(objects, ask):
    ended = ask(*objects)
    assert "shop/web → a" in ended.out
    assert ended.code == 0


def test_a_similar_runtime_class_is_suggested(ask):
    assert '(did you mean "gvisor"?)' in ask(GVISOR, pod(runtimeClassName="gvizor")).out


def test_a_pod_that_names_a_missing_node_is_told_to_leave_it_out(ask):
    assert "spec.nodeName b does not exist: the scheduler never sees this pod" in ask(pod(nodeName="b")).out
