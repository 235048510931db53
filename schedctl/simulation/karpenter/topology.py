"""Topology spread and inter-pod affinity as Karpenter keeps them: groups of pods that one rule counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schedctl.api.node_labels import KARPENTER_POOL
from schedctl.api.nodes import Taint
from schedctl.api.pods import TopologySpreadConstraint
from schedctl.api.selectors import LabelQuery, Requirement, compile_selector
from schedctl.api.topology import HOSTNAME
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.simulation.karpenter.models import Model, ModelNode
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

    def __init__(self, model: Model, nodes: Sequence[ModelNode], pods: Iterable[WaitingPod]) -> None:
        self._model = model
        self._nodes = nodes
        self._domains = _domains(model)
        self._groups: dict[object, TopologyGroup] = {}
        self._inverse: dict[object, TopologyGroup] = {}
        waiting = list(pods)
        self._waiting = {pod.key for pod in waiting}
        for node in model.nodes.values():
            for info in node.pods:
                if info.required_anti_affinity and info.key not in self._waiting:
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

    def register(self, host: str) -> None:
        """Note that there is a node."""
        for group in (*self._groups.values(), *self._inverse.values()):
            if group.key == HOSTNAME:
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
        namespaces = term.namespaces | self._model.namespaces_of(term.namespace_selector)
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
        for domain, taints in sorted(self._domains.get(key, {}).items()):
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
        """Count the pods that run already."""
        for node in self._nodes:
            if node.exists and group.key in node.labels and group.nodes.matches(node.taints, node.requirements):
                group.register(node.labels[group.key])
        for node in self._model.nodes.values():
            domain = node.labels.get(group.key, node.name if group.key == HOSTNAME else "")
            if not domain or not group.nodes.matches(node.taints, node.requirements):
                continue
            for info in node.pods:
                if info.key in self._waiting or info.is_terminating:
                    continue
                if group.is_about(info.namespace, info.labels):
                    group.record((domain,))


def _selector(constraint: TopologySpreadConstraint, info: PodInfo) -> LabelQuery:
    """Return the pods that a constraint counts; an equal revision is asked for where it says so."""
    found = compile_selector(constraint.label_selector)
    revision = [
        Requirement(key, "In", frozenset((info.labels[key],)))
        for key in constraint.match_label_keys or ()
        if key in info.labels
    ]
    return found.also(*(each for each in revision if each not in found.requirements))


def _domains(model: Model) -> dict[str, dict[str, list[Sequence[Taint]]]]:
    """Return the domains that new nodes may be in, by label, and the taints of the pools that have them."""
    found: dict[str, dict[str, list[Sequence[Taint]]]] = {}

    def insert(requirements: Requirements, taints: Sequence[Taint], *, listed: bool) -> None:
        for key, values in requirements.items():
            if key == KARPENTER_POOL or (listed and not values.is_list):
                continue
            for value in values.values:
                known = found.setdefault(key, {}).setdefault(value, [])
                if not taints:
                    known[:] = [()]
                elif () not in known:
                    known.append(taints)

    for pool in model.pools:
        for each in pool.known_types:
            insert(narrow(pool.requirements, each.requirements.items()), pool.taints, listed=False)
        insert(pool.requirements, pool.taints, listed=True)
    return found
