"""What operators make of their custom resources: which pods, of which objects, under which constraints."""

from __future__ import annotations

import re

import pytest

from schedctl.api.policies import PodDisruptionBudget
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.api.workloads import ReplicaSet, Service, StatefulSet
from schedctl.workloads.expansion import expand
from schedctl.workloads.rollouts import plan

GENERATED = "[bcdfghjklmnpqrstvwxz2456789]{5}"
POD = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: app:1}]}}"
SPEC = "{metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: app:1, %s}]}}"
REQUIRED = "required_during_scheduling_ignored_during_execution"


@pytest.fixture
def expand_manifests(manifests_of, cluster_of):
    def expand_it(text: str, state: str = ""):
        manifests = manifests_of(text.replace("POD", POD))
        assert manifests.problems == []
        return expand(manifests.objects, cluster_of(state), manifests.ignored)

    return expand_it


@pytest.fixture
def problems_of(manifests_of):
    beside = "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: beside}}"
    return lambda text: [str(problem) for problem in manifests_of(text.replace("POD", POD) + beside).problems]


CLAIM = "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"


def named(kind: str, spec: str, *, metadata: str = "name: web") -> str:
    api_version, _, kind = kind.rpartition(" ")
    return f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def joined(expansion, struct) -> dict[str, object]:
    return {one.metadata.name: one for one in expansion.joined if isinstance(one, struct)}


def owners(pods) -> list[tuple[str, str]]:
    return [(owner.kind, owner.name) for pod in pods for owner in pod.metadata.owner_references]


