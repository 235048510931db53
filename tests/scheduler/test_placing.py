"""A pod is placed once, and released as often as you like."""

import pytest

from schedctl.engine.reporters import Reporter
from schedctl.framework.statuses import unschedulable
from schedctl.scheduler import Scheduler
from schedctl.testing import cluster, node, pod


class Releases(Reporter):
    """Counts what the binding cycle reports."""

    def __init__(self):
        self.forgotten = []

    def pod_forgotten(self, pod, status):
        self.forgotten.append(pod.key)


def test_a_pod_that_is_placed_is_not_placed_again_and_leaving_the_fork_puts_everything_back():
    made = cluster(node("a"), node("b"), pod("web", cpu="1"))
    scheduler = Scheduler(made)
    outcome = scheduler.attempt(made.pending["default/web"])
    with scheduler.fork():
        assert scheduler.place(outcome, "a").status.successful
        with pytest.raises(ValueError, match='pod default/web is on node "a" already'):
            scheduler.place(outcome, "b")
        assert made.nodes.pod_count.tolist() == [1, 0]
    assert made.nodes.pod_count.tolist() == [0, 0]
    assert list(made.pending) == ["default/web"]


def test_a_pod_is_released_once_however_often_it_is_asked_for():
    made = cluster(node("a"), pod("web", cpu="1"))
    reporter = Releases()
    scheduler = Scheduler(made, reporter=reporter)
    outcome = scheduler.attempt(made.pending["default/web"])
    scheduler.place(outcome)
    for _ in range(2):
        scheduler.release(outcome, "a", unschedulable("no"))
    assert reporter.forgotten == ["default/web"]
    assert list(made.pending) == ["default/web"]


def test_a_release_from_a_node_takes_a_pod_off_no_other():
    made = cluster(node("a"), node("b"), pod("web", cpu="1"))
    scheduler = Scheduler(made)
    outcome = scheduler.attempt(made.pending["default/web"])
    scheduler.place(outcome, "a")
    scheduler.release(outcome, "a", unschedulable("no"))
    scheduler.place(outcome, "b")
    scheduler.release(outcome, "a", unschedulable("no"))
    assert made.nodes.pod_count.tolist() == [0, 1]
