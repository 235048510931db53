"""The API server of a run: limits, quotas, node selectors of namespaces, and everything it did on the way.

The messages are the API server's own.
"""

from __future__ import annotations

import pytest

from schedctl.workloads.api_server import Admission, Created, Rejected, join
from schedctl.workloads.expansion import Replica, expand

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop%s}
spec: {%scontainers: [{name: app, image: a%s}]}
"""


def pod(resources: str = "", spec: str = "", metadata: str = "") -> str:
    return POD % (metadata, spec, f", resources: {{{resources}}}" if resources else "")


def limits(item: str, name: str = "limits") -> str:
    return f"""
---
apiVersion: v1
kind: LimitRange
metadata: {{name: {name}, namespace: shop}}
spec: {{limits: [{{{item}}}]}}
"""


def quota(hard: str, more: str = "", status: str = "") -> str:
    return f"""
---
apiVersion: v1
kind: ResourceQuota
metadata: {{name: quota, namespace: shop}}
spec: {{hard: {{{hard}}}{more}}}
status: {{{status}}}
"""


@pytest.fixture
def create_pod(manifests_of, cluster_of):
    """Creates a pod in a cluster: the answer, and the admission that gave it."""

    def create(text: str, state: str = "", disabled=()):
        cluster = cluster_of(state)
        admission = Admission(cluster, disabled)
        manifests = manifests_of(text)
        assert manifests.problems == []
        (one,) = manifests.objects
        return admission.create(Replica(one.object)), admission

    return create


def message(answer) -> str:
    assert isinstance(answer, Rejected)
    return answer.message


def effects(admission: Admission) -> list[str]:
    return [f"{effect.plugin}: {effect.text}" for effect in admission.effects]


def resources_of(answer) -> dict[str, dict[str, str]]:
    assert isinstance(answer, Created)
    resources = answer.pod.spec.containers[0].resources
    return {"requests": resources.requests or {}, "limits": resources.limits or {}}


# -- LimitRanger ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "resources", "requests", "limit"),
    [
        pytest.param(
            "type: Container, defaultRequest: {cpu: 100m}", "", {"cpu": "100m"}, {}, id="a default request is set"
        ),
        pytest.param(
            "type: Container, default: {cpu: 200m}", "", {"cpu": "200m"}, {"cpu": "200m"}, id="a limit is a request too"
        ),
        pytest.param(
            "type: Container, max: {cpu: '1'}", "", {"cpu": "1"}, {"cpu": "1"}, id="the maximum is the default limit"
        ),
        pytest.param(
            "type: Container, min: {cpu: 50m}", "", {"cpu": "50m"}, {}, id="the minimum is the default request"
        ),
        pytest.param(
            "type: Container, default: {cpu: 200m}, defaultRequest: {cpu: 100m}",
            "requests: {cpu: 150m}",
            {"cpu": "150m"},
            {"cpu": "200m"},
            id="what is stated stays",
        ),
    ],
)
def test_limit_ranges_complete_containers(create_pod, item, resources, requests, limit):
    answer, _ = create_pod(pod(resources), limits(item))
    assert resources_of(answer) == {"requests": requests, "limits": limit}


def test_the_effects_of_a_limit_range_are_in_the_words_of_its_annotation(create_pod):
    _, admission = create_pod(pod(), limits("type: Container, default: {memory: 1Gi, cpu: '1'}"))
    assert effects(admission)[:2] == [
        "LimitRanger: cpu, memory request for container app, by LimitRange limits",
        "LimitRanger: cpu, memory limit for container app, by LimitRange limits",
    ]
    assert admission.effects[next(iter(admission.effects))] == ["Pod shop/web"]


@pytest.mark.parametrize(
    ("item", "resources", "refusal"),
    [
        pytest.param(
            "type: Container, min: {cpu: 100m}",
            "requests: {cpu: 50m}",
            "minimum cpu usage per Container is 100m, but request is 50m",
            id="too little",
        ),
        pytest.param(
            "type: Container, max: {memory: 1Gi}",
            "limits: {memory: 2048Mi}",
            "maximum memory usage per Container is 1Gi, but limit is 2Gi",
            id="too much, written as the server writes it",
        ),
        pytest.param(
            "type: Pod, max: {cpu: '1'}",
            "requests: {cpu: 100m}",
            "maximum cpu usage per Pod is 1.  No limit is specified",
            id="a bound on pods sets no default",
        ),
        pytest.param(
            "type: Container, maxLimitRequestRatio: {cpu: '2'}",
            "requests: {cpu: 100m}, limits: {cpu: 300m}",
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
            id="too far apart",
        ),
        pytest.param(
            "type: Container, min: {cpu: 100m, memory: 1Gi}",
            "requests: {cpu: 50m, memory: 1Mi}",
            "[minimum cpu usage per Container is 100m, but request is 50m, "
            "minimum memory usage per Container is 1Gi, but request is 1Mi]",
            id="two at once",
        ),
    ],
)
def test_limit_ranges_refuse_pods_out_of_bounds(create_pod, item, resources, refusal):
    answer, admission = create_pod(pod(resources), limits(item))
    assert message(answer) == f'pods "web" is forbidden: {refusal}'
    assert (answer.plugin, admission.rejected) == ("LimitRanger", [answer])
    assert isinstance(create_pod(pod(resources), limits(item), ["LimitRanger"])[0], Created), "unless it is off"


def test_pod_bounds_see_defaulted_pod_level_requests(create_pod):
    whole = "resources: {limits: {cpu: '3'}}, "
    answer, _ = create_pod(pod(spec=whole), limits("type: Pod, min: {cpu: 4}"))
    assert message(answer).endswith("minimum cpu usage per Pod is 4, but request is 3")


def test_pod_level_limits_follow_from_containers_that_all_have_limits(create_pod):
    answer, _ = create_pod(pod("limits: {cpu: 2}", "resources: {requests: {cpu: '3'}}, "))
    assert answer.pod.spec.resources.limits == {"cpu": "3"}, "no less than what is asked for"


# -- ResourceQuota ----------------------------------------------------------------------------

NODE = "\n---\n{apiVersion: v1, kind: Node, metadata: {name: a}}"


def on_node(name: str, cpu: str = "500m") -> str:
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop, uid: {name}}}
spec: {{nodeName: a, containers: [{{name: app, resources: {{requests: {{cpu: {cpu}}}}}}}]}}
"""


