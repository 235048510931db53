"""Which of the pending pods that a node would take one by one it would take one after another."""

from __future__ import annotations

from collections.abc import Iterable

from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.scheduler import Scheduler


def fitting_together(scheduler: Scheduler, node: str, pods: Iterable[PodInfo]) -> list[str]:
    """Return the keys of the pods that fit on a node together, as the queue has them: by priority, then by age.

    The cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        node: the node.
        pods: pending pods, each of which fits there alone.
    """
    placed = []
    with scheduler.fork():
        for pod in sorted(pods, key=lambda each: (-each.priority, each.pod.metadata.creation_timestamp or "")):
            try:
                outcome = scheduler.attempt(pod, make_room=False)
                if not (outcome.fits and scheduler.judge(pod, [node]).fits):
                    continue
            except NotModelled:
                continue
            waiting = scheduler.cluster.pending.get(pod.key)
            if waiting is not None:  # else it would count twice
                scheduler.cluster.remove_pod(waiting)
            if scheduler.place(outcome, node).status.successful:
                placed.append(pod.key)
    return placed
