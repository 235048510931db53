"""From texts to typed objects.

Per text: read each document as JSON or YAML, flatten lists, hand what scheduling reads to `schedctl.sources.objects`
and count the rest. Problems are collected and never end the reading of what comes after them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from schedctl.api import kinds
from schedctl.api.custom_kinds import CustomKind, CustomWorkload
from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node
from schedctl.api.pod_texts import PodTexts
from schedctl.api.pods import Pod
from schedctl.api.sharing import Sharing, lighten
from schedctl.documents import json_values
from schedctl.documents.findings import (
    IGNORED,
    TEMPLATE,
    Finding,
    Path,
    PathTree,
    Place,
    describe_value,
    path_text,
    place_in,
    printable,
    quote,
)
from schedctl.documents.json_values import plain
from schedctl.documents.spelling import CLOSE, nearest
from schedctl.documents.texts import Document, Text, blank_logs, split
from schedctl.errors import Problem
from schedctl.snapshots.headers import is_snapshot
from schedctl.sources import collected, objects, operator_kinds, unmodelled
from schedctl.sources.reported_pods import reported_by_operator, reported_pods
from schedctl.sources.terms import READING, Terms

if TYPE_CHECKING:
    from schedctl.reports.snapshots import Header

SPELLED_BYTES = 4 << 20
"""Misspelt fields are looked for in texts up to this long, because it takes a look at every field; longer ones are
states that a program wrote."""

NOWHERE = Place(0, 0)
"""The place of what no person can edit."""
_WITHOUT_KIND = "without a kind"
_POD = kinds.kind_named("Pod")
_PODS = ("v1", "PodList")
_A_POD = re.compile(rb'\{\s*"apiVersion"\s*:\s*"v1"\s*,\s*"kind"\s*:\s*"Pod"')
"""How programs begin a pod; one that begins in another way is decoded like any other object."""


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
        return objects.subject(self.kind, self.object)

    @property
    def place(self) -> str:
        """Where it begins, e.g. ``deploy/web.yaml:12``."""
        return f"{self.source}:{self.line}"

    @property
    def origin(self) -> str:
        """The Helm template it was rendered from, e.g. ``web/templates/deployment.yaml``; "" when unknown."""
        return printable(self.document.origin)

    def place_of(self, path: Path) -> Place:
        """Return line and column of a field, or of what is around it; of the object where the text was let go."""
        return self.document.place_of(_within(self.index, path)) or Place(self.line, self.column)

    def problem(self, message: str, path: Path = (), hint: str = "") -> Problem:
        """Return a problem with the object, at a field or at the object as a whole."""
        place = self.place_of(path) if self.document.text.editable else NOWHERE
        return Problem(message, self.source, *place, path_text(path), self.subject, hint)


class _Origin(NamedTuple):
    """Where an object is: its document, which item of it (-1 when it is the document itself), its place."""

    document: Document
    item: int
    place: Place


class Reading:
    """What reading texts one after another yields.

    Attributes:
        terms: on what terms the objects are read.
        objects: all objects of kinds that scheduling reads.
        ignored: how many objects there were of other kinds, by ``apiVersion kind``.
        unmodelled: the objects of kinds that are not read of which pods may be made; not among `ignored`, and looked
            for on the terms of creating only.
        problems: what keeps the input from being used.
        warnings: what does not, but should be known.
        snapshots: what the snapshots among the texts say of themselves.
        documents: how many documents were objects or lists.
        reported: the workloads that report pods of theirs.
        foreign: how many of the problems are about what does not look like an object at all.
        left_out: the names of files that are left out, by what is said of one, of several, and of the next step.
    """

    def __init__(self, terms: Terms = READING) -> None:
        self.terms = terms
        self.documents = 0
        self.objects: list[Sourced] = []
        self.ignored: Counter[str] = Counter()
        self.unmodelled: list[unmodelled.Unmodelled] = []
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.snapshots: list[Header] = []
        self.reported: list[Sourced] = []
        self.foreign = 0
        self.left_out: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
        self._advance: Callable[[int], None] = lambda offset: None
        self._spelling = True
        self._sharing = Sharing()
        self._pod_texts = PodTexts(self._sharing)
        self._findings: list[tuple[_Origin, Finding, str]] = []
        self._retired: set[tuple[Text, Kind, str]] = set()
        self._custom = {(kind.group, kind.name): kind for kind in terms.custom_kinds}
        self._unread: list[tuple[_Origin, str, str, Any]] = []
        self._generated: set[str] = set()
        self._companions = {(kind.group, name) for kind in terms.custom_kinds for name in kind.company}
        self._company: dict[str, list[dict[str, Any]]] = {}
        self._in_company: list[tuple[int, _Origin, dict[str, Any], CustomKind, str]] = []
        self._defined: set[tuple[str, str]] = set()
        self._asked_for = {(version, kind.name): kind for kind in terms.kinds for version in kind.versions}

    @property
    def count(self) -> int:
        """How many objects were read or ignored."""
        left = len(self._unread) + len(self._in_company)
        return len(self.objects) + self.ignored.total() + len(self.unmodelled) + left

    def text(self, text: Text, advance: Callable[[int], None]) -> None:
        """Read all documents of a text; `advance` is called with the byte reached now and then."""
        endless = blank_logs(text)
        if endless is not None:
            message = "the logs of this container have no end marker; nothing after them is read"
            hint = "the dump may have been cut short; write it again"
            self.warnings.append(Problem(message, text.name, *endless, hint=hint))
        data = text.data or b""
        self._advance, self._spelling = advance, len(data) <= SPELLED_BYTES
        try:
            if not data.isascii():
                data.decode()
        except UnicodeDecodeError as error:
            place = place_in(data, error.start)
            self.problems.append(Problem("this is not UTF-8 text", text.name, *place, hint="save the file as UTF-8"))
            return
        for number, part in enumerate(split(text)):
            if isinstance(part, Place):
                hint = "write the document on the next line"
                self.problems.append(Problem('expected nothing after "---"', text.name, *part, hint=hint))
            elif part.json:
                self._json(part, first=number == 0)
            elif not self._listed_without_head(part):
                self._yaml(part)

    # --- One document --------------------------------------------------------------------------------------------

    def _json(self, part: Document, *, first: bool) -> None:
        """Read the JSON documents in a part of a text; a part behind a separator may be YAML that looks like JSON."""
        text, data, line = part.text, part.text.data or b"", part.place.line
        counted = part.start
        try:
            for found in json_values.cut(data, part.start, part.end):
                line += data.count(b"\n", counted, found.start)
                place = Place(line, found.start - data.rfind(b"\n", 0, found.start))
                counted = found.start
                self._json_document(Document(text, found.start, found.end, place, json=True), found)
        except json_values.JSONProblem as problem:
            if not first and counted == part.start:
                self._yaml(Document(text, part.start, part.end, part.place, json=False))
                return
            template = data.startswith(b"{{", json_values.skip_space(data, part.start, part.end))
            place = place_in(data, problem.offset)
            self.problems.append(Problem(problem.message, text.name, *place, hint=TEMPLATE if template else ""))

    def _json_document(self, document: Document, found: json_values.Document) -> None:
        data = document.text.data or b""
        view = memoryview(data)[document.start : document.end]
        origin = _Origin(document, -1, document.place)
        if found.head is None:
            self._report_non_object(origin, plain(view))
            return
        self.documents += 1
        if self.terms.creating:  # kubectl refuses them in what is written by hand
            for key in json_values.repeated_keys(view):
                message = f"the key {quote(key)} is written twice; the last one counts"
                self._find(origin, Finding((), message, warning=True, strict=True))
        outer = (plain(found.head.api_version), plain(found.head.kind))
        of_pods = outer == _PODS
        if is_snapshot(*outer):
            self._snapshot(origin, view)
        elif found.head.items is msgspec.UNSET:
            self._object(origin, view, *outer)
        for index, item in enumerate(json_values.items(data, found, document.place.line)):
            self._progress(index, item.offset)
            # Only pods that came out of a cluster take the short way; what was written by hand is validated.
            if (of_pods or _A_POD.match(data, item.offset)) and _has_uid(data, item):
                pod = objects.decode_pod(item.text, self._pod_texts, self.terms, unnamed=of_pods)
                if pod is not None:
                    self.objects.append(Sourced(pod, _POD, document, index, *item.place))
                    continue
            origin = _Origin(document, index, item.place)
            names = json_values.names(item.text)
            if names is None:
                self._report_non_object(origin, plain(item.text))
            else:
                self._item(origin, item.text, *names, outer)
        self._flush(document)

    def _listed_without_head(self, document: Document) -> bool:
        """Read a bare list of objects in JSON, or of what was stored in etcd; return whether it is one."""
        data = document.text.data or b""
        start = json_values.skip_space(data, document.start, document.end)
        if self.terms.creating or not data.startswith(b"[", start):
            return False
        value = plain(memoryview(data)[start : document.end])
        if stored := collected.pairs(value):
            self._read_stored(document, stored)
            return True
        if not (isinstance(value, list) and value and all(map(collected.says_kind, value))):
            return False
        line = document.place.line + data.count(b"\n", document.start, start)
        for item in json_values.elements(data, start, document.end, line):
            end = item.offset + len(item.text)
            part = Document(document.text, item.offset, end, item.place, json=True)
            self._json_document(part, json_values.Document(item.offset, end, json_values.head(item.text)))
        return True

    def _read_stored(self, document: Document, stored: list[tuple[str, bytes]]) -> None:
        """Read the objects that were stored in etcd under some keys."""
        self.documents += 1
        name, undecoded = document.text.name, 0
        for key, value in stored:
            if value.startswith(b"{"):
                text = Text(f"{name}: {printable(key)}", value, editable=False)
                self._json(Document(text, 0, len(value), Place(1, 1), json=True), first=True)
            elif collected.is_protobuf(value):
                undecoded += 1
            else:
                self.ignored[_WITHOUT_KIND] += 1
        if undecoded:
            message = (
                f"{undecoded} of {len(stored)} values {'are' if undecoded > 1 else 'is'} protobuf, which is not read"
            )
            self.problems.append(Problem(message, name, *document.place, hint=collected.DECODE))

    def _snapshot(self, origin: _Origin, view: memoryview) -> None:
        """Take all objects of a snapshot; each has a line of its own as long as the text is as it was written."""
        if self.terms.creating:
            self._find(origin, Finding((), "a snapshot is a cluster, not a manifest", "read it with -f"))
            return
        from schedctl.sources import snapshots  # structs for every kind, which manifests do without

        content, findings = snapshots.read(view)
        if content is None:
            self._findings += ((origin, finding, "Snapshot") for finding in findings)
            return
        name, line = origin.document.text.name, origin.place.line
        if not content.intact:
            self.warnings.append(Problem(snapshots.CHANGED, name, *origin.place, "metadata.digest"))
        self._note_combination(origin, content.header)
        self.snapshots.append(content.header)
        self.ignored.update(content.unknown)
        document = Document(Text(name, None, editable=False), 0, 0, origin.place, json=True)
        for kind, listed in content.objects:
            # what autoscalers keep is there in any case, and only some questions are about it
            is_read = kinds.find(kind.api_version, kind.name) is not None or kind in self.terms.kinds
            line += 1 + content.opening[kind.name] if content.intact else 0
            step = 1 if content.intact else 0  # a file that was changed has its objects on any line
            for obj in listed:
                if is_read:
                    self.objects.append(Sourced(obj, kind, document, -1, line, 1))
                line += step

    def _note_combination(self, origin: _Origin, header: Header) -> None:
        """Say of a snapshot that is not the first what becomes of the two."""
        if not self.snapshots:
            return
        from schedctl.sources import snapshots

        name = origin.document.text.name
        obstacle, mixed = snapshots.together(self.snapshots[0], header)
        if obstacle:
            self.problems.append(Problem(obstacle, name, hint="give one of them"))
        elif mixed not in {problem.message for problem in self.warnings}:
            self.warnings.append(Problem(mixed, name, hint="remove one of them, unless both are meant"))

    def _yaml(self, document: Document) -> None:
        name = document.text.name
        try:
            from schedctl.documents import yaml_values  # JSON alone does without PyYAML
        except ImportError:
            hint = "install PyYAML from a wheel"
            self.problems.append(Problem("cannot be read: PyYAML is installed without its C parser", name, hint=hint))
            return

        def warn(finding: Finding, place: Place) -> None:
            path = path_text(finding.path)
            self._report(finding, Problem(finding.message, name, *place, path, hint=finding.hint))

        waiting: list[tuple[_Origin, Any]] = []  # items that do not say what they are
        try:
            text = (document.text.data or b"")[document.start : document.end]
            for value, index, place, offset in yaml_values.read(text, document.place, warn):
                origin = _Origin(document, index, place)
                if index < 0:
                    self._yaml_root(origin, value, waiting)
                elif isinstance(value, dict) and value.get("kind"):
                    self._progress(index, document.start + offset)
                    self._item(origin, value, value.get("apiVersion"), value["kind"], (None, None))
                else:
                    waiting.append((origin, value))
        except yaml_values.YAMLProblem as problem:
            self.problems.append(Problem(problem.message, name, *problem.place, hint=problem.hint))
        self._flush(document)

    def _yaml_root(self, root: _Origin, value: Any, waiting: list[tuple[_Origin, Any]]) -> None:
        if isinstance(value, list) and value and all(map(collected.says_kind, value)) and not self.terms.creating:
            self.documents += 1
            for item in value:
                self._object(root, item, item["apiVersion"], item["kind"])
            return
        if not isinstance(value, dict):
            self._report_non_object(root, value)
            return
        self.documents += 1
        outer = (value.get("apiVersion"), value.get("kind"))
        if not isinstance(value.get("items", 0), list | None):
            self._object(root, value, *outer)
        for origin, item in waiting:
            if isinstance(item, dict):
                self._item(origin, item, item.get("apiVersion"), item.get("kind"), outer)
            else:
                self._report_non_object(origin, item)

    # --- One object ----------------------------------------------------------------------------------------------

    def _item(self, origin: _Origin, body: objects.Body, api_version: Any, name: Any, outer: tuple[Any, Any]) -> None:
        """Take an item of a list; in a typed list (PodList) it need not say what it is."""
        outer_version, outer_name = outer
        if not (outer_version or outer_name or api_version or name or _has_metadata(body)):
            self.foreign += 2  # one for each field of the head
        if not name and isinstance(outer_name, str) and outer_name != "List" and outer_name.endswith("List"):
            name = outer_name.removesuffix("List")
            api_version = api_version or outer_version
        self._object(origin, body, api_version, name)

    def _object(self, origin: _Origin, body: objects.Body, api_version: Any, name: Any) -> None:
        if not (api_version or name or self.terms.creating) and self._take_headless(origin, body):
            return
        if not (api_version and isinstance(api_version, str) and name and isinstance(name, str)):
            if origin.item < 0 and not (api_version or name or _has_metadata(body)):
                self.foreign += 2  # one for each field of the head
            self._report_missing_head(origin, api_version, name)
            return
        kind = kinds.find(api_version, name) or self._asked_for.get((api_version, name))
        if kind is not None:
            obj, findings = objects.decode(body, kind, api_version, self.terms, spelling=self._spelling)
            self._keep(origin, body, kind, obj, findings, api_version)
        elif custom := self._custom.get((_group(api_version), name)):
            self._custom_object(origin, body, custom, api_version)
        else:
            self._count_unread(origin, body, api_version, name)

    def _custom_object(self, origin: _Origin, body: objects.Body, custom: CustomKind, api_version: str) -> None:
        """Take a custom resource; one whose operator looks at others waits until those are read."""
        if (custom.group, custom.name) in self._companions:
            value = body if isinstance(body, dict) else plain(body)
            body = objects.with_name(value, self.terms.namespace, self._generated)
            self._company.setdefault(custom.group, []).append(body)
            if custom.company:
                self._in_company.append((len(self.objects), origin, body, custom, api_version))
                return
        kind = objects.custom_kind(api_version, custom.name)
        decoded = objects.decode_custom(body, custom, kind, self.terms, self._generated)
        self._keep(origin, body, kind, *decoded, api_version)

    def _settle_company(self) -> None:
        """Take the resources that waited for others, each where it stood among the objects."""
        inserted = 0
        for index, origin, value, custom, api_version in self._in_company:
            kind = objects.custom_kind(api_version, custom.name)
            behind = self.objects[index + inserted :]
            del self.objects[index + inserted :]
            company = self._company[custom.group]
            decoded = objects.decode_custom(value, custom, kind, self.terms, self._generated, company)
            self._keep(origin, value, kind, *decoded, api_version)
            inserted = len(self.objects) - index
            self.objects += behind
            self._flush(origin.document)
        self._in_company.clear()

    def _keep(
        self,
        origin: _Origin,
        body: objects.Body,
        kind: Kind,
        obj: objects.Object | None,
        findings: list[Finding],
        api_version: str,
    ) -> None:
        """Keep an object that was decoded, unless there are problems with it, and what was found about it."""
        if isinstance(obj, Pod):
            if obj.metadata.uid:
                obj = msgspec.structs.replace(obj, spec=lighten(obj.spec))
            obj = self._sharing.pod(obj)
        elif isinstance(obj, Node):
            obj = self._sharing.node(obj)
        if findings:
            about = objects.subject(kind, obj)
            self._findings += ((origin, finding, about) for finding in findings)
        if isinstance(obj, CustomWorkload) and obj.unknown and self.terms.creating:
            about, why = objects.subject(kind, obj), unmodelled.OPERATOR
            self._keep_unmodelled(origin, _group(api_version), kind.name, about, why, obj.unknown[0])
            if () in obj.unknown:
                return
        if all(finding.warning for finding in findings):
            self.objects.append(Sourced(obj, kind, origin.document, origin.item, *origin.place))
            if not self.terms.creating and reported_pods(body, kind.name):
                self.reported.append(self.objects[-1])
            if api_version in kind.retired:
                self._warn_retired(origin, kind, api_version)

    def _take_headless(self, origin: _Origin, body: objects.Body) -> bool:
        """Read, or count, what a tool wrote of a cluster that does not say what it is; return whether it is that."""
        value = body if isinstance(body, dict) else plain(body)
        kind = collected.kind_of(origin.document.text.name, value, listed=origin.item >= 0)
        if kind is not None and collected.is_from_cluster(value):
            self._object(origin, body, kind.api_version, kind.name)
        elif stored := collected.pairs(value):
            self._read_stored(origin.document, stored)
        elif collected.is_from_cluster(value):
            self.ignored[_WITHOUT_KIND] += 1
        else:
            return False
        return True

    def _report_missing_head(self, origin: _Origin, api_version: Any, name: Any) -> None:
        """Report an object that does not say what it is."""
        for field, value in (("apiVersion", api_version), ("kind", name)):
            if value is not None and not isinstance(value, str):
                self._find(origin, Finding((field,), f"expected text, got {describe_value(value)}"))
            elif not value:
                meant = kinds.intended_kind("", name) if field == "apiVersion" and isinstance(name, str) else None
                hint = f"add apiVersion: {meant.api_version}" if meant else _kustomization(origin.document.text.name)
                self._find(origin, Finding((field,), f'the field "{field}" is required', hint))

    def _count_unread(self, origin: _Origin, body: objects.Body, api_version: str, name: str) -> None:
        """Count an object that is not for us; one of ours under a wrong name is a problem, and so is a broken list."""
        if is_snapshot(api_version, name):
            self._find(origin, Finding((), "a snapshot must be one JSON document, not YAML and not in a list"))
        elif name == "List" and origin.item >= 0:
            self._find(origin, Finding((), "a list inside a list is not read (nor by kubectl)"))
        elif name == "List" or kinds.find(api_version, name.removesuffix("List")):
            value = body if isinstance(body, dict) else plain(body)
            if isinstance(value, dict) and "items" in value:
                self._find(origin, Finding(("items",), f"expected a list, got {describe_value(value['items'])}"))
            elif isinstance(value, dict) and (close := nearest("items", map(str, value), cutoff=CLOSE)):
                self._find(origin, Finding((close,), f"unknown field {quote(close)}", 'did you mean "items"?'))
        elif meant := _misspelt_kind(api_version, name):
            message = f"unknown kind {quote(name)} in {printable(api_version)}"
            if meant.name != name:
                self._find(origin, Finding(("kind",), message, f'did you mean "{meant}"?'))
            else:
                if _group(meant.api_version) == _group(api_version):
                    message = f"unknown apiVersion {quote(api_version)} for {meant}"
                self._find(origin, Finding(("apiVersion",), message, f'did you mean "{meant.api_version}"?'))
        else:
            self._note_unread(origin, body, api_version, name)

    def _note_unread(self, origin: _Origin, body: objects.Body, api_version: str, name: str) -> None:
        """Count an object of a kind that is not read; of what is to be created, keep what may be an operator's."""
        if message := unmodelled.unread_version(api_version, name):
            place = origin.place if origin.document.text.editable else NOWHERE
            self.warnings.append(Problem(message, origin.document.text.name, *place, "apiVersion"))
        if not self.terms.creating:
            self.ignored[f"{printable(api_version)} {printable(name)}"] += 1
            if operator_kinds.makes_pods(_group(api_version), name) is not False and reported_by_operator(body) > 0:
                self._note_operators(origin, body, api_version, name)
            return
        value = body if isinstance(body, dict) else plain(body)
        if name == "CustomResourceDefinition" and (defined := unmodelled.defines(value)):
            self._defined.add(defined)
        self._unread.append((origin, api_version, name, value))

    def _note_operators(self, origin: _Origin, body: objects.Body, api_version: str, name: str) -> None:
        """Keep that a resource of an operator reports pods, which count if they are among the objects."""
        value = body if isinstance(body, dict) else plain(body)
        metadata = value.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        meta = ObjectMeta(name=str(names.get("name") or ""), namespace=str(names.get("namespace") or ""))
        kind = objects.custom_kind(api_version, name)
        resource = CustomWorkload(metadata=meta, api_version=api_version, kind=name)
        self.reported.append(Sourced(resource, kind, origin.document, origin.item, *origin.place))

    def settle_unread(self) -> None:
        """Take what had to wait for all texts.

        Resources that need the company of others; and those of which pods may be made, told from the others by their
        definitions, which may have come after them.
        """
        self._settle_company()
        for origin, api_version, name, value in self._unread:
            group = _group(api_version)
            reason = unmodelled.reason_of(group, name, value, frozenset(self._defined))
            if not reason:
                self.ignored[f"{printable(api_version)} {printable(name)}"] += 1
                continue
            subject = f"{printable(name)} {printable(self._full_name(value))}"
            self._keep_unmodelled(origin, group, name, subject, reason)
        self._unread.clear()

    def _keep_unmodelled(
        self, origin: _Origin, group: str, name: str, subject: str, reason: str, path: Path = ()
    ) -> None:
        problem = Problem(reason, origin.document.text.name, *origin.place, path_text(path), subject)
        self.unmodelled.append(unmodelled.Unmodelled(f"{printable(name)}.{printable(group)}", problem))

    def _full_name(self, value: dict[str, Any]) -> str:
        metadata = objects.with_name(value, self.terms.namespace, self._generated).get("metadata")
        fields = metadata if isinstance(metadata, dict) else {}
        return f"{fields.get('namespace') or self.terms.namespace}/{fields.get('name') or 'without a name'}"

    def _report_non_object(self, origin: _Origin, value: Any) -> None:
        """Report what is no object; a document that is empty or null is fine."""
        if value is None and origin.item < 0:
            return
        objects_in = isinstance(value, list) and any(isinstance(one, dict) and "metadata" in one for one in value)
        self.foreign += origin.item < 0 and not objects_in
        hint = ""
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            hint = "write the objects under `items:` of a `kind: List`, or separate them with `---`"
        self._find(
            origin, Finding((), f"expected an object with apiVersion and kind, got {describe_value(value)}", hint)
        )
        if origin.item < 0:
            self._flush(origin.document)

    # --- What is said about it -----------------------------------------------------------------------------------

    def _find(self, origin: _Origin, finding: Finding) -> None:
        self._findings.append((origin, finding, ""))

    def _warn_retired(self, origin: _Origin, kind: Kind, api_version: str) -> None:
        text = origin.document.text
        if (text, kind, api_version) not in self._retired:
            self._retired.add((text, kind, api_version))
            message = f"Kubernetes 1.37 does not serve {kind} as {api_version}; it is read as {kind.api_version}"
            place = origin.place if text.editable else NOWHERE
            self.warnings.append(Problem(message, text.name, *place, "apiVersion"))

    def _flush(self, document: Document) -> None:
        """Give all findings of a document their places, in one reading of it: places are for messages only."""
        if not self._findings:
            return
        paths = PathTree()
        for origin, finding, _ in self._findings:
            paths.add(_within(origin.item, finding.path))
        document.locate(paths)
        for origin, finding, about in self._findings:
            place = paths.place(_within(origin.item, finding.path), at_key=finding.at_key) or origin.place
            path, hint = path_text(finding.path), finding.hint
            if not document.text.editable:
                place, hint = NOWHERE, ""
            problem = Problem(finding.message, document.text.name, *place, path, about, hint)
            self._report(finding, problem)
        self._findings.clear()

    def _report(self, finding: Finding, problem: Problem) -> None:
        is_refused = finding.strict and self.terms.creating and self.terms.strict
        if finding.warning and not is_refused:
            self.warnings.append(problem)
        else:
            self.problems.append(replace(problem, message=problem.message.removesuffix(IGNORED)))

    def _progress(self, index: int, offset: int) -> None:
        if index % 256 == 0:
            self._advance(offset)