VOLCANO, JOBSET, LWS = (
    "batch.volcano.sh/v1alpha1 Job",
    "jobset.x-k8s.io/v1alpha2 JobSet",
    "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
)
RAY, RAY_JOB = "ray.io/v1 RayCluster", "ray.io/v1 RayJob"
PROMETHEUS, ALERTMANAGER = "monitoring.coreos.com/v1 Prometheus", "monitoring.coreos.com/v1 Alertmanager"
RULER, POSTGRES = "monitoring.coreos.com/v1 ThanosRuler", "postgresql.cnpg.io/v1 Cluster"
ELASTICSEARCH, KIBANA = "elasticsearch.k8s.elastic.co/v1 Elasticsearch", "kibana.k8s.elastic.co/v1 Kibana"
KAFKA, POOL = "kafka.strimzi.io/v1 Kafka", "kafka.strimzi.io/v1 KafkaNodePool"
GROUPS = "replicas: 2, leaderWorkerTemplate: {size: 3, workerTemplate: %s}" % (SPEC % "")


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        pytest.param(
            named(VOLCANO, "tasks: [{name: ps, replicas: 1, POD}, {name: worker, replicas: 2, POD}]"),
            ["web-ps-0", "web-worker-0", "web-worker-1"],
            id="each task of a Volcano Job has its own number, and names its pods by it",
        ),
        pytest.param(
            named(RAY, "headGroupSpec: {POD}, workerGroupSpecs: [{groupName: gpu, replicas: 2, numOfHosts: 2, POD}]"),
            [f"web-head-{GENERATED}", *[f"web-gpu-worker-{GENERATED}"] * 4],
            id="a Ray cluster has a head, and workers on several hosts each",
        ),
        pytest.param(
            named(
                RAY,
                "headGroupSpec: {POD}, workerGroupSpecs: [{groupName: a, POD}, {groupName: b, minReplicas: 1, POD}]",
            ),
            [f"web-head-{GENERATED}", f"web-b-worker-{GENERATED}"],
            id="a group of Ray workers without replicas has its minimum, which is 0",
        ),
        pytest.param(
            named(RAY_JOB, "rayClusterSpec: {headGroupSpec: {POD}}"),
            [f"web-head-{GENERATED}", f"web-{GENERATED}"],
            id="a RayJob has a pod that submits it",
        ),
        pytest.param(
            named(RAY_JOB, "submissionMode: HTTPMode, rayClusterSpec: {headGroupSpec: {POD}}"),
            [f"web-head-{GENERATED}"],
            id="a RayJob that is submitted over HTTP has none",
        ),
        pytest.param(
            named(RAY_JOB, "suspend: true, rayClusterSpec: {headGroupSpec: {POD}}"), [], id="nor a suspended one"
        ),
        pytest.param(
            named(
                JOBSET,
                "replicatedJobs: [{name: run, replicas: 2, template: {spec: {parallelism: 2, completions: 2, POD}}}]",
            ),
            [f"web-run-{job}-{index}-{GENERATED}" for job in range(2) for index in range(2)],
            id="a JobSet has indexed Jobs that have pods",
        ),
        pytest.param(
            named(LWS, GROUPS),
            ["web-0", "web-1", "web-0-1", "web-0-2", "web-1-1", "web-1-2"],
            id="a leader is one of the size, and has a worker's template without its own",
        ),
        pytest.param(
            named(PROMETHEUS, "replicas: 2, shards: 2"),
            ["prometheus-web-0", "prometheus-web-1", "prometheus-web-shard-1-0", "prometheus-web-shard-1-1"],
            id="a Prometheus has a StatefulSet for each shard",
        ),
        pytest.param(named(ALERTMANAGER, ""), ["alertmanager-web-0"], id="an Alertmanager has one replica by default"),
        pytest.param(named(RULER, "replicas: 2"), ["thanos-ruler-web-0", "thanos-ruler-web-1"], id="a ThanosRuler"),
        pytest.param(
            named(POSTGRES, "instances: 3, storage: {size: 1Gi}"),
            ["web-1", "web-2", "web-3"],
            id="instances of PostgreSQL count from 1",
        ),
        pytest.param(
            named(ELASTICSEARCH, "nodeSets: [{name: master, count: 1}, {name: data, count: 2}]"),
            ["web-es-master-0", "web-es-data-0", "web-es-data-1"],
            id="an Elasticsearch has a StatefulSet for each set of nodes",
        ),
        pytest.param(named(KIBANA, "count: 1"), [f"web-kb-[a-z0-9]+-{GENERATED}"], id="a Kibana has a Deployment"),
        pytest.param(
            named(KAFKA, "kafka: {replicas: 2}, zookeeper: {replicas: 1}, entityOperator: {topicOperator: {}}"),
            ["web-kafka-0", "web-kafka-1", "web-zookeeper-0", f"web-entity-operator-[a-z0-9]+-{GENERATED}"],
            id="a Kafka of old has brokers and ZooKeeper",
        ),
        pytest.param(
            named(KAFKA, "kafka: {replicas: 2}", metadata="name: web, annotations: {strimzi.io/node-pools: enabled}"),
            [],
            id="a Kafka with pools leaves its brokers to them",
        ),
        pytest.param(
            named(POOL, "replicas: 2, roles: [broker]", metadata="name: a, labels: {strimzi.io/cluster: web}"),
            ["web-a-0", "web-a-1"],
            id="a pool of Kafka nodes names them after the cluster",
        ),
    ],
)
def test_pods_of_operators(expand_manifests, text, patterns):
    (group,) = expand_manifests(text).groups
    found = [pod.metadata.name for pod in group.pods]
    assert len(found) == len(patterns), found
    for name, pattern in zip(found, patterns, strict=True):
        assert re.fullmatch(pattern, name), name


@pytest.mark.parametrize(
    ("job", "task", "scheduler"),
    [
        pytest.param("", "", "volcano", id="without one it is Volcano's"),
        pytest.param("schedulerName: mine,", "", "mine", id="the job may name one"),
        pytest.param("schedulerName: mine,", "schedulerName: own,", "own", id="the template wins"),
        pytest.param("schedulerName: default-scheduler,", "", "default-scheduler", id="which may be kube-scheduler"),
    ],
)
def test_the_scheduler_of_a_volcano_job(expand_manifests, job, task, scheduler):
    template = f"template: {{spec: {{{task} containers: [{{name: a, image: a}}]}}}}"
    (group,) = expand_manifests(named(VOLCANO, f"{job} tasks: [{{replicas: 1, {template}}}]")).groups
    assert [pod.spec.scheduler_name for pod in group.pods] == [scheduler]


