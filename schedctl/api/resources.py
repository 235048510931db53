"""What a pod requests and what a node offers, in int64 by resource name.

`Demand` counts a pod in each of the ways the scheduler does: a pending pod by its spec, a running one by the larger of
its spec and what the kubelet has allocated (KEP-753, KEP-1287, KEP-2837, KEP-5419) with what its claims take
(KEP-5517), and one way for each score by allocation. `quantities` has the arithmetic, `cache` the sums over a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from schedctl.api import pods
from schedctl.api.claimed_resources import ClaimedItems, claimed_amounts, claimed_items
from schedctl.api.field_errors import label_key_problems
from schedctl.api.meta import Quantity
from schedctl.api.quantities import Amount, stored_amount, wrap_int64
from schedctl.api.read_only import ReadOnlyDict
from schedctl.releases import Release, ReleaseChange

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 << 20
"""What a container without a request counts as when nodes are scored (millicores, bytes)."""

_HUGE_PAGES = "hugepages-"

Amounts = dict[str, Amount]
Items = tuple[tuple[str, Quantity], ...]
"""A resource list as written, hashable."""
_MINIMUM: Mapping[str, Amount] = {CPU: Amount(DEFAULT_MILLI_CPU, -3), MEMORY: Amount(DEFAULT_MEMORY, 0)}
_NO_MINIMUM: Mapping[str, Amount] = {}
_ZERO = Amount(0, 0)


class Requests(NamedTuple):
    """What a running pod takes from its node.

    Attributes:
        exact: resource name to int64: cpu in millicores, memory and storage in bytes, others in units.
        scored_cpu: millicores, with the minimum for containers that ask for none.
        scored_memory: bytes, likewise.
    """

    exact: dict[str, int]
    scored_cpu: int
    scored_memory: int


class RequestRules(NamedTuple):
    """How a release adds up what a pod requests.

    Attributes:
        pod_level: whether the requests of a pod as a whole count (PodLevelResources).
        resized: whether what the kubelet has granted to a container counts (InPlacePodVerticalScaling).
        resized_pod_level: whether what the kubelet says of them counts (InPlacePodLevelResourcesVerticalScaling).
        by_container: whether the largest of what is asked, granted and in use is taken of each container, and not of
            their sums.
        claims: whether what claims take of the node counts (DRANodeAllocatableResources).
    """

    pod_level: bool = True
    resized: bool = True
    resized_pod_level: bool = True
    by_container: bool = False
    claims: bool = False


NEWEST_RULES = RequestRules()


def rules_of(release: Release) -> RequestRules:
    """Return how a release adds up what pods request."""
    return RequestRules(
        pod_level=release.enabled("PodLevelResources"),
        resized=release.enabled("InPlacePodVerticalScaling"),
        resized_pod_level=release.enabled("InPlacePodLevelResourcesVerticalScaling"),
        by_container=not release.includes(ReleaseChange.RESIZED_SUMS),
        claims=release.enabled("DRANodeAllocatableResources"),
    )


class ContainerNeeds(NamedTuple):
    """The resources of one container.

    Attributes:
        requests: what its spec requests.
        allocated: what the kubelet has admitted it with, None where the status does not say.
        actual: what it runs with, None where the status does not say.
        sidecar: whether it is an init container that stays.
        reported: whether the status has resources of it, be they none.
    """

    requests: Items
    allocated: Items | None = None
    actual: Items | None = None
    sidecar: bool = False
    reported: bool = False


class Needs(NamedTuple):
    """All that determines what a pod requests: hashable, so that thousands of pods written alike are added up once.

    Attributes:
        containers, init_containers: in order.
        overhead: of its runtime class.
        requests: the requests of the pod as a whole.
        allocated, actual: the same as the kubelet has admitted it and as it runs, None where the status does not say.
        reported: whether the status has resources of the pod as a whole.
        infeasible: whether a resize was refused, so that what it asks for does not count.
        claimed: what its claims take of its node.
    """

    containers: tuple[ContainerNeeds, ...]
    init_containers: tuple[ContainerNeeds, ...] = ()
    overhead: Items = ()
    requests: Items = ()
    allocated: Items | None = None
    actual: Items | None = None
    reported: bool = False
    infeasible: bool = False
    claimed: ClaimedItems = ()

    @property
    def spec_decides(self) -> bool:
        """Whether the status has nothing to add to the containers' requests."""
        silent = all(c.allocated is None and c.actual is None for c in (*self.containers, *self.init_containers))
        return silent and self.allocated is None and self.actual is None and not self.infeasible


