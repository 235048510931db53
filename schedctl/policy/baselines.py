"""Baselines: what was violated when a team began to check, so that only what is new fails.

A baseline is a document of its own, which lives beside the policies and is reviewed like them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from schedctl.errors import ConfigError, Problem
from schedctl.reports.checks import CheckOutcome, CheckResult
from schedctl.reports.metadata import Record

API_VERSION: Final = "schedctl.dev/v1alpha1"
KIND: Final = "CheckBaseline"
_AGAIN: Final = "write it again with --write-baseline"
_LISTED: Final = 5


class Entry(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A violation that is accepted because it is old.

    Attributes:
        policy, check, scenario: which rule.
        subject: the object, as messages name it.
        fingerprint: what it is matched by.
    """

    # Findings are matched by the fingerprint alone; the rest is for whoever reads a diff.
    policy: str
    check: str
    scenario: str = "baseline"
    subject: str
    fingerprint: str


class CheckBaseline(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The violations that are accepted: what `schedctl check --write-baseline` writes and `--baseline` reads.

    Attributes:
        api_version, kind: what this is.
        entries: sorted, so that a diff shows what changed and nothing else.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = API_VERSION
    kind: Literal["CheckBaseline"] = KIND
    entries: list[Entry] = msgspec.field(default_factory=list)


@dataclass(slots=True)
class Baseline:
    """A baseline in use.

    Attributes:
        source: the file.
        digest: ``sha256:...`` of it.
        entries: by fingerprint.
    """

    source: str
    digest: str
    entries: dict[str, Entry]
    _met: set[str] = field(default_factory=set)

    def accepts(self, result: CheckResult) -> bool:
        """Return whether a violation is in it."""
        if result.outcome is not CheckOutcome.VIOLATED or result.fingerprint not in self.entries:
            return False
        self._met.add(result.fingerprint)
        return True

    def notes(self) -> list[str]:
        """Return what to know of entries that were not met: they would let the same violation back in."""
        gone = [entry for fingerprint, entry in self.entries.items() if fingerprint not in self._met]
        if not gone:
            return []
        shown = [f"{entry.subject} [{entry.check}]{_in(entry.scenario)}" for entry in gone[:_LISTED]]
        more = f" and {len(gone) - _LISTED} more" if len(gone) > _LISTED else ""
        many = "entries of the baseline occur" if len(gone) > 1 else "entry of the baseline occurs"
        return [f"{len(gone)} {many} no longer: {', '.join(shown)}{more}; {_AGAIN} to keep it from coming back"]


def read(path: str) -> Baseline:
    """Return the baseline in a file.

    Raises:
        ConfigError: it cannot be read, or is none.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = "`--write-baseline` makes one" if isinstance(error, FileNotFoundError) else ""
        raise ConfigError([Problem(f"cannot be read: {why.lower()}", path, hint=hint)]) from None
    try:
        document = msgspec.convert(_plain(data, path), CheckBaseline)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at ")
        problem = Problem(f"{message[:1].lower()}{message[1:]}", path, path=where.strip("`").removeprefix("$."))
        raise ConfigError([problem]) from None
    return Baseline(path, f"sha256:{hashlib.sha256(data).hexdigest()}", {e.fingerprint: e for e in document.entries})


def baseline_of(results: Iterable[CheckResult]) -> CheckBaseline:
    """Return the baseline that accepts everything that is violated now, what an older one accepts included."""
    violated = {
        result.fingerprint: Entry(
            policy=result.policy,
            check=result.check,
            scenario=result.scenario,
            subject=result.subject,
            fingerprint=result.fingerprint,
        )
        for result in results
        if result.outcome in (CheckOutcome.VIOLATED, CheckOutcome.BASELINED) and not result.refused
    }
    order = sorted(violated.values(), key=lambda e: (e.policy, e.check, e.scenario, e.subject, e.fingerprint))
    return CheckBaseline(entries=order)


def _plain(data: bytes, path: str) -> Any:
    """Return the plain value of a document, whatever its length."""
    if data.lstrip().startswith(b"{"):
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            raise ConfigError([Problem(f"is not JSON: {error}", path)]) from None
    from schedctl.documents import yaml_values
    from schedctl.documents.findings import Place

    try:
        values = list(yaml_values.read(data, Place(1, 1), lambda finding, place: None))
    except (yaml_values.YAMLProblem, UnicodeError) as error:
        place = getattr(error, "place", (0, 0))
        raise ConfigError([Problem(str(error), path, *place)]) from None
    return values[-1].value if values else None


def _in(scenario: str) -> str:
    return "" if scenario == "baseline" else f" in {scenario}"
