"""Everything that reads what others wrote, each as a function of bytes, with texts that it can read.

A reader returns what it likes or raises a fault of ours; what else it raises is a defect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from schedctl.cel import parsing, syntax
from schedctl.cel.errors import CompileError, Unsupported
from schedctl.config import loading, settings_file
from schedctl.extenders import messages, recordings
from schedctl.live import faults, kubeconfigs, listing
from schedctl.live.connections import Answer
from schedctl.policy import baselines, expectations, reading
from schedctl.reports.snapshots import Header
from schedctl.session import conversions, traces
from schedctl.simulation import what_if_syntax
from schedctl.snapshots import documents
from schedctl.snapshots.allow_list import keep_allowed
from schedctl.sources import load_text, snapshots

ROOT = Path(__file__).parents[2]


class Reader(NamedTuple):
    """A reader.

    Attributes:
        read: reads bytes.
        seeds: texts that it can read.
        passing: what it may raise besides a fault of ours.
    """

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]
    passing: tuple[type[Exception], ...] = ()


def _files(*patterns: str, longest: int = 20_000) -> list[bytes]:
    found = [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.is_file()]
    assert found, patterns
    return [text for text in found if len(text) <= longest]


def _in_file(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Return a reader of bytes of one that reads a file."""

    def run(text: bytes) -> object:
        with NamedTemporaryFile(suffix=".yaml") as file:
            file.write(text)
            file.flush()
            return read(file.name)

    return run


class _Server:
    """A connection to a server that answers everything with the same bytes."""

    name = "context fuzz"

    def __init__(self, body: bytes) -> None:
        self._body = body

    def get(self, path: str, query: Any = None) -> Answer:
        return Answer(self._body, {"date": self._body[:40].decode(errors="replace")})


def _list(body: bytes) -> object:
    faults.status(body)
    return listing.read(_Server(body))  # type: ignore[arg-type]


def _expression(text: bytes) -> object:
    return parsing.parse(syntax.Source(text.decode(errors="replace")))


def _what_if(text: bytes) -> Iterator[object]:
    word, _, value = text.decode(errors="surrogateescape").partition(" ")
    return what_if_syntax.parse(word, value)


def _extender(text: bytes) -> None:
    for read in (messages.read_filter_result, messages.read_priorities, messages.read_preemption_result):
        with suppress(ValueError):  # which becomes a fault of the extender
            read(text)


def _snapshot() -> bytes:
    """Return a snapshot of a few objects."""
    text = b"\n---\n".join(_files("fixtures/pods/*.yaml", longest=5000)[:5])
    kept = [(one.kind, keep_allowed(one.object)) for one in load_text(text, "lab").objects]
    return documents.encode(Header(), documents.by_kind(kept))


def _json(*values: Any) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "a",
    "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
    "clusters": [{"name": "c", "cluster": {"server": "https://x", "certificate-authority-data": "QQ=="}}],
    "users": [{"name": "u", "user": {"exec": {"apiVersion": "v1", "command": "x", "args": ["y"], "env": []}}}],
}
LIST = {
    "kind": "PodList",
    "metadata": {"resourceVersion": "1", "continue": "", "remainingItemCount": 0},
    "items": [{"metadata": {"name": "a"}}],
    "gitVersion": "v1.37.1",
}
STATUS = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "reason": "Gone", "code": 410}
FILTERED = {"NodeNames": ["a"], "Nodes": {"items": [{"metadata": {"name": "a"}}]}, "FailedNodes": {"b": "c"}}
PREEMPTED = {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "b"}], "NumPDBViolations": 1}}}
RECORDED = {"extender": "http://x", "verb": "filter", "question": {"a": 1}, "answer": "{}", "error": ""}
BASELINE = {
    "apiVersion": "schedctl.dev/v1alpha1",
    "kind": "CheckBaseline",
    "entries": [{"fingerprint": "a", "policy": "b", "check": "c", "subject": "d"}],
}
TRACE = [
    {"kind": "Moved", "at": 0, "pod": "a/b", "to": "Active"},
    {"kind": "Chosen", "at": 0.5, "pod": "a/b", "attempt": 1, "node": "n", "ties": 1, "feasible": 2},
]
WHAT_IFS = [f"{word} {text}".encode() for word, text in what_if_syntax.EXAMPLES.items()]
EXPRESSIONS = [
    b"workload.pods.all(p, p.node.name != '')",
    b"device.attributes['x.io'].model == 'a' && device.capacity['x.io'].memory.isGreaterThan(quantity('1Gi'))",
    b"[1, 2].map(x, x * 2).exists(x, x > 3) ? {'a': b'b'} : dyn(1.5e3).field",
]


READERS = {
    "manifests": Reader(lambda text: load_text(text, "fuzz"), _files("fixtures/**/*.yaml", longest=6000)),
    "configurations": Reader(
        lambda text: loading.load(text, "fuzz"),
        _files("profiles/*.yaml", "fixtures/schedulers/*.yaml", "fixtures/extenders/*.yaml"),
    ),
    "older configurations": Reader(_in_file(conversions.convert), _files("fixtures/configurations/*")),
    "policies": Reader(lambda text: reading.policies_in(text, "fuzz"), _files("fixtures/policies/**/*.yaml")),
    "tests of policies": Reader(
        lambda text: expectations.tests_in(text, "fuzz"), _files("fixtures/policies/**/*test*.yaml")
    ),
    "baselines": Reader(_in_file(baselines.read), _json(BASELINE)),
    "settings": Reader(
        lambda text: settings_file.read(text, "fuzz"),
        [b"defaults:\n  output: json\ncheck:\n  policies: [a]\n  failOn: error\n  maxAge: 2h\n"],
    ),
    "snapshots": Reader(snapshots.read, [_snapshot()], (documents.DamagedSnapshot,)),
    "kubeconfigs": Reader(_in_file(lambda path: kubeconfigs.read(path, "")), _json(KUBECONFIG)),
    "answers of an API server": Reader(_list, _json(LIST, STATUS)),
    "answers of an extender": Reader(_extender, _json(FILTERED, PREEMPTED, [{"Host": "a", "Score": 5}])),
    "records of extenders": Reader(_in_file(recordings.Recording), _json(RECORDED)),
    "what-ifs": Reader(_what_if, WHAT_IFS),
    "expressions": Reader(_expression, EXPRESSIONS, (CompileError, Unsupported)),
    "traces": Reader(_in_file(traces.read), [b"\n".join(_json(*TRACE))]),
}
"""By name."""