class Demand:
    """What a pod asks for, in each of the ways the scheduler counts it. Pods written alike share one.

    Attributes:
        needs: what it was worked out from.
        rules: how it is added up.
    """

    def __init__(self, needs: Needs, rules: RequestRules = NEWEST_RULES) -> None:
        self.needs = needs
        self.rules = rules

    @cached_property
    def fit_requests(self) -> dict[str, int]:
        """What a node must have free: the spec alone, nothing below 0 (NodeResourcesFit, PreFilter)."""
        amounts = _count(self._requests(use_status=False)).items()
        return ReadOnlyDict({name: max(0, amount) for name, amount in amounts if name != PODS})

    @cached_property
    def requests(self) -> Requests:
        """What the pod takes from the node it runs on (``NodeInfo.Requested`` and ``NonZeroRequested``)."""
        exact = self._requests(use_status=True, claims=True)
        # scores count a container without a request as a little, unless the pod as a whole requests that resource
        pod_level = self.rules.pod_level and _any_pod_level(self.needs)
        minimum = {name: amount for name, amount in _MINIMUM.items() if not (pod_level and name in exact)}
        scored = _units(self._requests(use_status=True, minimum=minimum, claims=True) if minimum else exact)
        charged = _count(exact)
        charged.pop(PODS, None)
        return Requests(ReadOnlyDict(charged), scored.get(CPU, 0), scored.get(MEMORY, 0))

    @cached_property
    def requests_with_claims(self) -> dict[str, int]:
        """What a node must have free for the spec and what the claims take (DynamicResources, Filter)."""
        return ReadOnlyDict(_count(self._requests(use_status=False, claims=True)))

    @cached_property
    def container_requests_with_claims(self) -> Amounts:
        """What the containers alone request, and what the claims take."""
        total = _concurrent_requests(self.needs, _NO_MINIMUM, _spec_requests)
        _add(total, claimed_amounts(self.needs.claimed))
        return total

    @cached_property
    def fit_score_requests(self) -> dict[str, int]:
        """What the strategies of NodeResourcesFit add to a node: containers alone, minimum requests included."""
        return _units(self._requests(use_status=False, pod_level=False, minimum=_MINIMUM))

    @cached_property
    def balanced_allocation_requests(self) -> dict[str, int]:
        """What NodeResourcesBalancedAllocation adds to a node."""
        return _units(self._requests(use_status=True))

    @cached_property
    def thousandths(self) -> dict[str, int]:
        """What the pod takes from its node, each resource in thousandths: how an update is known to ask for less."""
        return {name: amount.milli_value for name, amount in self._requests(use_status=True).items()}

    def _requests(
        self,
        *,
        use_status: bool,
        pod_level: bool = True,
        minimum: Mapping[str, Amount] = _NO_MINIMUM,
        claims: bool = False,
    ) -> Amounts:
        """Add up a pod.

        Args:
            use_status: whether what the kubelet has granted counts, too.
            pod_level: whether requests of the pod as a whole stand in for those of its containers.
            minimum: what a container counts as that does not ask for the resource.
            claims: whether what claims take counts, where the release counts it.
        """
        needs = self.needs
        claimed = claimed_amounts(needs.claimed) if claims and self.rules.claims and needs.claimed else {}
        use_status = use_status and self.rules.resized
        if use_status and self.rules.by_container:
            total = _concurrent_requests(
                needs,
                minimum,
                lambda container: _granted_requests(container, needs),
                # of an init container that ends, what it runs with says nothing about the pod
                lambda container: (
                    _granted_requests(container, needs) if container.sidecar else _spec_requests(container)
                ),
            )
        elif use_status and not needs.spec_decides:
            total = _requests_with_status(needs, minimum, claimed, pod_level=self.rules.resized_pod_level)
        else:
            total = _concurrent_requests(needs, minimum, _spec_requests)
            _add(total, claimed)
        if pod_level and self.rules.pod_level and _any_pod_level(needs):
            requests = _amounts(needs.requests)
            if use_status and needs.reported and self.rules.resized_pod_level:
                granted = _largest(
                    {} if needs.infeasible else requests, _amounts(needs.actual or ()), _amounts(needs.allocated or ())
                )
                # taken of each container, only what the spec names counts
                requests = {name: granted.get(name, _ZERO) for name in requests} if self.rules.by_container else granted
            total.update((name, amount) for name, amount in requests.items() if is_pod_level(name))
        _add(total, _amounts(needs.overhead))
        return total


def demand_of(pod: pods.Pod, rules: RequestRules = NEWEST_RULES) -> Demand:
    """Return what a pod asks for.

    Raises:
        ValueError: a request is not a quantity.
    """
    return _demand(needs_of(pod), rules)


