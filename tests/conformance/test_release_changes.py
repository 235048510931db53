"""Each change between versions that the page of versions shows by a recorded case is what makes that case's answer."""

import gzip
from dataclasses import dataclass

import msgspec
import pytest

from docs._reference.kube_versions import CASES
from schedctl.conformance.answers import answer_as_json
from schedctl.conformance.differences import differences
from schedctl.releases import NEWEST, Release, ReleaseChange
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
