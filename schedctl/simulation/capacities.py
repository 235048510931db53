"""Capacity: how many more pods like one fit, where they go, and what stops the next.

Pods are placed one after another, each by a whole scheduling cycle, until one finds no node; nobody is evicted for
them. So the answer counts what kube-scheduler would really reach, which on a cluster with spreading rules or uneven
nodes is less than what its nodes have room for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import msgspec

from schedctl.api.pods import Container, Pod, ResourceRequirements
from schedctl.api.policies import ResourceQuota
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, MEMORY
from schedctl.api.workloads import StatefulSet
from schedctl.cache.arrays import NO_ROWS
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.engine.fit_error import message
from schedctl.errors import NotModelled
from schedctl.scheduler import Scheduler
from schedctl.scheduler.assumed_volumes import claim_notes
from schedctl.workloads import admission
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Created, Rejected
from schedctl.workloads.expansion import Replica
from schedctl.workloads.pod_templates import exists, stateful_claims, stateful_pod
from schedctl.workloads.volume_controller import VolumeController

ReasonReader = Callable[[Attempt], list[Any]]
"""Reads off a failed attempt why no node is feasible, before the cluster changes again."""
PlacementCallback = Callable[[int], None]
"""Called with how many pods are placed."""
_replace = msgspec.structs.replace


class PodCopies(ABC):
    """Equal pods, one after another."""

    @abstractmethod
    def next(self, cluster: Cluster) -> PodInfo:
        """Return another one, on no node; claims of its own are put into the cluster."""


class CopiesOfPod(PodCopies):
    """Pods like one pod, under other names."""

    def __init__(self, pod: Pod, cluster: Cluster) -> None:
        self._pod = PodInfo(pod)
        self._base = pod.metadata.name
        self._number = 0
        # what a quota allows is counted apart, once it is known how many pods fit (`_count_quota`)
        self._admission = Admission(cluster, disabled=(RESOURCE_QUOTA,))
        self._volumes = VolumeController(cluster)
        has_volumes = any(volume.ephemeral is not None for volume in pod.spec.volumes or ())
        self._has_claims = has_volumes or any(c.resource_claim_template_name for c in pod.spec.resource_claims or ())

    def next(self, cluster: Cluster) -> PodInfo:
        """Return a copy, with claims as its templates of claims make them."""
        pod = self._pod.pod
        self._number += 1
        while exists(f"{pod.metadata.namespace}/{self._base}-{self._number}", cluster):
            self._number += 1
        name = f"{self._base}-{self._number}"
        info = self._pod.as_now(_replace(pod, metadata=_replace(pod.metadata, name=name, uid=f"copy {name}")))
        if not self._has_claims:
            return info
        created = self._admission.create(Replica(info.pod))
        if not isinstance(created, Created):
            return info
        for claim in created.claims:
            cluster.put(claim)
            self._volumes.on_object(claim)
        return PodInfo(created.pod)


class StatefulSetCopies(PodCopies):
    """The next pods of a StatefulSet, each with its claims."""

    def __init__(self, workload: StatefulSet, cluster: Cluster, scheduler: str = "") -> None:
        self._workload = workload
        self._volumes = VolumeController(cluster)
        self._scheduler = scheduler
        self._ordinal = (workload.spec.ordinals.start if workload.spec.ordinals else 0) - 1

    def next(self, cluster: Cluster) -> PodInfo:
        """Return the pod of the next ordinal that is not there."""
        metadata = self._workload.metadata
        self._ordinal += 1
        while exists(f"{metadata.namespace}/{metadata.name}-{self._ordinal}", cluster):
            self._ordinal += 1
        for claim in list(stateful_claims(self._workload, self._ordinal, cluster)):
            cluster.put(admission.claim(claim, cluster))
            self._volumes.on_object(claim)
        pod = admission.admit(stateful_pod(self._workload, self._ordinal), cluster).pod
        name = self._scheduler or pod.spec.scheduler_name
        return PodInfo(_replace(pod, spec=_replace(pod.spec, scheduler_name=name)))


class LargestRequest(msgspec.Struct):
    """How much of a resource one pod could request.

    Attributes:
        resource: which.
        requested: what the pod requests.
        alone: the most that fits on the cluster as it is, None if something else is in the way.
        after: the most that fits after all others were placed, likewise.
    """

    resource: str
    requested: int
    alone: int | None = None
    after: int | None = None


class CapacityFacts(msgspec.Struct):
    """The facts of a capacity question.

    Attributes:
        pod: one of the pods.
        placed: how many went to which node, in the order in which nodes were first taken.
        limited: no more were tried, though another might fit.
        message: why the next one does not fit, as kube-scheduler writes it; or the fault.
        plugins: who refused it.
        reasons: what was read off the attempt.
        nominated: the node that evictions would make room on, "" for none.
        victims: how many pods would have to go there.
        not_modelled: what the pod needs that is not modelled, "" for nothing.
        quota: why the namespace allows fewer, "" if it does not.
        within_quota: how many it allows, None where no quota is in the way.
        largest: for each resource the pod requests.
        interrupted: whether it was ended by the user.
        claim_notes: what is assumed of the claims that the pod came with.
    """

    pod: PodInfo
    placed: dict[str, int] = msgspec.field(default_factory=dict)
    limited: bool = False
    message: str = ""
    plugins: tuple[str, ...] = ()
    reasons: list[Any] = msgspec.field(default_factory=list)
    nominated: str = ""
    victims: int = 0
    not_modelled: str = ""
    quota: str = ""
    within_quota: int | None = None
    largest: list[LargestRequest] = msgspec.field(default_factory=list)
    interrupted: bool = False
    claim_notes: list[str] = msgspec.field(default_factory=list)

    @property
    def fits(self) -> int:
        """How many fit."""
        return sum(self.placed.values())


def fill(
    scheduler: Scheduler,
    copies: PodCopies,
    *,
    most: int,
    read_reasons: ReasonReader,
    on_placed: PlacementCallback = lambda placed: None,
    sizes: bool = True,
) -> CapacityFacts:
    """Place pods until the next one does not fit, and return the facts. The cluster is as before.

    Args:
        scheduler: whose cluster and profiles are used; one of them serves the pods.
        copies: the pods.
        most: stop after so many.
        read_reasons: reads off why the next one does not fit.
        on_placed: told after each placement.
        sizes: whether to find out how large a pod could be, too.
    """
    with scheduler.fork():
        cluster = scheduler.cluster
        info = copies.next(cluster)
        facts = CapacityFacts(info, largest=[LargestRequest(name, amount) for name, amount in _requests(info) if sizes])
        facts.claim_notes = claim_notes(info.pod, cluster)
        try:
            for request in facts.largest:
                request.alone = largest(scheduler, info.pod, request.resource)
            _place_all(scheduler, copies, info, facts, most, read_reasons, on_placed)
            if not facts.limited:
                for request in facts.largest:
                    request.after = largest(scheduler, info.pod, request.resource)
        except NotModelled as missing:
            facts.not_modelled = str(missing)
        except KeyboardInterrupt:
            facts.interrupted = facts.limited = True
    _count_quota(scheduler.cluster, facts)  # after the fork: the copies must not use up the quota
    return facts


def largest(scheduler: Scheduler, pod: Pod, resource: str) -> int | None:
    """Return the most of a resource that a pod could request and fit, None if it fits with none of it either.

    Args:
        scheduler: to try with; the cluster is as before.
        pod: the pod; what else it requests stays as it is.
        resource: which.
    """
    bound = int(scheduler.cluster.nodes.allocatable(resource).max(initial=0)) + 1
    without = _attempt(scheduler, resize(pod, resource, 0))
    if not without.fits:
        return None
    fitting, refused = 0, bound  # bisected between: the first always fits, the second, more than any node offers, never
    room = _most_room(without, resource)
    likely = iter((room, room + 1))  # unless others than NodeResourcesFit read what is requested
    while refused - fitting > 1:
        amount = next(likely, (fitting + refused) // 2)
        if not fitting < amount < refused:
            continue
        if _attempt(scheduler, resize(pod, resource, amount)).fits:
            fitting = amount
        else:
            refused = amount
    return fitting


def _most_room(outcome: Attempt, resource: str) -> int:
    """Return the most of a resource that is left on a node where the pod of an attempt fits."""
    filtering, table = outcome.filtering, outcome.cluster.node_table
    rows = filtering.nodes.rows[filtering.feasible] if filtering is not None else NO_ROWS
    left = table.column(table.allocatable, resource)[rows] - table.usage(resource)[rows]
    return int(left.max(initial=0))


def resize(pod: Pod, resource: str, amount: int) -> Pod:
    """Return a pod that requests so much of a resource in all, in the scheduler's units."""
    spec = pod.spec
    overhead = parse((spec.overhead or {}).get(resource, "0"))
    rest = max(amount - (overhead.milli_value if resource == CPU else overhead.value), 0)
    written = f"{rest}m" if resource == CPU else str(rest)
    # a request at pod level stands for all its containers, and overhead comes on top of it as well
    if spec.resources is not None and resource in (spec.resources.requests or {}):
        requests = {**(spec.resources.requests or {}), resource: written}
        return _replace(pod, spec=_replace(spec, resources=_replace(spec.resources, requests=requests)))
    # a pod requests what its containers do together, so the first asks for all of it and the others for none
    containers = [
        _with_request(container, None if number else written, resource)
        for number, container in enumerate(spec.containers or ())
    ]
    inits = [_with_request(init, None, resource) for init in spec.init_containers or ()]
    return _replace(pod, spec=_replace(spec, containers=containers, init_containers=inits or None))


