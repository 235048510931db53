"""Disruption budgets while pods are evicted: how many more may go, as the disruption controller keeps its books.

The books begin with what the controller has written into the budget's status; where it has written nothing, they are
worked out from the spec as it does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from schedctl.api.meta import controller_of
from schedctl.api.pods import Pod
from schedctl.api.policies import PodDisruptionBudget, PodDisruptionBudgetStatus
from schedctl.api.selectors import LabelQuery, SelectorError, compile_selector
from schedctl.api.workloads import Deployment, ReplicaSet, ReplicationController, StatefulSet
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo

VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
"""What the API server answers when a budget allows no eviction; why is a cause of its own."""
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
"""What it answers of a pod that two budgets select."""
_SCALES: Mapping[str, type] = {
    "Deployment": Deployment,
    "ReplicaSet": ReplicaSet,
    "ReplicationController": ReplicationController,
    "StatefulSet": StatefulSet,
}


class BudgetState(msgspec.Struct):
    """One budget.

    Attributes:
        key: its ``namespace/name``.
        name: its name.
        query: the pods it selects, in its namespace.
        namespace: its namespace.
        desired: how many of them must be healthy.
        computed: the same by the spec and the pods that are expected, whatever the status of the budget says.
        margin: how many more than that are; below 0 where too few are.
        healthy: the healthy pods, by key.
        lenient: pods that are not healthy may go whatever it allows (``unhealthyPodEvictionPolicy: AlwaysAllow``).
        spent: how many evictions it has allowed.
    """

    key: str
    name: str
    query: LabelQuery
    namespace: str
    desired: int
    computed: int
    margin: int
    healthy: set[str]
    lenient: bool
    spent: int = 0

    @property
    def disruptions_allowed(self) -> int:
        """How many pods may go now."""
        return max(0, self.margin)

    @property
    def cause(self) -> str:
        """Why it allows no eviction, in the words of the API server."""
        healthy = self.desired + self.margin
        return f"The disruption budget {self.name} needs {self.desired} healthy pods and has {healthy} currently"

    def selects(self, info: PodInfo) -> bool:
        """Return whether it is about a pod."""
        return info.namespace == self.namespace and self.query.matches(info.labels)


class RefusedEviction(msgspec.Struct, frozen=True):
    """An eviction that the API server refuses.

    Attributes:
        budget: the key of the budget, "" where several select the pod.
        message: its answer.
        cause: what it adds, "" for nothing.
        lasting: whether trying again is in vain.
    """

    budget: str
    message: str
    cause: str = ""
    lasting: bool = False


class Budgets(msgspec.Struct):
    """The books of all budgets of a cluster.

    Attributes:
        books: one for each budget whose selector can be read, by key.
    """

    books: dict[str, BudgetState] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> Budgets:
        """Return the books as a cluster's budgets stand."""
        budgets = cls()
        for key, budget in sorted(cluster.every(PodDisruptionBudget).items()):
            try:
                query = compile_selector(budget.spec.selector)
            except SelectorError:
                continue
            namespace = budget.metadata.namespace
            pods = _select_pods(cluster, query, namespace)
            healthy = {info.key for info in pods if _is_healthy(info)}
            computed, expected = _pods_desired_and_expected(budget, cluster, pods)
            desired, margin = _margin(budget, computed, expected, healthy)
            lenient = budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
            budgets.books[key] = BudgetState(
                key, budget.metadata.name, query, namespace, desired, computed, margin, healthy, lenient
            )
        return budgets

    def recount(self, cluster: Cluster) -> None:
        """Take note of a cluster that has been changed since, other than by evictions."""
        for key, book in self.books.items():
            budget = cluster.get(PodDisruptionBudget, key)
            if budget is None:
                continue
            pods = _select_pods(cluster, book.query, book.namespace)
            healthy = {info.key for info in pods if info.key in book.healthy or _is_healthy(info)}
            if healthy != book.healthy:
                book.margin += len(healthy) - len(book.healthy)
                book.healthy = healthy
            computed, _ = _pods_desired_and_expected(budget, cluster, pods)
            more, book.computed = computed - book.computed, computed
            book.desired += more
            book.margin -= more

    def books_of(self, info: PodInfo) -> list[BudgetState]:
        """Return the budgets that select a pod."""
        return [book for book in self.books.values() if book.selects(info)]

    def evict(self, info: PodInfo) -> RefusedEviction | None:
        """Request the eviction of a pod; it counts as gone unless the answer says why it cannot go."""
        books = self.books_of(info)
        if not books or info.is_terminating:
            return None
        # the books know better than the phase: a pod that the run has placed is healthy, and its phase still Pending
        is_healthy = any(info.key in book.healthy for book in books)
        if not is_healthy and info.pod.status.phase == "Pending":
            return None
        if len(books) > 1:
            return RefusedEviction("", SEVERAL, lasting=True)
        book = books[0]
        # by default (IfHealthyBudget) a pod that is not healthy may go while enough of the others are
        if not is_healthy and (book.lenient or (book.margin >= 0 and book.desired > 0)):
            return None
        if not book.disruptions_allowed:
            return RefusedEviction(book.key, VIOLATES, book.cause)
        book.spent += 1
        self.note_gone(info)
        return None

    def note_gone(self, info: PodInfo) -> None:
        """Take note that a pod has been told to go, or is gone."""
        for book in self.books_of(info):
            if info.key in book.healthy:
                book.healthy.discard(info.key)
                book.margin -= 1

    def note_running(self, info: PodInfo) -> None:
        """Take note that a pod runs."""
        for book in self.books_of(info):
            if info.key not in book.healthy:
                book.healthy.add(info.key)
                book.margin += 1


