"""The configuration that a cluster keeps is followed on request, and every answer says whose it follows."""

from __future__ import annotations

import json

import pytest

from tests.live.servers import Cluster, Reply, status

MAPS = "/api/v1/namespaces/{}/configmaps/{}"
TEXT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 4\n"
IN_JSON = json.dumps({"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"})


@pytest.fixture
def explain(serve, kubeconfig, schedctl):
    """Explain with these ConfigMaps in the cluster: data by path, or what else is answered."""

    def run(maps, *options):
        def before(request):
            if "configmaps" not in request.path:
                return None
            found = maps.get(request.path)
            return found if isinstance(found, Reply) else Reply({"data": found}) if found else status(404, "NotFound")

        cluster = Cluster()
        cluster.before = before
        run.server = serve(cluster)
        return schedctl("explain", "--all-pending", "-o", "json", "--kubeconfig", kubeconfig(run.server.url), *options)

    return run


def configuration(result):
    return json.loads(result.out)["metadata"]["configuration"]


def test_config_maps_are_read_only_on_request(explain):
    assert configuration(explain({})) == "built-in defaults"
    assert not any("configmaps" in path for path in explain.server.paths())


@pytest.mark.parametrize(
    ("namespace", "name", "text"),
    [
        pytest.param("kube-system", "scheduler-config", TEXT, id="YAML"),
        pytest.param("openshift-kube-scheduler", "config", IN_JSON, id="OpenShift's, in JSON"),
        pytest.param("kube-system", "my-scheduler-config", f"# mine\n{TEXT}", id="that of the documentation"),
    ],
)
def test_configuration_of_a_config_map_is_used(explain, namespace, name, text):
    result = explain({MAPS.format(namespace, name): {"a": "x: y", "b.yaml": text}}, "--scheduler-config-from-cluster")
    assert configuration(result) == f"ConfigMap {namespace}/{name}, b.yaml, of context test"
    assert result.err == "no pending pods\n"


def test_missing_config_map_is_reported(explain):
    result = explain({MAPS.format("kube-system", "kube-scheduler"): {"a": "b"}}, "--scheduler-config-from-cluster")
    assert configuration(result) == "built-in defaults"
    assert "looked for kube-system/scheduler-config, kube-system/kube-scheduler-config, " in result.err


def test_configuration_file_is_used_instead(explain, tmp_path):
    (tmp_path / "mine.yaml").write_text(TEXT)
    result = explain({}, "--scheduler-config-from-cluster", "--scheduler-config", str(tmp_path / "mine.yaml"))
    assert configuration(result) == str(tmp_path / "mine.yaml")


def test_forbidden_config_map_is_an_error(explain):
    forbidden = status(403, "Forbidden", "configmaps is forbidden")
    result = explain({MAPS.format("kube-system", "scheduler-config"): forbidden}, "--scheduler-config-from-cluster")
    assert (result.code, result.out) == (4, "")
    assert "deploy/clusterrole.yaml and openshift.yaml beside it have Roles for" in result.err


def test_invalid_configuration_is_refused(explain):
    maps = {MAPS.format("kube-system", "scheduler-config"): {"a": TEXT + "parallelisms: 3\n"}}
    result = explain(maps, "--scheduler-config-from-cluster")
    assert (result.code, result.out) == (2, "")
    assert "ConfigMap kube-system/scheduler-config, a, of context test:4:" in result.err


def test_profile_names_come_from_the_cluster_configuration(explain):
    maps = {MAPS.format("kube-system", "scheduler-config"): {"a": TEXT}}
    result = explain(maps, "--scheduler-config-from-cluster", "--profile", "bin-packing")
    assert result.code == 2
    assert 'error: no profile "bin-packing" in ConfigMap' in result.err


def test_files_have_no_config_maps(schedctl):
    result = schedctl("explain", "--all-pending", "-f", "fixtures/clusters/shop", "--scheduler-config-from-cluster")
    assert result.code == 2
    assert "--scheduler-config-from-cluster selects a live cluster" in result.err
