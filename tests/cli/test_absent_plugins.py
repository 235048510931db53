"""Profiles with plugins of other projects: the known plugins answer; what others could change is inconclusive."""

from __future__ import annotations

import json

import pytest

from schedctl.config.expansion import absent_plugins
from schedctl.config.loading import load
from schedctl.plugins.in_tree import IN_TREE
from schedctl.testing.builders import HOSTNAME

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n"


def node(name: str, cpu: str) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }


def pod(name: str, cpu: str, on: str = "", priority: int = 0) -> dict:
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"containers": [container], "nodeName": on, "priority": priority},
    }


OBJECTS = [
    *(node("a", "4"), node("b", "4"), node("big", "16")),
    *(pod("anywhere", "100m"), pod("one-node", "8"), pod("huge", "64"), pod("important", "14", priority=100)),
    pod("running", "4", on="big"),
]


@pytest.fixture
def explain(schedctl, tmp_path):
    """Explain a pod with Strange, or others, at some points, and return the ended command."""
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}))

    def ask(name: str, plugins: str, *options: str, command: tuple[str, ...] = ("explain",)):
        file = tmp_path / "config.yaml"
        file.write_text(HEAD + plugins)
        subject = ("pod", name) if name else ()
        return schedctl(*command, *subject, "-f", str(state), "--scheduler-config", str(file), *options)

    return ask


def at(*points: str) -> str:
    return "".join(f"    {point}: {{enabled: [{{name: Strange}}]}}\n" for point in points)


FITS = "that it fits, and where, is a guess"
WHERE = "the chosen node is a guess"
PREEMPTION = "the result of preemption is a guess"
NOTHING = "it might give other reasons, which would change nothing"


@pytest.mark.parametrize(
    ("point", "name", "verdict", "consequence"),
    [
        pytest.param("filter", "anywhere", "Inconclusive", FITS, id="a filter could reject the node"),
        pytest.param("preFilter", "anywhere", "Inconclusive", FITS, id="a PreFilter could reject all nodes"),
        pytest.param("preEnqueue", "anywhere", "Inconclusive", FITS, id="a PreEnqueue could hold the pod back"),
        pytest.param("permit", "anywhere", "Inconclusive", FITS, id="a Permit could refuse what was chosen"),
        pytest.param("score", "anywhere", "Inconclusive", WHERE, id="a score could prefer another node"),
        pytest.param("score", "one-node", "Scheduled", "", id="nobody scores a single node"),
        pytest.param("filter", "one-node", "Inconclusive", FITS, id="a filter could reject the only node"),
        pytest.param("filter", "huge", "Unschedulable", NOTHING, id="no filter makes a node feasible"),
        pytest.param("score", "huge", "Unschedulable", "", id="no score makes a node feasible"),
        pytest.param("permit", "huge", "Unschedulable", NOTHING, id="no Permit makes a node feasible"),
        pytest.param("filter", "important", "Inconclusive", "that no node is feasible", id="preemption asks filters"),
        pytest.param("postFilter", "huge", "Inconclusive", PREEMPTION, id="a PostFilter could make room"),
        pytest.param("postFilter", "anywhere", "Scheduled", NOTHING, id="nobody makes room where there is"),
        pytest.param("postBind", "anywhere", "Scheduled", NOTHING, id="after binding all is decided"),
        pytest.param("multiPoint", "anywhere", "Inconclusive", FITS, id="one for every point could do anything"),
    ],
)
def test_an_answer_is_inconclusive_where_a_plugin_that_is_not_there_could_matter(
    explain, point, name, verdict, consequence
):
    ended = explain(name, at(point), "-o", "json")
    (result,) = json.loads(ended.out)["results"]
    assert result["verdict"] == verdict
    assert ended.code == (5 if verdict == "Inconclusive" else 0)
    texts = [guess["text"] for guess in result["guesses"] if guess["kind"] == "Plugin"]
    assert [guess["plugin"] for guess in result["guesses"]] == (["Strange"] if texts else [])
    assert bool(texts) == bool(consequence)
    for text in texts:
        assert text.startswith("Strange was not asked (not part of schedctl; `--plugin FILE` loads one of your own): ")
        assert consequence in text