def _with_request(container: Container, written: str | None, resource: str) -> Container:
    """Return a container that requests so much of a resource, or none of it."""
    resources = container.resources or ResourceRequirements()
    requests = {name: amount for name, amount in (resources.requests or {}).items() if name != resource}
    if written is not None:
        requests[resource] = written
    return _replace(container, resources=_replace(resources, requests=requests or None))


def _requests(info: PodInfo) -> list[tuple[str, int]]:
    """Return what a pod asks for, cpu and memory first."""
    requests = {name: amount for name, amount in info.demand.fit_requests.items() if amount > 0}
    first = [name for name in (CPU, MEMORY) if name in requests]
    return [(name, requests[name]) for name in dict.fromkeys((*first, *sorted(requests)))]


def _attempt(scheduler: Scheduler, pod: Pod) -> Attempt:
    return scheduler.attempt(PodInfo(pod), make_room=False, admitted=True)


def _place_all(
    scheduler: Scheduler,
    copies: PodCopies,
    info: PodInfo,
    facts: CapacityFacts,
    most: int,
    read_reasons: ReasonReader,
    on_placed: PlacementCallback,
) -> None:
    """Place pods until one does not fit, and find out why."""
    cluster = scheduler.cluster
    for number in range(most):
        outcome = scheduler.attempt(info, make_room=False, admitted=True)
        if not outcome.fits:
            _explain_stop(scheduler, info, facts, read_reasons)
            return
        node = outcome.chosen
        status = scheduler.place(outcome, node).status
        if status.successful:
            status = scheduler.bind(outcome, node)
        if not status.successful:
            # Permit may say Wait, which has no message
            facts.message = status.message or f"{status.plugin} makes it wait on {node}"
            facts.plugins = (status.plugin,)
            return
        facts.placed[node] = facts.placed.get(node, 0) + 1
        on_placed(number + 1)
        info = copies.next(cluster)
    facts.limited = True


