"""JSON text, cut into documents and list items without being decoded.

msgspec skips over JSON at well over a gigabyte a second and hands out pieces of it as views, so a List is cut first and
each item decoded straight into its struct. Where a field stands in the text is only found out for messages (`locate`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import msgspec

from schedctl.documents.findings import PathTree, Place

JSONText = msgspec.Raw | memoryview
"""A JSON value as text."""

_SPACE = re.compile(r"[ \t\n\r]*")
_BETWEEN = re.compile(rb"[ \t\n\r,\[]*")
_ITEMS = re.compile(rb'"items"[ \t\n\r]*:[ \t\n\r]*\[[ \t\n\r]*')
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")


class JSONProblem(Exception):
    """The text is not JSON: why, and the byte where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.offset = message, offset


class Head(msgspec.Struct, gc=False):
    """What an object says it is, as JSON text, empty where it says nothing; and its items, if it is a list.

    As to kubectl, whatever has ``items`` is a list, and ``items: null`` is one without items.
    """

    api_version: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="apiVersion")
    kind: msgspec.Raw = msgspec.Raw()
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


class _Name(msgspec.Struct, gc=False):
    """A head without items."""

    api_version: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="apiVersion")
    kind: msgspec.Raw = msgspec.Raw()


class _Text(msgspec.Struct, gc=False):
    """A head as it should be."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""


class Document(NamedTuple):
    """Where a document starts and ends, and what it says it is; None when it is no object."""

    start: int
    end: int
    head: Head | None


class Item(NamedTuple):
    """An item of a list: its text and where it is."""

    text: msgspec.Raw
    place: Place
    offset: int


_head = msgspec.json.Decoder(Head)
_name = msgspec.json.Decoder(_Name)
_text = msgspec.json.Decoder(_Text)


def cut(data: bytes, start: int, end: int) -> Iterator[Document]:
    """Yield the JSON documents that follow one another in a part of the text.

    Raises:
        JSONProblem: the text is not JSON from some document on.
    """
    view = memoryview(data)
    while (start := skip_space(data, start, end)) < end:
        stop = end
        try:
            found = head(view[start:end])
            if found is None:  # no object; decoded once more for the error, should it be no JSON either
                msgspec.json.decode(view[start:end], type=msgspec.Raw)
        except msgspec.DecodeError as error:
            # one decode finds the end of a document: msgspec objects to what follows it, and says where that begins
            trailing = _TRAILING.search(str(error))
            if trailing is None:
                raise _problem(error, data, start, end) from None
            stop = start + int(trailing[1]) - 1  # msgspec counts the first byte that is too much
            found = head(view[start:stop])
        except RecursionError:
            raise JSONProblem("nested too deeply", start) from None
        yield Document(start, stop, found)
        start = stop


def skip_space(data: bytes, start: int, end: int) -> int:
    """Return where the first byte is that is not white space, `end` if there is none."""
    while start < end and data[start] in b" \t\n\r":
        start += 1
    return start


def head(text: JSONText) -> Head | None:
    """Return what an object says it is, None when the text is no object.

    Raises:
        msgspec.DecodeError: it is not JSON.
    """
    try:
        return _head.decode(text)
    except msgspec.ValidationError:
        pass  # `items` may be no list, which does not keep kind and version from being read
    try:
        name = _name.decode(text)
    except msgspec.ValidationError:
        return None
    return Head(name.api_version, name.kind)


def names(text: msgspec.Raw) -> tuple[Any, Any] | None:
    """Return ``apiVersion`` and ``kind`` of a list item, None when the item is no object."""
    try:
        quick = _text.decode(text)
    except msgspec.ValidationError:
        slow = head(text)
        return None if slow is None else (plain(slow.api_version), plain(slow.kind))
    return quick.api_version, quick.kind


def plain(text: JSONText) -> Any:
    """Return the value of JSON that ought to be short; None where there is none."""
    try:
        return msgspec.json.decode(text) if len(text) else None
    except (msgspec.DecodeError, RecursionError):
        return float("nan")  # a value that equals no kind and no version


def repeated_keys(text: memoryview) -> list[str]:
    """Return the keys that an object of a JSON value has twice, each once."""
    found: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> None:
        counts = Counter(key for key, _ in pairs)
        if len(counts) < len(pairs):
            found.update(dict.fromkeys(key for key, count in counts.items() if count > 1))

    try:
        json.loads(bytes(text), object_pairs_hook=note)
    except (ValueError, RecursionError):  # whoever decodes it says what is wrong
        return []
    return list(found)


def items(data: bytes, document: Document, line: int) -> Iterator[Item]:
    """Yield the items of a list with their places.

    Columns are in bytes here, because the one line of a compact file can be megabytes long.

    Args:
        data: the whole text.
        document: the list.
        line: the line on which it starts.
    """
    start, end, outer = document
    if outer is None or not outer.items:
        return
    # views do not tell their offset, so the first item is looked for, behind an `items` that is followed by it
    first = bytes(outer.items[0])
    begins = (match.end() for match in _ITEMS.finditer(data, start, end) if data.startswith(first, match.end()))
    yield from _items(data, outer.items, start, next(begins, start), line)


def elements(data: bytes, start: int, end: int, line: int) -> Iterator[Item]:
    """Yield what a list that is a document of its own holds, as `items` does; it begins at `start`, on a line."""
    texts = msgspec.json.decode(memoryview(data)[start:end], type=list[msgspec.Raw])
    yield from _items(data, texts, start, skip_space(data, start + 1, end), line)


def _items(data: bytes, texts: list[msgspec.Raw], start: int, position: int, line: int) -> Iterator[Item]:
    """Yield texts that follow one another in a list, of which the first is at a position."""
    counted, line_start = start, data.rfind(b"\n", 0, start) + 1
    for text in texts:
        newlines = data.count(b"\n", counted, position)
        if newlines:
            line += newlines
            line_start = data.rfind(b"\n", counted, position) + 1
        counted = position
        yield Item(text, Place(line, position - line_start + 1), position)
        gap = _BETWEEN.match(data, position + len(text))
        position = gap.end() if gap else position


def locate(text: str, paths: PathTree, place: Place) -> None:
    """Fill in the places of paths, as far as they are in the document.

    Args:
        text: the document.
        paths: what is sought.
        place: where the document begins.
    """
    try:
        _Locator(text, place).value(0, paths)
    except (ValueError, IndexError, RecursionError):
        return  # broken further on; what was found until there is what can be said


class _Locator:
    """One walk along a text; positions only ever grow, so lines are counted once."""

    def __init__(self, text: str, place: Place) -> None:
        self.text = text
        self.counted, self.line, self.line_start = 0, place.line, 1 - place.column
        self.skip = json.JSONDecoder(strict=False).raw_decode  # msgspec cannot start in the middle of a text

    def place(self, position: int) -> Place:
        """Return the place of a position that is not before the last one asked for."""
        newlines = self.text.count("\n", self.counted, position)
        if newlines:
            self.line += newlines
            self.line_start = self.text.rindex("\n", self.counted, position) + 1
        self.counted = position
        return Place(self.line, position - self.line_start + 1)

    def space(self, position: int) -> int:
        """Return the position behind white space."""
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    def value(self, position: int, paths: PathTree) -> int:
        """Note the place of the value at a position and, inside it, of what is sought; return where it ends."""
        position = self.space(position)
        paths.value = self.place(position)
        if not paths.children or self.text[position] not in "{[":
            return self.skip(self.text, position)[1]
        closing, index = ("}", None) if self.text[position] == "{" else ("]", 0)
        position = self.space(position + 1)
        while self.text[position] != closing:
            step: str | int
            if index is None:
                key_place = self.place(position)
                step, position = scanstring(self.text, position + 1, False)
                position = self.space(self.space(position) + 1)
            else:
                key_place, step = None, index
                index += 1
            child = paths.children.get(step)
            if child is None:
                position = self.skip(self.text, position)[1]
            else:
                child.key = key_place
                position = self.value(position, child)
            position = self.space(position)
            if self.text[position] == ",":
                position = self.space(position + 1)
        return position + 1


def _problem(error: Exception, data: bytes, start: int, end: int) -> JSONProblem:
    malformed = _MALFORMED.search(str(error))
    if malformed:
        return JSONProblem(f"this is not JSON: {malformed[1]}", start + int(malformed[2]))
    # msgspec gives no offset for a text that is cut short, or for half a surrogate pair; json tells the two apart
    text = data[start:end].decode()
    try:
        json.loads(text)
    except json.JSONDecodeError as wrong:
        return JSONProblem("this is not JSON: the text ends too early", start + len(text[: wrong.pos].encode()))
    except (ValueError, RecursionError):
        return JSONProblem("this is not JSON: the text ends too early", end)
    return JSONProblem("this is not JSON: an escape is half of a surrogate pair", start)
