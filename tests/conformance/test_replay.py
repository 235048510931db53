"""The recorded corpus, replayed: for every case the same answer as the real kube-scheduler's plugins gave."""

import gzip
from pathlib import Path

import msgspec
import pytest

from schedctl import KUBERNETES_VERSION
from schedctl.conformance.answers import answer
from schedctl.conformance.cases import Case
from schedctl.conformance.differences import differences
from tests.conformance.known_gaps import NOT_YET

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION
FAMILIES = sorted(path.name.removesuffix(".jsonl.gz") for path in CORPUS.glob("*.jsonl.gz"))


def differing(family: str) -> list[str]:
    found = []
    for line in gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines():
        recorded = msgspec.json.decode(line)
        ours = msgspec.json.decode(msgspec.json.encode(answer(msgspec.convert(recorded["case"], Case))))
        found += map(str, differences(recorded["answer"], ours))
    return found


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, marks=pytest.mark.xfail(strict=True, reason=NOT_YET[family]) if family in NOT_YET else ())
        for family in FAMILIES
    ],
)
def test_every_recorded_answer_is_ours(family):
    found = differing(family)
    assert not found, f"{len(found)} differences, the first:\n" + "\n".join(found[:5])


def test_the_corpus_is_there():
    assert len(FAMILIES) == 28
