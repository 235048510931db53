"""``schedctl explain node``: what is free on a node, which pending pods fit there now, and why the others do not."""

from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from schedctl.session.schemas import SCHEMAS

READY = {"type": "Ready", "status": "True"}


def node(name, *, conditions=(READY,), taints=(), unschedulable=False, labels=None, **allocatable):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {"taints": list(taints), "unschedulable": unschedulable},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10", **allocatable},
            "conditions": list(conditions),
        },
    }


def pod(name, cpu, *, owner="", on="", **spec):
    owners = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": owner, "uid": "u", "controller": True}]
    spec["containers"] = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    spec |= {"nodeName": on} if on else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "ownerReferences": owners if owner else []},
        "spec": spec,
    }


@pytest.fixture
def asked(schedctl):
    """Ask about nodes of a cluster of these objects; returns what the command left behind."""

    def ask(*arguments, objects):
        state = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        return schedctl("explain", *arguments, "-q", "-f", "-", stdin=state)

    return ask


@pytest.fixture
def result(asked):
    """The answer about one node, as JSON that keeps its schema."""

    def ask(name, *objects):
        ended = asked("node", name, "-o", "json", objects=objects)
        report = json.loads(ended.out)
        jsonschema.Draft202012Validator(SCHEMAS["NodeExplainReport"]()).validate(report)
        return report["results"][0]

    return ask


def test_it_says_what_is_allocatable_used_and_free_of_every_resource_that_the_node_offers(result):
    found = result("a", node("a", **{"example.com/fpga": "2"}), pod("web", "1500m", on="a"))
    assert found["resources"] == [
        {"resource": "cpu", "allocatable": 4000, "used": 1500, "free": 2500},
        {"resource": "memory", "allocatable": 8 << 30, "used": 0, "free": 8 << 30},
        {"resource": "pods", "allocatable": 10, "used": 1, "free": 9},
        {"resource": "example.com/fpga", "allocatable": 2, "used": 0, "free": 2},
    ]
    assert found["running"] == [{"owner": "", "pods": 1, "cpu": 1500, "memory": 0}]


def test_the_pool_is_that_of_the_label_by_which_clusters_tell_pools_apart(result):
    labels = {"cloud.google.com/gke-nodepool": "big", "topology.kubernetes.io/zone": "eu-1a"}
    found = result("a", node("a", labels=labels))
    assert (found["pool"], found["zone"]) == ("big", "eu-1a")


@pytest.mark.parametrize(
    ("condition", "matters"),
    [
        pytest.param({"type": "Ready", "status": "True"}, False, id="a node that is ready is healthy"),
        pytest.param({"type": "Ready", "status": "Unknown"}, True, id="a node that is gone is not"),
        pytest.param({"type": "DiskPressure", "status": "False"}, False, id="no pressure is healthy"),
        pytest.param({"type": "DiskPressure", "status": "True"}, True, id="pressure is not"),
        pytest.param({"type": "DiskPressure", "status": "Unknown"}, False, id="pressure that nobody knows is no news"),
        pytest.param({"type": "KernelReady", "status": "False"}, True, id="an agent may say that a part is not ready"),
    ],
)
def test_conditions_are_told_that_are_not_as_on_a_healthy_node(result, condition, matters):
    assert [each["type"] for each in result("a", node("a", conditions=[condition]))["conditions"]] == (
        [condition["type"]] if matters else []
    )


def test_pods_that_fit_are_told_by_owner_with_the_node_they_would_be_placed_on(result):
    pods = [pod(f"db-{n}", "1", owner="db") for n in range(3)]
    found = result("a", node("a"), node("b"), pod("web", "2", on="a"), *pods)
    owners = [{"owner": "StatefulSet shop/db", "pods": 3}]
    assert [(each["owners"], each["chosen"]) for each in found["fitting"]] == [(owners, "b")]
    assert found["rejected"] == []


