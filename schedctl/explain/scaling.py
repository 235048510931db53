"""The next step where a workload has more replicas than its own rules leave places for: as many as run."""

from __future__ import annotations

from schedctl.cache.pod_info import PodInfo
from schedctl.explain import remarks
from schedctl.framework.commands import kubectl
from schedctl.reports.reasons import Hint
from schedctl.scheduler.schedulers import Scheduler
from schedctl.workloads import ownership

_SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")


def scale_to_running(scheduler: Scheduler, pod: PodInfo) -> list[Hint]:
    """Return that the workload of a pod that fits nowhere is scaled to the replicas that run.

    None where the anti-affinity and spread of its pods would allow all of them: what they lack then is something else.
    """
    cluster = scheduler.cluster
    owner, replicas = ownership.workload_of(pod, cluster), ownership.replicas_of(pod, cluster)
    if owner is None or owner[0] not in _SCALABLE:
        return []
    if not any("fit" in warning.evidence for warning in remarks.warnings(scheduler, pod, replicas)):
        return []
    kind, namespace, name = owner
    running = sum(
        info.namespace == namespace and not info.is_terminating and ownership.workload_of(info, cluster) == owner
        for info in cluster.pod_table
    )
    if not 0 < running < replicas:
        return []
    text = f"{running} of {replicas} replicas run; if they are enough, scale {kind} {namespace}/{name} to {running}"
    subject = f"{kind.lower()}/{name}"
    command = kubectl("scale", subject, namespace=namespace, options=(f"--replicas={running}",))
    return [Hint(type="scale-workload", text=text, command=command)]
