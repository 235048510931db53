"""Which custom kinds of well-known operators make pods, and which do not whatever their fields say.

`schedctl.sources.unmodelled` asks here first; of kinds that are in neither table it judges by their fields. Kinds whose
pods are modelled stand in `schedctl.api.custom_kinds` instead.
"""

from __future__ import annotations

_MAKERS = {
    # releases, pipelines, builds
    "argoproj.io": "Application ApplicationSet ArgoCD CronWorkflow Experiment Workflow",
    "helm.toolkit.fluxcd.io": "HelmRelease",
    "helm.cattle.io": "HelmChart",
    "kustomize.toolkit.fluxcd.io": "Kustomization",
    "operators.coreos.com": "CatalogSource ClusterServiceVersion Subscription",
    "pkg.crossplane.io": "Configuration Function Provider",
    "tekton.dev": "CustomRun PipelineRun TaskRun",
    "operator.tekton.dev": "*",
    "actions.github.com": "AutoscalingListener AutoscalingRunnerSet EphemeralRunner EphemeralRunnerSet",
    "actions.summerwind.dev": "Runner RunnerDeployment RunnerReplicaSet RunnerSet",
    "jenkins.io": "Jenkins",
    "awx.ansible.com": "AWX AWXBackup AWXRestore",
    # batch, machine learning
    "batch.volcano.sh": "CronJob",
    "flow.volcano.sh": "JobFlow",
    "flink.apache.org": "FlinkBlueGreenDeployment FlinkDeployment",
    "sparkoperator.k8s.io": "ScheduledSparkApplication SparkApplication SparkConnect",
    "spark.apache.org": "SparkApplication SparkCluster",
    "ray.io": "RayCronJob",
    "trainer.kubeflow.org": "OptimizationJob TrainJob",
    "kubeflow.org": "Experiment JAXJob MXJob Notebook PVCViewer PaddleJob ScheduledWorkflow Suggestion TrainJob Trial",
    "tensorboard.kubeflow.org": "Tensorboard",
    "serving.kserve.io": "InferenceGraph LLMInferenceService",
    "serving.kubeflow.org": "InferenceService KFService",
    "machinelearning.seldon.io": "SeldonDeployment",
    "workload.codeflare.dev": "AppWrapper",
    "disaggregatedset.x-k8s.io": "DisaggregatedSet",
    "keda.sh": "ScaledJob",
    "nvidia.com": "ClusterPolicy DynamoGraphDeployment GPUCluster NVIDIADriver",
    "resource.nvidia.com": "ComputeDomain",
    "agents.x-k8s.io": "Sandbox",
    "extensions.agents.x-k8s.io": "SandboxClaim SandboxWarmPool",
    "apps.kruise.io": "AdvancedCronJob UnitedDeployment",
    # monitoring, logs, traces
    "monitoring.coreos.com": "PrometheusAgent",
    "operator.victoriametrics.com": (
        "VLAgent VLCluster VLSingle VLogs VMAgent VMAlert VMAlertmanager VMAnomaly VMAuth VMCluster VMSingle VTCluster "
        "VTSingle"
    ),
    "grafana.integreatly.org": "Grafana",
    "loki.grafana.com": "LokiStack",
    "tempo.grafana.com": "TempoMonolithic TempoStack",
    "jaegertracing.io": "Jaeger",
    "opentelemetry.io": "OpAMPBridge OpenTelemetryCollector TargetAllocator",
    "logging.banzaicloud.io": "FluentbitAgent Logging",
    "fluentbit.fluent.io": "Collector FluentBit",
    "fluentd.fluent.io": "Fluentd",
    "datadoghq.com": "DatadogAgent",
    "dynatrace.com": "DynaKube EdgeConnect",
    "kiali.io": "Kiali",
    # databases, queues, caches
    "postgresql.cnpg.io": "Pooler",
    "acid.zalan.do": "postgresql",
    "postgres-operator.crunchydata.com": "PGAdmin PGUpgrade PostgresCluster",
    "pgv2.percona.com": "PerconaPGBackup PerconaPGCluster PerconaPGRestore PerconaPGUpgrade",
    "psmdb.percona.com": "PerconaServerMongoDB",
    "pxc.percona.com": "PerconaXtraDBCluster PerconaXtraDBClusterBackup PerconaXtraDBClusterRestore",
    "ps.percona.com": "PerconaServerMySQL PerconaServerMySQLBackup PerconaServerMySQLRestore",
    "mysql.oracle.com": "InnoDBCluster MySQLBackup",
    "moco.cybozu.com": "MySQLCluster",
    "k8s.mariadb.com": "Backup MariaDB MaxScale Restore SqlJob",
    "mongodb.com": "MongoDB MongoDBCommunity MongoDBMultiCluster MongoDBOpsManager MongoDBSearch",
    "mongodbcommunity.mongodb.com": "MongoDBCommunity",
    "pingcap.com": "Backup DMCluster Restore TidbCluster TidbDashboard TidbMonitor TidbNGMonitoring",
    "core.pingcap.com": (
        "DMGroup DMWorkerGroup PDGroup ResourceManagerGroup RouterGroup SchedulerGroup SchedulingGroup TSOGroup "
        "TiCDCGroup TiDBGroup TiFlashGroup TiKVGroup TiKVWorkerGroup TiProxyGroup"
    ),
    "planetscale.com": "EtcdLockserver VitessBackupSchedule VitessCell VitessCluster VitessKeyspace VitessShard",
    "crdb.cockroachlabs.com": "CrdbCluster",
    "cassandra.datastax.com": "CassandraDatacenter",
    "k8ssandra.io": "K8ssandraCluster",
    "scylla.scylladb.com": "NodeConfig ScyllaCluster ScyllaDBCluster ScyllaDBDatacenter ScyllaDBMonitoring",
    "clickhouse.altinity.com": "ClickHouseInstallation",
    "clickhouse-keeper.altinity.com": "ClickHouseKeeperInstallation",
    "opensearch.opster.io": "OpenSearchCluster",
    "solr.apache.org": "SolrCloud SolrPrometheusExporter",
    "zookeeper.pravega.io": "ZookeeperCluster",
    "druid.apache.org": "Druid",
    "databases.spotahome.com": "RedisFailover",
    "redis.redis.opstreelabs.in": "Redis RedisCluster RedisReplication RedisSentinel",
    "app.redislabs.com": "RedisEnterpriseCluster",
    "dragonflydb.io": "Dragonfly",
    "rabbitmq.com": "RabbitmqCluster",
    "nats.io": "NatsCluster",
    "broker.amq.io": "ActiveMQArtemis",
    "apps.emqx.io": "EMQX",
    "couchbase.com": "CouchbaseBackup CouchbaseBackupRestore CouchbaseCluster",
    "asdb.aerospike.com": "AerospikeCluster",
    "hazelcast.com": "Hazelcast ManagementCenter",
    "infinispan.org": "Infinispan",
    "kafka.strimzi.io": "KafkaBridge KafkaConnect KafkaMirrorMaker KafkaMirrorMaker2",
    "cluster.redpanda.com": "Console Redpanda",
    "agent.k8s.elastic.co": "Agent",
    "apm.k8s.elastic.co": "ApmServer",
    "autoops.k8s.elastic.co": "AutoOpsAgentPolicy",
    "beat.k8s.elastic.co": "Beat",
    "enterprisesearch.k8s.elastic.co": "EnterpriseSearch",
    "logstash.k8s.elastic.co": "Logstash",
    "maps.k8s.elastic.co": "ElasticMapsServer",
    "packageregistry.k8s.elastic.co": "PackageRegistry",
    # storage, network, clusters
    "ceph.rook.io": (
        "CephCOSIDriver CephCluster CephFilesystem CephFilesystemMirror CephNFS CephNVMeOFGateway CephObjectStore "
        "CephRBDMirror"
    ),
    "csi.ceph.io": "Driver",
    "longhorn.io": "RecurringJob",
    "minio.min.io": "Tenant",
    "piraeus.io": "LinstorCluster LinstorSatellite",
    "operator.tigera.io": "APIServer GatewayAPI Goldmane Installation Istio ManagementClusterConnection Whisker",
    "install.istio.io": "IstioOperator",
    "sailoperator.io": "Istio IstioCNI IstioRevision ZTunnel",
    "maistra.io": "ServiceMeshControlPlane",
    "projectcontour.io": "ContourDeployment",
    "operator.knative.dev": "KnativeEventing KnativeServing",
    "sources.knative.dev": "ApiServerSource ContainerSource GitHubSource IntegrationSource KafkaSource",
    "camel.apache.org": "Integration IntegrationPlatform KameletBinding Pipe",
    "k8s.keycloak.org": "Keycloak KeycloakRealmImport",
    "vault.banzaicloud.com": "Vault",
    "goharbor.io": "HarborCluster",
    "weblogic.oracle": "Cluster Domain",
    "data.fluid.io": (
        "AlluxioRuntime DataLoad EFCRuntime JindoRuntime JuiceFSRuntime ThinRuntime VineyardRuntime GooseFSRuntime"
    ),
    "kubevirt.io": "KubeVirt VirtualMachine VirtualMachineInstance VirtualMachineInstanceReplicaSet",
    "pool.kubevirt.io": "VirtualMachinePool",
    "cdi.kubevirt.io": "CDI DataVolume",
}
"""By group; ``*`` for all of its kinds."""