def needs_of(pod: pods.Pod) -> Needs:
    """Return what determines the pod's requests."""
    spec, status = pod.spec, pod.status
    statuses_by_name: dict[str, pods.ContainerStatus] = {}
    for statuses in (status.init_container_statuses, status.container_statuses):
        for container_status in reversed(statuses or ()):  # of two with one name the first counts
            statuses_by_name[container_status.name] = container_status
    reported = status.resources
    return Needs(
        containers=_containers(spec.containers, statuses_by_name),
        init_containers=_containers(spec.init_containers, statuses_by_name) if spec.init_containers else (),
        overhead=_items(spec.overhead),
        requests=_items(spec.resources.requests) if spec.resources else (),
        allocated=_items_of_status(status.allocated_resources),
        actual=_items_of_status(reported.requests) if reported else None,
        reported=reported is not None,
        infeasible=_resize_infeasible(status),
        claimed=claimed_items(status.node_allocatable_resource_claim_statuses),
    )


def container_limits(pod: pods.Pod) -> Amounts:
    """Return the limits of all containers that run at once."""

    def limits(containers: Iterable[pods.Container] | None) -> tuple[ContainerNeeds, ...]:
        return tuple(
            ContainerNeeds(_items(each.resources.limits) if each.resources else (), sidecar=_is_sidecar(each))
            for each in containers or ()
        )

    needs = Needs(limits(pod.spec.containers), limits(pod.spec.init_containers))
    return _concurrent_requests(needs, _NO_MINIMUM, _spec_requests)


def requests_identity(spec: pods.PodSpec) -> tuple[int, ...]:
    """Return a key that is equal for specs that share the very objects in which they say what the pod asks for.

    It is made of identities, and stands for these objects only as long as a spec that has them is held.
    """
    return id(spec.containers), id(spec.init_containers), id(spec.overhead), id(spec.resources)


def kubelet_grant(status: pods.PodStatus) -> tuple[object, ...]:
    """Return what the status says of what a pod has been granted, which is all that its demand reads of it."""
    infeasible = status.conditions is not None and _resize_infeasible(status)
    statuses = status.container_statuses, status.init_container_statuses
    claimed = status.node_allocatable_resource_claim_statuses
    return *statuses, status.allocated_resources, status.resources, infeasible, claimed


def grant_identity(status: pods.PodStatus) -> tuple[int | bool, ...]:
    """Return a key that is equal for statuses that share the very objects of `kubelet_grant`."""
    return (
        id(status.container_statuses),
        id(status.init_container_statuses),
        id(status.allocated_resources),
        id(status.resources),
        status.conditions is not None and _resize_infeasible(status),
        id(status.node_allocatable_resource_claim_statuses),
    )


def allocatable(offered: pods.ResourceList | None) -> Mapping[str, int]:
    """Return what a node offers of each resource the scheduler counts, in int64; nodes written alike share one.

    Raises:
        ValueError: an amount is not a quantity.
    """
    return _offer(_items(offered))


