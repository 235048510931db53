"""Names of a live cluster are offered to a shell while they come fast, and nothing goes wrong where they do not."""

from __future__ import annotations

import threading

import pytest

from schedctl.live.kubeconfigs import Access
from schedctl.session import completions
from tests.live.servers import Cluster


def named(*names):
    return [{"metadata": {"name": name}} for name in names]


@pytest.fixture
def cluster():
    return Cluster(
        {
            "/api/v1/namespaces/default/pods": named("web-0"),
            "/api/v1/namespaces/shop/pods": named("api-0", "api-1"),
            "/api/v1/pods": named("web-0", "api-0", "api-1"),
            "/api/v1/nodes": named("node-1"),
        }
    )


@pytest.mark.parametrize(
    ("kind", "namespace", "names"),
    [
        pytest.param("Pod", "shop", ["api-0", "api-1"], id="the pods of a namespace"),
        pytest.param("Pod", None, ["web-0"], id="the pods of the context's namespace"),
        pytest.param("Pod", "", ["web-0", "api-0", "api-1"], id="all pods"),
        pytest.param("Node", "", ["node-1"], id="the nodes"),
    ],
)
def test_names_of_the_live_cluster_are_offered(serve, kubeconfig, cluster, kind, namespace, names):
    access = Access(kubeconfig=kubeconfig(serve(cluster).url), timeout=completions.SECONDS)
    assert completions.in_cluster(kind, namespace, access) == names


def test_a_slow_cluster_does_not_keep_the_shell_waiting(serve, kubeconfig, cluster, monkeypatch):
    monkeypatch.setattr(completions, "SECONDS", 0.2)
    stuck = threading.Event()
    cluster.before = lambda request: stuck.wait(600)
    access = Access(kubeconfig=kubeconfig(serve(cluster).url))
    assert completions.in_cluster("Pod", "shop", access) == []  # while the cluster is silent still
    stuck.set()


def test_without_a_cluster_nothing_is_offered():
    assert completions.in_cluster("Pod", "shop", Access()) == []


def test_the_contexts_of_a_kubeconfig_are_offered(kubeconfig):
    assert completions.contexts(kubeconfig("http://127.0.0.1:1")) == ["test"]
    assert completions.contexts("nowhere") == []
