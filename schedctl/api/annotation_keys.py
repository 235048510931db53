"""The annotations that are read, by their keys, and what stands for those that are not.

Annotations hold anything: whole manifests, tokens, notes. Whoever passes objects on keeps those that are listed here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

OTHERS = "schedctl.dev/other-annotations"
"""The annotation of a template that holds the digest of those that were left out."""
RESTARTED = "kubectl.kubernetes.io/restartedAt"
"""What ``kubectl rollout restart`` writes into a template; templates that differ in nothing else are alike to us."""

NODE_SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
TOLERATIONS = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
"""What admission reads of a namespace."""
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""The in-tree volume plugins that CSI drivers have taken over on a node; of a CSINode."""
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
"""The driver that made a volume."""
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
"""That a claim is bound, by the volume controller; of a claim."""
EXTENDED_RESOURCE_CLAIM = "resource.kubernetes.io/extended-resource-claim"
"""That a claim was made for a pod's extended resources; of a ResourceClaim."""
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
"""Whether autoscalers may evict a pod, and remove a node."""
MACHINE_OWNER, MACHINE = "cluster.x-k8s.io/owner-name", "machine.openshift.io/machine"
"""Which machines a node is of."""
_SIZES = (
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-",
    "machine.openshift.io/cluster-api-autoscaler-node-group-",
)
MIN_SIZES, MAX_SIZES = tuple(f"{each}min-size" for each in _SIZES), tuple(f"{each}max-size" for each in _SIZES)
"""How many machines Cluster Autoscaler may make of a group; of a MachineDeployment, MachineSet or MachinePool."""
MACHINE_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
MACHINE_LABELS, MACHINE_TAINTS = f"{MACHINE_CAPACITY}labels", f"{MACHINE_CAPACITY}taints"
MACHINE_GPU_TYPE = f"{MACHINE_CAPACITY}gpu-type"
OPENSHIFT_CPU, OPENSHIFT_MEMORY = "machine.openshift.io/vCPU", "machine.openshift.io/memoryMb"
MACHINE_AMOUNTS = frozenset(
    (
        *MAX_SIZES,
        *MIN_SIZES,
        *(f"{MACHINE_CAPACITY}{each}" for each in ("cpu", "ephemeral-disk", "gpu-count", "maxPods", "memory")),
        OPENSHIFT_CPU,
        OPENSHIFT_MEMORY,
    )
)
"""What a machine of a group without nodes is like."""

READ = frozenset(
    (
        ALLOWED_TOLERATIONS,
        BIND_COMPLETED,
        DO_NOT_DISRUPT,
        EXTENDED_RESOURCE_CLAIM,
        MACHINE,
        MACHINE_GPU_TYPE,
        MACHINE_LABELS,
        MACHINE_OWNER,
        MACHINE_TAINTS,
        MIGRATED_PLUGINS,
        NODE_SELECTOR,
        PROVISIONED_BY,
        SAFE_LOCAL_VOLUMES,
        SAFE_TO_EVICT,
        SCALE_DOWN_DISABLED,
        TOLERATIONS,
        *MACHINE_AMOUNTS,
        "batch.kubernetes.io/job-completion-index",
        "controller.kubernetes.io/pod-deletion-cost",
        "deployment.kubernetes.io/revision",
        "kubernetes.io/config.mirror",
        "pv.kubernetes.io/bound-by-controller",
        "resource.kubernetes.io/pod-claim-name",
        "storageclass.beta.kubernetes.io/is-default-class",
        "storageclass.kubernetes.io/is-default-class",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
    )
)
"""Every annotation that is read of an object."""


def relevant_annotations(annotations: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return the annotations that are read of an object, None where there are none."""
    return {key: value for key, value in (annotations or {}).items() if key in READ} or None


def comparable_annotations(annotations: Mapping[str, str] | None) -> dict[str, str] | None:
    """Return the annotations of a template as templates compare: those that are read, and a digest of the others.

    Templates that differ in a note are two revisions to a controller, so what is left out must still tell them apart.
    """
    kept, others = relevant_annotations(annotations) or {}, {}
    for key, value in sorted((annotations or {}).items()):
        if key == OTHERS:
            kept[key] = value
        elif key not in READ and key != RESTARTED:
            others[key] = value
    if others:
        kept[OTHERS] = f"sha256:{hashlib.sha256(msgspec.json.encode(others)).hexdigest()}"
    return kept or None
