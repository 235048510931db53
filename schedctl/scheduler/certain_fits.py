"""Pods that are certain to find a node at their first attempt, wherever the others among them go.

Of many pods that come at once, such as those of a zone that is lost, each place that one takes may matter to the next,
so that what becomes of them takes a run. Where there is room in plenty the worst case will do: each of the others takes
the place that hurts most, and a feasible node is left all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.pods import PodSpec
from schedctl.api.resources import kubelet_grant
from schedctl.cache.affinity_terms import carried_terms
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.domain_sums import NO_DOMAIN
from schedctl.cache.node_matching import nodes_meeting
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt, matrix
from schedctl.engine.attempts import attempt as run_cycle
from schedctl.errors import NotModelled
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import Code
from schedctl.plugins.in_tree import plugins_of
from schedctl.plugins.inter_pod_affinity.plugin import STATE, InterPodAffinity
from schedctl.plugins.inter_pod_affinity.state import term_matcher
from schedctl.plugins.node_affinity.plugin import NodeAffinity
from schedctl.plugins.node_declared_features.plugin import NodeDeclaredFeatures
from schedctl.plugins.node_name.plugin import NodeName
from schedctl.plugins.node_ports.plugin import NodePorts
from schedctl.plugins.node_resources_fit.plugin import NodeResourcesFit
from schedctl.plugins.node_unschedulable.plugin import NodeUnschedulable
from schedctl.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, own_constraints
from schedctl.plugins.pod_topology_spread.plugin import PodTopologySpread
from schedctl.plugins.taint_toleration.plugin import TaintToleration
from schedctl.scheduler.pod_classes import PodClass, pod_classes
from schedctl.scheduler.schedulers import Scheduler

_FEW_CLASSES, _MOST_CLASSES, _PODS_OF_A_CLASS = 20, 400, 4
"""Of more classes, or of fewer pods in each, to look at every class costs more than to place the pods."""
_MOST_DOMAINS = 100
"""Of more domains one is as good as always full."""
_UNMOVED = (NodeName, NodeUnschedulable, TaintToleration, NodeAffinity, NodeDeclaredFeatures)
"""Filters that look at the node and the pod alone."""
_BOUNDED = (NodePorts, NodeResourcesFit, PodTopologySpread, InterPodAffinity)
"""Filters of which the worst that pods to come can do is known."""
_FILTERS = frozenset(each.name for each in (*_UNMOVED, *_BOUNDED))


def all_fit(scheduler: Scheduler, pods: Sequence[PodInfo]) -> bool:
    """Return whether each of some pods is certain to find a node at its first attempt, without preemption.

    They are tried one after another, in any order, each once, with all nodes looked at, and nobody else comes or is
    evicted meanwhile. False means that it is not certain.

    Args:
        scheduler: with the cluster; its attempts leave it as it is.
        pods: pods that are on no node.
    """
    cluster = scheduler.cluster
    if scheduler.nominator or cluster.missing or not all(map(_is_known, scheduler.profiles.values())):
        return False
    if any(any(kubelet_grant(info.pod.status)) for info in pods):
        return False  # on a node they take what a kubelet has granted them, which is not what they ask for
    most = max(_FEW_CLASSES, min(_MOST_CLASSES, len(pods) // _PODS_OF_A_CLASS))
    classes = pod_classes(pods, most)
    if classes is None:
        return False
    worst = _WorstCase(scheduler, classes)
    return all(worst.leaves_a_node(each) for each in classes)


def _is_known(profile: Profile) -> bool:
    """Return whether a profile has kube-scheduler's own plugins alone, and nobody else is asked."""
    return not profile.extenders and not profile.absent


class _Candidates(msgspec.Struct, frozen=True):
    """Nodes that are feasible for a pod as things are, but for the balance of a topology spread.

    Attributes:
        rows: the nodes, intp (n,).
        spare: by resource, how much of it each node may lose with the pod still fitting, int64 (n,).
    """

    rows: IndexArray
    spare: Mapping[str, IntArray]

    def take(self, mask: BoolArray) -> _Candidates:
        """Return some of them."""
        return _Candidates(self.rows[mask], {resource: amounts[mask] for resource, amounts in self.spare.items()})


