"""The old ``Policy``: predicates and priorities as plugins of today."""

from __future__ import annotations

import json

import msgspec
import pytest

from schedctl.config.expansion import expand_all
from schedctl.config.legacy.changes import Outcome
from schedctl.config.legacy.converting import convert
from schedctl.errors import ConfigError

NEW = {"SchedulingGates", "DynamicResources", "NodeDeclaredFeatures"}
"""Plugins that came later; they stay on, as no pod of then asks them for anything."""


@pytest.fixture
def converted(kubernetes):
    """Convert a Policy of these fields."""

    def convert_one(**fields):
        text = json.dumps({"kind": "Policy", "apiVersion": "v1", **fields})
        conversion = convert(text, kubernetes, "policy.cfg")
        assert conversion is not None
        return conversion

    return convert_one


@pytest.fixture
def points(converted, kubernetes):
    """The plugins of each point, but for the new ones; at score with weights."""

    def of(**fields) -> dict:
        expanded, problems = expand_all(converted(**fields).configuration, kubernetes)
        assert problems == []
        (found,) = expanded.values()
        return {
            point: {one.name: one.weight if point == "score" else None for one in plugins if one.name not in NEW}
            for point, plugins in found.items()
        }

    return of


@pytest.fixture
def args(converted):
    """The arguments of one plugin, as a file writes them."""

    def of(plugin: str, **fields):
        (profile,) = converted(**fields).configuration.profiles
        return msgspec.json.decode(msgspec.json.encode(profile.args(plugin), enc_hook=str))

    return of


def named(*names: str) -> list[dict]:
    return [{"name": name} for name in names]


ALWAYS = {"NodeUnschedulable", "TaintToleration"}


@pytest.mark.parametrize(
    ("predicate", "plugins"),
    [
        ("CheckNodeUnschedulable", {"NodeUnschedulable"}),
        ("GeneralPredicates", {"NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"}),
        ("HostName", {"NodeName"}),
        ("PodFitsHostPorts", {"NodePorts"}),
        ("PodFitsPorts", {"NodePorts"}),
        ("MatchNodeSelector", {"NodeAffinity"}),
        ("PodFitsResources", {"NodeResourcesFit"}),
        ("NoDiskConflict", {"VolumeRestrictions"}),
        ("PodToleratesNodeTaints", {"TaintToleration"}),
        ("MaxEBSVolumeCount", {"NodeVolumeLimits"}),
        ("MaxGCEPDVolumeCount", {"NodeVolumeLimits"}),
        ("MaxAzureDiskVolumeCount", {"NodeVolumeLimits"}),
        ("MaxCinderVolumeCount", {"NodeVolumeLimits"}),
        ("MaxCSIVolumeCountPred", {"NodeVolumeLimits"}),
        ("CheckVolumeBinding", {"VolumeBinding"}),
        ("NoVolumeZoneConflict", {"VolumeZone"}),
        ("EvenPodsSpread", {"PodTopologySpread"}),
        ("MatchInterPodAffinity", {"InterPodAffinity"}),
        ("CheckNodeMemoryPressure", set()),
    ],
)
def test_a_predicate_is_filters_beside_the_two_that_always_held(predicate, plugins, points):
    found = points(predicates=named(predicate), priorities=[])
    assert set(found["filter"]) == plugins | ALWAYS
    assert set(found["preFilter"]) <= set(found["filter"])
    assert found["score"] == {}


@pytest.mark.parametrize(
    ("priority", "scores"),
    [
        ("BalancedResourceAllocation", {"NodeResourcesBalancedAllocation": 3}),
        ("EvenPodsSpreadPriority", {"PodTopologySpread": 3}),
        ("ImageLocalityPriority", {"ImageLocality": 3}),
        ("InterPodAffinityPriority", {"InterPodAffinity": 3}),
        ("LeastRequestedPriority", {"NodeResourcesFit": 3}),
        ("MostRequestedPriority", {"NodeResourcesFit": 3}),
        ("NodeAffinityPriority", {"NodeAffinity": 3}),
        ("SelectorSpreadPriority", {"PodTopologySpread": 3}),
        ("ServiceSpreadingPriority", {"PodTopologySpread": 3}),
        ("TaintTolerationPriority", {"TaintToleration": 3}),
        ("NodePreferAvoidPodsPriority", {}),
        ("ResourceLimitsPriority", {}),
        ("EqualPriority", {}),
    ],
)
def test_a_priority_is_a_score_of_its_weight(priority, scores, points):
    found = points(predicates=[], priorities=[{"name": priority, "weight": 3}])
    assert found["score"] == scores
    assert set(found["filter"]) == ALWAYS


def test_without_lists_the_defaults_of_then_hold(points):
    found = points()
    assert found["score"] == {
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "PodTopologySpread": 2,
        "TaintToleration": 1,
    }
    assert set(found["filter"]) == {
        *ALWAYS,
        *("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions", "NodeVolumeLimits"),
        *("VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"),
    }


def test_sorting_preempting_and_binding_were_never_up_to_it(points):
    found = points(predicates=[], priorities=[])
    assert [list(found[point]) for point in ("queueSort", "postFilter", "bind")] == [
        ["PrioritySort"],
        ["DefaultPreemption"],
        ["DefaultBinder"],
    ]


@pytest.mark.parametrize(
    ("priorities", "kind"),
    [
        pytest.param(["SelectorSpreadPriority", "EvenPodsSpreadPriority"], "System", id="both"),
        pytest.param(["SelectorSpreadPriority"], "System", id="by Services"),
        pytest.param(["EvenPodsSpreadPriority"], "List", id="only what pods ask for"),
    ],
)
def test_default_constraints_are_what_spread_by_services(priorities, kind, args):
    written = [{"name": name, "weight": 1} for name in priorities]
    assert args("PodTopologySpread", priorities=written)["defaultingType"] == kind


