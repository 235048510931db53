"""The strategies draw what plugins meet, and the in-tree plugins keep the laws over all of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing import laws_of
from schedctl.testing.examples import draw_cluster
from schedctl.testing.laws import check
from schedctl.testing.strategies import clusters, nodes, pods

TestLawsOfTaintToleration = laws_of(IN_TREE["TaintToleration"], seeds=range(10))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters(max_nodes=4), pods())
def test_in_tree_plugins_keep_the_laws_over_drawn_clusters(cluster, pod):
    profile = Scheduler(cluster).profiles["default-scheduler"]
    for name in ("NodeResourcesFit", "TaintToleration", "NodeUnschedulable", "ImageLocality"):
        check(profile.plugins[name], cluster, pod)


@settings(max_examples=10, deadline=None)
@given(nodes(st.just("x"), cpu=st.just("7")), pods(priority=st.just(3)))
def test_fields_can_be_narrowed(node, pod):
    assert node.metadata.name == "x"
    assert node.status.allocatable["cpu"] == "7"
    assert pod.priority == 3


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_draws_the_same_cluster(seed):
    (one, pods), (two, pods_again) = draw_cluster(seed), draw_cluster(seed)
    assert one.nodes.names == two.nodes.names
    assert [pod.pod for pod in pods] == [pod.pod for pod in pods_again]
    assert [pod.pod for pod in one.pod_table] == [pod.pod for pod in two.pod_table]
