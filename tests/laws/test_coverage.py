"""A law that saw nothing happen says so, and is not said to hold."""

from __future__ import annotations

from unittest import SkipTest

import pytest

from schedctl.framework import SUCCESS, FilterPlugin, PermitPlugin, Reason, ReservePlugin, ScorePlugin, per_node
from schedctl.testing import cluster, laws_of, node, pod
from schedctl.testing.law_tests import try_laws


class Picky(FilterPlugin):
    """Rejects nodes that are out of order, of which no drawn cluster has one."""

    broken = Reason("node(s) are out of order")

    @per_node
    def filter(self, cycle, node):
        return self.broken() if node.labels.get("order") == "out" else None


class Even(FilterPlugin, ScorePlugin):
    """Rejects full nodes, and scores all alike."""

    full = Reason("node(s) are full")

    @per_node
    def filter(self, cycle, node):
        return self.full() if len(node.pods) > 1 else None

    @per_node
    def score(self, cycle, node):
        return 50


class Closed(FilterPlugin, ScorePlugin):
    """Rejects every node."""

    closed = Reason("node(s) are closed")

    @per_node
    def filter(self, cycle, node):
        return self.closed()

    @per_node
    def score(self, cycle, node):
        return len(node.name)


class Permits(PermitPlugin):
    """Is asked about nothing that the laws are about."""

    def permit(self, cycle, node_name):
        return SUCCESS


class ClosedReserve(ReservePlugin, Closed):
    """Is never reserved a node."""

    def reserve(self, cycle, node_name):
        return SUCCESS

    def unreserve(self, cycle, node_name):
        pass


NOTHING = "saw nothing happen: "


@pytest.mark.parametrize(
    ("plugin", "law", "text"),
    [
        pytest.param(Picky, "slice", f"{NOTHING}Filter rejected no node", id="a filter that rejects no node"),
        pytest.param(Picky, "purity", "holds", id="asking is all that purity is about"),
        pytest.param(Picky, "range", "no Score", id="range is about Score alone"),
        pytest.param(Picky, "reserve", "no Reserve", id="reserve is about Reserve alone"),
        pytest.param(Picky, "signature", "nothing declared", id="a promise that is not made"),
        pytest.param(
            Even, "order", "holds, but Score was the same for every node", id="a score that is constant beside a filter"
        ),
        pytest.param(Even, "range", f"{NOTHING}Score was the same for every node", id="a constant score is no range"),
        pytest.param(
            Closed,
            "slice",
            f"{NOTHING}Filter accepted no node; Score was asked about no node",
            id="a filter that rejects every node leaves nothing to score",
        ),
        pytest.param(Closed, "state", f"{NOTHING}no pod was placed on a node", id="a pod that fits nowhere"),
        pytest.param(ClosedReserve, "reserve", f"{NOTHING}no pod was reserved a node", id="a Reserve never called"),
        pytest.param(Permits, "slice", "no Filter and no Score", id="a plugin that judges no node"),
    ],
)
def test_law_that_saw_nothing_happen_says_so(plugin, law, text):
    assert str(try_laws(plugin, law_names=(law,), seeds=range(8))[law]) == text


def test_cluster_of_ones_own_puts_the_law_to_the_test():
    own = cluster(node("a", labels={"order": "out"}), node("b"), pod("p"))
    assert str(try_laws(Picky, seeds=range(3), clusters={"mine": own})["slice"]) == "holds"


def test_nothing_is_proved_where_there_is_no_node():
    result = try_laws(Picky, seeds=(), clusters={"empty": cluster()})["purity"]
    assert str(result) == "saw nothing happen: no pod and node to ask about"


def test_test_of_a_law_that_saw_nothing_is_skipped_with_the_reason():
    laws = laws_of(Picky, seeds=range(5))()
    laws.test_asking_changes_nothing()
    with pytest.raises(SkipTest, match="slice: saw nothing happen: Filter rejected no node"):
        laws.test_a_row_is_judged_by_itself()
    with pytest.raises(SkipTest, match="reserve: no Reserve"):
        laws.test_a_pod_that_is_placed_and_released_leaves_no_trace()