def wrapping_sum(a: int, b: int) -> int:
    """Return ``a + b`` as int64 addition gives it."""
    return wrap_int64(a + b)


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    """Return whether the name is an extended resource: qualified, and outside ``kubernetes.io/``."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_problems(f"requests.{name}")  # a quota must be able to name it, too


def extended_resource_problems(name: str) -> list[str]:
    """Return what is wrong with the name of an extended resource; [] when it is one."""
    problems = list(label_key_problems(name))
    return problems or ([] if is_extended(name) else ["is an invalid extended resource name"])


@lru_cache(maxsize=4096)
def is_scalar(name: str) -> bool:
    """Return whether the scheduler counts the resource beside cpu, memory, ephemeral storage and pods."""
    return name.startswith((_HUGE_PAGES, "attachable-volumes-")) or "kubernetes.io/" in name or is_extended(name)


def is_pod_level(name: str) -> bool:
    """Return whether ``spec.resources`` of a pod may name the resource (KEP-2837)."""
    return name in (CPU, MEMORY) or name.startswith(_HUGE_PAGES)


@lru_cache(maxsize=50_000)
def _demand(needs: Needs, rules: RequestRules) -> Demand:
    return Demand(needs, rules)


@lru_cache(maxsize=50_000)
def _offer(offered: Items) -> Mapping[str, int]:
    return _count(_amounts(offered))


def _items(resources: pods.ResourceList | None) -> Items:
    return tuple(resources.items()) if resources else ()


def _items_of_status(resources: pods.ResourceList | None) -> Items | None:
    return None if resources is None else tuple(resources.items())


def _containers(
    containers: Iterable[pods.Container] | None, statuses: Mapping[str, pods.ContainerStatus]
) -> tuple[ContainerNeeds, ...]:
    needs = []
    for container in containers or ():
        requests = _items(container.resources.requests) if container.resources else ()
        status = statuses.get(container.name) if statuses else None
        sidecar = _is_sidecar(container)
        if status is None:
            needs.append(ContainerNeeds(requests, sidecar=sidecar))
        else:
            actual = _items_of_status(status.resources.requests) if status.resources else None
            allocated = _items_of_status(status.allocated_resources)
            needs.append(ContainerNeeds(requests, allocated, actual, sidecar, status.resources is not None))
    return tuple(needs)


def _is_sidecar(container: pods.Container) -> bool:
    return container.restart_policy == "Always"


def pending_resize(status: pods.PodStatus) -> str:
    """Return why a resize of a running pod waits, ``Deferred`` or ``Infeasible`` as the kubelet says; "" for none."""
    for condition in status.conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason
    return ""


def _resize_infeasible(status: pods.PodStatus) -> bool:
    return pending_resize(status) == "Infeasible"


def _any_pod_level(needs: Needs) -> bool:
    return any(is_pod_level(name) for name, _ in needs.requests)


def _amounts(items: Items) -> Amounts:
    return {name: stored_amount(quantity) for name, quantity in items}


def _units(amounts: Amounts) -> dict[str, int]:
    """Return each amount in int64: cpu in thousandths, all else whole."""
    return {name: amount.milli_value if name == CPU else amount.value for name, amount in amounts.items()}


def _count(amounts: Amounts) -> dict[str, int]:
    """Return the int64 of each resource the scheduler counts; the others are dropped."""
    known = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
    return {name: amount for name, amount in _units(amounts).items() if name in known or is_scalar(name)}


def _spec_requests(container: ContainerNeeds) -> Amounts:
    return _amounts(container.requests)


def _granted_requests(container: ContainerNeeds, needs: Needs) -> Amounts:
    """What one container needs, was granted and runs with, whichever is most."""
    if not container.reported:
        return _amounts(container.requests)
    requests = () if needs.infeasible else container.requests
    return _largest(*map(_amounts, (requests, container.actual or (), container.allocated or ())))


def _requests_with_status(needs: Needs, minimum: Mapping[str, Amount], claimed: Amounts, *, pod_level: bool) -> Amounts:
    """What containers need, were granted and run with, whichever is most.

    What claims take is part of what the kubelet says of the pod as a whole, and of what containers run with.
    """

    def grant_of(container: ContainerNeeds) -> Amounts:
        if container.allocated is not None:
            return _amounts(container.allocated)
        return {} if needs.infeasible else _amounts(container.requests)

    def actual_of(container: ContainerNeeds) -> Amounts:
        return grant_of(container) if container.actual is None else _amounts(container.actual)

    if pod_level and needs.allocated is not None and needs.actual is not None:
        allocated, actual = _amounts(needs.allocated), _amounts(needs.actual)
    else:
        allocated, actual = (_concurrent_requests(needs, minimum, of) for of in (grant_of, actual_of))
        _add(allocated, claimed)
    if needs.infeasible:
        return _largest(actual, allocated)
    specified = _concurrent_requests(needs, minimum, _spec_requests)
    _add(specified, claimed)
    return _largest(specified, actual, allocated)


def _concurrent_requests(
    needs: Needs,
    minimum: Mapping[str, Amount],
    of: Callable[[ContainerNeeds], Amounts],
    of_init: Callable[[ContainerNeeds], Amounts] | None = None,
) -> Amounts:
    """What containers need at once: all of them, or an init container beside the sidecars before it."""
    of_init = of_init or of
    total: Amounts = {}
    for container in needs.containers:
        _add(total, {**minimum, **of(container)})
    # init containers run one after another, each beside the sidecars that started before it; what the pod needs is
    # the peak over all of these moments and the running pod.
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in needs.init_containers:
        requests = {**minimum, **of_init(container)}
        if container.sidecar:
            _add(total, requests)
            _add(sidecars, requests)
            requests = sidecars
        else:
            _add(requests, sidecars)
        starting = _largest(starting, requests)
    return _largest(total, starting)


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total[name].plus(amount) if name in total else amount


def _largest(*lists: Amounts) -> Amounts:
    result: Amounts = {}
    for amounts in lists:
        for name, amount in amounts.items():
            result[name] = result[name].or_more(amount) if name in result else amount
    return result