class _Closing(msgspec.Struct, frozen=True):
    """What closes nodes to a pod, however much room they have.

    Attributes:
        on_its_node: bool (classes,), whether a pod of a class closes the node that it takes.
        elsewhere: how many nodes all pods together close beside those that they take, at most.
    """

    on_its_node: BoolArray
    elsewhere: int


class _WorstCase:
    """What pods to come can do to each other at most."""

    def __init__(self, scheduler: Scheduler, classes: Sequence[PodClass]) -> None:
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        for each in classes:
            each.example.count_by(self._cluster.request_rules)
        self._classes = classes
        self._release = scheduler.cluster.release
        self._in_tree = frozenset(plugins_of(self._release).values())
        self._sizes = np.array([each.size for each in classes], np.float64)
        requests = [_requests(each.example) for each in classes]
        self._amounts = {
            resource: np.array([each.get(resource, 0) for each in requests], np.int64)
            for resource in dict.fromkeys(name for each in requests for name in each)
        }
        self._anti = [carried_terms(each.example).required_anti for each in classes]
        self._ports = [_host_ports(each.example) for each in classes]
        self._terminating = any(info.is_terminating for info in scheduler.cluster.pod_table)
        self._largest: dict[str, int] = {}

    def leaves_a_node(self, one: PodClass) -> bool:
        """Return whether a pod of a class finds a node whatever the others do."""
        info = one.example
        profile = self._scheduler.profile_of(info)
        if profile is None or not self._is_in_tree(profile) or _brings_objects(info.pod.spec):
            return False
        # nothing is kept for equal pods: all that was judged is to be read, which what is kept leaves out
        try:
            attempt = run_cycle(profile, self._cluster, info, self._scheduler.nominator, make_room=False)
        except NotModelled:
            return False
        filters = {each.name for each in profile.filter} - attempt.cycle.skip_filter
        if not attempt.fits or not filters <= _FILTERS:
            return False
        if info.required_affinity and self._terminating:
            return False  # the company that makes nodes feasible may go
        parts = self._parts(info, self._candidates(attempt, info), attempt)
        if parts is None:
            return False
        closing = self._find_closing(info)
        return all(self._outlasts(part, closing, self._classes.index(one)) for part in parts)

    def _is_in_tree(self, profile: Profile) -> bool:
        return all(type(each) in self._in_tree for each in profile.plugins.values())

    def _candidates(self, attempt: Attempt, info: PodInfo) -> _Candidates:
        column = attempt.evaluated_column
        assert column is not None
        feasible = np.ones(len(column), np.bool_)
        for name, verdicts in matrix(attempt).items():
            if name not in (NodeResourcesFit.name, PodTopologySpread.name):
                feasible &= verdicts.codes(len(column)) == Code.SUCCESS
        spare = {}
        for resource, amount in _requests(info).items():
            if resource == _SLOTS:
                spare[resource] = column.allowed_pods - column.pod_count - amount
            else:
                spare[resource] = column.allocatable(resource) - column.requested(resource) - amount
            feasible &= spare[resource] >= 0
        return _Candidates(column.rows, spare).take(feasible)

    def _find_closing(self, info: PodInfo) -> _Closing:
        """Return which classes close nodes to a pod: by anti-affinity of either side, or by host ports."""
        about_pod, ports = term_matcher(info, self._cluster), _host_ports(info)
        unwanted = carried_terms(info).required_anti
        on_its_node, elsewhere = np.zeros(len(self._classes), np.bool_), 0
        for number, (each, anti, their_ports) in enumerate(zip(self._classes, self._anti, self._ports, strict=True)):
            keys = [term.topology_key for term in anti if about_pod(term)]
            if unwanted:
                about_other = term_matcher(each.example, self._cluster)
                keys += [term.topology_key for term in unwanted if about_other(term)]
            domains = [self._largest_domain(key) for key in set(keys)]
            on_its_node[number] = 1 in domains or not ports.isdisjoint(their_ports)
            elsewhere += each.size * sum(nodes for nodes in domains if nodes > 1)
        return _Closing(on_its_node, elsewhere)

    def _parts(self, info: PodInfo, candidates: _Candidates, attempt: Attempt) -> Sequence[_Candidates] | None:
        """Return sets of candidates of one of which, whichever it is by then, any node will do; None if nobody can say.

        As a rule that is all of them. Of a spread constraint the domain with the fewest pods may always take another,
        and a pod that has to join others, of which there is none yet, may be sent to any domain by the first of them.
        """
        if PodTopologySpread.name not in attempt.cycle.skip_filter:
            key = self._spread_key(info)
            counted = self._counted_rows(info)
        else:
            key, counted = "", self._cluster.rows
        if info.required_affinity and not any(pods.pairs for pods in attempt.cycle.state[STATE].attracting.values()):
            keys = {term.topology_key for term in info.required_affinity}
            if key != "" or len(keys) > 1:
                return None
            (key,) = keys
        if key == "":
            return [candidates]
        if key is None:
            return None
        codes = self._cluster.table_of_nodes().labels.domains(key).codes
        domains = np.unique(codes[counted])
        domains = domains[domains != NO_DOMAIN]
        if not len(domains) or len(domains) > _MOST_DOMAINS:
            return None
        at = codes[candidates.rows]
        return [candidates.take(at == domain) for domain in domains]

    def _spread_key(self, info: PodInfo) -> str | None:
        """Return the topology key of a pod's one DoNotSchedule constraint, None where there is not just a plain one."""
        written = info.pod.spec.topology_spread_constraints or ()
        hard = own_constraints(written, info.labels, DO_NOT_SCHEDULE, self._release)
        return hard[0].topology_key if len(hard) == 1 and hard[0].min_domains <= 1 else None

    def _counted_rows(self, info: PodInfo) -> IndexArray:
        """Return the nodes whose domains a spread constraint compares at most, intp."""
        rows, required = self._cluster.rows, required_node_affinity(info.pod)
        written = info.pod.spec.topology_spread_constraints or ()
        if required.everywhere or any(each.node_affinity_policy == "Ignore" for each in written):
            return rows
        return rows[nodes_meeting(self._cluster.table_of_nodes(), required)[rows]]

    def _outlasts(self, candidates: _Candidates, closing: _Closing, number: int) -> bool:
        """Return whether a candidate is left to a pod of a class when the others have taken what they can.

        What a pod takes is measured by the resource of which it takes most, in nodes of medium spare room, and what it
        takes to fill a node by the resource of which least is needed. Who closes its node, fills one.
        """
        left = len(candidates.rows) - closing.elsewhere
        if left <= 0:
            return False
        taken = closing.on_its_node.astype(np.float64)
        needed = np.full(len(candidates.rows), 1.0 if closing.on_its_node.any() else np.inf)
        for resource, spare in candidates.spare.items():
            amounts = self._amounts[resource]
            step = np.gcd.reduce(amounts)  # all that is taken is a multiple of it
            room = (spare // step + 1) * float(step)
            medium = float(np.median(room))
            np.maximum(taken, amounts / medium, out=taken)
            np.minimum(needed, room / medium, out=needed)
        needed.sort()
        budget = float(taken @ self._sizes - taken[number]) * (1 + _ROUNDING)
        return int(np.searchsorted(np.cumsum(needed), budget, side="right")) < left

    def _largest_domain(self, key: str) -> int:
        """Return how many nodes the largest domain of a topology key has."""
        if key not in self._largest:
            codes = self._cluster.table_of_nodes().labels.domains(key).codes
            sizes = np.bincount(codes[self._cluster.rows])[1:]
            self._largest[key] = int(sizes.max(initial=0))
        return self._largest[key]


_SLOTS = "pods"
_ROUNDING = 1e-9
"""How far sums of floating point numbers may be off at most; what is too large is on the safe side."""


def _requests(info: PodInfo) -> dict[str, int]:
    """Return what a pod takes of a node, the place in its list of pods included."""
    return {_SLOTS: 1} | {name: amount for name, amount in info.demand.fit_requests.items() if amount}


def _host_ports(info: PodInfo) -> frozenset[int]:
    """Return the numbers of the host ports of a pod; by protocol and address they are not told apart."""
    return frozenset(each.port for each in info.host_ports)


def _brings_objects(spec: PodSpec) -> bool:
    """Return whether a pod has what objects or other pods decide about: claims, disks, a group."""
    return bool(spec.resource_claims or spec.scheduling_group) or any(
        each.persistent_volume_claim or each.ephemeral for each in spec.volumes or ()
    )
