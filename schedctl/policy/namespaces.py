"""What checks and expressions see of namespaces: what their pods request, and what their ResourceQuotas leave.

Amounts are in millicores of cpu and whole units of others. A pod counts from when it is created, pending or not; one
that admission rejects never is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from schedctl.api.meta import Namespace
from schedctl.cache.pod_info import PodInfo
from schedctl.policy.pod_groups import group_names
from schedctl.policy.situations import REFUSED, JudgedPod, JudgedWorkload, Situation
from schedctl.simulation.what_ifs import abbreviate
from schedctl.workloads.clusters import every_pod
from schedctl.workloads.quotas import QuotaUsage

_REQUESTS = "requests."
_SAME_AS = {"count/pods": "pods"}
Data = dict[str, Any]


class Demand(msgspec.Struct):
    """What some pods request.

    Attributes:
        scheduled, pending: how many of them have a node, and have none.
        requested: what all of them request, by resource.
    """

    scheduled: int = 0
    pending: int = 0
    requested: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, info: PodInfo, scheduled: bool) -> None:
        """Count a pod."""
        self.scheduled += scheduled
        self.pending += not scheduled
        for resource, amount in info.demand.fit_requests.items():
            if amount:
                self.requested[resource] = self.requested.get(resource, 0) + amount


def created_pods(situation: Situation) -> Iterator[tuple[PodInfo, bool]]:
    """Yield every pod of the state and the manifests that is created, and whether it has a node."""
    cluster = situation.cluster
    there = set()
    for info in every_pod(cluster):
        there.add(info.key)
        yield info, info.key in cluster.pod_table.row_of
    for judged in situation.workloads:
        for pod in judged.pods:
            # Pods that nobody here places are created as well, and may not be in the cluster.
            if pod.fate not in REFUSED and not pod.lost and not there.intersection(pod.keys[-1:]):
                yield pod.info, False


def namespaces_of(workloads: Iterable[JudgedWorkload]) -> set[str]:
    """Return the namespaces of workloads."""
    return {judged.workload.namespace for judged in workloads}


def quotas_of(situation: Situation, namespace: str) -> list[QuotaUsage]:
    """Return the ResourceQuotas of a namespace."""
    return [each for each in situation.quotas if each.quota.metadata.namespace == namespace]


def bounds(quotas: Iterable[QuotaUsage]) -> Mapping[str, tuple[int, int]] | None:
    """Return what quotas without scopes leave and allow of each resource, under the name that pods request it by.

    Of several that count one resource it is the one that leaves least. None where nobody counts what is used.
    """
    found: dict[str, tuple[int, int]] = {}
    for each in quotas:
        if each.used is None:
            return None
        for name, hard in each.hard.items() if each.counts_all_pods else ():
            resource = _SAME_AS.get(name, name.removeprefix(_REQUESTS))
            bound = hard - each.used[name], hard
            found[resource] = min(found.get(resource, bound), bound)
    return found


class NamespaceFacts(msgspec.Struct):
    """The namespaces and quotas of a situation as plain data, with the fields of `schedctl.policy.variables`."""

    situation: Situation
    _demand: dict[str, Demand] | None = None
    _namespaces: dict[str, Data] = msgspec.field(default_factory=dict)
    _rejected_names: dict[str, str] = msgspec.field(default_factory=dict)

    def namespace(self, name: str) -> Data:
        """Return a namespace; what is not known of it is left out."""
        if name not in self._namespaces:
            self._namespaces[name] = self._namespace(name)
        return self._namespaces[name]

    def namespaces(self) -> list[Data]:
        """Return all namespaces that there are, that have a pod or that have a quota, by name."""
        situation = self.situation
        names = {*self._demands(), *situation.cluster.every(Namespace), *namespaces_of(situation.workloads)}
        names |= {each.quota.metadata.namespace for each in situation.quotas}
        return [self.namespace(name) for name in sorted(names)]

    def quotas(self) -> list[Data]:
        """Return all ResourceQuotas, by namespace and name."""
        return [_quota(each) for each in self.situation.quotas]

    def quota(self, namespace: str, name: str) -> Data:
        """Return a ResourceQuota."""
        return next(_quota(each) for each in quotas_of(self.situation, namespace) if each.quota.metadata.name == name)

    def rejected_names(self, namespace: str) -> str:
        """Return the pods of a namespace, or of all for "", that would not exist, in words; "" for none."""
        if namespace not in self._rejected_names:
            self._rejected_names[namespace] = abbreviate(group_names(pod.name for pod in self._rejects(namespace)))
        return self._rejected_names[namespace]

    def _rejects(self, namespace: str) -> list[JudgedPod]:
        return [
            pod
            for judged in self.situation.workloads
            for pod in judged.pods
            if pod.fate in REFUSED and namespace in ("", judged.workload.namespace)
        ]

    def _demands(self) -> dict[str, Demand]:
        if self._demand is None:
            self._demand = {}
            for info, scheduled in created_pods(self.situation):
                self._demand.setdefault(info.namespace, Demand()).add(info, scheduled)
        return self._demand

    def _namespace(self, name: str) -> Data:
        known = self.situation.cluster.get(Namespace, name)
        quotas, demand = quotas_of(self.situation, name), self._demands().get(name, Demand())
        left = bounds(quotas)
        metadata = {} if known is None else {"labels": known.metadata.labels, "annotations": known.metadata.annotations}
        scheduled, pending = demand.scheduled, demand.pending
        return {
            "name": name,
            **{field: dict(written or {}) for field, written in metadata.items()},
            "pods": {"total": scheduled + pending, "scheduled": scheduled, "pending": pending},
            "rejected": len(self._rejects(name)),
            "requested": dict(sorted(demand.requested.items())),
            **({} if left is None else {"headroom": {resource: free for resource, (free, _) in sorted(left.items())}}),
            "quotas": [_quota(each) for each in quotas],
        }


def _quota(usage: QuotaUsage) -> Data:
    metadata = usage.quota.metadata
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "labels": dict(metadata.labels or {}),
        "hard": dict(usage.hard),
        **({} if usage.used is None else {"used": dict(usage.used)}),
    }
