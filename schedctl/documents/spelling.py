"""The name that was probably meant, for misspelt fields, values, objects and files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

CLOSE: Final = 0.75
"""The cutoff among so many names, as a manifest may have, that one of them is somewhat like any word."""
_SHOWN = 6
"""How many of the names there are stand in a hint."""
_TELLING = 8
"""A beginning of a name of this length is enough to tell which is meant."""


def nearest(word: str, names: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the name most like a word, case aside; "" when none is.

    Args:
        word: what was written.
        names: what could have been.
        cutoff: from 0 to 1, how alike they must be at least.
    """
    return _nearest(word, tuple(names), cutoff)


@lru_cache(maxsize=256)  # a file that was not meant for us repeats its mistake thousands of times
def _nearest(word: str, names: tuple[str, ...], cutoff: float) -> str:
    if len(word) >= _TELLING:
        for name in names:
            if name.lower().startswith(word.lower()):
                return name  # a name cut short, which difflib takes for too different
    return next(iter(similar(word, names, 1, cutoff=cutoff)), "")


def similar(word: str, names: Iterable[str], most: int = 3, *, cutoff: float = 0.6) -> list[str]:
    """Return the names that are like a word, case aside, the most similar first."""
    import difflib  # only mistakes pay for it

    folded = {name.lower(): name for name in names}
    return [folded[name] for name in difflib.get_close_matches(word.lower(), folded, n=most, cutoff=cutoff)]


def equally_near(word: str, names: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """Return the names most like a word, in order: several where none of them is nearer than the others.

    Args:
        word: what was written.
        names: what could have been.
        cutoff: as of `nearest`.
    """
    from difflib import SequenceMatcher

    names = tuple(names)
    folded, best = word.lower(), nearest(word, names, cutoff=cutoff)
    if not best:
        return []
    if len(word) >= _TELLING and best.lower().startswith(folded):
        return sorted(name for name in names if name.lower().startswith(folded))
    matcher = SequenceMatcher(b=folded)

    def likeness(name: str, least: float = 0) -> float:
        matcher.set_seq1(name.lower())
        return matcher.ratio() if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= least else -1

    most = likeness(best)
    alike = {name: _common_start(name.lower(), folded) for name in names if likeness(name, most) == most}
    longest = max(alike.values())  # the first letters are seldom wrong
    return sorted(name for name, common in alike.items() if common == longest)


def _common_start(one: str, other: str) -> int:
    """Return how many letters two words have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def did_you_mean(word: str, names: Iterable[str], otherwise: str | None = None, *, cutoff: float = 0.6) -> str:
    """Return the next step after a name that is not there.

    Args:
        word: what was written.
        names: what there is.
        otherwise: what to say where no name is close; by default, all of them.
        cutoff: as of `nearest`.
    """
    names = tuple(names)
    close = nearest(word, names, cutoff=cutoff)
    if close:
        return f'did you mean "{close}"?'
    if otherwise is not None:
        return otherwise
    return f"expected one of {', '.join(names)}" if names else "none is defined"


def suggest_names(name: str, known: Sequence[str], what: str) -> str:
    """Return the next step for a name that is not there: the nearest ones, else what there is."""
    close = similar(name, known) or [each for each in known if each.startswith(name)][:3]
    if close:
        return f"did you mean {', '.join(sorted(close))}?"
    if not known:
        return ""
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"the {what} are {', '.join(known[:_SHOWN])}{more}"
