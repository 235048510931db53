"""How ``multiPoint`` and the points' own lists become the plugins of every extension point."""

from __future__ import annotations

import json

import pytest

from schedctl.config.expansion import WEIGHTED, expand, expand_all
from schedctl.config.loading import default, load
from schedctl.config.types import POINTS, Plugin, Plugins, PluginSet, ProfileConfig

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


class Points(dict[str, str]):
    """A registry from text: the points of each plugin."""

    def implements(self, name: str, point: str) -> bool:
        return point in self.get(name, "").split()


KNOWN = Points(
    Sort="queueSort",
    Sort2="queueSort",
    Bind="bind",
    A="preFilter filter score",
    B="filter score",
    C="score",
    F="filter",
)
NEEDED = "Sort Bind"


def plugin_set(text: str) -> PluginSet:
    """A plugin set from text: ``A B:3 -C`` enables A and B, the latter with weight 3, and disables C."""
    words = [(word.removeprefix("-"), word.startswith("-")) for word in text.split()]

    def plugins(off: bool) -> tuple[Plugin, ...]:
        named = (name.partition(":") for name, disabled in words if disabled is off)
        return tuple(Plugin(name, int(weight or 0)) for name, _, weight in named)

    return PluginSet(enabled=plugins(False), disabled=plugins(True))


def profile(**points: str) -> ProfileConfig:
    return ProfileConfig(plugins=Plugins(**{point: plugin_set(text) for point, text in points.items()}))


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param(
            {"multi_point": "A B C"}, "A:1 B:1 C:1", id="each plugin takes part where it implements the point"
        ),
        pytest.param({"multi_point": "A:5 B"}, "A:5 B:1", id="a multiPoint weight is the score weight"),
        pytest.param(
            {"multi_point": "A:5", "score": "A:2"}, "A:2", id="the point's own weight goes before multiPoint's"
        ),
        pytest.param({"multi_point": "A:5", "score": "A"}, "A:1", id="also when the point gives none"),
        pytest.param(
            {"multi_point": "A B C", "score": "C"}, "C:1 A:1 B:1", id="a plugin named twice goes to the front"
        ),
        pytest.param(
            {"multi_point": "A B C", "score": "C B"}, "C:1 B:1 A:1", id="several of them in the point's order"
        ),
        pytest.param({"multi_point": "A", "score": "B C"}, "A:1 B:1 C:1", id="what only the point enables goes last"),
        pytest.param(
            {"multi_point": "A B", "score": "C B"}, "B:1 A:1 C:1", id="overridden, inherited, added: in this order"
        ),
        pytest.param({"multi_point": "A B C", "score": "-B"}, "A:1 C:1", id="a plugin can be disabled at one point"),
        pytest.param({"multi_point": "A B", "score": "-*"}, "", id="a star disables the point"),
        pytest.param({"multi_point": "A B C", "score": "C A -*"}, "C:1 A:1", id="a star and a list replace multiPoint"),
        pytest.param({"multi_point": "A B", "score": "B -B"}, "A:1 B:1", id="disabled and enabled adds at the end"),
        pytest.param({"multi_point": "A B F"}, "A:1 B:1", id="a plugin that does not score is not asked to"),
        pytest.param({"multi_point": "-A B"}, "B:1", id="multiPoint's own disabled names have done their work already"),
    ],
)
def test_score_plugins_and_their_weights(points, expected):
    points["multi_point"] = f"{NEEDED} {points['multi_point']}"
    expanded, problems = expand(profile(**points), KNOWN)
    assert problems == []
    assert expanded["score"] == plugin_set(expected).enabled


def test_weights_count_where_plugins_score_only():
    expanded, problems = expand(profile(multi_point=f"{NEEDED} A:5", filter="F:3"), KNOWN)
    assert problems == []
    assert expanded["filter"] == (Plugin("A"), Plugin("F"))


