"""Nodes lost at once, one scenario after another on the same cluster: which of their pods would find no other node.

A scenario is played on a fork: the nodes are gone, the pods that a controller makes again are placed in a run of their
own, preemption included, and all other pods stay where they are. Where it is certain beforehand that each finds a node
(`schedctl.scheduler.sure_fits`), nothing is played.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedctl.api.meta import OwnerReference
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.scheduler.sure_fits import SureFits
from schedctl.simulation import what_ifs
from schedctl.simulation.outcomes import PodOutcome, RunEnd
from schedctl.simulation.replacement import ReplacementController, controller_of, template_node
from schedctl.simulation.runs import Options, run
from schedctl.simulation.simulator.external_events import MISSING_NODE
from schedctl.simulation.tie_breaking import TieBreaker, first_by_name


class PendingReplacement(msgspec.Struct, frozen=True):
    """A pod that would find no node.

    Attributes:
        pod: it, as ``namespace/name``.
        owner: its controller, ``Kind namespace/name``, "" for none.
        message: why, in kube-scheduler's line.
        preempted: whether it had a node that is still there, and had to make room.
    """

    pod: str
    owner: str
    message: str
    preempted: bool


class NodeLoss(msgspec.Struct, frozen=True):
    """What the loss of nodes would do.

    Attributes:
        nodes: how many are gone.
        displaced: how many of their pods are made again.
        pending: those that would find no node, in order of arrival.
        lost: the pods that nothing makes again, as ``namespace/name``.
        foreign: how many replacements ask for a scheduler that no profile is.
        preempted: how many pods of other nodes would be evicted to make room.
        simulated: whether it was played; else it was certain that each finds a node.
    """

    nodes: int
    displaced: int
    pending: tuple[PendingReplacement, ...] = ()
    lost: tuple[str, ...] = ()
    foreign: int = 0
    preempted: int = 0
    simulated: bool = True


class NodeLosses:
    """Plays the losses of nodes of one cluster, each on the cluster as it is."""

    def __init__(self, scheduler: Scheduler, choose: TieBreaker = first_by_name, *, prove: bool = True) -> None:
        """Take note of the cluster.

        Args:
            scheduler: the profiles and the cluster.
            choose: which of several equally good nodes is taken.
            prove: whether what is certain is not played.
        """
        self._scheduler = scheduler
        self._options = Options(trace=False, choose=choose)
        self._sure = SureFits(scheduler) if prove else None
        self._node_of: dict[tuple[str, OwnerReference | None], str] = {}

    def lose(self, names: Sequence[str]) -> NodeLoss:
        """Return what would become of the pods of some nodes; the cluster is as before.

        Raises:
            KeyboardInterrupt: somebody interrupted it.
        """
        cluster = self._scheduler.cluster
        if self._sure is not None:
            gone = what_ifs.pods_on(cluster, *names)
            displaced = [info for info in gone if _comes_back(info)]
            served = [info for info in displaced if self._scheduler.profile_of(info)]
            if not self._name_nodes(displaced) and self._sure.all_fit(served, names):
                return NodeLoss(
                    len(names),
                    len(displaced),
                    lost=_lost(gone),
                    foreign=len(displaced) - len(served),
                    simulated=False,
                )
        with self._scheduler.fork():
            return self._play(names)

    def _name_nodes(self, pods: Sequence[PodInfo]) -> bool:
        """Return whether the template of any of some pods names its node, so that no scheduler is asked."""
        for info in pods:
            owner = info.namespace, controller_of(info.pod)
            if owner not in self._node_of:
                self._node_of[owner] = template_node(info, self._scheduler.cluster)
            if self._node_of[owner]:
                return True
        return False

    def _play(self, names: Sequence[str]) -> NodeLoss:
        scheduler, cluster = self._scheduler, self._scheduler.cluster
        gone = what_ifs.pods_on(cluster, *names)
        changed = what_ifs.remove_nodes(cluster, list(names))
        waiting = [cluster.pending[key] for key in changed.waiting]
        served = [info for info in waiting if scheduler.profile_of(info)]
        strays = [info for key in changed.successors.values() if (info := cluster.strays.get(key)) is not None]
        orphaned = tuple(_orphaned(info) for info in strays)
        if not served:
            return NodeLoss(len(names), len(changed.successors), orphaned, lost=_lost(gone), foreign=len(waiting))
        controller = ReplacementController(scheduler)
        facts = run(scheduler, served, options=self._options, controller=controller)
        if facts.end is RunEnd.INTERRUPTED:
            raise KeyboardInterrupt
        first = {info.key for info in served}
        evicted = [eviction.pod for eviction in facts.evictions]
        return NodeLoss(
            len(names),
            len(changed.successors),
            orphaned
            + tuple(_pending(each, each.pod.key not in first) for each in facts.pods.values() if each.is_pending),
            _lost([*gone, *evicted]),
            len(waiting) - len(served) + len(controller.foreign),
            len(evicted),
        )


def _orphaned(info: PodInfo) -> PendingReplacement:
    """Return a pod whose template names a node that is gone."""
    owner = controller_of(info.pod)
    text = f"{owner.kind} {info.namespace}/{owner.name}" if owner is not None else ""
    return PendingReplacement(info.key, text, MISSING_NODE.format(info.pod.spec.node_name), preempted=False)


def _is_missed(info: PodInfo) -> bool:
    """Whether a pod neither goes by itself nor belongs to its node."""
    return not info.is_terminating and not what_ifs.stays(info.pod)


def _comes_back(info: PodInfo) -> bool:
    return controller_of(info.pod) is not None and _is_missed(info)


def _lost(pods: Sequence[PodInfo]) -> tuple[str, ...]:
    """Return those of some pods that nothing makes again; those of a node itself go with it."""
    return tuple(info.key for info in pods if controller_of(info.pod) is None and _is_missed(info))


def _pending(outcome: PodOutcome, preempted: bool) -> PendingReplacement:
    owner = controller_of(outcome.pod.pod)
    text = f"{owner.kind} {outcome.pod.namespace}/{owner.name}" if owner is not None else ""
    return PendingReplacement(outcome.pod.key, text, outcome.message, preempted)