@pytest.mark.parametrize(
    ("plugins", "services"),
    [
        pytest.param("{svc: []}", ["web"], id="its own plugin"),
        pytest.param("{pytorch: []}", ["web"], id="one that brings it along"),
        pytest.param("{env: []}", [], id="none"),
    ],
)
def test_the_service_of_a_volcano_job(expand_manifests, plugins, services):
    expansion = expand_manifests(named(VOLCANO, f"plugins: {plugins}, tasks: [{{replicas: 1, POD}}]"))
    assert list(joined(expansion, Service)) == services


@pytest.mark.parametrize(
    ("text", "storage_class"),
    [
        pytest.param(named(POSTGRES, "instances: 1, storage: {size: 1Gi}"), None, id="the default class"),
        pytest.param(
            named(POSTGRES, "instances: 1, storage: {size: 1Gi, storageClass: ''}"), "", id="or expressly none"
        ),
        pytest.param(
            named(
                POOL,
                "replicas: 1, storage: {type: persistent-claim, size: 1Gi, class: ''}",
                metadata="name: a, labels: {strimzi.io/cluster: web}",
            ),
            "",
            id="with Strimzi, too",
        ),
    ],
)
def test_the_class_of_a_claim(expand_manifests, text, storage_class):
    (claim,) = joined(expand_manifests(text), PersistentVolumeClaim).values()
    assert claim.spec.storage_class_name == storage_class


def test_pods_of_a_leader_worker_set_belong_to_stateful_sets_and_a_headless_service(expand_manifests):
    expansion = expand_manifests(named(LWS, GROUPS))
    (group,) = expansion.groups
    assert owners(group.pods) == [
        *[("StatefulSet", "web")] * 2,
        *[("StatefulSet", "web-0")] * 2,
        *[("StatefulSet", "web-1")] * 2,
    ]
    sets = joined(expansion, StatefulSet)
    assert owners(sets.values()) == [("LeaderWorkerSet", "web"), ("Pod", "web-0"), ("Pod", "web-1")]
    assert joined(expansion, Service)["web"].spec.selector == {"leaderworkerset.sigs.k8s.io/name": "web"}
    for pod in group.pods:
        (owner,) = pod.metadata.owner_references
        selector = sets[owner.name].spec.selector.match_labels
        assert selector.items() <= pod.metadata.labels.items(), "default spreading selects by both"


def test_claims_of_a_leader_worker_set_may_be_mounted(expand_manifests):
    template = SPEC % "volumeMounts: [{name: data, mountPath: /data}]"
    text = named(LWS, f"leaderWorkerTemplate: {{size: 2, volumeClaimTemplates: [{CLAIM}], workerTemplate: {template}}}")
    expansion = expand_manifests(text)
    assert list(joined(expansion, PersistentVolumeClaim)) == ["data-web-0", "data-web-0-1"]
    (group,) = expansion.groups
    volumes = [volume.persistent_volume_claim.claim_name for pod in group.pods for volume in pod.spec.volumes]
    assert volumes == ["data-web-0", "data-web-0-1"]


