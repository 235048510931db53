"""Consolidation as Karpenter does it: empty nodes go, then several at once, then one, perhaps for a cheaper one.

Each command is carried out on the model before the next is looked for, until Karpenter finds none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest

import msgspec
from msgspec.structs import replace

from schedctl.api import node_labels
from schedctl.api.topology import HOSTNAME
from schedctl.cache.pod_info import PodInfo
from schedctl.reports import counts
from schedctl.reports.nodes import Keeper
from schedctl.simulation.karpenter.candidates import EMPTY, UNDERUTILIZED, Candidate, allowed, candidate
from schedctl.simulation.karpenter.models import Model, ModelNode
from schedctl.simulation.karpenter.offers import OfferedType, Offering, enough_values
from schedctl.simulation.karpenter.preparation import PreparedModel
from schedctl.simulation.karpenter.solving import Solution, solve
from schedctl.simulation.karpenter.targets import Claim
from schedctl.simulation.karpenter.value_sets import ANY, ValueSet, narrow
from schedctl.simulation.karpenter.waiting_pods import WaitingPod, waiting_pod
from schedctl.simulation.scale_downs.rules import Obstacle
from schedctl.workloads.disruption_budgets import Budgets

_MOST_AT_ONCE = 100
"""How many nodes multi-node consolidation looks at."""


class Method(StrEnum):
    """By which of its methods Karpenter finds a command, in the order in which it tries them."""

    EMPTINESS = "Emptiness"
    MULTI_NODE = "MultiNode"
    SINGLE_NODE = "SingleNode"


class Replacement(msgspec.Struct, frozen=True):
    """The node that is launched instead.

    Attributes:
        name: its name here.
        claim: what Karpenter asks the cloud for.
        instance_type, offering: the cheapest of that, which the cloud is taken to launch.
    """

    name: str
    claim: Claim
    instance_type: OfferedType
    offering: Offering


class Command(msgspec.Struct, frozen=True):
    """What Karpenter would do next.

    Attributes:
        method: how it is found.
        nodes: those that go.
        replacement: the node that is launched instead, None for none.
        moved: where Karpenter expects the pods, by key.
        started: where it expects pods that wait, by key.
        price: what the nodes cost per hour, None where that is not known.
    """

    method: Method
    nodes: tuple[str, ...]
    replacement: Replacement | None = None
    moved: Mapping[str, str] = msgspec.field(default_factory=dict)
    started: Mapping[str, str] = msgspec.field(default_factory=dict)
    price: float | None = None

    @property
    def saved(self) -> float | None:
        """What it saves per hour, None where that is not known."""
        if self.replacement is None or self.price is None:
            return self.price
        price = self.replacement.offering.price
        return self.price - price if price is not None else None


class Consolidation(msgspec.Struct):
    """The facts of a consolidation.

    Attributes:
        commands: in order.
        kept: why each of the other nodes stays, by name.
        interrupted: whether the user ended the search.
    """

    commands: list[Command] = msgspec.field(default_factory=list)
    kept: dict[str, Obstacle] = msgspec.field(default_factory=dict)
    interrupted: bool = False


def consolidate(
    model: Model,
    budgets: Budgets,
    annotations: Mapping[str, dict[str, str]],
    pending: Sequence[PodInfo] = (),
    *,
    on_command: Callable[[int], None] = lambda made: None,
) -> Consolidation:
    """Return what Karpenter would do until nothing is left to consolidate; the model is changed.

    Args:
        model: the cluster.
        budgets: the disruption budgets of its pods.
        annotations: those of each node.
        pending: pods that wait for a node, which Karpenter places first.
        on_command: called with how many commands were found.
    """
    consolidator = _Consolidator(model, budgets, annotations, [waiting_pod(info) for info in pending])
    try:
        while (command := consolidator.next_command()) is not None:
            consolidator.carry_out(command)
            on_command(len(consolidator.facts.commands))
    except KeyboardInterrupt:
        consolidator.facts.interrupted = True
    return consolidator.facts


class _Consolidator:
    """A consolidation while it goes on."""

    def __init__(
        self, model: Model, budgets: Budgets, annotations: Mapping[str, dict[str, str]], pending: Sequence[WaitingPod]
    ) -> None:
        self.facts = Consolidation()
        self._model = model
        self._prepared = PreparedModel(model)
        self._budgets = budgets
        self._annotations = annotations
        self._pending = {pod.key: pod for pod in pending}
        self._launched = 0

    def next_command(self) -> Command | None:
        """Return the next command, None where there is none; why nodes stay is noted."""
        self.facts.kept = {}
        candidates = self._candidates()
        return self._empty(candidates) or self._multi_node(candidates) or self._single_node(candidates)

    def carry_out(self, command: Command) -> None:
        """Do in the model what a command says."""
        nodes, moving = self._model.nodes, dict[str, PodInfo]()
        for name in command.nodes:
            moving |= {info.key: info for info in nodes.pop(name).rescheduled()}
        if command.replacement is not None:
            replacement = command.replacement
            nodes[replacement.name] = _node_of(replacement)
            self._launched += 1
        for key, name in command.moved.items():
            nodes[name].pods.append(moving[key])
        for key, name in command.started.items():
            nodes[name].pods.append(self._pending.pop(key).info)
        changed = {*command.nodes, *command.moved.values(), *command.started.values()}
        self._prepared.update(changed | ({command.replacement.name} if command.replacement else set()))
        self.facts.commands.append(command)

    # -- candidates ----------------------------------------------------------------

    def _candidates(self) -> list[Candidate]:
        """Return the nodes that may be consolidated, those whose pods cost least first."""
        found = []
        for name, node in sorted(self._model.nodes.items()):
            each = candidate(node, self._model.pools, self._budgets, self._annotations.get(name, {}))
            if isinstance(each, Candidate):
                found.append(each)
            else:
                self.facts.kept[name] = each
        return sorted(found, key=lambda each: each.cost)

    def _within_budgets(self, candidates: Sequence[Candidate], reason: str) -> list[Candidate]:
        """Return candidates as far as the budgets of their pools allow it at a time; the others are noted."""
        left: dict[str, int] = {}
        found = []
        for each in candidates:
            pool = each.pool
            if pool.name not in left:
                size = sum(node.pool == pool.name and node.exists for node in self._model.nodes.values())
                left[pool.name] = allowed(pool.written, size, reason)
            if left[pool.name] > 0:
                left[pool.name] -= 1
                found.append(each)
            else:
                text = f"the disruption budgets of NodePool {pool.name} allow no more nodes at a time"
                self.facts.kept[each.node.name] = Obstacle(Keeper.DISRUPTION, text)
        return found

    # -- methods -------------------------------------------------------------------

    def _empty(self, candidates: Sequence[Candidate]) -> Command | None:
        empty = self._within_budgets([each for each in candidates if not each.pods], EMPTY)
        return Command(Method.EMPTINESS, _names(empty), price=_price(empty)) if empty else None

    def _multi_node(self, candidates: Sequence[Candidate]) -> Command | None:
        """Look for the largest number of first candidates that can go together, by halving."""
        usable = self._within_budgets([each for each in candidates if each.pods], UNDERUTILIZED)
        low, high = 2, min(len(usable), _MOST_AT_ONCE + 1)
        best: Command | None = None
        while low <= high:
            # of as many candidates as Karpenter would try first
            number = (low + high) // 2
            found: Command | Obstacle | None = self._compute(usable[:number], Method.MULTI_NODE)
            if isinstance(found, Command) and found.replacement is not None:
                found = self._without_same_type(found, usable[:number])
            if isinstance(found, Command):
                best, low = found, number + 1
            else:
                high = number - 1
        return best

    def _single_node(self, candidates: Sequence[Candidate]) -> Command | None:
        """Look for one node that can go, in turn of each pool."""
        by_pool: dict[str, list[Candidate]] = {}
        for each in candidates:
            by_pool.setdefault(each.pool.name, []).append(each)
        for turn in zip_longest(*(by_pool[name] for name in sorted(by_pool))):
            for each in turn:
                if each is None or not each.pods:
                    continue
                if not self._within_budgets([each], UNDERUTILIZED):
                    continue
                found = self._compute([each], Method.SINGLE_NODE)
                if isinstance(found, Command):
                    return found
                self.facts.kept[each.node.name] = found
        return None

    # -- one command ---------------------------------------------------------------

    def _compute(self, candidates: Sequence[Candidate], method: Method) -> Command | Obstacle:
        """Return how some nodes could go together, or why they cannot."""
        names = _names(candidates)
        pods = [waiting_pod(info) for each in candidates for info in each.pods]
        solution = solve(self._prepared, [*self._pending.values(), *pods], without=names)
        stuck = [step for key, step in solution.unplaced.items() if key not in self._pending]
        if stuck:
            why = next(iter(stuck[0].refusals.values()), "no NodePool may launch a node")
            text = f"pod {stuck[0].pod} would find no other node, and Karpenter launches none for it: {why}"
            return Obstacle(Keeper.NO_ROOM, text, (stuck[0].pod,))
        for name, placed in solution.existing.items():
            moved = [pod.key for pod in placed if pod.key not in self._pending]
            if moved and not self._model.nodes[name].initialized:
                text = f"pod {moved[0]} would have to run on {name}, which is not initialized yet"
                return Obstacle(Keeper.NO_ROOM, text, (moved[0],))
        if not solution.claims:
            places = self._places(solution, "")
            return Command(method, names, None, *places, _price(candidates))
        if len(solution.claims) > 1:
            whose = "its pods and those that are pending" if self._pending else "its pods"
            return Obstacle(Keeper.NO_ROOM, f"{whose} would need {counts.of(len(solution.claims), 'new node')}")
        return self._replace(candidates, solution, method)

    def _replace(self, candidates: Sequence[Candidate], solution: Solution, method: Method) -> Command | Obstacle:
        """Return the replacement of nodes by a cheaper one, or why there is none."""
        (claim,) = solution.claims
        capacity = claim.requirements.get(node_labels.CAPACITY_TYPE, ANY)
        price = _price(candidates)
        if price is None:
            return Obstacle(Keeper.NO_ROOM, "its pods need a new node, and no price says whether one is cheaper")
        if all(each.is_spot for each in candidates) and capacity.allows(node_labels.SPOT):
            return Obstacle(
                Keeper.NO_ROOM, "spot capacity is not replaced by spot capacity (SpotToSpotConsolidation is off)"
            )
        claim = _cheaper(claim, price)
        if not claim.types or not enough_values(claim.types, claim.requirements):
            return Obstacle(Keeper.NO_ROOM, "its pods need a new node, and no cheaper one has room for them")
        if capacity.allows(node_labels.SPOT) and capacity.allows(node_labels.ON_DEMAND):
            # on-demand capacity might be dearer than what goes: the cloud may give spot capacity only
            spot = ((node_labels.CAPACITY_TYPE, ValueSet(frozenset((node_labels.SPOT,)))),)
            claim = replace(claim, requirements=narrow(claim.requirements, spot))
        return self._command(candidates, claim, solution, method)

    def _command(
        self, candidates: Sequence[Candidate], claim: Claim, solution: Solution, method: Method
    ) -> Command | Obstacle:
        chosen = claim.cheapest()
        if chosen is None:
            return Obstacle(Keeper.NO_ROOM, "only spot capacity would surely be cheaper, and none has room")
        instance_type, offering = chosen
        name = f"{claim.pool.name}-replacement-{self._launched + 1}"
        moved, started = self._places(solution, name)
        new = Replacement(name, claim, instance_type, offering)
        return Command(method, _names(candidates), new, moved, started, _price(candidates))

    def _without_same_type(self, command: Command, candidates: Sequence[Candidate]) -> Command | None:
        """Return a command whose replacement is no node of a type that goes, nor a dearer one; None if none is left.

        To replace several nodes by one of their own types is no better than to keep that one.
        """
        assert command.replacement is not None
        claim = command.replacement.claim
        names = {each.name for each in claim.types}
        same = [each.node.price for each in candidates if each.instance_type in names and each.node.price is not None]
        if same:
            claim = _cheaper(claim, min(same))
        is_enough = claim.types and enough_values(claim.types, claim.requirements)
        chosen = claim.cheapest() if is_enough else None
        if chosen is None:
            return None
        instance_type, offering = chosen
        return replace(command, replacement=Replacement(command.replacement.name, claim, instance_type, offering))

    def _places(self, solution: Solution, new: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return where Karpenter expects the pods of the nodes that go, and pods that wait."""
        found = {pod.key: name for name, pods in solution.existing.items() for pod in pods}
        found |= {pod.key: new for claim in solution.claims for pod in claim.pods}
        moved = {key: name for key, name in sorted(found.items()) if key not in self._pending}
        return moved, {key: name for key, name in sorted(found.items()) if key in self._pending}


