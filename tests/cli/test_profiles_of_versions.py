"""Configurations are completed and refused as the kube-scheduler of a version does it."""

import json

import pytest

from schedctl.config.defaults import default_plugins
from schedctl.releases import RELEASES

VERSIONS = [release.version for release in RELEASES]


def enabled(schedctl, version, point):
    shown = json.loads(schedctl("profiles", "show", "default", "--kube-version", version, "-o", "json").out)
    return {one["name"]: one.get("weight") for one in shown["profiles"][0]["plugins"][point]["enabled"]}


@pytest.mark.parametrize("release", RELEASES, ids=VERSIONS)
def test_the_default_profile_of_a_version_has_its_plugins_in_its_order(schedctl, release):
    order = [plugin.name for plugin in default_plugins(release)]
    filters = list(enabled(schedctl, release.version, "filter"))
    assert filters == sorted(filters, key=order.index)
    assert ("NodeDeclaredFeatures" in filters) is (release.version >= "v1.36")
    assert (filters.index("NodeName") < filters.index("NodeUnschedulable")) is (release.version >= "v1.37")
    scores = enabled(schedctl, release.version, "score")
    assert scores.get("DynamicResources") == (2 if release.version >= "v1.35" else None)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_default_profile_can_be_followed_in_every_version(schedctl, version):
    ended = schedctl(
        *("explain", "pod", "shop/fits", "-f", "fixtures/clusters/shop", "-f", "fixtures/pods/fits.yaml"),
        *("--profile", "default", "--kube-version", version, "-o", "json"),
    )
    report = json.loads(ended.out)
    assert report["metadata"]["kubernetesVersion"] == version
    assert report["results"][0]["verdict"] == "Scheduled"


BINDING_TIMEOUT, SHAPE = ("DynamicResources", "bindingTimeout"), ("VolumeBinding", "shape")
"""Arguments that a feature gate brings with it, which is on by default from a version on."""


@pytest.mark.parametrize(
    ("left", "right", "fields"),
    [
        pytest.param(
            *("default@1.35", "default@1.36", {("filter", "NodeDeclaredFeatures"), BINDING_TIMEOUT}),
            id="a plugin that is new, and an argument",
        ),
        pytest.param(*("default@1.36", "default@1.37", {("filter", "order"), SHAPE}), id="another order"),
        pytest.param(*("default@1.34", "default@1.35", {("score", "DynamicResources")}), id="a plugin that scores"),
        pytest.param(*("default", "default@1.37", set()), id="the newest is meant where no version stands"),
        pytest.param(
            *("profiles/spreading.yaml@1.36", "profiles/spreading.yaml@1.37", {("filter", "order"), SHAPE}),
            id="a file that a version completes",
        ),
    ],
)
def test_what_a_version_changes_is_a_difference(schedctl, left, right, fields):
    items = json.loads(schedctl("profiles", "diff", left, right, "-o", "json").out)["items"]
    found = {tuple(item["field"][1:3]) for item in items if item["field"][1] != "preFilter"}
    assert found == fields


def test_a_file_whose_name_has_an_at_sign_is_that_file(schedctl, tmp_path):
    path = tmp_path / "mine@1.34"
    path.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    assert json.loads(schedctl("profiles", "diff", str(path), "default@1.37", "-o", "json").out)["items"] == []


