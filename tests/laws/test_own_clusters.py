"""The laws ask as a cycle asks, over clusters of one's own as well, and see what a plugin leaves behind."""

from __future__ import annotations

import pytest

from schedctl.framework import SUCCESS, FilterPlugin, Reason, ReservePlugin, ScorePlugin, per_node
from schedctl.testing import cluster, laws_of, node, pod
from schedctl.testing.law_tests import broken_laws


class Rated(FilterPlugin, ScorePlugin):
    """Accepts nodes with a rating, and scores by it."""

    unrated = Reason("no rating")

    @per_node
    def filter(self, cycle, node):
        return None if "rating" in node.labels else self.unrated()

    @per_node
    def score(self, cycle, node):
        return int(node.labels["rating"])


class Counting(ReservePlugin, ScorePlugin):
    """Scores by how many pods it has reserved a node for, in an attribute of its own."""

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.reserved = {}

    @per_node
    def score(self, cycle, node):
        return self.reserved.get(node.name, 0)

    def reserve(self, cycle, node_name):
        self.reserved[node_name] = self.reserved.get(node_name, 0) + 1
        return SUCCESS

    def unreserve(self, cycle, node_name):
        self.reserved[node_name] -= 1


class Forgetful(Counting):
    """The same, with an Unreserve that does nothing."""

    def unreserve(self, cycle, node_name):
        pass


def test_score_is_asked_about_feasible_nodes_alone():
    own = cluster(node("a", labels={"rating": "7"}), node("b"), pod("p"))
    laws = laws_of(Rated, seeds=range(5), clusters=[own])()
    for test in (name for name in dir(laws) if name.startswith("test_")):
        getattr(laws, test)()


def test_a_law_that_is_broken_in_a_cluster_of_ones_own_is_reported_with_its_number():
    own = cluster(node("a", labels={"rating": "700"}), pod("p"))
    laws = laws_of(Rated, seeds=range(5), clusters=[cluster(), own])()
    with pytest.raises(AssertionError, match=r"Rated normalises to \[700\]; pod default/p \(in clusters\[1\]\)"):
        laws.test_normalised_scores_lie_between_0_and_100()


def test_what_unreserve_does_not_give_back_breaks_a_law():
    assert broken_laws(Counting, law_names=("reserve",), seeds=range(9)) == {}
    assert "after a pod was reserved" in broken_laws(Forgetful, law_names=("reserve",), seeds=range(9))["reserve"]


def test_state_kept_outside_of_the_cycle_that_does_not_follow_a_fork_breaks_a_law():
    text = broken_laws(Counting, law_names=("state",), seeds=range(9))["state"]
    assert "in a fork and that was left" in text
