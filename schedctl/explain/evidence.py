"""Reads refusals off an attempt, row by row, as plain values: the one place of ``explain`` that knows of columns.

Plugins keep their evidence in whatever is cheapest at Filter: scalars, arrays, objects that are asked for a row. What
comes out here is what JSON knows, under camelCase names, so that wording, hints and renderers need to know no types.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

import msgspec

from schedctl.api.texts import tidy
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.filtering import Filtering
from schedctl.framework.faults import ESCAPING, describe
from schedctl.framework.reasons import Part, Verdicts, varies
from schedctl.framework.remedies import Evidence, Rejection


def first_rejections(filtering: Filtering) -> Iterator[Rejection]:
    """Yield why each refused node was refused first, which is what Kubernetes counts."""
    if filtering.nominated is not None:
        yield from first_rejections(filtering.nominated)
    for refusal in filtering.refusals:
        for part in refusal.verdicts.parts:
            rows = (part.mask & refusal.mask).nonzero()[0].tolist()
            yield from _read(refusal.plugin, part, rows, filtering.nodes)


def rejections_by(filtering: Filtering, plugin: str) -> Iterator[Rejection]:
    """Yield the first refusals of one plugin; nothing of another's is worked out."""
    for refusal in filtering.refusals:
        if refusal.plugin == plugin:
            for part in refusal.verdicts.parts:
                rows = (part.mask & refusal.mask).nonzero()[0].tolist()
                yield from _read(refusal.plugin, part, rows, filtering.nodes)


def all_rejections(plugin: str, verdicts: Verdicts, nodes: Nodes) -> Iterator[Rejection]:
    """Yield everything a filter says of a column, whatever others said before."""
    for part in verdicts.parts:
        yield from _read(plugin, part, part.mask.nonzero()[0].tolist(), nodes)


def rejections_at(plugin: str, verdicts: Verdicts, nodes: Nodes, position: int) -> Iterator[Rejection]:
    """Yield what a filter says of one position."""
    for part in verdicts.at(position):
        yield from _read(plugin, part, (position,), nodes)


def _read(plugin: str, part: Part, rows: Iterable[int], nodes: Nodes) -> Iterator[Rejection]:
    names = {name: _camel(name) for name in part.evidence}
    constants = {name: tell(value) for name, value in part.evidence.items() if not varies(value)}
    for row in rows:
        evidence = part.at(row)
        nominated = tuple(info.key for info, _ in nodes.changes.at(row)) if nodes.changes is not None else ()
        yield Rejection(
            plugin,
            part.reason.reference,
            part.reason.format(evidence),
            part.code(row),
            nodes.names[row],
            {names[name]: constants[name] if name in constants else tell(evidence[name]) for name in names},
            nominated,
        )


def camel_case(evidence: Mapping[str, Any]) -> Evidence:
    """Return evidence as JSON knows it, under camelCase names."""
    return {_camel(name): tell(value) for name, value in evidence.items()}


def tell(value: Any) -> Any:
    """Return a value of a plugin as JSON knows it; where it cannot be told, that."""
    try:
        return plain(value)
    except KeyboardInterrupt:
        raise
    except ESCAPING as fault:  # what a value is made of, and turning it into text, is the plugin's
        return f"{type(value).__name__} that cannot be told ({describe(fault)})"


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: pods by key, sets sorted, records as maps with camelCase names."""
    match value:
        case str() if not isinstance(value, Enum):
            return tidy(value)
        case None | bool() | int() | float() | str():
            return value.value if isinstance(value, Enum) else value
        case PodInfo():
            return value.key
        case msgspec.Struct():
            return plain(msgspec.to_builtins(value))
        case Mapping():
            return {str(plain(key)): plain(each) for key, each in value.items()}
        case tuple() if hasattr(value, "_asdict"):
            return {_camel(name): plain(each) for name, each in value._asdict().items()}
        case set() | frozenset():
            return sorted(map(plain, value), key=str)
        case tuple() | list():
            return [plain(each) for each in value]
        case Enum():
            return plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {_camel(f.name): plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # a NumPy scalar or array
        return plain(value.tolist())
    return plain(str(value))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
