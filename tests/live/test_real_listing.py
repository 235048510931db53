"""The real API server: what is listed is what is there, with no more rights than the shipped roles give."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path

import pytest
import yaml

from schedctl import sources
from schedctl.api.kinds import KINDS
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.errors import ClusterError
from schedctl.live import listing, pages
from schedctl.live.connections import Connection
from schedctl.live.kubeconfigs import Access
from tests.cluster.scenarios import furniture
from tests.live import control_planes

pytestmark = pytest.mark.cluster
ROLES = list(yaml.safe_load_all((Path(__file__).parents[2] / "deploy/clusterrole.yaml").read_text()))
(READER,) = [role for role in ROLES if role["metadata"]["name"] == "schedctl-reader"]
PODS = "/api/v1/pods"


def pod(name, namespace, **spec):
    spec = {"containers": [{"name": "c", "image": "i"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def node(name):
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def open_connection(kubeconfig):
    return Connection.open(Access(kubeconfig=str(kubeconfig)))


def uids(found, kind):
    return {
        item["metadata"]["uid"]
        for page in found.pages
        if page.kind.name == kind
        for item in json.loads(page.body)["items"]
    }


def without(role, *resources):
    """The role without the rights to some resources."""
    rules = [
        {**rule, "resources": left}
        for rule in role["rules"]
        if (left := [resource for resource in rule["resources"] if resource not in resources])
    ]
    return {**role, "rules": rules}


class Disturbed(Connection):
    """A connection to which something happens before the second page of the pods."""

    disturb = None

    def get(self, path, query=None):
        if path == PODS and "continue" in (query or {}) and self.disturb is not None:
            disturb, self.disturb = self.disturb, None
            query = disturb(query) or query
        return super().get(path, query)


def test_listing_equals_the_cluster(control_plane):
    for obj in furniture():
        control_plane.api.create(obj)
    found = listing.read(open_connection(control_plane.kubeconfig))
    for kind in (
        "Node",
        "Pod",
        "Service",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "ResourceSlice",
        "DeviceClass",
    ):
        there = {obj["metadata"]["uid"] for obj in control_plane.api.all(kind)}
        assert uids(found, kind) == there
    assert uids(found, "Node")
    # scheduling.k8s.io/v1beta1 is served only where it is turned on.
    assert (found.missing, found.unserved, found.server_version) == ((), ("PodGroup",), "v1.37.1")
    objects = sources.load_listed("test", (page.body for page in found.pages)).objects
    assert len(objects) == sum(len(uids(found, kind.name)) for kind in KINDS)


def test_a_pod_that_is_pending_is_explained(control_plane, namespace, schedctl):
    control_plane.api.create(node("live-1"))
    control_plane.api.create(pod("too-fussy", namespace, nodeSelector={"disk": "ssd"}))
    access = ("--kubeconfig", str(control_plane.kubeconfig))
    result = schedctl("explain", "--all-pending", "-n", namespace, "-v", *access)
    assert result.code == 0, result.err
    assert "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector." in result.out
    assert "  Pod: 1, at resourceVersion" in result.err
    result = schedctl("explain", "--all-pending", *access)
    assert f"{namespace}/too-fussy" in result.out
    assert result.err == ""


def test_files_are_added_to_the_live_state(control_plane, namespace, schedctl, tmp_path):
    control_plane.api.create(node("live-1"))
    control_plane.api.create(pod("waiting", namespace, nodeSelector={"disk": "ssd"}))
    labelled = node("live-1")
    labelled["metadata"]["labels"]["disk"] = "ssd"
    (tmp_path / "node.json").write_text(json.dumps(labelled))
    access = ("--kubeconfig", str(control_plane.kubeconfig), "--live", "-f", str(tmp_path / "node.json"))
    result = schedctl("explain", "pod", "waiting", "-n", namespace, "-o", "jsonpath={.results[*].chosen}", *access)
    assert (result.code, result.out.strip()) == (0, "live-1")


def test_forbidden_user_is_told_the_rbac_rule(control_plane, schedctl):
    result = schedctl("explain", "--all-pending", "--kubeconfig", str(control_plane.nobody))
    assert (result.code, result.out) == (4, "")
    assert 'is forbidden: User "nobody" cannot list resource' in result.err
    assert '- {apiGroups: [""], resources: ["' in result.err


def test_kinds_that_are_forbidden_are_gaps(control_plane, namespace):
    control_plane.api.create(pod("p", namespace))
    with control_plane.grant(without(READER, "services", "replicasets", "resourceclaims")):
        found = listing.read(open_connection(control_plane.nobody))
    assert [(gap.kind, gap.reason) for gap in found.missing] == [
        ("Service", "Forbidden"),
        ("ReplicaSet", "Forbidden"),
        ("ResourceClaim", "Forbidden"),
    ]
    assert 'User "nobody" cannot list resource "services"' in found.missing[0].text
    assert len(uids(found, "Pod")) == 1


@pytest.mark.parametrize("kind", ["nodes", "pods"])
def test_nodes_and_pods_are_required(control_plane, kind):
    with control_plane.grant(without(READER, kind)), pytest.raises(ClusterError, match="is forbidden") as raised:
        listing.read(open_connection(control_plane.nobody))
    assert f'- {{apiGroups: [""], resources: ["{kind}"], verbs: ["list"]}}' in raised.value.hint


def test_the_shipped_role_suffices_and_neither_secrets_nor_config_maps_are_asked_for(control_plane):
    with control_plane.grant(READER):
        before = len(control_plane.audit("nobody"))
        found = listing.read(open_connection(control_plane.nobody))
        requests = control_plane.audit("nobody")[before:]
    assert found.missing == ()
    failed = {entry["requestURI"].split("?")[0] for entry in requests if entry["responseStatus"]["code"] != 200}
    assert failed == {"/apis/scheduling.k8s.io/v1beta1/podgroups"}, "what this server does not serve, and nothing else"
    assert {entry["verb"] for entry in requests} == {"get", "list"}
    resources = {entry["objectRef"]["resource"] for entry in requests if "objectRef" in entry}
    assert resources == {kind.resource for kind in KINDS}
    assert not resources & {"secrets", "configmaps"}


def test_the_configuration_of_the_scheduler_is_found_with_the_shipped_role(control_plane, schedctl):
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 8\n"
    path = "/api/v1/namespaces/kube-system/configmaps"
    made = {"metadata": {"name": "scheduler-config"}, "data": {"config.yaml": text}}
    openshift = yaml.safe_load((Path(__file__).parents[2] / "deploy/openshift.yaml").read_text())
    control_plane.api.create({"kind": "Namespace", "metadata": {"name": openshift["metadata"]["namespace"]}})
    roles = [role for role in [*ROLES, openshift] if role["kind"] == "Role"]
    explain = ("explain", "--all-pending", "--scheduler-config-from-cluster", "--kubeconfig")
    result = schedctl(*explain, str(control_plane.kubeconfig))
    assert "no KubeSchedulerConfiguration in a ConfigMap of the cluster; looked for kube-system/" in result.err
    control_plane.api.request("POST", path, made)
    try:
        result = schedctl(*explain, str(control_plane.kubeconfig), "-o", "json")
        assert json.loads(result.out)["metadata"]["configuration"] == (
            "ConfigMap kube-system/scheduler-config, config.yaml, of context testcluster"
        )
        with control_plane.grant(*roles, READER):
            result = schedctl(*explain, str(control_plane.nobody), "-o", "json")
        assert result.code == 0, result.err
    finally:
        control_plane.api.request("DELETE", f"{path}/scheduler-config")


def test_api_server_restart_during_a_list_loses_nothing(control_plane, namespace, monkeypatch):
    for number in range(25):
        control_plane.api.create(pod(f"p-{number:02}", namespace))
    there = {obj["metadata"]["uid"] for obj in control_plane.api.all("Pod")}
    monkeypatch.setattr(pages, "LIMIT", 10)
    # As long as the restart may take: with its usual patience the list gives up after half a minute.
    connection = Disturbed.open(Access(kubeconfig=str(control_plane.kubeconfig), timeout=control_planes.PATIENCE))
    connection.disturb = lambda query: control_plane.restart_api_server()
    found = listing.read(connection)
    control_plane.await_restart()
    assert uids(found, "Pod") == there
    assert len(found.pages) > len(KINDS)


def test_compacted_list_is_restarted(control_plane, namespace, monkeypatch):
    for number in range(25):
        control_plane.api.create(pod(f"p-{number:02}", namespace))
    there = {obj["metadata"]["uid"] for obj in control_plane.api.all("Pod")}
    monkeypatch.setattr(pages, "LIMIT", 10)
    connection = Disturbed.open(Access(kubeconfig=str(control_plane.kubeconfig)))

    def age(query):
        """Let the store forget what it has been, and the token be of that time."""
        control_plane.compact()
        token = query["continue"]
        content = json.loads(urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        old = json.dumps({**content, "rv": 2}).encode()
        return {**query, "continue": urlsafe_b64encode(old).decode().rstrip("=")}

    connection.disturb = age
    before = len(control_plane.audit())
    found = listing.read(connection)
    codes = [entry["responseStatus"]["code"] for entry in control_plane.audit()[before:]]
    assert codes.count(410) == 1
    assert uids(found, "Pod") == there


@pytest.mark.slow
def test_five_thousand_nodes_and_twenty_thousand_pods():
    def stored(obj, number):
        uid = f"{obj['kind'].lower()}-{number}"
        return {**obj, "metadata": {**obj["metadata"], "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"}}

    nodes = {f"/registry/minions/node-{i:04}": stored(node(f"node-{i:04}"), i) for i in range(5000)}
    pods = {
        f"/registry/pods/default/pod-{i:05}": stored(pod(f"pod-{i:05}", "default", nodeName=f"node-{i % 5000:04}"), i)
        for i in range(20_000)
    }
    with control_planes.run_control_plane() as large:
        large.store(nodes | pods)
        found = listing.read(open_connection(large.kubeconfig))
    objects = sources.load_listed("large", (page.body for page in found.pages)).objects
    names = {
        kind: {one.object.metadata.name for one in objects if isinstance(one.object, struct)}
        for kind, struct in (("Node", Node), ("Pod", Pod))
    }
    assert names == {"Node": {f"node-{i:04}" for i in range(5000)}, "Pod": {f"pod-{i:05}" for i in range(20_000)}}
    assert len([page for page in found.pages if page.kind.name == "Pod"]) == 40
