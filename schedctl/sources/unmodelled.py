"""Custom resources of which an operator may make pods, though nobody here knows how.

Whether a kind is one of those is read off what it says: fields of pods and of numbers of them, in the resource or in
the schema of its CustomResourceDefinition, or a kind that is known to make pods. `schedctl.sources.manifests` keeps
them apart from kinds that scheduling has nothing to do with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedctl.errors import Problem

OPERATOR = "not modelled, an operator may make pods of it"
POD_GROUP = "not modelled, its pods would be placed together"

_OF_PODS = frozenset(
    (
        "containers",
        "podTemplate",
        "podSpec",
        "nodeSelector",
        "tolerations",
        "volumeClaimTemplate",
        "volumeClaimTemplates",
    )
)
"""Fields that a resource has whose operator makes pods."""
_OF_NUMBERS = frozenset(("replicas", "instances", "image", "resources", "affinity", "storage"))
"""Fields that say so if two of them come together."""
_MAKERS = frozenset(
    (
        *("argoproj.io/Application", "argoproj.io/ApplicationSet", "argoproj.io/Workflow", "argoproj.io/CronWorkflow"),
        *(
            "helm.toolkit.fluxcd.io/HelmRelease",
            "helm.cattle.io/HelmChart",
            "kustomize.toolkit.fluxcd.io/Kustomization",
        ),
        *("monitoring.coreos.com/PrometheusAgent", "acid.zalan.do/postgresql", "keda.sh/ScaledJob"),
        *("sparkoperator.k8s.io/SparkApplication", "sparkoperator.k8s.io/ScheduledSparkApplication"),
        *(
            "flow.volcano.sh/JobFlow",
            "tekton.dev/PipelineRun",
            "tekton.dev/TaskRun",
            "flink.apache.org/FlinkDeployment",
        ),
        *("postgresql.cnpg.io/Pooler", "logstash.k8s.elastic.co/Logstash", "apm.k8s.elastic.co/ApmServer"),
        *("beat.k8s.elastic.co/Beat", "agent.k8s.elastic.co/Agent", "maps.k8s.elastic.co/ElasticMapsServer"),
        *("enterprisesearch.k8s.elastic.co/EnterpriseSearch", "packageregistry.k8s.elastic.co/PackageRegistry"),
        *("autoops.k8s.elastic.co/AutoOpsAgentPolicy",),
        *("kafka.strimzi.io/KafkaConnect", "kafka.strimzi.io/KafkaBridge", "kafka.strimzi.io/KafkaMirrorMaker2"),
    )
)
"""Kinds of operators that say little of the pods they make."""
_NO_MAKERS = (
    *("networking.istio.io", "security.istio.io", "cert-manager.io", "acme.cert-manager.io", "traefik.io"),
    *("karpenter.sh", "karpenter.k8s.aws", "cluster.x-k8s.io", "kueue.x-k8s.io", "kyverno.io", "external-secrets.io"),
    *("constraints.gatekeeper.sh", "templates.gatekeeper.sh", "snapshot.storage.k8s.io", "autoscaling.k8s.io"),
    *(
        "machine.openshift.io",
        "scheduling.koordinator.sh",
        "node.k8s.io",
        "machineconfiguration.openshift.io",
        "apiextensions.crossplane.io",
    ),
)
"""Groups whose kinds have such fields and make no pods."""
_NO_MAKER_KINDS = frozenset(
    (
        *("argoproj.io/AnalysisTemplate", "argoproj.io/ClusterAnalysisTemplate", "argoproj.io/WorkflowTemplate"),
        *("argoproj.io/ClusterWorkflowTemplate", "flow.volcano.sh/JobTemplate", "kafka.strimzi.io/KafkaTopic"),
    )
)
"""Kinds that have such fields and make no pods, though others of their group do."""
_BUILT_IN = (
    *("apps", "batch", "autoscaling", "policy", "extensions", "schedctl.dev"),
    *("rbac.authorization.k8s.io", "networking.k8s.io", "storage.k8s.io", "apiextensions.k8s.io", "node.k8s.io"),
    *("admissionregistration.k8s.io", "apiregistration.k8s.io", "certificates.k8s.io", "coordination.k8s.io"),
    *("discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io", "metrics.k8s.io"),
    *("authentication.k8s.io", "authorization.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io"),
)


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A resource of which pods may be made.

    Attributes:
        kind: its ``Kind.group``, as policies allow it.
        problem: which it is, where it begins, and why it may change the answer.
    """

    kind: str
    problem: Problem


def reason_of(group: str, kind: str, resource: Any, defined: frozenset[tuple[str, str]]) -> str:
    """Return why a resource of a kind that is not read may change the answer, "" if it hardly can.

    Args:
        group: its API group.
        kind: its kind.
        resource: its fields.
        defined: the groups and kinds whose definitions say that they make pods.
    """
    if kind == "PodGroup":
        return POD_GROUP
    if "." not in group or group in _BUILT_IN or group in _NO_MAKERS or f"{group}/{kind}" in _NO_MAKER_KINDS:
        return ""
    spec = resource.get("spec") if isinstance(resource, dict) else None
    makes_pods = f"{group}/{kind}" in _MAKERS or (group, kind) in defined or _counts_pods(spec) or _names_pods(spec)
    return OPERATOR if makes_pods else ""


def defines(definition: Any) -> tuple[str, str] | None:
    """Return group and kind of a CustomResourceDefinition whose resources make pods by its schema, None for another."""
    spec = definition.get("spec") if isinstance(definition, dict) else None
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict) or not _names_pods(spec):
        return None
    return str(spec.get("group", "")), str(names.get("kind", ""))


def _counts_pods(spec: Any) -> bool:
    """Return whether the resource as a whole has a number of replicas."""
    return isinstance(spec, dict) and any(isinstance(spec.get(field), int) for field in ("replicas", "instances"))


def _names_pods(value: Any) -> bool:
    """Return whether fields of pods are in a value, at any depth."""
    pending = [value]
    while pending:
        inside = pending.pop()
        if isinstance(inside, dict):
            if not _OF_PODS.isdisjoint(inside) or len(_OF_NUMBERS.intersection(inside)) > 1:
                return True
            pending += inside.values()
        elif isinstance(inside, list):
            pending += inside
    return False
