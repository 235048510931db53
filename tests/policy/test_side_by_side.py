"""Scenarios side by side: the same report whatever the number of processes, and clean ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass

import msgspec
import pytest

from schedctl.policy import documents, evaluations, side_by_side
from schedctl.policy.evaluations import evaluate
from schedctl.policy.exemptions import Acceptances
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster
from tests.policy.evaluating import LOSE_ZONE, check, deployment, manifests_of, policy, running, zoned

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot copy a process"
)


@dataclass(frozen=True)
class Box:
    """What answers hold."""

    content: object


def test_answers_come_in_order_and_refer_to_what_was_there():
    known = [object(), object()]
    found = list(side_by_side.answers(lambda n: (n, os.getpid(), Box(known[n % 2])), 5, 3, known))
    assert [number for number, _, _ in found] == [0, 1, 2, 3, 4]
    assert all(box.content is known[number % 2] for number, _, box in found)
    assert os.getpid() not in {process for _, process, _ in found}


@pytest.mark.parametrize(("count", "processes"), [(1, 4), (4, 1), (0, 2)])
def test_what_cannot_be_shared_out_is_done_here(count, processes):
    assert list(side_by_side.answers(lambda _: os.getpid(), count, processes, [])) == [os.getpid()] * count


def test_an_error_of_a_piece_is_raised_here():
    def work(number: int) -> int:
        if number == 1:
            raise LookupError(f"no {number}, says {os.getpid()}")
        return number

    found = side_by_side.answers(work, 3, 2, [])
    assert next(found) == 0
    with pytest.raises(LookupError, match=f"no 1, says {os.getpid()}"):
        next(found)
    assert multiprocessing.active_children() == []


def test_an_answer_that_cannot_be_sent_is_made_here():
    assert [callable(each) for each in side_by_side.answers(lambda _: lambda: 0, 2, 2, [])] == [True, True]


def test_a_process_that_is_killed_leaves_its_work_to_this_one():
    here = os.getpid()

    def work(number: int) -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(side_by_side.answers(work, 3, 2, [])) == [0, 1, 2]


def test_an_interrupt_ends_all_processes_at_once(tmp_path):
    here = os.getpid()

    def work(number: int) -> None:
        time.sleep(60)
        (tmp_path / str(number)).touch()

    # a shell starts what runs in the background with the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.5, os.kill, (here, signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(side_by_side.answers(work, 4, 2, []))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list(tmp_path.iterdir()), "it waited for the work"
    assert multiprocessing.active_children() == []


def test_a_report_is_the_same_for_any_number_of_processes(monkeypatch):
    monkeypatch.setattr(evaluations, "_MANY_PODS", 0)
    unplayable = documents.Scenario("lose-rack", "rack", ({"remove": {"nodeSelector": {"rack": "$value"}}},))
    strict = policy(
        check("survives", documents.Survives(scenario="lose-zone", allow_pending="1"), "zone-loss"),
        check("survives", documents.Survives(scenario="lose-rack"), "rack-loss"),
        check("schedulable", documents.Schedulable(), "fits", scenarios=("lose-zone", "baseline")),
        check("headroom", documents.Headroom(resource="cpu", percent=20), "room", scenarios=("lose-zone",)),
        documents.Check(
            "placed",
            scope=documents.Scope.POD,
            validations=(documents.Validation(documents.Expression("pod.scheduled && workload.pending == 0")),),
            scenarios=("lose-zone", "baseline"),
        ),
        scenarios=(unplayable, LOSE_ZONE),
    )
    ignored = {"schedctl.dev/ignore.zone-loss": "known"}
    released = (deployment("web", 9, cpu="1"), deployment("api", 4, cpu="2", annotations=ignored))

    def report(processes: int) -> bytes:
        before = cluster(
            *zoned(2, 2, 2), *(running(f"old-{n}", f"{'abc'[n % 3]}{n % 2}", cpu="500m") for n in range(9))
        )
        found = evaluate(
            [strict],
            Scheduler(before),
            manifests_of(*released),
            accepting=Acceptances(None, [strict], inline=True, baseline=None),
            processes=processes,
        )
        return msgspec.json.encode(found)

    alone = report(1)
    assert b"lose-zone=eu-1c" in alone
    assert b'"Violated"' in alone
    assert [report(processes) == alone for processes in (2, 3)] == [True, True]


def test_the_cores_are_those_that_this_process_may_use():
    assert 1 <= side_by_side.count_cores() <= (os.cpu_count() or 1)
