"""The pods that controllers would make next."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedctl.api import workloads
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.cluster import Cluster
from schedctl.workloads import pod_templates

SPEC = {"containers": [{"name": "main", "image": "web:v1"}]}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}
SELECTOR = {"matchLabels": {"app": "web"}}


def cluster(*objects: Any) -> Cluster:
    made = Cluster()
    for obj in objects:
        made.put(obj)
    return made


def workload(kind: type, name: str = "web", metadata: dict[str, Any] | None = None, **spec: Any) -> Any:
    full = {"template": TEMPLATE, "selector": SELECTOR, **spec}
    return msgspec.convert({"metadata": {"name": name, "namespace": "shop", **(metadata or {})}, "spec": full}, kind)


def replica_set(name: str, template: dict[str, Any] = TEMPLATE, **metadata: Any) -> workloads.ReplicaSet:
    hashed = {**template, "metadata": {"labels": {**template["metadata"]["labels"], "pod-template-hash": name}}}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    extra = {"uid": f"rs-{name}", "ownerReferences": [owner], **metadata}
    return workload(workloads.ReplicaSet, f"web-{name}", extra, template=hashed)


def plain(obj: Any) -> dict[str, Any]:
    return msgspec.to_builtins(obj)


def owner_of(pod: Any) -> tuple[str, str, bool]:
    (owner,) = pod.metadata.owner_references
    return owner.kind, owner.name, owner.controller


@pytest.mark.parametrize(
    ("kind", "spec", "owner"),
    [
        pytest.param(workloads.ReplicaSet, {}, "ReplicaSet", id="a ReplicaSet's"),
        pytest.param(
            workloads.ReplicationController, {"selector": {"app": "web"}}, "ReplicationController", id="a controller's"
        ),
        pytest.param(workloads.DaemonSet, {}, "DaemonSet", id="a DaemonSet's"),
        pytest.param(workloads.Job, {}, "Job", id="a Job's"),
    ],
)
def test_a_pod_is_named_and_owned_by_its_controller(kind, spec, owner):
    pod = pod_templates.pod_of(workload(kind, **spec), cluster()).pod
    assert (pod.metadata.name, pod.metadata.namespace) == ("web-…", "shop")
    assert pod.metadata.labels["app"] == "web"
    assert owner_of(pod) == (owner, "web", True)


def test_a_new_deployment_brings_its_replica_set():
    made = pod_templates.pod_of(workload(workloads.Deployment), cluster())
    (companion,) = made.companions
    assert made.pod.metadata.name == "web-…"
    assert made.pod.metadata.labels == {"app": "web", "pod-template-hash": "new"}
    assert owner_of(made.pod) == ("ReplicaSet", "web-new", True)
    assert owner_of(companion) == ("Deployment", "web", True)
    assert companion.spec.selector.match_labels == {"app": "web", "pod-template-hash": "new"}


OTHER = {**TEMPLATE, "spec": {"containers": [{"name": "main", "image": "web:v2"}]}}
DEFAULTED = {
    **TEMPLATE,
    "spec": {
        **SPEC,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
    },
}
REVISION = "deployment.kubernetes.io/revision"


@pytest.mark.parametrize(
    ("replica_sets", "chosen"),
    [
        pytest.param([replica_set("a")], "web-a", id="one of the same template is taken"),
        pytest.param([replica_set("a", DEFAULTED)], "web-a", id="defaults a server filled in make no difference"),
        pytest.param([replica_set("a", OTHER)], "web-new", id="one of another template is an older revision"),
        pytest.param([replica_set("a", ownerReferences=[])], "web-new", id="one of nobody's is not taken"),
        pytest.param([replica_set("a", namespace="other")], "web-new", id="nor one of another namespace"),
        pytest.param(
            [
                replica_set("a", creationTimestamp="2026-01-02T00:00:00Z"),
                replica_set("b", creationTimestamp="2026-01-01T00:00:00Z"),
            ],
            "web-b",
            id="of two the older one is taken",
        ),
        pytest.param(
            [replica_set("a", annotations={REVISION: "1"}), replica_set("b", annotations={REVISION: "2"})],
            "web-b",
            id="but the one of the deployment's revision first of all",
        ),
    ],
)
def test_the_replica_set_of_a_deployment(replica_sets, chosen):
    deployment = workload(workloads.Deployment, metadata={"uid": "d", "annotations": {REVISION: "2"}})
    made = pod_templates.pod_of(deployment, cluster(*replica_sets))
    assert owner_of(made.pod)[1] == chosen
    assert made.pod.metadata.labels["pod-template-hash"] == chosen.removeprefix("web-")


def test_a_stateful_set_makes_its_first_pod_with_claims_of_its_own():
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": "ssd"}}
    template = {**TEMPLATE, "spec": {**SPEC, "volumes": [{"name": "data"}, {"name": "tmp"}]}}
    made = pod_templates.pod_of(
        workload(workloads.StatefulSet, volumeClaimTemplates=[claim], template=template), cluster()
    )
    assert made.pod.metadata.name == "web-0"
    assert made.pod.metadata.labels == {
        "app": "web",
        "apps.kubernetes.io/pod-index": "0",
        "statefulset.kubernetes.io/pod-name": "web-0",
    }
    assert plain(made.pod.spec)["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}},
        {"name": "tmp"},
    ]
    (companion,) = made.companions
    assert plain(companion.metadata) == {"name": "data-web-0", "namespace": "shop", "labels": {"app": "web"}}
    assert companion.spec.storage_class_name == "ssd"


def pods(*names: str) -> list[Pod]:
    return [
        msgspec.convert({"metadata": {"name": name, "namespace": "shop"}, "spec": {"nodeName": "gone"}}, Pod)
        for name in names
    ]


@pytest.mark.parametrize(
    ("there", "spec", "expected", "note"),
    [
        pytest.param([], {}, "web-0", "", id="the first one to begin with"),
        pytest.param(["web-0", "web-2"], {"replicas": 3}, "web-1", "", id="the first that is missing"),
        pytest.param(["web-0"], {"ordinals": {"start": 5}}, "web-5", "", id="counted from where it begins"),
        pytest.param(
            ["web-5", "web-6"],
            {"ordinals": {"start": 5}, "replicas": 2},
            "web-7",
            "StatefulSet shop/web has all of its 2 pods: this is web-7, which it would make if scaled to 3",
            id="the one after the last when all are there",
        ),
        pytest.param(
            ["web-0"],
            {},
            "web-1",
            "StatefulSet shop/web has its only pod: this is web-1, which it would make if scaled to 2",
            id="one replica unless it says otherwise",
        ),
        pytest.param(
            [],
            {"replicas": 0},
            "web-0",
            "StatefulSet shop/web is scaled to 0: this is web-0, which it would make if scaled to 1",
            id="none is wanted",
        ),
    ],
)
def test_the_next_pod_of_a_stateful_set(there, spec, expected, note):
    made = pod_templates.pod_of(workload(workloads.StatefulSet, **spec), Cluster.of(pods(*there)))
    assert (made.pod.metadata.name, made.note) == (expected, note)


def test_an_existing_claim_is_used_again():
    claim = {"metadata": {"name": "data"}, "spec": {}}
    there = msgspec.convert({"metadata": {"name": "data-web-3", "namespace": "shop"}}, PersistentVolumeClaim)
    stateful_set = workload(workloads.StatefulSet, volumeClaimTemplates=[claim], ordinals={"start": 3})
    assert pod_templates.pod_of(stateful_set, cluster(there)).companions == ()


@pytest.mark.parametrize(
    ("spec", "stated", "expected"),
    [
        pytest.param({}, [], 6, id="outages, pressure and cordons are tolerated"),
        pytest.param({"hostNetwork": True}, [], 7, id="with the host's network, a missing network too"),
        pytest.param(
            {},
            [
                {
                    "key": "node.kubernetes.io/not-ready",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 9,
                }
            ],
            6,
            id="a time limit on outages is lifted",
        ),
        pytest.param({}, [{"key": "gpu", "operator": "Exists"}], 7, id="what the template tolerates stays"),
    ],
)
def test_the_tolerations_of_a_daemon_pod(spec, stated, expected):
    template = {**TEMPLATE, "spec": {**SPEC, **spec, "tolerations": stated}}
    tolerations = pod_templates.pod_of(workload(workloads.DaemonSet, template=template), cluster()).pod.spec.tolerations
    assert len(tolerations) == expected
    assert {t.key for t in tolerations} >= {"node.kubernetes.io/unschedulable", "node.kubernetes.io/disk-pressure"}
    assert all(t.toleration_seconds is None for t in tolerations)


def test_a_job_pod_has_the_name_and_uid_of_its_job():
    job = workload(workloads.Job, metadata={"uid": "j"}, completionMode="Indexed")
    assert pod_templates.pod_of(job, cluster()).pod.metadata.labels == {
        "app": "web",
        "batch.kubernetes.io/controller-uid": "j",
        "batch.kubernetes.io/job-completion-index": "0",
        "batch.kubernetes.io/job-name": "web",
        "controller-uid": "j",
        "job-name": "web",
    }


def test_the_pod_of_a_cron_job_is_that_of_its_next_job():
    cron_job = msgspec.convert(
        {
            "metadata": {"name": "report", "namespace": "shop"},
            "spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}},
        },
        workloads.CronJob,
    )
    pod = pod_templates.pod_of(cron_job, cluster()).pod
    assert pod.metadata.name == "report-…"
    assert owner_of(pod) == ("Job", "report-…", True)


def test_an_object_that_makes_no_pods_raises():
    with pytest.raises(TypeError, match="a Node makes no pods"):
        pod_templates.pod_of(Node(), cluster())
