"""Which topology spread constraints a pod has: its own, or the cluster's defaults.

Defaults are for pods that bring no constraint at all. They have no selector of their own: the pods they count are those
that the pod's Services and its owning controller select (upstream's ``helper.DefaultSelector``), and a pod that nothing
selects gets none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from schedctl.api import meta, pods, selectors, topology, workloads
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.releases import Release

DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"
SYSTEM_DEFAULTS = (
    pods.TopologySpreadConstraint(max_skew=3, topology_key=topology.HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
    pods.TopologySpreadConstraint(max_skew=5, topology_key=topology.ZONE, when_unsatisfiable=SCHEDULE_ANYWAY),
)
"""The constraints of ``defaultingType: System``."""
GROUPING_KINDS = (workloads.Service, workloads.ReplicationController, workloads.ReplicaSet, workloads.StatefulSet)
"""The kinds that decide which pods a default constraint counts."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A topology spread constraint, its selector compiled.

    Attributes:
        topology_key: the node label whose values are the domains.
        selector: the pods that are counted.
        max_skew: by how many pods a domain may exceed the emptiest one.
        min_domains: with fewer domains than this the emptiest one counts as empty.
        honors_affinity: whether nodes the pod's own node affinity rules out are left out of the count.
        honors_taints: whether nodes with taints the pod does not tolerate are.
    """

    topology_key: str
    selector: selectors.LabelQuery
    max_skew: int
    min_domains: int
    honors_affinity: bool
    honors_taints: bool


def own_constraints(
    constraints: Iterable[pods.TopologySpreadConstraint], labels: Mapping[str, str], action: str, release: Release
) -> tuple[Constraint, ...]:
    """Return the constraints with this ``whenUnsatisfiable``, ``matchLabelKeys`` merged into their selectors.

    Where the API server has merged them when it created the pod, merging again changes nothing. Without the gate
    MatchLabelKeysInPodTopologySpread the keys are ignored.

    Raises:
        SelectorError: a label selector does not parse.
    """
    chosen = (constraint for constraint in constraints if constraint.when_unsatisfiable == action)
    keyed = labels if release.enabled("MatchLabelKeysInPodTopologySpread") else {}
    return tuple(_compile_constraint(constraint, _selector(constraint, keyed)) for constraint in chosen)


class DefaultConstraints:
    """The default constraints of a profile, with what is needed to find the pods they count."""

    def __init__(self, constraints: Sequence[pods.TopologySpreadConstraint], cluster: ClusterView) -> None:
        self._constraints = {
            action: own_constraints(constraints, {}, action, cluster.release)
            for action in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
        }
        self._cluster = cluster

    def __bool__(self) -> bool:
        return any(self._constraints.values())

    def of(self, pod: PodInfo, action: str) -> tuple[Constraint, ...]:
        """Return the default constraints of a pod with this ``whenUnsatisfiable``."""
        constraints = self._constraints[action]
        selector = self.selector(pod) if constraints else selectors.EVERYTHING
        if selector.everything:
            return ()
        return tuple(replace(constraint, selector=selector) for constraint in constraints)

    def selector(self, pod: PodInfo) -> selectors.LabelQuery:
        """Return what the pod's Services and its controller select, together; everything if there are none."""
        # as upstream merges them: of Services that select by one key the last wins, and the controller over them
        labels: dict[str, str] = {}
        for selected in self._services_of(pod):
            labels.update(selected)
        owner = meta.controller_of(pod.pod)
        requirements = selectors.EVERYTHING
        if owner is not None:
            key = f"{pod.namespace}/{owner.name}"
            match owner.api_version, owner.kind:
                case "v1", "ReplicationController":
                    controller = self._cluster.get(workloads.ReplicationController, key)
                    labels.update((controller and controller.spec.selector) or {})
                case "apps/v1", "ReplicaSet":
                    requirements = _lenient(self._cluster.get(workloads.ReplicaSet, key))
                case "apps/v1", "StatefulSet":
                    requirements = _lenient(self._cluster.get(workloads.StatefulSet, key))
        return selectors.compile_labels(labels).also(*requirements.requirements)

    def _services_of(self, pod: PodInfo) -> Iterable[Mapping[str, str]]:
        if not pod.labels:
            return
        services = self._cluster.derive(_services, workloads.Service)
        # a Service that selects the pod is filed under one of the pod's labels, so each is found once
        for key, value in pod.labels.items():
            for selector in services.get((pod.namespace, key, value), ()):
                if selector.items() <= pod.labels.items():
                    yield selector


def _services(cluster: ClusterView) -> dict[tuple[str, str, str], list[Mapping[str, str]]]:
    """Return the selectors of Services by namespace and the first of their labels; for `Cluster.derive`."""
    services: dict[tuple[str, str, str], list[Mapping[str, str]]] = {}
    for service in cluster.every(workloads.Service).values():
        if selector := service.spec.selector:
            first = next(iter(selector.items()))
            services.setdefault((service.metadata.namespace, *first), []).append(selector)
    return services


def _compile_constraint(constraint: pods.TopologySpreadConstraint, selector: selectors.LabelQuery) -> Constraint:
    return Constraint(
        topology_key=constraint.topology_key,
        selector=selector,
        max_skew=constraint.max_skew,
        min_domains=1 if constraint.min_domains is None else constraint.min_domains,
        # the defaults differ: affinity is honoured unless the constraint says Ignore, taints only if it says Honor
        honors_affinity=(constraint.node_affinity_policy or "Honor") == "Honor",
        honors_taints=constraint.node_taints_policy == "Honor",
    )


def _selector(constraint: pods.TopologySpreadConstraint, labels: Mapping[str, str]) -> selectors.LabelQuery:
    selector = selectors.compile_selector(constraint.label_selector)
    merged = {key: labels[key] for key in constraint.match_label_keys or () if key in labels}
    return selector.also(*selectors.compile_labels(merged).requirements) if merged else selector


def _lenient(owner: workloads.ReplicaSet | workloads.StatefulSet | None) -> selectors.LabelQuery:
    """Return an owner's selector, everything where it has none or one that does not parse."""
    try:
        selector = selectors.compile_selector(owner.spec.selector) if owner is not None else selectors.EVERYTHING
    except selectors.SelectorError:
        return selectors.EVERYTHING
    return selectors.EVERYTHING if selector.nothing else selector
