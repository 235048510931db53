"""Text to tree: YAML or JSON in, nodes that know their line and column out.

kube-scheduler takes text that begins with ``{`` for JSON, strictly, and everything else for YAML 1.1, of which it reads
the first document. So do we, and a scalar means what it means to kube-scheduler: ``yes`` is true, ``010`` is eight,
``8.0`` is the integer 8 in YAML and no integer in JSON.

Reading is safe. Trees are built from the parser's events without recursion, aliases share their node, and depth and
size are bounded: a document built to blow up ends in a `DocumentError`.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any, Final

import yaml

MAX_DEPTH: Final = 100
"""How deep lists and mappings may nest; a configuration needs about a dozen levels."""
MAX_SIZE: Final = 20_000
"""How many values a document may hold, an alias counted as what it stands for; a configuration has some hundreds."""


_TOO_DEEP: Final = f"nests deeper than {MAX_DEPTH} levels"
_TOO_LARGE: Final = f"holds more than {MAX_SIZE} values, aliases counted as what they stand for"


class DocumentError(Exception):
    """Text that is neither YAML nor JSON; `line` and `column` are 1-based, 0 when unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(slots=True)
class Node:
    """A value and where it stands.

    Attributes:
        value: None, a bool, int, float or str; a list of nodes; or a list of pairs of a key node and its value's node.
        line: 1-based.
        column: 1-based.
        is_mapping: whether `value` holds pairs.
        size: how many nodes it is made of, with aliases counted as what they stand for.
        depth: how many levels nest in it, aliases included.
    """

    value: Any
    line: int
    column: int
    is_mapping: bool = False
    size: int = 1
    depth: int = 0

    @property
    def is_list(self) -> bool:
        """Whether `value` holds nodes."""
        return isinstance(self.value, list) and not self.is_mapping

    def children(self) -> Iterator[Node]:
        """Yield the nodes directly beneath."""
        for child in self.value if isinstance(self.value, list) else ():
            if self.is_mapping:
                yield from child
            else:
                yield child

    def measured(self) -> Node:
        """Return the node after taking `size` and `depth` from what is beneath.

        Raises:
            DocumentError: it nests too deep.
        """
        for child in self.children():
            self.size += child.size
            self.depth = max(self.depth, child.depth + 1)
        if self.depth > MAX_DEPTH:
            raise DocumentError(_TOO_DEEP, self.line, self.column)
        return self


def read(text: str) -> Node:
    """Return the document of a text; an empty one is null.

    Raises:
        DocumentError: neither YAML nor JSON, or built to blow up.
    """
    return _Json(text).document() if text.lstrip().startswith("{") else _read_yaml(text)


# YAML


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    node: Node
    anchor: str | None
    key: Node | None = None
    merges: bool = field(default=False)


def _read_yaml(text: str) -> Node:
    anchors: dict[str, Node] = {}
    opened: list[_Open] = []
    size = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            line, column = _position(event.start_mark)
            if isinstance(event, yaml.DocumentStartEvent) and event.version not in (None, (1, 1)):
                raise DocumentError("only YAML 1.1 is understood", line, column)
            if isinstance(event, yaml.CollectionStartEvent):
                if len(opened) >= MAX_DEPTH:
                    raise DocumentError(_TOO_DEEP, line, column)
                opened.append(_Open(Node([], line, column, isinstance(event, yaml.MappingStartEvent)), event.anchor))
                continue
            if isinstance(event, yaml.CollectionEndEvent):
                done = opened.pop()
                node, anchor = done.node.measured(), done.anchor
            elif isinstance(event, yaml.ScalarEvent):
                node, anchor = Node(_scalar(event, line, column), line, column), event.anchor
            elif isinstance(event, yaml.AliasEvent):
                if any(event.anchor == one.anchor for one in opened):
                    raise DocumentError(f"anchor '{event.anchor}' value contains itself", line, column)
                if event.anchor not in anchors:
                    raise DocumentError(f"unknown anchor '{event.anchor}' referenced", line, column)
                node, anchor = anchors[event.anchor], None
            else:
                continue
            size += 1 if isinstance(event, yaml.CollectionEndEvent) else node.size
            if size > MAX_SIZE:
                raise DocumentError(_TOO_LARGE, line, column)
            if anchor:
                anchors[anchor] = node
            if not opened:
                return node
            _place(opened[-1], node, merges=isinstance(event, yaml.ScalarEvent) and _is_merge(event))
    except yaml.MarkedYAMLError as error:
        place = _position(error.problem_mark or error.context_mark)
        raise DocumentError(error.problem or str(error), *place) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DocumentError(error.reason, line, error.position - text.rfind("\n", 0, error.position)) from None
    return Node(None, 1, 1)


def _position(mark: Any) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)


def _place(parent: _Open, node: Node, *, merges: bool) -> None:
    """Put a finished node where the next one belongs in its parent."""
    if not parent.node.is_mapping:
        parent.node.value.append(node)
    elif parent.key is None:
        if isinstance(node.value, list) or node.value is None:
            raise DocumentError("a key must be text, a number, true or false", node.line, node.column)
        parent.key, parent.merges = node, merges
    else:
        key, parent.key = parent.key, None
        if not parent.merges:
            parent.node.value.append((Node(_key_text(key.value), key.line, key.column), node))
            return
        for merged in node.value if node.is_list else (node,):
            if not merged.is_mapping:
                raise DocumentError("<< takes a mapping, or a list of mappings", node.line, node.column)
            parent.node.value.extend(merged.value)


