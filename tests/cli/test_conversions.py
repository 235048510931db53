"""``schedctl profiles convert``, ``validate`` and ``diff``: what goes where, and how they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedctl.config.loading import load

OLD = "fixtures/configurations/weights-v1beta2.yaml"
LOSING = "fixtures/configurations/packing-v1beta1.yaml"
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_what_is_on_standard_output_is_the_configuration_and_nothing_else(output, schedctl):
    ended = schedctl("profiles", "convert", OLD, "-o", output)
    assert load(ended.out).profiles[0].scheduler_name == "default-scheduler"
    assert ended.code == 0
    assert "carried" in ended.err


@pytest.mark.parametrize("output", ["yaml", "json", "text"])
def test_a_loss_is_in_the_exit_code_whatever_the_form(output, schedctl):
    assert schedctl("profiles", "convert", LOSING, "-o", output).code == 1


def test_what_is_converted_differs_in_nothing_from_what_it_was(schedctl, tmp_path):
    file = tmp_path / "converted.yaml"
    file.write_text(schedctl("profiles", "convert", LOSING).out, encoding="utf-8")
    ended = schedctl("profiles", "diff", LOSING, str(file), "--exit-code")
    assert ended.code == 0
    assert ended.err.count("warning: ") == 1
    assert schedctl("profiles", "validate", str(file)).code == 0


def test_the_meaning_of_what_is_of_today_is_not_touched(schedctl):
    for name in ("default", "gpu-packing", "high-availability"):
        file = f"profiles/{name}.yaml"
        assert load(schedctl("profiles", "convert", file).out) == load(Path(file).read_bytes())


def test_standard_input_is_a_file_like_any_other(schedctl):
    assert load(schedctl("profiles", "convert", "-", stdin=HEAD).out)
    assert schedctl("profiles", "validate", "-", stdin=HEAD).code == 2
    assert schedctl("profiles", "diff", "-", "default", "--exit-code", stdin=HEAD).code == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(f"{HEAD}nonsense: 1\n", ':3:1: nonsense: unknown field "nonsense"', id="in an old version"),
        pytest.param("{", ":", id="no document at all"),
        pytest.param(
            "apiVersion: apps/v1\nkind: Deployment\n", 'expected "KubeSchedulerConfiguration"', id="of others"
        ),
        pytest.param("kind: Policy\napiVersion: v2\n", 'got text "Policy"', id="no Policy there ever was"),
        pytest.param(
            "apiVersion: kubescheduler.config.k8s.io/v1beta9\nkind: KubeSchedulerConfiguration\n",
            'unsupported version "kubescheduler.config.k8s.io/v1beta9"',
            id="no version there ever was",
        ),
    ],
)
@pytest.mark.parametrize("command", ["convert", "validate"])
def test_a_problem_of_a_configuration_names_its_line_and_field(command, text, message, schedctl, tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(text, encoding="utf-8")
    ended = schedctl("profiles", command, str(file))
    assert ended.code == 2
    assert message in ended.err
    assert ended.out == ""


def test_all_files_are_validated_and_valid_ones_named(schedctl, tmp_path):
    ended = schedctl("profiles", "validate", str(tmp_path / "none.yaml"), OLD, "profiles/default.yaml")
    assert ended.code == 2
    assert ended.out == "profiles/default.yaml is valid: default-scheduler\n"
    assert "none.yaml: cannot be read" in ended.err
    assert f"`schedctl profiles convert {OLD}`" in ended.err


def test_a_legacy_file_has_its_other_problems_reported_as_well(schedctl):
    text = f"{HEAD}profiles: [{{pluginConfig: [{{name: InterPodAffinity, args: {{hardPodAffinityWeight: -1}}}}]}}]\n"
    assert "not in valid range [0, 100]" in schedctl("profiles", "validate", "-", stdin=text).err


def test_names_do_not_reach_a_terminal_raw(schedctl):
    text = HEAD + 'profiles: [{plugins: {filter: {enabled: [{name: "EBSLimits"}, {name: "a\\e[2Jb"}]}}}]\n'
    for command in (["convert", "-"], ["convert", "-", "-o", "text"], ["validate", "-"], ["diff", "-", "default"]):
        ended = schedctl("profiles", *command, stdin=text)
        assert "\x1b" not in ended.out + ended.err


def test_an_old_configuration_is_followed_and_said_to_be_old(shop):
    ended = shop("pod", "shop/web-7d9c6b5f4d-jbljm", "--scheduler-config", OLD)
    assert "which kube-scheduler v1.37.1 refuses; it is followed as converted" in ended.err
    assert "`schedctl profiles convert`" in ended.err
    assert "refuses" not in shop("pod", "shop/web-7d9c6b5f4d-jbljm", "--scheduler-config", OLD, "-q").err


def test_an_unknown_name_gets_a_next_step(schedctl):
    ended = schedctl("profiles", "diff", "default", "bin-packin")
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean bin-packing?" in ended.err


def test_profiles_without_a_difference_end_well(schedctl):
    assert schedctl("profiles", "diff", "default", "profiles/default.yaml", "--exit-code").code == 0
    assert schedctl("profiles", "diff", "default", "spreading").code == 0
    assert schedctl("profiles", "diff", "default", "spreading", "--exit-code").code == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("NodeLabel", "left in v1.23", id="a removed one"),
        pytest.param("NodeResourceFit", 'did you mean "NodeResourcesFit"', id="a misspelt one"),
        pytest.param("GangScheduling", "feature gate", id="one behind a gate"),
    ],
)
def test_plugins_that_are_gone_are_told_by_convert_as_by_validate(schedctl, tmp_path, name, message):
    file = tmp_path / "scheduler.yaml"
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n"
    file.write_text(f"{text}    filter: {{enabled: [{{name: {name}}}]}}\n")
    converted, validated = (schedctl("profiles", command, str(file)) for command in ("convert", "validate"))
    assert (converted.code, converted.out, converted.err) == (2, "", validated.err)
    assert message in validated.err


def test_a_policy_is_never_followed_without_it(schedctl, tmp_path):
    configuration, policy = tmp_path / "scheduler.yaml", tmp_path / "policy.json"
    configuration.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\n"
        "algorithmSource: {policy: {file: {path: /etc/kubernetes/policy.cfg}}}\n"
    )
    policy.write_text(Path("fixtures/configurations/policy.json").read_text())
    ended = schedctl(
        "explain", "--all-pending", "-f", "fixtures/clusters/shop", "--scheduler-config", str(configuration)
    )
    assert ended.code == 2
    assert "where the Policy /etc/kubernetes/policy.cfg says, which is not in here" in " ".join(ended.err.split())
    assert schedctl("profiles", "convert", str(configuration)).code == 1
    folded = schedctl("profiles", "convert", str(configuration), str(policy))
    assert load(folded.out) == load(schedctl("profiles", "convert", str(policy)).out)