def _names(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    return tuple(each.node.name for each in candidates)


def _price(candidates: Sequence[Candidate]) -> float | None:
    """Return what nodes cost together, None where a price is not known."""
    prices = [each.node.price for each in candidates if each.node.price is not None]
    return sum(prices) if len(prices) == len(candidates) else None


def _cheaper(claim: Claim, price: float) -> Claim:
    """Return a claim with the types that are cheaper than a price at their worst."""
    types = tuple(each for each in claim.types if (worst := _worst_price(each, claim)) is not None and worst < price)
    return replace(claim, types=types)


def _worst_price(instance_type: OfferedType, claim: Claim) -> float | None:
    """Return what a type may cost at most: as spot capacity if it is offered so, else as on-demand; None if unknown."""
    offerings = list(instance_type.offerings_for(claim.requirements))
    for capacity_type in (node_labels.SPOT, node_labels.ON_DEMAND):
        prices = [each.price for each in offerings if each.capacity_type == capacity_type]
        if prices:
            known = [each for each in prices if each is not None]
            return max(known) if len(known) == len(prices) else None
    return None


def _node_of(replacement: Replacement) -> ModelNode:
    """Return the node that a replacement becomes."""
    template, instance_type = replacement.offering.template, replacement.instance_type
    labels = dict(template.node.metadata.labels or {}) if template is not None else {}
    labels[HOSTNAME] = replacement.name
    return ModelNode(
        replacement.name,
        labels,
        replacement.claim.pool.taints,
        instance_type.allocatable,
        instance_type.capacity,
        price=replacement.offering.price,
    )
