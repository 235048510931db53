"""``schedctl check --live --all`` lists the cluster, writes nothing to it, and prints what kubectl could write."""

from __future__ import annotations

from schedctl.cli.running import run
from tests.cli.test_check_all import NODES, workload
from tests.live.servers import Cluster
from tests.render.checks.test_open_reports import ingest

PATHS = {
    "Node": "/api/v1/nodes",
    "Deployment": "/apis/apps/v1/deployments",
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "Pod": "/api/v1/pods",
}


def test_an_audit_reads_only(serve, kubeconfig, capsys):
    objects = {path: [] for path in PATHS.values()}
    for each in [*NODES, *workload("web", 9, ["a"])]:
        objects[PATHS[each["kind"]]].append(each)
    server = serve(Cluster(objects))
    code = run(["check", "--live", "--all", "-o", "openreports", "--kubeconfig", kubeconfig(server.url)])
    assert code == 1
    assert {request.method for request in server.requests} == {"GET"}
    found = ingest(capsys.readouterr().out)
    assert found["shop"]["summary"] == {"error": 0, "fail": 1, "pass": 0, "skip": 0, "warn": 0}
    (listed,) = found["shop"]["results"]
    assert listed["message"].startswith("Deployment shop/web: only 8 of 9 pods can be scheduled")
    assert listed["timestamp"]["seconds"] == 1795309323, "when the API server answered"
    assert listed["resources"] == [{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}]
