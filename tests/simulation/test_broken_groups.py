"""Gangs that had enough pods on nodes and no longer have."""

from __future__ import annotations

import pytest

from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.reports.pod_groups import BrokenGroup
from schedctl.simulation.broken_groups import broken_since, pods_on_nodes
from schedctl.testing.builders import cluster, node, pod
from tests.engine.test_group_queue import group

RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))


def running(count):
    return [pod(f"train-{i}", on="a", cpu="1", schedulingGroup={"podGroupName": "train"}) for i in range(count)]


@pytest.mark.parametrize(
    ("least", "before", "breaks"),
    [
        pytest.param(3, 3, True, id="a gang that had just enough"),
        pytest.param(3, 2, False, id="a gang that had too few before"),
        pytest.param(2, 3, False, id="a gang that still has enough"),
        pytest.param(0, 3, False, id="a group that is no gang"),
    ],
)
def test_a_gang_that_loses_a_pod(least, before, breaks):
    pods = running(before)
    there = cluster(node("a", cpu="8"), *pods, group(least), release=RELEASE)
    count = pods_on_nodes(there)
    assert count == {"default/train": before}
    there.remove_pod(pods[0])
    expected = [BrokenGroup(group="default/train", before=before, after=before - 1, needs=least)]
    assert broken_since(count, there) == (expected if breaks else [])


def test_where_groups_are_off_none_breaks():
    there = cluster(node("a", cpu="8"), *running(2), group(2))
    assert pods_on_nodes(there) == {}
    assert broken_since({"default/train": 3}, there) == []
