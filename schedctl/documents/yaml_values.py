"""YAML text to plain values, meaning what kubectl makes it mean, quickly and without trusting it.

PyYAML's own constructors resolve scalars by other rules and take thrice the time, so values are built from libyaml's
events, scalars by `schedctl.documents.scalars`. Positions are not kept: `locate` reads the document again when a
message needs some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any, NamedTuple, NoReturn

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from schedctl.documents import findings, scalars, yaml_mistakes
from schedctl.documents.findings import Finding, PathTree, Place, quote

MAX_DEPTH = 1000
"""How deep mappings and lists may nest; the deepest Kubernetes schema has some thirty levels."""

_CACHED_SCALARS = 1 << 16
_AWAITED, _IN_LIST, _MERGE = object(), object(), object()  # what stands for a key that is not text
_MERGE_TAG = "tag:yaml.org,2002:merge"

Report = Callable[[Finding, Place], None]


class YAMLProblem(Exception):
    """The document cannot be read: why, and where in it."""

    def __init__(self, message: str, place: Place, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.place, self.hint = message, place, hint


class Value(NamedTuple):
    """A finished value: an item of the document's ``items`` (its index), or the document itself (-1).

    The document comes last, with None in place of the items that came before it. `offset` is in characters.
    """

    value: Any
    item: int
    place: Place
    offset: int


def read(text: bytes, place: Place, report: Report) -> Iterator[Value]:
    """Yield the values of the one document in `text`; nothing if there is none.

    Args:
        text: one document, UTF-8.
        place: where the document begins; the first column.
        report: takes a warning and where it belongs.

    Raises:
        YAMLProblem: the text is not YAML, or breaks a bound.
    """
    try:
        yield from _Builder(CParser(text), place.line - 1, report).values()
    except YAMLError as error:
        raise _problem(error, text, place.line - 1) from None


def locate(text: bytes, paths: PathTree, place: Place) -> None:
    """Fill in the places of paths, as far as they are written out (an alias or merge is one place).

    Args:
        text: one document.
        paths: what is sought.
        place: where the document begins; the first column.
    """
    parser, above = CParser(text), place.line - 1
    try:
        while (event := parser.get_event()) is not None:
            if isinstance(event, NodeEvent):
                _locate(parser, event, paths, above)
                return
    except (YAMLError, ValueError):
        return  # the document is broken further on; what was found until there is what can be said


class _Builder:
    """One document under construction."""

    def __init__(self, parser: CParser, above: int, report: Report) -> None:
        self.parser = parser
        self.above = above
        self.report = report
        # An enclosing collection, the key in it, and of the collection inside: anchor, first event, start mark.
        self.stack: list[tuple[Any, Any, str | None, int, Any]] = []
        self.merged: dict[int, tuple[dict[str, Any], set[str]]] = {}
        self.resolved: dict[str, Any] = {}
        self.anchors: dict[str, tuple[Any, int]] = {}  # by anchor, its node and of how many events that is made
        self.begun: dict[str, int] = {}  # by anchor, the event with which its latest node began
        self.aliased = 0  # how many events aliases stand for

    def values(self) -> Iterator[Value]:
        """Yield what `read` yields.

        What every event passes through stands here, in one loop: it runs a hundred thousand times per megabyte.
        """
        get: Callable[[], Any] = self.parser.get_event
        stack, resolved, anchors, begun = self.stack, self.resolved, self.anchors, self.begun
        holder: Any = None  # the collection being filled
        key: Any = _IN_LIST  # the key read last; `_AWAITED` where one comes next
        items: Any = None  # the list under the document's "items"
        count = 0  # events, those that aliases stand for among them
        while True:
            kind = (event := get()).__class__
            count += 1
            anchor = None
            if kind is ScalarEvent:
                text, mark = event.value, event.start_mark
                # `resolved` itself stands for "not in it": None is what null resolves to
                value = resolved.get(text, resolved) if event.tag is None and event.implicit[0] else resolved
                if value is resolved:
                    value = self.scalar(event, key is _AWAITED)
                anchor, first = event.anchor, count
                if anchor is not None:
                    begun[anchor] = count
                    anchors[anchor] = (value, 1)
                if key is _AWAITED:
                    key = value if value.__class__ is str and text != "<<" else self.key(event, value)
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self.begin(event, key, count)
                stack.append((holder, key, event.anchor, count, event.start_mark))
                holder, key = ({}, _AWAITED) if kind is MappingStartEvent else ([], _IN_LIST)
                # the list under a top-level "items" is handed over item by item, so that a List never exists in full
                if key is _IN_LIST and len(stack) == 2 and stack[-1][1] == "items":
                    items = holder
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = holder
                holder, key, anchor, first, mark = stack.pop()
            elif kind is AliasEvent:
                (value, count), mark = self.alias(event, count), event.start_mark
                if key is _AWAITED:
                    key = self.key(event, value)
                    continue
            elif kind is not DocumentStartEvent and kind is not StreamStartEvent:
                self.check_end(event)
                return
            else:
                continue

            # unless a node inside it has taken the name of its anchor over
            if anchor is not None and begun[anchor] == first:
                anchors[anchor] = (value, count - first + 1)
            if holder is None:
                yield Value(value, -1, _place(mark, self.above), mark.index)
            elif key is _IN_LIST:
                if holder is items:
                    yield Value(value, len(items), _place(mark, self.above), mark.index)
                    value = None  # keeps the index of the next one
                holder.append(value)
            else:
                if key is _MERGE:
                    self.merge(holder, value, event)
                else:
                    if key in holder:
                        self.warn_of_repeated(holder, key, event)
                    holder[key] = value
                key = _AWAITED

    def scalar(self, event: Any, is_key: bool) -> scalars.Scalar:
        """Return what a scalar means; that of a plain one is remembered for the next one of the same text."""
        text: str = event.value
        if event.tag is not None:
            return self.tagged_value(event)
        if not event.implicit[0]:
            return text
        value = scalars.plain(text)
        if value.__class__ is not float or isfinite(value):  # .nan and .inf are refused anew at each place
            if len(self.resolved) >= _CACHED_SCALARS:
                self.resolved.clear()
            self.resolved[text] = value
        elif not is_key:
            self.refuse(event, f"{text} has no counterpart in JSON")
        return value

    def begin(self, event: Any, key: Any, count: int) -> None:
        """Refuse a list or mapping that may not begin here; note its anchor."""
        if key is _AWAITED:
            self.refuse(event, "a key must be text, a number or a boolean", findings.TEMPLATE)
        if len(self.stack) >= MAX_DEPTH:
            self.refuse(event, f"nested more than {MAX_DEPTH} levels deep")
        if event.tag is not None:
            self.check_tag(event)
        if event.anchor is not None:
            self.begun[event.anchor] = count
            self.anchors.pop(event.anchor, None)  # until it ends, an alias of it would contain itself

    def alias(self, event: Any, count: int) -> tuple[Any, int]:
        """Return what an alias stands for, and the number of events with those it stands for."""
        if event.anchor not in self.anchors:
            problem = "contains itself" if event.anchor in self.begun else "is not defined before this alias"
            hint = "text that begins with * has to be quoted"
            self.refuse(event, f"the anchor {quote(event.anchor)} {problem}", hint)
        value, size = self.anchors[event.anchor]
        count += size
        self.aliased += size
        # go-yaml's own rule against documents that blow up
        if self.aliased > 100 and count > 1000 and self.aliased > count * _alias_share(count):
            self.refuse(event, "aliases expand to too many values")
        return value, count

    def tagged_value(self, event: Any) -> scalars.Scalar:
        """Return what a scalar with a tag means."""
        if event.tag == "!":
            text: str = event.value
            return text
        self.check_tag(event)
        try:
            value = scalars.tagged_scalar(event.tag, event.value)
        except ValueError as error:
            self.refuse(event, str(error))
        if isinstance(value, float) and not isfinite(value):
            self.refuse(event, f"{event.value} has no counterpart in JSON")
        return value

    def check_tag(self, event: Any) -> None:
        """Warn of a tag that YAML does not define."""
        if event.tag not in scalars.KNOWN_TAGS and event.tag != "!":
            message = f"the tag {quote(event.tag)} has no meaning here and is ignored"
            self.report(Finding(self.path(), message, warning=True), _place(event.start_mark, self.above))

    def key(self, event: Any, value: Any) -> Any:
        """Return the key that a scalar or alias makes, `_MERGE` for the merge key."""
        text = getattr(event, "value", None)
        if text == "<<" and (event.implicit[0] or event.tag == _MERGE_TAG):
            return _MERGE
        if isinstance(value, dict | list):
            self.refuse(event, "a key must be text, a number or a boolean")
        try:
            return scalars.key(value, str(value) if text is None else text)
        except ValueError as error:
            self.refuse(event, str(error))

    def merge(self, holder: dict[str, Any], value: Any, event: Any) -> None:
        """Put the pairs of a mapping, or of several of which earlier ones count more, into the one being built."""
        # as in kubectl, a merge overrides what was written before it, which YAML would have the other way round
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            self.refuse(event, "a merge needs a mapping or a list of mappings")
        _, merged = self.merged.setdefault(id(holder), (holder, set()))  # holds the holder, whose id is the key
        for source in reversed(sources):  # earlier ones count more, so they come last
            for name in source:
                if name in holder and name not in merged:
                    message = f"the merge replaces the key {quote(name)} written before it"
                    self.report(
                        Finding((*self.path(), name), message, warning=True), _place(event.start_mark, self.above)
                    )
            holder.update(source)
            merged.update(source)

    def warn_of_repeated(self, holder: dict[str, Any], key: str, event: Any) -> None:
        """Warn of a key that is written twice; one that overrides a merged key is as it should be."""
        _, merged = self.merged.get(id(holder), (None, set()))
        if key in merged:
            merged.discard(key)
            return
        counts = "the last one counts"
        if key == "items" and not self.stack[1:] and isinstance(holder[key], list):
            counts = "the items of all lists under it are read"  # those of the first are handed over by now
        message = f"the key {quote(key)} is written twice; {counts}"
        self.report(
            Finding((*self.path(), key), message, warning=True, strict=True), _place(event.start_mark, self.above)
        )

    def path(self) -> findings.Path:
        """Return where in the document the collection being filled is."""
        return tuple(key if isinstance(key, str) else len(holder) for holder, key, *_ in self.stack[1:])

    def check_end(self, end: Any) -> None:
        """Warn when something follows the document end marker: kubectl never looks at it."""
        if isinstance(end, StreamEndEvent):
            return
        try:
            following: object = self.parser.get_event()
        except YAMLError:
            following = end
        if not isinstance(following, StreamEndEvent):
            message = 'the text after the document end marker "..." is not read'
            hint = 'begin the next document with "---"'
            self.report(Finding((), message, hint, warning=True), _place(end.end_mark, self.above))

    def refuse(self, event: Any, message: str, hint: str = "") -> NoReturn:
        """Give the document up.

        Raises:
            YAMLProblem: always.
        """
        raise YAMLProblem(message, _place(event.start_mark, self.above), hint)


def _alias_share(count: int) -> float:
    """Return how much of a document aliases may stand for: nearly all of a small one, a tenth of a huge one."""
    small, huge = 400_000, 4_000_000
    return 0.99 - 0.89 * min(max(count - small, 0) / (huge - small), 1.0)


def _place(mark: Any, above: int) -> Place:
    return Place(above + mark.line + 1, mark.column + 1)


def _locate(parser: Any, event: Any, paths: PathTree, above: int) -> None:
    """Note the place of one node and, inside it, of what is sought; leaves the parser behind the node."""
    paths.value = _place(event.start_mark, above)
    if not paths.children:
        _skip(parser, event)
    elif isinstance(event, MappingStartEvent):
        while not isinstance(key := parser.get_event(), MappingEndEvent):
            _skip(parser, key)
            value, child = parser.get_event(), paths.children.get(_key_text(key))
            if child is None:
                _skip(parser, value)
            else:
                child.key = _place(key.start_mark, above)
                _locate(parser, value, child, above)
    elif isinstance(event, SequenceStartEvent):
        index = 0
        while not isinstance(item := parser.get_event(), SequenceEndEvent):
            child = paths.children.get(index)
            if child is None:
                _skip(parser, item)
            else:
                _locate(parser, item, child, above)
            index += 1


def _skip(parser: Any, event: Any) -> None:
    """Leave the parser behind a node that has begun."""
    depth = 0
    while True:
        if isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if depth == 0:
            return
        event = parser.get_event()


def _key_text(event: Any) -> str:
    if not isinstance(event, ScalarEvent):
        return ""
    value = scalars.plain(event.value) if event.implicit[0] else event.value
    return scalars.key(value, event.value)


_TOO_DEEP = "exceeded maximum nesting depth"  # newer libyaml gives up by itself, at the same depth


def _problem(error: YAMLError, text: bytes, above: int) -> YAMLProblem:
    """Return what libyaml found wrong, in place."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:  # the reader, which knows bytes only
        offset = getattr(error, "position", 0)
        line, column = findings.place_in(text, offset)
        character = text[offset : offset + 4].decode(errors="ignore")[:1] or "\0"
        return YAMLProblem(f"the control character U+{ord(character):04X} is not allowed", Place(above + line, column))
    message = str(getattr(error, "problem", None) or "this is not YAML")
    context = getattr(error, "context", None)
    if message.startswith(_TOO_DEEP):
        message, context = f"nested more than {MAX_DEPTH} levels deep", None
    written = b"".join(text.split(b"\n", mark.line + 1)[mark.line : mark.line + 1]).decode(errors="replace")
    hint = yaml_mistakes.hint(error, written, above)
    return YAMLProblem(f"{message} {context}" if context else message, _place(mark, above), hint)
