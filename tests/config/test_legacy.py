"""Configurations of v1alpha1 to v1beta3: what each thing in them becomes, and that it means what it meant."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.config.expansion import expand_all
from schedctl.config.legacy.changes import Outcome
from schedctl.config.legacy.converting import convert
from schedctl.config.loading import load
from schedctl.documents.yaml_trees import read_yaml
from schedctl.errors import ConfigError

GROUP = "kubescheduler.config.k8s.io"
POINT_BY_POINT = ["v1alpha1", "v1alpha2", "v1beta1", "v1beta2"]
ALL = [*POINT_BY_POINT, "v1beta3"]


def head(version: str) -> str:
    return f"apiVersion: {GROUP}/{version}\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def converted(kubernetes):
    """Convert the rest of a document of a version."""

    def convert_one(version: str, text: str = ""):
        conversion = convert(head(version) + text, kubernetes, "old.yaml")
        assert conversion is not None
        return conversion

    return convert_one


@pytest.fixture
def in_effect(converted, kubernetes):
    """The plugins of each point of the only profile, as they run once converted: names, and at score weights."""

    def effect(version: str, text: str = "") -> dict:
        configuration = converted(version, text).configuration
        expanded, problems = expand_all(configuration, kubernetes)
        assert [problem for problem in problems if '"Mine" does not exist' not in problem.message] == []
        (points,) = expanded.values()
        return {
            point: {one.name: one.weight for one in plugins} if point == "score" else [one.name for one in plugins]
            for point, plugins in points.items()
        }

    return effect


@pytest.fixture
def args(converted):
    """The arguments of one plugin of the only profile, once converted, as a file writes them."""

    def of(version: str, text: str, plugin: str):
        (profile,) = converted(version, text).configuration.profiles
        return msgspec.json.decode(msgspec.json.encode(profile.args(plugin), enc_hook=str))

    return of


def names_with(conversion, outcome: Outcome) -> list[str]:
    return [change.was for change in conversion.changes if change.outcome is outcome]


# -- Defaults --------------------------------------------------------------------------------------

SCORES_OF_THEN = {
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "InterPodAffinity": 1,
    "NodeResourcesFit": 1,
    "NodeAffinity": 1,
    "PodTopologySpread": 2,
    "TaintToleration": 1,
    "DynamicResources": 2,
}
SCORES = {
    "v1alpha1": {**SCORES_OF_THEN, "PodTopologySpread": 1},
    "v1alpha2": {**SCORES_OF_THEN, "PodTopologySpread": 1},
    "v1beta1": SCORES_OF_THEN,
    "v1beta2": SCORES_OF_THEN,
    "v1beta3": {**SCORES_OF_THEN, "InterPodAffinity": 2, "NodeAffinity": 2, "TaintToleration": 3},
}


@pytest.mark.parametrize("version", ALL)
def test_the_weights_of_its_time_hold_where_a_file_says_nothing(version, in_effect):
    assert in_effect(version)["score"] == SCORES[version]


@pytest.mark.parametrize("version", ALL)
def test_beside_scores_the_defaults_of_its_time_are_those_of_today(version, in_effect, kubernetes):
    today, _ = expand_all(load(head("v1")), kubernetes)
    expected = {point: [one.name for one in plugins] for point, plugins in today["default-scheduler"].items()}
    assert {k: v for k, v in in_effect(version).items() if k != "score"} == {
        k: v for k, v in expected.items() if k != "score"
    }


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        ("DefaultPreemption", {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100}),
        ("InterPodAffinity", {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": False}),
        ("NodeAffinity", {"addedAffinity": None}),
        ("PodTopologySpread", {"defaultConstraints": [], "defaultingType": "System"}),
    ],
)
def test_the_arguments_of_its_time_hold_where_a_file_says_nothing(version, plugin, expected, args):
    assert args(version, "", plugin) == expected


@pytest.mark.parametrize("version", ALL)
def test_scores_by_use_are_of_the_least_allocated_cpu_and_memory(version, args):
    strategy = args(version, "", "NodeResourcesFit")["scoringStrategy"]
    assert (strategy["type"], [one["name"] for one in strategy["resources"]]) == ("LeastAllocated", ["cpu", "memory"])


@pytest.mark.parametrize("version", ALL)
def test_only_what_differs_from_the_defaults_of_today_is_written(version, converted):
    plugins = converted(version).document["profiles"][0]["plugins"]
    assert set(plugins) == {"score"}
    assert plugins["score"]["disabled"] == [{"name": "VolumeBinding"}]


@pytest.mark.parametrize("version", POINT_BY_POINT)
def test_a_weight_that_is_written_because_of_a_default_is_told(version, converted):
    assert {"InterPodAffinity, weight 1 by default,", "TaintToleration, weight 1 by default,"} < set(
        names_with(converted(version), Outcome.CARRIED)
    )


# -- Plugin sets -----------------------------------------------------------------------------------


def profile(text: str) -> str:
    return f"profiles:\n- {text}\n"


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2", "v1beta3"])
@pytest.mark.parametrize(
    ("plugins", "point", "expected"),
    [
        pytest.param("filter: {disabled: [{name: NodePorts}]}", "NodePorts", False, id="a filter is off"),
        pytest.param("filter: {disabled: [{name: '*'}]}", "NodeName", False, id="all filters are off"),
        pytest.param("filter: {enabled: [{name: Mine}]}", "NodeName", True, id="one more filter leaves the others"),
    ],
)
def test_filters_that_are_switched_off_stay_off(version, plugins, point, expected, in_effect):
    assert (point in in_effect(version, profile(f"plugins: {{{plugins}}}"))["filter"]) is expected


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2"])
def test_a_plugin_that_does_not_filter_does_not_prepare_to_filter_either(version, in_effect):
    effect = in_effect(version, profile("plugins: {filter: {disabled: [{name: NodeUnschedulable}]}}"))
    assert "NodeUnschedulable" not in effect["preFilter"]


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2", "v1beta3"])
def test_a_default_that_is_off_everywhere_is_off(version, in_effect):
    off = "{disabled: [{name: ImageLocality}]}"
    assert "ImageLocality" not in in_effect(version, profile(f"plugins: {{score: {off}}}"))["score"]


@pytest.mark.parametrize("version", ["v1beta2", "v1beta3"])
def test_a_default_that_is_enabled_again_takes_the_weight_of_the_file(version, in_effect):
    effect = in_effect(version, profile("plugins: {score: {enabled: [{name: NodeAffinity, weight: 7}]}}"))
    assert effect["score"]["NodeAffinity"] == 7


def test_what_v1beta1_refused_is_taken_as_it_was_meant_and_told(converted, in_effect):
    text = profile("plugins: {score: {enabled: [{name: NodeAffinity, weight: 7}]}}")
    assert in_effect("v1beta1", text)["score"]["NodeAffinity"] == 7
    assert names_with(converted("v1beta1", text), Outcome.APPROXIMATED) == ["NodeAffinity"]


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2"])
def test_an_order_that_matters_is_spelled_out(version, converted):
    text = profile("plugins: {bind: {disabled: [{name: '*'}], enabled: [{name: Mine}, {name: DefaultBinder}]}}")
    assert converted(version, text).document["profiles"][0]["plugins"]["bind"] == {
        "enabled": [{"name": "Mine"}, {"name": "DefaultBinder"}],
        "disabled": [{"name": "*"}],
    }


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2"])
def test_a_plugin_behind_the_defaults_needs_no_spelling_out(version, converted):
    text = profile("plugins: {bind: {enabled: [{name: Mine}]}}")
    assert converted(version, text).document["profiles"][0]["plugins"]["bind"] == {"enabled": [{"name": "Mine"}]}


def test_another_sort_takes_the_place_of_the_default(converted):
    text = profile("plugins: {queueSort: {disabled: [{name: PrioritySort}], enabled: [{name: Mine}]}}")
    plugins = converted("v1beta2", text).document["profiles"][0]["plugins"]
    assert plugins["multiPoint"] == {"disabled": [{"name": "PrioritySort"}]}
    assert plugins["queueSort"] == {"enabled": [{"name": "Mine"}]}


def test_a_multi_point_of_v1beta2_enables_beside_the_defaults_and_disables_nothing(converted, in_effect):
    text = profile("plugins: {multiPoint: {enabled: [{name: Mine, weight: 3}], disabled: [{name: '*'}]}}")
    conversion = converted("v1beta2", text)
    plugins = conversion.document["profiles"][0]["plugins"]
    assert plugins["multiPoint"] == {"enabled": [{"name": "Mine", "weight": 3}]}
    assert "disabled at multiPoint" in names_with(conversion, Outcome.DROPPED)


def test_a_multi_point_of_v1beta3_is_kept_as_it_is(converted):
    multi_point = "{enabled: [{name: NodeAffinity, weight: 9}], disabled: [{name: '*'}]}"
    conversion = converted("v1beta3", profile(f"plugins: {{multiPoint: {multi_point}}}"))
    plugins = conversion.document["profiles"][0]["plugins"]
    assert plugins == {"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 9}], "disabled": [{"name": "*"}]}}


def test_volume_binding_scores_where_a_shape_says_that_it_did(in_effect):
    shape = "{shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}"
    text = profile(f"pluginConfig: [{{name: VolumeBinding, args: {shape}}}]")
    for version in ("v1beta1", "v1beta2", "v1beta3"):
        assert in_effect(version, text)["score"]["VolumeBinding"] == 1


# -- Plugins that are gone -------------------------------------------------------------------------


def scores(enabled: str, config: str = "[]") -> str:
    off = "{name: NodeResourcesLeastAllocated}"
    return profile(f"plugins: {{score: {{disabled: [{off}], enabled: [{enabled}]}}}}\n  pluginConfig: {config}")


def test_packing_is_a_strategy(in_effect, args):
    config = "[{name: NodeResourcesMostAllocated, args: {resources: [{name: cpu, weight: 3}]}}]"
    text = scores("{name: NodeResourcesMostAllocated, weight: 5}", config)
    assert in_effect("v1beta1", text)["score"]["NodeResourcesFit"] == 5
    strategy = args("v1beta1", text, "NodeResourcesFit")["scoringStrategy"]
    assert (strategy["type"], strategy["resources"]) == ("MostAllocated", [{"name": "cpu", "weight": 3}])


def test_a_function_of_the_use_is_a_strategy(args):
    shape = "[{utilization: 0, score: 0}, {utilization: 100, score: 10}]"
    config = f"[{{name: RequestedToCapacityRatio, args: {{shape: {shape}, resources: [{{name: example.com/a}}]}}}}]"
    strategy = args("v1beta1", scores("{name: RequestedToCapacityRatio, weight: 2}", config), "NodeResourcesFit")
    assert strategy["scoringStrategy"]["type"] == "RequestedToCapacityRatio"
    assert strategy["scoringStrategy"]["resources"] == [{"name": "example.com/a", "weight": 1}]
    assert strategy["scoringStrategy"]["requestedToCapacityRatio"]["shape"][1] == {"utilization": 100, "score": 10}


def test_two_strategies_are_one_too_many(converted, in_effect):
    text = profile("plugins: {score: {enabled: [{name: NodeResourcesMostAllocated, weight: 5}]}}")
    assert in_effect("v1beta1", text)["score"]["NodeResourcesFit"] == 5
    conversion = converted("v1beta1", text)
    assert names_with(conversion, Outcome.LOST) == ["NodeResourcesLeastAllocated, weight 1"]
    assert conversion.count(Outcome.LOST) == 1


def test_the_same_strategy_twice_is_one_of_both_weights(in_effect):
    text = profile("plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 4}]}}")
    assert in_effect("v1beta1", text)["score"]["NodeResourcesFit"] == 5


def test_no_score_by_use_stays_none(in_effect):
    assert "NodeResourcesFit" not in in_effect("v1beta1", scores(""))["score"]


NODE_LABEL = """
- plugins: {filter: {enabled: [{name: NodeLabel}]}}
  pluginConfig:
  - name: NodeLabel
    args: {presentLabels: [rack], absentLabels: [retiring]}
