"""A pod as the scheduler carries it around: the object, and what is read from it again and again.

`PodInfo` is made once for each pod, running or pending; its fields are computed when first read, since most running
pods have neither ports nor affinity. Inter-pod affinity terms come parsed, with the namespace of the pod that owns
them filled in (upstream's ``framework.PodInfo``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from schedctl.api import resources
from schedctl.api.pods import Pod, PodAffinityTerm
from schedctl.api.resources import NEWEST_RULES, Demand, RequestRules, Requests
from schedctl.api.selectors import LabelQuery, compile_selector

_NO_LABELS: Mapping[str, str] = {}


class HostPort(NamedTuple):
    """A port of the node itself that a pod takes; an empty address means all, which is ``0.0.0.0``."""

    ip: str
    protocol: str
    port: int


class AffinityTerm(NamedTuple):
    """A parsed inter-pod affinity term.

    Attributes:
        selector: the pods it is about, by label.
        namespaces: the namespaces they are in, by name.
        namespace_selector: and by label; `NOTHING` when the term has none.
        topology_key: the node label whose value is the domain.
    """

    selector: LabelQuery
    namespaces: frozenset[str]
    namespace_selector: LabelQuery
    topology_key: str

    def matches(
        self, namespace: str, namespace_labels: Mapping[str, str] | None, labels: Mapping[str, str] | None
    ) -> bool:
        """Return whether the term is about a pod in this namespace with these labels."""
        named = namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        return named and self.selector.matches(labels)

    def concerns(
        self, namespace: str, labels: Mapping[str, str], namespace_labels: Callable[[], Mapping[str, str] | None]
    ) -> bool:
        """Return whether the term is about a pod.

        The labels of its namespace are looked up for a term alone that selects by them and is about the pod otherwise.
        """
        selector = self.namespace_selector
        if namespace in self.namespaces or selector.everything or selector.nothing:
            return self.matches(namespace, None, labels)
        return self.selector.matches(labels) and selector.matches(namespace_labels())


class WeightedTerm(NamedTuple):
    """A preferred inter-pod affinity term, weight 1 to 100."""

    term: AffinityTerm
    weight: int


class PodInfo:
    """One pod with its derived facts. Two infos are equal only when they are the same object.

    Attributes:
        pod: the Kubernetes object.
        key: ``namespace/name``.
        uid: the pod's uid, or its key where it has none.
        labels: never None.
        priority: 0 where the pod states none.
        is_terminating: whether the pod is on its way out.
        equal: a pod that takes the same of a node, from which this one has its demand; None where none is known.
    """

    # the dictionary is for cached properties, and is only made for pods of which one is asked for
    __slots__ = (
        "__dict__",
        "_demand",
        "_rules",
        "equal",
        "is_terminating",
        "key",
        "labels",
        "namespace",
        "pod",
        "priority",
        "uid",
    )

    def __init__(self, pod: Pod) -> None:
        metadata = pod.metadata
        self.pod = pod
        self.namespace = metadata.namespace
        self.key = f"{metadata.namespace}/{metadata.name}"
        self.uid = metadata.uid or self.key
        self.labels = metadata.labels or _NO_LABELS
        self.priority = pod.spec.priority or 0
        self.is_terminating = metadata.deletion_timestamp is not None
        self._demand: Demand | None = None
        self._rules = NEWEST_RULES
        self.equal: PodInfo | None = None

    def __repr__(self) -> str:
        return f"PodInfo({self.key})"

    def as_now(self, pod: Pod) -> PodInfo:
        """Return the same pod after a change that leaves its labels, priority, requests and terms as they are."""
        now = PodInfo(pod)
        now._demand, now._rules, now.equal = self._demand, self._rules, self.equal
        if self.__dict__:
            now.__dict__.update(self.__dict__)
        return now

    @cached_property
    def pod_group(self) -> str:
        """``namespace/name`` of the pod group it says it is of, "" for none."""
        group = self.pod.spec.scheduling_group
        return f"{self.namespace}/{group.pod_group_name}" if group is not None and group.pod_group_name else ""

    @property
    def resize_is_deferred(self) -> bool:
        """Whether it runs, and the kubelet has put off a resize until there is room."""
        return resources.pending_resize(self.pod.status) == "Deferred"

    @property
    def demand(self) -> Demand:
        """What the pod asks for, in each of the ways the scheduler counts it; pods written alike share one.

        Every running pod is asked for it, so it has a slot: a dictionary each would take more than the pod.
        """
        known = self._demand
        if known is None:
            known = self._demand = resources.demand_of(self.pod, self._rules)
        return known

    def count_by(self, rules: RequestRules) -> PodInfo:
        """Have the pod's requests added up by the rules of the cluster it is about; return the pod."""
        if rules != self._rules:
            self._rules, self._demand, self.equal = rules, None, None
        return self

    def take_demand(self, other: PodInfo) -> None:
        """Take over what a pod that is written alike asks for, if it is known by the same rules."""
        if other._demand is not None and other._rules == self._rules:
            self._demand, self.equal = other._demand, other.equal or other

    @property
    def requests(self) -> Requests:
        """What the pod takes from a node it runs on."""
        return self.demand.requests

    @property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The host ports of containers and sidecars, in the order of upstream: sidecars first."""
        spec = self.pod.spec
        if not spec.init_containers:  # nearly all pods, asked at every placement: nothing is built for them
            for container in spec.containers or ():
                if container.ports:
                    break
            else:
                return ()
        containers = [c for c in spec.init_containers or () if c.restart_policy == "Always"]
        containers += spec.containers or ()
        return tuple(
            HostPort(port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
            for container in containers
            for port in container.ports or ()
            if port.host_port > 0
        )

    @cached_property
    def required_affinity(self) -> tuple[AffinityTerm, ...]:
        """The terms of ``podAffinity`` that must hold."""
        affinity = self.pod.spec.affinity and self.pod.spec.affinity.pod_affinity
        terms = affinity.required_during_scheduling_ignored_during_execution if affinity else None
        return tuple(self.parse(term) for term in terms or ())

    @cached_property
    def required_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """The terms of ``podAntiAffinity`` that must not be met."""
        affinity = self.pod.spec.affinity and self.pod.spec.affinity.pod_anti_affinity
        terms = affinity.required_during_scheduling_ignored_during_execution if affinity else None
        return tuple(self.parse(term) for term in terms or ())

    @cached_property
    def preferred_affinity(self) -> tuple[WeightedTerm, ...]:
        """The weighted terms of ``podAffinity``."""
        affinity = self.pod.spec.affinity and self.pod.spec.affinity.pod_affinity
        terms = affinity.preferred_during_scheduling_ignored_during_execution if affinity else None
        return tuple(WeightedTerm(self.parse(t.pod_affinity_term), t.weight) for t in terms or ())

    @cached_property
    def preferred_anti_affinity(self) -> tuple[WeightedTerm, ...]:
        """The weighted terms of ``podAntiAffinity``."""
        affinity = self.pod.spec.affinity and self.pod.spec.affinity.pod_anti_affinity
        terms = affinity.preferred_during_scheduling_ignored_during_execution if affinity else None
        return tuple(WeightedTerm(self.parse(t.pod_affinity_term), t.weight) for t in terms or ())

    def parse(self, term: PodAffinityTerm) -> AffinityTerm:
        """Return a term of this pod, which is about the pod's own namespace when it names none.

        ``matchLabelKeys`` play no part: the API server merges them into the selector when the pod is created.

        Raises:
            ValueError: a selector has an unknown operator or the wrong number of values.
        """
        namespaces = frozenset(term.namespaces or ())
        if not namespaces and term.namespace_selector is None:
            namespaces = frozenset((self.namespace,))
        return AffinityTerm(
            compile_selector(term.label_selector),
            namespaces,
            compile_selector(term.namespace_selector),
            term.topology_key,
        )
