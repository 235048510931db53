"""What a session says of running pods for which kube-scheduler would make room, which runs leave out: a warning."""

from __future__ import annotations

from schedctl.cache.cluster import Cluster
from schedctl.framework.wording import few
from schedctl.session.notifiers import Notifier


def warn_of_resizes(cluster: Cluster, notifier: Notifier) -> None:
    """Say which pods wait for a resize, where kube-scheduler would evict others for their sake."""
    if not cluster.schedules_resizes:
        return
    waiting = sorted(info.key for info in cluster.pod_table if cluster.tries_resize(info))
    if waiting:
        notifier.warn(
            f"the resize of {few(waiting)} is deferred: kube-scheduler may evict other pods to make room"
            " (InPlacePodVerticalScalingSchedulerPreemption), which no run does yet",
            "`schedctl explain` says of each which pods",
        )
