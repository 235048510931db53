"""Pods of which it is certain that each finds a node, without placing them.

A pod that lands on a node changes what filters say of that node alone, unless somebody counts pods over domains of
several nodes, so k such pods all fit, wherever they go, if each has k nodes to choose from before the first is placed.
A DoNotSchedule spread constraint lets a pod into the domain with the fewest pods: there, k nodes in each are enough.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import msgspec
import numpy as np

from schedctl.api.pods import Pod, PodStatus
from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.profiles import Profile
from schedctl.plugins.in_tree import plugins_of
from schedctl.scheduler.schedulers import Scheduler

_SPREAD = "PodTopologySpread"
_DO_NOT_SCHEDULE = "DoNotSchedule"
_NONE = -1
_replace = msgspec.structs.replace


class _Domains(msgspec.Struct, frozen=True):
    """The domains of a topology key.

    Attributes:
        of: the domain of each node row, intp (rows,), `_NONE` where a node has none.
        nodes: how many nodes each has.
    """

    of: IndexArray
    nodes: IndexArray


class _Choice(msgspec.Struct, frozen=True):
    """The nodes that a pod has to choose from, as far as that is certain whatever becomes of others like these.

    Attributes:
        feasible: which node rows they are, bool (rows,).
        count: how many.
        spread: the domains over which a constraint spreads the pod, None for no constraint that must hold.
        by_domain: how many of the nodes are in each of them.
    """

    feasible: BoolArray
    count: int
    spread: _Domains | None = None
    by_domain: IndexArray | None = None


class SureFits:
    """Knows of the pods of one cluster, as it was at first, what they have to choose from."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._known: dict[Hashable, _Choice | None] = {}
        self._domains_by_key: dict[str, _Domains] = {}
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
        row_of = self._scheduler.cluster.node_table.row_of
        rows = np.array([row_of[name] for name in removed], np.intp)
        return all(_suffices(choice, len(pods), rows) for choice in choices.values())

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
        if spec.scheduling_gates or spec.scheduling_group or pod.required_affinity:
            return None
        if not all(self._are_single_nodes(term.topology_key) for term in pod.required_anti_affinity):
            return None
        hard = [c for c in spec.topology_spread_constraints or () if c.when_unsatisfiable == _DO_NOT_SCHEDULE]
        if len(hard) > 1 or any((each.min_domains or 1) > 1 or each.max_skew < 1 for each in hard):
            return None
        profile = self._scheduler.profiles[spec.scheduler_name]
        others = [name for name in profile.plugins if name != _SPREAD]
        rows = self._scheduler.feasible_rows(pod, others)
        feasible = np.zeros(len(self._scheduler.cluster.node_table), np.bool_)
        feasible[rows] = True
        if not hard:
            return _Choice(feasible, len(rows))
        spread = self._domains(hard[0].topology_key)
        feasible &= spread.of != _NONE
        by_domain = np.bincount(spread.of[feasible], minlength=len(spread.nodes))
        return _Choice(feasible, int(by_domain.sum()), spread, by_domain)

    def _are_single_nodes(self, key: str) -> bool:
        """Return whether no domain of a key has two nodes, as it is with hostnames."""
        return int(self._domains(key).nodes.max(initial=0)) <= 1

    def _domains(self, key: str) -> _Domains:
        found = self._domains_by_key.get(key)
        if found is None:
            table = self._scheduler.cluster.node_table
            of, codes = np.full(len(table), _NONE, np.intp), dict[str, int]()
            for row in table.row_of.values():
                value = (table.objects[row].metadata.labels or {}).get(key)
                if value is not None:
                    of[row] = codes.setdefault(value, len(codes))
            nodes = np.bincount(of[of != _NONE], minlength=len(codes))
            found = self._domains_by_key[key] = _Domains(of, nodes)
        return found


def _suffices(choice: _Choice, pods: int, removed: IndexArray) -> bool:
    """Return whether enough nodes are left to choose from once some rows are gone."""
    if choice.spread is None or choice.by_domain is None:
        return choice.count - int(np.count_nonzero(choice.feasible[removed])) >= pods
    of, many = choice.spread.of, len(choice.spread.nodes)
    gone = removed[of[removed] != _NONE]
    nodes_left = choice.spread.nodes - np.bincount(of[gone], minlength=many)
    left = choice.by_domain - np.bincount(of[gone[choice.feasible[gone]]], minlength=many)
    return bool((nodes_left > 0).any() and (left[nodes_left > 0] >= pods).all())


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
