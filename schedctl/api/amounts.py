"""Amounts of resources, from the scheduler's integers to what people write: ``1850m``, ``1.6Gi``, ``2``.

Two readers, two precisions: `amount` is for reading and keeps one decimal (`on_one_scale` for several on one line),
`quantity` is for typing into a manifest and never says more than there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schedctl.api import resources

STORAGE = "storage"
"""What claims ask for."""
_UNITS = ((1 << 60, "Ei"), (1 << 50, "Pi"), (1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))
_MANY = 100_000
"""So many of a unit are told in the next larger one, although a small amount beside them loses a digit."""


def amount(resource: str, value: int) -> str:
    """Return an amount for reading, e.g. ``1850m`` of cpu for 1850, ``1.6Gi`` of memory for 1717986918."""
    if resource == resources.CPU:
        return _cpu(value)
    if not in_bytes(resource):
        return str(value)
    for unit, suffix in _UNITS:
        if abs(value) >= unit:
            return _in_tenths(value, unit, suffix)
    return str(value)


def on_one_scale(resource: str, values: Iterable[int]) -> Callable[[int], str]:
    """Return how amounts of a line read in one unit: the largest in which the smallest of the values still tells.

    Args:
        resource: of what.
        values: all that the line shows, and differences that its reader should see.
    """
    values = [abs(value) for value in values if value]
    if resource == resources.CPU:
        finer = any(value % 1000 for value in values)
        return lambda value: f"{value}m" if finer and value else _cpu(value)
    unit, suffix = _unit(min(values), max(values)) if in_bytes(resource) and values else (1, "")
    return lambda value: _in_tenths(value, unit, suffix) if value else "0"


def quantity(resource: str, value: int) -> str:
    """Return an amount as a quantity of at most that much; bytes are cut to whole Mi where they reach one."""
    if resource == resources.CPU:
        return _cpu(value)
    if not in_bytes(resource):
        return str(value)
    for unit, suffix in _UNITS:
        if value and value % unit == 0:
            return f"{value // unit}{suffix}"
    return f"{value >> 20}Mi" if value >= 1 << 20 else str(value)


def in_bytes(resource: str) -> bool:
    """Return whether a resource is counted in bytes."""
    return resource in (resources.MEMORY, resources.EPHEMERAL_STORAGE, STORAGE) or resource.startswith("hugepages-")


def _unit(least: int, most: int) -> tuple[int, str]:
    """Return the largest unit in which the least amount still tells: 512Mi, but 0.5Gi beside 30Gi."""
    for unit, suffix in _UNITS:
        halves = least * 2 >= unit and most >= 8 * unit
        if least >= unit or halves or (least * 10 >= unit and most >= _MANY * (unit >> 10)):
            return unit, suffix
    return 1, ""


def _in_tenths(value: int, unit: int, suffix: str) -> str:
    tenths = (abs(value) * 10 + unit // 2) // unit
    text = f"{tenths // 10}.{tenths % 10}".removesuffix(".0")
    return f"{'-' if value < 0 else ''}{text}{suffix}"


def _cpu(millicores: int) -> str:
    return str(millicores // 1000) if millicores % 1000 == 0 else f"{millicores}m"
