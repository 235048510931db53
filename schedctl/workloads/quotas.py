"""ResourceQuotas: how much of a namespace is used up, and what is refused because of it (ResourceQuota).

Amounts are those of ``pkg/quota/v1``. Services by type and node port, and devices by class, are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from schedctl.api import resources
from schedctl.api.kinds import KINDS, Kind
from schedctl.api.pods import Container, Pod, PodAffinityTerm, PodSpec
from schedctl.api.policies import ResourceQuota, ScopedResourceSelectorRequirement
from schedctl.api.quantities import Amount, form_of, stored_amount
from schedctl.api.storage import PersistentVolumeClaim, class_of
from schedctl.cache.cluster import Cluster
from schedctl.workloads import amounts
from schedctl.workloads.amounts import AmountList, FormattedAmount
from schedctl.workloads.clusters import every_pod
from schedctl.workloads.limit_ranges import best_effort

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_DEMANDED = frozenset(("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"))
"""Resources that every container has to state where a quota counts them."""
_BY_CLASS = ".storageclass.storage.k8s.io/"
_PLAIN_COUNTS = frozenset(("services", "replicationcontrollers", "resourcequotas", "persistentvolumeclaims", "pods"))
_POD_COUNT, _CLAIM_COUNT = "count/pods", "count/persistentvolumeclaims"


class QuotaUsage(msgspec.Struct, frozen=True):
    """A quota, and what is used of it.

    Attributes:
        quota: the quota.
        hard, used: by resource, in millicores of cpu and whole units of others; `used` is None where nobody counts.
    """

    quota: ResourceQuota
    hard: Mapping[str, int]
    used: Mapping[str, int] | None

    @property
    def counts_all_pods(self) -> bool:
        """Whether it has no scopes, and so counts every pod of its namespace."""
        return not _scopes(self.quota)


class QuotaShortage(msgspec.Struct, frozen=True):
    """A resource of which a quota leaves too little.

    Attributes:
        quota: the name of the quota.
        resource: the resource, as the quota names it.
        room: how much the quota leaves, "" for nothing.
        needed: how much it would have to allow.
    """

    quota: str
    resource: str
    room: str
    needed: str


class _Counted(msgspec.Struct):
    """One quota and what is used of it."""

    quota: ResourceQuota
    hard: AmountList
    used: AmountList

    @property
    def name(self) -> str:
        return self.quota.metadata.name

    def charge(self, usage: AmountList) -> None:
        for name, amount in usage.items():
            if name in self.hard:
                self.used[name] = self.used[name].plus(amount) if name in self.used else amount

    def credit(self, usage: AmountList) -> None:
        for name, amount in usage.items():
            if name in self.used:
                self.used[name] = self.used[name].minus(amount)

    def excess(self, usage: AmountList) -> str:
        """Return the refusal of a usage that is too much, "" if it fits."""
        over = self._find_exceeded(usage)
        if not over:
            return ""
        requested, used, limited = (_pretty(part, over) for part in (usage, self.used, self.hard))
        return f"exceeded quota: {self.name}, requested: {requested}, used: {used}, limited: {limited}"

    def shortages(self, usage: AmountList) -> Iterator[QuotaShortage]:
        """Yield what a usage that is too much lacks."""
        for name in self._find_exceeded(usage):
            used = self.used.get(name, amounts.ZERO)
            left = self.hard[name].minus(used)
            room = str(left) if left.more_than(amounts.ZERO) else ""
            yield QuotaShortage(self.name, name, room, str(used.plus(usage[name])))

    def _find_exceeded(self, usage: AmountList) -> list[str]:
        """Return the resources of which a usage is too much."""
        # What asks for nothing of a resource is let in even where the quota is exceeded already.
        charged = {name: amount for name, amount in usage.items() if name in self.hard and not amount.is_zero}
        return [
            name
            for name in sorted(charged)
            if self.used.get(name, amounts.ZERO).plus(charged[name]).more_than(self.hard[name])
        ]


class Quotas:
    """The quotas of a cluster, counting along with what is created and what goes.

    A quota counts from its status where it has one, which the quota controller keeps, and otherwise from what is in the
    cluster when it joins: at the start, or with `track`.
    """

    def __init__(self, cluster: Cluster, counts: Callable[[Pod], bool] = lambda _: True) -> None:
        """Count what is in a cluster; of its pods those that `counts` says are to be counted."""
        self._cluster, self._counts = cluster, counts
        self._counted: dict[str, dict[str, _Counted]] = {}
        for quota in cluster.every(ResourceQuota).values():
            self.track(quota)

    def __bool__(self) -> bool:
        return bool(self._counted)

    def track(self, quota: ResourceQuota) -> None:
        """Count a quota from now on; one of a name that is known goes on with what was counted."""
        metadata = quota.metadata
        here = self._counted.setdefault(metadata.namespace, {})
        hard = amounts.amounts_of(quota.spec.hard or quota.status.hard)
        known = here.get(metadata.name)
        counted = _Counted(quota, hard, {} if known is None else known.used)
        if known is None and quota.status.used is not None:
            counted.used = amounts.amounts_of(quota.status.used)
        missing = hard.keys() - counted.used.keys()
        # Also of resources that were added to a quota after its status was written.
        if missing:
            counted.used |= {name: amount for name, amount in self._in_cluster(counted).items() if name in missing}
        here[metadata.name] = counted
        # By name: of several quotas that are exceeded the first is in the refusal.
        self._counted[metadata.namespace] = dict(sorted(here.items()))

    def charge_pod(self, pod: Pod) -> str:
        """Count a pod that is created; return why it is refused instead, "" if it is not."""
        matching = [counted for counted in self._of(pod.metadata.namespace) if _matches_pod(counted, pod)]
        if not matching:
            return ""
        for counted in matching:
            if missing := _missing_requests(counted, pod.spec):
                return f"failed quota: {counted.name}: must specify {missing}"
        return _charge_all(matching, pod_usage(pod))

    def shortages(self, pod: Pod) -> list[QuotaShortage]:
        """Return what all quotas together lack for a pod."""
        matching = [counted for counted in self._of(pod.metadata.namespace) if _matches_pod(counted, pod)]
        usage = pod_usage(pod) if matching else {}
        return [shortage for counted in matching for shortage in counted.shortages(usage)]

    def credit_pod(self, pod: Pod) -> None:
        """Count a pod that goes."""
        matching = [counted for counted in self._of(pod.metadata.namespace) if _matches_pod(counted, pod)]
        if matching:
            usage = pod_usage(pod)
            for counted in matching:
                counted.credit(usage)

    def charge_claim(self, claim: PersistentVolumeClaim) -> str:
        """Count a claim that is created; return why it is refused instead, "" if it is not."""
        matching = [counted for counted in self._of(claim.metadata.namespace) if _matches_claim(counted, claim)]
        return _charge_all(matching, claim_usage(claim)) if matching else ""

    def charge_object(self, obj: Any) -> str:
        """Count an object of another kind that is created; return why it is refused instead, "" if it is not."""
        usage = _object_usage(obj)
        matching = [
            counted
            for counted in self._of(obj.metadata.namespace)
            if not _scopes(counted.quota) and usage.keys() & counted.hard.keys()
        ]
        return _charge_all(matching, usage) if matching else ""

    def usage(self) -> list[QuotaUsage]:
        """Return every quota and what is used of it by now, by namespace and name."""
        return [
            QuotaUsage(
                one.quota, _in_units(one.hard), _in_units({name: one.used.get(name, amounts.ZERO) for name in one.hard})
            )
            for _, here in sorted(self._counted.items())
            for one in here.values()
        ]

    def _of(self, namespace: str) -> Iterable[_Counted]:
        return self._counted.get(namespace, {}).values()

    def _in_cluster(self, counted: _Counted) -> AmountList:
        """Return what is used by what is in the cluster."""
        namespace = counted.quota.metadata.namespace
        total: AmountList = dict.fromkeys(counted.hard, amounts.ZERO)

        def add(usage: AmountList) -> None:
            for name, amount in usage.items():
                if name in total:
                    total[name] = total[name].plus(amount)

        for info in every_pod(self._cluster):
            if info.namespace == namespace and self._counts(info.pod) and _matches_pod(counted, info.pod):
                add(pod_usage(info.pod))
        for claim in self._cluster.every(PersistentVolumeClaim).values():
            if claim.metadata.namespace == namespace and _matches_claim(counted, claim):
                add(claim_usage(claim))
        if not _scopes(counted.quota):
            for struct in _RESOURCES:
                objects: Iterable[Any] = self._cluster.every(struct).values()
                for obj in objects:
                    if obj.metadata.namespace == namespace:
                        add(_object_usage(obj))
        return total


def pod_usage(pod: Pod) -> AmountList:
    """Return what a pod is charged with."""
    spec, usage = pod.spec, {_POD_COUNT: amounts.ONE, "pods": amounts.ONE}
    requests, limits = _in_all(spec, "requests"), _in_all(spec, "limits")
    # The scheduler's sum, in whole units and milli-CPU, shown in the form that the API server's sum would have.
    for name, value in resources.demand_of(pod).requests.exact.items():
        amount = FormattedAmount(
            Amount(value, -3 if name == resources.CPU else 0), requests.get(name, amounts.ZERO).form
        )
        if name in _COMPUTE or name.startswith("hugepages-"):
            usage[name] = usage[f"requests.{name}"] = amount
        elif resources.is_extended(name):
            usage[f"requests.{name}"] = amount
    for name in _COMPUTE:
        if name in limits:
            usage[f"limits.{name}"] = limits[name]
    return usage


def _in_all(spec: PodSpec, side: amounts.Side) -> AmountList:
    """What a pod asks for, or may use at most; what it states as a whole goes first, and overhead comes on top."""
    total, whole = amounts.container_totals(spec, side), spec.resources
    stated = (whole.requests if side == "requests" else whole.limits) if whole else None
    total |= {name: amount for name, amount in amounts.amounts_of(stated).items() if resources.is_pod_level(name)}
    for name, amount in amounts.amounts_of(spec.overhead).items():
        # Overhead raises a limit, but does not make one.
        if side == "requests" or not total.get(name, amounts.ZERO).is_zero:
            total[name] = total.get(name, amounts.ZERO).plus(amount)
    return total


def claim_usage(claim: PersistentVolumeClaim) -> AmountList:
    """Return what a claim is charged with."""
    storage_class = class_of(claim)
    usage: AmountList = {_CLAIM_COUNT: amounts.ONE, "persistentvolumeclaims": amounts.ONE}
    if storage_class:
        usage[f"{storage_class}{_BY_CLASS}persistentvolumeclaims"] = amounts.ONE
    requests = (claim.spec.resources.requests if claim.spec.resources else None) or {}
    if "storage" in requests:
        amount = FormattedAmount(stored_amount(requests["storage"]).round_up(0), form_of(requests["storage"]))
        usage["requests.storage"] = amount
        if storage_class:
            usage[f"{storage_class}{_BY_CLASS}requests.storage"] = amount
    return usage


def _charge_all(matching: Iterable[_Counted], usage: AmountList) -> str:
    """Charge all quotas, or none and return why."""
    matching = list(matching)
    for counted in matching:  # all are asked before one is charged: a refused object counts nowhere
        if refusal := counted.excess(usage):
            return refusal
    for counted in matching:
        counted.charge(usage)
    return ""


def _counts_of(kind: Kind) -> AmountList:
    group = kind.api_version.rpartition("/")[0]
    usage = {f"count/{kind.resource}.{group}" if group else f"count/{kind.resource}": amounts.ONE}
    if not group and kind.resource in _PLAIN_COUNTS:
        usage[kind.resource] = amounts.ONE
    return usage


_RESOURCES: Mapping[type, AmountList] = {
    kind.struct: _counts_of(kind)
    for kind in KINDS
    if kind.namespaced and kind.struct not in (Pod, PersistentVolumeClaim)
}
"""By kind, what one object of it is charged with."""


def _object_usage(obj: Any) -> AmountList:
    return _RESOURCES.get(type(obj), {})


def _in_units(usage: AmountList) -> dict[str, int]:
    """Return amounts in millicores of cpu and whole units of others, rounded up."""
    return {
        name: listed.amount.scaled_value(-3 if name.rpartition(".")[2] == resources.CPU else 0)
        for name, listed in sorted(usage.items())
    }


def _pretty(usage: AmountList, names: Iterable[str]) -> str:
    return ",".join(f"{name}={usage.get(name, amounts.ZERO)}" for name in names)


# -- what a quota is about ----------------------------------------------------------------------------------------


def _matches_pod(counted: _Counted, pod: Pod) -> bool:
    # A quota on other things does not look at pods, so its scopes are not asked, nor does it demand requests.
    about = any(
        name in ("pods", _POD_COUNT)
        or name in _DEMANDED
        or name.endswith("ephemeral-storage")
        or name.startswith(("hugepages-", "requests.hugepages-"))
        or (name.startswith("requests.") and "/" in name)
        for name in counted.hard
    )
    return about and all(_in_scope(scope, pod) for scope in _scopes(counted.quota))


def _matches_claim(counted: _Counted, claim: PersistentVolumeClaim) -> bool:
    about = any(
        name in ("persistentvolumeclaims", _CLAIM_COUNT, "requests.storage") or _BY_CLASS in name
        for name in counted.hard
    )
    return about and all(_class_in_scope(scope, claim) for scope in _scopes(counted.quota))


def _scopes(quota: ResourceQuota) -> list[ScopedResourceSelectorRequirement]:
    plain = [
        ScopedResourceSelectorRequirement(scope_name=scope, operator="Exists") for scope in quota.spec.scopes or ()
    ]
    selector = quota.spec.scope_selector
    return [*plain, *((selector.match_expressions if selector else None) or ())]


def _in_scope(scope: ScopedResourceSelectorRequirement, pod: Pod) -> bool:
    spec = pod.spec
    judges: Mapping[str, Callable[[], bool]] = {
        "Terminating": lambda: _has_deadline(spec),
        "NotTerminating": lambda: not _has_deadline(spec),
        "BestEffort": lambda: best_effort(spec),
        "NotBestEffort": lambda: not best_effort(spec),
        "PriorityClass": lambda: _selects(scope, spec.priority_class_name),
        "CrossNamespacePodAffinity": lambda: any(term.namespaces or term.namespace_selector for term in _terms(spec)),
    }
    judge = judges.get(scope.scope_name)
    return judge is not None and judge()


def _class_in_scope(scope: ScopedResourceSelectorRequirement, claim: PersistentVolumeClaim) -> bool:
    name = claim.spec.volume_attributes_class_name or ""
    return scope.scope_name == "VolumeAttributesClass" and _selects(scope, name)


def _selects(scope: ScopedResourceSelectorRequirement, name: str) -> bool:
    """Whether a condition on a name holds; an empty name is an absent one."""
    # As of labels: NotIn holds of what is absent.
    if scope.operator == "In":
        return bool(name) and name in (scope.values or ())
    if scope.operator == "NotIn":
        return name not in (scope.values or ()) or not name
    return bool(name) == (scope.operator == "Exists")


def _has_deadline(spec: PodSpec) -> bool:
    return spec.active_deadline_seconds is not None and spec.active_deadline_seconds >= 0


def _terms(spec: PodSpec) -> Iterator[PodAffinityTerm]:
    affinity = spec.affinity
    for part in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        if part is not None:
            yield from part.required_during_scheduling_ignored_during_execution or ()
            for weighted in part.preferred_during_scheduling_ignored_during_execution or ():
                yield weighted.pod_affinity_term


def _missing_requests(counted: _Counted, spec: PodSpec) -> str:
    """Return which demanded resources which containers do not state, "" where nothing is missing."""
    whole = spec.resources
    # A pod that states anything as a whole need not state it for its containers, be it another resource.
    if whole is not None and any(
        resources.is_pod_level(name) for stated in (whole.requests, whole.limits) for name in stated or ()
    ):
        return ""
    demanded = sorted(_DEMANDED & counted.hard.keys())
    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    missing = {name: sorted({one.name for one in containers if not _states(one, name)}) for name in demanded}
    return "; ".join(f"{name} for: {','.join(names)}" for name, names in missing.items() if names)


def _states(container: Container, demanded: str) -> bool:
    prefix, _, name = demanded.rpartition(".")
    stated = container.resources
    if stated is None:
        return False
    return name in ((stated.limits if prefix == "limits" else stated.requests) or {})
