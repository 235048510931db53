"""Names that were probably meant: for misspelt fields, values and files.

`KNOWN` lists, for the structs in which a misspelt field would silently change scheduling, the fields that Kubernetes
has and we do not read. Together with the struct's own fields that is every valid name, so anything else is a mistake,
and if it is close to a field that scheduling reads, a mistake worth a word.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedctl.api import meta, nodes, pods, workloads

_OBJECT = "apiVersion kind metadata spec status"
_WORKLOAD = (
    "minReadySeconds paused podManagementPolicy persistentVolumeClaimRetentionPolicy progressDeadlineSeconds "
    "revisionHistoryLimit serviceName strategy updateStrategy"
)
_TABLE: tuple[tuple[type[msgspec.Struct], str], ...] = (
    (meta.ObjectMeta, "generation managedFields resourceVersion selfLink"),
    (meta.LabelSelector, ""),
    (meta.LabelSelectorRequirement, ""),
    (pods.Pod, _OBJECT),
    (pods.PodTemplateSpec, ""),
    (
        pods.PodSpec,
        "activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks ephemeralContainers "
        "evictionResponders hostAliases hostIPC hostPID hostname hostnameOverride imagePullSecrets readinessGates "
        "securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain",
    ),
    (
        pods.Container,
        "args command env envFrom imagePullPolicy lifecycle livenessProbe readinessProbe resizePolicy "
        "restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath "
        "terminationMessagePolicy tty volumeDevices volumeMounts workingDir",
    ),
    (pods.ContainerPort, "name"),
    (pods.ResourceRequirements, ""),
    (pods.Affinity, ""),
    (pods.NodeAffinity, ""),
    (pods.NodeSelector, ""),
    (pods.NodeSelectorTerm, ""),
    (pods.NodeSelectorRequirement, ""),
    (pods.PreferredSchedulingTerm, ""),
    (pods.PodAffinity, ""),
    (pods.PodAffinityTerm, ""),
    (pods.WeightedPodAffinityTerm, ""),
    (pods.Toleration, ""),
    (pods.TopologySpreadConstraint, ""),
    (
        pods.Volume,
        "azureFile cephfs configMap downwardAPI emptyDir fc flexVolume flocker gitRepo glusterfs hostPath nfs "
        "photonPersistentDisk projected quobyte scaleIO secret storageos vsphereVolume",
    ),
    (pods.PersistentVolumeClaimVolumeSource, ""),
    (pods.EphemeralVolumeSource, ""),
    (pods.PersistentVolumeClaimTemplate, "apiVersion kind status"),
    (pods.PersistentVolumeClaimSpec, "dataSource dataSourceRef"),
    (pods.PodResourceClaim, ""),
    (pods.PodSchedulingGate, ""),
    (nodes.Node, _OBJECT),
    (nodes.NodeSpec, "configSource externalID podCIDR podCIDRs podPreemptionPolicy"),
    (
        nodes.NodeStatus,
        "addresses config daemonEndpoints features nodeInfo phase runtimeHandlers volumesAttached volumesInUse",
    ),
    (nodes.Taint, "timeAdded"),
    (nodes.ContainerImage, ""),
    (workloads.Deployment, _OBJECT),
    (workloads.ReplicaSet, _OBJECT),
    (workloads.DaemonSet, _OBJECT),
    (workloads.StatefulSet, _OBJECT),
    (workloads.ReplicationController, _OBJECT),
    (workloads.Job, _OBJECT),
    (workloads.CronJob, _OBJECT),
    (workloads.WorkloadSpec, _WORKLOAD),
    (workloads.StatefulSetSpec, _WORKLOAD),
    (workloads.StatefulSetOrdinals, ""),
    (workloads.ReplicationControllerSpec, "minReadySeconds"),
    (
        workloads.JobSpec,
        "activeDeadlineSeconds backoffLimit backoffLimitPerIndex managedBy manualSelector maxFailedIndexes "
        "podFailurePolicy podReplacementPolicy scheduling selector successPolicy ttlSecondsAfterFinished",
    ),
    (workloads.JobTemplateSpec, ""),
    (
        workloads.CronJobSpec,
        "concurrencyPolicy failedJobsHistoryLimit schedule startingDeadlineSeconds successfulJobsHistoryLimit timeZone",
    ),
)
KNOWN: dict[type, frozenset[str]] = {struct: frozenset(names.split()) for struct, names in _TABLE}
"""By struct, the valid field names that the struct does not have."""


_TELLING = 8
"""A beginning of a name of this length is enough to tell which is meant."""


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name most like a word, case aside; "" when none is close."""
    import difflib  # only mistakes pay for it

    folded = {name.lower(): name for name in names}
    if len(word) >= _TELLING:
        for name in folded:
            if name.startswith(word.lower()):
                return folded[name]
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else ""
