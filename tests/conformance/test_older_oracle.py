"""Fresh cases, answered by the plugins of an older kube-scheduler and by us in the same run.

Needs Go; builds the oracle of one older release, another one with each commit: ``SCHEDCTL_OLDER=1.35`` says which,
``all`` all of them, and ``SCHEDCTL_SEEDS`` which cases.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from schedctl.conformance.answers import answer_as_json
from schedctl.conformance.differences import differences, not_modelled
from schedctl.releases import NEWEST, RELEASES
from tests.conformance.test_replay import FAMILIES

KIT = Path(__file__).parents[2] / "conformance"
SEEDS = os.environ.get("SCHEDCTL_SEEDS", "5000:5004")
OLDER = [release for release in RELEASES if release is not NEWEST]
AGAIN = 40
"""How often the oracle is asked again about a case that we answer differently: some things it leaves to chance."""

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(shutil.which("go") is None, reason="the oracle is a Go program and Go is not here"),
]


def chosen():
    """The releases of this run: one in turn, as the number of commits says, where nobody asks for another."""
    asked = os.environ.get("SCHEDCTL_OLDER", "")
    if asked:
        return [release for release in OLDER if asked in ("all", "{}.{}".format(*release.minor))]
    command = ["git", "-C", str(KIT), "rev-list", "--count", "HEAD"]
    count = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return [OLDER[int(count.strip() or 0) % len(OLDER)]]


def ask(oracle, cases):
    return subprocess.run([oracle], input=cases, stdout=subprocess.PIPE, check=True).stdout.splitlines()


@pytest.fixture(scope="session", params=chosen(), ids=lambda release: release.version)
def built(request):
    minor = "{}.{}".format(*request.param.minor)
    command = [KIT / "oracle/build", minor]
    return request.param, subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("family", FAMILIES)
def test_fresh_cases_agree_with_an_older_oracle(family, built):
    release, oracle = built
    command = [sys.executable, KIT / "generate.py", "--family", family, "--seeds", SEEDS]
    cases = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    for case, theirs in zip(cases, ask(oracle, b"\n".join(cases)), strict=True):
        ours = answer_as_json(msgspec.json.decode(case), release)
        assert not list(not_modelled(ours))
        found = list(differences(msgspec.json.decode(theirs), ours))
        if found:
            again = ask(oracle, b"\n".join([case] * AGAIN))
            assert any(not list(differences(msgspec.json.decode(other), ours)) for other in again), found[:3]
