"""Names that are nowhere, and the names that may have been meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from schedctl.documents.spelling import nearest
from schedctl.framework.wording import few


def closest_name(name: str, known: Collection[str]) -> str:
    """Return the known name that is most like another, "" if none is; the part behind a slash counts most."""
    last = name.rpartition("/")[2]
    alike = [other for other in known if other.rpartition("/")[2].lower() == last.lower()]
    # with the same name behind the slash it is meant, however unlike the part in front is
    return nearest(name, alike, cutoff=0) or nearest(name, known)


def did_you_mean(name: str) -> str:
    """Return the question in brackets, "" for no name."""
    return f' (did you mean "{name}"?)' if name else ""


def absence(what: str, name: str, namespace: str, keys: Iterable[str], other: str) -> str:
    """Return ``claim "dta" is not in namespace shop (did you mean "data"?)``.

    Args:
        what: the kind of thing, in words.
        name: the name that is not there.
        namespace: where it is not.
        keys: all there are of the kind, as ``namespace/name``.
        other: the name that may have been meant, "" for none.
    """
    elsewhere = sorted(place for place, _, known in (key.partition("/") for key in keys) if known == name)
    there = f", but in {few(elsewhere)}" if elsewhere else ""
    return f'{what} "{name}" is not in namespace {namespace}{there}{did_you_mean(other)}'


def in_namespace(namespace: str, keys: Iterable[str]) -> list[str]:
    """Return the names of a namespace among keys ``namespace/name``."""
    return [name for place, _, name in (key.partition("/") for key in keys) if place == namespace]
