"""The benchmarks run, on tiny clusters and without kube-scheduler, and what they show is what they measured."""

from __future__ import annotations

import json
import re
import shutil
import sys

import pytest

from benchmarks import commands, goals, growth, machines, mix_rates, oracles, page, profile, results, shapes, workloads
from benchmarks.mixes import MIXES
from benchmarks.shapes import VARIANTS, Sizes

TINY = Sizes(divisor=100, pods=12, exhaustive=5, sampled=8, runs=1)


def through_json(document):
    return json.loads(json.dumps(document))


def table(markdown: str) -> list[list[str]]:
    """The cells of all tables, row by row."""
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in markdown.splitlines() if row[:1] == "|"]


def comparison_row(shape: str, ours: float, exhaustive: float, sampled: float, differ: tuple[str, ...] = ()):
    """A row as if it were measured: a thousand of our pods, a hundred of theirs."""
    mine = {"pods": 1000, "seconds": 1000 / ours, "processorSeconds": 0.5, "firstSeconds": 0.002, "peakBytes": 64e6}
    sides = {"exhaustive": exhaustive, "sampled": sampled}
    return {
        "shape": shape,
        "nodes": 5000,
        "running": 1000,
        "goal": goals.least(shape),
        "ours": mine | {"secondsUntil": {"100": 100 / ours}},
        **{side: {"pods": 100, "seconds": 100 / rate} for side, rate in sides.items()},
        "ratios": {side: ours / rate for side, rate in sides.items()},
        "samePods": {side: ours / rate for side, rate in sides.items()},
        "decisions": {"replayed": 100, "differ": list(differ)},
    }


def document(*rows):
    return {"about": machines.about(), "sizes": vars(Sizes()), "rows": list(rows)}


@pytest.fixture(scope="module")
def alone():
    """A shape and a variant without the oracle."""
    names = ("SchedulingInTreePVs", "SchedulingBasic, batching")
    rows = [shapes.row(name, TINY, None) for name in names]
    return through_json({"about": machines.about(), "sizes": vars(TINY), "rows": rows})


@pytest.fixture(scope="module")
def growth_document():
    """Three points on two sweeps."""
    points = [(20, 40), (40, 40), (40, 80)]
    return through_json(growth.measure(points, {"nodes": 40, "running": 40}, list(growth.TEMPLATES), 2, 2))


def test_shape_has_a_row_in_the_table(alone):
    shown = table(shapes.as_markdown(alone))
    assert len(shown) == 2 + len(alone["rows"])
    for cells, row in zip(shown[2:], alone["rows"], strict=True):
        assert row["ours"]["placed"] == row["ours"]["pods"] == 12
        assert cells[:3] == [
            row["shape"],
            f"{row['nodes']} / {row['running']} / 12",
            f"{shapes.rate(row['ours']):,.0f}",
        ]
        assert f"{row['ours']['peakBytes'] / 1e6:,.0f}" in cells


def test_no_comparison_without_kube_scheduler(alone):
    markdown = shapes.as_markdown(alone)
    assert "nothing to compare with" in markdown
    assert "goal" not in markdown
    assert "kube-scheduler the first" not in markdown


@pytest.mark.parametrize(
    ("shape", "least"),
    [
        pytest.param("SchedulingBasic", 20, id="a plain shape"),
        pytest.param("SchedulingNodeAffinity", 20, id="affinity to nodes is plain"),
        pytest.param("SchedulingPreferredPodAffinity", 50, id="preferred affinity between pods"),
        pytest.param("SchedulingPodMatchingAntiAffinity", 50, id="pods that others keep away"),
        pytest.param("DefaultTopologySpreading", 50, id="spreading by default constraints"),
        pytest.param("SchedulingCSIPVs", 10, id="volumes"),
        pytest.param("SchedulingWithResourceClaimTemplate", 10, id="devices"),
        pytest.param("SchedulingDaemonset", 1, id="a single node is left by PreFilter"),
    ],
)
def test_the_goal_of(shape, least):
    assert goals.least(shape) == least


@pytest.mark.parametrize(
    ("mix", "least"),
    [
        pytest.param("plain", 40, id="plain pods"),
        pytest.param("soft both", 40, id="pods with terms"),
        pytest.param("claims", 15, id="volumes in a mix"),
        pytest.param("devices", 15, id="devices in a mix"),
    ],
)
def test_the_goal_of_a_mix(mix, least):
    assert goals.least_of_mix(MIXES[mix]) == least


