"""What a fix would cause besides its pod being placed: spreads that are lost, and pods that lose their place.

`trials` asks on the fork on which a change was tried. What preemption evicts is told by `preemptions`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.engine.faults import describe_fault
from schedctl.errors import NotModelled
from schedctl.framework.faults import ESCAPING
from schedctl.framework.pod_edits import as_pending
from schedctl.scheduler.schedulers import Scheduler
from schedctl.workloads import ownership
from schedctl.workloads.disruption_budgets import Budgets

_MOST_PENDING = 2
"""Of how many other pending workloads a pod is placed before and after; each is a cycle more."""

_replace = msgspec.structs.replace

Rule = tuple[str, str]
"""Whose rule it is, and what it is about."""


class Consequences:
    """Compares a cluster in which a fix was made, and its pod placed, with the cluster as it is.

    Attributes:
        faults: in words, what went wrong in asking plugins; each once.
    """

    def __init__(self, scheduler: Scheduler, pod: Pod) -> None:
        self._scheduler = scheduler
        self._pod = PodInfo(pod)
        self.faults: dict[str, None] = {}

    def prepare(self) -> None:
        """Find out which other pending pods have a place now; outside of any fork, for once there it is too late."""
        _ = self._placeable

    def are_refused(self, removed: Sequence[PodInfo]) -> bool:
        """Return whether a disruption budget refuses the eviction of one of the pods; outside of any fork."""
        budgets = Budgets.of(self._scheduler.cluster) if removed else Budgets()
        return any(budgets.evict(info) is not None for info in removed)

    def after(self, outcome: Attempt, removed: Sequence[PodInfo]) -> tuple[dict[Rule, str], list[str], bool]:
        """Place the pod of a fix in the fork; return the rules that are violated then, and who loses a place.

        The last is whether a pod that a controller recreates would find no room.

        Args:
            outcome: the attempt that chose a node after the fix.
            removed: the running pods that the fix makes go.
        """
        scheduler = self._scheduler
        waiting = scheduler.cluster.pending.get(self._pod.key)
        if waiting is not None:  # else the fork would leave behind the pod as the fix has it
            scheduler.cluster.remove_pod(waiting)
        scheduler.place(outcome)
        violated = self._find_violations(_with_skews_of(self._pod.pod, outcome.pod.pod))
        texts, displaces = [], False
        for info in removed:
            text, homeless = self._successor_text(info)
            texts.append(text)
            displaces |= homeless
        for info, node in self._placeable:
            if not self._node_of(info):
                texts.append(f"pending pod {info.key}, which would go to {node} now, would fit nowhere")
        return violated, texts, displaces

    def new(self, violated: dict[Rule, str]) -> list[str]:
        """Return in words which of the rules are not violated now; outside of any fork."""
        before = self._find_violations(self._pod) if violated else {}
        return [f"{owner} {text}" for (owner, about), text in violated.items() if (owner, about) not in before]

    def _find_violations(self, pod: PodInfo) -> dict[Rule, str]:
        found: dict[Rule, str] = {}
        for owner, info in self._spread_workloads(pod):
            profile = self._scheduler.profile_of(info)
            for plugin in profile.plugins.values() if profile is not None else ():
                try:
                    found |= {(owner, about): text for about, text in plugin.violations(info).items()}
                except KeyboardInterrupt:
                    raise
                except ESCAPING as fault:  # a fix is worth telling without what one plugin would have added
                    self.faults[f"{plugin.name} failed in violations: {describe_fault(plugin, fault)}"] = None
        return found

    def _spread_workloads(self, pod: PodInfo) -> Iterator[tuple[str, PodInfo]]:
        """Yield one pod of each workload of the namespace that has constraints, that of the fix first."""
        cluster, owners = self._scheduler.cluster, set()
        for info in (pod, *_pods_of(cluster, self._pod.namespace)):
            if info.pod.spec.topology_spread_constraints:
                owner = _name(info, cluster)
                if owner not in owners:
                    owners.add(owner)
                    yield owner, info

    @cached_property
    def _placeable(self) -> list[tuple[PodInfo, str]]:
        """Pending pods of other workloads that have a node to go to now, and which; the most important are tried."""
        cluster = self._scheduler.cluster
        others: dict[str, PodInfo] = {}
        for info in cluster.pending.values():
            if info.key != self._pod.key:
                others.setdefault(_name(info, cluster), info)
        others.pop(_name(self._pod, cluster), None)
        tried = heapq.nlargest(_MOST_PENDING, others.values(), key=lambda info: info.priority)
        return [(info, node) for info in tried if (node := self._node_of(info))]

    def _node_of(self, info: PodInfo) -> str:
        """Return where a pod would go, "" where that is nowhere, or is not known."""
        outcome = self._attempt(info)
        return outcome.chosen if outcome is not None else ""

    def _successor_text(self, info: PodInfo) -> tuple[str, bool]:
        """Return what becomes of a pod that goes, and whether its successor, which is placed, would find no room."""
        if not ownership.controller_reference(info)[2]:
            return f"pod {info.key} is lost: no controller recreates it", False
        outcome = self._attempt(PodInfo(as_pending(info.pod)))
        if outcome is None:
            return f"where a pod like {info.key} would go is not known", False
        if not outcome.chosen:
            return f"a pod like {info.key} would find no room", True
        self._scheduler.place(outcome)
        return f"a pod like {info.key} would find room on {outcome.chosen}", False

    def _attempt(self, info: PodInfo) -> Attempt | None:
        if self._scheduler.profile_of(info) is None:
            return None
        try:
            outcome = self._scheduler.attempt(info, make_room=False)
        except NotModelled:
            return None
        return None if assumptions_affecting_verdict(outcome) else outcome


def _with_skews_of(before: Pod, after: Pod) -> PodInfo:
    """Return the pod of a fix with the skews that were allowed before: to allow more is what loses the spread."""
    skews = {each.topology_key: each.max_skew for each in before.spec.topology_spread_constraints or ()}
    constraints = [
        _replace(each, max_skew=skews.get(each.topology_key, each.max_skew))
        for each in after.spec.topology_spread_constraints or ()
    ]
    return PodInfo(_replace(after, spec=_replace(after.spec, topology_spread_constraints=constraints or None)))


def _pods_of(cluster: Cluster, namespace: str) -> Iterator[PodInfo]:
    table = cluster.pod_table
    for row in (table.namespace == table.strings.find_code(namespace)).nonzero()[0].tolist():
        if (info := table.infos[row]) is not None:
            yield info


def _name(info: PodInfo, cluster: Cluster) -> str:
    kind, namespace, name = ownership.workload_of(info, cluster) or ("pod", info.namespace, info.pod.metadata.name)
    return f"{kind} {namespace}/{name}"
