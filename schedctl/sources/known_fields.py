"""The fields of Kubernetes' objects that are valid, though nothing here reads them.

`KNOWN` lists, for the structs in which a misspelt field would silently change scheduling, the fields that Kubernetes
has and we do not read. Together with the struct's own fields that is every valid name, so anything else is a mistake,
and if it is close to a field that scheduling reads, a mistake worth a word.
"""

from __future__ import annotations

import msgspec

from schedctl.api import devices, meta, nodes, pod_groups, pods, policies, storage, workloads

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
        "automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks ephemeralContainers "
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
        "azureFile cephfs configMap downwardAPI emptyDir fc flexVolume flocker gitRepo glusterfs nfs "
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
        "addresses config daemonEndpoints features phase runtimeHandlers volumesAttached volumesInUse",
    ),
    (
        nodes.NodeSystemInfo,
        "architecture bootID containerRuntimeVersion kernelVersion kubeProxyVersion machineID operatingSystem osImage "
        "swap systemUUID",
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
    (workloads.DeploymentSpec, _WORKLOAD),
    (workloads.DaemonSetSpec, _WORKLOAD),
    (workloads.StatefulSetSpec, _WORKLOAD),
    (workloads.StatefulSetOrdinals, ""),
    (workloads.ReplicationControllerSpec, "minReadySeconds"),
    (
        workloads.JobSpec,
        "activeDeadlineSeconds backoffLimit backoffLimitPerIndex managedBy manualSelector maxFailedIndexes "
        "podFailurePolicy podReplacementPolicy selector successPolicy ttlSecondsAfterFinished",
    ),
    (workloads.JobTemplateSpec, ""),
    (
        workloads.CronJobSpec,
        "concurrencyPolicy failedJobsHistoryLimit startingDeadlineSeconds successfulJobsHistoryLimit timeZone",
    ),
)
_STORAGE: tuple[tuple[type[msgspec.Struct], str], ...] = (
    (meta.ObjectReference, "fieldPath resourceVersion"),
    (storage.PersistentVolume, _OBJECT),
    (
        storage.PersistentVolumeSpec,
        "cephfs fc flexVolume flocker glusterfs hostPath iscsi mountOptions nfs persistentVolumeReclaimPolicy "
        "photonPersistentDisk quobyte rbd scaleIO storageos",
    ),
    (
        storage.CSIPersistentVolumeSource,
        "controllerExpandSecretRef controllerPublishSecretRef fsType nodeExpandSecretRef nodePublishSecretRef "
        "nodeStageSecretRef readOnly volumeAttributes",
    ),
    (storage.PersistentVolumeDisk, "fsType partition readOnly secretRef"),
    (storage.PersistentVolumeGCEDisk, "fsType partition readOnly"),
    (storage.PersistentVolumeAzureDisk, "cachingMode fsType readOnly"),
    (storage.PersistentVolumeAzureFile, "readOnly"),
    (storage.PersistentVolumeVsphere, "fsType storagePolicyID storagePolicyName"),
    (storage.LocalVolumeSource, "fsType"),
    (storage.VolumeNodeAffinity, ""),
    (storage.PersistentVolumeStatus, "lastPhaseTransitionTime message reason"),
    (storage.PersistentVolumeClaim, _OBJECT),
    (
        storage.PersistentVolumeClaimStatus,
        "allocatedResourceStatuses allocatedResources conditions currentVolumeAttributesClassName healthStatus "
        "modifyVolumeStatus resizeStatus",
    ),
    (storage.StorageClass, "allowVolumeExpansion apiVersion kind mountOptions reclaimPolicy"),
    (storage.TopologySelectorTerm, ""),
    (storage.TopologySelectorLabelRequirement, ""),
    (storage.CSINode, _OBJECT),
    (storage.CSINodeSpec, ""),
    (storage.CSINodeDriver, ""),
    (storage.VolumeNodeResources, ""),
    (storage.CSIDriver, "apiVersion kind"),
    (
        storage.CSIDriverSpec,
        "fsGroupPolicy nodeAllocatableUpdatePeriodSeconds podInfoOnMount requiresRepublish seLinuxMount "
        "serviceAccountTokenInSecrets tokenRequests volumeLifecycleModes",
    ),
    (storage.CSIStorageCapacity, "apiVersion kind"),
    (storage.VolumeAttachment, _OBJECT),
    (storage.VolumeAttachmentSpec, ""),
    (storage.VolumeAttachmentSource, ""),
)
_DEVICES: tuple[tuple[type[msgspec.Struct], str], ...] = (
    (devices.ResourceSlice, "apiVersion kind"),
    (devices.ResourceSliceSpec, "partitionTypeAttribute"),
    (devices.ResourcePool, ""),
    (devices.Device, "nodeAllocatableResourceMappings"),
    (devices.DeviceAttribute, ""),
    (devices.DeviceCapacity, ""),
    (devices.CapacityRequestPolicy, ""),
    (devices.CapacityRequestPolicyRange, ""),
    (devices.Counter, ""),
    (devices.CounterSet, ""),
    (devices.DeviceCounterConsumption, ""),
    (devices.NodeAllocatableResource, ""),
    (devices.NodeAllocatableMapping, ""),
    (devices.NodeAllocatableOverhead, ""),
    (devices.DeviceTaint, ""),
    (devices.DeviceClass, "apiVersion kind"),
    (devices.DeviceClassSpec, "config"),
    (devices.DeviceTaintRule, _OBJECT),
    (devices.DeviceTaintRuleSpec, ""),
    (devices.DeviceTaintSelector, ""),
    (devices.DeviceSelector, ""),
    (devices.CELDeviceSelector, ""),
    (devices.DeviceToleration, ""),
    (devices.ResourceClaimTemplate, "apiVersion kind"),
    (devices.ResourceClaimTemplateSpec, ""),
    (devices.ResourceClaim, _OBJECT),
    (devices.ResourceClaimSpec, ""),
    (devices.DeviceClaim, "config"),
    (devices.DeviceRequest, ""),
    (devices.ExactDeviceRequest, ""),
    (devices.DeviceSubRequest, ""),
    (devices.CapacityRequirements, ""),
    (devices.DeviceDerivedAttribute, ""),
    (devices.DeviceConstraint, ""),
    (devices.ResourceClaimStatus, ""),
    (devices.AllocationResult, ""),
    (devices.DeviceAllocationResult, "config"),
    (devices.DeviceRequestAllocationResult, ""),
    (devices.ResourceClaimConsumerReference, ""),
    (devices.AllocatedDeviceStatus, "data networkData"),
    (devices.DeviceCondition, "lastTransitionTime observedGeneration"),
)
_GROUPS: tuple[tuple[type[msgspec.Struct], str], ...] = (
    (pods.PodSchedulingGroup, ""),
    (pod_groups.PodGroup, _OBJECT),
    (pod_groups.PodGroupSpec, ""),
    (pod_groups.PodGroupSchedulingPolicy, ""),
    (pod_groups.GangSchedulingPolicy, ""),
    (pod_groups.PodGroupSchedulingConstraints, ""),
    (pod_groups.TopologyConstraint, ""),
    (pod_groups.PodGroupResourceClaim, ""),
    (pod_groups.DisruptionMode, ""),
    (pod_groups.WorkloadReference, ""),
    (pod_groups.PodGroupStatus, ""),
    (workloads.JobScheduling, ""),
    (workloads.JobSchedulingPolicy, ""),
    (workloads.JobGangPolicy, ""),
)
_POLICIES: tuple[tuple[type[msgspec.Struct], str], ...] = (
    (policies.PriorityClass, "apiVersion description kind"),
    (policies.PodDisruptionBudget, _OBJECT),
    (policies.PodDisruptionBudgetSpec, ""),
    (policies.RuntimeClass, "apiVersion kind"),
    (policies.RuntimeClassOverhead, ""),
    (policies.RuntimeClassScheduling, ""),
    (policies.LimitRange, _OBJECT),
    (policies.LimitRangeSpec, ""),
    (policies.LimitRangeItem, ""),
    (policies.ResourceQuota, _OBJECT),
    (policies.ResourceQuotaSpec, ""),
    (policies.ScopeSelector, ""),
    (policies.ScopedResourceSelectorRequirement, ""),
)
KNOWN: dict[type, frozenset[str]] = {
    struct: frozenset(names.split()) for struct, names in (*_TABLE, *_STORAGE, *_DEVICES, *_GROUPS, *_POLICIES)
}
"""By struct, the valid field names that the struct does not have."""

_NO_SOURCES: dict[type[msgspec.Struct], set[str]] = {
    pods.Volume: {"name"},
    storage.PersistentVolumeSpec: {
        *("accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy"),
        *("storageClassName", "volumeAttributesClassName", "volumeMode"),
    },
}
SOURCES: dict[type, frozenset[str]] = {
    struct: (KNOWN[struct] | {one.encode_name for one in msgspec.structs.fields(struct)}) - others
    for struct, others in _NO_SOURCES.items()
}
"""By struct, the fields of which an object has at most one: the sources of a volume, read or not."""