def test_a_pod_that_does_not_fit_has_every_cause_and_a_fix_that_was_tried_on_this_node(result):
    cordoned = node("a", unschedulable=True)
    found = result("a", cordoned, node("b"), pod("web", "3", on="a"), pod("big", "2"))
    (rejected,) = found["rejected"]
    assert [each["text"] for each in rejected["reasons"]] == ["node(s) were unschedulable", "Insufficient cpu"]
    assert rejected["elsewhere"] == {"b": 1}
    assert "cpu <= 1" in rejected["fix"]["text"]
    assert "uncordon" in rejected["fix"]["text"]


def test_the_pods_that_are_nearest_to_fitting_come_first(result):
    gpu = pod("gpu", "8", nodeSelector={"gpu": "yes"})
    found = result("a", node("a"), gpu, pod("big", "5"))
    assert [each["pods"] for each in found["rejected"]] == [["shop/big"], ["shop/gpu"]]


def test_causes_are_counted_in_pods_and_in_pods_that_have_no_other(result):
    gpu = pod("gpu", "8", nodeSelector={"gpu": "yes"})
    found = result("a", node("a"), gpu, pod("big", "5"))
    counted = {each["text"]: (each["pods"], each["alone"]) for each in found["causes"]}
    assert counted == {"Insufficient cpu": (2, 1), "node(s) didn't match Pod's node affinity/selector": (1, 0)}


def test_a_pod_that_only_another_node_may_take_is_not_said_to_fit(result):
    only_b = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only_b]}}
    found = result("a", node("a"), node("b"), pod("agent", "1", affinity={"nodeAffinity": required}))
    assert found["fitting"] == []
    assert [each["elsewhere"] for each in found["rejected"]] == [{"b": 1}]


def test_victims_are_told_where_preemption_would_make_room(result):
    important = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 9,
    }
    high = pod("high", "2", priorityClassName="high", priority=9)
    found = result("a", node("a"), important, pod("low", "3", on="a"), high)
    assert [(each["victims"], each["preempts"]) for each in found["rejected"]] == [(["shop/low"], True)]


def test_pods_that_no_node_is_looked_for_are_counted_apart(result):
    gated = pod("gated", "1", schedulingGates=[{"name": "wait"}])
    found = result("a", node("a"), gated, pod("other", "1", schedulerName="volcano"))
    assert [(each["verdict"], each["pods"]) for each in found["notJudged"]] == [
        ("Gated", ["shop/gated"]),
        ("ForeignScheduler", ["shop/other"]),
    ]


def test_equal_pods_are_judged_once_for_their_reasons_and_once_for_their_fix(asked, monkeypatch):
    from schedctl.explain import explanations

    judged = []
    explain = explanations.explain
    monkeypatch.setattr(
        explanations,
        "explain",
        lambda scheduler, pod, **options: judged.append(pod) or explain(scheduler, pod, **options),
    )
    ended = asked("node", "a", objects=[node("a"), *(pod(f"db-{n}", "5", owner="db") for n in range(30))])
    assert "30 pods of StatefulSet shop/db do not fit" in ended.out
    assert len(judged) == 2


@pytest.mark.parametrize(
    ("arguments", "nodes"),
    [
        pytest.param(["node", "a"], ["a"], id="kind and name"),
        pytest.param(["no", "a", "b"], ["a", "b"], id="several names"),
        pytest.param(["nodes/a", "node/b"], ["a", "b"], id="KIND/NAME"),
        pytest.param(["node", "a", "node/a"], ["a"], id="a node named twice"),
        pytest.param(["nodes", "-l", "disk=ssd"], ["b"], id="a selector"),
    ],
)
def test_nodes_are_named_as_kubectl_names_them(asked, arguments, nodes):
    ended = asked(*arguments, "-o", "json", objects=[node("a"), node("b", labels={"disk": "ssd"})])
    assert [each["node"] for each in json.loads(ended.out)["results"]] == nodes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["node", "worker-11"], 'node "worker-11" not found\nhint: did you mean worker-1?', id="a typo"),
        pytest.param(["node"], "no node given\nhint: the nodes are worker-1", id="no name"),
        pytest.param(
            ["node/worker-1", "web"], '"web" is not a node\nhint: e.g. `node/web`', id="a name without a kind"
        ),
        pytest.param(["node", "worker-1", "pod/web"], '"pod/web" is not a node', id="a pod beside a node"),
        pytest.param(["node", "worker-1", "--matrix"], "--matrix is about pods", id="an option about pods"),
        pytest.param(["node", "worker-1", "-l", "a=b"], "names and -l were both given", id="a name and a selector"),
        pytest.param(
            ["nodes", "-l", "a=b"],
            "no nodes have these labels\nhint: `kubectl get nodes",
            id="a selector that selects nothing",
        ),
    ],
)
def test_a_mistake_is_named_with_a_next_step(asked, arguments, message):
    ended = asked(*arguments, objects=[node("worker-1")])
    assert ended.code == 2
    assert message in ended.err


