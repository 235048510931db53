"""`explain pods -n shop` is about all pods of the namespace, and running pods are one answer wherever they run."""

import json

import pytest

SHOP = ("-f", "fixtures/clusters/shop")


def table(printed):
    """Return the rows of the table of answers: the number of pods, the owner and the cause."""
    rows = printed.partition("\n\n")[0].splitlines()[1:]
    return [(int(row.split()[0]), " ".join(row.split()[1:3]), " ".join(row.split()[3:])) for row in rows]


def test_the_pods_of_the_namespace_are_explained(schedctl):
    report = json.loads(schedctl("explain", "pods", "-n", "shop", *SHOP, "-o", "json").out)
    explained = {pod for result in report["results"] for pod in result["pods"]}
    listed = json.loads(schedctl("explain", "pods", "-A", *SHOP, "-o", "json").out)
    assert explained == {pod for result in listed["results"] for pod in result["pods"] if pod.startswith("shop/")}
    assert len(explained) == 38


def test_without_a_namespace_those_of_the_default_one_are_meant(schedctl):
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}"
    assert "pod default/a → general-a-1" in schedctl("explain", "pods", *SHOP, "-f", "-", stdin=pod).out


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        pytest.param("pods", "error: no pods in namespace shopp", id="pods"),
        pytest.param("deployments", "error: no deployments in namespace shopp", id="workloads"),
    ],
)
def test_a_namespace_that_has_none_is_an_error_with_those_that_have(schedctl, kind, error):
    ended = schedctl("explain", kind, "-n", "shopp", *SHOP)
    assert ended.code == 2
    assert ended.err.startswith(error)
    assert "hint: there are some in namespace ml, shop" in ended.err


def test_running_pods_are_one_answer_after_those_that_need_a_look(schedctl):
    printed = schedctl("explain", "pods", "-n", "shop", *SHOP).out
    rows = table(printed)
    assert rows[0][:2] == (1, "Deployment shop/web")
    assert {cause for _, _, cause in rows[1:]} == {"BOUND running"}
    assert sum(number for number, *_ in rows) == 38
    assert "37 pods: BOUND (running on 15 nodes)" in printed


def test_as_data_one_answer_has_the_node_of_each_pod(schedctl):
    report = json.loads(schedctl("explain", "pods", "-n", "shop", *SHOP, "-o", "json").out)
    result = report["results"][-1]
    separate = json.loads(schedctl("explain", "pods", "-n", "shop", "--no-group", *SHOP, "-o", "json").out)["results"]
    node_of = {each["pods"][0]: each["bound"]["node"] for each in separate if each["bound"]}
    assert dict(zip(result["pods"], result["bound"]["nodes"], strict=True)) == node_of
    assert result["bound"]["since"] == ""


def test_each_for_itself_has_its_node_and_time(schedctl):
    report = json.loads(schedctl("explain", "pods", "-n", "shop", "--no-group", *SHOP, "-o", "json").out)
    running = [result["bound"] for result in report["results"] if result["bound"]]
    assert len(running) == 37
    assert all(bound["nodes"] == [bound["node"]] and bound["since"] for bound in running)


def test_pods_that_wait_for_different_reasons_are_different_answers(schedctl, tmp_path):
    def pod(name, node, reason):
        waiting = {"name": "c", "ready": False, "image": "c", "state": {"waiting": {"reason": reason}}}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "uid": name},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "c"}]},
            "status": {"phase": "Pending", "startTime": "2026-11-16T08:58:00Z", "containerStatuses": [waiting]},
        }

    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}}}
        for name in "ab"
    ]
    pods = [
        pod("one", "a", "ImagePullBackOff"),
        pod("two", "b", "ImagePullBackOff"),
        pod("three", "a", "CrashLoopBackOff"),
    ]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]}))
    printed = schedctl("explain", "pods", "-n", "shop", "-f", str(path)).out
    assert "2 pods: BOUND (on 2 nodes, not running: " in printed
    assert "pod shop/three: BOUND (on a, not running: " in printed
