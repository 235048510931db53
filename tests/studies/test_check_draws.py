"""Checks with a confidence: they hold if they hold in enough draws among tied nodes."""

from __future__ import annotations

import pytest

from schedctl.errors import ConfigError
from schedctl.policy import reading
from schedctl.reports.checks import CheckOutcome
from schedctl.session import check as use_case
from schedctl.session import manifests as inputs
from schedctl.session.check import CheckInputs, CheckOptions
from schedctl.session.sessions import Session
from schedctl.session.states import StateSource
from schedctl.studies import check_draws
from schedctl.studies.engines import Processes

NODE = (
    "apiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{disk: {1}}}}}\n"
    "status: {{allocatable: {{cpu: '2', pods: '9'}}}}\n"
)
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {{name: {0}}}\n"
    "spec: {{{2}containers: [{{name: c, image: c, resources: {{requests: {{cpu: '{1}'}}}}}}]}}\n"
)
STATE = "---\n".join((NODE.format("fast", "ssd"), NODE.format("slow", "hdd")))
PODS = "---\n".join((POD.format("anywhere", 1, ""), POD.format("picky", 2, "nodeSelector: {disk: ssd}, ")))
"""Whether `picky` fits depends on which of two equally good nodes `anywhere` takes."""
POLICY = (
    "apiVersion: schedctl.dev/v1alpha1\nkind: CheckPolicy\nmetadata: {{name: p}}\n"
    "spec:\n  checks:\n  - {{name: fits, builtin: schedulable{0}}}\n"
)


def judged(tmp_path, more, draws=40, **options):
    files = {"nodes.yaml": STATE, "pods.yaml": PODS, "policy.yaml": POLICY.format(more)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    session = Session(StateSource((str(tmp_path / "nodes.yaml"),)))
    read = inputs.load(
        [str(tmp_path / "pods.yaml")],
        [],
        recursive=True,
        stdin_filename="",
        namespace="default",
        allow_empty=False,
        strict=False,
        custom_kinds=(),
    )
    session.load()
    given = CheckInputs(reading.load([str(tmp_path / "policy.yaml")]), read, [])
    assert check_draws.are_demanded(given) is bool(more)
    return check_draws.check(session, given, CheckOptions(), draws, **options), use_case.check(
        session, given, CheckOptions()
    )


def outcomes(report):
    return {result.subject: result.outcome for result in report.results}


@pytest.mark.parametrize(
    ("confidence", "outcome"),
    [
        pytest.param(0.95, CheckOutcome.VIOLATED, id="it holds too seldom"),
        pytest.param(0.2, CheckOutcome.PASSED, id="it holds often enough"),
    ],
)
def test_a_check_holds_if_it_holds_in_enough_draws(tmp_path, confidence, outcome):
    report, alone = judged(tmp_path, f", confidence: {confidence}")
    assert outcomes(report) == {"Pod default/anywhere": CheckOutcome.PASSED, "Pod default/picky": outcome}
    assert outcomes(alone)["Pod default/picky"] is CheckOutcome.VIOLATED
    picky = next(each for each in report.results if each.subject == "Pod default/picky")
    assert "of 40 draws among tied nodes" in picky.message
    assert f"{100 * confidence:g} % demanded" in picky.message
    assert report.summary.errors == (outcome is CheckOutcome.VIOLATED)
    assert report.summary.exit_code == (outcome is CheckOutcome.VIOLATED)


def test_what_holds_in_every_draw_says_so(tmp_path):
    report, _ = judged(tmp_path, ", confidence: 1")
    anywhere = next(each for each in report.results if each.subject == "Pod default/anywhere")
    assert anywhere.message == "holds in 100 % of 40 draws among tied nodes, 100 % demanded"


def test_the_number_of_processes_makes_no_difference(tmp_path):
    one, _ = judged(tmp_path, ", confidence: 0.5", draws=10)
    other, _ = judged(tmp_path, ", confidence: 0.5", draws=10, engine=Processes(2, batch=3))
    assert one == other


def test_a_check_without_a_confidence_is_judged_in_one_run(tmp_path):
    report, alone = judged(tmp_path, "", draws=3)
    assert report.results == alone.results


def test_a_confidence_is_between_0_and_1(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY.format(", confidence: 95"))
    with pytest.raises(
        ConfigError, match=r"policy\.yaml:6:52: spec\.checks\[0\]\.confidence: 95 is not between 0 and 1"
    ):
        reading.load([str(file)])
