"""From files to policies, or to every problem that they have.

Which files and documents are policies is decided here; `schedctl.policy.policy_reader` reads one of them.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from schedctl.config.loading import conversion_hint
from schedctl.documents.findings import printable, quote
from schedctl.documents.heads import open_document
from schedctl.documents.spelling import did_you_mean
from schedctl.documents.texts import Document, Text, split
from schedctl.documents.trees import Node
from schedctl.errors import ConfigError, Problem
from schedctl.policy import bundles
from schedctl.policy.documents import API_VERSION, KIND, CheckPolicy
from schedctl.policy.policy_reader import PolicyReader
from schedctl.sources import files
from schedctl.sources.pins import split_pin
from schedctl.sources.unread import LEADS_OUT, unread_files

TEST_KIND: Final = "CheckPolicyTest"
_GROUP: Final = API_VERSION.partition("/")[0]
_OURS: Final = re.compile(rf"{re.escape(_GROUP)}|{KIND}|\\[uUx]|!!binary", re.IGNORECASE)
"""What a document has somewhere that may be schedctl's; the last two can spell anything."""
_HEAD_OF_OURS: Final = re.compile(
    rf"""apiVersion["']?\s*:\s*["']?{re.escape(_GROUP)}/|kind["']?\s*:\s*["']?{KIND}""", re.IGNORECASE
)
_OTHERS: Final = (
    *("Config", "CheckBaseline", "Snapshot", "SnapshotDiff", "WatchLine", "PluginList", "ProfileList"),
    *("CheckReport", "CheckPolicyTestReport", "ExplainReport", "BindReport", "CalibrationReport", "CapacityReport"),
    *("DrainReport", "SimulationReport", "SnapshotReport", "TraceDiff", "TraceReport"),
)
"""Kinds of schedctl's that may stand beside policies."""


# -- files -------------------------------------------------------------------------


class Read(msgspec.Struct):
    """What files hold.

    Attributes:
        policies: in the order given.
        digests: ``sha256:...`` of each file, by its name.
        warnings: what was left out of folders.
    """

    policies: list[CheckPolicy] = msgspec.field(default_factory=list)
    digests: dict[str, str] = msgspec.field(default_factory=dict)
    warnings: list[Problem] = msgspec.field(default_factory=list)


def load(paths: Sequence[str]) -> Read:
    """Return the policies in files, folders, globs and (``-``) standard input, and in archives of them.

    A name that ends in ``@sha256:HEX`` is that of a file with this digest; see `schedctl.policy.bundles`.

    Documents of other people's kinds are passed over in folders, and so are schedctl's own that stand beside policies;
    what was meant for a policy and is written wrong never is. In a file that was named everything but a policy is a
    mistake, other than the tests of policies.

    Raises:
        ConfigError: something cannot be read or understood, or there is no policy; with every problem.
        UsageError: a policy has expressions, and there is no engine for them.
    """
    read = Read()
    problems: list[Problem] = []
    pins = _pins(paths, problems)
    found = files.find(list(pins), recursive=True, stdin_filename="<stdin>", problems=problems, warnings=read.warnings)
    named = {os.path.normpath(path): digests for path, digests in pins.items()}
    for source in found:
        digests = named.get(os.path.normpath(source.path), ()) if source.path is not None else ()
        try:
            bundle = _bundle(source, digests)
        except files.Unreadable as error:
            problems.append(error.problem)
            continue
        alone = source.path is None or os.path.normpath(source.path) in named
        held = [policies_in(data, name, others=bundle.is_archive or not alone) for name, data in bundle.parts]
        policies = [policy for policies, _ in held for policy in policies]
        read.policies += policies
        problems += [problem for _, wrong in held for problem in wrong]
        read.warnings += [Problem("is empty", name) for name, data in bundle.parts if not _has_text(data)]
        if policies:
            read.digests[source.name] = bundle.digest
        if bundle.is_archive and not digests:
            hint = f"name it {source.name}@{bundle.digest}"
            read.warnings.append(Problem("is not pinned by its digest", source.name, hint=hint))
    read.warnings += _unread(list(pins), found)
    problems += _duplicate_names(read.policies)
    if not (problems or read.policies):
        problems.append(Problem(f"no {KIND} in {', '.join(paths)}", hint="`schedctl schema CheckPolicy`"))
    if problems:
        raise ConfigError(problems)
    return read


def _pins(paths: Sequence[str], problems: list[Problem]) -> dict[str, list[str]]:
    """Return the digests that each of the files has to have, and report what cannot be one."""
    pins: dict[str, list[str]] = {}
    for pinned in map(split_pin, paths):
        wrong = bundles.digest_problem(pinned)
        if wrong is None and pinned.digest and not Path(pinned.path).is_file():
            wrong = Problem("no such file to have a digest", printable(pinned.path), hint="pack a folder with `tar`")
        if wrong is not None:
            problems.append(wrong)
            continue
        pins.setdefault(pinned.path, []).extend([pinned.digest] if pinned.digest else [])
    return pins


def _bundle(source: files.Source, digests: Sequence[str]) -> bundles.Bundle:
    """Return the texts in a file, or in the archive that it is."""
    if digests or bundles.is_bundle(source.path):
        return bundles.read(source, digests)
    data = source.read(getattr(sys.stdin, "buffer", None))
    return bundles.Bundle(_digest(data), [(source.name, data)], False)


