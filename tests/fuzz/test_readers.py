"""Whatever is fed to a reader, it answers, or says in its own words what is wrong, soon and in a short line.

A few texts for each in the normal tests; `make fuzz` goes on for long. What was found once stands in ``regressions``,
in a folder by the name of the reader.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedctl.errors import ProblemsError, SchedctlError
from tests.effort import SOON, Effort
from tests.fuzz.mutations import mutated
from tests.fuzz.readers import READERS

EXAMPLES = int(os.environ.get("SCHEDCTL_FUZZ", "40"))
"""How many texts each reader is fed."""
LONGEST = 5000
"""Characters of a message."""
REGRESSIONS = Path(__file__).parent / "regressions"


def feed(name: str, text: bytes) -> None:
    """Read a text; what is no fault of ours comes out."""
    reader = READERS[name]
    words = ["fine"]
    with Effort() as effort:
        try:
            reader.read(text)
        except reader.passing:
            pass
        except ProblemsError as fault:
            words = [problem.message for problem in fault.problems]
        except SchedctlError as fault:
            words = [str(fault)]
    assert words
    assert all(0 < len(each) < LONGEST for each in words)
    assert effort.turns < SOON


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_any_text_is_read_or_refused_in_words(name, data):
    feed(name, data.draw(mutated(READERS[name].seeds)))


@pytest.mark.parametrize("name", READERS)
def test_the_texts_that_are_changed_can_be_read(name):
    for seed in READERS[name].seeds:
        feed(name, seed)


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_once_stays_mended(path):
    feed(path.parent.name, path.read_bytes())
