"""Names that are nowhere, and the names that may have been meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from schedctl.documents.spelling import equally_near, nearest
from schedctl.framework.wording import FEW, few


def closest_name(name: str, known: Collection[str]) -> str:
    """Return the known name that is most like another, "" if none is."""
    alike = _alike(name, known)
    # with the same name behind the slash it is meant, however unlike the part in front is
    return nearest(name, alike, cutoff=0) or nearest(name, known)


def closest_names(name: str, known: Collection[str]) -> list[str]:
    """Return the known names that are most like another: several where they are equally like it."""
    return equally_near(name, _alike(name, known), cutoff=0) or equally_near(name, known)


def _alike(name: str, known: Collection[str]) -> list[str]:
    """Return the known names with the same part behind the slash."""
    last = name.rpartition("/")[2].lower()
    return [other for other in known if other.rpartition("/")[2].lower() == last]


def did_you_mean(*names: str) -> str:
    """Return the question in brackets, "" for no name: ``(did you mean "a", "b" or "c"?)``."""
    quoted = [f'"{name}"' for name in names[:FEW] if name]
    if len(names) > FEW:
        quoted.append(f"{len(names) - FEW} more")
    choices = " or ".join((", ".join(quoted[:-1]), quoted[-1])) if len(quoted) > 1 else "".join(quoted)
    return f" (did you mean {choices}?)" if choices else ""


def absence(what: str, name: str, namespace: str, keys: Iterable[str], *others: str) -> str:
    """Return ``claim "dta" is not in namespace shop (did you mean "data"?)``.

    Args:
        what: the kind of thing, in words.
        name: the name that is not there.
        namespace: where it is not.
        keys: all there are of the kind, as ``namespace/name``.
        others: the names that may have been meant, "" for none.
    """
    elsewhere = sorted(place for place, _, known in (key.partition("/") for key in keys) if known == name)
    there = f", but in {few(elsewhere)}" if elsewhere else ""
    return f'{what} "{name}" is not in namespace {namespace}{there}{did_you_mean(*others)}'


def in_namespace(namespace: str, keys: Iterable[str]) -> list[str]:
    """Return the names of a namespace among keys ``namespace/name``."""
    return [name for place, _, name in (key.partition("/") for key in keys) if place == namespace]