def policies_in(data: bytes, source: str, *, others: bool = False) -> tuple[list[CheckPolicy], list[Problem]]:
    """Return the policies in a text, and everything that is wrong with them.

    Args:
        data: YAML or JSON, UTF-8.
        source: the file as the user knows it.
        others: whether documents of other kinds are fine.
    """
    policies: list[CheckPolicy] = []
    problems: list[Problem] = []
    for text in documents(data, source, problems):
        kind, wrong = kind_in(text, source)
        problems += wrong
        if wrong or kind == TEST_KIND or (others and kind != KIND):
            continue
        try:
            reader = PolicyReader(text, source)
            policy = reader.policy()
        except ConfigError as error:
            problems += error.problems
            continue
        problems += reader.problems
        if not reader.problems:
            policies.append(policy)
    return policies, problems


def documents(data: bytes, source: str, problems: list[Problem]) -> Iterator[str]:
    """Yield the documents of a text, each with as many empty lines before it as it has lines before it."""
    for part in split(Text(source, data)):
        if isinstance(part, Document):
            try:
                text = data[part.start : part.end].decode()
            except UnicodeDecodeError:
                problems.append(Problem("is not UTF-8 text", source, part.place.line, 1))
                continue
            if any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n")):
                yield "\n" * (part.place.line - 1) + text
        else:
            hint = "write the document on the next line"
            problems.append(Problem('expected nothing after "---"', source, *part, hint=hint))


def kind_in(text: str, source: str) -> tuple[str, list[Problem]]:
    """Return which kind of schedctl's a document is of, "" for somebody else's, and what is wrong with saying so.

    The head is decoded, however it is written: what looks like a policy to whoever wrote it must never be passed over.
    Text that is neither YAML nor JSON, such as a template, is somebody else's unless it names our version or kinds.
    """
    if not _OURS.search(text):
        return "", []
    try:
        node, _ = open_document(text, source, KIND, API_VERSION, conversion_hint)
    except ConfigError as error:
        names_us = _HEAD_OF_OURS.search(text)
        return "", list(error.problems) if names_us else []
    if not node.is_mapping:
        return "", []
    if any(_is_ours(item) for item in _items(node)):
        hint = f"write each {KIND} as a separate document, after a line `---`"
        return "", [Problem("a list is not read", source, node.line, node.column, "items", hint=hint)]
    if not _is_ours(node):
        return "", []
    written = [value for key, value in node.value if key.value == "kind"]
    kind = written[-1].value if written else None
    if kind in (KIND, TEST_KIND):
        return str(kind), []
    if kind in _OTHERS:
        return "", []
    at = written[-1] if written else node
    hint = did_you_mean(str(kind or ""), (KIND, TEST_KIND), f"the kinds are {KIND}, {TEST_KIND}, {', '.join(_OTHERS)}")
    message = f"unknown kind {quote(str(kind or ''))} in {API_VERSION}" if written else "Object 'Kind' is missing"
    return "", [Problem(message, source, at.line, at.column, "kind", hint=hint)]


def _is_ours(node: Node) -> bool:
    """Return whether the head of a document says, or misspells, that it is schedctl's."""
    heads = {key.value: str(value.value).strip().lower() for key, value in node.value} if node.is_mapping else {}
    of_group = f"{heads.get('apiVersion', '')}/".startswith(f"{_GROUP}/")
    return of_group or heads.get("kind", "") in (KIND.lower(), TEST_KIND.lower())


def _items(node: Node) -> Iterator[Node]:
    for key, value in node.value:
        if key.value == "items" and value.is_list:
            yield from value.value


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _has_text(data: bytes) -> bool:
    """Return whether there is more in a text than comments."""
    return any(line.strip() and not line.lstrip().startswith(b"#") for line in data.splitlines())


def _unread(paths: Sequence[str], found: Iterable[files.Source]) -> Iterator[Problem]:
    """Yield a warning for each file in folders that looks like a policy and is not read."""
    looked_at = {os.path.realpath(source.path) for source in found if source.path is not None}
    for each in unread_files(paths, looked_at, recursive=True, policies=True):
        if each.reason != LEADS_OUT:  # that is among the warnings already
            yield Problem(f"is not read: {each.reason}", each.file)
    for path in (path for name in paths if Path(name).is_dir() for path in sorted(Path(name).rglob("*.t*"))):
        if bundles.is_bundle(path) and os.path.realpath(path) not in looked_at:
            yield Problem("is not read: an archive in a folder", printable(str(path)), hint="name it")


def _duplicate_names(policies: Iterable[CheckPolicy]) -> Iterator[Problem]:
    seen: dict[str, CheckPolicy] = {}
    for policy in policies:
        if first := seen.get(policy.name):
            at = policy.location
            message = f'duplicate policy "{policy.name}": another is in {first.source}:{first.location.line}'
            yield Problem(
                message,
                at.file,
                at.line,
                at.column,
                at.path,
                hint="rename one: results are identified by the policy's name",
            )
        seen.setdefault(policy.name, policy)
