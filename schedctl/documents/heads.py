"""Opening a document that has to be of one kind and version, and placing what is wrong with it later."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from schedctl.documents.decoding import Decoder, describe
from schedctl.documents.json_trees import read_json
from schedctl.documents.trees import DocumentError, Node
from schedctl.documents.yaml_trees import read_yaml
from schedctl.errors import ConfigError, Problem

HEAD: Final = ("apiVersion", "kind")
"""The fields that say what a document is."""

HeadHint = Callable[[Any, Any], str]
"""From kind and version of a document that we do not read to the next step, "" for none."""


def open_document(
    text: bytes | str, source: str, kind: str, api_version: str, hint: HeadHint = lambda *_: ""
) -> tuple[Node, Decoder]:
    """Return the tree of a document, and a decoder that has reported it where it is not of this kind and version.

    Args:
        text: YAML or JSON, UTF-8.
        source: the file as the user knows it, for problems.
        kind: the only kind that is read.
        api_version: its only version.
        hint: what to do about a document of another kind or version.

    Raises:
        ConfigError: it is neither YAML nor JSON.
    """
    node = read_tree(text, source)
    decoder = Decoder()
    _check_head(node, decoder, kind, api_version, hint)
    return node, decoder


def read_tree(text: bytes | str, source: str) -> Node:
    """Return the tree of a document: JSON where text begins with a brace, as kube-scheduler has it, and else YAML.

    Raises:
        ConfigError: it is neither YAML nor JSON.
    """
    try:
        text = text if isinstance(text, str) else text.decode()
        return read_json(text) if text.lstrip().startswith("{") else read_yaml(text)
    except DocumentError as error:
        raise ConfigError([Problem(str(error), source, error.line, error.column, hint=error.hint)]) from None
    except UnicodeError as error:
        raise ConfigError([Problem(f"is not UTF-8 text: {error}", source)]) from None


def head_of(node: Node) -> tuple[Any, Any]:
    """Return kind and apiVersion of a document as they are written, None where there is none."""
    head = {key.value: value.value for key, value in node.value if key.value in HEAD} if node.is_mapping else {}
    return head.get("kind"), head.get("apiVersion")


def _check_head(node: Node, decoder: Decoder, expected: str, api_version: str, hint: HeadHint) -> None:
    """Report a document that is not of the kind and version we read, which makes everything else moot."""
    head = {key.value: value for key, value in node.value if key.value in HEAD} if node.is_mapping else {}
    if not node.is_mapping and node.value is not None:
        decoder.report(node, "", "expected a mapping with apiVersion and kind")
        return
    # the document itself stands for a field that is not there, so that the problem is placed at its beginning
    kind, version = (head.get(name, node) for name in ("kind", "apiVersion"))
    if kind is node or kind.value in (None, ""):
        decoder.report(kind, "kind", "Object 'Kind' is missing", f'add "kind: {expected}"')
    elif kind.value != expected:
        message = f'expected "{expected}", got {describe(kind)}'
        decoder.report(kind, "kind", message, hint(kind.value, version.value))
    elif version is node or version.value in (None, ""):
        decoder.report(version, "apiVersion", "Object 'apiVersion' is missing", f'add "apiVersion: {api_version}"')
    elif version.value != api_version:
        found = describe(version).removeprefix("text ")
        message = f"unsupported version {found}: only {api_version} is supported"
        decoder.report(version, "apiVersion", message, hint(kind.value, version.value))


def enclosing_paths(path: str) -> Iterator[str]:
    """Yield a path and those of everything around it, from the inside out."""
    while path:
        yield path
        # without its last step, a name behind a dot or an index in brackets
        path = re.sub(r"(^|\.)[^.\[\]]*$|\[[^\[\]]*\]$", "", path)


def place(problem: Problem, places: dict[str, tuple[int, int]]) -> Problem:
    """Return a problem with the place of its field, or of the nearest field around it that is in the file."""
    line, column = next((places[path] for path in enclosing_paths(problem.path) if path in places), (0, 0))
    return replace(problem, line=line, column=column)
