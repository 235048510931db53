"""Configurations inside other documents: in ConfigMaps, lists of objects, and control planes of kubeadm."""

from __future__ import annotations

import json
import textwrap

import pytest

from schedctl.config import embedded
from schedctl.errors import ConfigError

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: second-scheduler
"""
SERVICE_ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: second-scheduler, namespace: kube-system}
"""


def indented(text: str, by: int = 4) -> str:
    return textwrap.indent(text, " " * by)


def config_map(text: str = CONFIGURATION, name: str = "scheduler-config") -> str:
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: kube-system\ndata:\n"
        f"  README: not a configuration\n  scheduler-config.yaml: |\n{indented(text)}"
    )


CONTROL_PLANE = f"""\
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {{name: prod, namespace: clusters}}
spec:
  kubeadmConfigSpec:
    clusterConfiguration:
      scheduler:
        extraArgs: {{config: /etc/kubernetes/scheduler.yaml}}
    files:
    - path: /etc/kubernetes/scheduler.yaml
      owner: root:root
      content: |
{indented(CONFIGURATION, 8)}"""
NESTED = f"""\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {{name: scheduler-config, namespace: kube-system}}
  data:
    config.yaml: |
{indented(CONFIGURATION, 6)}"""
QUOTED = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "koord-scheduler-config", "namespace": "koordinator-system"},
        "data": {"koord-scheduler-config": CONFIGURATION},
    }
)


@pytest.mark.parametrize(
    ("text", "origin", "line"),
    [
        pytest.param(
            config_map(), "ConfigMap kube-system/scheduler-config, scheduler-config.yaml", 9, id="a ConfigMap"
        ),
        pytest.param(
            f"{SERVICE_ACCOUNT}---\n# Source: chart/templates/configmap.yaml\n{config_map()}---\n{SERVICE_ACCOUNT}",
            "ConfigMap kube-system/scheduler-config, scheduler-config.yaml",
            14,
            id="among the objects of a chart",
        ),
        pytest.param(NESTED, "ConfigMap kube-system/scheduler-config, config.yaml", 9, id="a list of objects"),
        pytest.param(
            QUOTED, "ConfigMap koordinator-system/koord-scheduler-config, koord-scheduler-config", 0, id="JSON"
        ),
        pytest.param(
            CONTROL_PLANE,
            "KubeadmControlPlane clusters/prod, /etc/kubernetes/scheduler.yaml",
            13,
            id="a file of a control plane of Cluster API",
        ),
        pytest.param(
            f"apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n---\n{CONFIGURATION}",
            "the document at line 4",
            4,
            id="a document behind that of kubeadm",
        ),
        pytest.param(
            config_map("apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"),
            "ConfigMap kube-system/scheduler-config, scheduler-config.yaml",
            9,
            id="of another time",
        ),
        pytest.param(
            config_map("kind: KubeSchedulerConfiguration\nprofiles: [\n"),
            "ConfigMap kube-system/scheduler-config, scheduler-config.yaml",
            9,
            id="one that cannot be read, which its reader says",
        ),
    ],
)
def test_a_configuration_inside_another_document_is_found(text, origin, line):
    assert embedded.may_hold(text.encode())
    found = embedded.find(text.encode(), "chart.yaml")
    assert found is not None
    assert found.origin == origin
    assert "KubeSchedulerConfiguration" in found.text
    if line:
        begun = text.splitlines()[line - 1]
        assert found.in_place.splitlines()[line - 1] == begun
        assert not found.in_place.splitlines()[line - 2].strip()
    else:
        assert found.in_place == ""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CONFIGURATION, id="a configuration"),
        pytest.param(f"{CONFIGURATION}---\n{config_map()}", id="kube-scheduler reads the first document"),
        pytest.param(SERVICE_ACCOUNT, id="an object without one"),
        pytest.param(config_map("actions: enqueue, allocate\n"), id="the configuration of Volcano's scheduler"),
        pytest.param("a: [\n---\n", id="what cannot be read"),
        pytest.param("", id="nothing"),
    ],
)
def test_nothing_is_found_in(text):
    assert embedded.find(text.encode(), "file.yaml") is None


def test_two_configurations_in_a_file_are_a_problem():
    text = config_map() + "---\n" + config_map(CONFIGURATION.replace("second", "third"), "other")
    with pytest.raises(ConfigError) as caught:
        embedded.find(text.encode(), "chart.yaml")
    (problem,) = caught.value.problems
    assert problem.message == (
        "holds 2 configurations: ConfigMap kube-system/scheduler-config, scheduler-config.yaml,"
        " ConfigMap kube-system/other, scheduler-config.yaml"
    )


def test_the_same_configuration_twice_is_one():
    text = config_map() + "---\n" + config_map(name="copy")
    assert embedded.find(text.encode(), "chart.yaml") is not None


LIST_OF_FLAGS = "scheduler: {extraArgs: [{name: v, value: '2'}, {name: config, value: /etc/kubernetes/s.yaml}]}\n"
KUBEADM = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        pytest.param(
            KUBEADM + "scheduler: {extraArgs: {config: /etc/kubernetes/s.yaml}}\n",
            "kubeadm gives kube-scheduler the configuration /etc/kubernetes/s.yaml of the control plane node,"
            " which is not in here",
            1,
            id="a file, as up to v1beta3",
        ),
        pytest.param(
            KUBEADM + LIST_OF_FLAGS,
            "kubeadm gives kube-scheduler the configuration /etc/kubernetes/s.yaml of the control plane node,"
            " which is not in here",
            1,
            id="a file, as since v1beta4",
        ),
        pytest.param(
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: kubeadm-config, namespace: kube-system}\ndata:\n"
            "  ClusterConfiguration: |\n" + indented(KUBEADM + LIST_OF_FLAGS),
            "kubeadm gives kube-scheduler the configuration /etc/kubernetes/s.yaml of the control plane node,"
            " which is not in here",
            5,
            id="the ConfigMap of kubeadm",
        ),
        pytest.param(
            KUBEADM + "scheduler: {}\n",
            "kubeadm gives kube-scheduler no configuration, so that it follows its defaults",
            1,
            id="no file",
        ),
    ],
)
def test_kubeadm_says_where_the_configuration_is(text, message, line):
    with pytest.raises(ConfigError) as caught:
        embedded.find(text.encode(), "kubeadm.yaml")
    (problem,) = caught.value.problems
    assert (problem.message, problem.line) == (message, line)
    assert problem.hint
