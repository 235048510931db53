"""The search for the least plan: what expanders and the solver propose, improved node by node, each tried by a run.

Pods that need no new node are placed before any is there; a plan counts only if a whole run then places every other pod
and evicts none. What is called proved is: every smaller plan was tried, or is ruled out by resources or the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush

import msgspec
from msgspec.structs import replace

from schedctl.api.resources import CPU, MEMORY
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.framework.pod_groups import group_key
from schedctl.reports.nodes import BoundProof
from schedctl.scheduler import Scheduler
from schedctl.simulation.outcomes import PodOutcome, PodState, RunEnd
from schedctl.simulation.replacement import ReplacementController
from schedctl.simulation.runs import Options, run
from schedctl.simulation.scale_ups import options as sorts
from schedctl.simulation.scale_ups.bounds import Bound, lower_bound
from schedctl.simulation.scale_ups.expanders import EXPANDERS, Expander, Growth
from schedctl.simulation.scale_ups.gangs import gangs_of, grow_for
from schedctl.simulation.scale_ups.options import Counts, NodeOption, Objective
from schedctl.simulation.scale_ups.relaxation import Relaxation, relax
from schedctl.simulation.scale_ups.trials import Placement, Trials

_PLACEMENTS = 8_000
"""How many placements the default effort comes to; so many plans are tried, and not fewer than `_FEWEST`."""
_FEWEST, _MOST = 8, 400
_LISTED = 20_000
"""How many smaller plans are looked through at most; each is tried unless sums of resources rule it out."""
_REPAIRS = 8
"""How often a plan gets more nodes for the pods that a run leaves pending."""
_MANY, _NEAR = 500, 0.05
"""A plan for so many pods that is as near to the bound as this is not improved, unless somebody sets the effort."""
_EPSILON = 1e-9


class Proposal(msgspec.Struct, frozen=True):
    """A plan on the way to the best one.

    Attributes:
        by: who proposes it: an expander, ``solver`` or ``search``.
        counts: how many nodes of each option.
        cost: what they cost.
        complete: whether a run places every pod with it.
    """

    by: str
    counts: Counts
    cost: float
    complete: bool


class ScaleUp(msgspec.Struct):
    """The facts of a plan.

    Attributes:
        objective: what is little.
        options: the nodes that could be added.
        pods: those that need a new node, in the order of the queue.
        fitting: how many others need none.
        nodes_of_fitting: where those run, by key.
        unplaced: those that no number of new nodes helps.
        gated: those of them that are kept out of the queue.
        placement: the best plan, as a run carried it out; None if none was found.
        bound: what no plan costs less than.
        proposals: the plans that were tried, in order.
        tried: how many runs were made.
        interrupted: whether the user ended the search.
        preempting: how many of them would preempt others before a new node is there.
        gang_of: of the unplaced pods that no new nodes let start as a group, by key, the group.
    """

    objective: Objective
    options: Sequence[NodeOption]
    pods: list[PodInfo] = msgspec.field(default_factory=list)
    fitting: int = 0
    nodes_of_fitting: dict[str, str] = msgspec.field(default_factory=dict)
    unplaced: list[PodInfo] = msgspec.field(default_factory=list)
    gated: list[PodInfo] = msgspec.field(default_factory=list)
    placement: Placement | None = None
    bound: Bound = msgspec.field(default_factory=lambda: Bound(0.0))
    proposals: list[Proposal] = msgspec.field(default_factory=list)
    tried: int = 0
    interrupted: bool = False
    preempting: int = 0
    gang_of: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def counts(self) -> Counts:
        """How many nodes of each option are to be added."""
        return self.placement.counts if self.placement is not None else (0,) * len(self.options)

    @property
    def cost(self) -> float:
        """What they cost."""
        return sorts.cost_of(self.options, self.counts)

    @property
    def gap(self) -> float:
        """By how much the plan may be above the least one, as a part of that; 0 where it is proved to be least."""
        if self.placement is None or self.cost <= self.bound.value + _EPSILON:
            return 0.0
        return (self.cost - self.bound.value) / max(self.bound.value, _EPSILON) if self.bound.value else 1.0


def default_effort(pods: int) -> int:
    """Return how many plans are tried for so many pods where nobody says."""
    return max(_FEWEST, min(_MOST, _PLACEMENTS // max(1, pods)))


def plan(
    scheduler: Scheduler,
    pods: Sequence[PodInfo],
    options: Sequence[NodeOption],
    *,
    objective: Objective = "count",
    expander: Expander | None = None,
    effort: int = 0,
    on_trial: Callable[[int, int], None] = lambda made, most: None,
) -> ScaleUp:
    """Return the least plan that is found; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        pods: pending pods of the cluster that a profile serves.
        options: the nodes that could be added.
        objective: what is to be little.
        expander: take what this one proposes and improve nothing; None for the best of all.
        effort: how many plans are tried at most, 0 for what suits.
        on_trial: called with how many were tried, and how many may be.
    """
    in_order = sorted(pods, key=lambda info: -info.priority)
    facts = ScaleUp(objective, options, in_order)
    most = effort or default_effort(len(pods))
    with scheduler.fork():
        search = _Search(scheduler, facts, most, lambda made: on_trial(made, most), thorough=bool(effort))
        try:
            search.run(expander)
        except KeyboardInterrupt:
            facts.interrupted = True
        facts.tried = search.made
    return facts


@contextmanager
def apply_plan(scheduler: Scheduler, facts: ScaleUp) -> Iterator[Sequence[str]]:
    """Have a plan's new nodes in the cluster and its pods on their nodes, for the length of a ``with`` block.

    The names of the new nodes are returned.
    """
    placement = facts.placement or Placement((0,) * len(facts.options))
    with Trials(scheduler, facts.pods, facts.options, 0).joined(placement.counts) as new:
        for key, node in placement.placed.items():
            scheduler.cluster.assume(scheduler.cluster.pending[key], node)
        yield [*new]


def use_of_nodes(scheduler: Scheduler, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how much of each of these nodes is requested, in percent by resource."""
    nodes = scheduler.cluster.nodes_named(names)
    columns = {name: (nodes.requested(name).tolist(), nodes.allocatable(name).tolist()) for name in (CPU, MEMORY)}
    return {
        node: {
            name: 100.0 * taken[at] / offered[at] if offered[at] else 0.0 for name, (taken, offered) in columns.items()
        }
        for at, node in enumerate(nodes.names)
    }


