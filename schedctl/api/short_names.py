"""What kubectl calls the kinds that make pods: ``deploy``, ``sts``, ``ds``, and their longer names."""

from __future__ import annotations

from schedctl.api import workloads
from schedctl.api.pods import Pod, PodTemplate

NAMES: dict[type, tuple[str, ...]] = {
    Pod: ("pod", "po", "pods"),
    workloads.Deployment: ("deploy", "deployment", "deployments"),
    workloads.StatefulSet: ("sts", "statefulset", "statefulsets"),
    workloads.DaemonSet: ("ds", "daemonset", "daemonsets"),
    workloads.ReplicaSet: ("rs", "replicaset", "replicasets"),
    workloads.Job: ("job", "jobs"),
    workloads.CronJob: ("cj", "cronjob", "cronjobs"),
    workloads.ReplicationController: ("rc", "replicationcontroller", "replicationcontrollers"),
    PodTemplate: ("podtemplate", "podtemplates"),
}
"""By type, the shortest name first."""
_KINDS = {name: kind for kind, names in NAMES.items() for name in names}


def kind_of(name: str) -> type | None:
    """Return the kind of that name, in any case and with or without its API group behind a dot; None for no kind."""
    return _KINDS.get(name.lower().partition(".")[0])
