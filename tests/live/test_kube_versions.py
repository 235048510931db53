"""The API server of a live cluster says which kube-scheduler judges; its kubelets, which may be older, do not."""

from __future__ import annotations

import json

import pytest

from schedctl.cli.running import run
from schedctl.versions import KUBERNETES_VERSION
from tests.live.servers import Cluster, Reply

pytestmark = pytest.mark.usefixtures("impatient")
RULES = f"the rules of kube-scheduler {KUBERNETES_VERSION}"


def node(name, kubelet):
    status = {"nodeInfo": {"kubeletVersion": kubelet}, "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    return {"metadata": {"name": name, "uid": name}, "status": status}


@pytest.fixture
def errors(serve, kubeconfig, capsys):
    """Explain all of a cluster of some versions and return the lines of standard error."""

    def explain(api_server, *kubelets):
        cluster = Cluster({"/api/v1/nodes": [node(f"n{number}", each) for number, each in enumerate(kubelets)]})
        cluster.before = lambda request: Reply({"gitVersion": api_server}) if request.path == "/version" else None
        run(("explain", "--all-pending", "--kubeconfig", kubeconfig(serve(cluster).url)))
        return capsys.readouterr().err

    return explain


@pytest.mark.parametrize(
    "kubelets",
    [
        pytest.param([KUBERNETES_VERSION], id="of the same version"),
        pytest.param(["v1.35.1"], id="that are all older"),
        pytest.param([KUBERNETES_VERSION, "v1.36.0", "v1.34.9"], id="of several versions, as while nodes are upgraded"),
        pytest.param(["v1.29.3"], id="older than the version skew policy allows"),
    ],
)
def test_an_api_server_of_the_rules_version_is_judged_without_a_word_beside_kubelets(errors, kubelets):
    assert "kube-scheduler" not in errors(KUBERNETES_VERSION, *kubelets)


@pytest.mark.parametrize(
    ("api_server", "text"),
    [
        pytest.param(
            "v1.38.0",
            f"the API server is v1.38.0, so that kube-scheduler may be v1.37 to v1.38; answers follow {RULES}",
            id="one minor above the rules, which its kube-scheduler may still have",
        ),
        pytest.param(
            "v1.39.0", f"the API server is v1.39.0, but answers follow {RULES}", id="two minors above, which it may not"
        ),
    ],
)
def test_an_api_server_of_another_version_is_named_once_whatever_its_kubelets_are(errors, api_server, text):
    found = " ".join(errors(api_server, KUBERNETES_VERSION, "v1.36.0").split())
    assert (found.count(text), found.count(f"answers follow {RULES}")) == (1, 1)


@pytest.mark.parametrize(
    ("api_server", "version"),
    [
        pytest.param("v1.36.4", "v1.36.3", id="another patch of a minor that is reproduced"),
        pytest.param("v1.34.0-gke.1", "v1.34.4", id="one of a vendor"),
        pytest.param("v1.33.9", "v1.34.4", id="an older one, by the nearest"),
    ],
)
def test_an_api_server_of_an_older_version_is_judged_by_its_kube_scheduler(
    serve, kubeconfig, capsys, api_server, version
):
    pod = {"metadata": {"name": "p", "namespace": "default", "uid": "p"}, "spec": {"containers": [{"name": "c"}]}}
    cluster = Cluster({"/api/v1/nodes": [node("n", KUBERNETES_VERSION)], "/api/v1/pods": [pod]})
    cluster.before = lambda request: Reply({"gitVersion": api_server}) if request.path == "/version" else None
    run(("explain", "pod", "p", "-o", "json", "--kubeconfig", kubeconfig(serve(cluster).url)))
    metadata = json.loads(capsys.readouterr().out)["metadata"]
    assert (metadata["kubernetesVersion"], metadata["versionSource"]) == (version, "APIServer")
