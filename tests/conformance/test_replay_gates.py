"""Every recorded answer of a release with feature gates switched is ours, in every field."""

import gzip
from pathlib import Path

import msgspec
import pytest

from schedctl.conformance.answers import answer_as_json
from schedctl.conformance.differences import differences
from schedctl.releases import RELEASES, parse_gates

CORPUS = Path(__file__).parents[2] / "conformance/corpus/gates"
FAMILIES = sorted(path.name.removesuffix(".jsonl.gz") for path in CORPUS.glob("*.jsonl.gz"))


def lines(family):
    return map(msgspec.json.decode, gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines())


def release(version, gates):
    found = next(each for each in RELEASES if each.version.startswith(f"v{version}."))
    return found.with_gates(parse_gates(gates))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_release_with_switched_gates_is_answered_as_it_answers(family):
    for line in lines(family):
        for theirs in line["answers"]:
            ours = answer_as_json(line["case"], release(theirs["version"], theirs["gates"]))
            found = list(differences(theirs["answer"], ours))
            assert not found, (theirs["version"], theirs["gates"], found[0])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_gates_of_a_family_change_answers(family):
    changed, asked = 0, 0
    for line in lines(family):
        by_default = {each["version"]: each["answer"] for each in line["answers"] if not each["gates"]}
        switched = [each for each in line["answers"] if each["gates"]]
        asked += len(switched)
        changed += sum(each["answer"] != by_default.get(each["version"], each["answer"]) for each in switched)
    assert bool(changed) is bool(asked), "a family without switched gates is about the releases alone"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_releases_of_a_family_differ(family):
    for line in lines(family):
        if len({msgspec.json.encode(each["answer"]) for each in line["answers"]}) > 1:
            return
    pytest.fail("every answer is the same in all releases")
