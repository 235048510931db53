"""Being told to end while something is half done.

A program that is told to end (SIGTERM), or whose terminal goes away (SIGHUP), ends at once and leaves what it was doing
as it is. Where that would leave a cluster half changed it is as if Ctrl-C had been pressed, which whoever changes
something goes back on. A signal that is ignored, as under ``nohup``, stays ignored.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def as_interrupts() -> Iterator[None]:
    """Have a request to end raise KeyboardInterrupt meanwhile; for the main thread."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
