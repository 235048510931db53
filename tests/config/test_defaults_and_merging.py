"""What Kubernetes fills in, and how a profile's plugins are merged with the default ones."""

from __future__ import annotations

import json

import pytest

from schedctl.api.durations import SECOND
from schedctl.config.args import (
    CPU_AND_MEMORY,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    ScoringStrategy,
    VolumeBindingArgs,
)
from schedctl.config.defaults import DEFAULT_PLUGINS, merge
from schedctl.config.loading import default, load
from schedctl.config.types import Plugin, PluginSet

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def loaded(*profiles: dict, **fields: object):
    return load(json.dumps({**HEAD, "profiles": list(profiles), **fields}))


def sets(enabled: str = "", disabled: str = "") -> PluginSet:
    """A plugin set from text: ``A B:3`` is A and B, the latter with weight 3."""

    def plugins(text: str) -> tuple[Plugin, ...]:
        return tuple(Plugin(name, int(weight or 0)) for name, _, weight in (one.partition(":") for one in text.split()))

    return PluginSet(enabled=plugins(enabled), disabled=plugins(disabled))


@pytest.mark.parametrize(
    ("default_set", "custom", "merged"),
    [
        pytest.param(sets("A B"), sets(), sets("A B"), id="nothing said leaves the defaults"),
        pytest.param(sets("A B"), sets("C"), sets("A B C"), id="a new plugin comes behind the defaults"),
        pytest.param(sets("A B:1 C"), sets("B:5"), sets("A B:5 C"), id="a default enabled again keeps its place"),
        pytest.param(sets("A B C"), sets("C A"), sets("A B C"), id="enabling defaults does not reorder them"),
        pytest.param(sets("A B C"), sets("", "B"), sets("A C", "B"), id="a disabled default goes"),
        pytest.param(sets("A B"), sets("", "*"), sets("", "*"), id="a star disables every default"),
        pytest.param(sets("A B C"), sets("C A", "*"), sets("C A", "*"), id="a star and a list put defaults in order"),
        pytest.param(sets("A B C"), sets("B:7", "B"), sets("A C B:7", "B"), id="disabled and enabled moves to the end"),
        pytest.param(sets("A"), sets("", "Z"), sets("A", "Z"), id="disabling a stranger is remembered"),
        pytest.param(sets("A", "X"), sets("", "Y"), sets("A", "Y X"), id="disabled names of both are kept"),
        pytest.param(sets("A X", "X"), sets(), sets("A", "X"), id="a default disabled by default goes"),
        pytest.param(sets("A"), sets("B B"), sets("A B B"), id="a repeated plugin is left for the expansion to find"),
        pytest.param(sets("A B"), sets("B:1 B:2"), sets("A B:2 B:1"), id="of a repeated default the last one counts"),
        pytest.param(sets("A"), sets("", "B:4"), sets("A", "B"), id="weights of disabled plugins are dropped"),
    ],
)
def test_a_plugin_set_is_merged_with_the_defaults(default_set, custom, merged):
    assert merge(default_set, custom) == merged


def test_without_a_file_there_is_one_profile_with_the_default_plugins():
    config = default()
    assert config.parallelism == 16
    assert config.percentage_of_nodes_to_score == 0
    assert [profile.scheduler_name for profile in config.profiles] == ["default-scheduler"]
    assert config.profiles[0].plugins.multi_point == PluginSet(enabled=DEFAULT_PLUGINS)
    assert all(config.profiles[0].plugins.at(point) == PluginSet() for point in ("filter", "score", "bind"))


def test_a_file_with_nothing_in_it_is_the_default():
    assert load(json.dumps(HEAD)) == default()


def test_dynamic_resources_stands_right_before_preemption():
    names = [plugin.name for plugin in DEFAULT_PLUGINS]
    assert names.index("DynamicResources") + 1 == names.index("DefaultPreemption")


def test_a_single_profile_needs_no_name_but_several_do(problems_of):
    assert loaded({}).profiles[0].scheduler_name == "default-scheduler"
    several = problems_of(json.dumps({**HEAD, "profiles": [{"schedulerName": "a"}, {}]}))
    assert [str(problem) for problem in several] == ["config.yaml:1:125: profiles[1].schedulerName: Required value"]


