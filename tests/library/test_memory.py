"""A process that reads one state after another keeps the first, which it may, and no other."""

from __future__ import annotations

import gc
import weakref

from schedctl.scheduler import Scheduler
from schedctl.session.states import StateSource


def load():
    """Read a state, schedule in it, and let go of everything."""
    cluster = StateSource(("fixtures/clusters/lab",)).load().assembled.cluster
    Scheduler(cluster)  # its plugins hold the cluster, and know each other
    return weakref.ref(cluster)


def test_states_that_nobody_holds_any_more_are_collected_but_for_the_first(monkeypatch):
    monkeypatch.chdir(__file__.rpartition("/tests/")[0])
    states = [load() for _ in range(4)]
    gc.collect()
    try:
        assert [state() for state in states[1:]] == [None] * 3
    finally:
        gc.unfreeze()
