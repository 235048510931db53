"""The sides of a comparison: the same question under several configurations, each called by a letter.

The first side is what the others are compared with. ``explain`` and ``simulation`` both compare, and do not know each
other; what a side is called is the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat
from string import ascii_uppercase

from schedctl.reports.metadata import Side


def sides(configurations: Iterable[str], versions: Iterable[str] = ()) -> list[Side]:
    """Return the sides of configurations, of which each is where it came from.

    Args:
        configurations: where each came from.
        versions: the kube-scheduler of each, where versions are compared.
    """
    letters = len(ascii_uppercase)
    return [
        Side(ascii_uppercase[number % letters] * (number // letters + 1), configuration, version)
        for number, (configuration, version) in enumerate(
            zip(configurations, chain(versions, repeat("")), strict=False)
        )
    ]
