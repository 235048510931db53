"""``schedctl snapshot create`` of a live cluster: what is asked for, what is written, what is missing."""

from __future__ import annotations

import json
import stat

import pytest

from schedctl.cli.running import run
from tests.live.servers import Cluster, status

pytestmark = pytest.mark.usefixtures("impatient")
SECRET = "hunter2"
POD = {
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "1",
        "managedFields": [{"manager": "kubectl"}],
        "annotations": {"note": SECRET},
        "creationTimestamp": None,
    },
    "spec": {"containers": [{"name": "web", "image": "web:1", "env": [{"name": "P", "value": SECRET}]}]},
    "status": {"phase": "Pending"},
}


@pytest.fixture
def server(serve):
    cluster = Cluster({"/api/v1/pods": [POD], "/api/v1/nodes": [{"metadata": {"name": "n", "uid": "2"}}]})

    def answer(request):
        if request.path == "/api/v1/services":
            return status(403, "Forbidden", 'services is forbidden: User "reader" cannot list resource "services"')
        return cluster(request)

    return serve(answer)


@pytest.fixture
def create_snapshot(server, kubeconfig, tmp_path, capsys):
    """Take a snapshot and return it with standard error."""

    def create(*flags):
        path = tmp_path / "s.json"
        code = run(("snapshot", "create", str(path), "--kubeconfig", kubeconfig(server.url), *flags))
        errors = capsys.readouterr().err
        assert code == 0, errors
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        return json.loads(path.read_text()), path.read_text(), errors

    return create


def test_snapshot_header_names_source_time_and_gaps(create_snapshot):
    snapshot, text, errors = create_snapshot()
    header = snapshot["metadata"]
    assert header["source"].startswith("context ")
    assert header["taken"]
    assert [(gap["kind"], gap["reason"]) for gap in header["missing"]] == [("Service", "Forbidden")]
    assert "could not list: Service (forbidden)" in errors
    assert SECRET not in text


def test_strict_redaction_hides_the_source(create_snapshot):
    snapshot, text, _ = create_snapshot("--redact", "strict")
    header = snapshot["metadata"]
    assert header["source"] == ""
    assert header["missing"] == [{"kind": "Service", "reason": "Forbidden", "text": ""}]
    assert "reader" not in text
    assert "web" not in text


def test_unredacted_snapshot_equals_the_server_response(create_snapshot):
    snapshot, _, errors = create_snapshot("--redact", "none", "--yes")
    (pod,) = snapshot["objects"]["Pod"]
    sent = {key: value for key, value in POD["metadata"].items() if key not in ("managedFields", "creationTimestamp")}
    assert pod == {**POD, "metadata": sent}
    assert snapshot["metadata"]["redaction"] == "none"
    assert "it contains environment variables, commands and all annotations" in errors


def test_secrets_are_never_requested_and_one_config_map_is_by_its_name(create_snapshot, server):
    create_snapshot()
    assert not [path for path in server.paths() if "secrets" in path]
    (asked,) = [each for each in server.requests if "configmaps" in each.path]
    assert asked.path == "/api/v1/namespaces/kube-system/configmaps"
    assert asked.query["fieldSelector"] == "metadata.name=cluster-autoscaler-status"
