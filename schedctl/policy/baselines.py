"""Baselines: what was violated when a team began to check, so that only what is new or worse fails.

A baseline is a document of its own, which lives beside the policies and is reviewed like them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from schedctl.documents.findings import Finding, Place
from schedctl.documents.texts import Document, Text, split
from schedctl.errors import ConfigError, Problem
from schedctl.policy.fingerprints import rule_and_object
from schedctl.reports.checks import CheckOutcome, CheckResult
from schedctl.reports.metadata import Record
from schedctl.sources.files import Source, Unreadable

API_VERSION: Final = "schedctl.dev/v1alpha1"
KIND: Final = "CheckBaseline"
_AGAIN: Final = "write it again with --write-baseline"
_NO_BASELINE: Final = f"this is not a baseline of this version of schedctl; {_AGAIN}"
_LISTED: Final = 5


class Entry(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A violation that is accepted because it is old.

    Attributes:
        policy, check, scenario: which rule.
        subject: the object, as messages name it.
        violates: what is accepted and how far, e.g. ``{"pods pending": 2}``; what is beyond it is new.
        fingerprint: of rule and object, which it is matched by.
    """

    # Findings are matched by `fingerprint` and `violates`; the rest is for whoever reads a diff.
    policy: str
    check: str
    scenario: str = "baseline"
    subject: str
    violates: dict[str, int] = msgspec.field(default_factory=dict)
    fingerprint: str


class CheckBaseline(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The violations that are accepted: what `schedctl check --write-baseline` writes and `--baseline` reads.

    Attributes:
        api_version, kind: what this is.
        entries: sorted, so that a diff shows what changed and nothing else.
    """

    api_version: Literal["schedctl.dev/v1alpha1"]
    kind: Literal["CheckBaseline"]
    entries: list[Entry]


class Baseline(msgspec.Struct):
    """A baseline in use.

    Attributes:
        source: the file.
        digest: ``sha256:...`` of it.
        entries: by fingerprint of rule and object.
    """

    source: str
    digest: str
    entries: Mapping[str, Entry]
    _met: set[str] = msgspec.field(default_factory=set)
    _worse: list[str] = msgspec.field(default_factory=list)

    def accepts(self, result: CheckResult) -> bool:
        """Return whether a violation is in it, and no worse than it was."""
        known_by = rule_and_object(result.fingerprint)
        entry = self.entries.get(known_by)
        if result.outcome is not CheckOutcome.VIOLATED or entry is None:
            return False
        self._met.add(known_by)
        new = [
            f"{what} ({far}, {entry.violates.get(what, 0)} accepted)"
            for what, far in result.violates.items()
            if far > entry.violates.get(what, 0)
        ]
        if new:
            self._worse.append(f"{_describe(entry)} is worse than in the baseline: {', '.join(new)}")
        # An entry that accepts something of a kind says nothing of a violation whose kind is not known.
        return not new and bool(result.violates) == bool(entry.violates)

    def notes(self) -> list[str]:
        """Return what is worse than accepted, and which entries were not met: they would let the violation back in."""
        gone = [entry for fingerprint, entry in self.entries.items() if fingerprint not in self._met]
        if not gone:
            return self._worse
        shown = [_describe(entry) for entry in gone[:_LISTED]]
        more = f" and {len(gone) - _LISTED} more" if len(gone) > _LISTED else ""
        many = "entries of the baseline occur" if len(gone) > 1 else "entry of the baseline occurs"
        note = f"{len(gone)} {many} no longer: {', '.join(shown)}{more}; {_AGAIN} to keep it from coming back"
        return [*self._worse, note]


def read(path: str) -> Baseline:
    """Return the baseline in a file.

    Raises:
        ConfigError: it cannot be read, or is none.
    """
    file = Path(path)
    try:
        data = Source(path, file, 0).read(None)
    except Unreadable as error:
        hint = "`--write-baseline` makes one"
        raise ConfigError([error.problem if file.exists() else replace(error.problem, hint=hint)]) from None
    try:
        document = msgspec.convert(_plain(data, path), CheckBaseline)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at ")
        where = where.strip("`").removeprefix("$").removeprefix(".")
        problem = Problem(f"{message[:1].lower()}{message[1:]}", path, path=where, hint=_NO_BASELINE)
        raise ConfigError([problem]) from None
    return Baseline(path, f"sha256:{hashlib.sha256(data).hexdigest()}", {e.fingerprint: e for e in document.entries})


def baseline_of(results: Iterable[CheckResult]) -> CheckBaseline:
    """Return the baseline that accepts everything that is violated now, what an older one accepts included."""
    violates: defaultdict[str, dict[str, int]] = defaultdict(dict)
    entries: dict[str, Entry] = {}
    for result in results:
        if result.outcome not in (CheckOutcome.VIOLATED, CheckOutcome.BASELINED) or result.refused:
            continue
        known_by = rule_and_object(result.fingerprint)
        violates[known_by] |= result.violates
        entries[known_by] = Entry(
            policy=result.policy,
            check=result.check,
            scenario=result.scenario,
            subject=result.subject,
            violates=dict(sorted(violates[known_by].items())),
            fingerprint=known_by,
        )
    order = sorted(entries.values(), key=lambda e: (e.policy, e.check, e.scenario, e.subject, e.fingerprint))
    return CheckBaseline(api_version=API_VERSION, kind=KIND, entries=order)


def _plain(data: bytes, path: str) -> Any:
    """Return the plain value of a document, whatever its length."""
    if data.lstrip().startswith(b"{"):
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            why = "it is nested too deeply" if isinstance(error, RecursionError) else error
            raise ConfigError([Problem(f"is not JSON: {why}", path)]) from None
    from schedctl.documents import yaml_values

    documents = []
    try:
        for part in split(Text(path, data)):
            if isinstance(part, Document):
                text = data[part.start : part.end]
                documents += [(each.value, part.place) for each in yaml_values.read(text, part.place, _ignore)][-1:]
    except (yaml_values.YAMLProblem, UnicodeError) as error:
        place = getattr(error, "place", (0, 0))
        raise ConfigError([Problem(str(error), path, *place)]) from None
    if len(documents) > 1:
        raise ConfigError([Problem("expected one document, found another", path, *documents[1][1], hint=_NO_BASELINE)])
    return documents[0][0] if documents else None


def _ignore(finding: Finding, place: Place) -> None:
    """Leave what is odd about a YAML document to the strict reading of its fields."""


def _describe(entry: Entry) -> str:
    """Return what an entry accepts, as notes name it."""
    return f"{entry.subject} [{entry.check}]{_in(entry.scenario)}"


def _in(scenario: str) -> str:
    return "" if scenario == "baseline" else f" in {scenario}"
