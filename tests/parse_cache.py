"""YAML that is read once: thousands of tests read the same clusters and policies of fixtures/.

What libyaml made of a text is kept in a form that is copied out anew for every reader, so that nobody sees what another
did to it. A text with something to say about is read each time, and so is a large one.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from functools import lru_cache

from schedctl.documents import yaml_values
from schedctl.documents.findings import Finding, Place

LARGEST = 1 << 17
"""In bytes; tests of what large texts take have to take it."""
TEXTS = 4096
"""More than `fixtures/` and what tests write again and again; what is drawn at random makes room."""

_read = yaml_values.read


def read(text: bytes, place: Place, report: yaml_values.Report) -> Iterator[yaml_values.Value]:
    """Yield what `yaml_values.read` yields."""
    kept = _parse(text, place) if len(text) <= LARGEST else None
    if kept is None:
        yield from _read(text, place, report)
    else:
        for value, *where in kept:
            yield yaml_values.Value(marshal.loads(value), *where)


@lru_cache(TEXTS)
def _parse(text: bytes, place: Place) -> list[tuple[bytes, int, Place, int]] | None:
    warnings: list[Finding] = []
    try:
        values = [
            (marshal.dumps(each.value), *each[1:])
            for each in _read(text, place, lambda warning, place: warnings.append(warning))
        ]
    except (yaml_values.YAMLProblem, ValueError):  # marshal refuses what is nested very deeply
        return None
    return None if warnings else values
