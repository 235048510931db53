"""Being told to end (SIGTERM, or SIGHUP of a terminal that goes away) while something is half done.

By default a program ends at once. Where that would leave a cluster half changed it is as if Ctrl-C had been pressed,
upon which `live.binding` undoes what it has begun.
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
    # One that is ignored, as under nohup, stays ignored.
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
