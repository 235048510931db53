"""PodTopologySpread: pods of a kind are to be spread evenly over the domains of a topology (KEP-895).

DoNotSchedule constraints filter: a node is rejected when its domain would exceed the emptiest one by more than
``maxSkew``. ScheduleAnyway constraints score: the fewer pods a node's domains hold, the better.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.api.selectors import SelectorError
from schedctl.cache.arrays import BoolArray, IntArray, read_only
from schedctl.cache.domain_sums import NO_DOMAIN
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE, truncdiv
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import (
    Action,
    Hint,
    Registration,
    Resource,
    has_node,
    has_node_or_nomination,
    registers,
)
from schedctl.framework.handles import Handle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Lookup, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status, error
from schedctl.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    GROUPING_KINDS,
    SCHEDULE_ANYWAY,
    SYSTEM_DEFAULTS,
    Constraint,
    DefaultConstraints,
    own_constraints,
)
from schedctl.plugins.pod_topology_spread.counts import (
    HardSpread,
    HardState,
    SoftState,
    hard_state,
    soft_state,
)
from schedctl.releases import ReleaseChange

if TYPE_CHECKING:
    from schedctl.framework.domain_counts import DomainCounts
    from schedctl.framework.remarks import Remark
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


HARD = StateKey[HardState]("PreFilterPodTopologySpread")
SOFT = StateKey[SoftState]("PreScorePodTopologySpread")


class PodTopologySpread(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes whose domain holds too many of the pods a constraint counts, and prefers those with few."""

    skips_resizes = True
    filters_all_nodes = True
    reads = GROUPING_KINDS
    foreseeable = True

    missing = Reason("node(s) didn't match pod topology spread constraints (missing required label)", unresolvable=True)
    skewed = Reason("node(s) didn't match pod topology spread constraints")
    unprepared = Reason(f'reading "{HARD.name}" from cycleState: not found', code=Code.ERROR)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._system_defaults = args.defaulting_type == "System"
        defaults = SYSTEM_DEFAULTS if self._system_defaults else args.default_constraints
        self._defaults = DefaultConstraints(defaults, handle.cluster)
        nominated = self.release.includes(ReleaseChange.NOMINATED_PODS)
        self._has_node = has_node_or_nomination if nominated else has_node

    def signature(self, pod: PodInfo) -> Hashable:
        """Its constraints, and all that decides which pods they count and on which nodes."""
        spec = pod.pod.spec
        if not spec.topology_spread_constraints and not self._defaults:
            return ()
        owners = () if spec.topology_spread_constraints else pod.pod.metadata.owner_references or ()
        affinity = spec.affinity and spec.affinity.node_affinity
        written = (spec.topology_spread_constraints, spec.node_selector, affinity, spec.tolerations, owners)
        return pod.namespace, frozenset(pod.labels.items()), msgspec.json.encode(written)

    def events_to_register(self) -> tuple[Registration, ...]:
        """Counted pods that come, go or are relabelled, and nodes that change the domains or who is counted."""
        return (
            registers(
                Resource.ASSIGNED_POD, Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE, self._after_assigned_pod
            ),
            registers(
                Resource.TARGET_POD, Action.UPDATE_POD_TOLERATION | Action.UPDATE_POD_LABEL, self._after_target_pod
            ),
            registers(
                Resource.NODE,
                Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
                self._after_node,
            ),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Count the pods of each DoNotSchedule constraint by domain; Skip a pod without any."""
        try:
            constraints = self._constraints(cycle.pod, DO_NOT_SCHEDULE)
        except SelectorError as malformed:
            return error(f"get constraints from pod: obtaining pod's hard topology spread constraints: {malformed}")
        if not constraints:
            return SKIP
        cycle.state[HARD] = hard_state(nodes.cluster, cycle.pod, constraints)
        return None

    def with_pods(self, cycle: Cycle, nodes: Nodes) -> None:
        """Add pods gained and lost to their node's domains. Unlike in the count, terminating pods matter here."""
        changes = nodes.changes
        if changes is not None and HARD in cycle.state:
            cycle.state[HARD] = cycle.state[HARD].hypothetical(nodes, changes)

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes for the first constraint they do not satisfy, with the counts as evidence."""
        if HARD not in cycle.state:
            return self.unprepared.where(np.ones(len(nodes), np.bool_))
        verdicts = ACCEPT
        for spread in cycle.state[HARD].spreads:
            verdicts = verdicts.then(self._judge(spread, nodes))
        return verdicts

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Count the pods of each ScheduleAnyway constraint in the domains of the feasible nodes; Skip without any."""
        pod = cycle.pod
        if SOFT in cycle.state:  # asked again for other feasible nodes: the counts are live
            cycle.state[SOFT] = cycle.state[SOFT].among(nodes)
            return None
        try:
            constraints = self._constraints(pod, SCHEDULE_ANYWAY)
        except SelectorError as malformed:
            problem = f"obtaining pod's soft topology spread constraints: {malformed}"
            return error(f"calculating preScoreState: {problem}")
        if not constraints:
            return SKIP
        # kube-scheduler's requireAllTopologies: only the system's own defaults bear with nodes that lack a key
        all_keys = not (self._uses_defaults(pod) and self._system_defaults)
        cycle.state[SOFT] = soft_state(nodes, pod, constraints, all_keys=all_keys)
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Add up what the pods in a node's domains amount to; a low score is a good one until it is normalised.

        Raises:
            PluginError: PreScore did not run.
        """
        if SOFT not in cycle.state:
            raise PluginError(f'error reading "{SOFT.name}" from cycleState: not found')
        state = cycle.state[SOFT]
        scores = state.scores(nodes)
        if state.ignored is not None:
            scores[state.ignored[nodes.rows]] = 0
        return scores

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Turn scores round: the least becomes 100. Nodes that lack a topology key get 0."""
        ignored = cycle.state[SOFT].ignored
        counted = None if ignored is None else ~ignored[nodes.rows]
        considered = scores if counted is None else scores[counted]
        most = int(considered.max(initial=0))
        # upstream: MaxNodeScore * (maxScore + minScore - score) / maxScore
        normalized = _turned(scores, most, int(considered.min())) if most else np.full_like(scores, MAX_NODE_SCORE)
        return normalized if counted is None else np.where(counted, normalized, 0)

    def _after_assigned_pod(self, pod: PodInfo, before: PodInfo | None, after: PodInfo | None) -> Hint:
        others = [other for other in (before, after) if other is not None]
        if not all(self._has_node(other) and other.namespace == pod.namespace for other in others):
            return Hint.SKIP
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        if before is not None and after is not None:
            return _after_relabelling(constraints, before, after)
        counted = any(c.selector.matches(others[0].labels) for c in constraints)
        return Hint.QUEUE if counted else Hint.SKIP

    def _after_target_pod(self, pod: PodInfo, before: PodInfo, after: PodInfo) -> Hint:
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        tolerates_more = (before.pod.spec.tolerations or []) != (after.pod.spec.tolerations or [])
        if tolerates_more and any(c.honors_taints for c in constraints):
            return Hint.QUEUE
        return _after_relabelling(constraints, before, after)

    def _after_node(self, pod: PodInfo, before: Node | None, after: Node | None) -> Hint:
        keys = [constraint.topology_key for constraint in self._constraints(pod, DO_NOT_SCHEDULE)]
        had = before is not None and _has_every(keys, before.metadata.labels)
        has = after is not None and _has_every(keys, after.metadata.labels)
        if before is None or after is None:
            return Hint.QUEUE if had or has else Hint.SKIP
        if had and has:
            # taints are compared whether or not a constraint honours them, as upstream does
            was, now = before.metadata.labels or {}, after.metadata.labels or {}
            moved = any(was.get(key) != now.get(key) for key in keys)
            retainted = (before.spec.taints or []) != (after.spec.taints or [])
            return Hint.QUEUE if moved or retainted else Hint.SKIP
        return Hint.QUEUE if had != has else Hint.SKIP

    def _judge(self, spread: HardSpread, nodes: Nodes) -> Verdicts:
        constraint, of_key = spread.constraint, spread.domains
        key, domains = constraint.topology_key, nodes.gather(of_key.codes)
        verdicts, standing = ACCEPT, None
        if not of_key.is_complete:
            standing = domains != NO_DOMAIN
            if not standing.all():
                verdicts = self.missing.where(~standing, topology_key=key)
        counts: Lookup | IntArray
        floor: int | IntArray
        if spread.supposed is None:
            floor = spread.floor
            most = constraint.max_skew - (spread.self_match - floor)
            sums = spread.counts
            if len(nodes) > len(sums):
                crowded = sums > most
                crowded[NO_DOMAIN] = False  # those nodes are refused for the missing label
                if not crowded.any():
                    return verdicts
                refused = crowded.take(domains)
            else:
                refused = _standing(sums[domains] > most, standing)
                if not refused.any():
                    return verdicts
            domains, sums = domains.copy(), sums.copy()
            counts = Lookup(sums, domains)
        else:
            sums = spread.counts.copy()
            counts = here = sums[domains] + spread.supposed
            floor = spread.floors(domains, here)
            refused = _standing(here + (spread.self_match - floor) > constraint.max_skew, standing)
            domains = domains.copy()
        return verdicts | self.skewed.where(
            refused,
            topology_key=key,
            domain=Lookup(of_key.values.values, domains),
            count=counts,
            self_match=spread.self_match,
            minimum=floor,
            max_skew=constraint.max_skew,
            domains=spread.as_evidence(sums),
            **spread.missing_domains,
        )

    def _constraints(self, pod: PodInfo, action: str) -> tuple[Constraint, ...]:
        """Return the pod's constraints with this ``whenUnsatisfiable``, or the defaults.

        Raises:
            SelectorError: a label selector does not parse.
        """
        written = pod.pod.spec.topology_spread_constraints
        if written:
            return own_constraints(written, pod.labels, action, self.release)
        return self._defaults.of(pod, action)

    def _uses_defaults(self, pod: PodInfo) -> bool:
        return bool(self._defaults) and not pod.pod.spec.topology_spread_constraints

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.pod_topology_spread.wording import WORDING

        return WORDING

    @override
    def warnings(self, pod: PodInfo, replicas: int) -> Sequence[Remark]:
        from schedctl.plugins.pod_topology_spread.warnings import warnings

        return warnings(pod, replicas, self.handle.cluster)

    @override
    def domain_counts(self, cycle: Cycle) -> Sequence[DomainCounts]:
        from schedctl.plugins.pod_topology_spread.skews import domain_counts

        pod = cycle.pod
        hard, soft = (self._constraints(pod, action) for action in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
        return domain_counts(self.handle.cluster, pod, hard, soft)

    @override
    def violations(self, pod: PodInfo) -> Mapping[str, str]:
        from schedctl.plugins.pod_topology_spread.skews import violations

        return violations(self.handle.cluster, pod)

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.pod_topology_spread.remedies import remedies

        return remedies(pod, rejection, self.handle.cluster)


def _turned(scores: IntArray, most: int, least: int) -> IntArray:
    """Return scores of 0 to `most` turned round; where they are small numbers, each is worked out once."""
    if most < len(scores):
        turned: IntArray = _reversal(most, least).take(scores)
        return turned
    return truncdiv(MAX_NODE_SCORE * (most + least - scores), most)


@lru_cache(maxsize=16)  # of few: where thousands of pods are counted, each of these is long
def _reversal(most: int, least: int) -> IntArray:
    """Return what each score of 0 to `most` is turned round; templates whose pods are spread alike share it."""
    return read_only(truncdiv(MAX_NODE_SCORE * (most + least - np.arange(most + 1)), most))


def _standing(refused: BoolArray, standing: BoolArray | None) -> BoolArray:
    return refused if standing is None else refused & standing


def _after_relabelling(constraints: Iterable[Constraint], before: PodInfo, after: PodInfo) -> Hint:
    if before.labels == after.labels:
        return Hint.SKIP
    turned = any(c.selector.matches(before.labels) != c.selector.matches(after.labels) for c in constraints)
    return Hint.QUEUE if turned else Hint.SKIP


def _has_every(keys: Iterable[str], labels: Mapping[str, str] | None) -> bool:
    return all(key in (labels or {}) for key in keys)