def _has_uid(data: bytes, item: json_values.Item) -> bool:
    """Return whether an item may have been to an API server."""
    return data.find(b'"uid"', item.offset, item.offset + len(item.text)) >= 0


def _within(index: int, path: Path) -> Path:
    return ("items", index, *path) if index >= 0 else path


def _kustomization(name: str) -> str:
    """Return the hint for a file that belongs to kustomize, "" for another."""
    folder, slash, file = name.rpartition("/")
    if file.lower() not in ("kustomization.yaml", "kustomization.yml"):
        return ""
    return f"this belongs to kustomize: `-k {folder if slash else '.'}` builds it"


def _has_metadata(body: Any) -> bool:
    """Return whether something that may not say what it is has what all objects have, or says what it is."""
    value = body if isinstance(body, dict | list | str | int | float | None) else plain(body)
    return isinstance(value, dict) and ("metadata" in value or "kind" in value)


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


@lru_cache(maxsize=1024)
def _misspelt_kind(api_version: str, name: str) -> Kind | None:
    """Return the kind that was misspelt, None when it is another kind."""
    meant = kinds.intended_kind(api_version, name)
    if meant is None:
        known = {kind.name: kind for kind in kinds.KINDS if api_version in kind.versions}
        close = nearest(name, known, cutoff=CLOSE)
        meant = known[close] if close and abs(len(close) - len(name)) <= 1 else None
    return meant
