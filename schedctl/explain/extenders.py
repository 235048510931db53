"""What there is to tell of extenders beyond their verdicts and scores: failures, and who would bind the pod."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schedctl.engine.attempts import Attempt
from schedctl.explain.plugin_texts import collect


def notes(outcome: Attempt) -> Iterator[str]:
    """Yield what came of asking the extenders of a profile, an entry a line."""
    consultation, faults = outcome.consultation, list[str]()
    if consultation is None:
        return
    for failure in consultation.failures:
        if failure.point == "score":
            yield f"{failure.extender} gave no scores and is skipped, as by kube-scheduler: {failure.text}"
        elif failure.ignored:
            yield f"{failure.extender} failed and is ignorable, so it is skipped: {failure.text}"
        else:
            yield f"{failure.extender} failed and is not ignorable: {failure.text}"
    if outcome.post_filter is not None:
        for plugin in outcome.profile.post_filter:
            notes = partial(plugin.preemption_notes, outcome.post_filter)
            yield from collect(plugin, "preemption_notes", notes, str, faults.append)
        yield from faults
    if consultation.described and outcome.scoring is not None and len(outcome.scoring.nodes) > 1:
        yield (
            "extenders returned whole nodes, not names, which kube-scheduler then scores as if no pod ran there and no"
            " image were known (nodeCacheCapable extenders send names)"
        )
    if consultation.binder:
        yield f"{consultation.binder} would bind the pod; a dry run does not call it"
