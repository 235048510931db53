"""The FGD study: six policies on a made trace of openb's form, by their own rules and by the study file."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from schedctl.scheduler import Scheduler
from schedctl.studies import forms, reading, sweeps
from schedctl.studies.engines import Processes
from schedctl.studies.traces import GPU, GPU_COUNT
from schedctl.testing.builders import cluster, node, pod

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "examples/studies/fgd"
MADE = STUDY / "made"
POLICIES = {
    "fgd": "FGD",
    "best_fit": "BestFit",
    "gpu_packing": "GpuPacking",
    "gpu_clustering": "GpuClustering",
    "dot_prod": "DotProd",
    "random_fit": "RandomFit",
}


def scheduler(state, module, name):
    text = (STUDY / f"profiles/{module.replace('_', '-')}.yaml").read_text()
    if name == "FGD":
        text += f"  pluginConfig: [{{name: FGD, args: {{pods: {MADE}/openb_pod_list_default.csv}}}}]\n"
    return Scheduler.configured(state, text, [str(STUDY / "gpu_share.py"), str(STUDY / f"{module}.py")])


def gpus(name, count, milli, cpu="1"):
    return pod(name, cpu=cpu, metadata={"uid": name, "annotations": {GPU_COUNT: str(count), GPU: str(milli)}})


def place(of, *pods):
    nodes = []
    for each in pods:
        attempt = of.attempt(each)
        assert not attempt.error
        nodes.append(attempt.chosen)
        if attempt.fits:
            of.place(attempt)
    return nodes


def lone(name, devices, cpu="64"):
    return node(name, cpu=cpu, **{GPU: str(1000 * devices)})


@pytest.mark.parametrize("module", sorted(POLICIES))
def test_a_policy_is_at_most_80_lines(module):
    assert len((STUDY / f"{module}.py").read_text().splitlines()) <= 80


@pytest.mark.parametrize(("module", "name"), sorted(POLICIES.items()))
def test_devices_are_never_given_twice(module, name):
    of = scheduler(cluster(lone("a", 2)), module, name)
    pods = [gpus("share-1", 1, 600), gpus("share-2", 1, 600), gpus("share-3", 1, 400), gpus("share-4", 1, 400)]
    assert place(of, *pods, gpus("share-5", 1, 100)) == ["a"] * 4 + [""]


@pytest.mark.parametrize(("module", "name"), sorted(POLICIES.items()))
def test_a_fork_that_is_left_gives_devices_back(module, name):
    of = scheduler(cluster(lone("a", 1)), module, name)
    with of.fork():
        assert place(of, gpus("x", 1, 1000), gpus("y", 1, 1)) == ["a", ""]
    assert place(of, gpus("z", 1, 1000)) == ["a"]


def test_whole_devices_and_shares_are_apart():
    of = scheduler(cluster(lone("a", 2)), "best_fit", "BestFit")
    assert place(of, gpus("share", 1, 100), gpus("both", 2, 1000), gpus("one", 1, 1000)) == ["a", "", "a"]


@pytest.mark.parametrize(
    ("module", "there", "coming", "chosen"),
    [
        pytest.param("best_fit", [], gpus("x", 1, 1000), "small", id="BestFit leaves little behind"),
        pytest.param("dot_prod", [], gpus("x", 1, 1000), "small", id="DotProd avoids what is large and free"),
        pytest.param("gpu_packing", [("big", 500)], gpus("x", 1, 500), "big", id="GpuPacking fills devices in use"),
        pytest.param(
            "gpu_clustering", [("big", 1000)], gpus("x", 1, 1000), "big", id="GpuClustering goes where its like is"
        ),
        pytest.param(
            "gpu_clustering", [("small", 500)], gpus("x", 1, 1000), "big", id="GpuClustering shuns other kinds"
        ),
        pytest.param("fgd", [("big", 500)], gpus("x", 1, 500), "big", id="FGD completes a broken device"),
    ],
)
def test_a_policy_prefers(module, there, coming, chosen):
    state = cluster(lone("big", 8), lone("small", 1))
    of = scheduler(state, module, POLICIES[module])
    for number, (name, milli) in enumerate(there):
        of.place(of.attempt(gpus(f"there-{number}", 1, milli)), name)
    assert of.attempt(coming).chosen == chosen


def test_fragmentation_is_what_typical_pods_could_not_use():
    of = scheduler(cluster(lone("a", 2)), "fgd", "FGD")
    fgd = of.profiles["default-scheduler"].plugins["FGD"]
    with (MADE / "openb_pod_list_default.csv").open() as file:
        asked = [(int(r["cpu_milli"]), int(r["num_gpu"]), int(r["gpu_milli"])) for r in csv.DictReader(file)]
    kinds = sorted(set(asked), key=lambda kind: -asked.count(kind))
    typical, total = [], 0
    for kind in kinds:
        if total < 0.95 * len(asked):
            typical.append(kind)
            total += asked.count(kind)
    devices, cpu = [1000, 300, 0, 0, 0, 0, 0, 0], 5_000
    expected = 0.0
    for kind_cpu, count, milli in typical:
        fits = count > 0 and cpu >= kind_cpu and sum(left >= milli for left in devices) >= count
        unusable = sum(left for left in devices if left < milli) if fits else sum(devices)
        expected += unusable * asked.count((kind_cpu, count, milli)) / total
    found = fgd.fragmentation(np.array([devices]), np.array([cpu]))[0]
    assert found / total == pytest.approx(expected)


def test_where_nothing_is_gained_a_node_has_half_the_score():
    state = cluster(lone("a", 0), lone("b", 1), *(lone(f"c{number}", 3) for number in range(40)))
    attempt = scheduler(state, "fgd", "FGD").attempt(pod("x", cpu="100m", metadata={"uid": "x"}))
    (scores,) = attempt.scoring.plugins
    assert set(scores.raw.tolist()) == {50}


def test_the_study_runs_on_the_made_trace_whoever_runs_it(tmp_path):
    read = reading.read(str(STUDY / "study.yaml"), {"openb": str(MADE)})
    assert read.study.spec.axes.seeds.count == 10  # of which two are enough here
    axes = replace(read.study.spec.axes, seeds=forms.SeedsForm(first=42, count=2))
    study = replace(read.study, spec=replace(read.study.spec, axes=axes))
    prepared = sweeps.prepare(reading.ReadStudy(study, read.source, read.digest))
    report = sweeps.sweep(prepared, str(tmp_path / "a.jsonl"))
    sweeps.sweep(prepared, str(tmp_path / "b.jsonl"), engine=Processes(2))
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert (report.summary.answered, report.errors) == (12, {})
    compared = subprocess.run(
        [sys.executable, str(STUDY / "compare.py"), str(tmp_path / "a.jsonl"), str(MADE), str(tmp_path / "a.svg")],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout
    assert compared.count("\n") == 2 + 3 * len(POLICIES)
    assert (tmp_path / "a.svg").read_text().count('class="line p') == len(POLICIES)
    mean = {group.value: group.distribution.mean for group in report.groups if group.axis == "configuration"}
    assert mean["fgd"] > mean["random-fit"]


@pytest.fixture(autouse=True)
def _paths_are_put_back():
    """Files of plugins put their folder on the path."""
    before = list(sys.path)
    yield
    sys.path[:] = before
