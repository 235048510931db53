"""What-ifs: what each does to a cluster, how they are written, and what is said where they cannot be made."""

from __future__ import annotations

import re

import msgspec
import pytest

from schedctl.api.nodes import Taint
from schedctl.api.policies import PriorityClass
from schedctl.api.storage import CSINode
from schedctl.api.workloads import DaemonSet, Deployment, ReplicaSet
from schedctl.errors import UsageError
from schedctl.simulation.what_if_syntax import EXAMPLES, WORDS, from_mappings, parse
from schedctl.simulation.what_ifs import apply
from schedctl.testing.builders import cluster, node, pod


def owner(kind: str, name: str) -> dict:
    version = {"Node": "v1", "Job": "batch/v1"}.get(kind, "apps/v1")
    return {"ownerReferences": [{"apiVersion": version, "kind": kind, "name": name, "uid": name, "controller": True}]}


def owned(name: str, kind: str = "ReplicaSet", by: str = "web", **more):
    return pod(name, metadata=owner(kind, by), **more)


def build(kind, name: str, **spec):
    return msgspec.convert({"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}, kind)


def template(**labels: str) -> dict:
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": {"labels": labels}, "spec": {"containers": [container]}}


def do(state, *words: str, namespace: str = "default"):
    """Make the what-ifs, each as ``word text``."""
    return apply([parse(*words_.split(" ", 1), namespace) for words_ in words], state)


def object_of(state, name: str):
    return state.node_table.objects[state.node_table.row_of[name]]


def where(state) -> dict[str, str]:
    names = state.node_table.names
    return {
        info.pod.metadata.name: names[int(state.pod_table.node[state.pod_table.row_of[info.key]])]
        for info in state.pod_table
    }


ZONES = (node("a", zone="eu-1"), node("b", zone="eu-1"), node("c", zone="eu-2"))


# -- nodes -----------------------------------------------------------------------


def test_a_cordoned_node_is_unschedulable_and_tainted_so_as_the_node_controller_does_it():
    state = cluster(node("a"), pod("x", on="a"))
    assert do(state, "cordon a")[0].text == "cordoned a"
    assert object_of(state, "a").spec.unschedulable
    assert object_of(state, "a").spec.taints == [Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")]
    assert where(state) == {"x": "a"}


def test_draining_leaves_daemons_and_static_pods_and_lets_the_others_wait_under_new_names():
    static = pod("static", on="a", metadata={**owner("Node", "a"), "annotations": {"kubernetes.io/config.mirror": "x"}})
    state = cluster(
        node("a"), owned("web-x", on="a"), owned("d", "DaemonSet", "d", on="a"), pod("bare", on="a"), static
    )
    (changed,) = do(state, "drain a")
    assert changed.text == "drained a (1 pod to be placed, default/bare lost: no controller recreates it)"
    assert sorted(where(state)) == ["d", "static"]
    (key,) = state.pending
    assert key.startswith("default/web-")
    assert key != "default/web-x"
    assert (changed.waiting, changed.successors) == ([key], {"default/web-x": key})


def test_a_stateful_pod_comes_back_under_its_name():
    state = cluster(node("a"), owned("db-0", "StatefulSet", "db", on="a"))
    assert do(state, "drain a")[0].successors == {"default/db-0": "default/db-0"}
    assert list(state.pending) == ["default/db-0"]


def test_pods_on_their_way_out_have_been_replaced_already():
    leaving = owned("web-x", on="a")
    going = msgspec.structs.replace(leaving.pod.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
    state = cluster(node("a"), leaving.as_now(msgspec.structs.replace(leaving.pod, metadata=going)))
    assert do(state, "drain a")[0].text == "drained a"
    assert not state.pending


def test_a_removed_node_takes_its_daemons_and_what_drivers_said_about_it_along():
    csi = msgspec.convert({"metadata": {"name": "a"}}, CSINode)
    state = cluster(node("a"), node("b"), owned("d", "DaemonSet", "d", on="a"), csi)
    assert do(state, "remove-node a")[0].text == "removed a"
    assert list(state.node_table.row_of) == ["b"]
    assert (where(state), dict(state.pending), dict(state.every(CSINode))) == ({}, {}, {})


def test_losing_a_zone_removes_its_nodes():
    state = cluster(*ZONES, owned("web-x", on="a"), owned("web-y", on="c"))
    (changed,) = do(state, "lose zone=eu-1")
    assert changed.text == "lost zone=eu-1: a, b (1 pod to be placed)"
    assert list(state.node_table.row_of) == ["c"]
    assert where(state) == {"web-y": "c"}


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        pytest.param("b", ["b"], id="a name is that node"),
        pytest.param("all", ["a", "b", "c"], id="all are all"),
        pytest.param("zone=eu-1", ["a", "b"], id="zone is short for the zone label"),
        pytest.param("hostname=c", ["c"], id="hostname is short for the label of the name"),
        pytest.param("topology.kubernetes.io/zone=eu-2", ["c"], id="any label can be given in full"),
    ],
)
def test_nodes_are_chosen_by(choice, names):
    assert do(cluster(*ZONES), f"cordon {choice}")[0].nodes == names


def test_the_deprecated_zone_label_chooses_nodes_that_have_no_other():
    old = {"failure-domain.beta.kubernetes.io/zone": "eu-1"}
    assert do(cluster(*ZONES, node("d", labels=old)), "cordon zone=eu-1")[0].nodes == ["a", "b", "d"]


def test_a_label_that_nodes_have_themselves_is_not_taken_for_a_shorthand():
    assert do(cluster(node("a", labels={"zone": "x"}), node("b", zone="x")), "cordon zone=x")[0].nodes == ["a"]


def test_a_node_like_another_is_as_that_was_when_it_was_new():
    images = [{"names": ["web"], "sizeBytes": 1}]
    taints = [
        {"key": "team", "value": "x", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
    ]
    csi = msgspec.convert({"metadata": {"name": "a"}, "spec": {"drivers": [{"name": "ebs"}]}}, CSINode)
    state = cluster(
        node("a", cpu="8", taints=taints, unschedulable=True, images=images, zone="eu"), pod("x", on="a"), csi
    )
    (changed,) = do(state, "add-node like:a×2")
    assert changed.nodes == ["a-new-1", "a-new-2"]
    new = object_of(state, "a-new-1")
    assert new.status.allocatable["cpu"] == "8"
    assert [taint.key for taint in new.spec.taints] == ["team"]
    assert (new.spec.unschedulable, new.status.images) == (False, None)
    assert new.metadata.labels["kubernetes.io/hostname"] == "a-new-1"
    assert new.metadata.labels["topology.kubernetes.io/zone"] == "eu"
    assert where(state) == {"x": "a"}
    assert state.get(CSINode, "a-new-2").spec == csi.spec


def test_new_nodes_run_the_pods_of_the_daemon_sets_that_fit_them():
    known = build(DaemonSet, "logs", template=template(app="logs"))
    elsewhere = build(DaemonSet, "gpu", template={**template(app="gpu"), "spec": {"nodeSelector": {"gpu": "yes"}}})
    state = cluster(node("a"), known, elsewhere, owned("unlisted-x", "DaemonSet", "unlisted", on="a"))
    assert do(state, "add-node like:a")[0].text == "added a-new-1, like a, with 2 pods of DaemonSets"
    assert sorted(name.rpartition("-")[0] for name, on in where(state).items() if on == "a-new-1") == [
        "logs",
        "unlisted",
    ]


def test_nodes_of_a_file_join_under_their_names_or_with_numbers(tmp_path):
    file = tmp_path / "big.yaml"
    file.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: big}\nstatus: {allocatable: {cpu: 64}}\n")
    state = cluster(node("a"))
    assert do(state, f"add-node {file}")[0].nodes == ["big"]
    assert do(state, f"add-node {file}x2")[0].nodes == ["big-1", "big-2"]
    assert do(state, f"add-node {file}")[0].nodes == ["big-3"]


def test_a_node_whose_name_ends_like_a_number_of_nodes_is_that_node():
    assert do(cluster(node("box2")), "add-node like:box2")[0].nodes == ["box2-new-1"]


@pytest.mark.parametrize(
    ("written", "taints"),
    [
        pytest.param("a:k=v:NoSchedule", ["k=v:NoSchedule", "old=1:NoExecute"], id="a taint is added"),
        pytest.param("a:old=2:NoExecute", ["old=2:NoExecute"], id="one of the same key and effect is replaced"),
        pytest.param("a:k:PreferNoSchedule", ["k=:PreferNoSchedule", "old=1:NoExecute"], id="a value can be left out"),
        pytest.param("a:old-", [], id="a key and a dash remove it"),
        pytest.param("a:old=1:NoExecute-", [], id="so does the whole taint and a dash"),
    ],
)
def test_tainting(written, taints):
    state = cluster(node("a", taints=[{"key": "old", "value": "1", "effect": "NoExecute"}]))
    do(state, f"taint {written}")
    found = object_of(state, "a").spec.taints or []
    assert sorted(f"{taint.key}={taint.value}:{taint.effect}" for taint in found) == taints


def test_no_execute_evicts_whoever_does_not_tolerate_it_for_good():
    bears = [{"key": "k", "operator": "Exists"}]
    for_a_while = [{"key": "k", "operator": "Exists", "tolerationSeconds": 60}]
    state = cluster(
        node("a"),
        owned("stays", on="a", tolerations=bears),
        owned("goes", on="a"),
        owned("later", on="a", tolerations=for_a_while),
    )
    assert do(state, "taint a:k=v:NoExecute")[0].gone == ["default/goes", "default/later"]
    assert where(state) == {"stays": "a"}
    assert len(state.pending) == 2


def test_labels_are_set_and_removed_and_pods_stay():
    state = cluster(node("a"), pod("x", on="a"))
    do(state, "label a:pool=big")
    assert object_of(state, "a").metadata.labels["pool"] == "big"
    assert do(state, "label pool=big:pool-")[0].text == "removed label pool from a"
    assert "pool" not in object_of(state, "a").metadata.labels
    assert where(state) == {"x": "a"}


# -- workloads -------------------------------------------------------------------


def shop(replicas: int = 2):
    """A Deployment of two running pods."""
    selector = {"matchLabels": {"app": "web"}}
    labels = {"app": "web", "pod-template-hash": "5c"}
    deployment = build(Deployment, "web", replicas=replicas, selector=selector, template=template(app="web"))
    of_it = {"name": "web-5c", "namespace": "default", "uid": "web-5c", "labels": labels, **owner("Deployment", "web")}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template(**labels)}
    pods = (owned(f"web-5c-{name}", by="web-5c", on="a", labels=labels, cpu="1", image="web") for name in "xy")
    return cluster(node("a"), deployment, msgspec.convert({"metadata": of_it, "spec": spec}, ReplicaSet), *pods)


def test_a_workload_scaled_up_has_more_pods_that_wait():
    state = shop()
    (changed,) = do(state, "scale deploy/web=5")
    assert changed.text == "scaled deploy/default/web from 2 to 5 (3 pods to be placed)"
    assert len(state.pending) == 3
    assert {info.pod.metadata.owner_references[0].name for info in state.pending.values()} == {"web-5c"}
    assert state.get(Deployment, "default/web").spec.replicas == 5


def test_a_workload_scaled_down_has_fewer():
    state = shop()
    assert do(state, "scale deployment/default/web=1")[0].text == "scaled deploy/default/web from 2 to 1 (1 pod gone)"
    assert len(where(state)) == 1


def test_a_quota_keeps_pods_from_coming():
    from schedctl.api.policies import ResourceQuota

    state = shop()
    state.put(
        msgspec.convert(
            {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"pods": "3"}}}, ResourceQuota
        )
    )
    (changed,) = do(state, "scale deploy/web=5")
    assert len(state.pending) == 1
    assert "2 refused (" in changed.text
    assert "exceeded quota: q" in changed.text