@pytest.mark.parametrize(
    ("hard", "resources", "state", "refusal"),
    [
        pytest.param(
            "pods: 1", "", NODE + on_node("old"), "requested: pods=1, used: pods=1, limited: pods=1", id="one too many"
        ),
        pytest.param(
            "requests.cpu: '1'",
            "requests: {cpu: 600m}",
            NODE + on_node("old"),
            "requested: requests.cpu=600m, used: requests.cpu=500m, limited: requests.cpu=1",
            id="what runs there counts",
        ),
        pytest.param(
            "cpu: 100m, memory: 1Gi, limits.memory: 1Gi",
            "requests: {cpu: 200m}, limits: {memory: 2Gi}",
            "",
            "requested: cpu=200m,limits.memory=2Gi,memory=2Gi, used: cpu=0,limits.memory=0,memory=0,"
            " limited: cpu=100m,limits.memory=1Gi,memory=1Gi",
            id="all that is exceeded is named, in order",
        ),
        pytest.param(
            "requests.nvidia.com/gpu: 1",
            "limits: {nvidia.com/gpu: 2}",
            "",
            "requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=1",
            id="extended resources count as requests",
        ),
    ],
)
def test_quotas_refuse_pods_that_exceed_them(create_pod, hard, resources, state, refusal):
    answer, _ = create_pod(pod(resources), state + quota(hard))
    assert message(answer) == f'pods "web" is forbidden: exceeded quota: quota, {refusal}'
    assert isinstance(create_pod(pod(resources), state + quota(hard), ["ResourceQuota"])[0], Created), (
        "unless it is off"
    )


def test_a_quota_on_cpu_demands_that_it_is_stated(create_pod):
    answer, _ = create_pod(pod(), quota("requests.cpu: '1', limits.memory: 1Gi"))
    refusal = "failed quota: quota: must specify limits.memory for: app; requests.cpu for: app"
    assert message(answer) == f'pods "web" is forbidden: {refusal}'


def test_a_quota_starts_from_its_status(create_pod):
    state = NODE + on_node("old") + quota("pods: 5", status="used: {pods: 5}")
    assert "used: pods=5" in message(create_pod(pod(), state)[0])


