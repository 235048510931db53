"""What holds for all examples: they load, they are documented, they cover every extension point, they keep the laws."""

from __future__ import annotations

import ast
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.framework.group_points import GROUP_POINTS
from schedctl.framework.points import POINTS, FilterPlugin, ScorePlugin
from schedctl.scheduler import Scheduler, discovery
from schedctl.session import configurations
from schedctl.session.states import StateSource
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.laws import check
from tests.examples.conftest import PLUGINS, PROFILES, ROOT

FILES = sorted(PLUGINS.glob("*.py"))
INDEX = (PLUGINS / "README.md").read_text(encoding="utf-8")


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def file(request):
    return request.param


def plugin_of(file):
    (plugin,) = discovery.load(str(file))
    return plugin


def test_every_extension_point_has_an_example():
    shown = {point for file in FILES for point, base in POINTS.items() if issubclass(plugin_of(file), base)}
    assert shown == set(POINTS)


def test_an_example_has_one_plugin_which_its_docstring_names_first(file):
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert text.startswith(f"{plugin_of(file).name}: ")


def test_the_index_lists_an_example_with_its_extension_points(file):
    (row,) = (line for line in INDEX.splitlines() if f"({file.name})" in line)
    every = {**POINTS, **GROUP_POINTS}
    points = [point for point, base in every.items() if issubclass(plugin_of(file), base)]
    assert re.findall(r"`(\w+)`", row.split("|")[2]) == points


def test_the_commands_of_an_example_name_files_that_are_there(file):
    named = re.findall(r"examples/\S+\.(?:py|yaml)", file.read_text(encoding="utf-8"))
    assert f"examples/plugins/{file.name}" in named
    assert [path for path in named if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("profile", sorted(PROFILES.glob("*.yaml")), ids=lambda file: file.stem)
def test_a_profile_makes_a_scheduler_in_which_its_plugin_takes_part(profile, example):
    loaded = example(profile.stem.replace("-", "_"))
    profiles = loaded.scheduler(cluster()).profiles
    assert {plugin_of(PLUGINS / f"{profile.stem.replace('-', '_')}.py").name} <= profiles[
        "default-scheduler"
    ].plugins.keys()


ANNOTATIONS = st.fixed_dictionaries(
    {},
    optional={"fpga.example.com/slots": st.sampled_from(["", "0", "0,1", " 1 , 2", ",,"])},
)
LABELS = st.fixed_dictionaries(
    {},
    optional={
        "team": st.sampled_from(["red", "blue", ""]),
        "power.example.com/price": st.sampled_from(["0.3", "0.31", "1e3", "-1", "nan", "inf", "free", "9e99"]),
    },
)
SLOTS = st.fixed_dictionaries({}, optional={"fpga.example.com/slots-wanted": st.sampled_from(["0", "1", "2", "many"])})


@pytest.mark.parametrize("name", [f.stem for f in FILES if issubclass(plugin_of(f), FilterPlugin | ScorePlugin)])
@settings(max_examples=60, deadline=None)
@given(drawn=st.lists(st.tuples(LABELS, ANNOTATIONS), max_size=5), slots=SLOTS, labels=LABELS)
def test_what_filters_or_scores_keeps_the_laws(name, drawn, slots, labels):
    nodes = [annotated(node(f"n{i}", labels=of_node), notes) for i, (of_node, notes) in enumerate(drawn)]
    made = cluster(*nodes)
    plugin = plugin_of(PLUGINS / f"{name}.py")
    chosen = configurations.choose("", "", StateSource(), [str(PLUGINS / f"{name}.py")])
    plugins = Scheduler(made, chosen.configuration, chosen.registry).profiles["default-scheduler"].plugins
    check(plugins[plugin.name], made, pod(labels=labels, metadata={"annotations": slots}))


def annotated(obj, annotations):
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, annotations=annotations))
