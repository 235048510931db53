"""Where scenarios are run: in this process, or in several on this machine; `dask_engine` has other machines.

Every engine gives the results in the order of the scenarios, so that nobody can tell by them how many workers there
were. A scenario that fails has a `Failure` in place of a result, and the others go on.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, Protocol, TypeVar

import msgspec

from schedctl.errors import SchedctlError
from schedctl.studies.batches import Pace, Weight, batches_of, work_of

S = TypeVar("S")
R = TypeVar("R")
S_in = TypeVar("S_in", contravariant=True)
R_out = TypeVar("R_out", covariant=True)

_AHEAD = 3
"""How many batches for each worker are under way at a time, so that none waits and few are lost."""
_HELD = 256
"""How many batches for each worker there are at most, those included whose results wait for one before them."""
_TRIES = 3
"""How often a scenario is tried whose worker has gone."""


class Work(Protocol[S_in, R_out]):
    """What is done in every scenario; sent to each worker once, by pickle where that is no copy of this process."""

    def begin(self) -> Callable[[S_in], R_out]:
        """Return what answers one scenario; called once in each worker, which asks it again and again."""
        ...


class Failure(msgspec.Struct, frozen=True):
    """Why a scenario has no result.

    Attributes:
        error: in words, beginning with the type of an exception that is a bug.
    """

    error: str

    @classmethod
    def of(cls, fault: Exception) -> Failure:
        """Return what is said of an exception."""
        return cls(str(fault) if isinstance(fault, SchedctlError) else f"{type(fault).__name__}: {fault}")


class Engine(Protocol):
    """Runs the scenarios of a study."""

    def results(self, work: Work[S, R], scenarios: Iterable[S]) -> Iterator[R | Failure]:
        """Yield the result of each scenario, in order."""
        ...


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def engine_of(jobs: int, weight: Weight | None = None) -> Engine:
    """Return the engine for so many processes on this machine, 0 for as many as there are cores; see `Processes`."""
    jobs = jobs or count_cores()
    return Processes(jobs, weight=weight) if jobs > 1 else InProcess()


def answer(ask: Callable[[S], R], scenarios: Iterable[S]) -> Iterator[R | Failure]:
    """Yield what is answered in each scenario; what fails is a `Failure`."""
    for scenario in scenarios:
        try:
            yield ask(scenario)
        except Exception as fault:
            yield Failure.of(fault)


def answer_timed(ask: Callable[[S], R], scenarios: Sequence[S]) -> tuple[list[R | Failure], float]:
    """Return what is answered in each scenario, and in how many seconds."""
    begin = time.perf_counter()
    found = [*answer(ask, scenarios)]
    return found, time.perf_counter() - begin


class InProcess:
    """Runs one scenario after another in this process."""

    def results(self, work: Work[S, R], scenarios: Iterable[S]) -> Iterator[R | Failure]:
        """Yield the result of each scenario, in order."""
        yield from answer(work.begin(), scenarios)


class _Batch(msgspec.Struct):
    """Scenarios that are under way in a worker."""

    scenarios: Sequence[Any]
    future: Future[tuple[list[Any], float]]
    tries: int = 1
    is_noted: bool = False


class Processes:
    """Runs scenarios in processes of this machine.

    A process that is killed loses nothing: its scenarios are run again, and one that kills three workers is a failure.
    """

    def __init__(self, jobs: int, batch: int = 64, weight: Weight | None = None, start: str = "") -> None:
        """Take note of how the work is spread.

        Args:
            jobs: how many processes.
            batch: how many scenarios a process gets at a time, at most.
            weight: for how many others each stands, 1 if None.
            start: how a process begins, "" for as a copy of this one where the system can do that.
        """
        methods = multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context(start or ("fork" if "fork" in methods else "spawn"))
        self._jobs = jobs
        self._size = batch
        self._weight = weight

    def results(self, work: Work[S, R], scenarios: Iterable[S]) -> Iterator[R | Failure]:
        """Yield the result of each scenario, in order."""
        pool = self._pool(work)
        under_way: deque[_Batch] = deque()
        pace = Pace(self._size)
        more = batches_of(scenarios, pace, self._weight)
        try:
            while True:
                running = self._running(under_way, pace)
                room = min(_AHEAD * self._jobs - len(running), _HELD * self._jobs - len(under_way))
                for batch in islice(more, max(room, 0)):
                    under_way.append(_Batch(batch, _submit(pool, batch)))
                    running.append(under_way[-1].future)
                if not under_way:
                    return
                found: list[Any] | None
                try:
                    if not under_way[0].future.done():  # the others go on meanwhile
                        wait(running, return_when=FIRST_COMPLETED)
                        continue
                    found, _ = under_way[0].future.result()
                except BrokenProcessPool:
                    pool.shutdown(cancel_futures=True)
                    pool = self._pool(work)
                    found = self._again(pool, under_way)
                if found is not None:
                    under_way.popleft()
                    yield from found
        except BaseException:  # Ctrl-C too: nobody waits for what the others are at
            for child in multiprocessing.active_children():
                child.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _running(self, under_way: Iterable[_Batch], pace: Pace) -> list[Future[Any]]:
        """Return what is not done yet, after the pace has taken note of what is."""
        running = []
        for batch in under_way:
            if not batch.future.done():
                running.append(batch.future)
            elif not batch.is_noted:
                batch.is_noted = True
                if batch.future.exception() is None:
                    pace.note(work_of(batch.scenarios, self._weight), batch.future.result()[1])
        return running

    def _again(self, pool: ProcessPoolExecutor, under_way: deque[_Batch]) -> list[Any] | None:
        """Submit what has no result again; return failures for the first batch where it has been tried too often.

        Whoever waited behind the first batch need not be to blame, so only that one is counted, scenario by scenario.
        """
        first = under_way[0]
        if len(first.scenarios) > 1:
            under_way.popleft()
            for scenario in reversed(first.scenarios):
                under_way.appendleft(_Batch([scenario], first.future))
        elif first.tries >= _TRIES:
            return [Failure(f"the worker process ended {first.tries} times while it ran this scenario")]
        else:
            first.tries += 1
        for each in under_way:
            if not each.future.done() or each.future.cancelled() or each.future.exception() is not None:
                each.future, each.is_noted = _submit(pool, each.scenarios), False
        return None

    def _pool(self, work: Work[S, R]) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._jobs, self._context, _begin, (work,))


def _submit(pool: ProcessPoolExecutor, scenarios: Sequence[Any]) -> Future[tuple[list[Any], float]]:
    try:
        return pool.submit(_answer_batch, scenarios)
    except BrokenProcessPool as fault:  # found out when its turn comes, and tried again then
        broken: Future[tuple[list[Any], float]] = Future()
        broken.set_exception(fault)
        return broken


_ask: Callable[[Any], Any] | None = None
"""In a process of a pool: what answers a scenario."""


def _begin(work: Work[Any, Any]) -> None:
    global _ask
    # Ctrl-C reaches all processes of a terminal; the first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _ask = work.begin()


def _end_with_parent() -> None:
    """End this process once the first one is gone, which a kill keeps from telling that there is no more to do."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _answer_batch(scenarios: Sequence[Any]) -> tuple[list[Any], float]:
    assert _ask is not None
    return answer_timed(_ask, scenarios)
