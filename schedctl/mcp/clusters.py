"""The state that a server answers about: read once, and for each question a fork of it that is taken back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace
from typing_extensions import override

from schedctl.api import autoscalers
from schedctl.errors import SchedctlError, UsageError
from schedctl.session.notifiers import SILENT, Notifier, Progress
from schedctl.session.sessions import SchedulerOptions, Session
from schedctl.session.states import State, StateSource
from schedctl.session.what_ifs import WhatIfs

if TYPE_CHECKING:
    from schedctl.api.kinds import Kind
    from schedctl.cache.cluster import Cluster
    from schedctl.session.states import About
    from schedctl.sources import Manifests

_LIKE = "like:"


class CalledOff(SchedctlError):
    """Nobody waits for the answer any more, or it took longer than an answer may."""


class Watch(Notifier):
    """Ends the work once it is called off, or has taken too long.

    Args:
        seconds: how long it may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._ended = threading.Event()

    def call_off(self) -> None:
        """Have the work end at its next step."""
        self._ended.set()

    def look(self) -> None:
        """Go on only while somebody waits.

        Raises:
            CalledOff: nobody does, or it takes too long.
        """
        if self._ended.is_set():
            raise CalledOff("the question was called off")
        if time.monotonic() > self._until:
            raise CalledOff(f"no answer within {self._seconds:g} s: ask about fewer objects, or start with --timeout")

    @override
    def progress(self, title: str) -> Progress:
        return _Step(self)


class _Step(Progress):
    """One step of the work, which ends it where it is to end."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    @override
    def advance(self, done: int, total: int, subject: str = "") -> None:
        self._watch.look()


@dataclass(slots=True)
class _Loaded(StateSource):
    """A source that has been read.

    Attributes:
        state: what was read.
    """

    state: State | None = None

    @override
    def load(
        self,
        notifier: Notifier = SILENT,
        *,
        kinds: tuple[Kind, ...] = (),
        about: About | None = None,
        created: Manifests | None = None,
    ) -> State:
        assert self.state is not None, "made with one"
        return self.state


class SharedCluster(msgspec.Struct):
    """A state and the scheduler that judges; one question at a time is asked of it.

    Attributes:
        source: where the state is read from.
        options: the configuration and the plugins that were named at the start.
        compared: the other configurations that were named at the start.
    """

    source: StateSource
    options: SchedulerOptions
    compared: Sequence[str] = ()
    _state: State | None = None
    _lock: threading.Lock = msgspec.field(default_factory=threading.Lock)

    def load(self, notifier: Notifier) -> None:
        """Read the state, again where it was read before.

        Raises:
            SchedctlError: it cannot be read.
        """
        session = Session(self.source, self.options, notifier, kinds=autoscalers.KINDS)
        session.load()
        self._state = session.state

    @property
    def cluster(self) -> Cluster:
        """The cluster as it was read."""
        assert self._state is not None, "load comes first"
        return self._state.assembled.cluster

    @contextmanager
    def session(
        self, watch: Watch, what_ifs: Sequence[str] = (), compare: Sequence[str] = (), *, changed: bool = True
    ) -> Iterator[Session]:
        """Yield a session over a fork of the state; whatever is asked leaves nothing behind.

        Args:
            watch: ends the work.
            what_ifs: what is changed first, e.g. ``lose zone=eu-1a``.
            compare: other configurations.
            changed: whether the what-ifs are carried out here; else whoever asks does it.

        Raises:
            UsageError: a what-if names a file, or a configuration was not named at the start.
        """
        with self._lock:
            watch.look()
            options = replace(self.options, compare=self._allowed(compare))
            source = _Loaded(
                **{each.name: getattr(self.source, each.name) for each in fields(self.source)}, state=self._state
            )
            session = Session(source, options, watch, _what_ifs(what_ifs))
            with self.cluster.fork():
                session.load()
                if changed:
                    session.change()
                yield session

    def _allowed(self, compare: Sequence[str]) -> Sequence[str]:
        from schedctl.session.configurations import shipped_files

        known = [*self.compared, *shipped_files()]
        unknown = [name for name in compare if name not in known]
        if unknown:
            raise UsageError(f'no configuration "{unknown[0]}"', f"the configurations are: {', '.join(known)}")
        return compare


def _what_ifs(texts: Sequence[str]) -> WhatIfs:
    """Return what-ifs as they are written on a command line without dashes; none reads a file."""
    written = []
    for text in texts:
        word, _, rest = text.removeprefix("--").partition(" ")
        if word == "add-node" and not rest.startswith(_LIKE):
            raise UsageError(f'"{text}" would read a file', "`add-node like:NODE=N` adds nodes like one of the cluster")
        written.append((word, rest.strip()))
    return WhatIfs(tuple(written))
