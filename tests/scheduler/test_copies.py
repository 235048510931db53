"""A cluster and a scheduler can be sent to another process: what arrives answers as what was sent."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

from schedctl import Scheduler, read, simulate
from schedctl.testing.builders import cluster, node, pod

FENCE = """
from schedctl.framework import FilterPlugin, Reason, per_node

class Fence(FilterPlugin):
    closed = Reason("node(s) are fenced off")

    @per_node
    def filter(self, cycle, node):
        return self.closed() if "fence" in node.labels else None
"""


def placements(scheduler):
    with scheduler.fork():
        run = simulate(scheduler).run
        return {key: (outcome.state, outcome.node, outcome.message) for key, outcome in run.pods.items()}


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_of_a_scheduler_places_the_pods_as_the_original_does(duplicate):
    scheduler = Scheduler(read("fixtures/clusters/shop"))
    expected = placements(scheduler)
    double = duplicate(scheduler)
    assert placements(double) == expected
    double.cluster.remove_node("gpu-a-1")
    assert len(scheduler.cluster.nodes) == len(double.cluster.nodes) + 1


def test_a_copy_made_in_a_fork_has_what_the_fork_changed_and_outlives_it():
    state = cluster(node("a"), pod("web"))
    scheduler = Scheduler(state)
    with scheduler.fork():
        state.add_node(node("b"))
        state.assume(state.pending["default/web"], "b")
        double = pickle.loads(pickle.dumps(scheduler))
    assert state.nodes.names == ["a"]
    assert double.cluster.nodes.names == ["a", "b"]
    assert double.cluster.node_of("default/web") == "b"


def test_the_clock_of_a_snapshot_is_copied():
    state = cluster(node("a"))
    state.now = read("fixtures/clusters/shop").now
    assert pickle.loads(pickle.dumps(state)).now.__class__ is state.now.__class__


def test_promises_of_nodes_are_copied_as_they_are_now():
    state = cluster(node("a"), node("b"), promised := pod("web", status={"nominatedNodeName": "a"}))
    scheduler = Scheduler(state)
    scheduler.nominator.nominate(promised, "b")
    double = pickle.loads(pickle.dumps(scheduler))
    assert [info.key for info in double.nominator.pods("b")] == ["default/web"]
    assert not double.nominator.pods("a")


def test_plugins_of_a_file_are_found_again_in_another_process(tmp_path):
    file = tmp_path / "fence.py"
    file.write_text(FENCE)
    state = cluster(node("a", labels={"fence": "1"}), node("b"))
    scheduler = Scheduler.configured(state, plugins=[str(file)])
    sent = tmp_path / "sent.pickle"
    sent.write_bytes(pickle.dumps(scheduler))
    ask = (
        "import pickle, sys; from schedctl.testing.builders import pod;"
        "scheduler = pickle.load(open(sys.argv[1], 'rb'));"
        "print(*scheduler.judge(pod()).feasible)"
    )
    done = subprocess.run([sys.executable, "-c", ask, str(sent)], capture_output=True, text=True, check=True)
    assert done.stdout == "b\n"


def test_a_plugin_of_a_file_that_is_missing_in_the_other_process_is_named(tmp_path):
    file = tmp_path / "fence.py"
    file.write_text(FENCE)
    sent = tmp_path / "sent.pickle"
    sent.write_bytes(pickle.dumps(Scheduler.configured(cluster(node("a")), plugins=[str(file)])))
    file.unlink()
    ask = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
    done = subprocess.run([sys.executable, "-c", ask, str(sent)], capture_output=True, text=True, check=False)
    assert f"no such file: {file}" in done.stderr
