"""YAML text to plain values, meaning what kubectl makes it mean, quickly and without trusting it.

PyYAML's own constructors resolve scalars by other rules and spend five times the time; what is used of it is libyaml's
event stream. One loop builds values from events: scalars by `schedctl.sources.scalars` (each distinct one resolved
once), merge keys where they stand (as in kubectl a merge overrides what was written before it), repeated keys with the
last one winning, and said. The items of a top-level ``items`` list are handed over one by one and forgotten, so that a
big List never exists as plain values in full.

Bounds: nesting `MAX_DEPTH`; aliases count as much as what they stand for, and too many of them are refused by
go-yaml's own rule; an anchor inside itself is refused. Positions are not kept: `locate` reads the document again when a
message needs some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from schedctl.sources import scalars
from schedctl.sources.findings import Finding, Path, Place, Wanted, dotted, quoted

MAX_DEPTH = 1000
"""How deep mappings and lists may nest; the deepest Kubernetes schema has some thirty levels."""

_CACHED_SCALARS = 1 << 16
_MERGE = object()
_NO_KEY = object()
_MERGE_TAG = "tag:yaml.org,2002:merge"


class YAMLProblem(Exception):
    """The document cannot be read; a place within it, and why."""

    def __init__(self, message: str, line: int = 0, column: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.hint = message, line, column, hint


class Value(NamedTuple):
    """A finished value: an item of the document's ``items`` (its index), or the document itself (-1).

    The document comes last, with None in place of the items that came before it. `line` and `column` are 0-based.
    """

    value: Any
    index: int
    line: int
    column: int
    offset: int


def read(text: bytes, report: Callable[[Finding, int, int], None]) -> Iterator[Value]:
    """Yield the values of the one document in `text`; nothing if there is none.

    Args:
        text: one document, UTF-8.
        report: takes a warning and the 0-based line and column of what it is about.

    Raises:
        YAMLProblem: the text is not YAML, or breaks a bound.
    """
    try:
        yield from _build(CParser(text).get_event, report)
    except YAMLError as error:
        raise _problem(error, text) from None


def _build(get: Callable[[], Event | None], report: Callable[[Finding, int, int], None]) -> Iterator[Value]:
    resolved: dict[str, Any] = {}
    anchors: dict[str, tuple[Any, int]] = {}
    open_anchors: dict[str, int] = {}
    stack: list[tuple[Any, Any, str | None, int, Any]] = []
    holder: Any = None  # the collection being filled: a dict, a list, or None at the top
    key: Any = _NO_KEY  # the key read last, in a mapping
    items: Any = None  # the list under the document's "items"
    root: Any = None
    count = aliased = 0  # values made, and how many of them aliases stand for
    anchor: str | None
    while True:
        event = get()
        kind = type(event)
        count += 1
        if kind is ScalarEvent:
            text, tag, anchor = event.value, event.tag, event.anchor
            if tag is None:
                if not event.implicit[0]:
                    value = text
                else:
                    try:
                        value = resolved[text]
                    except KeyError:
                        if len(resolved) >= _CACHED_SCALARS:
                            resolved.clear()
                        value = resolved[text] = scalars.plain(text)
            else:
                value = _tagged(event, report)
            if key is _NO_KEY and type(holder) is dict:
                if anchor is not None:
                    anchors[anchor] = (value, 1)
                if value.__class__ is not str or text == "<<" and event.style == "":
                    key = _key(event, value)
                else:
                    key = value
                continue
            if value != value or value in _INFINITIES:
                raise YAMLProblem(f"{text} is not a number in JSON", *_at(event))
            mark = event.start_mark if holder is items else None
            start = count
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            anchor = event.anchor
            if key is _NO_KEY and type(holder) is dict:
                raise YAMLProblem("a mapping key must be text, a number or a boolean", *_at(event), hint=_TEMPLATE)
            if len(stack) >= MAX_DEPTH:
                raise YAMLProblem(f"nested more than {MAX_DEPTH} levels deep", *_at(event))
            if event.tag is not None:
                _check_tag(event, report)
            if anchor is not None:
                open_anchors[anchor] = open_anchors.get(anchor, 0) + 1
            stack.append((holder, key, anchor, count, event.start_mark if holder is items else None))
            new: Any = {} if kind is MappingStartEvent else []
            if len(stack) == 2 and key == "items" and kind is SequenceStartEvent:
                items = new
            holder, key = new, _NO_KEY
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            value = holder
            holder, key, anchor, start, mark = stack.pop()
            if anchor is not None:
                open_anchors[anchor] -= 1
        elif kind is AliasEvent:
            anchor = None
            if open_anchors.get(event.anchor):
                raise YAMLProblem(f"the anchor {quoted(event.anchor)} contains itself", *_at(event))
            if event.anchor not in anchors:
                raise YAMLProblem(f"there is no anchor {quoted(event.anchor)} before this alias", *_at(event))
            value, size = anchors[event.anchor]
            count += size
            aliased += size
            if aliased > 100 and count > 1000 and aliased > count * _allowed_aliases(count):
                raise YAMLProblem("aliases repeat too much of the document", *_at(event))
            if key is _NO_KEY and type(holder) is dict:
                key = _alias_key(event, value)
                continue
            mark = event.start_mark if holder is items else None
        elif kind is DocumentEndEvent:
            break
        elif kind is StreamEndEvent:
            return
        else:
            root = event.start_mark  # the stream or the document starts
            continue

        if anchor is not None:
            anchors[anchor] = (value, count - start + 1)
        if holder is None:
            root_value = value
        elif type(holder) is list:
            if holder is items:
                yield Value(value, len(items), mark.line, mark.column, mark.index)
                value = None
            holder.append(value)
        elif key is _MERGE:
            _merge(holder, value, event, lambda: _path(stack, key), report)
            key = _NO_KEY
        else:
            if key in holder:
                message = f"the key {quoted(key)} is here twice; the last one counts"
                report(Finding(_path(stack, key), message, warning=True), *_at(event))
            holder[key] = value
            key = _NO_KEY
    yield Value(root_value, -1, root.line, root.column, root.index)
