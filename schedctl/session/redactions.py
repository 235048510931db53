"""Redaction by the command line: its options, a question about a state that was redacted, and the names in it.

The state is redacted as a strict snapshot of it would be, the manifests with it, and what the question names is put
into the same tokens: everything after that, the report included, has never seen a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from typing_extensions import override

from schedctl.api.kinds import KINDS
from schedctl.documents.findings import Place
from schedctl.documents.texts import Document, Text
from schedctl.errors import UsageError
from schedctl.reports.snapshots import Header
from schedctl.session.names import Names
from schedctl.simulation import what_ifs
from schedctl.simulation.node_choices import ALL, SHORTHANDS
from schedctl.snapshots import documents, files, levels
from schedctl.snapshots.allow_list import keep_allowed
from schedctl.snapshots.redaction import LabelValues
from schedctl.snapshots.redaction import Redaction as StrictRedaction

if TYPE_CHECKING:
    from schedctl.api.selectors import LabelQuery, Requirement
    from schedctl.live.listing import Listing
    from schedctl.reports.snapshots import Redaction
    from schedctl.session.notifiers import Notifier
    from schedctl.simulation.what_ifs import Subject, WhatIf
    from schedctl.sources import Manifests
    from schedctl.sources.manifests import Sourced

_replace = msgspec.structs.replace
REDACT: Final = "--redact strict"
_REDACTED: Final = Document(Text("redacted", None, editable=False), 0, 0, Place(0, 0), json=True)
"""Where an object was found is in the name of a file, which is one more name."""


class RedactionOptions(msgspec.Struct, frozen=True):
    """How much is taken out of a snapshot, or of the state that a question is about.

    Attributes:
        level: how much.
        key_file: of the key of the hashes, made if it is not there; "" for a key that nobody keeps.
    """

    level: Redaction
    key_file: str = ""

    @classmethod
    def parse(cls, level: str, key_file: str) -> RedactionOptions:
        """Return what ``--redact`` and ``--key-file`` stand for.

        Raises:
            UsageError: there is no such level, or a key for what is not hashed.
        """
        for known in levels.LEVELS:
            if level == known:
                if key_file and known != "strict":
                    raise UsageError("--key-file needs --redact strict", "`--redact strict` hashes them")
                return cls(known, key_file)
        raise UsageError(f'unknown redaction level "{level}"', f"--redact takes {', '.join(levels.LEVELS)}")

    def key(self, notifier: Notifier) -> bytes:
        """Return the key of the hashes, and say where it is if it was made.

        Raises:
            UsageError: it cannot be had.
        """
        if self.level != "strict":
            return b""
        path = self.key_file
        if not path:
            return files.one_time_key()
        key, made = files.load_key(Path(path).expanduser())
        if files.is_readable_by_others(Path(path).expanduser()):
            text = f"warning: other users can read the key {path} and can guess names with it"
            notifier.say(text, f"`chmod 600 {path}`")
        if made:
            notifier.say(
                f"created the key {path}: keep it secret and apart from snapshots, because it allows to guess names"
            )
        return key


@dataclass(frozen=True, slots=True)
class Redactor(Names):
    """The tokens of a state and of the manifests that are created in it; it can be pickled.

    Attributes:
        labels: what stands for the values of labels, and the tokens of names.
        created: what stands for the objects of the manifests.
    """

    labels: LabelValues
    created: Sequence[Sourced] = ()

    @override
    def name(self, text: str) -> str:
        return self._known(text, self.labels.tokens.name, "name")

    @override
    def namespace(self, text: str) -> str:
        # One that is not in the state has nothing in it, and so gets onto no page.
        return self.labels.tokens.namespace(text) if text in self.labels.tokens.namespaces else text

    @override
    def label(self, key: str, value: str) -> str:
        return self._known(value, lambda text: self.labels(key, text), f"value of {key}")

    @override
    def query(self, query: LabelQuery) -> LabelQuery:
        return query._replace(requirements=tuple(map(self._requirement, query.requirements)))

    @override
    def choice_of_nodes(self, text: str) -> str:
        parts = text.split(",")
        if not all("=" in part for part in parts):
            return text if text == ALL else self.name(text)
        pairs = (part.partition("=") for part in parts)
        return ",".join(f"{key}={self.label(SHORTHANDS.get(key, key), value)}" for key, _, value in pairs)

    @override
    def what_if(self, change: WhatIf) -> WhatIf:
        match change:
            case what_ifs.Cordon() | what_ifs.Drain() | what_ifs.RemoveNode() | what_ifs.ClearTaint():
                return replace(change, nodes=self.choice_of_nodes(change.nodes))
            case what_ifs.Lose():
                return replace(change, label=self.choice_of_nodes(change.label))
            case what_ifs.AddNodesLike():
                return replace(change, node=self.name(change.node))
            case what_ifs.SetTaint():
                value = self.label(change.key, change.value)
                return replace(change, nodes=self.choice_of_nodes(change.nodes), value=value)
            case what_ifs.SetLabel():
                label = None if change.value is None else self.label(change.key, change.value)
                return replace(change, nodes=self.choice_of_nodes(change.nodes), value=label)
            case what_ifs.Scale():
                return replace(change, workload=self._subject(change.workload))
            case what_ifs.SetPriority():
                priority = self.name(change.value) if isinstance(change.value, str) else change.value
                return replace(change, subject=self._subject(change.subject), value=priority)
        raise UsageError(f"{REDACT} cannot hide the names in a file of nodes", "`--add-node like:NODE=N`")

    @override
    def file(self, path: str) -> str:
        raise UsageError(
            f"{REDACT} cannot hide the names in {path}", "add the file to the state with -f and name the object"
        )

    @override
    def manifests(self, read: Manifests) -> Manifests:
        return _replace(read, objects=list(self.created), digests={}, warnings=[], unread=[])

    def _subject(self, subject: Subject) -> Subject:
        return _replace(subject, namespace=self.namespace(subject.namespace), name=self.name(subject.name))

    def _requirement(self, one: Requirement) -> Requirement:
        # What no object has as a value is the value of none under tokens, too.
        known = self.labels.tokens.names
        hidden = (self.labels(one.key, each) if each in known else each for each in one.values)
        return one if one.operator in ("Gt", "Lt") else one._replace(values=frozenset(hidden))

    def _known(self, text: str, token: Callable[[str], str], what: str) -> str:
        try:
            return token(text)
        except KeyError:
            message = f'no object of the state has the {what} "{text}", so {REDACT} has no token for it'
            raise UsageError(message, f"without {REDACT} the message says what is near it") from None


def redact_state(
    options: RedactionOptions, state: Manifests, listing: Listing | None, created: Manifests | None, notifier: Notifier
) -> tuple[Manifests, Redactor]:
    """Return the objects of a state as a strict snapshot of it has them, and what stands for the names in a question.

    Args:
        options: of the redaction.
        state: the objects.
        listing: what the live cluster answered, None where none was asked.
        created: the manifests that the question is about, None for none.
        notifier: hears of the key.

    Raises:
        UsageError: the key cannot be had, or there are names that no token can stand for.
    """
    if any(each.redaction == "strict" for each in state.snapshots):
        raise UsageError(f"the state is strictly redacted already, {REDACT} would redact tokens", f"leave {REDACT} out")
    if created is not None and (created.problems or created.unmodelled):
        raise UsageError(f"{REDACT} cannot hide the names in manifests that cannot be used", "correct or remove them")
    asked_for = list(created.objects) if created is not None else []
    for one in (*state.objects, *asked_for):
        if one.kind not in KINDS:
            raise UsageError(f"{REDACT} does not know which texts of a {one.kind.name} are names", "leave it out")
    key = options.key(notifier)
    kept = [_without_place(one, keep_allowed(one.object)) for one in (*state.objects, *asked_for)]
    redaction = StrictRedaction.of(documents.by_kind((one.kind, one.object) for one in kept), key)
    hidden = [_replace(one, object=redaction(one.object)) for one in kept]
    there, new = hidden[: len(state.objects)], hidden[len(state.objects) :]
    headers = [*state.snapshots, *_headers(listing)]
    without_words = [
        _replace(each, source="", missing=[_replace(gap, text="") for gap in each.missing]) for each in headers
    ]
    return _replace(state, objects=there, digests={}, snapshots=without_words), Redactor(redaction.value, new)


def _headers(listing: Listing | None) -> Iterator[Header]:
    if listing is not None:
        yield Header(server_version=listing.server_version, taken=listing.taken, missing=list(listing.missing))


def _without_place(one: Sourced, obj: Any) -> Sourced:
    return _replace(one, object=obj, document=_REDACTED, index=-1, line=0, column=0)
