"""A pod that admission has filled in is refused where the API server refuses it, in its own words."""

from __future__ import annotations

import json

import pytest

from schedctl.workloads.api_server import Admission, Created
from schedctl.workloads.expansion import Replica
from tests.cluster.refused_pods import LIMITS, PODS, PREFIX, container, pod


def created(manifests_of, cluster_of, spec, *, limited=False):
    (one,) = manifests_of(json.dumps(pod(spec, limited=limited))).objects
    return Admission(cluster_of(json.dumps(LIMITS))).create(Replica(one.object))


@pytest.mark.parametrize("wrong", PODS)
def test_a_pod_is_refused_because_of(wrong, manifests_of, cluster_of):
    limited, spec, message = PODS[wrong]
    assert created(manifests_of, cluster_of, spec, limited=limited).message == PREFIX + message


@pytest.mark.parametrize(
    ("limited", "spec"),
    [
        pytest.param(True, {"containers": [container("main", {"memory": "200Mi"})]}, id="a request of the limit"),
        pytest.param(
            False,
            {"resources": {"requests": {"cpu": "1"}}, "containers": [container("main", {"cpu": "1"})]},
            id="containers that request as much as their pod",
        ),
        pytest.param(
            False,
            {
                "resources": {"limits": {"cpu": "1"}},
                "containers": [container(name, {"cpu": "100m"}, {"cpu": "1"}) for name in ("main", "other")],
            },
            id="containers that may each use all that the pod may",
        ),
    ],
)
def test_a_pod_is_taken_with(limited, spec, manifests_of, cluster_of):
    assert isinstance(created(manifests_of, cluster_of, spec, limited=limited), Created)
