"""Engines: the same results in the same order, whoever runs the scenarios, and nothing lost when a worker goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from schedctl.errors import UsageError
from schedctl.studies.batches import Pace, batches_of
from schedctl.studies.engines import Failure, InProcess, Processes


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
    """Kills the worker that runs a number, as often as there is no file to say that it did."""

    folder: Path
    times: int
    number: int = 5

    def begin(self) -> Callable[[int], int]:
        return self.run

    def run(self, number: int) -> int:
        deaths = len(list(self.folder.iterdir()))
        if number == self.number and deaths < self.times:
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
        pytest.param(Processes(2, batch=100), id="in two processes, many at a time"),
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


@dataclass(frozen=True)
class FirstWaits:
    """Answers the first number only once there is a file for each of the others."""

    folder: Path
    others: int

    def begin(self) -> Callable[[int], int]:
        return self.run

    def run(self, number: int) -> int:
        if number:
            (self.folder / str(number)).touch()
            return number
        for _ in range(1000):
            if len(list(self.folder.iterdir())) == self.others:
                return 0
            time.sleep(0.02)
        return -1


def test_whoever_takes_long_holds_nobody_up(tmp_path):
    """Results come in order, and yet all others are answered while the first is not."""
    assert [*Processes(2, batch=1).results(FirstWaits(tmp_path, 99), range(100))] == [*range(100)]


def test_a_killed_worker_loses_nothing(tmp_path):
    assert [*Processes(2, batch=3).results(Killed(tmp_path, times=1), range(12))] == [*range(12)]


def test_a_scenario_that_kills_every_worker_fails_alone(tmp_path):
    found = [*Processes(2, batch=3).results(Killed(tmp_path, times=100), range(12))]
    assert found[5] == Failure("the worker process ended 3 times while it ran this scenario")
    assert [each for each in found if not isinstance(each, Failure)] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


def pace(size):
    made = Pace(100)
    made.size = size
    return made


def test_many_scenarios_of_a_batch_that_killed_its_worker_are_tried_one_by_one(tmp_path):
    found = [*Processes(1, batch=64).results(Killed(tmp_path, times=100, number=90), range(200))]
    assert found[90] == Failure("the worker process ended 3 times while it ran this scenario")
    assert [each for each in found if not isinstance(each, Failure)] == [n for n in range(200) if n != 90]


def test_batches_keep_the_order_and_the_rest():
    assert [*batches_of("abcde", pace(2))] == [["a", "b"], ["c", "d"], ["e"]]


def test_a_batch_is_full_once_there_is_enough_work_in_it():
    assert [*batches_of([9, 1, 1, 2, 1], pace(3), weight=lambda number: number)] == [[9], [1, 1, 2], [1]]


@pytest.mark.parametrize(
    ("taken", "sizes"),
    [
        pytest.param([10.0, 10.0], [1, 1, 1], id="what takes long is sent one by one"),
        pytest.param(
            [0.01, 0.04, 0.16], [1, 4, 16, 25], id="what takes 10 ms comes to a quarter of a second, by and by"
        ),
        pytest.param([0.0, 0.0, 0.0, 0.0], [1, 4, 16, 64, 100], id="what takes no time is sent as many as may be lost"),
        pytest.param([0.001, 4.0], [1, 4, 1], id="what was easy by chance and is not"),
    ],
)
def test_how_many_are_sent_depends_on_how_long_those_before_took(taken, sizes):
    made, found = Pace(100), [1]
    for seconds in taken:
        made.note(made.size, seconds)
        found.append(made.size)
    assert found == sizes


def test_the_size_of_a_batch_follows_the_pace_while_batches_are_made():
    made, found = Pace(100), []
    for batch in batches_of(range(12), made):
        found.append(len(batch))
        made.note(len(batch), 0.0)
    assert found == [1, 4, 7]


LONG_WORK = """
import os, sys, time
from pathlib import Path
from schedctl.studies.engines import Processes

class Long:
    def begin(self):
        return self.run
    def run(self, number):
        if number >= 2:  # a worker that waits for more is forgotten as well as one that works
            return number
        Path(sys.argv[1], f"{number}.part").write_text(str(os.getpid()))
        Path(sys.argv[1], f"{number}.part").rename(Path(sys.argv[1], str(number)))
        time.sleep(600 * number)

if __name__ == "__main__":
    list(Processes(2, batch=1, start=sys.argv[2]).results(Long(), range(2)))
"""


def is_alive(process: int) -> bool:
    """Whether a process is there, and no zombie that nobody has asked about yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks the processes of Linux")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_no_worker_outlives_a_first_process_that_is_killed(tmp_path, start):
    script = tmp_path / "script.py"
    script.write_text(LONG_WORK)
    first = subprocess.Popen([sys.executable, str(script), str(tmp_path), start])
    files = [tmp_path / "0", tmp_path / "1"]
    while not all(file.exists() for file in files):
        assert first.poll() is None
        time.sleep(0.02)
    workers = [int(file.read_text()) for file in files]
    first.kill()
    first.wait()
    end = time.monotonic() + 60
    while any(map(is_alive, workers)) and time.monotonic() < end:
        time.sleep(0.02)
    left = [worker for worker in workers if is_alive(worker)]
    for worker in left:
        os.kill(worker, signal.SIGKILL)
    assert left == []