def _gated_pods(outcomes: Sequence[PodOutcome]) -> list[PodInfo]:
    """Return the pods that are kept out of the queue, and all of a gang one of whose pods is: it waits as one."""
    gated = [each.pod for each in outcomes if each.state is PodState.GATED]
    keys, gangs = {info.key for info in gated}, {group_key(info) for info in gated} - {""}
    waiting = (each.pod for each in outcomes if each.state is not PodState.BOUND)
    return [info for info in waiting if info.key in keys or group_key(info) in gangs]


class _Search:
    """A search while it goes on."""

    def __init__(
        self,
        scheduler: Scheduler,
        facts: ScaleUp,
        most: int,
        on_trial: Callable[[int], None],
        *,
        thorough: bool,
    ) -> None:
        self._scheduler = scheduler
        self._thorough = thorough
        self._facts = facts
        self._most = most
        self._on_trial = on_trial
        self._trials = Trials(scheduler, facts.pods, facts.options, most, on_trial)
        self._none: Counts = (0,) * len(facts.options)
        self._fitting: dict[str, str] = {}

    @property
    def made(self) -> int:
        """How many plans were tried."""
        return self._trials.made

    def run(self, expander: Expander | None) -> None:
        """Fill in the facts."""
        facts = self._facts
        self._place_what_fits()
        if not facts.pods:
            facts.placement = Placement(self._none, placed=self._fitting)
            return
        facts.preempting = self._preempting()
        if facts.options:
            self._search(expander)
        else:
            facts.unplaced, facts.pods = facts.pods, []
        if facts.placement is None and not facts.pods:
            facts.placement = Placement(self._none, placed=self._fitting)

    def _search(self, expander: Expander | None) -> None:
        facts = self._facts
        self._leave_out_gangs()
        if not facts.pods:
            return
        growth, relaxation, first = self._first_growth(expander)
        if not facts.pods:
            return
        facts.bound = lower_bound(relaxation, facts.objective)
        self._propose(expander or EXPANDERS[0], first, growth)
        if expander is not None:
            return
        if facts.bound.start is not None and not self._is_done():
            self._from_start(facts.bound.start, growth)
        for each in EXPANDERS[1:]:
            # an expander costs about as much as a few plans
            if self._is_done() or self._most - self.made < _REPAIRS:
                break
            counts, left = growth.grow(facts.pods, each)
            is_better = facts.placement is None or sorts.cost_of(facts.options, counts) < facts.cost - _EPSILON
            if is_better and not left:
                self._propose(each, counts, growth)
        self._try_smaller(relaxation)

    def _place_what_fits(self) -> None:
        """Place the pods that need no new node, for the length of the search: they are placed before any is there."""
        facts, scheduler = self._facts, self._scheduler
        options = Options(trace=False, make_room=False)
        found = run(scheduler, facts.pods, options=options, controller=ReplacementController(scheduler))
        if found.end is RunEnd.INTERRUPTED:
            raise KeyboardInterrupt
        outcomes = [found.pods[info.key] for info in facts.pods]
        self._fitting = {each.pod.key: each.node for each in outcomes if each.state is PodState.BOUND}
        facts.fitting, facts.nodes_of_fitting = len(self._fitting), self._fitting
        facts.gated = _gated_pods(outcomes)
        facts.unplaced += facts.gated
        facts.pods = [info for info in facts.pods if info.key not in self._fitting]
        self._leave_out_unplaced()

    def _preempting(self) -> int:
        """Return how many of the pods that wait would preempt others rather than wait for a new node."""
        preempting, gangs = 0, gangs_of(self._facts.pods, self._scheduler.cluster)
        for gang in gangs:
            if self._scheduler.attempt_group(gang.group, gang.pods).awaits_preemption:
                preempting += len(gang.pods)
        in_gangs = {info.key for gang in gangs for info in gang.pods}
        alone = (info for info in self._facts.pods if info.key not in in_gangs)
        for each in sorts.classes_of(self._scheduler, alone):
            try:
                result = self._scheduler.attempt(each.pods[0], admitted=True).post_filter
            except NotModelled:
                continue
            if result is not None and result.nominated_node:
                preempting += len(each.pods)
        return preempting

    # -- proposals -----------------------------------------------------------------

    def _first_growth(self, expander: Expander | None) -> tuple[Growth, Relaxation, Counts]:
        """Grow once, and leave out of the question the pods that no node helps."""
        facts = self._facts
        while True:
            classes = sorts.classes_of(self._scheduler, facts.pods)
            class_of = {info.key: number for number, each in enumerate(classes) for info in each.pods}
            relaxation = relax(self._scheduler, classes, facts.options)
            growth = Growth(self._scheduler, self._trials, class_of, relaxation.compatible())
            counts, left = growth.grow(facts.pods, expander or EXPANDERS[0])
            if not left:
                return growth, relaxation, counts
            facts.unplaced += left
            self._leave_out_unplaced()

    def _leave_out_gangs(self) -> None:
        """Leave out of the question the gangs that do not start as a whole, however many nodes of an option come."""
        facts, begin = self._facts, Placement(self._none)
        for gang in gangs_of(facts.pods, self._scheduler.cluster):
            if grow_for(self._scheduler, self._trials, gang, begin) is None:
                facts.unplaced += gang.pods
                facts.gang_of.update((info.key, gang.group.key) for info in gang.pods)
        if facts.gang_of:
            self._leave_out_unplaced()

    def _grow_for_gangs(self, found: Placement) -> Counts:
        """Return the counts with more nodes for the first gang that a run leaves pending, the same where none helps."""
        pending = set(found.pending)
        waiting = [info for info in self._facts.pods if info.key in pending]
        for gang in gangs_of(waiting, self._scheduler.cluster):
            counts = grow_for(self._scheduler, self._trials, gang, found)
            if counts is not None:
                return counts
        return found.counts

    def _leave_out_unplaced(self) -> None:
        """Take the pods out of the cluster that stay pending whatever is added, so that they preempt no others."""
        facts = self._facts
        unplaced = {info.key for info in facts.unplaced}
        for info in facts.unplaced:
            waiting = self._scheduler.cluster.pending.get(info.key)
            if waiting is not None:
                self._scheduler.cluster.remove_pod(waiting)
        facts.pods = [info for info in facts.pods if info.key not in unplaced]
        made = self._trials.made
        self._trials = Trials(self._scheduler, facts.pods, facts.options, self._most, self._on_trial)
        self._trials.made = made

    def _propose(self, by: str, counts: Counts, growth: Growth | None = None) -> bool:
        """Try a plan; where the run places pods less well than was expected, with more nodes for what is left."""
        facts = self._facts
        for _ in range(_REPAIRS + len(gangs_of(facts.pods, self._scheduler.cluster))):
            found = self._trials.run(counts)
            cost = sorts.cost_of(facts.options, counts)
            facts.proposals.append(Proposal(by, counts, cost, found.complete))
            if found.complete:
                if facts.placement is None or cost < facts.cost - _EPSILON:
                    facts.placement = replace(found, placed=self._fitting | found.placed)
                return True
            if growth is None or not found.pending:
                return False
            more, left = growth.grow(facts.pods, EXPANDERS[0], found)
            if not left and more == counts:
                more = self._grow_for_gangs(found)
            is_worse = facts.placement is not None and sorts.cost_of(facts.options, more) >= facts.cost - _EPSILON
            if left or more == counts or is_worse:
                return False
            counts = more
        return False

    def _from_start(self, start: Counts, growth: Growth) -> None:
        """Take what the solver proposes, and grow from there until the pods are placed."""
        facts = self._facts
        if not sorts.within_limits(facts.options, start) or self._trials.exhausted:
            return
        counts, left = growth.grow(facts.pods, EXPANDERS[0], Placement(start))
        if not left and (facts.placement is None or sorts.cost_of(facts.options, counts) < facts.cost - _EPSILON):
            self._propose("solver", counts, growth)

    # -- smaller plans -------------------------------------------------------------

    def _is_done(self) -> bool:
        """Return whether nothing better is looked for."""
        facts = self._facts
        near = _NEAR if len(facts.pods) >= _MANY and not self._thorough else 0.0
        return facts.placement is not None and facts.gap <= near

    def _try_smaller(self, relaxation: Relaxation) -> None:
        """Try smaller plans: each of them if they are few, else those with a node less."""
        facts = self._facts
        if facts.placement is None or self._is_done():
            return
        smaller = self._smaller_plans(relaxation)
        if smaller is not None and len(smaller) <= self._most - self._trials.made:
            self._try_each(smaller)
            return
        while not self._trials.exhausted and self._try_neighbours():
            pass

    def _try_each(self, smaller: Sequence[Counts]) -> None:
        """Try plans, the least first; the first that is complete is the least, and if none is, the known one."""
        facts = self._facts
        for counts in smaller:
            if self._propose("search", counts):
                break
        facts.bound = Bound(facts.cost, BoundProof.SEARCH)

    def _smaller_plans(self, relaxation: Relaxation) -> list[Counts] | None:
        """Return every plan that costs less than the best and may be enough, the least first; None if too many."""
        facts, best = self._facts, self._facts.cost
        found: list[Counts] = []
        for looked_at, counts in enumerate(_in_order(facts.options, best)):
            if looked_at > _LISTED:
                return None
            cost = sorts.cost_of(facts.options, counts)
            possible = cost >= facts.bound.value - _EPSILON and sorts.within_limits(facts.options, counts)
            if possible and _is_enough(relaxation, counts):
                found.append(counts)
        return found

    def _try_neighbours(self) -> bool:
        """Try the best plan less a node, or with a dear one replaced by a cheap one; return whether one is complete."""
        facts = self._facts
        for counts in _neighbours(facts.options, facts.counts):
            cost = sorts.cost_of(facts.options, counts)
            if cost < facts.bound.value - _EPSILON or not sorts.within_limits(facts.options, counts):
                continue
            if self._trials.exhausted:
                return False
            if self._trials.might_fit(counts) and self._propose("search", counts):
                return True
        return False


