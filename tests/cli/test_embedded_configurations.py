"""A configuration in a ConfigMap is one for every command that takes a configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

CHART = "fixtures/schedulers/second-scheduler.yaml"
ORIGIN = f"{CHART}: ConfigMap kube-system/packing-config, scheduler-config.yaml"


def test_a_configuration_in_a_config_map_is_followed_and_its_place_is_said(schedctl):
    ended = schedctl(
        *("explain", "pod", "shop/fits", "-f", "fixtures/clusters/shop", "-f", "fixtures/pods/fits.yaml"),
        *("--scheduler-config", CHART, "--profile", "packing", "-o", "wide"),
    )
    assert ended.code == 0
    assert ORIGIN in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        pytest.param(("profiles", "validate", CHART), "packing", id="validate"),
        pytest.param(("profiles", "show", CHART), "MostAllocated", id="show"),
        pytest.param(("profiles", "convert", CHART), "type: MostAllocated", id="convert"),
        pytest.param(("profiles", "diff", CHART, "gpu-packing"), "packing", id="diff"),
    ],
)
def test_commands_about_configurations_take_one_in_a_config_map(schedctl, command, shown):
    ended = schedctl(*command)
    assert ended.code in (0, 1), ended.err
    assert shown in ended.out


def test_a_problem_of_a_configuration_in_a_config_map_is_placed_in_the_file(schedctl, tmp_path):
    text = Path(CHART).read_text().replace("MostAllocated", "MostAlocated")
    file = tmp_path / "chart.yaml"
    file.write_text(text)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "MostAlocated" in one)
    ended = schedctl("profiles", "validate", str(file))
    assert ended.code == 2
    assert f"chart.yaml:{line}:19:" in "".join(ended.err.split("\n  ")).replace("\n", "")


def test_a_snapshot_keeps_the_configuration_and_not_what_is_around_it(schedctl, tmp_path):
    target = tmp_path / "s.json"
    ended = schedctl(
        *("snapshot", "create", str(target), "--from", "fixtures/clusters/shop", "--scheduler-config", CHART)
    )
    assert ended.code == 0, ended.err
    ended = schedctl("explain", "--all-pending", "-f", str(target), "-o", "wide")
    assert "the configuration in the snapshot" in " ".join((ended.out + ended.err).split())
    assert "ServiceAccount" not in target.read_text()
