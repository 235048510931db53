"""Configurations inside other documents: as text in a ConfigMap, or in the files of a kubeadm control plane.

A second scheduler's chart renders its configuration into a ConfigMap, and Cluster API writes it as a file of the
machine. Where the text stands line by line in the file, its problems are placed there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedctl.config.types import KIND
from schedctl.documents.heads import head_of, read_tree
from schedctl.documents.texts import Document, Text, split
from schedctl.documents.trees import Node
from schedctl.errors import ConfigError, Problem

_MENTIONED: Final = re.compile(rf"\bkind[\"']?\s*:\s*[\"']?(?:{KIND}|Policy)\b")
_OTHERS: Final = re.compile(rb"(?m)^---|\bmetadata[\"']?\s*:|\bClusterConfiguration\b")
_KUBEADM: Final = "ClusterConfiguration"
_FILE_FLAG: Final = "config"


class Embedded(msgspec.Struct, frozen=True):
    """A configuration inside another document.

    Attributes:
        text: the configuration.
        in_place: the same behind as many empty lines as bring each of its lines to where it stands in the file; ""
            where it is written in another way there.
        origin: where it is, in words: ``ConfigMap kube-system/scheduler-config, config.yaml``.
    """

    text: str
    in_place: str
    origin: str


def may_hold(data: bytes) -> bool:
    """Return whether a file is worth looking through: most are a configuration and nothing else."""
    return _OTHERS.search(data) is not None


def find(data: bytes, source: str) -> Embedded | None:
    """Return the configuration inside a file that is none itself; None where there is none to be found.

    Args:
        data: the file.
        source: the file as the user named it, for problems.

    Raises:
        ConfigError: there are several, or a kubeadm document says that it is in another file.
    """
    text = data.decode(errors="replace")
    documents = [*_documents(data, source)]
    if not documents or is_configuration(documents[0]):
        return None
    found: dict[str, Embedded] = {}
    elsewhere: list[Problem] = []
    for document in documents:
        if is_configuration(document):
            # Not the first document of the file, which is the only one that kube-scheduler reads.
            start = text.splitlines(keepends=True)[document.line - 1 :]
            body = re.split(r"^---", "".join(start), maxsplit=1, flags=re.MULTILINE)[0]
            origin = f"the document at line {document.line}"
            found.setdefault(body, Embedded(body, "\n" * (document.line - 1) + body, origin))
            continue
        for value, origin in _texts(document, ""):
            if _MENTIONED.search(value.value) and _is_configuration_text(value.value):
                found.setdefault(value.value, Embedded(value.value, _in_place(value, text), origin))
        elsewhere += (_elsewhere(path, place, source) for path, place in _named_files(document))
    if len(found) > 1:
        listed = ", ".join(one.origin for one in found.values())
        message = f"holds {len(found)} configurations: {listed}"
        raise ConfigError([Problem(message, source, hint="copy the configuration that you mean to a separate file")])
    if not found and elsewhere:
        raise ConfigError(elsewhere)
    return next(iter(found.values()), None)


def is_configuration(node: Node) -> bool:
    """Return whether a document says that it is a configuration of any time."""
    from schedctl.config.legacy.releases import legacy_version  # only those who look into other documents need it

    kind, version = head_of(node)
    return kind == KIND or (
        isinstance(kind, str) and isinstance(version, str) and legacy_version(kind, version) is not None
    )


def _documents(data: bytes, source: str) -> Iterator[Node]:
    """Yield the trees of the documents of a file that can be read."""
    for part in split(Text(source, data)):
        if not isinstance(part, Document):
            continue
        body = "\n" * (part.place.line - 1) + data[part.start : part.end].decode(errors="replace")
        try:
            yield read_tree(body, source)
        except ConfigError:
            if part.start == 0:
                return  # whoever reads the file says what is wrong with it


def _texts(node: Node, origin: str) -> Iterator[tuple[Node, str]]:
    """Yield every text in a document, and where it is in words."""
    if node.is_mapping:
        fields = {key.value: value for key, value in node.value}
        origin = _name(fields) or origin
        # A file of Cluster API says its path beside its content.
        path = fields["path"].value if "path" in fields else None
        for key, value in node.value:
            where = path if key.value == "content" and isinstance(path, str) else key.value
            if isinstance(value.value, str):
                yield value, f"{origin}, {where}" if origin else str(where)
            else:
                yield from _texts(value, origin)
    elif node.is_list:
        for item in node.value:
            yield from _texts(item, origin)


def _name(fields: dict[str, Node]) -> str:
    """Return kind and name of an object, "" for another mapping."""
    kind, metadata = fields.get("kind"), fields.get("metadata")
    if kind is None or metadata is None or not metadata.is_mapping:
        return ""
    names = {key.value: value.value for key, value in metadata.value}
    return f"{kind.value} {'/'.join(str(names[part]) for part in ('namespace', 'name') if names.get(part))}"


def _is_configuration_text(text: str) -> bool:
    try:
        return is_configuration(read_tree(text, ""))
    except ConfigError:
        return True  # it says so, and what is wrong with it is said by whoever reads it


def _in_place(value: Node, text: str) -> str:
    """Return a text where it stands in the file, if it is written there line by line, and else ""."""
    lines = text.splitlines()[value.line :]
    expected = value.value.splitlines()
    block = lines[: len(expected)]
    indents = {len(raw) - len(line) for raw, line in zip(block, expected, strict=False) if line}
    if len(block) < len(expected) or len(indents) != 1:
        return ""
    indent = indents.pop()
    if any(raw[indent:] != line for raw, line in zip(block, expected, strict=True)):
        return ""
    return "\n" * value.line + "\n".join(block) + "\n"


def _named_files(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the files that kubeadm gives to kube-scheduler as its configuration, "" where it gives none."""
    if node.is_list:
        for item in node.value:
            yield from _named_files(item)
        return
    if not node.is_mapping:
        return
    fields = {key.value: value for key, value in node.value}
    kind = fields.get("kind")
    if (kind is not None and kind.value == _KUBEADM) or "clusterConfiguration" in fields:
        inner = fields.get("clusterConfiguration", node)
        yield _config_flag(inner), inner
    for key, value in node.value:
        if key.value == _KUBEADM and isinstance(value.value, str):  # in the ConfigMap kubeadm-config
            try:
                yield from ((path, value) for path, _ in _named_files(read_tree(value.value, "")))
            except ConfigError:
                continue
        elif key.value != "clusterConfiguration":
            yield from _named_files(value)


