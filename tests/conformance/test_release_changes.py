"""Each change between versions that the page of versions shows by a recorded case is what makes that case's answer."""

import gzip
from dataclasses import dataclass

import msgspec
import pytest

from docs._reference.kube_versions import ANSWERS, CASES
from schedctl.conformance.answers import answer_as_json
from schedctl.conformance.differences import differences
from schedctl.releases import NEWEST, Release, ReleaseChange
from tests.conformance import test_replay_gates as gates
from tests.conformance.test_replay import CORPUS


@dataclass(frozen=True)
class WithoutOne(Release):
    """The newest release without one change."""

    missing: ReleaseChange | None = None

    def includes(self, change: ReleaseChange) -> bool:
        return change is not self.missing and super().includes(change)


@pytest.mark.parametrize("change", CASES, ids=lambda change: change.name)
def test_a_recorded_case_is_answered_otherwise_without_the_change_alone(change):
    family, name = CASES[change].rpartition("-")[0], CASES[change]
    lines = gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines()
    (recorded,) = [line for line in map(msgspec.json.decode, lines) if line["case"]["id"] == name]
    assert not list(differences(recorded["answer"], answer_as_json(recorded["case"], NEWEST)))
    without = answer_as_json(recorded["case"], WithoutOne(NEWEST.version, missing=change))
    assert list(differences(recorded["answer"], without))


@dataclass(frozen=True)
class WithOneOtherwise(Release):
    """A release with one change made or unmade."""

    other: ReleaseChange | None = None

    def includes(self, change: ReleaseChange) -> bool:
        return super().includes(change) is not (change is self.other)


@pytest.mark.parametrize("change", ANSWERS, ids=lambda change: change.name)
def test_a_recorded_answer_of_a_version_is_another_with_the_change_alone_made_or_unmade(change):
    name, version, switches = ANSWERS[change]
    (recorded,) = [line for line in gates.lines(name.rpartition("-")[0]) if line["case"]["id"] == name]
    (theirs,) = [each for each in recorded["answers"] if (each["version"], each["gates"]) == (version, switches)]
    release = gates.release(version, switches)
    assert not list(differences(theirs["answer"], answer_as_json(recorded["case"], release)))
    otherwise = WithOneOtherwise(release.version, release.switches, other=change)
    assert list(differences(theirs["answer"], answer_as_json(recorded["case"], otherwise)))
