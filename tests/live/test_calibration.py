"""``schedctl calibrate`` beside the real kube-scheduler: its decisions come out the same, or bear a trace."""

import json
import shutil

import pytest

from schedctl.cli.running import run
from tests.cluster.scenarios import ScenarioAction, furniture, steps
from tests.cluster.test_real_scheduler import change, key_of
from tests.live import control_planes

pytestmark = pytest.mark.cluster


@pytest.fixture
def control_plane():
    """A control plane for each test: claims of devices that were allocated outlive what a test clears away."""
    if shutil.which("go") is None:
        pytest.skip("the control plane is built with Go and Go is not here")
    with control_planes.run_control_plane() as started:
        yield started


@pytest.fixture
def calibrate(control_plane, capsys):
    """Run ``schedctl calibrate -o json`` and return the report."""

    def ask(*arguments):
        capsys.readouterr()
        code = run(["calibrate", "-o", "json", "--kubeconfig", str(control_plane.kubeconfig), *arguments])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return json.loads(printed.out)

    return ask


def run_workload(api, steps):
    """Let the real kube-scheduler play a story, one step after the other."""
    for obj in furniture():
        api.create(obj)
    with api.watch_pods() as watch, api.run_scheduler() as scheduler:
        for step in steps:
            change(api, step)
            scheduler.settle(watch, [key_of(step.subject)] if step.action is ScenarioAction.CREATE else ())


def unchanged_cluster():
    """The pods of the story that are created and stay; nobody is evicted, cordoned or relabelled.

    Without those that wait for the pod after them: both are bound in the same moment, and times do not tell who was
    first.
    """
    return [
        step
        for step in steps()
        if step.action is ScenarioAction.CREATE
        and not step.subject["spec"].get("priorityClassName")
        and step.subject["metadata"]["labels"].get("app") != "early"
    ]


def test_every_decision_is_reproduced_on_an_unchanged_cluster(control_plane, calibrate):
    run_workload(control_plane.api, unchanged_cluster())
    report = calibrate("--last", "1000")
    differing = [each for each in report["decisions"] if each["outcome"] != "Agrees"]
    assert [(each["pod"], each["text"]) for each in differing] == []
    summary = report["summary"]
    assert (summary["agreement"], summary["inconclusive"], report["notReplayed"]) == (100.0, 0, [])
    assert summary["decisions"] >= 100
    assert summary["alone"] >= 50
    assert summary["refusals"] == summary["refusalsAgree"] >= 10
    plugins = {each["plugin"]: each for each in report["plugins"]}
    assert len(plugins) >= 12
    assert all(each["accepts"] == each["asked"] and each["same"] == each["reasons"] for each in report["plugins"])
    assert all(each["outvotes"] == 0 for each in report["plugins"])


def test_every_difference_on_a_changing_cluster_has_a_note(control_plane, calibrate):
    run_workload(control_plane.api, steps())
    report = calibrate()
    summary = report["summary"]
    assert summary["decisions"] >= 100
    assert summary["lower"] + summary["refused"] >= 1
    assert summary["unexplained"] == 0
    assert summary["refusals"] == summary["refusalsAgree"] >= 10
