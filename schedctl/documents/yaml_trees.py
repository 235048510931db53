"""YAML to tree, with the meaning kube-scheduler gives it.

That is YAML 1.1 on its way to JSON: ``yes`` is true, ``010`` is eight, ``8.0`` is the integer 8, a date is text. Only
the first document of a file counts. Trees are built from the parser's events without recursion, and aliases share
their node.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, Final

import yaml

from schedctl.documents.trees import MAX_DEPTH, MAX_SIZE, TOO_DEEP, TOO_LARGE, DocumentError, Node


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    node: Node
    anchor: str | None
    key: Node | None = None
    merges: bool = False


def read_yaml(text: str) -> Node:
    """Return the first document of a text; an empty one is null.

    Raises:
        DocumentError: not YAML, or built to blow up.
    """
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
                    raise DocumentError(TOO_DEEP, line, column)
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
                raise DocumentError(TOO_LARGE, line, column)
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
_MAX_PLAIN: Final = 1e21
"""From here on Go writes a float with an exponent, and reads no integer from it."""


def _scalar(event: yaml.ScalarEvent, line: int, column: int) -> bool | float | str | None:
    """Return what a scalar means: quoted or tagged text is text, a plain one is looked at.

    A float without a fraction is an integer, because it becomes one on its way through JSON.
    """
    tag = (event.tag or "").removeprefix("tag:yaml.org,2002:")
    if tag == "binary":
        try:
            return base64.b64decode(event.value, validate=True).decode()
        except ValueError:
            raise DocumentError("!!binary value contains invalid base64 data", line, column) from None
    if not event.implicit[0] and tag not in _TAGGED:
        return str(event.value)
    meaning = _plain(event.value)
    if tag in _TAGGED and (not isinstance(meaning, _TAGGED[tag]) or (tag != "bool" and isinstance(meaning, bool))):
        raise DocumentError(f'"{event.value}" is not a !!{tag}', line, column)
    if isinstance(meaning, float) and meaning.is_integer() and abs(meaning) < _MAX_PLAIN:
        return int(meaning)
    return meaning


def _plain(text: str) -> bool | float | str | None:
    """Return what an unquoted scalar means in YAML 1.1 as Kubernetes reads it; dates stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    number = text if text[0] == "." else text.replace("_", "")
    if len(number) < 80:
        if _OCTAL.fullmatch(number):
            return int(number, 8)
        if _INTEGER.fullmatch(number) and -(1 << 63) <= (value := int(number, 0)) < 1 << 64:
            return value
    return float(number) if _FLOAT.fullmatch(number) else text