def _select_pods(cluster: Cluster, query: LabelQuery, namespace: str) -> list[PodInfo]:
    table = cluster.pod_table
    running = table.infos[table.select(query, (namespace,))].tolist()
    waiting = [i for i in cluster.pending.values() if i.namespace == namespace and query.matches(i.labels)]
    return [*running, *waiting]


def _is_healthy(info: PodInfo) -> bool:
    """Return whether a pod runs and is ready; one about whose readiness nothing is said is taken to be."""
    if info.is_terminating or not info.pod.spec.node_name or info.pod.status.phase == "Pending":
        return False
    ready = [condition.status for condition in info.pod.status.conditions or () if condition.type == "Ready"]
    return ready in ([], ["True"])


def _has_status(budget: PodDisruptionBudget) -> bool:
    """Return whether the controller has written the budget's status."""
    return budget.status != PodDisruptionBudgetStatus()


def _margin(budget: PodDisruptionBudget, desired: int, expected: int, healthy: set[str]) -> tuple[int, int]:
    """Return how many pods must be healthy, and how many more are."""
    status = budget.status
    if not _has_status(budget):
        # as the disruption controller has it: where no pods are expected, none may be disrupted
        return desired, len(healthy) - desired if expected > 0 else min(0, len(healthy) - desired)
    if not (status.current_healthy or status.desired_healthy):  # only what is allowed is known, so that counts
        return len(healthy) - status.disruptions_allowed, status.disruptions_allowed
    margin = status.current_healthy - status.desired_healthy
    # the API server takes each eviction off what is allowed before the controller counts anew
    return status.desired_healthy, status.disruptions_allowed if margin >= 0 else margin


def _pods_desired_and_expected(
    budget: PodDisruptionBudget, cluster: Cluster, pods: Iterable[PodInfo]
) -> tuple[int, int]:
    """Return how many pods a spec wants healthy, and how many pods there are to be."""
    spec, pods = budget.spec, list(pods)
    if spec.max_unavailable is not None:
        expected = _expected_pods(pods, cluster)
        return max(0, expected - _scaled_value(spec.max_unavailable, expected)), expected
    if spec.min_available is None:
        return 0, 0
    expected = len(pods) if isinstance(spec.min_available, int) else _expected_pods(pods, cluster)
    return _scaled_value(spec.min_available, expected), expected


def _scaled_value(value: int | str, total: int) -> int:
    """Return a number of pods, or the percentage of a total, rounded up."""
    if isinstance(value, int):
        return value
    percent = value.removesuffix("%")
    return -(-total * int(percent) // 100) if percent.isdecimal() else 0


def _expected_pods(pods: Iterable[PodInfo], cluster: Cluster) -> int:
    """Return how many pods the controllers of some pods want; one that is not in the cluster wants those it has."""
    scales: dict[tuple[str, str], int] = {}
    for info in pods:
        scale = _scale(info.pod, cluster)
        if scale is None:
            continue
        who, number = scale
        scales[who] = scales.get(who, 0) + 1 if number is None else number
    return sum(scales.values())


def _scale(pod: Pod, cluster: Cluster) -> tuple[tuple[str, str], int | None] | None:
    """Return who scales a pod, a Deployment rather than its ReplicaSet, and to how many."""
    owner = controller_of(pod)
    if owner is None or owner.kind == "Node":  # a static pod: the kubelet runs it itself
        return None
    kind, name = owner.kind, owner.name
    obj: Any = cluster.get(_SCALES[kind], f"{pod.metadata.namespace}/{name}") if kind in _SCALES else None
    if obj is not None and isinstance(obj, ReplicaSet):
        for above in obj.metadata.owner_references or ():
            if above.controller and above.kind == "Deployment":
                kind, name = above.kind, above.name
                obj = cluster.get(Deployment, f"{pod.metadata.namespace}/{name}") or obj
    if obj is None:
        return (kind, name), None
    return (kind, name), 1 if obj.spec.replicas is None else obj.spec.replicas