def test_what_a_version_does_not_have_is_a_problem_of_the_configuration_with_the_next_step(schedctl):
    ended = schedctl("profiles", "validate", "profiles/default.yaml", "--kube-version", "1.35")
    assert ended.code == 2
    assert 'multiPoint.enabled: PreFilterPlugin "NodeDeclaredFeatures" does not exist' in ended.err
    assert "hint: kube-scheduler has it by default from v1.36 on: remove it, or `--kube-version 1.36`" in ended.err
    assert "remove it or turn on the feature gate StorageCapacityScoring" in ended.err
    assert schedctl("profiles", "validate", "profiles/default.yaml", "--kube-version", "1.37").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("show", "default", "--kube-version", "1.30"), id="show"),
        pytest.param(("validate", "profiles/spreading.yaml", "--kube-version", "1.30"), id="validate"),
        pytest.param(("diff", "default@1.30", "default"), id="diff"),
    ],
)
def test_a_version_that_is_not_reproduced_is_the_nearest_and_said_to_be(schedctl, arguments):
    ended = schedctl("profiles", *arguments)
    assert ended.code == 0
    assert "warning: kube-scheduler 1.30 is not reproduced; answers follow v1.34.4, the nearest" in ended.err


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_version_is_shown_to_do_by_default_it_also_accepts(schedctl, tmp_path, version):
    path = tmp_path / "shown.yaml"
    path.write_text(schedctl("profiles", "show", "default", "--kube-version", version, "-o", "yaml").out)
    ended = schedctl("profiles", "validate", str(path), "--kube-version", version)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("version", "gates", "field"),
    [
        pytest.param("1.35", "", "bindingTimeout", id="devices have no binding conditions yet"),
        pytest.param("1.36", "DRADeviceBindingConditions=false", "bindingTimeout", id="the gate of conditions is off"),
        pytest.param("1.37", "DRASchedulerFilterTimeout=false", "filterTimeout", id="the gate of the timeout is off"),
    ],
)
def test_an_argument_whose_feature_gate_is_off_is_refused(schedctl, tmp_path, version, gates, field):
    path = tmp_path / "timeouts.yaml"
    args = "{filterTimeout: 10s, bindingTimeout: 600s}"
    path.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles: [{{pluginConfig: [{{name: DynamicResources, args: {args}}}]}}]\n"
    )
    ended = schedctl("profiles", "validate", str(path), "--kube-version", version, "--feature-gates", gates)
    assert ended.code == 2
    assert f"args.{field}: Forbidden: " in ended.err
    assert ended.err.count("Forbidden") == 1


def test_a_version_behind_a_profile_that_is_none_is_refused_with_the_next_step(schedctl):
    ended = schedctl("profiles", "diff", "default@new", "default@1.37")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == 'error: "new" in "default@new" is no version of Kubernetes\nhint: e.g. `default@1.36`\n'


def test_a_version_behind_a_profile_that_is_shown_is_an_option_there(schedctl):
    ended = schedctl("profiles", "show", "default@1.35")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        'error: "default@1.35": a version behind @ is for `profiles diff`\n'
        "hint: `schedctl profiles show default --kube-version 1.35`\n"
    )


GATED = ("--feature-gates", "StorageCapacityScoring=false")


def test_a_profile_is_shown_and_validated_as_its_feature_gates_have_it(schedctl):
    shape = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
    assert shape not in schedctl("profiles", "validate", "profiles/default.yaml").err
    refused = schedctl("profiles", "validate", "profiles/default.yaml", *GATED)
    assert (refused.code, shape in refused.err) == (2, True)
    unknown = schedctl("profiles", "show", "default", "--feature-gates", "Nope=true")
    assert (unknown.code, "unrecognized feature gate: Nope" in unknown.err) == (2, True)


def test_the_gates_of_a_difference_are_set_on_both_sides(schedctl):
    pair = ("profiles", "diff", "default@1.35", "default@1.36")
    assert "+ NodeDeclaredFeatures" in schedctl(*pair).out
    assert "+ NodeDeclaredFeatures" not in schedctl(*pair, "--feature-gates", "NodeDeclaredFeatures=true").out


def test_a_configuration_that_is_not_there_is_told_as_a_file_and_a_name_as_a_name(schedctl):
    file, name = (schedctl("profiles", "diff", each, "default") for each in ("before.yaml", "before"))
    assert (file.code, name.code) == (2, 2)
    assert file.err.startswith('error: unknown profile "before.yaml", and no such file\n')
    assert name.err.startswith('error: unknown profile "before"\n')
