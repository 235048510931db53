"""Whose a pod is: the outermost controller that the state of the cluster knows, or the name of a ReplicaSet tells."""

import pytest

from schedctl.api.meta import ObjectMeta, OwnerReference
from schedctl.api.workloads import Deployment, ReplicaSet
from schedctl.testing.builders import cluster, node, pod
from schedctl.workloads.ownership import owner_name

HASH = {"pod-template-hash": "7d9"}


def owned_by(kind, name, api_version="apps/v1"):
    return {"ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": name, "controller": True}]}


OF_WEB = owned_by("ReplicaSet", "web-7d9")


@pytest.mark.parametrize(
    ("subject", "owner"),
    [
        pytest.param(pod("p", metadata=OF_WEB), "Deployment default/web", id="pending"),
        pytest.param(pod("p", on="a", metadata=OF_WEB), "Deployment default/web", id="bound"),
        pytest.param(
            pod("p", on="gone", metadata=OF_WEB),
            "Deployment default/web",
            id="on a node that is gone",
        ),
        pytest.param(
            pod("p", labels=HASH, metadata=owned_by("ReplicaSet", "api-7d9")),
            "Deployment default/api",
            id="of a ReplicaSet that was not read, which tells its Deployment by name",
        ),
        pytest.param(
            pod("p", metadata=owned_by("ReplicaSet", "api-x")), "ReplicaSet default/api-x", id="of a bare ReplicaSet"
        ),
        pytest.param(
            pod("p", metadata=owned_by("Model", "m", "ml.example.com/v1")),
            "Model.ml.example.com default/m",
            id="of a custom resource",
        ),
        pytest.param(pod("p"), "", id="without a controller"),
        pytest.param(pod("other"), "", id="not in the cluster"),
    ],
)
def test_the_owner_of_a_pod(subject, owner):
    state = cluster(node("a"), subject)
    state.put(Deployment(ObjectMeta(name="web", namespace="default")))
    above = OwnerReference(api_version="apps/v1", kind="Deployment", name="web", controller=True)
    state.put(ReplicaSet(ObjectMeta(name="web-7d9", namespace="default", owner_references=[above])))
    assert owner_name("default/p", state) == owner
