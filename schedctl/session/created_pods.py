"""What the API server answers when a pod that is not in the cluster yet is created: whether it takes it.

`explain` asks about one pod at a time; a run creates its pods one after another with `workloads.api_server`.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass, RuntimeClass
from schedctl.cache.cluster import Cluster
from schedctl.workloads import admission
from schedctl.workloads.api_server import rejection_prefix
from schedctl.workloads.quotas import Quotas, QuotaShortage

_KINDS = {admission.PRIORITY: PriorityClass, admission.RUNTIME_CLASS: RuntimeClass}
"""The plugins that refuse a pod because an object is not there, with its kind."""


class CreatedPods:
    """Answers about pods that are created, each by itself on the same cluster."""

    def __init__(self, cluster: Cluster) -> None:
        """Count what the quotas of a cluster have counted: pods that an API server has taken."""
        self._cluster = cluster
        self._quotas = Quotas(cluster, is_created)

    def refusal(self, pod: Pod, refusals: Sequence[admission.Refusal] | None = None) -> str:
        """Return the API server's message where it refuses a pod, "" where it takes it or has taken it before.

        A plugin that looks for an object of a kind that could not be listed refuses nothing, and a priority that is
        there was resolved where the class is known.

        Args:
            pod: the pod, as admission has completed it.
            refusals: of admission, None to ask it.
        """
        if is_created(pod):
            return ""
        silent = [plugin for plugin, kind in _KINDS.items() if kind in self._cluster.missing]
        if pod.spec.priority:
            silent.append(admission.PRIORITY)
        if refusals is None:
            refusals = admission.admit_spec(pod, self._cluster)[2]
        name = pod.metadata.name
        for refusal in refusals:
            if refusal.plugin not in silent:
                return rejection_prefix(refusal.plugin, Pod, name) + refusal.message
        if message := self._quotas.charge_pod(pod):
            return rejection_prefix(admission.RESOURCE_QUOTA, Pod, name) + message
        self._quotas.credit_pod(pod)
        return ""

    def shortages(self, pod: Pod) -> list[QuotaShortage]:
        """Return what the quotas lack for a pod that is refused."""
        return self._quotas.shortages(pod)


def is_created(pod: Pod) -> bool:
    """Return whether a pod is in a cluster: it has a uid, or a node."""
    return bool(pod.metadata.uid or pod.spec.node_name)