def mix_row(mix: str, ours: float, exhaustive: float, differ: tuple[str, ...] = ()):
    """A row of a mix as if it were measured."""
    spent = {"all": 1e6 / ours, "first": 900.0}
    return {
        "mix": mix, "nodes": 5000, "running": 0, "templates": 100, "goal": goals.least_of_mix(MIXES[mix]),
        "exhaustive": {"pods": 100, "seconds": 100 / exhaustive, "runs": [100 / exhaustive]},
        "ours": {"pods": 100, "seconds": 100 / ours, "runs": [100 / ours], "spent": spent},
        "ratio": ours / exhaustive,
        "decisions": {"replayed": 100, "differ": list(differ)},
    }  # fmt: skip


def test_mixes_are_told_with_the_worst_and_together_with_the_shapes(monkeypatch):
    stored = document(*(comparison_row("SchedulingBasic", rate, 50, 500) for rate in (5000, 6000, 7000)))
    monkeypatch.setattr(results, "read", lambda name: stored)
    rows = [mix_row("plain", 4000, 100), mix_row("soft both", 1500, 50, differ=("default/app-0001-0000",))]
    markdown = mix_rates.as_markdown({"about": machines.about(), "seed": 0, "rows": rows})
    assert "Median over 2 mixes: 35x kube-scheduler judging every node (≥ 60x missed); the least 30x." in markdown
    assert "1 of 2 reached; missed: soft both." in markdown
    assert "together, 5, over the very same first pods: median 100x" in markdown
    assert "200 placements of kube-scheduler replayed, 1 not among our ties" in markdown


def test_encounters_are_counted_by_template():
    keys = [f"default/round-{turn}-app-{template}" for turn, template in enumerate((1, 2, 1, 1, 1))]
    found = mix_rates.encounters(keys, [9.0, 7.0, 5.0, 2.0, 4.0])
    assert found == {"all": 5.4, "first": 8.0, "second": 5.0, "later": 3.0}


def test_medians_and_goals_are_those_of_the_rows():
    basic, spread = comparison_row("SchedulingBasic", 6000, 50, 500), comparison_row("TopologySpreading", 2000, 50, 200)
    markdown = shapes.as_markdown(document(basic, spread))
    assert "Median over 2 shapes: 80x kube-scheduler judging every node (≥ 100x missed)" in markdown
    assert "11x kube-scheduler sampling (≥ 10x reached)" in markdown
    assert "1 of 2 reached; missed: TopologySpreading." in markdown
    assert [cells[6] for cells in table(markdown)[2:]] == ["≥ 20x reached", "≥ 50x missed"]
    assert "200 placements of kube-scheduler replayed, none not among our ties" in markdown


def test_differing_decision_is_reported():
    markdown = shapes.as_markdown(
        document(comparison_row("SchedulingBasic", 6000, 50, 500, differ=("default/a", "default/b")))
    )
    assert "2 of 100 differ" in markdown
    assert "100 placements of kube-scheduler replayed, 2 not among our ties" in markdown


def test_variants_have_no_goal_and_are_in_no_median():
    variant = comparison_row("SchedulingBasic", 500, 500, 500)
    variant["shape"] = "SchedulingBasic, batching"
    del variant["goal"]
    markdown = shapes.as_markdown(document(comparison_row("SchedulingBasic", 6000, 50, 500), variant))
    assert "Median over 1 shapes: 120x" in markdown
    assert "“SchedulingBasic, batching” is in no median" in markdown
    assert all(each.shape in workloads.SHAPES for each in VARIANTS.values())


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("go") is None, reason="the oracle is a Go program and Go is not here")
def test_both_sides_place_the_same_pods_and_agree():
    if not oracles.BUILT.exists():
        pytest.skip("the oracle is not built")
    row = shapes.row("Unschedulable", TINY, str(oracles.BUILT))
    assert row["decisions"] == {"replayed": row["exhaustive"]["pods"], "differ": []}
    assert row["ratios"]["exhaustive"] > 0
    assert set(row["samePods"]) == {"exhaustive", "sampled"}


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("go") is None, reason="the oracle is a Go program and Go is not here")
def test_both_sides_place_the_pods_of_a_mix_on_the_same_nodes():
    if not oracles.BUILT.exists():
        pytest.skip("the oracle is not built")
    row = mix_rates.row("soft both", str(oracles.BUILT), nodes=50, pods=220, seed=3, runs=1)
    assert row["decisions"] == {"replayed": 220, "differ": []}
    assert row["exhaustive"]["placed"] > 0
    assert set(row["ours"]["spent"]) == {"all", "first", "second", "later"}


