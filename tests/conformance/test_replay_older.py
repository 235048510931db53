"""Every recorded answer of the older releases is ours, in every field; equal answers are those of the newest corpus."""

import gzip
from functools import lru_cache
from pathlib import Path

import msgspec
import pytest

from schedctl.conformance.answers import answer_as_json
from schedctl.conformance.differences import differences
from schedctl.releases import NEWEST, RELEASES

CORPUS = Path(__file__).parents[2] / "conformance/corpus"
OLDER = [release for release in RELEASES if release is not NEWEST]


def lines(path):
    return map(msgspec.json.decode, gzip.decompress(path.read_bytes()).splitlines())


@lru_cache(maxsize=1)
def newest(family):
    """The answers of the newest release by the ids of their cases; each older one is compared with them in turn."""
    return {line["case"]["id"]: line for line in lines(CORPUS / NEWEST.version / family)}


def families(release):
    return sorted(path.name for path in (CORPUS / release.version).glob("*.jsonl.gz"))


def test_every_family_is_recorded_of_every_release():
    assert {tuple(families(release)) for release in RELEASES} == {tuple(families(NEWEST))}


@pytest.mark.parametrize(
    ("release", "family"),
    [pytest.param(release, name, id=f"{release.version} {name}") for name in families(NEWEST) for release in OLDER],
)
def test_an_older_release_is_answered_as_it_answers(release, family):
    for theirs in lines(CORPUS / release.version / family):
        recorded = newest(family)[theirs["id"]]
        answer = recorded["answer"] if theirs["answer"] is None else theirs["answer"]
        assert list(differences(answer, answer_as_json(recorded["case"], release))) == []
