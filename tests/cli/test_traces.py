"""Traces: written by what schedules, shown pod by pod, and compared."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from schedctl.simulation import timeline

SHOP = ("-f", "fixtures/clusters/shop")
SPRING = "fixtures/releases/spring"
PREEMPTOR = "payments-8577ff6967-6n7pn"


@pytest.fixture
def trace(schedctl, tmp_path):
    """Run a command with --trace and return the file."""

    def write(*arguments, name="run.jsonl"):
        path = tmp_path / name
        schedctl(*arguments, "--trace", str(path))
        return str(path)

    return write


def records(path):
    return list(timeline.read(Path(path).read_bytes().splitlines()))


def valid(schedctl, ended):
    report = json.loads(ended.out)
    jsonschema.validate(report, json.loads(schedctl("schema", report["kind"]).out))
    return report


def test_the_life_of_a_pod_has_every_step_and_the_evictions_for_it(schedctl, trace):
    ended = schedctl("trace", "show", trace("simulate", SPRING, *SHOP), PREEMPTOR)
    assert ended.code == 0
    lines = [line.split("  ")[-1].strip() for line in ended.out.splitlines()]
    assert lines[0].endswith("11 steps, bound to general-b-2")
    assert lines[1] == "to Active by UnscheduledPodAdd"
    assert any(line.startswith("pod batch/report-29387820-5ndlc: evicted from general-b-2") for line in lines)
    assert lines[-1] == "bound to general-b-2"


def test_without_a_pod_all_pods_are_listed_with_their_end(schedctl, trace):
    path = trace("simulate", SPRING, *SHOP)
    report = valid(schedctl, schedctl("trace", "show", path, "-o", "json"))
    ends = {each["pod"]: (each["attempts"], each["node"]) for each in report["pods"]}
    assert ends[f"shop/{PREEMPTOR}"] == (2, "general-b-2")
    assert "shop/web-7d9c6b5f4d-jbljm" in ends
    assert f"pod/{PREEMPTOR} node/general-b-2" in schedctl("trace", "show", path, "-o", "name").out


def test_equal_runs_have_no_differences(schedctl, trace):
    first, again = (trace("simulate", SPRING, *SHOP, name=name) for name in ("a", "b"))
    ended = schedctl("trace", "diff", first, again, "--exit-code")
    assert (ended.code, ended.out) == (0, "no differences: every step is the same\n")


def test_a_difference_is_the_first_step_and_the_pods_that_end_elsewhere(schedctl, trace):
    first = trace("simulate", SPRING, *SHOP, name="a")
    other = trace("simulate", SPRING, *SHOP, "--profile", "bin-packing", name="b")
    report = valid(schedctl, schedctl("trace", "diff", first, other, "-o", "json"))
    assert not report["summary"]["equal"]
    parted = timeline.difference(records(first), records(other))
    assert report["line"] == parted.line
    assert {each["pod"] for each in report["placements"]} >= {"preview/web-bbf89dd4-2fnfg"}
    assert schedctl("trace", "diff", first, other, "--exit-code").code == 1


def test_explain_writes_the_attempt_of_each_pod(schedctl, trace):
    found = records(trace("explain", "--all-pending", *SHOP))
    refused = {each.pod: each for each in found if isinstance(each, timeline.Refused)}
    chosen = {each.pod: each for each in found if isinstance(each, timeline.Chosen)}
    report = json.loads(schedctl("explain", "--all-pending", *SHOP, "-o", "json").out)
    for result in report["results"]:
        for pod in result["pods"]:
            if result["verdict"] == "Unschedulable":
                assert refused[pod].message == result["message"]
            elif result["verdict"] == "Scheduled":
                assert (chosen[pod].node, chosen[pod].ties) == (result["chosen"], len(result["ties"]))
    assert refused


def test_bind_writes_the_attempt(schedctl, trace):
    found = records(trace("bind", "shop/fits", *SHOP, "-f", "fixtures/pods", "--force-scheduler"))
    assert [type(each) for each in found] == [timeline.Chosen]


def test_explain_of_one_pod_is_a_trace_of_one_life(schedctl, trace):
    path = trace("explain", "shop/fits", *SHOP, "-f", "fixtures/pods")
    assert "attempt 1: general-b-1 chosen" in schedctl("trace", "show", path).out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(b'{"kind": "Bound", "at": 0, "pod": "a/b", "node": "n"}\nnonsense\n', ":2: is not", id="nonsense"),
        pytest.param(b'{"kind": "Sundial"}\n', ":1: is not a step of a trace", id="an unknown step"),
        pytest.param(b"[" * 100_000, ":1: is not a step of a trace", id="brackets"),
        pytest.param(b"\xff\xfe\n", ":1: is not a step of a trace", id="no text"),
        pytest.param(b"1" * (2 << 20), ":1: is longer than 1 MiB", id="an endless line"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(schedctl, tmp_path, text, says):
    path = tmp_path / "run.jsonl"
    path.write_bytes(text)
    ended = schedctl("trace", "show", str(path))
    assert ended.code == 3
    assert says in ended.err


def test_a_pod_that_is_not_in_the_trace_is_an_error_with_the_nearest_name(schedctl, trace):
    path = trace("simulate", SPRING, *SHOP)
    ended = schedctl("trace", "show", path, f"shop/{PREEMPTOR}x")
    assert ended.code == 2
    assert f"did you mean shop/{PREEMPTOR}?" in ended.err


@pytest.mark.parametrize("arguments", [("--compare", "bin-packing"), ()])
def test_a_trace_that_cannot_be_written_or_made_is_an_error(schedctl, arguments):
    ended = schedctl("explain", "--all-pending", *SHOP, *arguments, "--trace", "none/x")
    assert ended.code == 2
    assert "--trace" in ended.err if arguments else "the trace cannot be written" in ended.err
