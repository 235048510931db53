"""Rights that an API server asks for by a name that no path has."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from schedctl.live.connections import Connection
from schedctl.live.faults import Refused
from schedctl.live.kubeconfigs import Access

pytestmark = pytest.mark.cluster
ROLES = yaml.safe_load_all((Path(__file__).parents[2] / "deploy/clusterrole.yaml").read_text())
(BINDER,) = [role for role in ROLES if role["metadata"]["name"] == "schedctl-binder"]


def without(role, resource):
    """The role without the right to a resource."""
    rules = [{**rule, "resources": [one for one in rule["resources"] if one != resource]} for rule in role["rules"]]
    return {**role, "rules": [rule for rule in rules if rule["resources"]]}


def test_allocating_a_claim_takes_the_right_to_bind_claims(control_plane, namespace):
    request = {"name": "r", "exactly": {"deviceClassName": "x"}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": namespace},
        "spec": {"devices": {"requests": [request]}},
    }
    stored = control_plane.api.create(claim)
    result = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "dev"}
    changed = {**stored, "status": {"allocation": {"devices": {"results": [result]}}}}
    path = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/c/status"
    connection = Connection.open(Access(kubeconfig=str(control_plane.nobody)))
    with control_plane.grant(without(BINDER, "resourceclaims/binding")), pytest.raises(Refused) as raised:
        connection.send("PUT", path, changed)
    assert 'requires resource="resourceclaims/binding", verb="update"' in str(raised.value)
    with control_plane.grant(BINDER):
        connection.send("PUT", path, changed)
    assert control_plane.api.get(claim)["status"]["allocation"]["devices"]["results"][0]["device"] == "dev"