def test_default_arguments_come_behind_the_written_ones_by_name():
    config = loaded({"pluginConfig": [{"name": "Mine", "args": {"a": [1]}}, {"name": "VolumeBinding"}]})
    assert [one.name for one in config.profiles[0].plugin_config] == [
        "Mine",
        "VolumeBinding",
        "DefaultPreemption",
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
    ]


def test_arguments_of_a_plugin_by_name():
    profile = loaded({"pluginConfig": [{"name": "Mine", "args": {"a": [1]}}, {"name": "NodeName", "args": "x"}]})
    args = profile.profiles[0].args
    assert args("NodeResourcesFit") == NodeResourcesFitArgs()
    assert args("Mine") == {"a": [1]}
    assert args("NodeName") == "x"
    assert args("Nobody") is None


def test_arguments_of_a_plugin_that_is_not_enabled_are_the_default_ones():
    profile = loaded({"plugins": {"multiPoint": {"disabled": [{"name": "VolumeBinding"}]}}}).profiles[0]
    assert "VolumeBinding" not in [one.name for one in profile.plugin_config]
    assert profile.args("VolumeBinding") == VolumeBindingArgs()


@pytest.mark.parametrize(
    ("plugin", "written", "meant"),
    [
        pytest.param(
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "MostAllocated"}},
            NodeResourcesFitArgs(scoring_strategy=ScoringStrategy(type="MostAllocated", resources=CPU_AND_MEMORY)),
            id="a strategy without resources scores CPU and memory",
        ),
        pytest.param(
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "x", "weight": 0}, {"name": "y"}]}},
            NodeResourcesFitArgs(
                scoring_strategy=ScoringStrategy(
                    type="MostAllocated", resources=(ResourceSpec(name="x", weight=1), ResourceSpec(name="y", weight=1))
                )
            ),
            id="a resource without weight, or of weight zero, weighs one",
        ),
        pytest.param(
            "NodeResourcesFit", {"scoringStrategy": None}, NodeResourcesFitArgs(), id="a null strategy is the default"
        ),
        pytest.param(
            "PodTopologySpread", {"defaultingType": ""}, PodTopologySpreadArgs(), id="an empty defaultingType is System"
        ),
        pytest.param("VolumeBinding", {"shape": []}, VolumeBindingArgs(), id="an empty shape is the default shape"),
        pytest.param(
            "DefaultPreemption",
            {"minCandidateNodesPercentage": 0},
            DefaultPreemptionArgs(min_candidate_nodes_percentage=0),
            id="a zero that can be told from absence stays",
        ),
        pytest.param(
            "DynamicResources",
            {"filterTimeout": "0s", "bindingTimeout": None},
            DynamicResourcesArgs(filter_timeout=0),
            id="a filter timeout of zero means none, a null one the default",
        ),
    ],
)
def test_arguments_get_the_defaults_of_kubernetes(plugin, written, meant):
    assert loaded({"pluginConfig": [{"name": plugin, "args": written}]}).profiles[0].args(plugin) == meant


def test_contention_profiling_follows_profiling_unless_given():
    def profiling(**fields: bool) -> bool | None:
        return loaded(**fields).enable_contention_profiling

    assert profiling() is True
    assert profiling(enableProfiling=False) is False
    assert profiling(enableProfiling=False, enableContentionProfiling=True) is True


def test_extenders_are_kept_with_their_defaults():
    extender = loaded(extenders=[{"urlPrefix": "https://x", "filterVerb": "filter", "enableHTTPS": True}]).extenders[0]
    assert (extender.url_prefix, extender.filter_verb, extender.enable_https) == ("https://x", "filter", True)
    assert extender.http_timeout == 5 * SECOND
    assert extender.weight == 0


def test_resources_that_extenders_look_after_are_the_ones_fit_ignores():
    config = loaded(
        {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["example.com/mine"]}}]},
        extenders=[
            {"managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}, {"name": "example.com/b"}]},
            {"managedResources": [{"name": "example.com/c", "ignoredByScheduler": True}]},
        ],
    )
    assert config.profiles[0].args("NodeResourcesFit").ignored_resources == ("example.com/a", "example.com/c")
