"""Odd configurations, and what kube-scheduler v1.37.1 made of each: `verdicts.jsonl`, recorded with the oracle.

A verdict is the error of loading the configuration and making its profiles, "" where there was none. kube-scheduler
stops at the first stage that fails; we report all stages, so our problems must include its own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

CASES = [json.loads(line) for line in (Path(__file__).with_name("verdicts.jsonl")).read_text().split("\n") if line]

CERTIFICATES_ARE_NOT_OPENED = {
    "extender tls ca file missing",
    "extender tls ca data bad",
    "extender tls cert and key bad",
}
"""A dry run has no use for the certificates of a webhook, and rarely their files; whoever calls it opens them."""

STAGE = re.compile(
    r'^initializing profiles: (creating profile for scheduler name [^:]*: )?(initializing plugin "[^"]*": )?'
    r"|^couldn't build extenders: "
)
NOT_DECODED = re.compile(
    r"^(json|yaml|time|strict decoding error|decoding \.|Object|no kind|couldn't get|unexpected Group|illegal base64"
    r"|unsupported map key|not a Kube)"
)


def named(case: dict) -> str:
    return f"{case['name']} is {'refused' if case['error'] else 'accepted'}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_kube_scheduler_and_we_agree_that(case, problems_of):
    problems = problems_of(case["config"])
    if case["name"] in CERTIFICATES_ARE_NOT_OPENED:
        assert problems == []
    else:
        assert bool(problems) == bool(case["error"]), problems


OBJECTIONS = [
    case
    for case in CASES
    if case["error"]
    and not NOT_DECODED.match(case["error"])
    and case["name"] not in CERTIFICATES_ARE_NOT_OPENED
    and case["name"] != "internal"  # kube-scheduler's own Go structs as a version, of which we know nothing
]


@pytest.mark.parametrize("case", OBJECTIONS, ids=lambda case: case["name"])
def test_every_objection_of_kube_scheduler_is_among_ours_word_for_word(case, problems_of):
    theirs = STAGE.sub("", case["error"])
    # The oracle does not tell validation the version it read, and Go prints the path of the other profile as {}.
    theirs = theirs.replace('is version ""', 'is version "kubescheduler.config.k8s.io/v1"')
    theirs = re.sub(r"schedulerName: Duplicate value: {}", "schedulerName: Duplicate value: the other's", theirs)
    for problem in problems_of(case["config"]):
        where = re.sub(r"^profiles\[\d+\]\.pluginConfig\[\d+\]\.args\.", "", problem.path)
        message = problem.message
        if problem.path.endswith("schedulerName"):
            message = re.sub(r"^Duplicate value: .*", "Duplicate value: the other's", message)
        forms = (f"{problem.path}: {message}", f"{where}: {message}", message)
        theirs = theirs.replace(next((form for form in forms if form in theirs), "nothing of the kind"), "", 1)
    assert re.sub(r"[\[\], ]", "", theirs) == ""


@pytest.mark.parametrize("case", [c for c in CASES if "unknown field" in c["error"]], ids=lambda c: c["name"])
def test_every_unknown_field_kube_scheduler_names_is_found_at_the_same_path(case, problems_of):
    error = case["error"]
    theirs = set(re.findall(r'(?:strict decoding error: |, )unknown field "([^"]*)"', error.split("decoding .")[0]))
    for part in error.split("decoding .")[1:]:
        config = part.split(":", 1)[0]
        theirs |= {f"{config}.args.{name}" for name in re.findall(r'unknown field "([^"]*)"', part)}
    if case["name"] in ("upper case head", "deep flow"):
        assert problems_of(case["config"])  # no kind at all for us, and nested too deep
    else:
        ours = {problem.path for problem in problems_of(case["config"]) if problem.message.startswith("unknown field")}
        assert ours == theirs
