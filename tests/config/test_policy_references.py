"""The Policy that v1alpha1 refers to: folded in where it is among the files, and never followed without it."""

from __future__ import annotations

import json

import pytest

from schedctl.config.legacy.changes import Outcome
from schedctl.config.legacy.converting import convert
from schedctl.errors import ConfigError
from schedctl.plugins.in_tree import IN_TREE

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
BY_FILE = HEAD + "algorithmSource: {policy: {file: {path: /etc/kubernetes/policy.cfg}}}\n"
BY_CONFIG_MAP = HEAD + "algorithmSource: {policy: {configMap: {namespace: kube-system, name: scheduler-policy}}}\n"
POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [{"name": "PodFitsResources"}],
    "priorities": [{"name": "MostRequestedPriority", "weight": 3}],
    "extenders": [{"urlPrefix": "http://licences.example", "filterVerb": "filter", "weight": 1}],
}
CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "scheduler-policy", "namespace": "kube-system"},
    "data": {"policy.cfg": json.dumps(POLICY)},
}


def folded(text: str, *files: object):
    given_files = [(f"file-{number}.json", json.dumps(file).encode()) for number, file in enumerate(files)]
    conversion = convert(text, IN_TREE, "scheduler.yaml", files=given_files)
    assert conversion is not None
    return conversion


def names_at(conversion, point: str) -> list[tuple[str, int]]:
    (profile,) = conversion.configuration.profiles
    return [(plugin.name, plugin.weight) for plugin in profile.plugins.at(point).enabled]


@pytest.mark.parametrize(
    ("text", "file"),
    [
        pytest.param(BY_FILE, POLICY, id="a file"),
        pytest.param(BY_CONFIG_MAP, CONFIG_MAP, id="a ConfigMap"),
    ],
)
def test_a_policy_among_the_files_is_folded_in(text, file):
    conversion = folded(text, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}, file)
    alone = convert(json.dumps(POLICY), IN_TREE)
    assert conversion.document == alone.document
    assert conversion.missing == ""
    assert conversion.count(Outcome.LOST) == 0
    told = [change for change in conversion.changes if change.path.startswith("algorithmSource.policy")]
    assert "the profile" in {change.now for change in told}
    assert {change.line for change in told} == {3}


def test_a_configuration_and_its_config_map_may_be_documents_of_one_file():
    text = f"{BY_CONFIG_MAP}---\n{json.dumps(CONFIG_MAP)}\n"
    conversion = convert(text, IN_TREE, "both.yaml", files=[("both.yaml", text.encode())])
    assert conversion.missing == ""


@pytest.mark.parametrize(
    ("text", "files", "missing"),
    [
        pytest.param(BY_FILE, [], "/etc/kubernetes/policy.cfg", id="no files"),
        pytest.param(BY_FILE, [CONFIG_MAP], "/etc/kubernetes/policy.cfg", id="a ConfigMap for a file"),
        pytest.param(BY_CONFIG_MAP, [POLICY], "ConfigMap kube-system/scheduler-policy", id="a file for a ConfigMap"),
        pytest.param(
            BY_CONFIG_MAP,
            [{**CONFIG_MAP, "metadata": {"name": "other", "namespace": "kube-system"}}],
            "ConfigMap kube-system/scheduler-policy",
            id="another ConfigMap",
        ),
        pytest.param(
            BY_CONFIG_MAP,
            [{**CONFIG_MAP, "data": {"other.cfg": "{}"}}],
            "ConfigMap kube-system/scheduler-policy",
            id="a ConfigMap without the key",
        ),
    ],
)
def test_a_policy_that_is_not_among_the_files_is_missing(text, files, missing):
    conversion = folded(text, *files)
    assert conversion.missing == missing
    assert conversion.count(Outcome.LOST) == 1


def test_what_the_configuration_says_besides_is_kept():
    more = (
        "schedulerName: packing\ndisablePreemption: true\nhardPodAffinitySymmetricWeight: 7\nbindTimeoutSeconds: 60\n"
    )
    conversion = folded(BY_FILE + more, POLICY)
    (profile,) = conversion.configuration.profiles
    assert profile.scheduler_name == "packing"
    assert "DefaultPreemption" not in [name for name, _ in names_at(conversion, "postFilter")]
    assert profile.args("InterPodAffinity").hard_pod_affinity_weight == 7
    assert conversion.configuration.extenders[0].url_prefix == "http://licences.example"


def test_the_weight_of_the_policy_goes_before_that_of_the_configuration():
    conversion = folded(
        BY_FILE + "hardPodAffinitySymmetricWeight: 7\n", {**POLICY, "hardPodAffinitySymmetricWeight": 9}
    )
    assert conversion.configuration.profiles[0].args("InterPodAffinity").hard_pod_affinity_weight == 9


def test_plugins_beside_a_policy_are_lost_and_said_to_be():
    text = BY_FILE + "plugins: {score: {disabled: [{name: ImageLocality}]}}\n"
    (lost,) = [change for change in folded(text, POLICY).changes if change.outcome is Outcome.LOST]
    assert (lost.was, lost.line) == ("plugins beside a Policy", 4)


def test_what_is_wrong_with_the_policy_is_said_of_its_file():
    with pytest.raises(ConfigError, match=r"file-0\.json:1:.*predicate type not found"):
        folded(BY_FILE, {**POLICY, "predicates": [{"name": "Nonsense"}]})
