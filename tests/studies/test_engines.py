"""Engines: the same results in the same order, whoever runs the scenarios, and nothing lost when a worker goes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from schedctl.errors import UsageError
from schedctl.studies.engines import Failure, InProcess, Processes, batches_of


@dataclass(frozen=True)
class Squares:
    """Squares numbers; 7 is refused, 13 is a bug."""

    def begin(self) -> Callable[[int], int]:
        return self.square

    def square(self, number: int) -> int:
        if number == 7:
            raise UsageError("seven is not squared")
        if number == 13:
            raise ZeroDivisionError("unlucky")
        return number * number


@dataclass(frozen=True)
class Killed:
    """Kills the worker that runs number 5, as often as there is no file to say that it did."""

    folder: Path
    times: int

    def begin(self) -> Callable[[int], int]:
        return self.run

    def run(self, number: int) -> int:
        deaths = len(list(self.folder.iterdir()))
        if number == 5 and deaths < self.times:
            (self.folder / str(deaths)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number


EXPECTED = [
    Failure("seven is not squared")
    if number == 7
    else Failure("ZeroDivisionError: unlucky")
    if number == 13
    else number**2
    for number in range(30)
]


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(InProcess(), id="one after the other in this process"),
        pytest.param(Processes(1), id="in one process"),
        pytest.param(Processes(3, batch=1), id="in three processes, one at a time"),
        pytest.param(Processes(2, batch=100), id="in two processes, all at a time"),
        pytest.param(Processes(2, start="spawn"), id="in processes that are no copies of this one"),
    ],
)
def test_results_are_in_order_and_failures_are_results(engine):
    assert [*engine.results(Squares(), range(30))] == EXPECTED


def test_scenarios_are_made_no_earlier_than_they_are_needed():
    made = []

    def scenarios():
        for number in range(1000):
            made.append(number)
            yield number

    results = Processes(1, batch=2).results(Squares(), scenarios())
    assert next(results) == 0
    assert len(made) <= 10
    results.close()


def test_a_killed_worker_loses_nothing(tmp_path):
    assert [*Processes(2, batch=3).results(Killed(tmp_path, times=1), range(12))] == [*range(12)]


def test_a_scenario_that_kills_every_worker_fails_alone(tmp_path):
    found = [*Processes(2, batch=3).results(Killed(tmp_path, times=100), range(12))]
    assert found[5] == Failure("the worker process ended 3 times while it ran this scenario")
    assert [each for each in found if not isinstance(each, Failure)] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


def test_batches_keep_the_order_and_the_rest():
    assert [*batches_of("abcde", 2)] == [["a", "b"], ["c", "d"], ["e"]]


def test_a_batch_is_full_once_there_is_enough_work_in_it():
    assert [*batches_of([9, 1, 1, 2, 1], 3, weight=lambda number: number)] == [[9], [1, 1, 2], [1]]
