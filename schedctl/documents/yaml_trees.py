"""YAML to a tree of nodes with their places, with the meaning kube-scheduler gives it.

Scalars and keys mean what `schedctl.documents.scalars` says. Trees are built from the parser's events without
recursion, and aliases share their node.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NoReturn

import msgspec
import yaml

from schedctl.documents import scalars, trees, yaml_mistakes
from schedctl.documents.trees import DocumentError, Node


def read_yaml(text: str) -> Node:
    """Return the first document of a text; an empty one is null.

    Raises:
        DocumentError: not YAML, or built to blow up.
    """
    builder = _TreeBuilder()
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            builder.add(event)
            if builder.root is not None:
                return builder.root  # as kube-scheduler, which reads the first document of a file and no other
    except yaml.MarkedYAMLError as error:
        place = _position(error.problem_mark or error.context_mark)
        written = "".join(text.split("\n", place[0])[place[0] - 1 : place[0]])
        raise DocumentError(error.problem or str(error), *place, yaml_mistakes.hint(error, written)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DocumentError(error.reason, line, error.position - text.rfind("\n", 0, error.position)) from None
    return Node(None, 1, 1)


class _Open(msgspec.Struct):
    """A list or mapping whose end has not come yet."""

    node: Node
    anchor: str | None
    key: Node | None = None
    merges: bool = False

    @property
    def awaits_key(self) -> bool:
        return self.node.is_mapping and self.key is None


class _TreeBuilder:
    """One document under construction; `root` is the tree once it is complete."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.anchors: dict[str, Node] = {}
        self.opened: list[_Open] = []
        self.size = 0

    def add(self, event: yaml.Event) -> None:
        """Take the next event of the parser."""
        if isinstance(event, yaml.CollectionStartEvent):
            if len(self.opened) >= trees.MAX_DEPTH:
                _refuse(event, trees.TOO_DEEP)
            line, column = _position(event.start_mark)
            node = Node([], line, column, isinstance(event, yaml.MappingStartEvent))
            self.opened.append(_Open(node, event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self.opened.pop()
            self.finish(event, done.node.measure(), done.anchor, 1)  # what is in it has been counted
        elif isinstance(event, yaml.ScalarEvent):
            is_key = bool(self.opened) and self.opened[-1].awaits_key
            self.finish(event, Node(_scalar(event, is_key), *_position(event.start_mark)), event.anchor, 1)
        elif isinstance(event, yaml.AliasEvent):
            node = self.aliased_node(event)
            self.finish(event, node, None, node.size)  # one of its size: a few aliases of aliases would be billions
        # of the events that are left only a %YAML directive can be wrong
        elif isinstance(event, yaml.DocumentStartEvent) and event.version not in (None, (1, 1)):
            _refuse(event, "only YAML 1.1 is understood")

    def aliased_node(self, event: yaml.AliasEvent) -> Node:
        """Return the node that an alias stands for."""
        if any(event.anchor == one.anchor for one in self.opened):
            _refuse(event, f"anchor '{event.anchor}' value contains itself")
        if event.anchor not in self.anchors:
            _refuse(event, f"unknown anchor '{event.anchor}' referenced")
        return self.anchors[event.anchor]

    def finish(self, event: yaml.Event, node: Node, anchor: str | None, size: int) -> None:
        """Put a finished node where it belongs."""
        self.size += size
        if self.size > trees.MAX_SIZE:
            _refuse(event, trees.TOO_LARGE)
        if anchor:
            self.anchors[anchor] = node  # the latest of a name counts
        if not self.opened:
            self.root = node
            return
        parent = self.opened[-1]
        if not parent.node.is_mapping:
            parent.node.value.append(node)
        elif parent.key is None:
            parent.key = _key(event, node)
            parent.merges = isinstance(event, yaml.ScalarEvent) and _is_merge(event)
        else:
            key, parent.key = parent.key, None
            parent.node.value += _pairs_to_merge(node) if parent.merges else [(key, node)]


def _position(mark: Any) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)


def _refuse(event: yaml.Event, message: str) -> NoReturn:
    raise DocumentError(message, *_position(event.start_mark))


def _scalar(event: yaml.ScalarEvent, is_key: bool) -> scalars.Scalar:
    """Return what a scalar means: quoted text is text, a plain one is looked at."""
    try:
        value = _value_of(event)
    except ValueError as error:
        _refuse(event, str(error))
    if isinstance(value, float) and not isfinite(value) and not is_key:
        _refuse(event, f"{event.value} has no counterpart in JSON")
    return value


def _value_of(event: yaml.ScalarEvent) -> scalars.Scalar:
    if event.tag is None:
        return scalars.plain(event.value) if event.implicit[0] else str(event.value)
    return str(event.value) if event.tag == "!" else scalars.tagged_scalar(event.tag, event.value)


def _key(event: yaml.Event, node: Node) -> Node:
    """Return the node of the text that a key becomes in JSON."""
    value = node.value
    if isinstance(value, list) or value is None:
        raise DocumentError("a key must be text, a number, true or false", node.line, node.column)
    try:
        text = scalars.key(value, event.value if isinstance(event, yaml.ScalarEvent) else str(value))
    except ValueError as error:
        _refuse(event, str(error))
    return Node(text, node.line, node.column)


def _is_merge(event: yaml.ScalarEvent) -> bool:
    return bool(event.value == "<<" and (event.tag == "tag:yaml.org,2002:merge" or event.implicit[0]))


def _pairs_to_merge(node: Node) -> list[tuple[Node, Node]]:
    """Return the pairs of a mapping, or of several, that a merge key takes over."""
    pairs: list[tuple[Node, Node]] = []
    for mapping in node.value if node.is_list else (node,):
        if not mapping.is_mapping:
            raise DocumentError("<< needs a mapping or a list of mappings", node.line, node.column)
        pairs += mapping.value
    return pairs
