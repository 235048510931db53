"""How much work something was: what ends soon on an idle machine also does on one that is busy with something else."""

from __future__ import annotations

import time

YARDSTICK = 1_000_000
# A bomb that goes off takes minutes, or all the memory; one that is stopped takes a second at most, which is about 25
# million turns. Between them there is room for a machine that is busy with something else.
SOON = 200_000_000
LITTLE = 0.1
"""Seconds that are no effort on any machine, and not worth measuring a yardstick."""


class Effort:
    """Processor time in turns of an empty loop, measured beside it: about 25 million a second, wherever it runs."""

    def __enter__(self):
        self._began = time.process_time()
        return self

    def __exit__(self, *failure):
        spent = time.process_time() - self._began
        self.turns = 0.0
        if spent < LITTLE:
            return
        began = time.process_time()
        for _ in range(YARDSTICK):
            pass
        self.turns = YARDSTICK * spent / max(time.process_time() - began, 1e-9)