"""


def test_labels_of_nodes_are_an_affinity_of_every_pod(converted, args):
    affinity = args("v1beta1", f"profiles:{NODE_LABEL}", "NodeAffinity")["addedAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [(one["key"], one["operator"]) for one in term["matchExpressions"]] == [
        ("rack", "Exists"),
        ("retiring", "DoesNotExist"),
    ]
    assert "NodeLabel at filter" in names_with(converted("v1beta1", f"profiles:{NODE_LABEL}"), Outcome.CARRIED)


def test_labels_join_every_alternative_of_an_affinity_that_is_there(args):
    terms = "[{matchExpressions: [{key: a, operator: Exists}]}, {matchExpressions: []}]"
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}"
    added = f"  - name: NodeAffinity\n    args: {{addedAffinity: {{{required}}}}}\n"
    affinity = args("v1beta1", f"profiles:{NODE_LABEL}{added}", "NodeAffinity")["addedAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [[one["key"] for one in term["matchExpressions"]] for term in terms] == [
        ["a", "rack", "retiring"],
        ["rack", "retiring"],
    ]


def test_labels_that_nodes_should_have_are_preferred(converted, args):
    text = """profiles:
- plugins: {score: {enabled: [{name: NodeLabel, weight: 4}]}}
  pluginConfig: [{name: NodeLabel, args: {presentLabelsPreference: [ssd], absentLabelsPreference: [old]}}]
