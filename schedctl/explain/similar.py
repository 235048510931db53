"""Names that are nowhere, and the names that may have been meant: what the search for typos shares."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from schedctl.documents.spelling import nearest
from schedctl.explain.changes import Change
from schedctl.framework.wording import few


@dataclass(frozen=True, slots=True)
class Typo:
    """A name that is nowhere.

    Attributes:
        fact: what is not there, and what may have been meant.
        change: to what may have been meant, None where nothing is similar.
        kind: the situation, as hints carry it.
    """

    fact: str
    change: Change | None
    kind: str


def meant(name: str, known: Collection[str]) -> str:
    """Return the known name that is most like another, "" if none is; the part behind a slash counts most."""
    last = name.rpartition("/")[2]
    alike = [other for other in known if other.rpartition("/")[2].lower() == last.lower()]
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