def _config_flag(configuration: Node) -> str:
    """Return the value of --config among the extra arguments of the scheduler, "" where it has none."""
    arguments: Node | None = configuration
    for name in ("scheduler", "extraArgs"):
        fields = {key.value: value for key, value in arguments.value} if arguments and arguments.is_mapping else {}
        arguments = fields.get(name)
    if arguments is None or not isinstance(arguments.value, list):
        return ""
    if arguments.is_mapping:
        return next((str(value.value) for key, value in arguments.value if key.value == _FILE_FLAG), "")
    for item in arguments.value:  # since v1beta4, a list of names and values
        fields = {key.value: value.value for key, value in item.value} if item.is_mapping else {}
        if fields.get("name") == _FILE_FLAG:
            return str(fields.get("value"))
    return ""


def _elsewhere(path: str, place: Node, source: str) -> Problem:
    """Return that a kubeadm document says where the configuration is, and has none in it."""
    if path:
        message = (
            f"kubeadm gives kube-scheduler the configuration {path} of the control plane node, which is not in here"
        )
        return Problem(message, source, place.line, place.column, hint="name a copy of that file")
    message = "kubeadm gives kube-scheduler no configuration, so that it follows its defaults"
    return Problem(message, source, place.line, place.column, hint="leave this file out")
