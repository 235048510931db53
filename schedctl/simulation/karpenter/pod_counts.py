"""How many pods of a model each rule of topology selects, by domain: counted once for all rounds about that model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import msgspec

from schedctl.api.node_labels import KARPENTER_POOL
from schedctl.api.nodes import Taint
from schedctl.api.topology import HOSTNAME
from schedctl.simulation.karpenter.models import Model, ModelNode
from schedctl.simulation.karpenter.topology_groups import TopologyGroup
from schedctl.simulation.karpenter.value_sets import Requirements, narrow


class DomainCounts(msgspec.Struct, frozen=True):
    """What a rule counts.

    Attributes:
        nodes: how many nodes that are there count, by domain.
        pods: how many pods that run it selects on nodes that count, by domain.
    """

    nodes: Counter[str] = msgspec.field(default_factory=Counter)
    pods: Counter[str] = msgspec.field(default_factory=Counter)


class PodCounts:
    """The counts of a model that stays as it is.

    Attributes:
        model: the model.
        domains: the domains that new nodes may be in, by label, and the taints of the pools that have them.
        repelling: the pods that want no company of others, with their nodes.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.domains = _domains(model)
        self.repelling = [
            (node, info) for node in model.nodes.values() for info in node.pods if info.required_anti_affinity
        ]
        self._known: dict[object, DomainCounts] = {}

    def of(self, group: TopologyGroup) -> DomainCounts:
        """Return what a rule counts of all nodes."""
        found = self._known.get(group.identity)
        if found is None:
            found = self._known[group.identity] = count(group, self.model.nodes.values())
        return found


def count(group: TopologyGroup, nodes: Iterable[ModelNode], only: Collection[str] | None = None) -> DomainCounts:
    """Return what a rule counts of some nodes.

    Args:
        group: the rule.
        nodes: the nodes.
        only: the keys of the pods that count, None for all.
    """
    found = DomainCounts()
    for node in nodes:
        domain = node.labels.get(group.key, node.name if group.key == HOSTNAME else "")
        if not domain or not group.nodes.matches(node.taints, node.requirements):
            continue
        if node.exists and group.key in node.labels:
            found.nodes[domain] += 1
        found.pods[domain] += sum(
            group.is_about(each.namespace, each.labels)
            for each in node.pods
            if not each.is_terminating and (only is None or each.key in only)
        )
    return found


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
