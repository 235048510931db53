"""RackPacking: of the placements in which a group can start, the one whose racks are closest."""

from __future__ import annotations

from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.group_laws import broken_group_laws
from tests.engine.test_pod_groups import group

RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
RACK = "topology.example.com/rack"


def placed(example, *nodes, pods=2, running=()):
    """The placement that a group takes, and the score of each."""
    chosen = example("rack_packing", release=RELEASE).chosen
    of_group = group(gang=pods, rack=True)
    there = cluster(*nodes, *running, of_group, release=RELEASE)
    members = [pod(f"train-{i}", cpu="3", schedulingGroup={"podGroupName": "train"}) for i in range(pods)]
    for info in members:
        there.add_pod(info)
    scheduler = Scheduler(there, chosen.configuration, chosen.registry)
    outcome = scheduler.attempt_group(of_group, members)
    return outcome.chosen.placement.name, {name: scores["RackPacking"] for name, scores in outcome.scores.items()}


def in_hall(hall, name, rack):
    return node(name, cpu="4", labels={"rack": hall, RACK: rack})


def test_the_racks_that_are_closest_win(example):
    far = [in_hall("far", "far-1", "a"), in_hall("far", "far-2", "c")]
    near = [in_hall("near", "near-1", "a"), in_hall("near", "near-2", "b")]
    assert placed(example, *far, *near) == ("near", {"far": 0, "near": 1000})


def test_one_rack_is_at_no_distance(example):
    one = [in_hall("one", "one-1", "c"), in_hall("one", "one-2", "c")]
    two = [in_hall("two", "two-1", "a"), in_hall("two", "two-2", "b")]
    assert placed(example, *one, *two)[0] == "one"


def test_a_rack_of_which_nothing_is_written_is_far(example):
    unknown = [in_hall("unknown", "unknown-1", "a"), in_hall("unknown", "unknown-2", "z")]
    far = [in_hall("far", "far-1", "a"), in_hall("far", "far-2", "c")]
    assert placed(example, *unknown, *far) == ("far", {"unknown": 0, "far": 1000})


def test_members_that_run_count(example):
    of_group = {"schedulingGroup": {"podGroupName": "train"}}
    near = [in_hall("near", "near-1", "a"), in_hall("near", "near-2", "b"), in_hall("near", "near-3", "c")]
    running = pod("train-runs", cpu="3", nodeName="near-3", **of_group)
    assert placed(example, *near, running=[running])[0] == "near"


def test_laws(example):
    plugin = example("rack_packing").module.RackPacking
    assert broken_group_laws(plugin, {"distances": {"a": {"b": 1, "c": 3}, "b": {"c": 3}}}) == {}
