"""Phrases for what changes did: a few names of many, numbers with their nouns."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.cache.pod_info import PodInfo
from schedctl.reports import counts

_FEW = 3


def few(names: Sequence[str]) -> str:
    """Return names in a sentence, the first few of many."""
    if len(names) <= _FEW + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_FEW])} and {len(names) - _FEW} more"


def describe_displaced(waiting: Sequence[str], lost: Sequence[PodInfo] = ()) -> str:
    """Return in words how many pods wait, and which are gone for good."""
    parts = [f"{counts.of(len(waiting), 'pod')} to be placed"] if waiting else []
    parts += [f"{few([info.key for info in lost])} gone for good"] if lost else []
    return f" ({', '.join(parts)})" if parts else ""


def describe_daemons(number: int) -> str:
    """Return in words how many pods of DaemonSets came along."""
    return f", with {counts.of(number, 'pod')} of DaemonSets" if number else ""
