"""A log of changed positions beside the list of all that it was told."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schedctl.engine.batching.surroundings import ChangeLog

REACH = 256
"""How many positions a log has to reach back at least."""
NOTES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([1, 1, 1, 3, 40, 150])), min_size=10, max_size=60)
"""How many generations later how many positions are noted."""


@given(NOTES)
def test_it_tells_what_it_was_told_after_a_generation_or_that_it_no_longer_knows(notes):
    log, told, handed_out = ChangeLog(0), [], []
    generation = 0
    for number, (step, many) in enumerate(notes):
        generation, positions = generation + step, list(range(1000 * number, 1000 * number + many))
        log.note(generation, np.array(positions, np.intp))
        told.append((generation, positions))
        handed_out += [(found, found.tolist()) for found in map(log.since, range(generation)) if found is not None]
    for since in range(generation + 1):
        expected = [position for at, positions in told if at > since for position in positions]
        found = log.since(since)
        if found is None:
            assert len(expected) > REACH
        else:
            assert found.tolist() == expected
    assert all(found.tolist() == before for found, before in handed_out)


def test_nothing_is_known_of_what_was_before_it_began_anew():
    log = ChangeLog(3)
    log.note(4, np.array([7]))
    log.begin(5)
    assert log.since(4) is None
    assert log.since(5).tolist() == []