@pytest.mark.parametrize(
    ("scope", "spec", "resources", "counts"),
    [
        pytest.param(", scopes: [BestEffort]", "", "", True, id="a pod that asks for nothing is best effort"),
        pytest.param(", scopes: [BestEffort]", "", "requests: {cpu: 1m}", False, id="one that asks is not"),
        pytest.param(", scopes: [NotBestEffort]", "", "requests: {cpu: 1m}", True, id="but the opposite"),
        pytest.param(", scopes: [Terminating]", "activeDeadlineSeconds: 5, ", "", True, id="one with a deadline ends"),
        pytest.param(", scopes: [NotTerminating]", "activeDeadlineSeconds: 5, ", "", False, id="and does not go on"),
        pytest.param(", scopes: [PriorityClass]", "", "", False, id="a pod without a class has none"),
        pytest.param(
            ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}",
            "priorityClassName: high, ",
            "",
            True,
            id="a scope may be about some classes",
        ),
        pytest.param(
            ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [high]}]}",
            "priorityClassName: high, ",
            "",
            False,
            id="or about all others",
        ),
        pytest.param(
            ", scopes: [CrossNamespacePodAffinity]",
            "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "[{topologyKey: zone, namespaces: [other], labelSelector: {}}]}}, ",
            "",
            True,
            id="affinity may reach into other namespaces",
        ),
    ],
)
def test_the_scopes_of_a_quota(create_pod, scope, spec, resources, counts):
    high = "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}\n"
    answer, _ = create_pod(pod(resources, spec), high + quota("pods: 0", scope))
    assert isinstance(answer, Rejected) == counts


def test_quotas_are_charged_on_creation_and_credited_on_deletion(manifests_of, cluster_of):
    cluster = cluster_of(quota("pods: 1"))
    admission = Admission(cluster)
    first = manifests_of(pod()).objects[0].object
    created = admission.create(Replica(first))
    assert isinstance(created, Created)
    assert isinstance(admission.create(Replica(first)), Rejected)
    admission.credit(created.pod)
    assert isinstance(admission.create(Replica(first)), Created)


def test_a_refused_pod_is_not_counted_by_any_quota(manifests_of, cluster_of):
    other = quota("cpu: 100m").replace("name: quota", "name: zero")
    cluster = cluster_of(quota("pods: 1") + other)
    admission = Admission(cluster)
    big, small = (manifests_of(pod(f"requests: {{cpu: {cpu}}}")).objects[0].object for cpu in ("200m", "50m"))
    assert isinstance(admission.create(Replica(big)), Rejected)
    assert isinstance(admission.create(Replica(small)), Created)


# -- the other plugins --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "state", "refusal"),
    [
        pytest.param(
            "priorityClassName: gone, ", "", "no PriorityClass with name gone was found", id="an unknown class"
        ),
        pytest.param(
            "runtimeClassName: gone, ", "", 'pod rejected: RuntimeClass "gone" not found', id="an unknown runtime"
        ),
        pytest.param(
            "priority: 5, ",
            "",
            "the integer value of priority (5) must not be provided in pod spec; priority admission controller"
            " computed 0 from the given PriorityClass name",
            id="a priority of its own",
        ),
        pytest.param(
            "nodeSelector: {zone: b}, ",
            "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: "
            "{scheduler.alpha.kubernetes.io/node-selector: zone=a}}}",
            "pod node label selector conflicts with its namespace node label selector",
            id="another zone than its namespace",
        ),
        pytest.param(
            "tolerations: [{key: gpu, operator: Exists}], ",
            "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: "
            '{scheduler.alpha.kubernetes.io/tolerationsWhitelist: \'[{"key": "spot", "operator": "Exists"}]\'}}}',
            "pod tolerations (possibly merged with namespace default tolerations) conflict with"
            " its namespace whitelist",
            id="a toleration its namespace does not allow",
        ),
    ],
)
def test_other_plugins_refuse(create_pod, spec, state, refusal):
    answer, _ = create_pod(pod(spec=spec), state)
    assert message(answer) == f'pods "web" is forbidden: {refusal}'


def test_the_node_selector_of_a_namespace_is_added(create_pod):
    state = """
    apiVersion: v1
    kind: Namespace
    metadata: {name: shop, annotations: {scheduler.alpha.kubernetes.io/node-selector: "zone=a,disk=ssd"}}
    """
    answer, admission = create_pod(pod(spec="nodeSelector: {zone: a}, "), state)
    assert answer.pod.spec.node_selector == {"zone": "a", "disk": "ssd"}
    assert "PodNodeSelector: nodeSelector disk=ssd, of the namespace" in effects(admission)


