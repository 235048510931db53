"""Manifests to a cluster."""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.meta import Namespace
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass
from schedctl.api.storage import StorageClass
from schedctl.workloads.clusters import assemble, every_pod


def pod(name: str, *, metadata: dict[str, Any] | None = None, phase: str = "Pending", **spec: Any) -> Pod:
    named = {"name": name, "namespace": "shop", **(metadata or {})}
    full = {"containers": [{"name": "main"}], **spec}
    return msgspec.convert({"metadata": named, "spec": full, "status": {"phase": phase}}, Pod)


NODE = msgspec.convert({"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "1"}}}, Node)
LOW = msgspec.convert({"metadata": {"name": "low"}, "value": 5}, PriorityClass)


def test_pods_are_admitted_whatever_the_order_of_the_manifests():
    running, waiting = pod("running", nodeName="a", priorityClassName="low"), pod("waiting", priorityClassName="low")
    cluster = assemble([running, waiting, LOW, NODE]).cluster
    assert {info.key: info.priority for info in every_pod(cluster)} == {"shop/waiting": 5, "shop/running": 5}


def test_finished_pods_are_not_in_the_cluster():
    made = assemble([NODE, pod("done", nodeName="a", phase="Succeeded")])
    assert list(made.finished) == ["shop/done"]
    assert list(every_pod(made.cluster)) == []


def test_pods_on_unknown_nodes_are_strays():
    assert list(assemble([pod("lost", nodeName="b")]).cluster.strays) == ["shop/lost"]


def test_refusals_are_warnings_by_pod():
    assert list(assemble([pod("web", priorityClassName="gone")]).warnings) == ["shop/web"]


def test_a_namespace_is_labelled_with_its_name():
    made = assemble([msgspec.convert({"metadata": {"name": "shop", "labels": {"team": "x"}}}, Namespace)])
    labels = made.cluster.every(Namespace)["shop"].metadata.labels
    assert labels == {"team": "x", "kubernetes.io/metadata.name": "shop"}


def test_pods_with_a_generate_name_get_a_name_each():
    nameless = [pod("", metadata={"generateName": "job-"}) for _ in range(2)]
    assert list(assemble(nameless).cluster.pending) == ["shop/job-…", "shop/job-…2"]


def test_a_storage_class_without_binding_mode_binds_immediately():
    made = assemble([msgspec.convert({"metadata": {"name": "fast"}, "provisioner": "csi.example.com"}, StorageClass)])
    assert made.cluster.every(StorageClass)["fast"].volume_binding_mode == "Immediate"