@pytest.mark.parametrize(
    ("points", "problems"),
    [
        pytest.param(
            {"filter": "X"},
            ['plugins.filter.enabled[0]: FilterPlugin "X" does not exist'],
            id="a plugin that does not exist",
        ),
        pytest.param(
            {"multi_point": "X"},
            ['plugins.multiPoint.enabled: PreFilterPlugin "X" does not exist'],
            id="one of multiPoint is missed at the first point",
        ),
        pytest.param(
            {"multi_point": "X", "pre_filter": "-*"},
            ['plugins.multiPoint.enabled: FilterPlugin "X" does not exist'],
            id="which is the second when the first is disabled",
        ),
        pytest.param(
            {"filter": "C"},
            ['plugins.filter.enabled[0]: plugin "C" does not extend FilterPlugin plugin'],
            id="a plugin that does not implement the point",
        ),
        pytest.param(
            {"filter": "F A F"},
            ['plugins.filter.enabled[2]: plugin "F" already registered as "FilterPlugin"'],
            id="a plugin that stands there twice",
        ),
        pytest.param(
            {"multi_point": "B B"},
            ['plugins.multiPoint.enabled: plugin "B" already registered as "FilterPlugin"'],
            id="twice in multiPoint is one problem, however many points it implements",
        ),
        pytest.param(
            {"multi_point": "F F", "filter": "-F"}, [], id="twice in multiPoint, but disabled at its one point"
        ),
        pytest.param(
            {"multi_point": "F F", "filter": "F"}, [], id="twice in multiPoint, but overridden at its one point"
        ),
        pytest.param({"filter": "-X", "multi_point": "-Y"}, [], id="a stranger that is disabled"),
        pytest.param(
            {"score": "C:-1 B"},
            ["plugins.score: score plugins: total score of Score plugins could overflow"],
            id="a negative weight before others",
        ),
        pytest.param({"score": "B:9 C:-1"}, [], id="a negative weight behind a larger one"),
        pytest.param(
            {"score": f"B:{2**62} C:{2**62}"},
            ["plugins.score: score plugins: total score of Score plugins could overflow"],
            id="weights beyond an int64",
        ),
        pytest.param(
            {"filter": "X C", "score": "Y"},
            [
                'plugins.filter.enabled[0]: FilterPlugin "X" does not exist',
                'plugins.filter.enabled[1]: plugin "C" does not extend FilterPlugin plugin',
                'plugins.score.enabled[0]: ScorePlugin "Y" does not exist',
            ],
            id="all mistakes at once",
        ),
    ],
)
def test_plugin_sets_that_kube_scheduler_refuses(points, problems):
    points["multi_point"] = f"{NEEDED} {points.get('multi_point', '')}"
    assert [str(problem) for problem in expand(profile(**points), KNOWN)[1]] == problems


@pytest.mark.parametrize(
    ("enabled", "problem"),
    [
        pytest.param(
            "Bind",
            "plugins.queueSort: only one queue sort plugin required for profile with scheduler name"
            ' "default-scheduler", but got 0',
            id="nothing sorts the queue",
        ),
        pytest.param(
            "Bind Sort Sort2",
            "plugins.queueSort: only one queue sort plugin required for profile with scheduler name"
            ' "default-scheduler", but got 2',
            id="two plugins sort the queue",
        ),
        pytest.param(
            "Sort",
            'plugins.bind: at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
            id="nothing binds",
        ),
    ],
)
def test_a_profile_needs_one_plugin_that_sorts_and_one_that_binds(enabled, problem):
    assert [str(found) for found in expand(profile(multi_point=enabled), KNOWN)[1]] == [problem]


def test_a_missing_sorter_is_not_reported_beside_the_mistake_that_caused_it():
    problems = expand(profile(multi_point="Bind", queue_sort="Srt -*"), KNOWN)[1]
    assert [problem.message for problem in problems] == ['QueueSortPlugin "Srt" does not exist']


def test_problems_carry_the_path_of_their_profile():
    assert expand(profile(multi_point="Sort"), KNOWN, "profiles[3]")[1][0].path == "profiles[3].plugins.bind"


def test_profiles_share_one_queue():
    def config(*sorters: str):
        profiles = [
            {
                "schedulerName": f"s{i}",
                "plugins": {"multiPoint": {"enabled": [{"name": name}], "disabled": [{"name": "*"}]}},
            }
            for i, name in enumerate(sorters)
        ]
        return load(json.dumps({**HEAD, "profiles": profiles}))

    known = Points(KNOWN, Both="queueSort bind", Other="queueSort bind")
    assert expand_all(config("Both", "Both"), known)[1] == []
    assert [str(problem) for problem in expand_all(config("Both", "Other", "Both"), known)[1]] == [
        'profiles[1].plugins.queueSort: different queue sort plugins for profile "s1": "Other", first: "Both"'
    ]


