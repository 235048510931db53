"""Things counted, in words."""

from __future__ import annotations

from collections.abc import Mapping

_MOST_ZONES = 10


def of(count: int, noun: str) -> str:
    """Return ``1 pod`` or ``2 pods``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def nodes(count: int, kind: str = "") -> str:
    """Return ``1 node`` or ``2 nodes``, with a word before it."""
    return of(count, f"{kind}node")


def at_most(number: int) -> str:
    """Return ``at most 2``, or ``none`` where nothing at all is."""
    return f"at most {number}" if number else "none"


def by_zone(zones: Mapping[str, int]) -> str:
    """Return how many there are in which zone, ``eu-1a 3, eu-1b 2``; many zones are cut short."""
    parts = [f"{zone or 'no zone'} {count}" for zone, count in zones.items()]
    return ", ".join(
        parts[:_MOST_ZONES] + ([f"+{of(len(parts) - _MOST_ZONES, 'more zone')}"] if len(parts) > _MOST_ZONES else [])
    )


def price(amount: float | None) -> str:
    """Return a price as it is written, "" where it is not known."""
    return "" if amount is None else f"{amount:.4f}".rstrip("0").rstrip(".")
