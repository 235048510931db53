"""A pod group's scheduling cycle, from its placements to the best of them, or to what would have to go (KEP-4671).

`attempt_group` changes nothing and words nothing but what kube-scheduler writes into statuses; who may be in a group is
in `rules`, one placement in `trials`. Whoever carries the result out places the pods of `GroupAttempt.members`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_groups import PodGroup, PodGroupCondition
from schedctl.api.pods import Pod, PodSpec
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.faults import PASSING, CycleError, plugin_fault
from schedctl.engine.groups.rules import objection
from schedctl.engine.groups.trials import Member, Surroundings, Trial, cause_of, give_up, place_in
from schedctl.engine.nominators import Nominator
from schedctl.framework.cycles import CycleState
from schedctl.framework.faults import ESCAPING
from schedctl.framework.group_points import (
    Assignment,
    GroupCycle,
    GroupOutcome,
    Placement,
    PodGroupPostFilterResult,
)
from schedctl.framework.pod_groups import scheduled_members
from schedctl.framework.points import Plugin
from schedctl.framework.statuses import Code, Status, error, unschedulable


class GroupAttempt(msgspec.Struct):
    """What happened in a group's cycle.

    Attributes:
        cycle: the group, its pods in the order of trying, and what plugins left.
        cluster: the cluster it was tried on.
        status: Success where the pods of `chosen` that found nodes are to be bound; else why not, as the group's
            condition says it.
        trials: one for each placement, in order.
        scores: by placement, then plugin, weighted; empty where there was nothing to choose.
        chosen: the placement whose results are told, None where none was tried.
        refused: what the placements came to where none will do, before PostFilter had its say.
        post_filter: what PodGroupPostFilter achieved, None where it was not asked.
        retried: how the group fared without its victims, if it was tried so.
    """

    cycle: GroupCycle
    cluster: Cluster
    status: Status
    trials: list[Trial] = msgspec.field(default_factory=list)
    scores: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    chosen: Trial | None = None
    refused: Status | None = None
    post_filter: PodGroupPostFilterResult | None = None
    retried: list[Trial] = msgspec.field(default_factory=list)
    _by_key: dict[str, Member] | None = None

    @property
    def members(self) -> Sequence[Member]:
        """What became of the pods in the placement whose results are told; those behind them were not tried."""
        return self.chosen.members if self.chosen is not None else ()

    @property
    def assignments(self) -> Sequence[Assignment]:
        """The pods that found nodes in that placement."""
        return self.chosen.assignments if self.chosen is not None else ()

    @property
    def awaits_preemption(self) -> bool:
        """Whether the group has victims to wait for."""
        return self.post_filter is not None and self.post_filter.status.successful

    @property
    def condition(self) -> PodGroupCondition:
        """What kube-scheduler writes into the group's status."""
        if self.status.successful:
            status, reason = "True", "Scheduled"
        else:
            status, reason = "False", "SchedulerError" if self.status.code is Code.ERROR else "Unschedulable"
        return PodGroupCondition("PodGroupInitiallyScheduled", status, reason, self.status.message)

    def member_of(self, pod: PodInfo) -> Member | None:
        """Return what became of a pod in that placement, None where it was not tried."""
        if self._by_key is None:
            self._by_key = {member.outcome.pod.key: member for member in self.members}
        return self._by_key.get(pod.key)

    def nomination_after(self, pod: PodInfo) -> str | None:
        """Return the node that a pod is nominated to when it returns to the queue: "" for none, None as before."""
        if self.awaits_preemption and self.post_filter is not None:
            return self.post_filter.nominations.get(pod.key) or None
        member = self.member_of(pod)
        withdrawn = self.status.code is Code.ERROR or (member is not None and member.status.successful)
        return "" if withdrawn else None

    def message_of(self, pod: PodInfo) -> Status:
        """Return what is written into a pod's status: Success where it is to be bound, else why not."""
        member = self.member_of(pod)
        if self.status.code is Code.ERROR:
            return member.status if member is not None and member.status.code is Code.ERROR else self.status
        if member is None:
            return self.refused or self.status
        if not member.status.successful or self.status.successful:
            return member.status
        return self.status if self.awaits_preemption else give_up((self.status.message,))


def group_cycle(cluster: Cluster, group: PodGroup, pods: Sequence[PodInfo]) -> GroupCycle:
    """Return the cycle of a group for these of its pods, in this order; those on their way out are left out."""
    waiting = tuple(pod for pod in pods if not pod.is_terminating)
    return GroupCycle(group, waiting, tuple(scheduled_members(cluster, group.key)))


def attempt_group(
    where: Surroundings, cycle: GroupCycle, profiles: Collection[str], *, make_room: bool = True
) -> GroupAttempt:
    """Run a group's scheduling cycle and return its facts; the cluster is as before.

    Args:
        where: the profile of its pods, and the cluster.
        cycle: the group with at least one pod to be placed.
        profiles: the scheduler names there are.
        make_room: whether to run PodGroupPostFilter where no placement will do.
    """
    wrong = objection(cycle, profiles, where.cluster.release)
    if wrong:
        return GroupAttempt(cycle, where.cluster, error(wrong))
    outcome = GroupAttempt(cycle, where.cluster, unschedulable())
    with where.nominator.fork():
        _hollow(where.nominator, cycle.pods)
        try:
            _try_placements(where, outcome)
            if outcome.status.code is Code.UNSCHEDULABLE:
                outcome.refused = outcome.status
                if make_room:
                    _make_room(where, outcome)
        except CycleError as fault:
            outcome.status = error(str(fault)).by(fault.plugin)
    return outcome


