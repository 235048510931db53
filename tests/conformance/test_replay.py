"""The recorded corpus, replayed: for every case the same answer as the real kube-scheduler's plugins gave."""

import gzip
from pathlib import Path

import msgspec
import pytest

from schedctl import KUBERNETES_VERSION
from schedctl.conformance.answers import answer
from schedctl.conformance.cases import Case
from tests.conformance.agreement import check

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION
FAMILIES = sorted(path.name.removesuffix(".jsonl.gz") for path in CORPUS.glob("*.jsonl.gz"))


def answers_of(family):
    for line in gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines():
        recorded = msgspec.json.decode(line)
        ours = msgspec.json.decode(msgspec.json.encode(answer(msgspec.convert(recorded["case"], Case))))
        yield recorded["answer"], ours


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_cases_agree(family):
    check(family, answers_of(family))


def test_the_corpus_has_all_families():
    assert len(FAMILIES) == 28
