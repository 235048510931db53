"""Why pods are pending when a run, a drain, a capacity question or a scenario is over: one pod stands for its equals.

`simulation` and `explain` do not know each other; `session` and `policy` ask here about what a run left pending, so
that every command says the same of a pending pod.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import explanations
from schedctl.explain.pod_groups import ExplainedGroup, explain_group
from schedctl.explain.remarks import ForkedTrials
from schedctl.framework.pod_groups import group_key
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.pod_groups import PodGroupResult
from schedctl.reports.reasons import Reason
from schedctl.reports.simulations import Fate, PendingPods
from schedctl.scheduler import Scheduler

_replace = msgspec.structs.replace


class PendingPodExplainer:
    """Explains pending pods on the cluster as it is.

    Pods that the scheduler cannot tell apart are explained once.
    """

    def __init__(self, scheduler: Scheduler, hinted_groups: int, hypothetical_nodes: Collection[str] = ()) -> None:
        """Prepare to explain.

        Args:
            scheduler: whose cluster it is.
            hinted_groups: for how many groups next steps are looked for, which takes much longer than the reasons.
            hypothetical_nodes: nodes that are as a what-if has them, which no next step undoes.
        """
        self._scheduler = scheduler
        self._hinted_groups = hinted_groups
        self._hypothetical_nodes = hypothetical_nodes
        self._trials = ForkedTrials(scheduler)
        self._hinted: set[Hashable] = set()
        self._explanations: dict[tuple[Hashable, bool], Explanation] = {}
        self._examples: dict[Hashable, str] = {}
        self._groups: dict[str, ExplainedGroup | None] = {}

    def explain(self, pod: PodInfo, *, hints: bool = True, fate: Fate | None = None) -> Explanation:
        """Return the explanation of a pod, or of one that is rejected for the same reasons.

        Args:
            pod: the pod.
            hints: whether to look for next steps, as long as `hinted_groups` allows it.
            fate: what became of it in the run; pods of different fates are explained apart.
        """
        if (member := self._of_group(pod)) is not None:
            return member
        group = self._group_key(pod, fate)
        hints = hints and (group in self._hinted or len(self._hinted) < self._hinted_groups)
        if hints:
            self._hinted.add(group)
        if (group, hints) not in self._explanations:
            self._explanations[group, hints] = explanations.explain(
                self._scheduler,
                pod,
                hints=hints,
                hypothetical_nodes=self._hypothetical_nodes,
                trials=self._trials,
            )
        return self._explanations[group, hints]

    def group(self, key: str) -> PodGroupResult | None:
        """Return what becomes of a pod group; None where it is not there, or groups are off."""
        explained = self._explain_group(key)
        return explained.result if explained is not None else None

    def _of_group(self, pod: PodInfo) -> Explanation | None:
        """Return the explanation of a pod as one of its group; None for a pod that is scheduled by itself."""
        key = group_key(pod)
        explained = self._explain_group(key) if key else None
        member = explained.members.get(pod.key) if explained is not None else None
        return None if explained is None or member is None else _replace(member, hints=explained.result.hints)

    def _explain_group(self, key: str) -> ExplainedGroup | None:
        if key not in self._groups:
            cluster = self._scheduler.cluster
            enabled = cluster.release.enabled(GENERIC_WORKLOAD)
            group = cluster.get(PodGroup, key) if enabled else None
            self._groups[key] = explain_group(self._scheduler, group) if group is not None else None
        return self._groups[key]

    def renew_hints(self) -> None:
        """Allow next steps for `hinted_groups` groups from now on; what is known already stays known."""
        self._hinted.clear()

    def add_reasons(self, group: PendingPods, example: PodInfo) -> PendingPods:
        """Return a group of pending pods with what is found out about one of them.

        Args:
            group: the group.
            example: one of its pods, which stands for all.
        """
        explanation = self.explain(example, fate=group.fate)
        # A second group of equal pods is told of the pod that was explained, for the reasons are that one's.
        explained = self._examples.setdefault(self._group_key(example, group.fate), group.pods[0])
        return _replace(
            group,
            example=explained,
            reasons=without_nodes(explanation.reasons),
            hints=explanation.hints,
            notes=[*_notes(explanation), *self._note_missing_fixes(example, group.fate)],
            remarks=explanation.remarks,
        )

    def _note_missing_fixes(self, pod: PodInfo, fate: Fate | None) -> Iterator[str]:
        """Yield that no fixes were tried, where there are too many different answers for that."""
        if self._of_group(pod) is None and self._group_key(pod, fate) not in self._hinted:
            yield f"no fixes were tried, as for {self._hinted_groups} others: `schedctl explain pod {pod.key}` does"

    def _group_key(self, pod: PodInfo, fate: Fate | None) -> Hashable:
        # Without a profile no plugin could say which pods it reads alike.
        has_profile = self._scheduler.profile_of(pod) is not None
        equivalence_key = self._scheduler.equivalence_key(pod) if has_profile else None
        return pod.key if equivalence_key is None else (equivalence_key, fate)


def without_nodes(reasons: Iterable[Reason]) -> list[Reason]:
    """Return reasons as reports about many pods carry them: without the nodes, whose numbers `detail` sums up."""
    return [_replace(reason, groups=[]) for reason in reasons]


def _notes(explanation: Explanation) -> list[str]:
    if explanation.reservation is not None and explanation.reservation.waits:
        return [explanation.reservation.text]
    if explanation.verdict is Verdict.SCHEDULED:
        return [f"another attempt would place it on {explanation.chosen}"]
    return []
