"""Topology spread and inter-pod affinity as Karpenter keeps them: groups of pods that one rule counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schedctl.api.nodes import Taint
from schedctl.api.pods import TopologySpreadConstraint
from schedctl.api.selectors import LabelQuery, Requirement, compile_selector
from schedctl.api.topology import HOSTNAME
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.simulation.karpenter.pod_counts import PodCounts, count
from schedctl.simulation.karpenter.topology_groups import (
    Rule,
    TopologyGroup,
    domains_of,
    node_filter,
    tolerated,
)
from schedctl.simulation.karpenter.value_sets import ANY, Requirements, narrow
from schedctl.simulation.karpenter.waiting_pods import WaitingPod, waiting_pod


class Topology:
    """The groups that matter to pods that wait."""

    def __init__(self, counts: PodCounts, pods: Iterable[WaitingPod], without: Iterable[str] = ()) -> None:
        self._counts = counts
        self._gone = [counts.model.nodes[name] for name in without]
        self._groups: dict[object, TopologyGroup] = {}
        self._inverse: dict[object, TopologyGroup] = {}
        waiting = list(pods)
        self._waiting = {pod.key for pod in waiting}
        for node, info in counts.repelling:
            if info.key not in self._waiting:
                self._track_inverse(waiting_pod(info), node.labels)
        for pod in waiting:
            self.update(pod)

    def update(self, pod: WaitingPod) -> None:
        """Have a pod own the groups that its rules ask for now, and no others."""
        for group in self._groups.values():
            group.owners.discard(pod.key)
        if pod.anti_affinity or pod.preferred_anti_affinity:
            self._track_inverse(pod, {})
        for group in (*self._of_spread(pod), *self._of_affinities(pod)):
            known = self._groups.get(group.identity)
            if known is None:
                self._count(group)
                known = self._groups[group.identity] = group
            known.owners.add(pod.key)

    def register(self, *hosts: str) -> None:
        """Note that there are nodes."""
        for group in (*self._groups.values(), *self._inverse.values()):
            if group.key == HOSTNAME:
                for host in hosts:
                    group.register(host)

    def narrow(
        self, pod: WaitingPod, taints: Iterable[Taint] | None, requirements: Requirements
    ) -> Requirements | TopologyGroup:
        """Return requirements of a node with the domains that rules leave to a pod, or the rule that leaves none."""
        found: Requirements = requirements
        for group in self._matching(pod, taints, requirements):
            of_pod = pod.strict_requirements.get(group.key, ANY)
            domains = group.domains_for(pod, of_pod, domains_of(requirements, group.key))
            if not domains.values:
                return group
            found = narrow(found, ((group.key, domains),))
        return found

    def record(self, pod: WaitingPod, taints: Iterable[Taint] | None, requirements: Requirements) -> None:
        """Count a pod that was placed on a node."""
        for group in self._groups.values():
            if not group.counts(pod, taints, requirements):
                continue
            domains = domains_of(requirements, group.key)
            if group.rule is Rule.ANTI_AFFINITY:
                group.record(domains.values)  # wherever it may come to be
            elif domains.only is not None:
                group.record((domains.only,))
        for group in self._inverse.values():
            if pod.key in group.owners:
                group.record(domains_of(requirements, group.key).values)

    def _matching(
        self, pod: WaitingPod, taints: Iterable[Taint] | None, requirements: Requirements
    ) -> Iterator[TopologyGroup]:
        for group in self._groups.values():
            if pod.key in group.owners:
                yield group
        for group in self._inverse.values():
            if group.counts(pod, taints, requirements):
                yield group

    # -- groups --------------------------------------------------------------------

    def _of_spread(self, pod: WaitingPod) -> Iterator[TopologyGroup]:
        for each in pod.spread:
            yield self._group(
                Rule.SPREAD,
                each.topology_key,
                pod,
                selects=_selector(each, pod.info),
                namespaces=frozenset((pod.info.namespace,)),
                constraint=each,
            )

    def _of_affinities(self, pod: WaitingPod) -> Iterator[TopologyGroup]:
        for term in (*pod.affinity, *pod.preferred_affinity):
            yield self._of_term(Rule.AFFINITY, term, pod)
        for term in (*pod.anti_affinity, *pod.preferred_anti_affinity):
            yield self._of_term(Rule.ANTI_AFFINITY, term, pod)

    def _of_term(self, rule: Rule, term: AffinityTerm, pod: WaitingPod) -> TopologyGroup:
        namespaces = term.namespaces | self._counts.model.namespaces_of(term.namespace_selector)
        return self._group(rule, term.topology_key, pod, selects=term.selector, namespaces=namespaces)

    def _group(
        self,
        rule: Rule,
        key: str,
        pod: WaitingPod,
        *,
        selects: LabelQuery,
        namespaces: frozenset[str],
        constraint: TopologySpreadConstraint | None = None,
    ) -> TopologyGroup:
        group = TopologyGroup(rule, key, selects, namespaces)
        if constraint is not None:
            group.max_skew, group.min_domains = constraint.max_skew, constraint.min_domains
            group.nodes = node_filter(pod, constraint.node_affinity_policy, constraint.node_taints_policy)
        for domain, taints in sorted(self._counts.domains.get(key, {}).items()):
            # domains that only nodes have whose taints the pod does not tolerate are none for it
            ignores = constraint is not None and not group.nodes.honors_taints
            if ignores or any(tolerated(each, pod.tolerations) for each in taints):
                group.register(domain)
        return group

    def _track_inverse(self, pod: WaitingPod, labels: Mapping[str, str]) -> None:
        """Note where pods are, or will be, that want no company of others."""
        for term in pod.anti_affinity:
            group = self._of_term(Rule.ANTI_AFFINITY, term, pod)
            known = self._inverse.setdefault(group.identity, group)
            if term.topology_key in labels:
                known.record((labels[term.topology_key],))
            known.owners.add(pod.key)

    def _count(self, group: TopologyGroup) -> None:
        """Count the pods that run already and do not wait."""
        found, gone = self._counts.of(group), count(group, self._gone, self._waiting)
        for domain, nodes in found.nodes.items():
            if nodes > gone.nodes[domain]:
                group.register(domain)
        for domain, pods in found.pods.items():
            if pods > gone.pods[domain]:
                group.record((domain,), pods - gone.pods[domain])


def _selector(constraint: TopologySpreadConstraint, info: PodInfo) -> LabelQuery:
    """Return the pods that a constraint counts; an equal revision is asked for where it says so."""
    found = compile_selector(constraint.label_selector)
    revision = [
        Requirement(key, "In", frozenset((info.labels[key],)))
        for key in constraint.match_label_keys or ()
        if key in info.labels
    ]
    return found.also(*(each for each in revision if each not in found.requirements))
