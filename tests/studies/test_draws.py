"""Draws among tied nodes: how often all is well, where pods go, and which of them ever pend."""

from __future__ import annotations

import pytest

from schedctl.errors import UsageError
from schedctl.render import draws as rendering
from schedctl.session import manifests as inputs
from schedctl.session.sessions import Session
from schedctl.session.simulate import SimulateOptions
from schedctl.session.states import StateSource
from schedctl.studies import draws
from schedctl.studies.draws import Draw, DrawnWorkload, summarize
from schedctl.studies.engines import Failure, InProcess, Processes
from schedctl.studies.statistics import distribution_of, quantile, share_of

NODES = """
apiVersion: v1
kind: Node
metadata: {name: a, labels: {disk: ssd}}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}
"""
PODS = """
apiVersion: v1
kind: Pod
metadata: {name: anywhere}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: picky}
spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: c, resources: {requests: {cpu: "2", memory: 1Gi}}}]}
"""
"""Whether the second pod fits depends on which of two equally good nodes the first one takes."""


def report(tmp_path, number, *, engine=None, seed=None):
    state, file = tmp_path / "nodes.yaml", tmp_path / "pods.yaml"
    state.write_text(NODES)
    file.write_text(PODS)
    session = Session(StateSource((str(state),)))
    read = inputs.load(
        [str(file)],
        [],
        recursive=True,
        stdin_filename="",
        namespace="default",
        allow_empty=False,
        strict=False,
        custom_kinds=(),
    )
    session.load()
    options = SimulateOptions(seed=seed)
    found = draws.simulate(session, read, options, number, engine=engine, sources=[str(file)])
    assert session.cluster.nodes.names == ["a", "b"]
    return found


def test_the_share_of_draws_in_which_all_is_placed_is_told(tmp_path):
    found = report(tmp_path, 60).draws
    picky = next(each for each in found.workloads if each.name == "picky")
    assert 15 <= found.placed.draws <= 45
    assert found.placed.low < 0.5 < found.placed.high
    assert found.outcomes == 2
    assert [pod.name for pod in picky.pending] == ["picky"]
    assert picky.pending[0].placed == found.placed.draws
    assert "Insufficient cpu" in picky.pending[0].message


def test_the_command_of_the_worst_draw_shows_that_draw(tmp_path):
    found = report(tmp_path, 10).draws
    assert found.worst_command.endswith(f"--seed {found.worst_seed}")
    alone = report(tmp_path, 1, seed=found.worst_seed)
    assert alone.draws.pods_placed.lowest == found.pods_placed.lowest == 1
    assert alone.summary.placed == 1


@pytest.mark.parametrize("engine", [InProcess(), Processes(2, batch=3), Processes(3, batch=1, start="spawn")])
def test_the_number_and_kind_of_workers_make_no_difference(tmp_path, engine):
    assert report(tmp_path, 14, engine=engine) == report(tmp_path, 14)


def test_seeds_that_follow_each_other_make_one_sample(tmp_path):
    whole = report(tmp_path, 20, seed=5).draws
    parts = [report(tmp_path, 10, seed=seed).draws for seed in (5, 15)]
    assert whole.placed.draws == sum(part.placed.draws for part in parts)


def test_a_draw_that_fails_is_counted_and_the_others_stand():
    workload = DrawnWorkload(("Pod", "default", "web"), 1, (("a", 1),), ())
    found = summarize([Draw((workload,), 0), Failure("no memory")], 7, "")
    assert (found.draws, found.failures) == (1, {8: "no memory"})
    with pytest.raises(UsageError, match="no draw could be run: no memory"):
        summarize([Failure("no memory")], 0, "")


def test_a_comparison_is_not_drawn(tmp_path):
    state = tmp_path / "nodes.yaml"
    state.write_text(NODES)
    session = Session(StateSource((str(state),)))
    session.load()
    with pytest.raises(UsageError, match="--draws and a comparison"):
        draws.simulate(session, None, SimulateOptions(version="1.36"), 2)


@pytest.mark.parametrize(
    ("values", "part", "expected"),
    [
        pytest.param([1, 2, 3, 4], 0.5, 2, id="of an even number the lower middle"),
        pytest.param([1, 2, 3, 4, 5], 0.5, 3, id="of an odd number the middle"),
        pytest.param([*range(1, 101)], 0.95, 95, id="95 of 100"),
        pytest.param([*range(1, 101)], 0.05, 5, id="5 of 100"),
        pytest.param([9], 0.05, 9, id="of one that one"),
    ],
)
def test_a_quantile_is_a_value_that_occurs(values, part, expected):
    assert quantile(values, part) == expected


def test_a_distribution_of_nothing_is_zero():
    assert distribution_of([]).highest == 0


@pytest.mark.parametrize(
    ("number", "total", "low", "high"),
    [
        pytest.param(0, 10, 0.0, 0.2775, id="never in ten"),
        pytest.param(10, 10, 0.7225, 1.0, id="always in ten"),
        pytest.param(97, 100, 0.9155, 0.9897, id="97 of 100"),
        pytest.param(0, 0, 0.0, 1.0, id="nothing known"),
    ],
)
def test_the_interval_is_wilsons(number, total, low, high):
    share = share_of(number, total)
    assert (share.low, share.high) == (low, high)


def test_a_share_is_never_rounded_to_all_or_nothing():
    assert rendering.percent(share_of(9999, 10000), 10000) == "99.9 %"
    assert rendering.percent(share_of(1, 10000), 10000) == "0.1 %"
    assert rendering.percent(share_of(10, 10), 10) == "100 %"
    assert rendering.percent(share_of(97, 100), 100) == "97 %"
