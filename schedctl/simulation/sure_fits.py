"""Pods of which it is certain that each finds a node, without placing them.

A pod that lands on a node changes what filters say of that node alone, unless somebody counts pods over domains, so k
such pods all fit, wherever they go, if each has k nodes to choose from before the first is placed. A DoNotSchedule
spread constraint lets a pod into the domain with the fewest pods: there, k nodes in every domain are enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import msgspec

from schedctl.api.pods import Pod, PodStatus
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.profiles import Profile
from schedctl.plugins.in_tree import plugins_of
from schedctl.scheduler import Scheduler

_SPREAD = "PodTopologySpread"
_DO_NOT_SCHEDULE = "DoNotSchedule"
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class _Choice:
    """The nodes that a pod has to choose from, as far as that is certain whatever becomes of others like these.

    Attributes:
        nodes: their names.
        key: the topology key of the one constraint that must hold, "" for none.
        domains: by domain of that key, how many of the nodes are in it; every domain that any node is in.
    """

    nodes: frozenset[str]
    key: str = ""
    domains: Counter[str] | None = None


class SureFits:
    """Knows of the pods of one cluster, as it was at first, what they have to choose from."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._known: dict[Hashable, _Choice | None] = {}
        self._domain_of: dict[str, dict[str, str]] = {}
        self._nodes_in: dict[str, Counter[str]] = {}
        in_tree = set(plugins_of(scheduler.cluster.release).values())
        # a rule of somebody else's, or one that waits or asks outside, may say anything
        self._plain = {
            name
            for name, profile in scheduler.profiles.items()
            if not (profile.extenders or profile.absent or profile.permit)
            and all(type(plugin) in in_tree for plugin in profile.plugins.values())
            and not _spreads_by_default(profile)
        }

    def all_fit(self, pods: Sequence[PodInfo], removed: Collection[str]) -> bool:
        """Return whether it is certain that running pods would all find another node once some nodes are gone.

        Args:
            pods: the pods, which run on these nodes and are made again; a profile serves each.
            removed: the nodes.
        """
        if self._scheduler.nominator or self._scheduler.cluster.missing:
            return False
        choices: dict[Hashable, _Choice] = {}
        for info in pods:
            if info.pod.spec.scheduler_name not in self._plain:
                return False
            pending = _without_node(info)
            key = self._scheduler.equivalence_key(pending)
            choice = self._choice(key, pending)
            if choice is None:
                return False
            choices[key] = choice
        return all(self._suffices(choice, len(pods), removed) for choice in choices.values())

    def _choice(self, key: Hashable | None, pod: PodInfo) -> _Choice | None:
        if key is None:
            return None
        if key not in self._known:
            self._known[key] = self._find(pod)
        return self._known[key]

    def _find(self, pod: PodInfo) -> _Choice | None:
        spec = pod.pod.spec
        if spec.resource_claims or any(each.ephemeral for each in spec.volumes or ()):
            return None  # the next pod gets claims of its own, whose devices and volumes others may take first
        if spec.scheduling_gates or spec.scheduling_group or pod.required_affinity or pod.required_anti_affinity:
            return None
        hard = [c for c in spec.topology_spread_constraints or () if c.when_unsatisfiable == _DO_NOT_SCHEDULE]
        if len(hard) > 1 or any((each.min_domains or 1) > 1 or each.max_skew < 1 for each in hard):
            return None
        profile = self._scheduler.profiles[spec.scheduler_name]
        others = [name for name in profile.plugins if name != _SPREAD]
        feasible = frozenset(self._scheduler.feasible_nodes(pod, plugins=others))
        if not hard:
            return _Choice(feasible)
        domain_of = self._domains(hard[0].topology_key)
        domains = Counter(dict.fromkeys(domain_of.values(), 0))
        domains.update(domain_of[name] for name in feasible if name in domain_of)
        return _Choice(feasible & domain_of.keys(), hard[0].topology_key, domains)

    def _suffices(self, choice: _Choice, pods: int, removed: Collection[str]) -> bool:
        if choice.domains is None:
            return len(choice.nodes) - sum(name in choice.nodes for name in removed) >= pods
        domain_of = self._domains(choice.key)
        left, nodes_left = choice.domains.copy(), self._nodes_in[choice.key].copy()
        for name in removed:
            domain = domain_of.get(name)
            if domain is not None:
                left[domain] -= name in choice.nodes
                nodes_left[domain] -= 1
        return any(nodes_left.values()) and all(
            left[domain] >= pods for domain, nodes in nodes_left.items() if nodes > 0
        )

    def _domains(self, key: str) -> dict[str, str]:
        """Return the domain of each node that has one."""
        table = self._scheduler.cluster.node_table
        found = self._domain_of.get(key)
        if found is None:
            labels = {name: table.objects[row].metadata.labels or {} for name, row in table.row_of.items()}
            found = self._domain_of[key] = {name: each[key] for name, each in labels.items() if key in each}
            self._nodes_in[key] = Counter(found.values())
        return found


def _without_node(info: PodInfo) -> PodInfo:
    """Return a running pod as its controller would make it again, but for its name."""
    pod: Pod = info.pod
    fresh = _replace(pod, spec=_replace(pod.spec, node_name=""), status=PodStatus(phase="Pending"))
    return info.as_now(fresh)


def _spreads_by_default(profile: Profile) -> bool:
    """Whether pods without constraints get some that must hold."""
    plugin = profile.plugins.get(_SPREAD)
    defaults = getattr(plugin.args, "default_constraints", ()) if plugin is not None else ()
    return any(each.when_unsatisfiable == _DO_NOT_SCHEDULE for each in defaults)