def _explain_stop(scheduler: Scheduler, info: PodInfo, facts: CapacityFacts, read_reasons: ReasonReader) -> None:
    """Ask once more with all that kube-scheduler does for a pod that fits nowhere, and note why it does not."""
    outcome = scheduler.attempt(info, admitted=True)
    facts.message = outcome.error or message(outcome)
    facts.plugins = tuple(sorted(outcome.unschedulable_plugins))
    facts.reasons = read_reasons(outcome)
    result = outcome.post_filter
    if result is not None and result.nominated_node:
        facts.nominated, facts.victims = result.nominated_node, len(result.victims)


def _count_quota(cluster: Cluster, facts: CapacityFacts) -> None:
    """Find out whether the quotas of the namespace allow as many pods as fit."""
    namespace = facts.pod.namespace
    if not any(quota.metadata.namespace == namespace for quota in cluster.every(ResourceQuota).values()):
        return
    admission_chain, pod = Admission(cluster), facts.pod.pod
    for number in range(facts.fits + (not facts.limited)):
        copy = _replace(pod, metadata=_replace(pod.metadata, name=f"{pod.metadata.name}-{number}"))
        created = admission_chain.create(Replica(copy))
        if isinstance(created, Rejected):
            facts.quota, facts.within_quota = created.message, number
            return
