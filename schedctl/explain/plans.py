"""The search for sets of changes that make a pod fit: smallest first, least invasive first, each tried on a fork.

A `Plan` holds what would undo all rejections of one node; `Search` tries plans until enough have helped, and extends
those that did not by what undoes the rejections that are left. What was found is worded in `hints`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from schedctl.api.tolerations import is_automatic
from schedctl.engine.attempts import Attempt
from schedctl.explain import pod_remedies
from schedctl.explain.remedies import PluginRemedies, join
from schedctl.explain.trials import NodeRejections, Trial, Trials, rejection_patterns, rejections_on
from schedctl.framework.remedies import Reach, Rejection, Remedy, Together
from schedctl.framework.statuses import Code
from schedctl.framework.usable_nodes import missing_share, open_nodes
from schedctl.reports.reasons import Reason

MOST_PLANS = 3
"""How many plans are told."""
_ENOUGH = 2
"""After so many plans that help, no changes of nodes or of other pods are tried; of sets of several, after one."""
_DEPTH = 3
"""How many tries a plan gets: a node may have further objections once the first are met."""
_MODELS = 2
"""Like how many nodes another one is tried."""
_TRIES_FOR_OTHER_PODS = 2
"""How many tries are kept for plans that make other pods go, where nothing has helped yet."""
_COMBINATIONS = 4
"""In how many ways the choices against the rejections of one node are combined."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The remedies that would undo the rejections of a node, which are named in Kubernetes' words.

    Attributes:
        node: the node, "" where the plan is for the pod as a whole.
        remedies: the changes.
        undoes: the reasons.
        tries: how often it was extended.
    """

    node: str
    remedies: Together
    undoes: tuple[str, ...] = ()
    tries: int = field(default=1, compare=False)

    @property
    def asked_about(self) -> str:
        """The node whose rejections show what else is needed: also that which would be added."""
        return pod_remedies.added_node(self._model) if self._model else self.node

    @property
    def _model(self) -> str:
        """The node like which another is added, "" for none."""
        return next((str(remedy.subject) for remedy in self.remedies if remedy.kind == pod_remedies.ADD_NODE), "")

    @property
    def adds_node(self) -> bool:
        """Whether another node is all that it takes."""
        return bool(self._model) and len(self.remedies) == 1

    def of_model(self, rejections: Sequence[Rejection]) -> tuple[Rejection, ...]:
        """Return the rejections of a node that is added as those of its model: plugins know no other node."""
        return tuple(each._replace(node=self._model) if self._model else each for each in rejections)

    @property
    def size(self) -> int:
        """Of how many changes it is made, besides mistakes that are corrected."""
        return sum(remedy.size for remedy in self.remedies)

    @property
    def reach(self) -> Reach:
        """How far it reaches."""
        return max((remedy.reach for remedy in self.remedies), default=Reach.POD)

    @property
    def cost(self) -> tuple[bool, int, Reach, int]:
        """How much it asks of people, for sorting: no set that leaves other pods alone is too large to come first."""
        others = self.reach is Reach.OTHER_PODS
        return others, self.size, self.reach, sum(remedy.effort for remedy in self.remedies)

    @property
    def shape(self) -> frozenset[object]:
        """What it is about; the amounts may differ."""
        return frozenset((remedy.kind, remedy.subject) for remedy in self.remedies)


class Search:
    """Finds the plans that help one pod.

    Attributes:
        preempting: what would make the pod fit once pods were preempted, where nothing else helps.
    """

    def __init__(self, offers: PluginRemedies, trials: Trials, node: str = "") -> None:
        """Begin with no plan.

        Args:
            offers: what the plugins know.
            trials: where plans are tried.
            node: what must become feasible, "" for any node.
        """
        self._offers = offers
        self._trials = trials
        self._node = node
        self._waiting: list[tuple[tuple[bool, int, Reach, int], int, Plan]] = []
        self._seen: set[frozenset[Remedy]] = set()
        self.preempting: list[tuple[Plan, Trial]] = []

    def add(self, plans: Iterable[Plan]) -> None:
        """Put plans in line, none twice."""
        for plan in plans:
            changes = frozenset(plan.remedies)
            if changes not in self._seen:
                self._seen.add(changes)
                # Of plans that ask for as much, the first comes first: its node is nearer.
                heapq.heappush(self._waiting, (plan.cost, len(self._seen), plan))

    def add_first(self, outcome: Attempt, reasons: Sequence[Reason], candidates: Sequence[str]) -> None:
        """Put in line what each candidate needs; one with a rejection that nothing is known against needs too much.

        Another node is one like those that are meant for the pod, if there are any.
        """
        if outcome.evaluated_column is None or not len(outcome.evaluated_column):
            needed = [self._offers.of_whole_pod(reason) for reason in reasons]
            if needed and all(needed):
                self.add([Plan("", join(needed), tuple(reason.text for reason in reasons))])
            return
        rejected = [NodeRejections(node, rejections_on(outcome, node)) for node in candidates]
        for each in rejected:
            self.add(self._plans_for(each))
        if not self._node:
            table, is_open = outcome.cluster.node_table, open_nodes(outcome.cluster, outcome.pod)
            models = sorted(rejected, key=lambda each: (not is_open[table.row_of[each.node]], _lasting(each)))
            self.add(Plan("", (pod_remedies.add_node(like.node),)) for like in models[:_MODELS])

    def extend(self, plan: Plan, trial: Trial) -> None:
        """Put in line what a plan that was tried lacks, on its node or on those that then reject the pod least."""
        left = [NodeRejections(plan.node, plan.of_model(trial.rejections))] if plan.asked_about else trial.nearest
        if plan.tries < _DEPTH:
            for each in left:
                self.add(self._plans_for(each, plan))

    def run(self, most: int | None = None) -> list[tuple[Plan, Trial]]:
        """Try plans until enough have helped; none is tried that asks for more than another that helps.

        Args:
            most: how many changes a plan may have, None for any number.
        """
        helped: list[tuple[Plan, Trial]] = []
        failed: dict[frozenset[object], int] = {}
        while self._waiting and self._trials.left and len(helped) < MOST_PLANS:
            plan = self._next(reserve=0 if helped else _TRIES_FOR_OTHER_PODS)
            # Beside a mistake that is corrected stands one other change, since the mistake may be none.
            limit = max(1, helped[0][0].size) if helped else most
            if limit is not None and plan.size > limit and not _is_alternative(plan, helped):
                continue
            if failed.get(plan.shape, 0) > 1 or _is_needless(plan, helped):
                continue
            trial = self._trials.attempt(plan.remedies, plan.asked_about, near=not plan.asked_about)
            if self._helps(trial):
                smaller, trial = self._without_the_needless(plan, trial)
                if any(other.result == trial.result for _, other in helped):
                    continue  # a rule is given up that was corrected first
                if smaller.reach is not Reach.OTHER_PODS:
                    helped = [each for each in helped if each[0].size <= max(1, smaller.size)]
                helped.append((smaller, trial))
                continue
            failed[plan.shape] = failed.get(plan.shape, 0) + 1
            if trial.nominated:
                self.preempting.append((plan, trial))
            self.extend(plan, trial)
        return sorted(helped, key=lambda each: each[0].cost)

    def _next(self, reserve: int) -> Plan:
        """Take the next plan out of the line; with the last tries, kept in reserve, the first that is about other pods.

        Such plans come last, and would never be tried where many sets of other changes do not help.
        """
        position = 0
        if self._trials.left <= reserve:
            others = [entry for entry in self._waiting if entry[2].reach is Reach.OTHER_PODS]
            position = self._waiting.index(min(others)) if others else 0
        if not position:
            return heapq.heappop(self._waiting)[2]
        plan = self._waiting.pop(position)[2]
        heapq.heapify(self._waiting)
        return plan

    def _helps(self, trial: Trial) -> bool:
        return (trial.feasible if self._node else bool(trial.fits)) and not trial.displaces

    def _without_the_needless(self, plan: Plan, trial: Trial) -> tuple[Plan, Trial]:
        """Return a plan without the changes that it does without, and what comes of it."""
        for remedy in plan.remedies if len(plan.remedies) > 1 else ():
            others = tuple(each for each in plan.remedies if each != remedy)
            if frozenset(others) in self._seen or not self._trials.left:
                continue  # it was tried, or will be if there is room
            self._seen.add(frozenset(others))
            smaller = self._trials.attempt(others, plan.node)
            if self._helps(smaller):
                return self._without_the_needless(Plan(plan.node, others, plan.undoes), smaller)
        return plan, trial

    def _plans_for(self, rejected: NodeRejections, before: Plan | None = None) -> Iterator[Plan]:
        """Yield the ways to undo what a node objects to, on top of what was changed before."""
        choices = [self._offers.of(rejection) for rejection in rejected.rejections]
        if not choices or not all(choices):
            return
        made, undone, tries = (before.remedies, before.undoes, before.tries + 1) if before else ((), (), 1)
        undoes = tuple(dict.fromkeys((*undone, *(each.text for each in rejected.rejections))))
        # All that there is against a single rejection, but not every combination of what there is against many.
        most = len(choices[0]) if len(choices) == 1 else _COMBINATIONS
        for combination in islice(product(*choices), most):
            # Nobody uncordons a machine that is not there yet.
            if rejected.node or all(remedy.reach is not Reach.NODE for each in combination for remedy in each):
                yield Plan(rejected.node, join((made, *combination)), undoes, tries)


def _lasting(rejected: NodeRejections) -> int:
    """Return how many rejections of a node a new one like it would share, empty, ready and not cordoned as it is."""
    unresolvable = [each for each in rejected.rejections if each.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE]
    return sum(
        each.plugin != "NodeUnschedulable" and not is_automatic(each.evidence.get("taint", {}).get("key", ""))
        for each in unresolvable
    )


def _is_needless(plan: Plan, helped: Sequence[tuple[Plan, Trial]]) -> bool:
    """Return whether what helped already makes it needless to try a plan."""
    if any(other.shape <= plan.shape or (other.adds_node and plan.adds_node) for other, _ in helped):
        return True
    farther = bool(helped) and plan.reach > helped[0][0].reach
    return farther and (
        (plan.size > 1 and not _is_alternative(plan, helped)) or (plan.reach >= Reach.NODE and len(helped) >= _ENOUGH)
    )


def _is_alternative(plan: Plan, helped: Sequence[tuple[Plan, Trial]]) -> bool:
    """Return whether a plan is one change, told beside changes of the pod however large it is.

    Where a node that is there can be had, nobody buys another.
    """
    kept = helped and all(other.reach < Reach.NODE for other, _ in helped)
    return bool(kept) and len(plan.remedies) == 1 and plan.reach is not Reach.OTHER_PODS


def candidates(outcome: Attempt, reasons: Sequence[Reason], most: int) -> list[str]:
    """Return the nodes to plan for: of each group of a reason one for each set of reasons, fewest reasons first."""
    patterns, nodes = rejection_patterns(outcome), outcome.evaluated_column
    missing = missing_share(nodes, outcome.pod) if nodes is not None else {}
    chosen: dict[str, int] = {}
    for reason in reasons:
        for group in reason.groups:
            seen = set()
            for name in sorted(group.nodes, key=lambda name: missing.get(name, 0)):
                pattern = patterns.get(name, ())
                if pattern and pattern not in seen:
                    seen.add(pattern)
                    chosen.setdefault(name, len(pattern))
    return sorted(chosen, key=chosen.__getitem__)[:most]
