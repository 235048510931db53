"""The search for the largest set of nodes that can go, and the drain that carries it out on a fork.

Nodes are tried one after another, each on what the ones before have left. In the end all are cordoned together and
drained in order, as ``schedctl drain`` does it, and only what that drain empties counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import combinations, permutations
from math import comb, perm

import msgspec

from schedctl.api.resources import CPU, MEMORY
from schedctl.autoscaling.detection import NodeGroups
from schedctl.autoscaling.groups import Autoscaler, NodeGroup
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.fit_error import message as fit_error
from schedctl.errors import NotModelled
from schedctl.reports import counts
from schedctl.reports.drains import DrainFate
from schedctl.reports.nodes import BoundProof, Keeper
from schedctl.scheduler import Scheduler
from schedctl.simulation.drains import DrainedNode, DrainFacts, DrainFlags, drain
from schedctl.simulation.replacement import successor
from schedctl.simulation.runs import Options
from schedctl.simulation.scale_downs.bounds import most_removed, requested, within_sizes
from schedctl.simulation.scale_downs.rules import (
    Obstacle,
    RemovalRules,
    belongs_to_system,
    movable_pods,
    obstacle,
)
from schedctl.workloads import pod_templates
from schedctl.workloads.disruption_budgets import Budgets

Price = Callable[[str], float | None]
"""Returns what a node costs per hour, None where that is not known."""
_PLACEMENTS = 5_000
"""How many placements trying larger sets may come to by default."""


class Removal(msgspec.Struct, frozen=True):
    """A node that can go.

    Attributes:
        name: its name.
        moved: where its pods would go, by key of the pod.
        lost: the pods that no controller recreates.
        frees: what it has of each resource, by resource.
        price: what it costs per hour, None where that is not known.
    """

    name: str
    moved: dict[str, str] = msgspec.field(default_factory=dict)
    lost: tuple[str, ...] = ()
    frees: dict[str, int] = msgspec.field(default_factory=dict)
    price: float | None = None


class ScaleDown(msgspec.Struct):
    """The facts of a shrink.

    Attributes:
        nodes: how many nodes there are that may be asked about.
        removals: those that can go, in the order in which they are drained.
        kept: why each of the others stays, by name.
        bound: how many can go at most.
        bound_by: what proves that.
        tried: how many removals were tried.
        interrupted: whether the user ended the search.
        preempted: the pods that others would preempt, where that is allowed.
    """

    nodes: int = 0
    removals: list[Removal] = msgspec.field(default_factory=list)
    kept: dict[str, Obstacle] = msgspec.field(default_factory=dict)
    bound: int = 0
    bound_by: BoundProof = BoundProof.RESOURCES
    tried: int = 0
    interrupted: bool = False
    preempted: list[str] = msgspec.field(default_factory=list)


def shrink(
    scheduler: Scheduler,
    groups: NodeGroups,
    rules: RemovalRules,
    *,
    price: Price = lambda node: None,
    effort: int = 0,
    on_trial: Callable[[int, int], None] = lambda made, most: None,
) -> ScaleDown:
    """Return which nodes can go; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        groups: the groups of its nodes.
        rules: what may be done.
        price: what a node costs; the dear ones go first.
        effort: how many further removals are tried beyond one of each node, 0 for what suits.
        on_trial: called with how many were tried, and how many are to be.
    """
    facts = ScaleDown(nodes=len(scheduler.cluster.node_table.row_of))
    with scheduler.fork():
        search = _Search(scheduler, groups, rules, price, facts, on_trial)
        try:
            search.run(effort)
        except KeyboardInterrupt:
            facts.interrupted = True
            search.note_interrupted()
    return facts


@contextmanager
def apply_removals(cluster: Cluster, facts: ScaleDown) -> Iterator[None]:
    """Have the pods of a shrink where they would go, for the length of a ``with`` block; the nodes stay, emptied."""
    with cluster.fork():
        table = cluster.pod_table
        moved = {pod: node for removal in facts.removals for pod, node in removal.moved.items()}
        for key in (*moved, *(pod for removal in facts.removals for pod in removal.lost), *facts.preempted):
            if key not in table.row_of:  # made anew by its controller, and preempted then
                continue
            info = table.infos[table.row_of[key]]
            cluster.remove_pod(info)
            if key in moved:
                cluster.assume(info, moved[key])
        yield


class _Search:
    """A search while it goes on."""

    def __init__(
        self,
        scheduler: Scheduler,
        groups: NodeGroups,
        rules: RemovalRules,
        price: Price,
        facts: ScaleDown,
        on_trial: Callable[[int, int], None],
    ) -> None:
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._groups = {name: group for group in groups.groups for name in group.nodes}
        self._rules = rules
        self._price = price
        self._facts = facts
        self._on_trial = on_trial
        self._budgets = Budgets.of(self._cluster)
        self._most = 0
        self._best: list[str] = []
        self._pods: dict[str, list[PodInfo]] = {}
        self._origins: dict[str, str] = {}

    def run(self, effort: int) -> None:
        """Fill in the facts."""
        facts = self._facts
        candidates = self._candidates()
        pods = {name: self._pods[name] for name in candidates}
        facts.bound, facts.bound_by = most_removed(
            self._cluster, pods, self._groups, by_resources=not self._rules.allow_preemption
        )
        self._most = len(candidates)
        chosen: list[str] = []
        if facts.bound:
            with self._scheduler.fork():
                self._leave_pending_out()
                chosen = self._one_by_one(candidates)
        self._carry_out(chosen)
        self._try_larger(candidates, effort)
        self._say_why_kept(candidates)

    def note_interrupted(self) -> None:
        """Say of the nodes about which nothing is known that the search was ended before."""
        gone = {each.name for each in self._facts.removals}
        for name in self._cluster.node_table.row_of:
            if name not in gone:
                why = Obstacle(Keeper.INTERRUPTED, "the search was interrupted before it was known")
                self._facts.kept.setdefault(name, why)

    # -- candidates ----------------------------------------------------------------

    def _candidates(self) -> list[str]:
        """Return the nodes that no rule keeps, the dearest and emptiest first; the others are noted."""
        found = []
        for name in sorted(self._cluster.node_table.row_of):
            why = obstacle(self._cluster, name, self._groups.get(name), self._rules, self._budgets)
            why = why or self._of_cluster_autoscaler(name)
            if why is not None:
                self._facts.kept[name] = why
            else:
                found.append(name)
        self._pods = {name: movable_pods(self._cluster, name) for name in found}
        use = {name: _share_requested(self._cluster, name, self._pods[name]) for name in found}
        return sorted(found, key=lambda name: (-(self._price(name) or 0.0), use[name], len(self._pods[name]), name))

    def _of_cluster_autoscaler(self, name: str) -> Obstacle | None:
        group = self._groups.get(name)
        if group is None or group.autoscaler is not Autoscaler.CLUSTER_AUTOSCALER:
            return None
        for info in movable_pods(self._cluster, name):
            if belongs_to_system(info, self._budgets):
                text = f"pod {info.key}: of the system and without a budget, which Cluster Autoscaler leaves in place"
                return Obstacle(Keeper.BUDGET, text, (info.key,))
        return None

    # -- one after another ---------------------------------------------------------

    def _leave_pending_out(self) -> None:
        """Take pending pods out of the cluster: they find no room now, and will not where there is less."""
        for info in list(self._cluster.pending.values()):
            self._cluster.remove_pod(info)

    def _one_by_one(self, candidates: Sequence[str]) -> list[str]:
        """Remove nodes as long as their pods find another place, and return them; why others stay is noted."""
        facts, chosen = self._facts, list[str]()
        sizes: dict[str, int] = {}
        with ExitStack() as removed:
            for name in candidates:
                group = self._groups.get(name)
                gone = sizes.get(group.name, 0) if group is not None else 0
                if group is not None and len(group.nodes) - gone <= group.min_size:
                    facts.kept[name] = _at_its_least(group)
                    continue
                facts.tried += 1
                self._on_trial(facts.tried, self._most)
                with ExitStack() as trial:
                    trial.enter_context(self._scheduler.fork())
                    why = self._remove(name)
                    if why is None:
                        removed.push(trial.pop_all())  # the next are tried on what this one has left
                if why is None:
                    chosen.append(name)
                    if group is not None:
                        sizes[group.name] = gone + 1
                else:
                    facts.kept[name] = why
        return chosen

    def _remove(self, name: str) -> Obstacle | None:
        """Remove a node and place its pods elsewhere; return why that does not work, None if it does."""
        cluster = self._cluster
        node_edits.edit_node(cluster, name, node_edits.cordon)
        pods = movable_pods(cluster, name)
        waiting = []
        for info in pods:
            cluster.remove_pod(info)
            made = successor(info.pod, lambda key: pod_templates.exists(key, cluster))
            if made is not None:
                self._origins[made.key] = self._origins.get(info.key, info.key)
                waiting.append(info.as_now(made))
        for info in sorted(waiting, key=lambda each: -each.priority):
            cluster.add_pod(info)
            why = self._place(info)
            if why is not None:
                return why
        return None

    def _place(self, info: PodInfo) -> Obstacle | None:
        scheduler, key = self._scheduler, self._origins.get(info.key, info.key)
        if scheduler.profile_of(info) is None:
            name = info.pod.spec.scheduler_name
            return Obstacle(Keeper.NO_ROOM, f"pod {key}: scheduler {name} would have to place it", (key,))
        try:
            outcome = scheduler.attempt(info, make_room=False, admitted=True)
        except NotModelled as missing:
            return Obstacle(Keeper.NO_ROOM, f"pod {key}: not modelled: {missing}", (key,))
        placed = outcome.fits and scheduler.place(outcome).status.successful and scheduler.bind(outcome).successful
        if placed:
            return None
        message = outcome.error or fit_error(outcome)
        return Obstacle(Keeper.NO_ROOM, f"pod {key} would fit on no other node", (key,), message)

    # -- all together --------------------------------------------------------------

    def _carry_out(self, chosen: Sequence[str]) -> None:
        """Have the chosen nodes drained; those at which that fails, and what rests on them, are left out."""
        names = list(chosen)
        while names:
            found, failed = self._drained(names)
            if failed is None:
                self._take(names, found)
                return
            name, why = failed
            self._facts.kept[name] = why
            names.remove(name)
        self._facts.removals = []

    def _take(self, names: Sequence[str], found: DrainFacts) -> None:
        self._best = list(names)
        self._facts.removals = [self._removal(node) for node in found.nodes]
        self._facts.preempted = sorted(each.eviction.pod.key for each in found.displaced)

    def _drained(self, names: Sequence[str]) -> tuple[DrainFacts, tuple[str, Obstacle] | None]:
        """Return what a drain of nodes comes to, and the last of them at which it fails, with why."""
        self._facts.tried += 1
        flags = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True, force=True)
        with self._scheduler.fork():
            self._leave_pending_out()
            found = drain(self._scheduler, names, flags, options=Options(trace=False))
        if found.interrupted:
            raise KeyboardInterrupt
        if found.displaced and not self._rules.allow_preemption:
            victim = found.displaced[0].eviction
            nodes = [node.name for node in found.nodes for pod in node.pods if pod.successor == victim.by]
            why = Obstacle(Keeper.PREEMPTION, f"pod {victim.pod.key} on {victim.node} would be preempted", (victim.by,))
            return found, (nodes[0] if nodes else names[-1], why)
        for node in reversed(found.nodes):
            failure = _failure(node)
            if failure is not None:
                return found, (node.name, failure)
        return found, None

    def _removal(self, node: DrainedNode) -> Removal:
        moved = {pod.info.key: pod.successor_node for pod in node.pods if pod.fate is DrainFate.MOVED}
        lost = tuple(pod.info.key for pod in node.pods if pod.fate is DrainFate.LOST)
        nodes = self._cluster.nodes_named([node.name])
        frees = {resource: int(nodes.allocatable(resource)[0]) for resource in (CPU, MEMORY)}
        return Removal(node.name, moved, lost, frees, self._price(node.name))

    # -- larger sets ---------------------------------------------------------------

    def _try_larger(self, candidates: Sequence[str], effort: int) -> None:
        """Try larger sets: each in every order where they are few, else those with a node more in two orders.

        The order of a drain decides where pods go, so that only all orders of all larger sets prove anything.
        """
        facts = self._facts
        placements = max(1, sum(len(self._pods[name]) for name in candidates) // 2)
        most = effort or _PLACEMENTS // placements
        if facts.bound <= len(facts.removals):
            facts.bound = len(facts.removals)
            return
        sizes = range(facts.bound, len(facts.removals), -1)
        if sum(perm(len(candidates), size) for size in sizes) <= most:
            self._try_each(chosen for size in sizes for chosen in permutations(candidates, size))
            facts.bound, facts.bound_by = len(facts.removals), BoundProof.SEARCH
            return
        while facts.bound > len(facts.removals) and comb(len(candidates), len(facts.removals) + 1) * 2 <= most:
            larger = combinations(candidates, len(facts.removals) + 1)
            if not self._try_each(order for chosen in larger for order in (chosen, chosen[::-1])):
                return

    def _try_each(self, sets: Iterable[Sequence[str]]) -> bool:
        """Take the first of some sets that can go; return whether any can."""
        for chosen in sets:
            if within_sizes(chosen, self._groups) < len(chosen):
                continue
            self._on_trial(self._facts.tried, self._facts.tried + 1)
            found, failed = self._drained(chosen)
            if failed is None:
                self._take(chosen, found)
                return True
        return False

    def _say_why_kept(self, candidates: Sequence[str]) -> None:
        """Note why candidates stay that were left out only because others go."""
        gone = {each.name for each in self._facts.removals}
        for name in gone:
            self._facts.kept.pop(name, None)
        beside = f" beside those of the {counts.nodes(len(gone))} that go" if gone else ""
        for name in candidates:
            group = self._groups.get(name)
            if name in gone or name in self._facts.kept:
                continue
            if group is not None and len(group.nodes) <= group.min_size:
                self._facts.kept[name] = _at_its_least(group)
            else:
                text = f"the other nodes have no room for its pods{beside}"
                self._facts.kept[name] = Obstacle(Keeper.NO_ROOM, text)


def _at_its_least(group: NodeGroup) -> Obstacle:
    return Obstacle(Keeper.GROUP_SIZE, f"group {group.name} has {counts.nodes(group.min_size)} at least")


def _failure(node: DrainedNode) -> Obstacle | None:
    """Return why a drained node is not rid of its pods, or a pod of it has no place; None if all is well."""
    if node.refusals:
        return Obstacle(Keeper.BUDGET, node.refusals[0])
    for pod in node.pods:
        if pod.blocked is not None:
            text = f"pod {pod.info.key}: PodDisruptionBudget {pod.blocked.budget} allows no eviction"
            return Obstacle(Keeper.BUDGET, text, (pod.info.key,))
        if pod.fate in (DrainFate.PENDING, DrainFate.FOREIGN_SCHEDULER, DrainFate.INCONCLUSIVE):
            message = pod.outcome.message if pod.outcome is not None else ""
            return Obstacle(Keeper.NO_ROOM, f"pod {pod.info.key} would fit on no other node", (pod.info.key,), message)
    return None


def _share_requested(cluster: Cluster, name: str, pods: Sequence[PodInfo]) -> float:
    """Return how much of a node has to move, the larger of the shares of cpu and memory."""
    nodes = cluster.nodes_named([name])
    shares = [0.0]
    for resource in (CPU, MEMORY):
        offered = int(nodes.allocatable(resource)[0])
        if offered:
            shares.append(sum(requested(info, resource) for info in pods) / offered)
    return max(shares)