def test_names_are_the_pods_that_fit_and_their_node(asked):
    objects = [node("a"), pod("small", "1"), pod("big", "5")]
    assert asked("node", "a", "-o", "name", objects=objects).out == "pod/small node/a\n"


def test_the_command_of_a_fix_stands_on_a_line_of_its_own_to_be_pasted(asked):
    ended = asked("node", "a", objects=[node("a", unschedulable=True), pod("web", "1")])
    assert "  fix:  would fit if a is uncordoned\n        kubectl uncordon a\n" in ended.out


def test_of_several_nodes_a_table_comes_first(asked):
    ended = asked("nodes", "a", "b", objects=[node("a"), node("b", cpu="1"), pod("small", "2")])
    rows = [line.split() for line in ended.out.splitlines()[:3]]
    assert rows[1][:2] == ["a", "1"]
    assert rows[2][:2] == ["b", "0"]


@pytest.mark.parametrize("cluster", ["shop", "lab"])
def test_the_answer_about_a_node_of_the_fixtures_fits_the_first_screen(cluster, schedctl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    state = "-f", f"fixtures/clusters/{cluster}"
    everything = msgspec.json.decode(schedctl("explain", "nodes", "-l", "kubernetes.io/os", *state, "-o", "json").out)
    for each in everything["results"]:
        lines = schedctl("explain", "node", each["node"], *state).out.splitlines()
        assert len(lines) <= 24, "\n".join(lines)
        assert max(map(len, lines)) <= 80, "\n".join(lines)


ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "one"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}


def alone_on_its_node(name, **spec):
    made = pod(name, "1", affinity=ANTI, **spec)
    made["metadata"]["labels"] = {"app": "one"}
    return made


@pytest.mark.parametrize(
    ("pods", "together", "answer"),
    [
        pytest.param(
            (pod("a", "2"), pod("b", "2")),
            ["shop/a", "shop/b"],
            "2 of 2 pending pods fit here now, all 2 together",
            id="there is room for both",
        ),
        pytest.param(
            (pod("a", "3"), pod("b", "3"), pod("c", "1")),
            ["shop/a", "shop/c"],
            "3 of 3 pending pods fit here now, each judged alone; 2 of them together",
            id="one takes the room of another, and a smaller one comes after it",
        ),
        pytest.param(
            (pod("a", "3"), pod("b", "3", priority=5)),
            ["shop/b"],
            "2 of 2 pending pods fit here now, each judged alone; 1 of them together",
            id="the one of the higher priority comes first",
        ),
        pytest.param(
            (alone_on_its_node("a"), alone_on_its_node("b")),
            ["shop/a"],
            "2 of 2 pending pods fit here now, each judged alone; 1 of them together",
            id="rules among the pods count as well",
        ),
        pytest.param(
            (pod("a", "3"), pod("b", "5")),
            ["shop/a"],
            "1 of 2 pending pods fits here now, each judged alone",
            id="of one alone nothing is said",
        ),
    ],
)
def test_how_many_of_the_pods_fit_together(asked, result, pods, together, answer):
    assert result("n", node("n"), *pods)["together"] == together
    assert asked("node", "n", objects=[node("n"), *pods]).out.startswith(f"node n: {answer}\n")


def test_together_they_fit_by_the_profile_that_was_chosen(asked):
    objects = [node("n"), pod("a", "3"), pod("b", "3")]
    ended = asked("node", "n", "--profile", "bin-packing", "-o", "jsonpath={.results[0].together}", objects=objects)
    assert ended.out.strip() == '["shop/a"]'
