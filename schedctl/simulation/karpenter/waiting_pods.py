"""A pod as Karpenter sees it: preferences are requirements until they are in the way, then they go one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from schedctl.api.pods import NodeSelectorRequirement, NodeSelectorTerm, Toleration, TopologySpreadConstraint
from schedctl.api.resources import PODS
from schedctl.api.tolerations import PREFER_NO_SCHEDULE
from schedctl.cache.pod_info import AffinityTerm, HostPort, PodInfo
from schedctl.simulation.karpenter.value_sets import Requirements, ValueSet, narrow, of_labels, value_set

_PREFER = Toleration(operator="Exists", effect=PREFER_NO_SCHEDULE)
_SOFT = "ScheduleAnyway"


@dataclass(frozen=True)
class WaitingPod:
    """A pod that Karpenter has to find a node for.

    Attributes:
        info: the pod.
        required_terms: the terms of required node affinity, of which Karpenter takes the first that is left.
        preferred_terms: those preferred, the heaviest first.
        affinity, preferred_affinity: the terms about the company of other pods, required and preferred.
        anti_affinity, preferred_anti_affinity: those about their absence.
        spread: the constraints of topology spread.
        tolerations: what it tolerates.
        volumes: what its volumes require of a node, for each.
    """

    info: PodInfo
    required_terms: tuple[NodeSelectorTerm, ...] = ()
    preferred_terms: tuple[NodeSelectorTerm, ...] = ()
    affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_anti_affinity: tuple[AffinityTerm, ...] = ()
    spread: tuple[TopologySpreadConstraint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    volumes: Requirements | None = None

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.info.key

    @cached_property
    def requests(self) -> dict[str, int]:
        """What it takes of a node, ``pods`` among it."""
        return {**{name: amount for name, amount in self.info.demand.fit_requests.items() if amount}, PODS: 1}

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The ports that it takes of a node; Karpenter does not look at those of sidecars."""
        names = {port.host_port for each in self.info.pod.spec.containers or () for port in each.ports or ()}
        return tuple(each for each in self.info.host_ports if each.port in names)

    @cached_property
    def strict_requirements(self) -> Requirements:
        """What its node selector and required affinity ask of a node."""
        found = of_labels(self.info.pod.spec.node_selector)
        return narrow(found, _expressions(self.required_terms[:1]))

    @cached_property
    def requirements(self) -> Requirements:
        """The same, and the heaviest preference."""
        if not self.preferred_terms:
            return self.strict_requirements
        found = narrow(of_labels(self.info.pod.spec.node_selector), _expressions(self.preferred_terms[:1]))
        return narrow(found, _expressions(self.required_terms[:1]))

    @cached_property
    def node_terms(self) -> tuple[Requirements, ...]:
        """What nodes have to meet that count for topology spread: one of these."""
        selector = of_labels(self.info.pod.spec.node_selector)
        if not self.required_terms:
            return (selector,)
        return tuple(narrow(selector, _expressions((term,))) for term in self.required_terms)

    def relax(self, *, tolerate: bool) -> tuple[WaitingPod, str] | None:
        """Return the pod without the next of its preferences, and which that was; None where none is left.

        Args:
            tolerate: whether taints of effect PreferNoSchedule may be tolerated in the end.
        """
        if len(self.required_terms) > 1:
            return replace(self, required_terms=self.required_terms[1:]), "a term of required node affinity"
        if self.preferred_affinity:
            return replace(self, preferred_affinity=self.preferred_affinity[1:]), "a preferred pod affinity"
        if self.preferred_anti_affinity:
            less = replace(self, preferred_anti_affinity=self.preferred_anti_affinity[1:])
            return less, "a preferred pod anti-affinity"
        if self.preferred_terms:
            return replace(self, preferred_terms=self.preferred_terms[1:]), "a preferred node affinity"
        for at, each in enumerate(self.spread):
            if each.when_unsatisfiable == _SOFT:
                others = list(self.spread)
                others[at] = others[-1]  # the last one takes its place, so that it is the next to go
                text = f"topology spread over {each.topology_key} (ScheduleAnyway)"
                return replace(self, spread=tuple(others[:-1])), text
        if tolerate and not any(_is_prefer(each) for each in self.tolerations):
            return replace(self, tolerations=(*self.tolerations, _PREFER)), "taints of effect PreferNoSchedule"
        return None


def waiting_pod(info: PodInfo, volumes: Requirements | None = None) -> WaitingPod:
    """Return a pod as Karpenter first sees it."""
    spec = info.pod.spec
    node_affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = node_affinity.required_during_scheduling_ignored_during_execution if node_affinity else None
    preferred = node_affinity.preferred_during_scheduling_ignored_during_execution if node_affinity else None
    return WaitingPod(
        info,
        tuple((required.node_selector_terms if required is not None else None) or ()),
        tuple(each.preference for each in sorted(preferred or (), key=lambda each: -each.weight)),
        info.required_affinity,
        tuple(each.term for each in sorted(info.preferred_affinity, key=lambda each: -each.weight)),
        info.required_anti_affinity,
        tuple(each.term for each in sorted(info.preferred_anti_affinity, key=lambda each: -each.weight)),
        tuple(spec.topology_spread_constraints or ()),
        tuple(spec.tolerations or ()),
        volumes,
    )


def _expressions(terms: Sequence[NodeSelectorTerm]) -> Iterable[tuple[str, ValueSet]]:
    """Yield what terms require of labels; those about fields are nothing to Karpenter."""
    for term in terms:
        yield from (_expression(each) for each in term.match_expressions or ())


def _expression(written: NodeSelectorRequirement) -> tuple[str, ValueSet]:
    return written.key, value_set(written.operator, written.values)


def _is_prefer(toleration: Toleration) -> bool:
    same = (toleration.key, toleration.value) == ("", "") and toleration.effect == PREFER_NO_SCHEDULE
    return same and toleration.operator == "Exists"