def _hollow(nominator: Nominator, pods: Sequence[PodInfo]) -> None:
    """Leave of the group's own nominations what kube-scheduler sees of them while the group is out of the queue.

    Those are pods that ask for nothing and have no priority.
    """
    for pod in pods:
        node_name = nominator.node_of(pod)
        if node_name:
            written = pod.pod
            metadata = ObjectMeta(name=written.metadata.name, namespace=pod.namespace, uid=pod.uid)
            shell = Pod(metadata=metadata, spec=PodSpec(scheduling_group=written.spec.scheduling_group))
            nominator.nominate(PodInfo(shell), node_name)


def _try_placements(where: Surroundings, outcome: GroupAttempt) -> None:
    """Try the group in its placements and choose."""
    cycle, every = outcome.cycle, where.cluster.nodes
    placements: Sequence[Placement] | Status = (Placement("", every),)
    topology = where.cluster.release.enabled("TopologyAwareWorkloadScheduling")
    for plugin in where.profile.placement_generate if topology else ():
        placements = _ask(plugin, "placement_generate", cycle, every)
        if not placements:
            placements = unschedulable("no feasible placements found")
        if isinstance(placements, Status):
            placements = placements.by(plugin.name)
        break
    if isinstance(placements, Status):
        outcome.status = placements
        return
    for placement in placements:
        trial = place_in(where, cycle, placement, whole=len(placement.nodes) == len(every))
        outcome.trials.append(trial)
        if trial.status.code is Code.ERROR:
            outcome.chosen, outcome.status = trial, trial.status
            return
    outcome.chosen = outcome.trials[0]
    feasible = [trial for trial in outcome.trials if trial.status.successful]
    if feasible:
        outcome.chosen = feasible[0] if len(feasible) == 1 else _choose(where, outcome, feasible)
        outcome.status = outcome.chosen.status if outcome.chosen.places_any else give_up(())
    elif topology:
        first = cause_of(outcome.trials[0].status)
        count = f"0/{len(placements)} placements are available, first placement status: {first}"
        outcome.status = give_up((count,))
    else:
        outcome.status = outcome.trials[0].status


def _choose(where: Surroundings, outcome: GroupAttempt, feasible: Sequence[Trial]) -> Trial:
    """Return the best of several placements, the first by name of equal ones."""
    totals = np.zeros(len(feasible), np.int64)
    outcome.scores = {trial.placement.name: {} for trial in feasible}
    cycle = outcome.cycle
    for plugin in where.profile.placement_score:
        raw = [_ask(plugin, "placement_score", cycle, trial.placement, trial.assignments) for trial in feasible]
        weighted = (
            _ask(plugin, "normalize_placements", cycle, np.array(raw, np.int64))
            * where.profile.placement_weights[plugin.name]
        )
        totals += weighted
        for trial, score in zip(feasible, weighted.tolist(), strict=True):
            outcome.scores[trial.placement.name][plugin.name] = score
    return min(zip(-totals, feasible, strict=True), key=lambda each: (each[0], each[1].placement.name))[1]


def _make_room(where: Surroundings, outcome: GroupAttempt) -> None:
    """Ask the PodGroupPostFilter plugins until one succeeds or gives up for good; their reasons stand together."""
    assert outcome.refused is not None
    reasons: list[str] = []
    objects: tuple[object, ...] = ()
    removed: tuple[object, ...] = ()
    first, answer = "", PodGroupPostFilterResult(unschedulable())

    def try_again() -> GroupOutcome:
        again = GroupAttempt(replace(outcome.cycle, state=CycleState(), cycles={}), where.cluster, unschedulable())
        _try_placements(where, again)
        outcome.retried = again.trials
        return again

    for plugin in where.profile.pod_group_post_filter:
        answer = _ask(plugin, "pod_group_post_filter", outcome.cycle, try_again)
        objects, removed = objects + answer.objects, removed + answer.removed
        answer = replace(answer, objects=objects, removed=removed)
        if answer.status.successful:
            break
        if answer.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            answer = replace(answer, status=answer.status.by(plugin.name))
            break
        if answer.status.code is not Code.UNSCHEDULABLE:
            text = f'error in "{plugin.name}" PodGroupPostFilter plugins: {answer.status.message}'
            answer = replace(answer, status=error(text).by(plugin.name))
            break
        reasons += answer.status.reasons
        first = first or plugin.name
        answer = replace(answer, status=Status(Code.UNSCHEDULABLE, tuple(reasons), first))
    outcome.post_filter = answer
    if answer.status.code is Code.ERROR:
        outcome.status = answer.status
    else:
        outcome.status = replace(outcome.status, reasons=(*outcome.refused.reasons, answer.status.message))


def _ask(plugin: Plugin, method: str, *arguments: Any) -> Any:
    """Return what a plugin answers; an exception is a fault of its own.

    Raises:
        CycleError: the plugin failed.
    """
    try:
        return getattr(plugin, method)(*arguments)
    except PASSING:
        raise
    except ESCAPING as fault:
        raise plugin_fault(plugin, fault) from fault