def test_every_plugin_lists_its_effects(create_pod):
    state = """
    apiVersion: scheduling.k8s.io/v1
    kind: PriorityClass
    metadata: {name: usual}
    value: 7
    globalDefault: true
    ---
    apiVersion: node.k8s.io/v1
    kind: RuntimeClass
    metadata: {name: kata}
    handler: kata
    overhead: {podFixed: {cpu: 250m}}
    scheduling: {nodeSelector: {kata: "yes"}, tolerations: [{key: kata, operator: Exists}]}
    """
    _, admission = create_pod(pod("limits: {cpu: '1'}", "runtimeClassName: kata, "), state)
    assert effects(admission) == [
        "Defaulting: cpu request for container app from its limits",
        "Priority: priority 7 of PriorityClass usual, the global default",
        "DefaultTolerationSeconds: toleration of not-ready, unreachable for 300 s",
        "RuntimeClass: overhead cpu=250m of RuntimeClass kata",
        "RuntimeClass: nodeSelector kata=yes of RuntimeClass kata",
        "RuntimeClass: toleration of kata of RuntimeClass kata",
    ]
    off = [effect.plugin for effect in admission.effects]
    _, silent = create_pod(pod("limits: {cpu: '1'}", "runtimeClassName: kata, "), state, off)
    assert effects(silent) == []


def test_disabling_an_unknown_plugin_raises(cluster_of):
    with pytest.raises(ValueError, match="unknown admission plugin 'LimitRange'; expected one of Defaulting"):
        Admission(cluster_of(), ["LimitRange"])


# -- claims -------------------------------------------------------------------------------------

