"""The laws ask as a cycle asks, over clusters of one's own as well, and see what a plugin leaves behind."""

from __future__ import annotations

from collections import Counter

import pytest

from schedctl.api.meta import ObjectMeta
from schedctl.api.storage import StorageClass
from schedctl.cache.changes import ChangeKind
from schedctl.framework import SUCCESS, FilterPlugin, Reason, ReservePlugin, ScorePlugin, per_node
from schedctl.testing import cluster, laws_of, node, pod
from schedctl.testing.law_tests import broken_laws, try_laws


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
        return len(self.reserved.get(node.name, ()))

    def reserve(self, cycle, node_name):
        self.reserved[node_name] = {*self.reserved.get(node_name, ()), cycle.pod.key}
        return SUCCESS

    def unreserve(self, cycle, node_name):
        self.reserved[node_name] = self.reserved.get(node_name, set()) - {cycle.pod.key}


class Forgetful(Counting):
    """The same, with an Unreserve that does nothing."""

    def unreserve(self, cycle, node_name):
        pass


class Repeats(Counting):
    """The same, with an Unreserve that releases another pod when it is called twice."""

    def unreserve(self, cycle, node_name):
        if cycle.pod.key in self.reserved.get(node_name, ()):
            super().unreserve(cycle, node_name)
        else:
            self.reserved["node-0"] = {"somebody"}


class Crashes(Counting):
    """The same, with an Unreserve that takes a reservation for granted."""

    def unreserve(self, cycle, node_name):
        self.reserved[node_name].remove(cycle.pod.key)


class Leaves(Counting):
    """The same, with an object that Unreserve forgets."""

    def score(self, cycle, nodes):
        return nodes.pod_count

    def reserve(self, cycle, node_name):
        self.handle.cluster.put(StorageClass(ObjectMeta("left"), "example.com/made"))
        return SUCCESS


class Remembers(ScorePlugin):
    """Counts pods once, and is not interested in what happens then."""

    @per_node
    def score(self, cycle, node):
        if not hasattr(self, "counts"):
            nodes = self.handle.cluster.nodes
            self.counts = dict(zip(nodes.names, nodes.pod_count.tolist(), strict=True))
        return self.counts[node.name]


class Follows(ScorePlugin):
    """Counts pods once, and then what changes_since tells."""

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.since, self.counts = None, Counter()

    @per_node
    def score(self, cycle, node):
        self.catch_up()
        return self.counts[node.row]

    def catch_up(self):
        cluster = self.handle.cluster
        changes = None if self.since is None else cluster.changes_since(self.since)
        if changes is None or any(change.kind is ChangeKind.NODES for change in changes):
            self.counts = Counter(dict(enumerate(cluster.nodes.pod_count.tolist())))
        else:
            self.counts.update(change.row for change in changes if change.kind is ChangeKind.POD_ADDED)
            self.counts.subtract(change.row for change in changes if change.kind is ChangeKind.POD_REMOVED)
        self.since = cluster.generation


def test_score_is_asked_about_feasible_nodes_alone():
    own = cluster(node("a", labels={"rating": "7"}), node("b"), pod("p"))
    results = try_laws(Rated, seeds=range(5), clusters={"own": own})
    assert {str(result) for result in results.values()} == {
        "holds, but Score was the same for every node", "saw nothing happen: Score was the same for every node",
        "holds", "no Reserve", "nothing declared",
    }  # fmt: skip


def test_a_law_that_is_broken_in_a_cluster_of_ones_own_is_reported_with_its_number():
    own = cluster(node("a", labels={"rating": "700"}), pod("p"))
    laws = laws_of(Rated, seeds=range(5), clusters=[cluster(), own])()
    with pytest.raises(AssertionError, match=r"Rated normalises to \[700\]; pod default/p \(in clusters\[1\]\)"):
        laws.test_normalised_scores_lie_between_0_and_100()


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        pytest.param(Forgetful, "after a pod was reserved and released", id="an Unreserve that does nothing"),
        pytest.param(Repeats, "after a pod was released without", id="an Unreserve that is not idempotent"),
        pytest.param(Crashes, "KeyError", id="an Unreserve that takes a reservation for granted"),
        pytest.param(Leaves, "StorageClass left is not what it was", id="an object that is left"),
    ],
)
def test_what_unreserve_does_not_give_back_breaks_a_law(plugin, text):
    assert broken_laws(Counting, law_names=("reserve",), seeds=range(9)) == {}
    assert text in broken_laws(plugin, law_names=("reserve",), seeds=range(9))["reserve"]


def test_state_kept_outside_of_the_cycle_that_does_not_follow_a_fork_breaks_a_law():
    text = broken_laws(Counting, law_names=("state",), seeds=range(9))["state"]
    assert "in a fork and that was left" in text


def test_state_kept_outside_of_the_cycle_that_does_not_follow_the_cluster_breaks_a_law():
    text = broken_laws(Remembers, law_names=("state",), seeds=range(9))["state"]
    assert "from a plugin just made" in text


def test_state_that_follows_the_changes_of_the_cluster_breaks_none():
    assert broken_laws(Follows, law_names=("state",), seeds=range(20)) == {}
