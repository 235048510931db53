"""Scenarios on a real Dask scheduler with worker processes: the same results, and nothing lost when one is killed."""

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
from schedctl.studies import dask_engine, reading, sweeps
from schedctl.studies.dask_engine import DaskEngine
from schedctl.studies.engines import Failure

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Slow:
    """Notes who ran what, slowly enough that somebody can be killed meanwhile; 5 is a bug."""

    folder: Path

    def begin(self) -> Callable[[int], int]:
        (self.folder / f"begun-{os.getpid()}-{time.monotonic_ns()}").touch()
        return self.run

    def run(self, number: int) -> int:
        time.sleep(0.02)
        if number == 5:
            raise ZeroDivisionError("five")
        return number * number


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
            time.sleep(0.05)
        return -1


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """A scheduler and two workers, processes of their own."""
    folder = tmp_path_factory.mktemp("dask")
    address = folder / "scheduler.json"
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(Path(__file__).parent)))}
    processes = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        made = subprocess.Popen(
            [sys.executable, "-m", *words], env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        processes.append(made)
        return made

    start("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(address))

    def worker() -> subprocess.Popen[bytes]:
        return start(
            *("distributed.cli.dask_worker", "--scheduler-file", str(address)),
            *("--nthreads", "1", "--no-nanny", "--no-dashboard"),
        )

    workers = [worker(), worker()]
    until = time.monotonic() + 120
    while not address.exists() and time.monotonic() < until:
        time.sleep(0.1)
    import json

    where = json.loads(address.read_text())["address"]
    with distributed.Client(where, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
    yield where, workers, worker
    for each in processes:
        each.kill()
        each.wait()


def test_a_sweep_has_the_same_bytes_on_a_cluster_of_machines(machines, tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(
        "apiVersion: schedctl.dev/v1alpha1\nkind: Study\nmetadata: {name: s}\nspec:\n"
        f"  state: [{ROOT}/fixtures/clusters/shop]\n  pending: {{}}\n"
        "  axes: {lose: {each: node}, seeds: {count: 2}}\n"
    )
    prepared = sweeps.prepare(reading.read(str(study), {}))
    sweeps.sweep(prepared, str(tmp_path / "here.jsonl"))
    report = sweeps.sweep(prepared, str(tmp_path / "there.jsonl"), engine=DaskEngine(machines[0], batch=3))
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert report.summary.answered == 34


def test_what_is_done_is_begun_once_in_each_worker_and_a_bug_is_a_result(machines, tmp_path):
    found = [*DaskEngine(machines[0], batch=2).results(Slow(tmp_path), range(40))]
    expected = [number * number if number != 5 else Failure("ZeroDivisionError: five") for number in range(40)]
    assert found == expected
    assert 1 <= len(list(tmp_path.iterdir())) <= 2


def test_whoever_takes_long_holds_nobody_up(machines, tmp_path):
    """Results come in order, and yet all others are answered while the first is not."""
    assert [*DaskEngine(machines[0], batch=1).results(FirstWaits(tmp_path, 30), range(31))] == [*range(31)]


def test_a_killed_worker_loses_nothing(machines, tmp_path):
    address, workers, start = machines
    results = DaskEngine(address, batch=2).results(Slow(tmp_path), range(100))
    found = [next(results) for _ in range(10)]
    workers[0].send_signal(signal.SIGKILL)
    found += results
    assert [each for each in found if not isinstance(each, Failure)] == [n * n for n in range(100) if n != 5]
    start()


def test_a_scheduler_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(dask_engine, "_PATIENCE", 0.5)
    with pytest.raises(UsageError, match=r"Dask scheduler tcp://127\.0\.0\.1:9 cannot be reached"):
        next(DaskEngine("tcp://127.0.0.1:9").results(Slow(Path()), range(1)))


def test_workers_of_another_version_are_refused(machines, monkeypatch):
    monkeypatch.setattr(dask_engine, "__version__", "9.9.9")
    with pytest.raises(UsageError, match=r"has schedctl .*, not 9\.9\.9"):
        next(DaskEngine(machines[0]).results(Slow(Path()), range(1)))