def test_claims_of_a_job_set_are_shared_by_the_pods_that_mount_them(expand_manifests):
    claims = f"volumeClaimPolicies: [{{templates: [{CLAIM}]}}]"
    mounting = SPEC % "volumeMounts: [{name: data, mountPath: /data}]"
    jobs = ", ".join(
        f"{{name: {name}, template: {{spec: {{template: {template}}}}}}}"
        for name, template in (("reader", mounting), ("other", SPEC % ""))
    )
    expansion = expand_manifests(named(JOBSET, f"{claims}, replicatedJobs: [{jobs}]"))
    assert list(joined(expansion, PersistentVolumeClaim)) == ["data-web"]
    (group,) = expansion.groups
    assert [[volume.name for volume in pod.spec.volumes or ()] for pod in group.pods] == [["data"], []]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param(
            named(
                LWS, GROUPS, metadata="name: web, annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}"
            ),
            "leaderworkerset.sigs.k8s.io/group-key",
            id="groups of a LeaderWorkerSet",
        ),
        pytest.param(
            named(
                JOBSET,
                "replicatedJobs: [{name: run, replicas: 2, template: {spec: {parallelism: 3, completions: 3, POD}}}]",
                metadata="name: web, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}",
            ),
            "jobset.sigs.k8s.io/job-key",
            id="Jobs of a JobSet",
        ),
    ],
)
def test_exclusive_topology_keeps_groups_together_and_apart(expand_manifests, text, key):
    (group,) = expand_manifests(text).groups
    assert len({pod.metadata.labels[key] for pod in group.pods}) == 2
    for pod in group.pods:
        (together,) = getattr(pod.spec.affinity.pod_affinity, REQUIRED)
        (apart,) = getattr(pod.spec.affinity.pod_anti_affinity, REQUIRED)
        assert (together.topology_key, apart.topology_key) == ("rack", "rack")
        (own,) = together.label_selector.match_expressions
        assert (own.key, own.values) == (key, [pod.metadata.labels[key]])


def test_a_rollout_has_the_template_of_the_deployment_it_points_at(expand_manifests):
    deployment = named(
        "apps/v1 Deployment", "replicas: 0, selector: {matchLabels: {app: web}}, POD", metadata="name: old"
    )
    reference = "replicas: 2, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: old}"
    for text, state in (
        (f"{named('argoproj.io/v1alpha1 Rollout', reference)}\n---\n{deployment}", ""),
        (
            named("argoproj.io/v1alpha1 Rollout", reference),
            deployment.replace("POD", POD).replace("old}", "old, namespace: default}"),
        ),
    ):
        expansion = expand_manifests(text, state)
        rollout = expansion.groups[0]
        assert [pod.metadata.labels["app"] for pod in rollout.pods] == ["web", "web"]
        assert rollout.notes == ("its pod template is that of Deployment old",)
        (replica_set,) = [one for one in joined(expansion, ReplicaSet).values() if one.spec.replicas]
        assert replica_set.spec.selector.match_labels.items() <= rollout.pods[0].metadata.labels.items()


def test_a_rollout_that_points_at_nothing_is_refused(expand_manifests):
    reference = "workloadRef: {apiVersion: apps/v1, kind: Deployment, name: gone}"
    (refused,) = expand_manifests(named("argoproj.io/v1alpha1 Rollout", reference)).refused
    assert (refused.path, refused.message) == ("spec.workloadRef", "Deployment gone not found in namespace default")


def test_pods_of_prometheus_request_what_its_reloader_requests_too(expand_manifests):
    (group,) = expand_manifests(named(PROMETHEUS, "resources: {requests: {memory: 1Gi}}, thanos: {}")).groups
    (pod,) = group.pods
    requests = {container.name: container.resources.requests for container in pod.spec.containers}
    assert requests == {
        "prometheus": {"memory": "1Gi"},
        "config-reloader": {"cpu": "10m", "memory": "50Mi"},
        "thanos-sidecar": None,
    }


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        pytest.param(
            named(
                PROMETHEUS,
                "resources: {requests: {cpu: 100m, memory: 2Gi}},"
                "containers: [{name: prometheus, resources: {requests: {cpu: 1500m}}}, {name: proxy, image: a}]",
            ),
            [{"cpu": "1500m", "memory": "2Gi"}, {"cpu": "10m", "memory": "50Mi"}, None],
            id="a container of its name changes the operator's, request by request, and another is added",
        ),
        pytest.param(
            named(ALERTMANAGER, "resources: {requests: {cpu: 5m}}"),
            [{"memory": "200Mi", "cpu": "5m"}, {"cpu": "10m", "memory": "50Mi"}],
            id="an Alertmanager requests some memory",
        ),
        pytest.param(
            named(RULER, ""),
            [{"memory": "200Mi"}, {"cpu": "10m", "memory": "50Mi"}],
            id="and so does a ThanosRuler",
        ),
    ],
)
def test_requests_of_the_prometheus_operator(expand_manifests, text, requests):
    (group,) = expand_manifests(text).groups
    found = [container.resources for container in group.pods[0].spec.containers]
    assert [resources and resources.requests for resources in found] == requests


