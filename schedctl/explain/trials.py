"""Tries remedies: the same pod, or a changed one, on a fork of the cluster, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from schedctl.api.pods import Pod
from schedctl.api.resources import demand_of
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import attempts
from schedctl.engine.attempts import Attempt
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.errors import NotModelled
from schedctl.explain import evidence, patches
from schedctl.explain.consequences import Consequences
from schedctl.framework.remedies import Rejection, Remedy
from schedctl.reports.reasons import Patch
from schedctl.scheduler.schedulers import Scheduler

MOST_TRIES = 16
"""How many attempts are made for the hints about one pod."""


_NEAREST = 4
"""What so many nodes object to is looked at, to go on where a change was not enough."""


class NodeRejections(NamedTuple):
    """All that a node objects to, of every filter."""

    node: str
    rejections: tuple[Rejection, ...]


class Trial(msgspec.Struct, frozen=True):
    """What came of a change.

    Attributes:
        fits: on how many nodes the pod fits.
        chosen: the node that would be chosen, "" for none.
        feasible: whether the node in question is among them.
        rejections: what the node in question still objects to.
        remedies: what the change was.
        result: the pod with it, and the remedies that changed something else.
        nearest: where no node was in question and none fits, what some nodes object to, those with the fewest first.
        nominated: the node on which preemption would then make room, "" for none.
        victims: the pods that would be preempted there.
        consequences: what else it would cause, in words.
        displaces: whether a running pod that goes would find no other place, which only moves the problem, or may not
            go by its disruption budget.
    """

    fits: int = 0
    chosen: str = ""
    feasible: bool = False
    rejections: tuple[Rejection, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    result: tuple[Pod, frozenset[Remedy]] | None = None
    nearest: tuple[NodeRejections, ...] = ()
    nominated: str = ""
    victims: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()
    displaces: bool = False


class Trials:
    """Tries changes for one pod, at most `MOST_TRIES` of them.

    Attributes:
        left: how many tries are left.
        made: how many were made.
        kinds: of what kinds the remedies were.
        faults: in words, what went wrong in asking plugins what a change would cause.
    """

    def __init__(self, scheduler: Scheduler, pod: Pod) -> None:
        self._scheduler = scheduler
        self._pod = pod
        self._consequences = Consequences(scheduler, pod)
        self.faults = self._consequences.faults
        self.left = MOST_TRIES
        self.made = 0
        self.kinds: list[str] = []

    @property
    def cluster(self) -> Cluster:
        """The cluster in which changes are tried and undone."""
        return self._scheduler.cluster

    def attempt(self, remedies: Sequence[Remedy], node: str = "", *, near: bool = False) -> Trial:
        """Make the changes, run a cycle, undo them.

        Args:
            remedies: applied in order.
            node: the node in question, "" for none.
            near: whether to say what the nearest nodes object to, where none fits.
        """
        self.left -= 1
        self.made += 1
        self.kinds += (remedy.kind for remedy in remedies)
        self._consequences.prepare()
        removed = _find_removed(remedies, self.cluster)
        refused = self._consequences.are_refused(removed)
        with self._scheduler.fork():
            cluster, pod = self.cluster, self._pod
            elsewhere: list[Remedy] = []
            for remedy in remedies:
                before, pod = pod, remedy.apply(pod, cluster)
                elsewhere += [remedy] if pod == before else []
            info = PodInfo(pod)
            if self._scheduler.profile_of(info) is None:
                return Trial()
            try:
                outcome = self._scheduler.attempt(info)
            except NotModelled:
                return Trial()
            trial = replace(
                _trial(outcome, node, near=near), remedies=tuple(remedies), result=(pod, frozenset(elsewhere))
            )
            if not trial.fits:
                return trial
            violated, texts, displaces = self._consequences.after(outcome, removed)
        return replace(trial, consequences=(*self._consequences.new(violated), *texts), displaces=displaces or refused)

    def patches_and_command(self, trial: Trial) -> tuple[list[Patch], str]:
        """Return what was tried as patches and as a command, see `patches.patches_and_command`."""
        return patches.patches_and_command(trial.remedies, self._pod, self._scheduler.cluster)

    def cut(self, trial: Trial) -> int:
        """Return by how many percent the pod of a trial requests less of the resource that is cut most."""
        if trial.result is None:
            return 0
        before, after = (demand_of(pod).fit_requests for pod in (self._pod, trial.result[0]))
        return max((round(100 - 100 * after.get(name, 0) / most) for name, most in before.items() if most), default=0)

    def unchanged_job(self, changes: Sequence[Patch]) -> str:
        """Return that the pod's Job stays as it is, see `patches.unchanged_job`."""
        return patches.unchanged_job(self._pod, changes, self._scheduler.cluster)


def _find_removed(remedies: Sequence[Remedy], cluster: Cluster) -> list[PodInfo]:
    """Return the running pods that remedies make go."""
    table = cluster.pod_table
    rows = [table.row_of[key] for each in remedies for key in each.removed_pods if key in table.row_of]
    return [info for row in dict.fromkeys(rows) if (info := table.infos[row]) is not None]


def rejections_on(outcome: Attempt, node: str) -> tuple[Rejection, ...]:
    """Return everything every filter objects to about one node; empty where Filter was not reached."""
    column = outcome.cluster.nodes_named([node])
    if not len(column):
        return ()
    answers = attempts.matrix(outcome, column)
    return tuple(
        rejection
        for plugin, verdicts in answers.items()
        for rejection in evidence.rejections_at(plugin, verdicts, column, 0)
    )


def rejection_patterns(outcome: Attempt) -> dict[str, tuple[str, ...]]:
    """Return the references of the reasons against each node that was asked about."""
    references: dict[str, list[str]] = {}
    names = outcome.evaluated_column.names if outcome.evaluated_column is not None else []
    for verdicts in attempts.matrix(outcome).values():
        for part in verdicts.parts:
            for position in part.mask.nonzero()[0].tolist():
                references.setdefault(names[position], []).append(part.reason.reference)
    return {name: tuple(against) for name, against in references.items()}


def _nearest(outcome: Attempt) -> tuple[NodeRejections, ...]:
    """Return the rejections of some nodes that differ in who rejects, those with the fewest first."""
    first: dict[tuple[str, ...], str] = {}
    for name, pattern in rejection_patterns(outcome).items():
        first.setdefault(pattern, name)
    nearest = sorted(first, key=len)[:_NEAREST]
    return tuple(NodeRejections(first[pattern], rejections_on(outcome, first[pattern])) for pattern in nearest)


def _trial(outcome: Attempt, node: str, *, near: bool) -> Trial:
    if not outcome.chosen or outcome.filtering is None or assumptions_affecting_verdict(outcome):
        result = outcome.post_filter
        return Trial(
            rejections=rejections_on(outcome, node) if node else (),
            nearest=_nearest(outcome) if near else (),
            nominated=(result and result.nominated_node) or "",
            victims=tuple(sorted(info.key for info in result.victims)) if result else (),
        )
    fits = int(outcome.filtering.feasible.sum())
    names = outcome.filtering.nodes.names
    feasible = node in names and bool(outcome.filtering.feasible[names.index(node)])
    return Trial(fits, outcome.chosen, feasible, rejections_on(outcome, node) if node and not feasible else ())