def _key_text(value: bool | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_merge(event: yaml.ScalarEvent) -> bool:
    return bool(event.value == "<<" and (event.tag == "tag:yaml.org,2002:merge" or event.implicit[0]))


_WORDS: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_TAGGED: Final[dict[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "timestamp": (str,),
}
_OCTAL: Final = re.compile(r"[-+]?0[0-7]+")
_INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MAX_UINT64: Final = (1 << 64) - 1
_MAX_PLAIN: Final = 1e21
"""From here on Go writes a float with an exponent, and reads no integer from it."""


def _scalar(event: yaml.ScalarEvent, line: int, column: int) -> bool | float | str | None:
    """Return what a scalar means: quoted or tagged text is text, a plain one is looked at."""
    tag = (event.tag or "").removeprefix("tag:yaml.org,2002:")
    if tag == "binary":
        try:
            return base64.b64decode(event.value, validate=True).decode()
        except ValueError:
            raise DocumentError("!!binary value contains invalid base64 data", line, column) from None
    if not event.implicit[0] and tag not in _TAGGED:
        return str(event.value)
    meaning = plain_scalar(event.value)
    if tag in _TAGGED and (not isinstance(meaning, _TAGGED[tag]) or (tag != "bool" and isinstance(meaning, bool))):
        raise DocumentError(f'"{event.value}" is not a !!{tag}', line, column)
    return meaning


def plain_scalar(text: str) -> bool | float | str | None:
    """Return what an unquoted scalar means in YAML 1.1 as Kubernetes reads it.

    A float without a fraction is an integer, because it becomes one on the way through JSON. Dates stay text.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    number = text if text[0] == "." else text.replace("_", "")
    if len(number) < 80:
        if _OCTAL.fullmatch(number):
            return int(number, 8)
        if _INTEGER.fullmatch(number) and -_MAX_UINT64 // 2 - 1 <= (value := int(number, 0)) <= _MAX_UINT64:
            return value
    if _FLOAT.fullmatch(number):
        real = float(number)
        return int(real) if real.is_integer() and abs(real) < _MAX_PLAIN else real
    return text


# JSON

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LITERALS: Final = {"true": True, "false": False, "null": None}


class _Json:
    """A strict reader of one JSON document that remembers places, which the standard library's does not."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.at = 0
        self.size = 0

    def document(self) -> Node:
        node = self.value(0)
        if self.next():
            raise self.error("nothing may follow the document")
        return node

    def place(self) -> tuple[int, int]:
        line = bisect_right(self.lines, self.at)
        return line, self.at - self.lines[line - 1] + 1

    def error(self, message: str) -> DocumentError:
        return DocumentError(message, *self.place())

    def next(self) -> str:
        """Skip white space and return the character there, "" at the end."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        first = self.next()
        line, column = self.place()
        self.size += 1
        if depth > MAX_DEPTH or self.size > MAX_SIZE:
            raise self.error(_TOO_DEEP if depth > MAX_DEPTH else _TOO_LARGE)
        if first in ("{", "["):
            closing = "}" if first == "{" else "]"
            return Node(list(self.items(depth, closing)), line, column, first == "{").measured()
        if first == '"':
            return Node(self.string(), line, column)
        for literal, meaning in _LITERALS.items():
            if self.text.startswith(literal, self.at):
                self.at += len(literal)
                return Node(meaning, line, column)
        number = _NUMBER.match(self.text, self.at)
        if number is None:
            raise self.error("expected a JSON value" if first else "the document ends too early")
        self.at = number.end()
        whole = not number[2] and len(number[1]) < 30
        return Node(int(number[1]) if whole else float(number[0]), line, column)

    def items(self, depth: int, closing: str) -> Iterator[Any]:
        """Yield the nodes of a list or the pairs of a mapping, past its closing bracket."""
        self.at += 1
        if self.next() == closing:
            self.at += 1
            return
        while True:
            yield self.pair(depth) if closing == "}" else self.value(depth + 1)
            after = self.next()
            if after not in (closing, ",") or not after:
                raise self.error(f'expected "," or "{closing}"')
            self.at += 1
            if after == closing:
                return

    def pair(self, depth: int) -> tuple[Node, Node]:
        if self.next() != '"':
            raise self.error('expected a key in double quotes (what begins with "{" is read as JSON)')
        place = self.place()
        key = Node(self.string(), *place)
        if self.next() != ":":
            raise self.error('expected ":"')
        self.at += 1
        return key, self.value(depth + 1)

    def string(self) -> str:
        try:
            text, self.at = scanstring(self.text, self.at + 1, True)
        except JSONDecodeError as error:
            self.at = error.pos
            raise self.error(error.msg.removesuffix(" at").lower()) from None
        return _SURROGATE.sub("\ufffd", text)