def test_a_prometheus_in_the_network_of_its_node_takes_ports_there(expand_manifests):
    (group,) = expand_manifests(named(PROMETHEUS, "hostNetwork: true")).groups
    ports = [port.container_port for container in group.pods[0].spec.containers for port in container.ports or ()]
    assert ports == [9090, 8080]


@pytest.mark.parametrize(
    ("spec", "services"),
    [
        pytest.param("", ["prometheus-operated"], id="the operator's own"),
        pytest.param("serviceName: mine", [], id="or one that somebody else makes"),
    ],
)
def test_the_governing_service_of_a_prometheus(expand_manifests, spec, services):
    assert list(joined(expand_manifests(named(PROMETHEUS, spec)), Service)) == services


def test_no_shards_of_a_prometheus_are_one(expand_manifests):
    (group,) = expand_manifests(named(PROMETHEUS, "shards: 0")).groups
    assert [pod.metadata.name for pod in group.pods] == ["prometheus-web-0"]


def test_workers_of_a_ray_cluster_begin_with_a_container_that_waits_for_the_head(expand_manifests):
    (group,) = expand_manifests(
        named(RAY, "headGroupSpec: {POD}, workerGroupSpecs: [{groupName: a, replicas: 1, POD}]")
    ).groups
    requests = [
        [container.resources.requests for container in pod.spec.init_containers or ()]
        for pod in sorted(group.pods, key=lambda pod: pod.metadata.name)
    ]
    assert requests == [[{"cpu": "200m", "memory": "256Mi"}], []]


def test_the_data_of_prometheus_is_a_claim_where_its_storage_says_so(expand_manifests):
    storage = "storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 5Gi}}}}}"
    (group,) = expand_manifests(named(PROMETHEUS, storage)).groups
    assert [claim.metadata.name for claim in group.claims] == ["prometheus-web-db-prometheus-web-0"]
    assert group.claims[0].spec.access_modes == ["ReadWriteOnce"]


def test_instances_of_postgresql_prefer_different_nodes_and_have_claims(expand_manifests):
    expansion = expand_manifests(named(POSTGRES, "instances: 2, storage: {size: 1Gi}, walStorage: {size: 2Gi}"))
    claims = joined(expansion, PersistentVolumeClaim)
    assert list(claims) == ["web-1", "web-1-wal", "web-2", "web-2-wal"]
    assert claims["web-2-wal"].spec.resources.requests == {"storage": "2Gi"}
    (group,) = expansion.groups
    apart = group.pods[0].spec.affinity.pod_anti_affinity.preferred_during_scheduling_ignored_during_execution
    assert [(term.weight, term.pod_affinity_term.topology_key) for term in apart] == [(100, "kubernetes.io/hostname")]


def test_nodes_of_elasticsearch_have_a_claim_and_memory_by_default(expand_manifests):
    (group,) = expand_manifests(named(ELASTICSEARCH, "nodeSets: [{name: a, count: 1}]")).groups
    assert [claim.metadata.name for claim in group.claims] == ["elasticsearch-data-web-es-a-0"]
    assert group.pods[0].spec.containers[0].resources.requests == {"memory": "2Gi"}