_NO_MAKERS = {
    "acme.cert-manager.io": "*",
    "cert-manager.io": "*",
    "networking.istio.io": "*",
    "security.istio.io": "*",
    "extensions.istio.io": "*",
    "telemetry.istio.io": "*",
    "traefik.io": "*",
    "gateway.envoyproxy.io": "*",
    "gateway.networking.k8s.io": "*",
    "crd.projectcalico.org": "*",
    "projectcalico.org": "*",
    "crd.antrea.io": "*",
    "multicluster.crd.antrea.io": "*",
    "metallb.io": "*",
    "security-profiles-operator.x-k8s.io": "*",
    "frrk8s.metallb.io": "*",
    "cilium.io": "*",
    "sriovnetwork.openshift.io": "*",
    "karpenter.sh": "*",
    "karpenter.k8s.aws": "*",
    "addons.cluster.x-k8s.io": "*",
    "bootstrap.cluster.x-k8s.io": "*",
    "cluster.x-k8s.io": "*",
    "controlplane.cluster.x-k8s.io": "*",
    "infrastructure.cluster.x-k8s.io": "*",
    "kueue.x-k8s.io": "*",
    "kyverno.io": "*",
    "policies.kyverno.io": "*",
    "external-secrets.io": "*",
    "constraints.gatekeeper.sh": "*",
    "templates.gatekeeper.sh": "*",
    "snapshot.storage.k8s.io": "*",
    "autoscaling.k8s.io": "*",
    "machine.openshift.io": "*",
    "machineconfiguration.openshift.io": "*",
    "config.openshift.io": "*",
    "scheduling.koordinator.sh": "*",
    "node.k8s.io": "*",
    "apiextensions.crossplane.io": "*",
    "troubleshoot.sh": "*",
    "velero.io": "*",
    "jetstream.nats.io": "*",
    "argoproj.io": "AnalysisRun AnalysisTemplate ClusterAnalysisTemplate ClusterWorkflowTemplate WorkflowTemplate",
    "flow.volcano.sh": "JobTemplate",
    "kafka.strimzi.io": "KafkaTopic KafkaUser KafkaRebalance KafkaConnector",
    "tekton.dev": "Pipeline StepAction Task",
    "operators.coreos.com": "OperatorGroup",
    "pkg.crossplane.io": "DeploymentRuntimeConfig",
    "apps.kruise.io": "ContainerRecreateRequest WorkloadSpread",
    "kubeflow.org": "ClusterTrainingRuntime PodDefault TrainingRuntime",
    "trainer.kubeflow.org": "ClusterTrainingRuntime TrainingRuntime",
    "serving.kserve.io": "ClusterServingRuntime ClusterStorageContainer LLMInferenceServiceConfig ServingRuntime",
    "extensions.agents.x-k8s.io": "SandboxTemplate",
    "opentelemetry.io": "Instrumentation",
    "acid.zalan.do": "OperatorConfiguration PostgresTeam",
    "longhorn.io": "BackingImage Volume",
}
"""By group; their fields tell of pods, nodes or numbers that are not theirs."""

_BUILT_IN = frozenset(
    (
        *("apps", "batch", "autoscaling", "policy", "extensions", "schedctl.dev", "internal.apiserver.k8s.io"),
        *("rbac.authorization.k8s.io", "networking.k8s.io", "storage.k8s.io", "apiextensions.k8s.io"),
        *("admissionregistration.k8s.io", "apiregistration.k8s.io", "certificates.k8s.io", "coordination.k8s.io"),
        *("discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io", "metrics.k8s.io"),
        *("authentication.k8s.io", "authorization.k8s.io", "storagemigration.k8s.io"),
    )
)
"""Kubernetes' own groups."""


def makes_pods(group: str, kind: str) -> bool | None:
    """Return whether resources of a kind make pods, None where neither is known."""
    if "." not in group or group in _BUILT_IN:
        return False
    for table, answer in ((_NO_MAKERS, False), (_MAKERS, True)):
        kinds = table.get(group, "").split()
        if kind in kinds or kinds == ["*"]:
            return answer
    return None