def test_the_priority_of_a_pod_changes_where_it_is():
    state = cluster(node("a"), pod("x", on="a"), pod("y", priority=5, preemptionPolicy="Never"))
    assert do(state, "priority x=7", "priority pod/y=9")[1].text == "priority of pod/default/y is 9, was 5"
    assert [info.priority for info in state.pod_table] == [7]
    assert state.pending["default/y"].priority == 9
    assert state.pending["default/y"].pod.spec.preemption_policy == "Never"


def test_the_priority_of_a_workload_is_that_of_its_pods_and_of_those_it_makes_later():
    state = shop()
    state.put(msgspec.convert({"metadata": {"name": "high"}, "value": 100, "preemptionPolicy": "Never"}, PriorityClass))
    assert do(state, "priority deploy/web=high")[0].text == "priority of deploy/default/web is 100 (2 pods), was 0"
    assert {info.priority for info in state.pod_table} == {100}
    do(state, "scale deploy/web=3")
    (new,) = state.pending.values()
    assert (new.priority, new.pod.spec.preemption_policy) == (100, "Never")
    assert new.pod.metadata.owner_references[0].name == "web-5c"  # the template has changed with its ReplicaSet


def test_changes_are_made_in_the_order_given():
    state = cluster(node("a"), node("b"))
    texts = [changed.text for changed in do(state, "label a:pool=x", "add-node like:a", "lose pool=x")]
    assert texts == ["labelled a pool=x", "added a-new-1, like a", "lost pool=x: a, a-new-1"]


