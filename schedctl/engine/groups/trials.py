"""A pod group tried in one placement: each pod in an ordinary cycle, assumed before the next, in a fork.

What is left is facts: the attempt of each pod that was tried, and how far the group got. `cycles` makes one trial of
each placement and chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

import msgspec

from schedctl.cache.cluster import Cluster
from schedctl.engine.attempts import Attempt, attempt
from schedctl.engine.batching.signature_cache import SignatureCache
from schedctl.engine.binding import BindingCycle
from schedctl.engine.faults import PASSING, plugin_fault
from schedctl.engine.fit_error import message
from schedctl.engine.nominators import Nominator
from schedctl.engine.reporters import Reporter
from schedctl.framework.faults import ESCAPING
from schedctl.framework.group_points import Assignment, GroupCycle, Placement, PlacementProgress
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SUCCESS, Code, Status, error, none_available

NodeChooser = Callable[[Attempt], str]
"""Returns which of the equally good nodes a pod takes, of an attempt that found some."""

UNSCHEDULABLE = "pod group is unschedulable"
"""What kube-scheduler says first of a group that it gives up on."""


FEW_PODS = 5
"""Up to how many pods are judged anew in a part of the cluster: what is remembered of the first pays off later."""


def first_by_name(outcome: Attempt) -> str:
    """Return the first by name of the nodes with the best score."""
    return outcome.chosen


class Surroundings(msgspec.Struct, frozen=True):
    """Where a group is tried.

    Attributes:
        profile: the plugins to run.
        cluster: what to place the pods on.
        nominator: the pods promised to nodes.
        cache: what is remembered of earlier pods, None to ask everything anew.
        choose: which of several equally good nodes a pod takes.
    """

    profile: Profile
    cluster: Cluster
    nominator: Nominator
    cache: SignatureCache | None = None
    choose: NodeChooser = first_by_name


class Member(msgspec.Struct):
    """What became of one pod of the group in a placement.

    Attributes:
        outcome: its cycle.
        status: Success, a refusal with the FailedScheduling line, or a fault.
        node_name: the node it found, "" for none.
    """

    outcome: Attempt
    status: Status
    node_name: str = ""


class Trial(msgspec.Struct):
    """What became of a group in one placement.

    Attributes:
        placement: the nodes.
        members: the pods that were tried, in order.
        feasible: PlacementFeasible's last word.
        status: what follows from it for the group in this placement.
    """

    placement: Placement
    members: list[Member] = msgspec.field(default_factory=list)
    feasible: Status = SUCCESS
    status: Status = SUCCESS

    @property
    def places_any(self) -> bool:
        """Whether any pod found a node."""
        return any(member.status.successful for member in self.members)

    @property
    def assignments(self) -> list[Assignment]:
        """The pods that found nodes, in the order of trying."""
        return [
            Assignment(member.outcome.pod, member.node_name, member.outcome.cycle)
            for member in self.members
            if member.status.successful
        ]


def give_up(reasons: Sequence[str]) -> Status:
    """Return the refusal of a group, for these reasons."""
    return Status(Code.UNSCHEDULABLE, (UNSCHEDULABLE, *reasons))


def cause_of(status: Status) -> str:
    """Return what kube-scheduler quotes of a refusal: the error behind it, if there is one, else its reasons."""
    return UNSCHEDULABLE if status.reasons[:1] == (UNSCHEDULABLE,) else status.message


def place_in(
    where: Surroundings, cycle: GroupCycle, placement: Placement, *, whole: bool, to_the_end: bool = False
) -> Trial:
    """Try a group in a placement and return what became of it; the cluster is as before.

    Args:
        where: the profile and the cluster.
        cycle: the group.
        placement: the nodes.
        whole: whether the placement is all nodes of the cluster.
        to_the_end: whether pods are tried that kube-scheduler no longer tries, because too few are left.
    """
    trial = Trial(placement)
    cycle.cycles.clear()
    progress = PlacementProgress(len(cycle.scheduled), len(cycle.pods))
    trial.feasible = trial.status = _ask_feasible(where.profile, cycle, progress)
    if trial.feasible.code is Code.ERROR:
        trial.status = error(f"failed to evaluate placement feasibility: {trial.feasible.message}")
        return trial
    if trial.feasible.code is Code.UNSCHEDULABLE and not to_the_end:
        trial.status = give_up(trial.feasible.reasons)
        return trial
    cache = where.cache if whole else _memory_of(where, cycle, placement)
    # the fork takes back what the cluster holds, Unreserve what plugins hold themselves
    with where.cluster.fork(), where.nominator.fork(), ExitStack() as reservations:
        for pod in cycle.pods:
            outcome = attempt(
                where.profile,
                where.cluster,
                pod,
                where.nominator,
                cache=cache,
                make_room=False,
                admitted=True,
                among=None if whole else placement.nodes,
            )
            member = _settle(where, outcome, reservations)
            trial.members.append(member)
            cycle.cycles[pod.key] = outcome.cycle
            if not member.status.successful and not member.status.is_rejected:
                trial.status = error(f"failed to schedule other pod from a pod group: {member.status.message}")
                return trial
            progress = PlacementProgress(progress.scheduled + member.status.successful, progress.remaining - 1)
            trial.feasible = trial.status = _ask_feasible(where.profile, cycle, progress)
            if trial.feasible.code is Code.ERROR:
                trial.status = error(f"failed to evaluate placement feasibility: {trial.feasible.message}")
            if trial.feasible.code is Code.ERROR or (trial.feasible.code is Code.UNSCHEDULABLE and not to_the_end):
                return trial
    if trial.feasible.code is Code.WAIT:
        trial.status = give_up(trial.feasible.reasons)
    return trial


def _memory_of(where: Surroundings, cycle: GroupCycle, placement: Placement) -> SignatureCache | None:
    """Return a memory for the length of one trial in a part of the cluster, None where each pod is judged anew."""
    if where.cache is None or len(cycle.pods) <= FEW_PODS:
        return None
    return where.cache.within(placement.nodes)


def _settle(where: Surroundings, outcome: Attempt, reservations: ExitStack) -> Member:
    """Assume a pod that found a node, so that the next one sees it, and return what became of it.

    It is given up again where the reservations end, the last pod first.
    """
    if not outcome.fits:
        if outcome.error:
            return Member(outcome, error(outcome.error))
        code = Code.UNSCHEDULABLE if outcome.total_nodes else Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        return Member(outcome, Status(code, (message(outcome),)))
    node_name = where.choose(outcome)
    binding = BindingCycle(where.profile, where.cluster, outcome.cycle, node_name, Reporter())
    reservations.callback(binding.give_up, SUCCESS)
    status = binding.assume()
    if status.successful:
        where.nominator.withdraw(outcome.pod)
        return Member(outcome, status, node_name)
    if status.is_rejected:
        status = Status(status.code, (none_available(1, dict.fromkeys(status.reasons, 1)),), status.plugin)
    return Member(outcome, status)


def _ask_feasible(profile: Profile, cycle: GroupCycle, progress: PlacementProgress) -> Status:
    """Return what the plugins say together: the first refusal or fault, else Wait if one says so."""
    answer = SUCCESS
    for plugin in profile.placement_feasible:
        try:
            status = plugin.placement_feasible(cycle, progress)
        except PASSING:
            raise
        except ESCAPING as fault:
            return error(f"running PlacementFeasible plugin: {plugin_fault(plugin, fault)}").by(plugin.name)
        if status.code is Code.WAIT:
            answer = status.by(plugin.name)
        elif status.code is Code.UNSCHEDULABLE:
            return status.by(plugin.name)
        elif not status.successful:
            wrong = status.message if status.code is Code.ERROR else ""
            text = f"running PlacementFeasible plugin: {wrong}"
            if not wrong:
                text = f"unexpected status from PlacementFeasible plugin: {status.code.label}"
            return error(text).by(plugin.name)
    return answer