STATEFUL = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: app, image: a}]}
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}
"""
DEFAULT_CLASS = """
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: disk
"""


@pytest.mark.parametrize(
    ("state", "refusal"),
    [
        pytest.param(
            limits("type: PersistentVolumeClaim, max: {storage: 1Gi}"),
            "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi",
            id="a claim may be too large",
        ),
        pytest.param(
            quota("requests.storage: 3Gi"),
            "exceeded quota: quota, requested: requests.storage=2Gi, used: requests.storage=2Gi,"
            " limited: requests.storage=3Gi",
            id="there may be too much storage in all",
        ),
        pytest.param(
            DEFAULT_CLASS + quota("disk.storageclass.storage.k8s.io/persistentvolumeclaims: 1"),
            "exceeded quota: quota, requested: disk.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
            " used: disk.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
            " limited: disk.storageclass.storage.k8s.io/persistentvolumeclaims=1",
            id="or too many claims of a class, the default one included",
        ),
    ],
)
def test_a_refused_claim_refuses_its_stateful_pod(manifests_of, cluster_of, state, refusal):
    cluster = cluster_of(state)
    admission = Admission(cluster)
    (group,) = expand(manifests_of(STATEFUL).objects, cluster).groups
    refused = [answer for answer in map(admission.create, group.replicas) if isinstance(answer, Rejected)]
    assert refused[-1].message == f'persistentvolumeclaims "data-db-1" is forbidden: {refusal}'
    assert refused[-1].subject == "Pod shop/db-1"


def test_claims_come_with_their_pod(manifests_of, cluster_of):
    cluster = cluster_of(DEFAULT_CLASS)
    admission = Admission(cluster)
    (group,) = expand(manifests_of(STATEFUL).objects, cluster).groups
    created = admission.create(group.replicas[0])
    assert [(claim.metadata.name, claim.spec.storage_class_name) for claim in created.claims] == [("data-db-0", "disk")]
    assert "DefaultStorageClass: storageClassName disk, the default" in effects(admission)


def test_a_resource_claim_is_made_of_its_template_and_named_in_the_status(create_pod):
    state = """
    apiVersion: resource.k8s.io/v1
    kind: ResourceClaimTemplate
    metadata: {name: gpu, namespace: shop}
    spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
    """
    answer, _ = create_pod(pod(spec="resourceClaims: [{name: dev, resourceClaimTemplateName: gpu}], "), state)
    (claim,) = answer.claims
    assert claim.metadata.name.startswith("web-dev-")
    assert claim.metadata.owner_references[0].name == "web"
    assert claim.metadata.annotations == {"resource.kubernetes.io/pod-claim-name": "dev"}
    (status,) = answer.pod.status.resource_claim_statuses
    assert (status.name, status.resource_claim_name) == ("dev", claim.metadata.name)


def test_the_claim_of_an_ephemeral_volume_comes_with_its_pod(create_pod):
    claim = "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}"
    volume = f"volumes: [{{name: tmp, ephemeral: {{volumeClaimTemplate: {{spec: {{{claim}}}}}}}}}], "
    answer, _ = create_pod(pod(spec=volume), DEFAULT_CLASS)
    assert [(claim.metadata.name, claim.spec.storage_class_name) for claim in answer.claims] == [("web-tmp", "disk")]


# -- joining ------------------------------------------------------------------------------------


@pytest.fixture
def join_manifests(manifests_of, cluster_of):
    def join_it(text: str, state: str = ""):
        cluster = cluster_of(state)
        expansion = expand(manifests_of(text).objects, cluster)
        admission = Admission(cluster)
        return cluster, admission, join(expansion, cluster, admission)

    return join_it


DEPLOYMENT = STATEFUL.replace("StatefulSet", "Deployment").replace("  podManagementPolicy: Parallel\n", "")
DEPLOYMENT = DEPLOYMENT[: DEPLOYMENT.index("  volumeClaimTemplates")]


def test_a_workload_that_a_quota_refuses_makes_no_pods(join_manifests):
    _, admission, groups = join_manifests(DEPLOYMENT, quota("count/deployments.apps: 0"))
    assert groups == []
    (rejected,) = admission.rejected
    assert rejected.message == (
        'deployments.apps "db" is forbidden: exceeded quota: quota, requested: count/deployments.apps=1,'
        " used: count/deployments.apps=0, limited: count/deployments.apps=0"
    )


def test_a_quota_that_joins_counts_what_is_there(join_manifests):
    _, admission, _ = join_manifests(quota("pods: 5"), NODE + on_node("old"))
    answers = [admission.create(Replica(pod_)) for pod_ in _pods(6)]
    assert [type(answer) for answer in answers] == [Created] * 4 + [Rejected] * 2


def _pods(count: int):
    from schedctl.api.meta import ObjectMeta
    from schedctl.api.pods import Container, Pod, PodSpec

    spec = PodSpec(containers=[Container(name="a", image="a")])
    return [Pod(metadata=ObjectMeta(name=f"p{i}", namespace="shop"), spec=spec) for i in range(count)]


def test_joining_objects_keep_status_and_bound_volume(join_manifests):
    claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop%s}, spec: {%s"
    claim += "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"
    budget = "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: shop}, "
    budget += "spec: {minAvailable: %s}, status: {disruptionsAllowed: %s}}\n"
    before = claim % (", uid: c", "volumeName: pv-1, ") + "\n" + budget % (1, 3)
    cluster, _, _ = join_manifests(claim % ("", "") + "\n" + budget % (2, 0), before)
    from schedctl.api.policies import PodDisruptionBudget
    from schedctl.api.storage import PersistentVolumeClaim

    assert cluster.get(PersistentVolumeClaim, "shop/data").spec.volume_name == "pv-1"
    kept = cluster.get(PodDisruptionBudget, "shop/web")
    assert (kept.spec.min_available, kept.status.disruptions_allowed) == (2, 3)


def test_a_pod_that_runs_on_a_node_joins(join_manifests):
    cluster, _, groups = join_manifests(pod(spec="nodeName: a, ") + "status: {phase: Running}\n", NODE)
    assert groups == []
    assert "shop/web" in cluster.pod_table.row_of


def test_the_claims_of_a_refused_pod_are_made_and_counted_once(manifests_of, cluster_of):
    cluster = cluster_of(quota("pods: 0, persistentvolumeclaims: 1"))
    admission = Admission(cluster)
    (group,) = expand(manifests_of(STATEFUL.replace("replicas: 2", "replicas: 1")).objects, cluster).groups
    (replica,) = group.replicas
    first = admission.create(replica)
    assert isinstance(first, Rejected)
    assert [claim.metadata.name for claim in first.claims] == ["data-db-0"]
    cluster.put(first.claims[0])
    second = admission.create(replica)
    assert message(second).startswith('pods "db-0" is forbidden: exceeded quota: quota, requested: pods=1')
    assert (second.claims, admission.rejected) == ((), [second])
    assert set(map(len, admission.effects.values())) == {1}, "what admission changed is told once"


def test_a_storage_class_that_joins_binds_at_once_unless_it_says_otherwise(join_manifests):
    cluster, _, _ = join_manifests(DEFAULT_CLASS, "")
    from schedctl.api.storage import StorageClass

    assert cluster.get(StorageClass, "disk").volume_binding_mode == "Immediate"


@pytest.mark.parametrize(
    ("listed", "namespace", "refused"),
    [
        pytest.param("shop", "shpo", True, id="a cluster that lists its namespaces has no others"),
        pytest.param("shop", "shop", False, id="one that is listed is there"),
        pytest.param("shop", "default", False, id="and so is one that every cluster has"),
        pytest.param("", "shpo", False, id="a cluster that lists none may have any"),
    ],
)
def test_a_pod_needs_its_namespace(create_pod, listed, namespace, refused):
    state = f"{{apiVersion: v1, kind: Namespace, metadata: {{name: {listed}}}}}" if listed else ""
    answer, _ = create_pod(pod().replace("namespace: shop", f"namespace: {namespace}"), state)
    assert isinstance(answer, Rejected) == refused
    if refused:
        assert message(answer) == 'namespaces "shpo" not found'