@pytest.mark.parametrize(
    ("node_set", "requests"),
    [
        pytest.param("", {"memory": "2Gi"}, id="memory, where nothing else is said"),
        pytest.param("resources: {requests: {cpu: 200m}}", {"cpu": "200m"}, id="or what the set of nodes says"),
        pytest.param(
            "resources: {requests: {memory: 4Gi}}, podTemplate: {spec: {containers: [{name: elasticsearch,"
            "resources: {requests: {cpu: 100m, memory: 1Gi}}}]}}",
            {"cpu": "100m", "memory": "4Gi"},
            id="over its template",
        ),
        pytest.param(
            "podTemplate: {spec: {containers: [{name: elasticsearch, resources: {requests: {cpu: 100m}}}]}}",
            {"cpu": "100m"},
            id="which is left alone otherwise",
        ),
    ],
)
def test_requests_of_elasticsearch(expand_manifests, node_set, requests):
    spec = f"nodeSets: [{{name: a, count: 1, {node_set}}}]"
    (group,) = expand_manifests(named(ELASTICSEARCH, spec)).groups
    (pod,) = group.pods
    assert pod.spec.containers[0].resources.requests == requests
    assert pod.spec.init_containers[0].resources.requests == {"cpu": "100m", "memory": "50Mi"}


@pytest.mark.parametrize(
    ("text", "available"),
    [
        pytest.param(named(ELASTICSEARCH, "nodeSets: [{name: a, count: 3}]"), [2], id="all but one of Elasticsearch"),
        pytest.param(named(ELASTICSEARCH, "nodeSets: [{name: a, count: 1}]"), [0], id="a single one may go"),
        pytest.param(
            named(
                ELASTICSEARCH,
                "nodeSets: [{name: a, count: 1, config: {node.roles: [master]}},"
                "{name: b, count: 3, config: {node: {roles: [data_hot, ingest]}}}]",
            ),
            [4],
            id="none where the only master may be hit",
        ),
        pytest.param(
            named(ELASTICSEARCH, "podDisruptionBudget: {spec: {minAvailable: 1}}, nodeSets: [{name: a, count: 3}]"),
            [1],
            id="as the resource says",
        ),
        pytest.param(
            named(ELASTICSEARCH, "podDisruptionBudget: {}, nodeSets: [{name: a, count: 3}]"), [], id="which may be none"
        ),
        pytest.param(
            named(KAFKA, "kafka: {}")
            + "".join(
                f"\n---\n{named(POOL, 'replicas: 2', metadata=f'name: {name}, labels: {{strimzi.io/cluster: web}}')}"
                for name in "ab"
            ),
            [3],
            id="all but one of all pools of a Kafka",
        ),
        pytest.param(named(KAFKA, "kafka: {}"), [], id="pools that are elsewhere"),
    ],
)
def test_budgets_of_operators(expand_manifests, text, available):
    budgets = joined(expand_manifests(text), PodDisruptionBudget).values()
    assert [budget.spec.min_available for budget in budgets] == available


def test_nodes_of_elasticsearch_that_know_zones_are_spread_over_them(expand_manifests):
    sets = "nodeSets: [{name: a, count: 1, zoneAwareness: {zones: [a, b]}}, {name: b, count: 1}]"
    (group,) = expand_manifests(named(ELASTICSEARCH, sets)).groups
    spread = [[one.topology_key for one in pod.spec.topology_spread_constraints or ()] for pod in group.pods]
    assert spread == [["topology.kubernetes.io/zone"], []]
    needed = [
        getattr(pod.spec.affinity.node_affinity, REQUIRED).node_selector_terms[0].match_expressions[0]
        for pod in group.pods
    ]
    assert [(one.key, one.operator, one.values or []) for one in needed] == [
        ("topology.kubernetes.io/zone", "In", ["a", "b"]),
        ("topology.kubernetes.io/zone", "Exists", []),
    ]


