"""Calls of plugins are counted by extension point, with their rows and their time, and change no answer."""

from __future__ import annotations

import pytest

from schedctl.engine.call_recorder import CallRecorder
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin, ReservePlugin, ScorePlugin
from schedctl.framework.statuses import SUCCESS
from schedctl.scheduler import Scheduler
from schedctl.testing import cluster, node, pod


class Picky(FilterPlugin, ScorePlugin, ReservePlugin):
    """Takes part in several points, of which it leaves NormalizeScore as it is."""

    @per_node
    def filter(self, cycle, node):
        return None

    @per_node
    def score(self, cycle, node):
        return 1

    def reserve(self, cycle, node_name):
        return SUCCESS

    def unreserve(self, cycle, node_name):
        pass


@pytest.fixture
def watched():
    recorder = CallRecorder()
    scheduler = Scheduler.configured(cluster(node("a"), node("b"), pod("x"), pod("y")), plugins=[Picky])
    for plugin in scheduler.profiles["default-scheduler"].plugins.values():
        recorder.watch(plugin)
    return scheduler, recorder


def counts(recorder, plugin="Picky"):
    return {point: (count.calls, count.rows) for point, name, count in recorder.in_cycle_order() if name == plugin}


def test_calls_and_rows_are_counted_by_extension_point(watched):
    scheduler, recorder = watched
    pending = scheduler.cluster.pending
    first = scheduler.attempt(pending["default/x"])
    assert counts(recorder) == {"filter": (1, 2), "score": (1, 2)}
    scheduler.place(first, "a")
    assert counts(recorder)["reserve"] == (1, 0)
    scheduler.attempt(pending["default/y"])
    assert counts(recorder)["filter"] == (2, 4)


def test_answers_are_the_same_with_and_without(watched):
    scheduler, _ = watched
    plain = Scheduler.configured(scheduler.cluster, plugins=[Picky])
    info = scheduler.cluster.pending["default/x"]
    assert scheduler.attempt(info).scoring.totals.tolist() == plain.attempt(info).scoring.totals.tolist()


def test_points_come_in_the_order_of_a_cycle_and_the_slowest_plugin_first(watched):
    scheduler, recorder = watched
    scheduler.attempt(scheduler.cluster.pending["default/x"])
    ordered = recorder.in_cycle_order()
    points = list(dict.fromkeys(point for point, _, _ in ordered))
    assert points == ["preEnqueue", "preFilter", "filter", "preScore", "score", "normalizeScore"]
    seconds = [count.seconds for point, _, count in ordered if point == "filter"]
    assert seconds == sorted(seconds, reverse=True)


def test_a_method_that_a_plugin_does_not_have_is_not_counted(watched):
    scheduler, recorder = watched
    scheduler.attempt(scheduler.cluster.pending["default/x"])
    assert "normalizeScore" not in counts(recorder)