def test_growth_is_measured_along_both_sweeps(growth_document):
    assert set(growth_document["exponents"]) == {"nodes", "running"}
    assert [row["nodes"] for row in growth.sweep(growth_document, "nodes")] == [20, 40]
    assert [row["running"] for row in growth.sweep(growth_document, "running")] == [40, 80]
    assert all(row["residentBytes"] > row["emptyBytes"] // 2 > 0 for row in growth_document["rows"])
    shown = [cells for cells in table(growth.as_markdown(growth_document)) if cells[:2] == ["20", "40"]]
    seconds = growth_document["rows"][0]["seconds"]["plain"]
    assert shown[0][6:8] == [f"{seconds[kind] * 1e6:,.0f}" for kind in ("new", "equal")]


def test_a_cost_that_doubles_with_the_nodes_is_linear():
    rows = [{"nodes": nodes, "seconds": {"plain": {"new": nodes * 1e-6}}} for nodes in (1000, 2000, 8000)]
    assert growth.slope(rows, "nodes", "plain", "new") == pytest.approx(1)


OUTSIDE = "<module> (<string>:1);measure (benchmarks/placing.py:70)"
PLACED = f"{OUTSIDE};place (benchmarks/placing.py:45)"
ENGINE = "attempt (schedctl/engine/attempts.py:12)"
SAMPLES = [
    f"{OUTSIDE};load (schedctl/sources/loading.py:3) 50",
    f"{PLACED};{ENGINE} 60",
    f"{PLACED};{ENGINE};PyObject_Call (libpython3.11.so);add (numpy/_core/_multiarray_umath.so) 30",
    f"{PLACED};{ENGINE};score (schedctl/plugins/node_name/plugin.py:9) 10",
]


def test_a_sample_belongs_to_the_deepest_module_of_ours_and_only_placing_counts():
    assert profile.shares(profile.stacks(SAMPLES)) == [
        {"module": "engine.attempts", "share": 0.9, "numpy": 0.3},
        {"module": "plugins.node_name.plugin", "share": 0.1, "numpy": 0.0},
    ]


def test_stacks_keep_every_sample():
    lines = [*SAMPLES, f"{PLACED};{ENGINE};rare (schedctl/plugins/rare.py:1) 0"]
    assert profile.top_stacks(profile.stacks(lines)) == {
        "engine.attempts:attempt": 60,
        "engine.attempts:attempt;numpy": 30,
        "engine.attempts:attempt;plugins.node_name.plugin:score": 10,
    }


@pytest.fixture
def profile_document():
    samples = profile.stacks(SAMPLES)
    row = {
        "shape": "Deployments",
        "samples": 100,
        "modules": profile.shares(samples),
        "stacks": profile.top_stacks(samples),
    }
    return {"about": machines.about(), "pods": None, "rows": [row]}


def test_modules_of_a_shape_are_listed(profile_document):
    markdown = profile.as_markdown(profile_document)
    assert ["Deployments", "100", "30%", "engine.attempts 90%, plugins.node_name.plugin 10%"] in table(markdown)
    assert ["engine.attempts", "90%", "30%"] in table(markdown)


def test_the_same_results_draw_the_same_charts(alone, growth_document, profile_document, tmp_path):
    charts = pytest.importorskip("benchmarks.charts", reason="matplotlib is in the group `bench`", exc_type=ImportError)
    drawn = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        charts.write(folder, alone, growth_document, profile_document)
        drawn.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {"shapes.svg", "growth.svg", "memory.svg", "flames-Deployments.svg"}


def test_page_equals_the_stored_results():
    text = page.PAGE.read_text(encoding="utf-8")
    assert [found[2] for found in page.MARKED.finditer(text)] == ["shapes", "mixes", "growth", "profile"]
    assert page.fill(text) == text


@pytest.mark.parametrize("name", page.WORDS)
def test_markdown_equals_its_result(name):
    assert (results.FOLDER / f"{name}.md").read_text(encoding="utf-8") == page.WORDS[name](results.read(name))


def test_whole_commands_are_told_beside_what_they_cannot_do_without(monkeypatch, capsys):
    small = ("--nodes", "20", "--running", "40", "--replicas", "8", "--members", "6", "--runs", "1")
    large = ("--large-nodes", "20", "--large-running", "40")
    monkeypatch.setattr(sys, "argv", ["commands", *small, *large])
    commands.main()
    printed = capsys.readouterr().out
    named = "explain pod", "capacity", "drain", "snapshot create", "rolling update of 8 replicas", "gang of 6"
    assert all(re.search(rf"{name}.* s +[0-9.]+x \(goal", printed) for name in named)
    assert re.search(r"20 nodes, 40 running pods: 0\.\d+ GB at most", printed)