def test_who_was_not_asked_stands_in_the_first_line_and_in_a_warning(explain):
    ended = explain("anywhere", at("filter", "score"))
    assert "INCONCLUSIVE (Strange not asked; without them: " in ended.out
    assert "enables Strange, which schedctl does not have" in " ".join(ended.err.split())
    assert "`--plugin FILE` loads one that you have in Python" in " ".join(ended.err.split())


def test_somebody_elses_queue_and_bind_give_way_to_kubernetes_own(explain):
    plugins = "".join(
        f"    {point}: {{disabled: [{{name: '*'}}], enabled: [{{name: Strange}}]}}\n" for point in ("queueSort", "bind")
    )
    ended = explain("anywhere", plugins, "-o", "json")
    assert json.loads(ended.out)["results"][0]["verdict"] == "Scheduled"
    # Of several pods the order could decide who is placed.
    ended = explain("", plugins, command=("simulate", "fixtures/workloads/ledger.yaml"))
    assert "INCONCLUSIVE: Strange not asked" in ended.out


@pytest.mark.parametrize(("choice", "code"), [("fail", 5), ("warn", 0), ("ignore", 0)])
def test_check_does_with_it_what_inconclusive_results_do(explain, choice, code):
    ended = explain("", at("filter"), "--on-inconclusive", choice, command=("check", "fixtures/workloads/nightly.yaml"))
    assert ended.code == code, ended.err
    assert "Strange was not asked" in " ".join(ended.out.split()) or choice == "ignore"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("NodeResourceFit", 'did you mean "NodeResourcesFit"?', id="a misspelt one"),
        pytest.param("NodeLabel", "left in v1.23", id="one that left"),
        pytest.param("GangScheduling", "behind a feature gate", id="one behind a gate"),
    ],
)
def test_what_is_no_plugin_of_another_project_is_refused(explain, name, message):
    ended = explain("anywhere", at("filter").replace("Strange", name))
    assert ended.code == 2
    assert message in " ".join(ended.err.split())


@pytest.mark.parametrize("command", [("profiles", "validate"), ("profiles", "show")])
def test_commands_about_a_configuration_refuse_what_they_cannot_know(schedctl, tmp_path, command):
    file = tmp_path / "config.yaml"
    file.write_text(HEAD + at("filter"))
    ended = schedctl(*command, str(file))
    assert ended.code == 2
    assert 'FilterPlugin "Strange" does not exist' in ended.err


def test_a_plugin_for_every_point_takes_part_in_those_that_do_not_disable_it():
    configuration = load(
        HEAD
        + at("multiPoint")
        + "    score: {disabled: [{name: Strange}]}\n"
        + "    bind: {disabled: [{name: '*'}], enabled: [{name: DefaultBinder}]}\n"
    )
    points = absent_plugins(configuration.profiles[0].plugins, IN_TREE)["Strange"]
    assert {"filter", "permit", "preEnqueue"} < points
    assert points.isdisjoint(("score", "bind"))


def test_plugins_that_were_not_asked_for_the_same_reason_are_told_together(explain):
    names = ("Four", "One", "Three", "Two")
    enabled = ", ".join(f"{{name: {name}}}" for name in names)
    ended = explain("anywhere", f"    filter: {{enabled: [{enabled}]}}\n    score: {{enabled: [{{name: Taste}}]}}\n")
    assert "INCONCLUSIVE (Four, One, Three and 2 more not asked; without them: " in ended.out
    out = " ".join(ended.out.split())
    why = "(not part of schedctl; `--plugin FILE` loads one of your own)"
    assert f"guess: Four, One, Three and 1 more were not asked {why}: {FITS}" in out
    assert f"guess: Taste was not asked {why}: {WHERE}" in out
