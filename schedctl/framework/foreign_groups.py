"""Groups of pods that somebody else than kube-scheduler schedules or admits together, known by labels and annotations.

kube-scheduler reads none of them, and what their schedulers and controllers would do is not modelled; an answer about
such a pod names the group. Kubernetes' own groups are in `pod_groups`.
"""

from __future__ import annotations

from typing import Final

from schedctl.api.meta import controller_of
from schedctl.api.workloads import Job
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.profiles import Profile

COSCHEDULING: Final = "scheduling.x-k8s.io/pod-group"
KUEUE_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_LABELS: Final = {
    COSCHEDULING: "scheduler-plugins' PodGroup",
    "pod-group.scheduling.sigs.k8s.io/name": "scheduler-plugins' PodGroup",
    "pod-group.scheduling.sigs.k8s.io": "scheduler-plugins' PodGroup",
    "kueue.x-k8s.io/pod-group-name": "Kueue's pod group",
    KUEUE_QUEUE: "Kueue's LocalQueue",
}
_ANNOTATIONS: Final = {
    "scheduling.k8s.io/group-name": "Volcano's PodGroup",
    "scheduling.volcano.sh/group-name": "Volcano's PodGroup",
}


def foreign_group(pod: PodInfo, profile: Profile, cluster: ClusterView) -> str:
    """Return what a pod is scheduled with that the profile knows nothing of, "" for nothing.

    Args:
        pod: the pod.
        profile: its profile; one with a plugin that reads PodGroups of its own knows those that the pod names.
        cluster: what has the Job of the pod, which Kueue admits by a label of its own.
    """
    metadata = pod.pod.metadata
    for written, known in ((metadata.labels, _LABELS), (metadata.annotations, _ANNOTATIONS)):
        if written is None or known.keys().isdisjoint(written):  # as of nearly all pods
            continue
        for key, what in known.items():
            if key in written and not (what.endswith("PodGroup") and profile.knows_other_groups):
                return f"{what} {pod.namespace}/{written[key]}"
    return _queue_of_job(pod, cluster) if metadata.owner_references else ""


def _queue_of_job(pod: PodInfo, cluster: ClusterView) -> str:
    """Return the queue that the Job of a pod names, "" for none; its pods carry no label of it."""
    owner = controller_of(pod.pod)
    if owner is None or owner.kind != "Job":
        return ""
    job = cluster.get(Job, f"{pod.namespace}/{owner.name}")
    labels = job.metadata.labels if job is not None else None
    return f"{_LABELS[KUEUE_QUEUE]} {pod.namespace}/{labels[KUEUE_QUEUE]}" if labels and KUEUE_QUEUE in labels else ""
