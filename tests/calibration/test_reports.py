"""The report of a calibration: what it counts, that its schema holds, and that equal input has equal bytes."""

import json
from pathlib import Path

import jsonschema
import pytest

from schedctl.calibration import report_builder
from schedctl.calibration.replays import CalibrationFacts, Replay, Result
from schedctl.calibration.timelines import Arrival, Timeline
from schedctl.calibration.traces import KnownHistory
from schedctl.cli.running import run
from schedctl.render import calibrations
from schedctl.render.layout import Line
from schedctl.reports.metadata import Metadata
from schedctl.session.schemas import SCHEMAS
from schedctl.testing.builders import pod

STATE = str(Path(__file__).parents[1] / "cli/decided.yaml")


@pytest.fixture
def report(capsys):
    def ask(*arguments):
        capsys.readouterr()
        assert run(["calibrate", "-f", STATE, "-q", "-o", "json", *arguments]) == 0
        return capsys.readouterr().out

    return ask


def test_the_report_is_valid_by_its_schema(report):
    jsonschema.Draft202012Validator(SCHEMAS["CalibrationReport"]()).validate(json.loads(report()))


def test_the_same_input_has_the_same_bytes(report):
    assert report() == report()


def test_the_counts_of_the_summary_add_up(report):
    document = json.loads(report())
    summary = document["summary"]
    assert summary["decisions"] == len(document["decisions"]) == 3
    assert summary["agrees"] == summary["alone"] + summary["tied"] + summary["only"]
    assert summary["decisions"] == sum(summary[each] for each in ("agrees", "lower", "refused", "inconclusive"))
    for plugin in document["plugins"]:
        assert plugin["accepts"] <= plugin["asked"] <= 3
        assert plugin["outvotes"] <= plugin["tells"] <= 3
        assert plugin["same"] <= plugin["reasons"]


def test_last_limits_the_decisions_and_notes_how_many_are_older(report):
    document = json.loads(report("--last", "1"))
    assert [each["pod"] for each in document["decisions"]] == ["shop/odd"]
    assert document["summary"]["passedOver"] == 2
    assert any("2 older decisions" in note for note in document["notes"])


def report_of(*results, timeless=(), not_retried=0):
    """The report of decisions that came out like this."""
    timeline = Timeline(timeless=[*timeless])
    arrival = Arrival(0, pod("x"), "a", True)
    made = CalibrationFacts(timeline, [Replay(arrival, result) for result in results], not_retried=not_retried)
    return report_builder.report(
        made, KnownHistory(timeline), metadata=Metadata(configuration="built-in defaults", inputs=[])
    )


@pytest.mark.parametrize(
    ("agreeing", "all_", "rate"),
    [(3999, 4000, 99.9), (4000, 4000, 100.0), (2, 3, 66.6), (1, 1001, 0.0), (999, 1000, 99.9)],
)
def test_the_rate_is_rounded_down_so_that_100_is_all(agreeing, all_, rate):
    results = [Result.AGREES] * agreeing + [Result.REFUSED] * (all_ - agreeing)
    assert report_of(*results).summary.agreement == rate


def test_decisions_with_generic_traces_only_are_counted_apart():
    bare, generic = report_of(Result.REFUSED).summary, report_of(Result.REFUSED, timeless=["default/y"]).summary
    assert (bare.unexplained, bare.generic, generic.unexplained, generic.generic) == (1, 0, 0, 1)


def test_the_lines_of_a_report_where_nothing_agrees():
    blocks = [
        block
        for block in calibrations.lines(report_of(Result.REFUSED, timeless=["default/y"]))
        if isinstance(block, Line)
    ]
    texts = ["".join(span.text for span in each.spans) for each in blocks]
    assert texts[:2] == [
        "0 of 1 decision agree: 0.0 %",
        "1 rejected, 1 of these with only causes that apply to almost any decision",
    ]


def test_pending_pods_that_are_not_asked_again_are_noted():
    assert any("3 more pending pods count as different" in each for each in report_of(not_retried=3).notes)
