"""What kube-scheduler does about a running pod whose resize the kubelet has put off until there is room (KEP-5836)."""

from __future__ import annotations

from schedctl.cache.pod_info import PodInfo
from schedctl.engine import fit_error
from schedctl.engine.attempts import Attempt
from schedctl.framework import wording
from schedctl.scheduler.schedulers import Scheduler


def prospect(scheduler: Scheduler, pod: PodInfo) -> list[str]:
    """Return what would be done about the resize that a pod waits for, nothing where the scheduler does not see to it.

    Raises:
        NotModelled: it depends on what is not modelled.
    """
    if pod.is_terminating or not scheduler.cluster.tries_resize(pod) or scheduler.profile_of(pod) is None:
        return []
    return [f"its resize is deferred: {_in_words(scheduler.attempt(pod))}"]


def _in_words(outcome: Attempt) -> str:
    if outcome.chosen:
        return f"{outcome.chosen} has room for it, and kube-scheduler leaves it to the kubelet"
    result = outcome.post_filter
    if result is not None and result.nominated_node:
        victims = sorted(info.key for info in result.victims)
        return f"to make room for it on {result.nominated_node}, kube-scheduler would evict {wording.few(victims)}"
    return f"kube-scheduler can make no room for it: {outcome.error or fit_error.message(outcome)}"
