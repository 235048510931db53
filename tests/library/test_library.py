"""The library: a small list of names, imported as they are used, that knows nothing of a command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

import schedctl
import schedctl.framework
import schedctl.testing
from schedctl import InputError, Scheduler, objects, pod, read, simulate
from schedctl.testing import cluster, node
from schedctl.testing import pod as made

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "a", "image": "a"}]},
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"allocatable": {"cpu": "1", "pods": "9"}},
}


@pytest.mark.parametrize("module", [schedctl, schedctl.framework, schedctl.testing])
def test_what_a_module_lists_is_there_once_and_in_order(module):
    def place(name):
        return (not name.isupper(), not name[0].isupper() and name != "__version__", name)

    assert list(module.__all__) == sorted(set(module.__all__), key=place)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_what_can_be_imported_is_listed():
    assert set(schedctl._HOMES) == set(schedctl.__all__) - {"KUBERNETES_VERSION", "__version__"}
    assert dir(schedctl) == sorted(schedctl.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Sheduler'"):
        _ = schedctl.Sheduler


def test_no_command_line_is_imported():
    code = (
        "import sys; from schedctl import *; import schedctl.testing;"
        "print([n for n in ('typer', 'rich', 'kubernetes', 'schedctl.cli', 'hypothesis') if n in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_a_later_source_takes_the_place_of_an_earlier_one():
    larger = {**NODE, "status": {"allocatable": {"cpu": "8", "pods": "9"}}}
    (kept,) = read({"apiVersion": "v1", "kind": "List", "items": [NODE, POD]}, larger).nodes.allocatable("cpu")
    assert kept == 8000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read(), "no objects in the input"),
        (lambda: read("nowhere.yaml"), "nowhere.yaml"),
        (lambda: read({"kind": "Pod"}), "apiVersion"),
        (lambda: pod(NODE), "<object>: expected one Pod, got a Node"),
        (lambda: pod({"apiVersion": "v1", "kind": "List", "items": [POD, NODE]}), "expected one Pod, got 2 objects"),
        (lambda: simulate(Scheduler(read(NODE)), {**POD, "spec": {}}), "spec.containers"),
    ],
)
def test_what_cannot_be_read_is_an_input_error(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_pod_of_an_object_has_the_defaults_of_kubernetes():
    assert pod(POD).pod.spec.scheduler_name == "default-scheduler"
    (same,) = objects(POD)
    assert same.metadata.namespace == "default"


def test_the_pending_pods_of_a_cluster_are_simulated_without_manifests():
    scheduler = Scheduler(read(NODE, POD))
    with scheduler.fork():
        assert simulate(scheduler).run.pods["default/web"].node == "a"
    assert "default/web" in scheduler.cluster.pending


# -- judging -----------------------------------------------------------------------------


def test_each_node_has_its_own_answer_in_the_order_asked_for():
    scheduler = Scheduler(cluster(node("a", cpu="1"), node("b"), node("c", unschedulable=True)))
    judgement = scheduler.judge(made(cpu="2"), nodes=["c", "a", "b"])
    assert [(each.node, each.plugin, each.fits) for each in judgement] == [
        ("c", "NodeUnschedulable", False),
        ("a", "NodeResourcesFit", False),
        ("b", "", True),
    ]
    assert judgement.feasible == scheduler.feasible_nodes(made(cpu="2"), nodes=["c", "a", "b"]) == ("b",)
    assert judgement["a"].reasons == ("Insufficient cpu",)


def test_only_some_plugins_may_be_asked():
    scheduler = Scheduler(cluster(node("a", cpu="1", unschedulable=True)))
    assert scheduler.judge(made(cpu="2"), plugins=["NodeUnschedulable"])["a"].plugin == "NodeUnschedulable"
    assert scheduler.judge(made(cpu="2"), plugins=["NodeResourcesFit"])["a"].plugin == "NodeResourcesFit"
    assert scheduler.judge(made(cpu="2"), plugins=["NodePorts"]).fits


def test_pre_filter_answers_for_nodes_it_rules_out():
    scheduler = Scheduler(cluster(node("a"), node("b")))
    named = made(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}})  # fmt: skip
    judgement = scheduler.judge(named)
    assert judgement.feasible == ("a",)
    assert (judgement["b"].plugin, judgement["b"].code) == ("NodeAffinity", "UnschedulableAndUnresolvable")
    missing = made(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}])
    assert {each.reasons for each in scheduler.judge(missing)} == {('persistentvolumeclaim "gone" not found',)}


@pytest.mark.parametrize(
    ("arguments", "fault"), [({"nodes": ["z"]}, KeyError), ({"plugins": ["Nonesuch"]}, ValueError)]
)
def test_what_is_not_there_cannot_be_judged(arguments, fault):
    with pytest.raises(fault, match=r"node z not found|has no plugin Nonesuch"):
        Scheduler(cluster(node("a"))).judge(made(), **arguments)


def test_judging_agrees_with_the_cycle_on_every_node():
    made_cluster = read("fixtures/clusters/shop")
    scheduler = Scheduler(made_cluster)
    for info in made_cluster.pending.values():
        outcome = scheduler.attempt(info, make_room=False)
        feasible = outcome.scoring.nodes.names if outcome.scoring is not None else []
        assert sorted(scheduler.judge(info).feasible) == sorted(feasible)


def test_a_node_tried_often_leaves_nothing_behind():
    made_cluster = cluster(node("a", cpu="1", labels={"x": "1"}), made("on", on="a"))
    scheduler = Scheduler(made_cluster)
    before = scheduler.attempt(made()).scoring.totals.tolist()
    for number in range(100):
        with made_cluster.fork():
            made_cluster.add_node(
                node(f"template-{number % 3}", cpu=f"{number % 2 + 1}", labels={"x": str(number % 5)})
            )
            selected = made(cpu="2", nodeSelector={"x": str(number % 5)})
            assert scheduler.judge(selected, [f"template-{number % 3}"]).fits is bool(number % 2)
    assert len(made_cluster.node_table) == 1
    assert scheduler.attempt(made()).scoring.totals.tolist() == before
