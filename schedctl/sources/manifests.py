"""From texts to typed objects.

Per text: read each document as JSON or YAML, flatten lists, decode what scheduling reads into structs and count the
rest. Right input takes the short way (bytes to struct); only an object that does not decode, or that was written by
hand, is looked at field by field. Every problem is collected before anything is raised. Line and column of fields are
found last, once per document, and for messages only.

*Written by hand* is an object without ``metadata.uid``: it never met an API server, so the API server's validation is
made up for (`schedctl.sources.validation`) and misspelt fields are looked for. The latter needs every field, read or
not, so it is left out in texts longer than `SPELLED_BYTES`: those are states that a program wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import msgspec

from schedctl.api import kinds
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta, Struct
from schedctl.errors import Problem
from schedctl.sources import json_documents, shapes, validation
from schedctl.sources.documents import Document, Text, split
from schedctl.sources.findings import Finding, Path, Place, Wanted, described, dotted, printable, quoted
from schedctl.sources.spelling import nearest

SPELLED_BYTES = 4 << 20
"""Misspelt fields are looked for in texts up to this long."""

_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
Body = json_documents.JSONText | dict[str, Any]
"""An object as it was read: JSON text, or the plain value of YAML."""


class Object(Protocol):
    """What every kind has."""

    @property
    def metadata(self) -> ObjectMeta:
        """Name, namespace, labels."""


class Sourced(msgspec.Struct, frozen=True, gc=False):
    """An object and where it came from.

    Attributes:
        object: the decoded object, an instance of ``kind.struct``.
        kind: its kind.
        document: the document that holds it.
        index: its index in the document's list, -1 when it is the document.
        line: the line on which it begins.
        column: the column in which it begins.
    """

    object: Any
    kind: Kind
    document: Document
    index: int
    line: int
    column: int

    @property
    def source(self) -> str:
        """The file, as the user knows it."""
        return self.document.text.name

    @property
    def subject(self) -> str:
        """How messages name the object, e.g. ``Pod shop/web-0``."""
        return _subject(self.kind.name, self.object.metadata)

    def place_of(self, path: Path) -> Place:
        """Return line and column of a field, or of what is around it; of the object where the text was let go."""
        prefix = ("items", self.index) if self.index >= 0 else ()
        return self.document.place_of((*prefix, *path)) or Place(self.line, self.column)

    def problem(self, message: str, path: Path = (), hint: str = "") -> Problem:
        """Return a problem with the object, at a field or at the object as a whole."""
        line, column = self.place_of(path)
        return Problem(message, self.source, line, column, dotted(path), self.subject, hint)


class Reading:
    """What reading texts one after another yields.

    Attributes:
        objects: all objects of kinds that scheduling reads.
        ignored: how many objects there were of other kinds, by ``apiVersion kind``.
        problems: what keeps the input from being used.
        warnings: what does not, but should be known.
    """

    def __init__(self) -> None:
        self.objects: list[Sourced] = []
        self.ignored: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self._advance: Callable[[int], None] = lambda offset: None
        self._findings: list[tuple[int, Finding, str, Place]] = []
        self._retired: set[tuple[str, str, str]] = set()

    @property
    def documents(self) -> int:
        """How many objects were read or counted."""
        return len(self.objects) + self.ignored.total()

    def text(self, text: Text, advance: Callable[[int], None]) -> None:
        """Read all documents of a text; `advance` is called with the byte reached now and then."""
        self._advance, first = advance, True
        for part in split(text):
            if isinstance(part, Place):
                hint = "put the document on the line below"
                self._report(Problem('expected nothing after "---"', text.name, *part, hint=hint), warning=False)
            elif part.json:
                self._json(part, strict=first)
            else:
                self._yaml(part)
            first = False

    # --- One document --------------------------------------------------------------------------------------------

    def _json(self, part: Document, *, strict: bool) -> None:
        """Read the JSON documents in a part of the text; a part behind a separator may be YAML that looks like JSON."""
        text, data, line = part.text, part.text.data or b"", part.place.line
        counted = part.start
        try:
            for found in json_documents.cut(data, part.start, part.end):
                line += data.count(b"\n", counted, found.start)
                place = Place(line, found.start - data.rfind(b"\n", 0, found.start))
                counted = found.start
                self._json_document(Document(text, found.start, found.end, place, json=True), found)
        except json_documents.JSONProblem as problem:
            if not strict and counted == part.start:
                self._yaml(Document(text, part.start, part.end, part.place, json=False))
                return
            line_start = data.rfind(b"\n", 0, problem.offset) + 1
            place = Place(
                data.count(b"\n", 0, problem.offset) + 1,
                len(data[line_start : problem.offset].decode(errors="replace")) + 1,
            )
            template = data.startswith(b"{{", json_documents.skip_space(data, part.start, part.end))
            hint = "this looks like a template; render it first, e.g. with `helm template`" if template else ""
            self.problems.append(Problem(problem.message, text.name, *place, hint=hint))

    def _json_document(self, document: Document, found: json_documents.Document) -> None:
        data = document.text.data or b""
        view = memoryview(data)[document.start : document.end]
        if found.head is None:
            self._not_an_object(document, -1, msgspec.json.decode(view), document.place)
            return
        outer = (_plain(found.head.api_version), _plain(found.head.kind))
        if found.head.items is msgspec.UNSET:
            self._take(document, -1, document.place, view, *outer)
        for index, item in enumerate(json_documents.items(data, found, document.place.line)):
            self._progress(index, item.offset)
            inner = json_documents.head(item.text)
            if inner is None:
                self._not_an_object(document, index, msgspec.json.decode(item.text), item.place)
            else:
                self._item(document, index, item.place, item.text, (_plain(inner.api_version), _plain(inner.kind)), outer)
        self._flush(document)

    def _yaml(self, document: Document) -> None:
        try:
            from schedctl.sources import yaml_documents  # JSON alone does without PyYAML
        except ImportError:
            message, hint = "cannot be read: PyYAML is installed without its C parser", "install PyYAML from a wheel"
            self.problems.append(Problem(message, document.text.name, hint=hint))
            return
        data = (document.text.data or b"")[document.start : document.end]
        waiting: list[yaml_documents.Value] = []

        def report(finding: Finding, place: Place) -> None:
            name, path = document.text.name, dotted(finding.path)
            self._report(Problem(finding.message, name, *place, path, hint=finding.hint), warning=finding.warning)

        try:
            for one in yaml_documents.read(data, document.place, report):
                value = one.value
                if one.index < 0:
                    self._yaml_root(document, one.value, one.place, waiting)
                elif isinstance(value, dict) and "apiVersion" in value and "kind" in value:
                    self._progress(one.index, document.start + one.offset)
                    self._item(document, one.index, one.place, value, (value["apiVersion"], value["kind"]), ("", ""))
                else:
                    waiting.append(one)
        except yaml_documents.YAMLProblem as problem:
            self.problems.append(Problem(problem.message, document.text.name, *problem.place, hint=problem.hint))
        self._flush(document)

    def _yaml_root(self, document: Document, value: Any, place: Place, waiting: list[Any]) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            self._not_an_object(document, -1, value, place)
        elif isinstance(value.get("items", 0), list | None):
            outer = (value.get("apiVersion"), value.get("kind"))
            for index, item, item_place, _ in waiting:
                if isinstance(item, dict):
                    names = (item.get("apiVersion"), item.get("kind"))
                    self._item(document, index, item_place, item, names, outer)
                else:
                    self._not_an_object(document, index, item, item_place)
        else:
            self._take(document, -1, place, value, value.get("apiVersion"), value.get("kind"))

    # --- One object ----------------------------------------------------------------------------------------------

    def _item(self, document: Document, index: int, place: Place, body: Body, names: Any, outer: Any) -> None:
        """Take an item of a list; in a typed list (PodList) it need not say what it is."""
        api_version, name = names
        outer_version, outer_name = outer
        if not name and isinstance(outer_name, str) and outer_name != "List" and outer_name.endswith("List"):
            name = outer_name.removesuffix("List")
            api_version = api_version or outer_version
        if name == "List":
            self._find(index, Finding((), "a list inside a list is not read; kubectl refuses it too"), "", place)
        else:
            self._take(document, index, place, body, api_version, name)

    def _take(self, document: Document, index: int, place: Place, body: Body, api_version: Any, name: Any) -> None:
        if not (api_version and isinstance(api_version, str) and name and isinstance(name, str)):
            self._unnamed(index, place, api_version, name)
            return
        kind = kinds.find(api_version, name)
        if kind is None:
            self._unread(index, place, api_version, name)
            return
        obj = self._decode(document, index, place, body, kind, api_version)
        if obj is not None:
            self.objects.append(Sourced(obj, kind, document, index, *place))

    def _decode(
        self, document: Document, index: int, place: Place, body: Body, kind: Kind, api_version: str
    ) -> Object | None:
        """Return the object, None when it has problems; the one place where the short way and the long way part."""
        obj: Any = None
        convert = kind.converted.get(api_version)
        if convert is None:
            try:
                obj = msgspec.convert(body, kind.struct) if isinstance(body, dict) else _decoder(kind).decode(body)
            except _UNDECODABLE:
                pass
        findings: list[Finding] = []
        if obj is None or not obj.metadata.uid:
            spelled = len(document.text.data or b"") <= SPELLED_BYTES
            if obj is None or spelled:
                obj, findings = _examined(body, kind, convert, spelled)
            if obj is not None and not obj.metadata.uid and api_version not in kind.retired:
                findings += _unspoilt(validation.validate(kind, obj), findings)
        if obj is not None:
            findings += _unspoilt(_naming(kind, obj.metadata), findings)
        if findings:
            subject = _subject(kind.name, obj.metadata if obj is not None else ObjectMeta())
            for finding in findings:
                self._find(index, finding, subject, place)
            if any(not finding.warning for finding in findings):
                return None
        if api_version in kind.retired:
            self._warn_retired(document, place, kind, api_version)
        _place_in_namespace(kind, obj.metadata)
        return obj  # type: ignore[no-any-return]

    # --- What is said about it -----------------------------------------------------------------------------------

    def _unnamed(self, index: int, place: Place, api_version: Any, name: Any) -> None:
        for field, value in (("apiVersion", api_version), ("kind", name)):
            if value is None or value == "":
                example = {"apiVersion": "v1", "kind": "Pod"}[field]
                message, hint = f'the field "{field}" is required', f"e.g. {field}: {example}"
                self._find(index, Finding((field,), message, hint), "", place)
            elif not isinstance(value, str):
                self._find(index, Finding((field,), f"expected text, got {described(value)}"), "", place)

    def _unread(self, index: int, place: Place, api_version: str, name: str) -> None:
        """Count an object that is not for us; an object of ours under a wrong name is a problem."""
        meant = kinds.meant(api_version, name)
        if meant is None:
            known = {kind.name: kind for kind in kinds.KINDS if api_version in kind.versions}
            close = nearest(name, known)
            meant = known[close] if close and abs(len(close) - len(name)) <= 1 else None
        if meant is None:
            self.ignored[f"{printable(api_version)} {printable(name)}"] += 1
            return
        if meant.name != name:
            message = f"{printable(api_version)} has no kind {quoted(name)}"
            finding = Finding(("kind",), message, f'did you mean "{meant}"?')
        else:
            message = f"{meant} is not read as {quoted(api_version)}"
            finding = Finding(("apiVersion",), message, f"did you mean {quoted(meant.api_version)}?")
        self._find(index, finding, "", place)

    def _not_an_object(self, document: Document, index: int, value: Any, place: Place) -> None:
        hint = ""
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            hint = "put the objects under `items:` of a `kind: List`, or between `---` lines"
        if value is not None or index >= 0:
            message = f"expected an object with apiVersion and kind, got {described(value)}"
            self.problems.append(
                Problem(message, document.text.name, *place, dotted(("items", index) if index >= 0 else ()), hint=hint)
            )

    def _warn_retired(self, document: Document, place: Place, kind: Kind, api_version: str) -> None:
        key = (document.text.name, kind.name, api_version)
        if key not in self._retired:
            self._retired.add(key)
            message = f"Kubernetes 1.37 does not serve {kind.name} as {api_version}; it is read as {kind.api_version}"
            self.warnings.append(Problem(message, document.text.name, *place, "apiVersion"))

    def _find(self, index: int, finding: Finding, subject: str, place: Place) -> None:
        self._findings.append((index, finding, subject, place))

    def _flush(self, document: Document) -> None:
        """Give all findings of a document their places, in one reading."""
        if not self._findings:
            return
        wanted = Wanted()
        for index, finding, _, _ in self._findings:
            wanted.add(_within(index, finding.path))
        document.locate(wanted)
        for index, finding, subject, place in self._findings:
            line, column = wanted.place(_within(index, finding.path), at_key=finding.at_key) or place
            problem = Problem(
                finding.message, document.text.name, line, column, dotted(finding.path), subject, finding.hint
            )
            self._report(problem, warning=finding.warning)
        self._findings.clear()

    def _report(self, problem: Problem, *, warning: bool) -> None:
        (self.warnings if warning else self.problems).append(problem)

    def _progress(self, index: int, offset: int) -> None:
        if index % 256 == 0:
            self._advance(offset)


def _within(index: int, path: Path) -> Path:
    return ("items", index, *path) if index >= 0 else path


@cache
def _decoder(kind: Kind) -> msgspec.json.Decoder[Struct]:
    return msgspec.json.Decoder(kind.struct)


def _plain(raw: msgspec.Raw) -> Any:
    """Return the value of a short piece of JSON."""
    return msgspec.json.decode(raw) if len(raw) else None


def _examined(
    body: Body, kind: Kind, convert: kinds.Conversion | None, spelled: bool
) -> tuple[Object | None, list[Finding]]:
    """Return the object the long way, and everything wrong with its shape.

    Wrong fields have their zero value in it, so that the rest can be checked all the same; None when there is no rest.
    """
    try:
        value = body if isinstance(body, dict) else msgspec.json.decode(body)
        shaped, findings = shapes.examine(convert(value) if convert else value, kind.struct, spelling=spelled)
        return msgspec.convert(shaped, kind.struct), findings
    except UnicodeDecodeError:
        return None, [Finding((), "the text is not UTF-8")]
    except RecursionError:
        return None, [Finding((), "nested too deeply")]


def _unspoilt(later: list[Finding], earlier: list[Finding]) -> list[Finding]:
    """Return the later findings that are not mere consequences of earlier ones."""
    spoilt = {finding.path for finding in earlier if not finding.warning}
    return [
        finding
        for finding in later
        if not any(path[: len(finding.path)] == finding.path or finding.path[: len(path)] == path for path in spoilt)
    ]


def _subject(kind: str, metadata: ObjectMeta) -> str:
    name = metadata.name or metadata.generate_name
    full = f"{metadata.namespace}/{name}" if metadata.namespace and name else name
    return f"{kind} {printable(full)}" if full else kind


def _naming(kind: Kind, metadata: ObjectMeta) -> list[Finding]:
    """Return what is wrong with a name whoever gave it: it is missing, or would not fit into a line or path."""
    if not (metadata.name or metadata.generate_name):
        return [Finding(("metadata", "name"), 'the field "name" is required')]
    findings = []
    for field, text in (("name", metadata.name), ("namespace", metadata.namespace)):
        if text and metadata.uid and ("/" in text or not text.isprintable()):
            findings.append(Finding(("metadata", field), f"{quoted(text)} is not a name"))
    return findings


def _place_in_namespace(kind: Kind, metadata: ObjectMeta) -> None:
    """Fill in or drop the namespace; the metadata is the object's own, for it has a name."""
    if kind.namespaced and not metadata.namespace:
        msgspec.structs.force_setattr(metadata, "namespace", DEFAULT_NAMESPACE)
    elif not kind.namespaced and metadata.namespace:
        msgspec.structs.force_setattr(metadata, "namespace", "")