"""
    preferred = args("v1beta1", text, "NodeAffinity")["addedAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert [one["weight"] for one in preferred] == [2, 2]
    assert names_with(converted("v1beta1", text), Outcome.APPROXIMATED) == ["NodeLabel at score, weight 4"]


@pytest.mark.parametrize(
    ("version", "text", "was", "hint"),
    [
        pytest.param(
            "v1beta1",
            profile(
                "plugins: {filter: {enabled: [{name: ServiceAffinity}]}}\n"
                "  pluginConfig: [{name: ServiceAffinity, args: {affinityLabels: [rack]}}]"
            ),
            "ServiceAffinity at filter",
            "podAffinity over rack",
            id="pods of a Service on nodes alike",
        ),
        pytest.param(
            "v1beta1",
            profile(
                "plugins: {score: {enabled: [{name: ServiceAffinity, weight: 2}]}}\n"
                "  pluginConfig: [{name: ServiceAffinity, args: {antiAffinityLabelsPreference: [rack]}}]"
            ),
            "ServiceAffinity at score",
            "ScheduleAnyway, over rack",
            id="pods of a Service on nodes unlike",
        ),
        pytest.param(
            "v1beta1",
            profile(
                "plugins: {score: {disabled: [{name: NodePreferAvoidPods}], enabled: [{name: NodePreferAvoidPods,"
                " weight: 5}]}}"
            ),
            "NodePreferAvoidPods",
            "PreferNoSchedule",
            id="an annotation that a file counted on",
        ),
        pytest.param(
            "v1alpha2",
            profile("plugins: {score: {enabled: [{name: NodeResourceLimits, weight: 1}]}}"),
            "NodeResourceLimits",
            "requests",
            id="limits",
        ),
        pytest.param(
            "v1alpha1",
            "algorithmSource: {policy: {file: {path: /etc/kubernetes/policy.cfg}}}",
            "algorithmSource with a Policy",
            "name it as well",
            id="a Policy elsewhere",
        ),
        pytest.param(
            "v1beta3",
            profile("plugins: {filter: {enabled: [{name: NodeLabel}]}}"),
            "NodeLabel",
            "addedAffinity",
            id="what was gone by then",
        ),
    ],
)
def test_what_is_lost_comes_with_what_to_do(version, text, was, hint, converted):
    (lost,) = [change for change in converted(version, text).changes if change.outcome is Outcome.LOST]
    assert lost.was == was
    assert hint in lost.hint


def test_a_default_that_is_gone_is_no_loss(converted):
    conversion = converted("v1beta1")
    assert names_with(conversion, Outcome.DROPPED) == ["NodePreferAvoidPods, a default then,"]
    assert conversion.count(Outcome.LOST) == 0


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2", "v1beta3"])
def test_counting_the_volumes_of_one_cloud_is_counting_csi_volumes(version, converted, in_effect):
    point = "multiPoint" if version == "v1beta3" else "filter"
    text = profile(
        f"plugins: {{{point}: {{disabled: [{{name: NodeVolumeLimits}}], enabled: [{{name: CinderLimits}}]}}}}"
    )
    assert "NodeVolumeLimits" in in_effect(version, text)["filter"]
    told_of = [change.was for change in converted(version, text).changes if change.now == "NodeVolumeLimits"]
    assert "CinderLimits" in told_of


def test_spreading_by_services_is_a_default_constraint(converted, in_effect):
    text = profile(
        "plugins: {score: {disabled: [{name: PodTopologySpread}], enabled: [{name: SelectorSpread, weight: 4}]}}"
    )
    assert in_effect("v1beta2", text)["score"]["PodTopologySpread"] == 4
    assert names_with(converted("v1beta2", text), Outcome.APPROXIMATED) == ["SelectorSpread, weight 4"]


# -- Fields ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "field", "outcome"),
    [
        ("v1alpha1", "healthzBindAddress: 0.0.0.0:10251", Outcome.DROPPED),
        ("v1beta2", "metricsBindAddress: 0.0.0.0:10251", Outcome.DROPPED),
        ("v1beta1", "leaderElection: {resourceLock: endpointsleases}", Outcome.CARRIED),
        ("v1alpha1", "leaderElection: {lockObjectName: mine}", Outcome.CARRIED),
        ("v1alpha1", "algorithmSource: {provider: DefaultProvider}", Outcome.DROPPED),
        ("v1alpha2", "disablePreemption: true", Outcome.CARRIED),
        ("v1alpha2", "bindTimeoutSeconds: 30", Outcome.CARRIED),
        ("v1alpha1", "hardPodAffinitySymmetricWeight: 5", Outcome.CARRIED),
    ],
)
def test_every_field_that_is_gone_is_told_with_its_place(version, field, outcome, converted):
    known = {change.path for change in converted(version).changes}
    (change,) = [one for one in converted(version, f"{field}\n").changes if one.path not in known]
    assert change.outcome is outcome
    assert change.line == 3


def test_what_stood_at_the_top_is_arguments_of_plugins(args, in_effect):
    assert args("v1alpha2", "bindTimeoutSeconds: 30", "VolumeBinding")["bindTimeoutSeconds"] == 30
    assert args("v1alpha1", "hardPodAffinitySymmetricWeight: 5", "InterPodAffinity")["hardPodAffinityWeight"] == 5
    assert "DefaultPreemption" not in in_effect("v1alpha2", "disablePreemption: true")["postFilter"]


def test_a_lock_is_a_lease_under_todays_names(converted):
    text = "leaderElection: {lockObjectName: a, lockObjectNamespace: b, resourceLock: endpoints, leaseDuration: 30s}"
    assert converted("v1alpha1", text).document["leaderElection"] == {
        "resourceName": "a",
        "resourceNamespace": "b",
        "resourceLock": "leases",
        "leaseDuration": "30s",
    }


def test_the_provider_of_the_cluster_autoscaler_packs(args):
    strategy = args("v1alpha1", "algorithmSource: {provider: ClusterAutoscalerProvider}", "NodeResourcesFit")
    assert strategy["scoringStrategy"]["type"] == "MostAllocated"


def test_the_only_profile_of_v1alpha1_stands_at_the_top(converted):
    text = "schedulerName: mine\npercentageOfNodesToScore: 40\nplugins: {postFilter: {enabled: [{name: Mine}]}}\n"
    conversion = converted("v1alpha1", text)
    assert conversion.configuration.percentage_of_nodes_to_score == 40
    (only,) = conversion.document["profiles"]
    assert only["schedulerName"] == "mine"
    assert only["plugins"]["preScore"] == {"enabled": [{"name": "Mine"}]}


def test_undoing_a_reservation_is_a_part_of_reserving(converted):
    text = profile("plugins: {unreserve: {enabled: [{name: Mine}]}}")
    plugins = converted("v1alpha2", text).document["profiles"][0]["plugins"]
    assert plugins["reserve"] == {"enabled": [{"name": "Mine"}]}


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2", "v1beta3"])
def test_extenders_and_arguments_of_strangers_are_kept(version, converted):
    text = """profiles:
- pluginConfig: [{name: Mine, args: {deep: [1, {a: b}]}}]
extenders:
- {urlPrefix: "http://x", filterVerb: f, httpTimeout: 2s, enableHTTPS: true, managedResources: [{name: a.b/c}]}
"""
    document = converted(version, text).document
    assert document["profiles"][0]["pluginConfig"] == [{"name": "Mine", "args": {"deep": [1, {"a": "b"}]}}]
    assert document["extenders"][0]["httpTimeout"] == "2s"


def test_a_list_of_default_constraints_was_one_by_itself_in_v1beta1_only(args, converted):
    constraint = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}"
    text = profile(f"pluginConfig: [{{name: PodTopologySpread, args: {{defaultConstraints: [{constraint}]}}}}]")
    assert args("v1beta1", text, "PodTopologySpread")["defaultingType"] == "List"
    with pytest.raises(ConfigError, match="defaultConstraints are not empty"):
        converted("v1beta2", text)


def test_the_version_of_arguments_is_left_out(converted):
    written = f"{{apiVersion: {GROUP}/v1beta2, kind: InterPodAffinityArgs, hardPodAffinityWeight: 9}}"
    text = profile(f"pluginConfig: [{{name: InterPodAffinity, args: {written}}}]")
    assert converted("v1beta2", text).document["profiles"][0]["pluginConfig"] == [
        {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 9}}
    ]


# -- Versions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "releases"),
    [
        ("v1alpha1", "Kubernetes up to v1.18"),
        ("v1alpha2", "Kubernetes v1.18"),
        ("v1beta1", "Kubernetes v1.19 to v1.22"),
        ("v1beta2", "Kubernetes v1.22 to v1.27"),
        ("v1beta3", "Kubernetes v1.23 to v1.28"),
    ],
)
def test_a_version_knows_which_releases_read_it(version, releases, converted):
    assert str(converted(version).version) == f"{GROUP}/{version} ({releases})"


@pytest.mark.parametrize("version", ALL)
def test_todays_reader_names_the_next_step(version):
    with pytest.raises(ConfigError) as raised:
        load(head(version))
    assert "`schedctl profiles convert`" in raised.value.problems[0].hint


# -- Problems --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "text", "line", "path", "message"),
    [
        pytest.param(
            "v1beta1", "nonsense: 1\n", 3, "nonsense", 'unknown field "nonsense"', id="no such field in any version"
        ),
        pytest.param(
            "v1beta3",
            "healthzBindAddress: x\n",
            3,
            "healthzBindAddress",
            'unknown field "healthzBindAddress"',
            id="not any more in this version",
        ),
        pytest.param(
            "v1beta1",
            profile("plugins:\n    multiPoint: {}"),
            5,
            "profiles[0].plugins.multiPoint",
            'unknown field "multiPoint"',
            id="not yet in this version",
        ),
        pytest.param(
            "v1beta2",
            profile(
                "pluginConfig:\n  - name: Mine\n  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: 101}"
            ),
            7,
            "profiles[0].pluginConfig[1].args.hardPodAffinityWeight",
            "Invalid value: 101: not in valid range [0, 100]",
            id="refused then and now, at its place in the old file",
        ),
        pytest.param(
            "v1beta1",
            profile("pluginConfig: [{name: NodeLabel, args: {labels: [a]}}]"),
            4,
            "profiles[0].pluginConfig[0].args.labels",
            'unknown field "labels"',
            id="in arguments of a plugin that is gone",
        ),
    ],
)
def test_problems_have_their_place_in_the_old_file(version, text, line, path, message, converted):
    with pytest.raises(ConfigError) as raised:
        converted(version, text)
    (problem,) = raised.value.problems
    assert (problem.source, problem.line, problem.path, problem.message) == ("old.yaml", line, path, message)


def test_todays_version_is_none_of_these(kubernetes):
    assert convert(head("v1"), kubernetes) is None


@pytest.mark.parametrize("version", ALL)
def test_what_is_converted_needs_no_converting(version, converted, kubernetes):
    conversion = converted(version)
    text = msgspec.json.encode(conversion.document)
    assert read_yaml(text.decode()) is not None
    assert convert(text, kubernetes) is None
    assert load(text) == conversion.configuration


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2", "v1beta3"])
@pytest.mark.parametrize(
    ("profile", "where"),
    [
        ("pluginConfig: [{args: {}}]", "pluginConfig[0].name"),
        ("pluginConfig: [null]", "pluginConfig[0].name"),
        ("plugins: {score: {enabled: [{weight: 2}]}}", "plugins.score.enabled[0].name"),
        ("plugins: {filter: {disabled: [{}]}}", "plugins.filter.disabled[0].name"),
    ],
)
def test_a_plugin_without_a_name_is_told_with_its_place(kubernetes, version, profile, where):
    text = (
        f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n"
        f"profiles:\n- schedulerName: x\n  {profile}\n"
    )
    with pytest.raises(ConfigError) as wrong:
        convert(text, kubernetes, "old.yaml")
    (problem,) = wrong.value.problems
    assert (problem.message, problem.path, problem.line) == ("name is required", f"profiles[0].{where}", 5)


def test_a_label_that_is_null_is_an_empty_text(kubernetes):
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- pluginConfig: [{name: ServiceAffinity, args: {affinityLabels: [null]}}]\n"
        "  plugins: {filter: {enabled: [{name: ServiceAffinity}]}}\n"
    )
    assert convert(text, kubernetes).count(Outcome.LOST) == 1