def test_a_fork_undoes_them_all():
    state = shop()
    before = where(state), object_of(state, "a"), state.get(Deployment, "default/web")
    with state.fork():
        do(
            state,
            "add-node like:a×3",
            "taint all:k=v:NoExecute",
            "scale deploy/web=9",
            "priority deploy/web=3",
            "lose node=a",
        )
    assert (where(state), object_of(state, "a"), state.get(Deployment, "default/web")) == before
    assert (list(state.node_table.row_of), dict(state.pending), dict(state.every(PriorityClass))) == (["a"], {}, {})


# -- words -----------------------------------------------------------------------


@pytest.mark.parametrize("word", WORDS)
def test_the_example_of_a_word_can_be_read(word):
    assert parse(word, EXAMPLES[word]).kind == word


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        pytest.param({"cordon": "a"}, ["cordon a"], id="a text is that text"),
        pytest.param({"drain": ["a", "b"]}, ["drain a", "drain b"], id="several texts are several changes"),
        pytest.param({"addNode": {"like:a": 3}}, ["add-node like:a×3"], id="nodes by their model, with their number"),
        pytest.param(
            {"taint": {"all": ["k:NoSchedule", "x-"]}}, ["taint all:k:NoSchedule", "taint all:x-"], id="taints by node"
        ),
        pytest.param({"label": {"a": "k=v"}}, ["label a:k=v"], id="labels by node"),
        pytest.param({"scale": {"deploy/web": 20}}, ["scale deploy/web=20"], id="numbers by workload"),
        pytest.param({"lose": {"zone": "eu-1"}}, ["lose zone=eu-1"], id="a label by its key"),
        pytest.param({"remove": "a"}, ["remove-node a"], id="a short word"),
        pytest.param(
            {"remove": {"nodeSelector": {"pool": "spot", "zone": "x"}}},
            ["remove-node pool=spot,zone=x"],
            id="nodes by all of their labels",
        ),
        pytest.param(
            {"removeNode": "a", "lose": "zone=x"}, ["remove-node a", "lose zone=x"], id="a map of several words"
        ),
    ],
)
def test_plain_data_means_what_the_command_line_means(data, texts):
    assert from_mappings([data]) == [parse(*text.split(" ", 1)) for text in texts]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        pytest.param("cordon d", 'node "d" not found', "the nodes are a, b, c", id="a node that is not there"),
        pytest.param(
            "lose zone=eu-3",
            "no node has topology.kubernetes.io/zone=eu-3",
            "did you mean eu-1, eu-2?",
            id="a zone that is not there",
        ),
        pytest.param("lose zon=eu-1", 'no node has a label "zon"', "zone", id="a label that no node has"),
        pytest.param(
            "lose eu-1", '"eu-1" is not a label with a value', "e.g. `zone=eu-west-1a`", id="a zone without its label"
        ),
        pytest.param("taint a", 'no node in "a"', "e.g. `--taint node-1:", id="a taint without a node"),
        pytest.param(
            "taint a:k=v", '"k=v" has no effect', "e.g. `--taint a:k=v:NoSchedule`", id="a taint without an effect"
        ),
        pytest.param(
            "taint a:k=v:NoSchedul",
            'unknown taint effect "NoSchedul"',
            "did you mean NoSchedule?",
            id="an effect that is none",
        ),
        pytest.param("taint a:k-", 'no taint "k" on a', "", id="a taint to remove that is not there"),
        pytest.param("taint a:k!=v:NoSchedule", 'invalid key "k!"', "", id="a taint whose key is none"),
        pytest.param(
            "label a:k", '"k" has no value', "`k=VALUE` sets a label, `k-` removes it", id="a label without a value"
        ),
        pytest.param("scale deploy/web=x", 'invalid number of pods "x"', "from 0 to 10000", id="a number that is none"),
        pytest.param(
            "scale deploy/web",
            '"deploy/web" has no value',
            "e.g. `--scale deploy/web=20`",
            id="a workload without a number",
        ),
        pytest.param(
            "scale deploy/web=2",
            'Deployment "web" not found in namespace default',
            "choose one of shop/web2",
            id="a workload that is not there",
        ),
        pytest.param(
            "scale job/web=2",
            "job/default/web cannot be scaled",
            "kinds that can be scaled: deploy, rs, sts, rc",
            id="a kind that cannot be scaled",
        ),
        pytest.param(
            "priority web-1=x",
            'pod "web-1" not found in namespace default',
            "did you mean web-0?",
            id="a pod that is not there",
        ),
        pytest.param(
            "priority web-0=hihg",
            'PriorityClass "hihg" not found',
            "did you mean high?",
            id="a class that is not there",
        ),
        pytest.param(
            "priority web-0=3000000000",
            "priority 3000000000 is out of range",
            "",
            id="a priority out of bounds",
        ),
        pytest.param("add-node like:d", 'node "d" not found', "the nodes are a, b, c", id="a model that is not there"),
        pytest.param("add-node like:a×0", 'cannot add 0 nodes ("like:a×0")', "from 1 to 10000", id="no node"),
        pytest.param("add-node nodes.yaml", 'no file "nodes.yaml"', "`like:NODE=N`", id="a file that is not there"),
        pytest.param(
            "scale dep/web/x/y=2",
            'invalid pod or workload "dep/web/x/y"',
            "did you mean",
            id="a name with too many parts",
        ),
    ],
)
def test_what_cannot_be_done_is_said_with_a_next_step(words, message, hint):
    high = msgspec.convert({"metadata": {"name": "high"}, "value": 1}, PriorityClass)
    other = msgspec.convert({"metadata": {"name": "web2", "namespace": "shop"}}, Deployment)
    state = cluster(*ZONES, pod("web-0", on="a"), high, other)
    with pytest.raises(UsageError, match=re.escape(message)) as fault:
        do(state, words)
    assert hint in fault.value.hint


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param([{"cordn": "a"}], 'unknown what-if "cordn"', id="a word that is none"),
        pytest.param(["cordon"], "expected a what-if, got 'cordon'", id="no map"),
        pytest.param([{"cordon": 3}], "cordon cannot be 3", id="a value that is no text"),
        pytest.param([{"cordon": {"a": "b"}}], "cordon cannot be {'a': 'b'}", id="a map where the text has no halves"),
        pytest.param([{"cordon": ""}], "--cordon needs a value", id="an empty text"),
    ],
)
def test_plain_data_of_another_shape_is_refused(data, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        from_mappings(data)