def test_the_default_profile_expanded(kubernetes):
    expanded, problems = expand(default().profiles[0], kubernetes)
    assert problems == []
    assert {point: [plugin.name for plugin in expanded[point]] for point in POINTS} == {
        "preEnqueue": ["SchedulingGates", "DynamicResources", "DefaultPreemption"],
        "queueSort": ["PrioritySort"],
        "preFilter": (
            filters := [
                "NodeName",
                "NodeUnschedulable",
                "TaintToleration",
                "NodeAffinity",
                "NodePorts",
                "NodeResourcesFit",
                "VolumeRestrictions",
                "NodeVolumeLimits",
                "VolumeBinding",
                "VolumeZone",
                "PodTopologySpread",
                "InterPodAffinity",
                "DynamicResources",
                "NodeDeclaredFeatures",
            ]
        ),
        "filter": filters,
        "postFilter": ["DynamicResources", "DefaultPreemption"],
        "preScore": [
            "TaintToleration",
            "NodeAffinity",
            "NodeResourcesFit",
            "VolumeBinding",
            "PodTopologySpread",
            "InterPodAffinity",
            "NodeResourcesBalancedAllocation",
        ],
        "score": [
            "TaintToleration",
            "NodeAffinity",
            "NodeResourcesFit",
            "VolumeBinding",
            "PodTopologySpread",
            "InterPodAffinity",
            "DynamicResources",
            "NodeResourcesBalancedAllocation",
            "ImageLocality",
        ],
        "reserve": ["VolumeBinding", "DynamicResources"],
        "permit": [],
        "preBind": ["VolumeBinding", "DynamicResources"],
        "bind": ["DefaultBinder"],
        "postBind": [],
        "placementGenerate": [],
        "placementScore": ["NodeResourcesFit"],
        "podGroupPostFilter": ["DynamicResources", "DefaultPreemption"],
    }
    assert [plugin.weight for plugin in expanded["score"]] == [3, 2, 1, 1, 2, 2, 2, 1, 1]
    assert all(plugin.weight == 0 for point in POINTS if point not in WEIGHTED for plugin in expanded[point])


def test_points_of_pod_groups_are_kept_whether_or_not_a_registry_knows_them():
    points = {"placement_generate": "TopologyPlacementGenerator", "placement_score": "PodGroupPodsCount:3"}
    expanded, problems = expand(profile(multi_point=NEEDED, **points), KNOWN)
    assert problems == []
    assert expanded["placementGenerate"] == (Plugin("TopologyPlacementGenerator"),)
    assert expanded["placementScore"] == (Plugin("PodGroupPodsCount", 3),)


def test_at_most_one_plugin_generates_placements():
    known = Points(KNOWN, Mine="placementGenerate")
    points = {"placement_generate": "TopologyPlacementGenerator Mine"}
    assert [str(problem) for problem in expand(profile(multi_point=NEEDED, **points), known)[1]] == [
        "plugins.placementGenerate: at most one placement generate plugin is allowed for profile with scheduler name"
        ' "default-scheduler"'
    ]


def test_a_plugin_behind_a_feature_gate_is_told_from_a_stranger():
    (problem,) = expand(profile(multi_point=NEEDED, permit="GangScheduling"), KNOWN)[1]
    assert problem.hint == "GangScheduling is behind a feature gate that is off by default; remove it"


def test_a_misspelt_plugin_comes_with_the_nearest_name():
    (problem,) = expand(profile(multi_point=NEEDED, filter="NodeResourceFit"), KNOWN)[1]
    assert problem.hint == 'did you mean "NodeResourcesFit"? or load it with --plugin if it is your own'


@pytest.mark.parametrize(
    "name",
    [
        *("Coscheduling", "CapacityScheduling", "NodeResourcesAllocatable", "PreemptionToleration", "NodeNUMAResource"),
        *("DefaultPreBind", "NodeResourcesFitPlus"),
    ],
)
def test_plugins_of_other_projects_are_not_taken_for_misspelt_ones(name):
    (problem,) = expand(profile(multi_point=NEEDED, filter=name), KNOWN)[1]
    assert problem.hint == "load it with --plugin if it is your own"
