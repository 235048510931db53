"""Whatever an old configuration says, it is converted or refused; what is converted is what today's reader takes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.config.expansion import expand_all
from schedctl.config.legacy.converting import convert
from schedctl.config.legacy.plugin_sets import POINTS
from schedctl.config.legacy.releases import LEGACY_VERSIONS, legacy_version
from schedctl.config.loading import load
from schedctl.config.removed_plugins import GONE
from schedctl.errors import ConfigError

NAMES = [
    *("NodeResourcesFit", "NodeAffinity", "PodTopologySpread", "TaintToleration", "VolumeBinding", "DefaultBinder"),
    *("PrioritySort", "DefaultPreemption", "NodeVolumeLimits", "ImageLocality", "InterPodAffinity", "Mine", "*"),
    *GONE,
]
WORDS = st.sampled_from(["rack", "zone", "cpu", "example.com/a", "", "ünlike"])
NUMBERS = st.integers(-2, 300)
LISTS = st.lists(st.one_of(WORDS, st.none()), max_size=2)
PLUGINS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(NAMES)}, optional={"weight": st.one_of(NUMBERS, st.none())}),
    max_size=4,
)
SETS = st.dictionaries(
    st.sampled_from([*POINTS, "multiPoint", "unreserve"]),
    st.fixed_dictionaries({}, optional={"enabled": PLUGINS, "disabled": PLUGINS}),
    max_size=4,
)
SHAPE = st.lists(st.fixed_dictionaries({"utilization": NUMBERS, "score": NUMBERS}), max_size=3)
RESOURCES = st.lists(st.fixed_dictionaries({"name": WORDS}, optional={"weight": NUMBERS}), max_size=2)
ARGS = st.fixed_dictionaries(
    {},
    optional={
        "presentLabels": LISTS,
        "absentLabelsPreference": LISTS,
        "affinityLabels": LISTS,
        "resources": RESOURCES,
        "shape": SHAPE,
        "hardPodAffinityWeight": NUMBERS,
        "bindTimeoutSeconds": NUMBERS,
        "defaultingType": WORDS,
        "addedAffinity": st.one_of(st.none(), st.just({}), WORDS),
    },
)
CONFIGS = st.lists(st.fixed_dictionaries({"name": st.sampled_from(NAMES)}, optional={"args": ARGS}), max_size=3)
PROFILE = {"schedulerName": WORDS, "plugins": SETS, "pluginConfig": CONFIGS}
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "profiles": st.lists(st.one_of(st.fixed_dictionaries({}, optional=PROFILE), st.none()), max_size=2),
        "leaderElection": st.dictionaries(st.sampled_from(["resourceLock", "lockObjectName"]), WORDS),
        "healthzBindAddress": WORDS,
        "disablePreemption": st.booleans(),
        "bindTimeoutSeconds": NUMBERS,
        "hardPodAffinitySymmetricWeight": NUMBERS,
        "algorithmSource": st.dictionaries(st.sampled_from(["provider", "policy"]), st.one_of(WORDS, st.just({}))),
        "percentageOfNodesToScore": NUMBERS,
        **PROFILE,
    },
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "serviceAffinity": st.just({"labels": ["rack"]}),
        "labelsPresence": st.fixed_dictionaries({"labels": LISTS, "presence": st.booleans()}),
        "serviceAntiAffinity": st.just({"label": "rack"}),
        "labelPreference": st.fixed_dictionaries({"label": WORDS, "presence": st.booleans()}),
        "requestedToCapacityRatioArguments": st.fixed_dictionaries({"shape": SHAPE, "resources": RESOURCES}),
    },
)
RULES = [
    "GeneralPredicates",
    "MaxEBSVolumeCount",
    "CheckVolumeBinding",
    "EvenPodsSpread",
    "Mine",
    "CheckServiceAffinity",
]
MERITS = ["LeastRequestedPriority", "MostRequestedPriority", "SelectorSpreadPriority", "EqualPriority", "Mine"]
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "predicates": st.lists(
            st.fixed_dictionaries({"name": st.sampled_from(RULES)}, optional={"argument": ARGUMENTS}), max_size=4
        ),
        "priorities": st.lists(
            st.fixed_dictionaries(
                {"name": st.sampled_from(MERITS), "weight": st.integers(0, 9)}, optional={"argument": ARGUMENTS}
            ),
            max_size=4,
        ),
        "extenders": st.lists(
            st.dictionaries(st.sampled_from(["urlPrefix", "Weight", "enablehttps"]), WORDS), max_size=2
        ),
        "hardPodAffinitySymmetricWeight": NUMBERS,
    },
)
OLD = [version for version in LEGACY_VERSIONS if version.kind != "Policy"]


def converted_or_refused(text: str, known):
    """The conversion, or the problems."""
    try:
        return convert(text, known, "old.yaml"), ()
    except ConfigError as refused:
        return None, refused.problems


def check_conversion(text: str, known) -> None:
    """Convert a text or see it refused with a place; of what is converted, see that it is today's."""
    conversion, problems = converted_or_refused(text, known)
    if conversion is None:
        assert {problem.source for problem in problems} == {"old.yaml"}
        return
    written = json.dumps(conversion.document)
    assert load(written) == conversion.configuration
    assert not set(GONE) & {
        plugin.name
        for profile in conversion.configuration.profiles
        for point in (*POINTS, "multiPoint")
        for plugin in profile.plugins.at(point).enabled
    }
    _, problems = expand_all(conversion.configuration, known)
    assert [one.message for one in problems if "does not extend" in one.message] == []


@pytest.mark.parametrize("version", OLD, ids=lambda version: version.api_version.rpartition("/")[2])
@given(document=DOCUMENTS)
def test_a_configuration_is_converted_or_refused(version, document, kubernetes):
    allowed = {"v1alpha1": set(), "v1beta3": {"profiles", "leaderElection", "percentageOfNodesToScore"}}
    name = version.api_version.rpartition("/")[2]
    kept = {key: value for key, value in document.items() if key in allowed.get(name, document) or name == "v1alpha1"}
    if name in ("v1alpha2", "v1beta1", "v1beta2"):
        kept = {key: value for key, value in kept.items() if key not in PROFILE}
    check_conversion(json.dumps({"apiVersion": version.api_version, "kind": version.kind, **kept}), kubernetes)


@given(document=POLICIES)
def test_a_policy_is_converted_or_refused(document, kubernetes):
    check_conversion(json.dumps({"apiVersion": "v1", "kind": "Policy", **document}), kubernetes)


@pytest.mark.parametrize("version", LEGACY_VERSIONS, ids=str)
def test_a_legacy_version_is_found_by_its_head(version):
    assert legacy_version(version.kind, version.api_version) is version
