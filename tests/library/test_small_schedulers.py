"""Small schedulers for tests and research: configurations in a line, and a plugin without Kubernetes' own."""

from __future__ import annotations

import json

import pytest

from schedctl import Scheduler
from schedctl.errors import ConfigError
from schedctl.framework import FilterPlugin, PluginArgs, Reason
from schedctl.testing import cluster, node, pod, scheduler_with

CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "mine"}],
}


class LimitArgs(PluginArgs, frozen=True):
    most: int = 1


class Limit(FilterPlugin):
    args_type = LimitArgs
    full = Reason("node(s) have enough pods")

    def filter(self, cycle, nodes):
        return self.full.where(nodes.pod_count >= self.args.most)


@pytest.mark.parametrize(
    "text", [json.dumps(CONFIGURATION), f"  {json.dumps(CONFIGURATION)}", json.dumps(CONFIGURATION).encode()]
)
def test_one_line_of_json_is_a_configuration_and_no_path(text):
    assert list(Scheduler.configured(cluster(node("a")), text).profiles) == ["mine"]


def test_one_line_that_is_no_json_is_a_path():
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: cannot be read"):
        Scheduler.configured(cluster(node("a")), "nowhere.yaml")


@pytest.mark.parametrize(("args", "fits"), [(None, True), ({"most": 0}, False)])
def test_a_plugin_can_be_alone(args, fits):
    full = cluster(node("a", cpu="1"))  # where Kubernetes' own plugins let no such pod in
    of = scheduler_with(Limit, full, args, plugins_only=True)
    (profile,) = of.profiles.values()
    assert set(profile.plugins) == {"Limit", "PrioritySort", "DefaultBinder"}
    outcome = of.attempt(pod(cpu="9"))
    assert outcome.fits is fits
    if fits:
        of.place(outcome)
        assert of.bind(outcome).successful