OF_WEB = "labels: {strimzi.io/cluster: web}"


def test_nodes_of_a_kafka_pool_have_the_template_and_the_rack_of_their_kafka(expand_manifests):
    template = "template: {pod: {priorityClassName: %s}}"
    expansion = expand_manifests(
        "\n---\n".join(
            [
                named(POOL, "replicas: 1, roles: [broker]", metadata=f"name: b, {OF_WEB}"),
                named(POOL, f"replicas: 2, roles: [controller], {template % 'own'}", metadata=f"name: a, {OF_WEB}"),
                named(POOL, "replicas: 1, roles: [broker]", metadata=f"name: c, namespace: other, {OF_WEB}"),
                named(KAFKA, f"kafka: {{rack: {{topologyKey: zone}}, {template % 'shared'}}}"),
            ]
        )
    )
    pods = {pod.metadata.name: pod for group in expansion.groups for pod in group.pods}
    assert [(name, pod.spec.priority_class_name) for name, pod in pods.items()] == [
        ("web-b-2", "shared"),
        ("web-a-0", "own"),
        ("web-a-1", "own"),
        ("web-c-0", ""),
    ]
    racks = [name for name, pod in pods.items() if pod.spec.affinity is not None]
    assert racks == ["web-b-2"], "only brokers are tied to racks"
    assert [group.notes for group in expansion.groups if group.name == "c"] == [
        ("Kafka web is not among the manifests: its pod template and rack are not known",)
    ]


def test_a_kafka_pool_that_is_wrong_does_not_displace_the_others(manifests_of):
    manifests = manifests_of(
        "\n---\n".join(
            [
                named(POOL, "replicas: many", metadata=f"name: a, {OF_WEB}"),
                "{apiVersion: v1, kind: Service, metadata: {name: between}}",
                named(POOL, "replicas: 1", metadata=f"name: b, {OF_WEB}"),
                "{apiVersion: v1, kind: Service, metadata: {name: last}}",
            ]
        )
    )
    assert [one.object.metadata.name for one in manifests.objects] == ["between", "b", "last"]
    assert [problem.path for problem in manifests.problems] == ["spec.replicas"]


def test_disks_of_a_kafka_pool_are_claims(expand_manifests):
    storage = "storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 1Gi}, {id: 1, type: ephemeral}]}"
    metadata = "name: a, labels: {strimzi.io/cluster: web}"
    expansion = expand_manifests(named(POOL, f"replicas: 1, roles: [broker], {storage}", metadata=metadata))
    assert list(joined(expansion, PersistentVolumeClaim)) == ["data-0-web-a-0"]


def test_a_generated_name_of_a_resource_is_completed(expand_manifests):
    text = named(RAY_JOB, "rayClusterSpec: {headGroupSpec: {POD}}", metadata="generateName: train-")
    (group,) = expand_manifests(text).groups
    assert re.fullmatch(f"RayJob default/train-{GENERATED}", group.subject)
    twins = [group.subject for group in expand_manifests(f"{text}\n---\n{text}").groups]
    assert len(set(twins)) == 2, "equal resources are two"
    job = named("batch/v1 Job", f"template: {SPEC % ''}".replace("{containers", "{restartPolicy: Never, containers"))
    job = job.replace("name: web}", "generateName: pi-}")
    groups = expand_manifests(f"{job}\n---\n{job}").groups
    assert all(re.fullmatch(f"Job default/pi-{GENERATED}", group.subject) for group in groups)
    assert len({group.subject for group in groups}) == 2


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param(
            named(PROMETHEUS, "tolerations: [{operator: Exists, effect: Never}]"),
            "spec.tolerations[0].effect",
            id="in what is copied",
        ),
        pytest.param(named(POSTGRES, "instances: many"), "spec.instances", id="a number that the operator reads"),
        pytest.param(
            named(LWS, "leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: a}]}}}"),
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image",
            id="in a template, once for all pods of it",
        ),
        pytest.param(
            named(JOBSET, "replicatedJobs: [{name: run, template: {spec: {parallelism: 2, POD}}}]"),
            "Job web-run-0: spec.completions",
            id="what the operator puts together names the object it makes",
        ),
    ],
)
def test_a_mistake_is_reported_where_it_is_written(problems_of, text, place):
    (problem,) = problems_of(text)
    assert f": {place}: " in problem


