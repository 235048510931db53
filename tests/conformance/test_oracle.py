"""Fresh cases, answered by the real kube-scheduler plugins and by us in the same run.

Needs Go; builds the oracle once. ``SCHEDCTL_SEEDS=9000:9500`` asks for other or more seeds than the few of every run.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from schedctl.conformance.answers import answer
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.scheduler import Scheduler
from tests.conformance.agreement import check
from tests.conformance.test_replay import FAMILIES

KIT = Path(__file__).parents[2] / "conformance"
SEEDS = os.environ.get("SCHEDCTL_SEEDS", "5000:5012")

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(shutil.which("go") is None, reason="the oracle is a Go program and Go is not here"),
]


@pytest.fixture(scope="session")
def oracle():
    return subprocess.run([KIT / "oracle/build"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("family", FAMILIES)
def test_fresh_cases_agree_with_the_oracle(family, oracle):
    command = [sys.executable, KIT / "generate.py", "--family", family, "--seeds", SEEDS]
    cases = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    theirs = subprocess.run([oracle], input=cases, stdout=subprocess.PIPE, check=True).stdout
    answers = []
    for line, recorded in zip(cases.splitlines(), theirs.splitlines(), strict=True):
        ours = msgspec.json.decode(msgspec.json.encode(answer(msgspec.json.decode(line, type=Case))))
        answers.append((msgspec.json.decode(recorded), ours))
    check(family, answers)


@pytest.mark.parametrize(
    "shape",
    [
        "SchedulingBasic",
        "SchedulingPodAntiAffinity",
        "SchedulingPodAffinity",
        "TopologySpreading",
        "DefaultTopologySpreading",
        "MixedSchedulingBasePod",
        "Unschedulable",
        "Deployments",
    ],
)
def test_placements_of_a_benchmark_are_among_our_ties(shape, oracle):
    command = [sys.executable, "-m", "benchmarks.workloads", shape, "--nodes", "60", "--init", "60", "--pods", "100"]
    case = subprocess.run(command, cwd=KIT.parent, stdout=subprocess.PIPE, check=True).stdout
    theirs = msgspec.json.decode(subprocess.run([oracle], input=case, stdout=subprocess.PIPE, check=True).stdout)
    benchmark_case = msgspec.json.decode(case, type=Case)
    cluster, pods = cluster_of(benchmark_case)
    scheduler = Scheduler(cluster, configuration(benchmark_case))
    by_key = {pod.key: pod for pod in pods}
    for key, node in theirs["placements"]:
        outcome = scheduler.attempt(by_key[key], make_room=False)
        assert node in outcome.ties if node else not outcome.ties, key
        if node:
            scheduler.place(outcome, node)
    assert answer(benchmark_case)["cycles"] == theirs["cycles"]
