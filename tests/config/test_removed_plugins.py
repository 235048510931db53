"""Plugins that are no more: a configuration that names one is told what became of it."""

import pytest

from schedctl.config import removed_plugins

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("EBSLimits", "NodeVolumeLimits counts EBS volumes", id="EBS volumes count as CSI volumes"),
        pytest.param("GCEPDLimits", "NodeVolumeLimits counts GCE disks", id="GCE disks count as CSI volumes"),
        pytest.param("AzureDiskLimits", "NodeVolumeLimits counts Azure disks", id="Azure disks count as CSI volumes"),
        pytest.param("CinderLimits", "NodeVolumeLimits counts Cinder volumes", id="Cinder volumes too"),
        pytest.param("SelectorSpread", "PodTopologySpread", id="spreading has default constraints"),
        pytest.param("NodeLabel", "addedAffinity", id="labels are asked for by NodeAffinity"),
        pytest.param("ServiceAffinity", "podAffinity", id="company is asked for by the pods"),
        pytest.param("NodePreferAvoidPods", "PreferNoSchedule", id="pods are kept away by taints"),
        pytest.param("NodeResourcesMostAllocated", "type MostAllocated", id="packing is a strategy"),
        pytest.param("NodeResourceLimits", "nothing replaces it", id="some are simply gone"),
    ],
)
def test_a_removed_plugin_comes_with_what_does_its_work(problems_of, name, words):
    (problem,) = problems_of(f"{HEAD}profiles: [{{plugins: {{filter: {{enabled: [{{name: {name}}}]}}}}}}]\n")
    assert problem.path == "profiles[0].plugins.filter.enabled[0]"
    assert words in problem.hint
    assert "remove this entry" in problem.hint
    assert problem.hint.startswith("left in v1.")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        pytest.param(
            "plugins: {filter: {enabled: [{name: EBSLimits}]}}",
            'Invalid value: "EBSLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
            id="at a point, in the words of kube-scheduler",
        ),
        pytest.param(
            "plugins: {multiPoint: {enabled: [{name: EBSLimits}]}}",
            'PreFilterPlugin "EBSLimits" does not exist',
            id="at multiPoint, where kube-scheduler only misses it",
        ),
        pytest.param(
            "pluginConfig: [{name: EBSLimits, args: {}}]",
            'Invalid value: "EBSLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
            id="in its arguments",
        ),
    ],
)
def test_a_removed_plugin_is_refused_wherever_a_file_names_it(problems_of, where, message):
    (problem,) = problems_of(f"{HEAD}profiles: [{{{where}}}]\n")
    assert problem.message == message
    assert problem.hint == removed_plugins.REFUSED["EBSLimits"]


def test_a_removed_plugin_may_be_disabled(problems_of):
    assert problems_of(f"{HEAD}profiles: [{{plugins: {{filter: {{disabled: [{{name: EBSLimits}}]}}}}}}]\n") == []


def test_no_plugin_of_today_is_listed_as_removed(kubernetes):
    assert not set(removed_plugins.GONE) & set(kubernetes)
