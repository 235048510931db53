"""Pieces of work side by side, each process of which begins as a copy of this one, so that nothing is handed to it.

What a piece returns comes back in order and refers to the objects that were there before, not to copies of them.
Scenarios are played so by `schedctl.policy.evaluations`.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from typing_extensions import override

T = TypeVar("T")
_inherited: tuple[Callable[[int], Any], Sequence[object]] | None = None
"""In a process of a pool: the work, and the objects that answers refer to."""


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers(work: Callable[[int], T], count: int, processes: int, known: Sequence[object]) -> Iterator[T]:
    """Yield what `work` returns for 0, 1, ... in order.

    A piece that fails in another process is done again in this one, where its error is raised.

    Args:
        work: takes a number, and changes nothing that lasts.
        count: how many numbers there are.
        processes: how many work side by side; 1 works here. Systems that cannot copy a process have one.
        known: objects that answers hold, and that are not to be copied.
    """
    if min(processes, count) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, range(count))
        return
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(min(processes, count), context, _begin, (work, known))
    try:
        promised = [pool.submit(_answer, number) for number in range(count)]
        for number, each in enumerate(promised):
            encoded = _result(each)
            yield work(number) if encoded is None else _decode(encoded, known)
    except BaseException:  # Ctrl-C too: nobody waits for what the others are at
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _result(promised: Future[bytes | None]) -> bytes | None:
    try:
        return promised.result()
    except BrokenProcessPool:  # a process was killed, for want of memory as a rule
        return None


def _begin(work: Callable[[int], Any], known: Sequence[object]) -> None:
    global _inherited
    _inherited = work, known
    # Ctrl-C reaches all processes of a terminal; the first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _answer(number: int) -> bytes | None:
    """Return an encoded answer, None where there is none."""
    assert _inherited is not None
    work, known = _inherited
    try:
        return _encode(work(number), known)
    except Exception:
        return None


def _encode(value: object, known: Sequence[object]) -> bytes:
    encoded = io.BytesIO()
    _Pickler(encoded, known).dump(value)
    return encoded.getvalue()


def _decode(encoded: bytes, known: Sequence[object]) -> Any:
    return _Unpickler(io.BytesIO(encoded), known).load()


class _Pickler(pickle.Pickler):
    """Writes the places of objects that both sides know."""

    def __init__(self, file: io.BytesIO, known: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._places = {id(each): place for place, each in enumerate(known)}

    @override
    def persistent_id(self, obj: object) -> int | None:
        return self._places.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, known: Sequence[object]) -> None:
        super().__init__(file)
        self._known = known

    @override
    def persistent_load(self, place: int) -> object:
        return self._known[place]
