"""States to take snapshots of: the fixtures, and the cases of the conformance corpus."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from schedctl import sources
from schedctl.api import kinds
from schedctl.api.kinds import Kind
from schedctl.api.meta import key_of
from schedctl.conformance.cases import Case
from schedctl.snapshots import documents
from schedctl.snapshots.allow_list import keep_allowed
from schedctl.snapshots.redaction import Redaction
from schedctl.sources import Manifests

ROOT = Path(__file__).parents[2]
CORPUS = sorted((ROOT / "conformance/corpus/v1.37.1").glob("*.jsonl.gz"))
KEY = b"a key of sixteen or more bytes"
_LEAF = r"(?:0x|A|P|T|a|an|b|d|e|g|kube-o|kube-q|l|m|p|s|sq|system-d|t|v|x|yz)\d+-[0-9a-f]{12}"
_GLUED = re.compile(rf"(?<=\d)z(?={_LEAF})")
_TOKEN = re.compile(rf"(?<![0-9a-z]){_LEAF}|(?<=\d){_LEAF}")
_TAGGED = re.compile(rf"({_LEAF}(?:-\d+)*):tag")
_ZONE = re.compile(rf"{_LEAF}-z(\d+)h([0-9a-f]{{12}})")
Objects = list[tuple[Kind, Any]]


def state(*paths: str) -> Manifests:
    """The objects in files of the project."""
    return sources.load([str(ROOT / path) for path in paths], recursive=True)


def objects_of(manifests: Manifests) -> Objects:
    """Objects with their kinds, in the order of their arrival."""
    return [(one.kind, one.object) for one in manifests.objects]


def keep(objects: Iterable[tuple[Kind, Any]]) -> Objects:
    """What a snapshot keeps of objects."""
    return [(kind, keep_allowed(obj)) for kind, obj in objects]


def cases(family: Path, count: int) -> Iterator[Case]:
    """The first cases of a family of the corpus."""
    with gzip.open(family, "rt") as lines:
        for line in islice(lines, count):
            recorded = json.loads(line)
            yield msgspec.convert(recorded.get("case", recorded), Case)


def objects_in(case: Case) -> Objects:
    """The objects of a case as an API server has them: with a namespace and a uid."""
    found = []
    for raw in case.objects or ():
        kind = kinds.find(raw.get("apiVersion", ""), raw.get("kind", ""))
        if kind is not None:
            obj: Any = msgspec.convert(raw, kind.struct)
            namespace = obj.metadata.namespace or ("default" if kind.namespaced else "")
            uid = obj.metadata.uid or f"uid-{obj.metadata.namespace}/{obj.metadata.name}"
            metadata = msgspec.structs.replace(obj.metadata, namespace=namespace, uid=uid)
            found.append((kind, msgspec.structs.replace(obj, metadata=metadata)))
    return found


def raw(objects: Objects) -> list[dict[str, Any]]:
    """Objects as a file has them."""
    return [{"apiVersion": kind.api_version, "kind": kind.name, **msgspec.to_builtins(obj)} for kind, obj in objects]


class Redacted:
    """Objects redacted strictly, and the way back by the table of their tokens.

    Attributes:
        objects: the objects, in the same order.
        keys: by key of an object, the key of what stands for it.
    """

    def __init__(self, objects: Objects) -> None:
        redaction = Redaction.of(documents.by_kind(objects), KEY)
        self.objects: Objects = [(kind, redaction(obj)) for kind, obj in objects]
        self.keys = {key_of(obj): key_of(hidden) for (_, obj), (_, hidden) in zip(objects, self.objects, strict=True)}
        table = redaction.tokens
        self._original = {token: text for each in (table.parts, table.namespaces) for text, token in each.items()}
        self._by_rank = {
            tuple(re.findall(r"(\d+)-([0-9a-f]{12})$", token)[0]): text for token, text in self._original.items()
        }

    def back(self, text: str) -> str:
        """A text with the originals in place of the tokens, and of what stands around them."""
        text = _GLUED.sub("", _TAGGED.sub(r"\1", text))
        text = _ZONE.sub(lambda found: self._by_rank[found[1], found[2]], text)
        return _TOKEN.sub(lambda found: self._original[found[0]], text)
