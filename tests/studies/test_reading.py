"""Studies as they are written: every mistake with its place, before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedctl.errors import ConfigError
from schedctl.studies import reading

HEAD = "apiVersion: schedctl.dev/v1alpha1\nkind: Study\nmetadata: {name: s}\nspec:\n"
GOOD = HEAD + "  state: [cluster.yaml]\n  pending: {}\n"


def read(tmp_path, text, **variables):
    file = tmp_path / "study.yaml"
    file.write_text(text)
    return reading.read(str(file), variables)


def problems(tmp_path, text, **variables):
    with pytest.raises(ConfigError) as fault:
        read(tmp_path, text, **variables)
    return [
        (each.line, each.path, str(each).rpartition(f"{each.path}: ")[2], each.hint) for each in fault.value.problems
    ]


@pytest.mark.parametrize(
    ("text", "line", "path", "message"),
    [
        pytest.param(
            GOOD + "  axes: {sedes: {count: 3}}\n", 7, "spec.axes.sedes", 'unknown field "sedes"', id="an unknown axis"
        ),
        pytest.param(
            GOOD + "  axes:\n    seeds: {first: 3}\n",
            8,
            "spec.axes.seeds",
            "no seeds: count is the number of them",
            id="no seeds",
        ),
        pytest.param(GOOD + "  axes:\n    lose: {}\n", 8, "spec.axes.lose", "nothing to lose", id="nothing to lose"),
        pytest.param(
            GOOD + "  axes:\n    lose: {each: node, together: 2}\n",
            8,
            "spec.axes.lose",
            "several at once are drawn: count is the number of draws",
            id="several at once without a number of draws",
        ),
        pytest.param(
            GOOD + "  axes:\n    weights: {grid: {NodeResourcesFit: []}}\n",
            8,
            "spec.axes.weights.grid.NodeResourcesFit",
            "expected weights of at least 1",
            id="an empty grid",
        ),
        pytest.param(
            GOOD + "  axes:\n    weights: {draw: {NodeResourcesFit: [5, 1]}, count: 2}\n",
            8,
            "spec.axes.weights.draw.NodeResourcesFit",
            "expected the least and the largest weight",
            id="weights drawn from nothing",
        ),
        pytest.param(
            GOOD + "  axes:\n    scale: {deploy/a/b: []}\n",
            8,
            "spec.axes.scale.deploy/a/b",
            "expected numbers of pods",
            id="an empty scale",
        ),
        pytest.param(
            GOOD + "  axes:\n    configurations: []\n",
            8,
            "spec.axes.configurations",
            "an axis without values",
            id="an axis of nothing",
        ),
        pytest.param(
            GOOD + "  axes:\n    featureGates: []\n",
            8,
            "spec.axes.featureGates",
            "an axis without values",
            id="an axis of no gates",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run:\n    trace: {openb: p}\n"
            "    arrivals: {process: inflated, of: cpu, share: 130}\n",
            8,
            "spec.run.arrivals.share",
            "130 times the capacity is more than 100",
            id="a share in percent",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run:\n    trace: {openb: p}\n"
            "    arrivals: {process: poisson, rate: 1, count: 99999999999}\n",
            8,
            "spec.run.arrivals.count",
            "99,999,999,999 pods are more than 10,000,000",
            id="more pods than anybody could wait for",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run:\n    trace: {openb: p}\n"
            "    arrivals: {process: inflated, of: cpu, share: 1.3}\n    at: [90, 140]\n",
            9,
            "spec.run.at[1]",
            "140 % never arrive",
            id="metrics of what never arrives",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run:\n    trace: {openb: p}\n    at: [90]\n  decisive: bound@9\n",
            9,
            "spec.decisive",
            'no metric is taken at "9" %',
            id="a decisive number that is not taken",
        ),
        pytest.param(HEAD + "  pending: {}\n", 5, "spec.state", "no cluster state given", id="no state"),
        pytest.param(
            HEAD + "  state: [a]\n  pending: {}\n  drain: {zone: a}\n",
            7,
            "spec.drain",
            "expected one question, found pending and drain",
            id="two questions",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  simulate: {}\n",
            6,
            "spec.simulate",
            "no manifests given",
            id="a simulation of nothing",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  drain: {}\n",
            6,
            "spec.drain",
            "expected one of nodes, selector and zone",
            id="no nodes to drain",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run: {}\n",
            6,
            "spec.run.trace",
            "expected a trace: openb or timeline",
            id="a run without pods",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run:\n    trace: {openb: p}\n    arrivals: {process: poisson}\n",
            8,
            "spec.run.arrivals",
            "poisson needs a rate and a count, both positive",
            id="a process without a rate",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run:\n    trace: {openb: p}\n    by: gpus\n",
            8,
            "spec.run.by",
            'no resource "gpus" is counted',
            id="metrics by a resource that nobody counts",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  run:\n    trace: {openb: p}\n    resources: [{name: gpu}, {name: cpu}]\n",
            8,
            "spec.run.resources[1]",
            'resource "cpu" is counted already',
            id="a resource twice",
        ),
        pytest.param(
            HEAD + "  state: [a]\n  pending: 5\n",
            6,
            "spec.pending",
            "expected a mapping, got the number 5",
            id="a question that is none",
        ),
        pytest.param(
            HEAD + '  state: ["${dir}/a"]\n  pending: {}\n',
            5,
            "spec.state[0]",
            "no value for ${dir}",
            id="a variable nobody set",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path, text, line, path, message):
    assert (line, path, message) in [each[:3] for each in problems(tmp_path, text)]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path):
    text = HEAD + "  state: [a]\n  simulate: {}\n  axes:\n    seeds: {}\n    lose: {}\n"
    assert [each[0] for each in problems(tmp_path, text)] == [6, 8, 9]


@pytest.mark.parametrize(
    "axes", ["seeds: {count: many}", "seeds: {conut: 3}", "lose: {each: node, together: 2, conut: 4}"]
)
def test_what_only_follows_from_a_mistake_is_not_told_beside_it(tmp_path, axes):
    (found,) = problems(tmp_path, f"{GOOD}  axes: {{{axes}}}\n")
    assert found[1].endswith(("count", "conut"))


def test_a_close_name_is_offered(tmp_path):
    (found,) = problems(tmp_path, GOOD + "  axes: {seed: {count: 3}}\n")
    assert found[3] == 'did you mean "seeds"?'
    (found,) = problems(tmp_path, HEAD + '  state: ["${opneb}"]\n  pending: {}\n', openb="x")
    assert found[3] == 'did you mean "openb"?'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("kind: Study\n", "apiVersion", id="no version"),
        pytest.param("apiVersion: schedctl.dev/v1alpha1\nkind: CheckPolicy\n", 'expected "Study"', id="another kind"),
        pytest.param("a: [", r"study\.yaml:2:1", id="no YAML"),
    ],
)
def test_a_file_that_is_no_study_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: cannot be read: no such file or directory"):
        reading.read("nowhere.yaml", {})


def test_paths_begin_in_the_folder_of_the_study_and_profiles_that_ship_are_none(tmp_path):
    (tmp_path / "mine.yaml").touch()
    (tmp_path / "plugin.py").touch()
    text = (
        HEAD
        + "  state: [c.yaml, /abs.yaml]\n  configuration: mine.yaml\n  plugins: ['plugin.py:Fence', 'module:Fence']\n"
        + "  simulate: {manifests: [m.yaml]}\n  axes: {configurations: [default, mine.yaml], states: [s.json]}\n"
    )
    spec = read(tmp_path, text).study.spec
    here = str(tmp_path)
    assert spec.state == (f"{here}/c.yaml", "/abs.yaml")
    assert spec.configuration == f"{here}/mine.yaml"
    assert spec.plugins == (f"{here}/plugin.py:Fence", "module:Fence")
    assert spec.simulate.manifests == (f"{here}/m.yaml",)
    assert spec.axes.configurations == ("default", f"{here}/mine.yaml")
    assert spec.axes.states == (f"{here}/s.json",)


def test_variables_are_part_of_the_digest(tmp_path):
    text = HEAD + '  state: ["${dir}/a"]\n  pending: {}\n'
    one, other = read(tmp_path, text, dir="x"), read(tmp_path, text, dir="y")
    assert one.study.spec.state == (str(Path(tmp_path) / "x/a"),)
    assert one.digest != other.digest


@pytest.mark.parametrize(
    ("fields", "path", "message", "hint"),
    [
        ("pending: wait", "spec.run.pending", 'unknown value "wait"', "expected one of drop, retry"),
        ("ties: random", "spec.run.ties", 'unknown value "random"', "expected one of byName, shuffled, drawn"),
        ("ties: '${TIES}'", "spec.run.ties", 'unknown value "draw"', 'did you mean "drawn"?'),
        ("arrivals: {process: poison}", "spec.run.arrivals.process", 'unknown value "poison"', '"poisson"'),
    ],
)
def test_a_word_that_a_field_does_not_take_is_told_with_those_it_takes(tmp_path, fields, path, message, hint):
    text = HEAD + f"  run:\n    nodes: nodes.csv\n    trace: {{openb: pods.csv}}\n    {fields}\n"
    ((line, found, told, next_step),) = problems(tmp_path, text, TIES="draw")
    assert (line, found) == (8, path)
    assert told == message
    assert hint in next_step


def test_a_variable_stands_for_a_word_too(tmp_path):
    text = HEAD + "  run:\n    nodes: nodes.csv\n    trace: {openb: pods.csv}\n    ties: ${TIES}\n"
    assert read(tmp_path, text, TIES="drawn").study.spec.run.ties == "drawn"
