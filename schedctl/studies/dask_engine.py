"""Scenarios on a cluster of machines: an existing Dask scheduler and its workers, or a local one.

What is done is sent once and copied from worker to worker; a thread of a worker begins with it once. A worker that is
killed loses nothing: Dask runs its scenarios elsewhere, and what it can no longer find is sent again.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

import msgspec

from schedctl.errors import UsageError
from schedctl.studies.batches import Pace, batches_of
from schedctl.studies.engines import Failure, Work, answer_timed
from schedctl.versions import __version__

S = TypeVar("S")
R = TypeVar("R")

_AHEAD = 4
"""How many batches for each thread are under way at a time."""
_HELD = 16
"""How many batches for each thread there are at most, those included whose results wait for one before them."""
_POLL = 0.05
"""After how many seconds it is looked again whether the first batch is done."""
_TRIES = 3
_PATIENCE = 10.0
"""How many seconds a scheduler may take to answer."""
_WAIT = 30.0
"""How many seconds a first worker is waited for."""
_begun = threading.local()


class _Batch(msgspec.Struct):
    """Scenarios that are under way somewhere."""

    scenarios: Sequence[Any]
    future: Any
    tries: int = 1


class DaskEngine:
    """Runs scenarios where a Dask scheduler says."""

    def __init__(self, address: str = "", jobs: int = 0, batch: int = 64) -> None:
        """Take note of where.

        Args:
            address: of the scheduler, "" for a local one with processes of its own.
            jobs: how many processes a local one has, 0 for one for each core.
            batch: how many scenarios a worker gets at a time, at most.

        Raises:
            UsageError: Dask is not installed.
        """
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise UsageError("--engine dask needs Dask", "`pip install 'schedctl[dask]'`") from None
        self._address, self._jobs, self._size = address, jobs, batch

    def results(self, work: Work[S, R], scenarios: Iterable[S]) -> Iterator[R | Failure]:
        """Yield the result of each scenario, in order.

        Raises:
            UsageError: the scheduler cannot be reached, has no workers, or some of another version.
        """
        client = self._connect()
        try:
            yield from _Run(client, work, scenarios, Pace(self._size)).results()
        finally:
            client.close()
            if not self._address:
                client.cluster.close()

    def _connect(self) -> Any:
        distributed: Any = import_module("distributed")  # of which few parts have types
        try:
            if not self._address:
                cluster = distributed.LocalCluster(
                    n_workers=self._jobs or None, threads_per_worker=1, dashboard_address=None
                )
                return distributed.Client(cluster, set_as_default=False)
            client = distributed.Client(self._address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            hint = "`dask scheduler` prints its address, e.g. tcp://10.0.0.1:8786"
            raise UsageError(f"Dask scheduler {self._address} cannot be reached: {error}", hint) from None
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError:
            client.close()
            raise UsageError(
                f"Dask scheduler {self._address} has no workers", "`dask worker ADDRESS` starts one"
            ) from None
        try:
            _require_same_version(client)
        except BaseException:
            client.close()
            raise
        return client


class _Run:
    """A study while it is run on a client."""

    def __init__(self, client: Any, work: Work[Any, Any], scenarios: Iterable[Any], pace: Pace) -> None:
        self._client, self._pace = client, pace
        self._batches = batches_of(scenarios, pace)
        self._encoded = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        self._key = hashlib.sha256(self._encoded).hexdigest()
        self._shared = self._send()

    def results(self) -> Iterator[Any]:
        """Yield the results in order."""
        under_way: deque[_Batch] = deque()
        while True:
            threads = max(sum(self._client.nthreads().values()), 1)
            running = sum(not each.future.done() for each in under_way)
            room = min(_AHEAD * threads - running, _HELD * threads - len(under_way))
            for batch in islice(self._batches, max(room, 0)):
                under_way.append(_Batch(batch, self._submit(batch)))
            if not under_way:
                return
            if not under_way[0].future.done():  # the others go on meanwhile
                time.sleep(_POLL)
                continue
            found = self._wait(under_way)
            if found is not None:
                under_way.popleft()
                yield from found

    def _wait(self, under_way: deque[_Batch]) -> list[Any] | None:
        """Return the results of the first batch, None where it has to be waited for again."""
        from distributed import KilledWorker

        first = under_way[0]
        try:
            results, seconds = first.future.result()
        except KilledWorker:
            if len(first.scenarios) == 1:
                return [Failure("every worker that ran this scenario was killed")]
            under_way.popleft()  # one of them is to blame, and the others are not to share its fate
            for scenario in reversed(first.scenarios):
                under_way.appendleft(_Batch([scenario], self._submit([scenario])))
            return None
        except Exception as fault:  # e.g. all who had what is done are gone, and with them the future
            if first.tries >= _TRIES:
                return [Failure.of(fault)] * len(first.scenarios)
            self._shared = self._send()
            for each in under_way:
                if each is first or each.future.status in ("cancelled", "error", "lost"):
                    each.future, each.tries = self._submit(each.scenarios), each.tries + 1
            return None
        self._pace.note(len(first.scenarios), seconds)
        found: list[Any] = results
        return found

    def _send(self) -> Any:
        """Send what is done to every worker there is; later ones get it from these."""
        return self._client.scatter(self._encoded, broadcast=True)

    def _submit(self, batch: Sequence[Any]) -> Any:
        return self._client.submit(answer_batch, self._key, self._shared, list(batch), pure=False)


def answer_batch(key: str, encoded: bytes, scenarios: Sequence[Any]) -> tuple[list[Any], float]:
    """Return what is answered in each scenario, and in how many seconds.

    Called in a thread of a worker, which keeps what it has begun with.

    Args:
        key: of what is done.
        encoded: what is done.
        scenarios: the scenarios.
    """
    if getattr(_begun, "key", "") != key:
        work: Work[Any, Any] = pickle.loads(encoded)
        _begun.ask, _begun.key = work.begin(), key
    ask: Callable[[Any], Any] = _begun.ask
    return answer_timed(ask, scenarios)


def _require_same_version(client: Any) -> None:
    """Hold up a study whose workers would not answer as this process.

    Raises:
        UsageError: a worker has another version of schedctl, or none.
    """
    for worker, found in client.run(_worker_version, on_error="return").items():
        if isinstance(found, BaseException):
            raise UsageError(f"Dask worker {worker} cannot run schedctl: {found}", "install schedctl beside its worker")
        if found != __version__:
            raise UsageError(
                f"Dask worker {worker} has schedctl {found}, not {__version__}", "install the same version"
            )


def _worker_version() -> str:
    from schedctl.versions import __version__ as there

    return there