def test_of_two_weights_of_spreading_the_one_of_constraints_holds(points):
    written = [{"name": "SelectorSpreadPriority", "weight": 9}, {"name": "EvenPodsSpreadPriority", "weight": 2}]
    assert points(priorities=written)["score"] == {"PodTopologySpread": 2}


def test_a_function_of_the_use_has_a_name_of_its_own(args, points):
    ratio = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
    written = [{"name": "Mine", "weight": 4, "argument": {"requestedToCapacityRatioArguments": ratio}}]
    assert points(priorities=written)["score"] == {"NodeResourcesFit": 4}
    strategy = args("NodeResourcesFit", priorities=written)["scoringStrategy"]
    assert (strategy["type"], strategy["requestedToCapacityRatio"]) == ("RequestedToCapacityRatio", ratio)


def test_labels_nodes_must_have_are_an_affinity_of_every_pod(args, converted):
    written = [
        *named("MatchNodeSelector"),
        {"name": "Racks", "argument": {"labelsPresence": {"labels": ["rack"], "presence": True}}},
        {"name": "Old", "argument": {"labelsPresence": {"labels": ["retiring"], "presence": False}}},
    ]
    affinity = args("NodeAffinity", predicates=written)["addedAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [(one["key"], one["operator"]) for one in term["matchExpressions"]] == [
        ("rack", "Exists"),
        ("retiring", "DoesNotExist"),
    ]
    assert converted(predicates=written).count(Outcome.LOST) == 0


def test_labels_nodes_should_have_are_preferred(args, points):
    written = [
        {"name": "Fast", "weight": 2, "argument": {"labelPreference": {"label": "ssd", "presence": True}}},
        {"name": "New", "weight": 2, "argument": {"labelPreference": {"label": "old", "presence": False}}},
    ]
    affinity = args("NodeAffinity", priorities=written)["addedAffinity"]
    assert len(affinity["preferredDuringSchedulingIgnoredDuringExecution"]) == 2
    assert points(priorities=written)["score"] == {"NodeAffinity": 4}


@pytest.mark.parametrize(
    ("fields", "was"),
    [
        pytest.param(
            {"predicates": [{"name": "Same", "argument": {"serviceAffinity": {"labels": ["rack"]}}}]},
            "ServiceAffinity at filter",
            id="pods of a Service on nodes alike",
        ),
        pytest.param(
            {"priorities": [{"name": "Apart", "weight": 1, "argument": {"serviceAntiAffinity": {"label": "rack"}}}]},
            "ServiceAffinity at score",
            id="pods of a Service on nodes unlike",
        ),
        pytest.param(
            {"priorities": [{"name": "NodePreferAvoidPodsPriority", "weight": 10000}]},
            "NodePreferAvoidPodsPriority",
            id="an annotation",
        ),
        pytest.param(
            {
                "priorities": [
                    {"name": "MostRequestedPriority", "weight": 3},
                    {"name": "LeastRequestedPriority", "weight": 1},
                ]
            },
            "LeastRequestedPriority, weight 1",
            id="two strategies",
        ),
    ],
)
def test_what_nothing_does_any_more_is_lost(fields, was, converted):
    (lost,) = [change for change in converted(**fields).changes if change.outcome is Outcome.LOST]
    assert lost.was == was
    assert lost.hint
    assert lost.line == 1


def test_extenders_get_todays_names_and_durations(converted):
    extender = {"URLPrefix": "http://x/y", "FilterVerb": "f", "enableHttps": True, "httpTimeout": 1_500_000_000}
    conversion = converted(extenders=[extender])
    assert conversion.document["extenders"] == [
        {"urlPrefix": "http://x/y", "filterVerb": "f", "httpTimeout": "1.5s", "enableHTTPS": True}
    ]
    (read,) = conversion.configuration.extenders
    assert read.enable_https


def test_the_weight_of_symmetry_is_an_argument_and_none_is_the_default(args):
    assert args("InterPodAffinity", hardPodAffinitySymmetricWeight=10)["hardPodAffinityWeight"] == 10
    assert args("InterPodAffinity", hardPodAffinitySymmetricWeight=0)["hardPodAffinityWeight"] == 1


def test_checking_all_predicates_changed_no_placement(converted):
    dropped = [one.was for one in converted(alwaysCheckAllPredicates=True).changes if one.outcome is Outcome.DROPPED]
    assert "alwaysCheckAllPredicates" in dropped


def test_it_may_be_yaml(kubernetes):
    assert convert("apiVersion: v1\nkind: Policy\npredicates:\n- name: HostName\n", kubernetes) is not None


@pytest.mark.parametrize(
    ("fields", "path", "message"),
    [
        ({"predicates": named("Nonsense")}, "predicates[0].name", 'predicate type not found for "Nonsense"'),
        (
            {"priorities": [{"name": "Nonsense", "weight": 1}]},
            "priorities[0].name",
            'priority type not found for "Nonsense"',
        ),
        (
            {"priorities": [{"name": "ImageLocalityPriority", "weight": 0}]},
            "priorities[0].weight",
            "Priority ImageLocalityPriority should have a positive weight applied to it or it has overflown",
        ),
        (
            {"hardPodAffinitySymmetricWeight": 101},
            "hardPodAffinitySymmetricWeight",
            "Invalid value: 101: not in valid range [0, 100]",
        ),
        ({"predicate": []}, "predicate", 'unknown field "predicate"'),
    ],
)
def test_what_was_refused_then_is_refused(fields, path, message, converted):
    with pytest.raises(ConfigError) as raised:
        converted(**fields)
    (problem,) = raised.value.problems
    assert (problem.path, problem.message, problem.line) == (path, message, 1)
