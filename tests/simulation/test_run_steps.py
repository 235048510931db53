"""What happened in a run at each moment, counted."""

from __future__ import annotations

from schedctl.reports.simulations import RunStep
from schedctl.simulation.run_steps import steps
from schedctl.simulation.timeline import Bound, Chosen, Evicted, Failed, Gone, Moved, Refused, Waiting


def test_records_of_one_moment_are_one_step():
    timeline = [
        Moved(0.0, "shop/a", to="Active"),
        Moved(0.0, "shop/b", to="Active"),
        Moved(0.0, "shop/a", to="InFlight", before="Active"),
        Chosen(0.0, "shop/a", 1, "n", 1, 1),
        Moved(0.0, "shop/a", to="", before="InFlight"),
        Bound(0.0, "shop/a", "n"),
        Moved(0.0, "shop/b", to="InFlight", before="Active"),
        Refused(0.0, "shop/b", 1, "no"),
        Moved(0.0, "shop/b", to="Unschedulable", before="InFlight"),
    ]
    assert steps(timeline) == [RunStep(at=0.0, attempts=2, chosen=1, refused=1, bound=1, queued=1)]


def test_a_moment_at_which_pods_only_change_their_queue_has_no_step_and_counts_later():
    timeline = [
        Moved(0.0, "shop/a", to="Backoff"),
        Moved(1.0, "shop/a", to="Active", before="Backoff"),
        Failed(2.0, "shop/a", 1, "fault"),
        Evicted(2.0, "shop/z", "n", by="shop/a"),
        Gone(32.0, "shop/z", "n"),
        Waiting(33.0, "shop/a", "n", {"Gate": 40.0}),
    ]
    assert steps(timeline) == [
        RunStep(at=2.0, attempts=1, failed=1, evicted=1, queued=1),
        RunStep(at=32.0, gone=1, queued=1),
        RunStep(at=33.0, waiting=1, queued=1),
    ]


def test_nothing_happened():
    assert steps([]) == []
