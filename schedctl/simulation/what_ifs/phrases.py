"""Phrases for what changes did: a few names of many, numbers with their nouns."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.wording import few
from schedctl.reports import counts

_SHOWN = 3


def abbreviate(names: Sequence[str]) -> str:
    """Return names in a sentence, the first few of many."""
    # "and 1 more" is no shorter than the one name, so it is never said
    return few(names, _SHOWN if len(names) > _SHOWN + 1 else len(names))


def describe_displaced(waiting: Sequence[str], lost: Sequence[PodInfo] = ()) -> str:
    """Return in words how many pods wait, and which are lost."""
    parts = [f"{counts.of(len(waiting), 'pod')} to be placed"] if waiting else []
    if lost:
        them = "it" if len(lost) == 1 else "them"
        parts.append(f"{abbreviate([info.key for info in lost])} lost: no controller recreates {them}")
    return f" ({', '.join(parts)})" if parts else ""


def describe_daemons(number: int) -> str:
    """Return in words how many pods of DaemonSets came along."""
    return f", with {counts.of(number, 'pod')} of DaemonSets" if number else ""
