"""Why pods are still pending when a run, a drain or a capacity question is over: one of those alike stands for all.

`simulation` and `explain` do not know each other; `session` asks here about what a run left pending, so that every
command says the same of a pending pod.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.explain import explanations
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.reasons import Hint, Reason
from schedctl.reports.simulations import PendingPods
from schedctl.scheduler import Scheduler

_replace = msgspec.structs.replace


class PendingPodExplainer:
    """Adds reasons and next steps to groups of pending pods, on the cluster as it is.

    Pods that the scheduler cannot tell apart are explained once.
    """

    def __init__(
        self, scheduler: Scheduler, hinted_groups: int, keep_hint: Callable[[Hint], bool] = lambda _: True
    ) -> None:
        """Prepare to explain.

        Args:
            scheduler: whose cluster it is.
            hinted_groups: for how many groups next steps are looked for, which takes much longer than the reasons.
            keep_hint: whether a next step may be suggested here.
        """
        self._scheduler = scheduler
        self._hinted_groups = hinted_groups
        self._keep_hint = keep_hint
        self._known: dict[Any, PendingPods] = {}

    def add_reasons(self, group: PendingPods, example: PodInfo) -> PendingPods:
        """Return a group of pending pods with what is found out about one of them.

        Args:
            group: the group.
            example: one of its pods, which stands for all.
        """
        equivalence_key = self._scheduler.equivalence_key(example)
        key = example.key if equivalence_key is None else (equivalence_key, group.fate)
        if key not in self._known:
            self._known[key] = self._explain(group, example)
        known = self._known[key]
        return _replace(
            group,
            example=known.example,
            reasons=known.reasons,
            hints=known.hints,
            notes=known.notes,
            remarks=known.remarks,
        )

    def _explain(self, group: PendingPods, example: PodInfo) -> PendingPods:
        explanation = explanations.explain(self._scheduler, example, hints=len(self._known) < self._hinted_groups)
        return _replace(
            group,
            example=group.pods[0],
            reasons=without_nodes(explanation.reasons),
            hints=[hint for hint in explanation.hints if self._keep_hint(hint)],
            notes=_notes(explanation),
            remarks=explanation.remarks,
        )


def without_nodes(reasons: Iterable[Reason]) -> list[Reason]:
    """Return reasons as reports about many pods carry them: without the nodes, whose numbers `detail` sums up."""
    return [_replace(reason, groups=[]) for reason in reasons]


def _notes(explanation: Explanation) -> list[str]:
    if explanation.reservation is not None and explanation.reservation.waits:
        return [explanation.reservation.text]
    if explanation.verdict is Verdict.SCHEDULED:
        return [f"it would be placed on {explanation.chosen} if it were tried again"]
    return []