def test_pods_that_run_already_are_found_through_the_objects_in_between(manifests_of, cluster_of):
    def owned(kind: str, name: str, owner: str, of: str) -> str:
        api_version, _, kind = kind.rpartition(" ")
        owner_version, _, owner = owner.rpartition(" ")
        reference = f"{{apiVersion: {owner_version}, kind: {owner}, name: {of}, uid: '1', controller: true}}"
        metadata = f"{{name: {name}, namespace: default, ownerReferences: [{reference}]}}"
        return f"{{apiVersion: {api_version}, kind: {kind}, metadata: {metadata}, spec: {{nodeName: a}}}}"

    state = "\n---\n".join(
        [
            owned("apps/v1 StatefulSet", "web", LWS, "web"),
            owned("apps/v1 StatefulSet", "web-0", "v1 Pod", "web-0"),
            owned("v1 Pod", "web-0", "apps/v1 StatefulSet", "web"),
            owned("v1 Pod", "web-0-9", "apps/v1 StatefulSet", "web-0"),
            "{apiVersion: v1, kind: Node, metadata: {name: a}}",
        ]
    )
    cluster = cluster_of(state)
    manifests = manifests_of(named(LWS, GROUPS))
    (update,) = plan(expand(manifests.objects, cluster).groups, cluster)
    assert sorted(info.key for info in update.old) == ["default/web-0", "default/web-0-9"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        pytest.param(
            named(RAY, "headGroupSpec: {POD}", metadata='name: web, labels: {ray.io/gang-scheduling-enabled: "true"}'),
            "gang scheduling is left to the scheduler that KubeRay is configured with, which is not known",
            id="who schedules a gang",
        ),
        pytest.param(
            named(POOL, "replicas: 1", metadata="name: a, labels: {strimzi.io/cluster: web}"),
            "Kafka web is not among the manifests: its pod template and rack are not known",
            id="a pool without its Kafka",
        ),
        pytest.param(
            named(
                POSTGRES,
                "instances: 1, storage: {size: 1Gi}",
                metadata="name: web, annotations: {cnpg.io/podPatch: '[]'}",
            ),
            "the patch in its annotation cnpg.io/podPatch is not applied",
            id="a patch of pods",
        ),
        pytest.param(
            named(VOLCANO, "tasks: [{replicas: 1, POD}, {replicas: 1, dependsOn: {name: [default0]}, POD}]"),
            "its tasks are created together, without waiting for those they depend on",
            id="tasks that depend on others",
        ),
        pytest.param(
            named(LWS, f"startupPolicy: LeaderReady, {GROUPS}"),
            "startupPolicy LeaderReady: its workers are created as soon as their leader is",
            id="what is not waited for",
        ),
    ],
)
def test_what_is_approximated_is_noted(expand_manifests, text, note):
    (group,) = expand_manifests(text).groups
    assert group.notes == (note,)


def test_a_rolling_update_of_an_operator_replaces_all_at_once_and_says_so(manifests_of, cluster_of):
    cluster = cluster_of(
        "{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: default}, spec: {nodeName: a}}"
    )
    manifests = manifests_of(named(POSTGRES, "instances: 1, storage: {size: 1Gi}"))
    (update,) = plan(expand(manifests.objects, cluster).groups, cluster, "rolling")
    assert [info.key for info in update.old] == ["default/web-1"]
    assert update.workload.notes == ("how its operator replaces pods is not modelled; all are replaced at once",)
