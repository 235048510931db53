"""Where the pods are that a rule of topology counts, by domain, and the domains that it leaves to the next pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

import msgspec

from schedctl.api.nodes import Taint
from schedctl.api.pods import Toleration
from schedctl.api.selectors import LabelQuery
from schedctl.api.tolerations import tolerates
from schedctl.api.topology import HOSTNAME
from schedctl.simulation.karpenter.value_sets import ANY, NONE, Requirements, ValueSet, conflict
from schedctl.simulation.karpenter.waiting_pods import WaitingPod

_HONOR = "Honor"


class Rule(Enum):
    """What a group of pods is counted for."""

    SPREAD = "topology spread"
    AFFINITY = "pod affinity"
    ANTI_AFFINITY = "pod anti-affinity"


def tolerated(taints: Iterable[Taint] | None, tolerations: Sequence[Toleration]) -> bool:
    """Return whether tolerations cover all taints; PreferNoSchedule is as hard as the others to Karpenter."""
    return all(any(tolerates(each, taint, compares=True) for each in tolerations) for taint in taints or ())


class NodeFilter(msgspec.Struct, frozen=True):
    """Which nodes a constraint of topology spread counts.

    Attributes:
        terms: what the pod asks of nodes, one of them.
        tolerations: those of the pod.
        honors_terms: whether nodes have to meet them; every node counts else.
        honors_taints: whether the pod has to tolerate the taints of nodes that count.
    """

    terms: tuple[Requirements, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    honors_terms: bool = False
    honors_taints: bool = False

    def matches(self, taints: Iterable[Taint] | None, requirements: Requirements) -> bool:
        """Return whether a node counts."""
        if self.honors_terms and self.terms and all(conflict(requirements, term) for term in self.terms):
            return False
        return not self.honors_taints or tolerated(taints, self.tolerations)

    @property
    def identity(self) -> object:
        """What is equal for filters that Karpenter takes for one, also where they count the same nodes.

        A pod that is made to tolerate more begins a count of its own, without the pods of the round.
        """
        terms = frozenset(frozenset(term.items()) for term in self.terms)
        return terms, frozenset(self.tolerations), self.honors_terms, self.honors_taints


EVERY_NODE = NodeFilter()


def node_filter(pod: WaitingPod, affinity_policy: str | None, taints_policy: str | None) -> NodeFilter:
    """Return the nodes that a constraint of a pod counts."""
    honors_terms = (affinity_policy or _HONOR) == _HONOR
    return NodeFilter(pod.node_terms, pod.tolerations, honors_terms, taints_policy == _HONOR)


class TopologyGroup(msgspec.Struct):
    """The pods that a rule selects, by domain.

    Attributes:
        rule: what they are counted for.
        key: the label whose value is the domain.
        selects: the pods by label.
        namespaces: and by namespace.
        max_skew: of topology spread.
        min_domains: of topology spread, None for none.
        nodes: which nodes count.
        domains: how many pods are in each domain.
        empty: the domains of which it is known that no pod is in them.
        owners: the pods that have the rule.
    """

    rule: Rule
    key: str
    selects: LabelQuery
    namespaces: frozenset[str]
    max_skew: int = 0
    min_domains: int | None = None
    nodes: NodeFilter = EVERY_NODE
    domains: dict[str, int] = msgspec.field(default_factory=dict)
    empty: set[str] = msgspec.field(default_factory=set)
    owners: set[str] = msgspec.field(default_factory=set)

    @property
    def identity(self) -> object:
        """What is equal for rules that are counted together; minDomains is not part of it."""
        return self.rule, self.key, self.selects, self.namespaces, self.max_skew, self.nodes.identity

    def register(self, domain: str) -> None:
        """Note that there is a domain."""
        if domain not in self.domains:
            self.domains[domain] = 0
            self.empty.add(domain)

    def record(self, domains: Iterable[str], pods: int = 1) -> None:
        """Count pods in domains."""
        for domain in domains:
            self.domains[domain] = self.domains.get(domain, 0) + pods
            self.empty.discard(domain)

    def is_about(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Return whether the rule selects a pod."""
        return namespace in self.namespaces and self.selects.matches(labels)

    def counts(self, pod: WaitingPod, taints: Iterable[Taint] | None, requirements: Requirements) -> bool:
        """Return whether a pod counts on a node."""
        return self.is_about(pod.info.namespace, pod.info.labels) and self.nodes.matches(taints, requirements)

    def domains_for(self, pod: WaitingPod, of_pod: ValueSet, of_node: ValueSet) -> ValueSet:
        """Return the domains that the rule leaves to a pod on a node; `NONE` for none.

        Args:
            pod: the pod.
            of_pod: those that the pod asks for.
            of_node: those that the node may be in.
        """
        match self.rule:
            case Rule.SPREAD:
                return self._least_domain(pod, of_pod, of_node)
            case Rule.AFFINITY:
                return self._company(pod, of_pod, of_node)
        return self._empty_domains(of_pod, of_node)

    def _selects(self, pod: WaitingPod) -> bool:
        return self.is_about(pod.info.namespace, pod.info.labels)

    def _least_domain(self, pod: WaitingPod, of_pod: ValueSet, of_node: ValueSet) -> ValueSet:
        """Return the emptiest domain that keeps the skew; among equals Karpenter takes any, schedctl the first."""
        itself = 1 if self._selects(pod) else 0
        if self.key == HOSTNAME and len(of_node.values) == 1:
            # a new node can always be had, so that the least count is 0
            host = next(iter(of_node.values))
            fits = self.domains.get(host, 0) + itself <= self.max_skew
            return ValueSet(frozenset((host,))) if fits else NONE
        least = self._least_count(of_pod)
        best, best_count = "", 0
        names = of_node.values & self.domains.keys() if of_node.is_list else self.domains.keys()
        for domain in sorted(names):
            if not of_node.allows(domain):
                continue
            count = self.domains[domain] + itself
            if count - least <= self.max_skew and (not best or count < best_count):
                best, best_count = domain, count
        return ValueSet(frozenset((best,))) if best else NONE

    def _least_count(self, of_pod: ValueSet) -> int:
        if self.key == HOSTNAME:
            return 0
        found = [count for domain, count in self.domains.items() if of_pod.allows(domain)]
        if self.min_domains is not None and len(found) < self.min_domains:
            return 0
        return min(found, default=0)

    def _company(self, pod: WaitingPod, of_pod: ValueSet, of_node: ValueSet) -> ValueSet:
        """Return the domains that have a pod, or where none has, one in which the pod may be the first of its kind."""
        may_be_first = self._selects(pod) and (
            len(self.domains) == len(self.empty) or not any(n for d, n in self.domains.items() if of_pod.allows(d))
        )
        if self.key == HOSTNAME and len(of_node.values) == 1:
            host = next(iter(of_node.values))
            fits = of_pod.allows(host) and (self.domains.get(host, 0) > 0 or may_be_first)
            return ValueSet(frozenset((host,))) if fits else NONE
        both = [each for each in sorted(self.domains) if of_pod.allows(each) and of_node.allows(each)]
        found = [each for each in both if self.domains[each]]
        if not found and may_be_first:
            others = [each for each in sorted(self.domains) if of_pod.allows(each)]
            found = both[:1] or others[:1]
        return ValueSet(frozenset(found))

    def _empty_domains(self, of_pod: ValueSet, of_node: ValueSet) -> ValueSet:
        """Return the domains without a pod that the rule is about."""
        if self.key == HOSTNAME and len(of_node.values) == 1:
            host = next(iter(of_node.values))
            return NONE if self.domains.get(host, 0) else ValueSet(frozenset((host,)))
        return ValueSet(frozenset(each for each in self.empty if of_node.allows(each) and of_pod.allows(each)))


def domains_of(requirements: Requirements, key: str) -> ValueSet:
    """Return the values that a label may have, any where nothing is required."""
    return requirements.get(key, ANY)
