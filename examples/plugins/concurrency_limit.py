"""ConcurrencyLimit: a PreEnqueue gate that lets so many pods of a namespace in, and keeps the others out of the queue.

For namespaces that may submit as much as they like, but run only so much at a time, without a ResourceQuota that
refuses their pods outright. The Namespace says how many by the annotation ``batch.example.com/max-running``.

Extension point: ``preEnqueue``::

    schedctl explain pod job-7 -n batch -f cluster.yaml --plugin examples/plugins/concurrency_limit.py
"""

from __future__ import annotations

from schedctl.api.meta import Namespace
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.points import PreEnqueuePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SUCCESS, Status

LIMIT = "batch.example.com/max-running"


class ConcurrencyLimit(PreEnqueuePlugin):
    """Keeps pods of a namespace out of the queue beyond the number that may run at a time.

    Of its pending pods those that came first are let in, as many as there are places left beside those that run; a pod
    that is let in keeps its place while no node will do.
    """

    reads = (Namespace,)

    full = Reason("namespace {namespace} runs {limit} pods at a time, and {before} are before this one")
    senseless = Reason("the annotation {annotation} of namespace {namespace} is no number: {value}", unresolvable=True)

    def events_to_register(self) -> tuple[Registration, ...]:
        """A pod of the namespace that leaves its node, whereupon the next one comes in."""
        return (registers(Resource.ASSIGNED_POD, Action.DELETE, _after_departure),)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Count the pods that run, and those that came before."""
        cluster = self.handle.cluster
        namespace = cluster.get(Namespace, pod.namespace)
        limit = (namespace.metadata.annotations or {}).get(LIMIT) if namespace is not None else None
        if limit is None:
            return SUCCESS
        if not limit.isdecimal():
            return self.senseless.status(annotation=LIMIT, namespace=pod.namespace, value=limit)
        before = sum(other.namespace == pod.namespace and not other.is_terminating for other in cluster.pod_table)
        for other in cluster.pending.values():  # in order of arrival
            if other.key == pod.key:
                break
            before += other.namespace == pod.namespace
        return (
            self.full.status(namespace=pod.namespace, limit=limit, before=before) if before >= int(limit) else SUCCESS
        )


def _after_departure(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    return Hint.QUEUE if before.namespace == pod.namespace else Hint.SKIP
