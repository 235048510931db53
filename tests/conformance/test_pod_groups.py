"""Pod groups, scheduled as groups: for every case the turns that the real kube-scheduler took, gates on.

The recorded cases need nothing; fresh ones need Go and build the oracle once. ``SCHEDCTL_SEEDS=9000:9500`` asks for
other or more seeds than the few of every run.
"""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from schedctl import KUBERNETES_VERSION
from schedctl.conformance.answers import answer_as_json
from schedctl.engine.groups import trials
from schedctl.releases import NEWEST, OF_GROUPS
from tests.conformance.test_oracle import oracle  # noqa: F401 - the fixture

KIT = Path(__file__).parents[2] / "conformance"
CORPUS = KIT / "corpus" / KUBERNETES_VERSION / "pod-groups"
FAMILIES = ("pod_groups", "pod_groups_claims", "pod_groups_mixed", "pod_groups_preemption", "pod_groups_topology")
SEEDS = os.environ.get("SCHEDCTL_SEEDS", "5000:5006")
RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
AGAIN = 5
"""How often the oracle is asked again about a case that we answer differently: its informers take their time."""


def turns(answer):
    return {
        "error": answer.get("error"),
        "steps": [step for step in answer.get("steps") or [] if step],
        "gated": answer.get("gated") or {},
    }


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "few", [pytest.param(0, id="all from memory"), pytest.param(trials.FEW_PODS, id="large groups from memory")]
)
def test_recorded_turns_of_groups_agree(family, few, monkeypatch):
    monkeypatch.setattr(trials, "FEW_PODS", few)
    for line in gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines():
        recorded = msgspec.json.decode(line)
        ours = answer_as_json(recorded["case"], RELEASE)
        assert turns(ours) == turns(recorded["answer"]), recorded["case"]["id"]


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("go") is None, reason="the oracle is a Go program and Go is not here")
@pytest.mark.parametrize("family", FAMILIES)
def test_fresh_turns_of_groups_agree_with_the_oracle(family, oracle):  # noqa: F811
    gates = subprocess.run(
        [sys.executable, "-c", "from families.groups import GATES; print(GATES)"],
        cwd=KIT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    command = [sys.executable, KIT / "generate.py", "--family", family, "--seeds", SEEDS]
    cases = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()

    def ask(lines):
        asked = subprocess.run(
            [oracle, "--feature-gates", gates], input=b"\n".join(lines), stdout=subprocess.PIPE, check=True
        )
        return [turns(msgspec.json.decode(line)) for line in asked.stdout.splitlines()]

    for case, theirs in zip(cases, ask(cases), strict=True):
        ours = turns(answer_as_json(msgspec.json.decode(case), RELEASE))
        assert ours == theirs or ours in ask([case] * AGAIN), msgspec.json.decode(case)["id"]