def _in_order(options: Sequence[NodeOption], below: float) -> Iterator[Counts]:
    """Yield all plans that cost less than an amount, the least first, and of equal ones in a fixed order."""
    none: Counts = (0,) * len(options)
    heap: list[tuple[float, Counts, int]] = [(0.0, none, 0)]
    while heap:
        cost, counts, last = heappop(heap)
        yield counts
        # each plan is reached in one way: by options in ascending order
        for number in range(last, len(options)):
            more = cost + options[number].cost
            if more < below - _EPSILON:
                heappush(heap, (more, sorts.with_more(counts, number), number))


def _is_enough(relaxation: Relaxation, counts: Counts) -> bool:
    """Return whether sums of resources do not rule a plan out."""
    for resource in relaxation.resources():
        requested = sum(each.requests.get(resource, 0) * len(each.pods) for each in relaxation.classes)
        room = sum(heap.free[resource] for heap in relaxation.heaps)
        room += sum(count * relaxation.room[number][resource] for number, count in enumerate(counts))
        if requested > room:
            return False
    for kind, each in enumerate(relaxation.classes):
        most = sum(heap.most.get(kind, 0) for heap in relaxation.heaps)
        most += sum(count * relaxation.most.get((kind, number), 0) for number, count in enumerate(counts))
        if len(each.pods) > most:
            return False
    return True


def _neighbours(options: Sequence[NodeOption], counts: Counts) -> Iterator[Counts]:
    """Yield plans that cost less: without a node, and with one of another sort in its place."""
    used = sorted((number for number, count in enumerate(counts) if count), key=lambda each: -options[each].cost)
    for number in used:
        yield sorts.with_more(counts, number, -1)
    for number in used:
        for other, option in enumerate(options):
            if option.cost < options[number].cost - _EPSILON:
                yield sorts.with_more(sorts.with_more(counts, number, -1), other)
    for first in used:
        for second in used:
            fewer = sorts.with_more(sorts.with_more(counts, first, -1), second, -1)
            if second < first or min(fewer) < 0:
                continue
            for other, option in enumerate(options):
                if option.cost < options[first].cost + options[second].cost - _EPSILON:
                    yield sorts.with_more(fewer, other)
