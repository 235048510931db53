"""Which next steps make sense after a scenario: none that would undo it, or take what it removes for a mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.cache.pod_info import PodInfo
from schedctl.explain.typo_remedies import RENAME_LABEL, RENAME_RESOURCE, REPLACE_VALUE
from schedctl.explain.typos import required_labels
from schedctl.policy.situations import Situation
from schedctl.reports.reasons import Hint

_NAMES = frozenset((RENAME_LABEL, REPLACE_VALUE, RENAME_RESOURCE))


def hints_after(situation: Situation, pod: PodInfo, hints: Sequence[Hint]) -> list[Hint]:
    """Return the hints for a pod that are of use in a situation, and what the scenario took away from the pod.

    Args:
        situation: the situation; without a scenario all hints are of use.
        pod: the pod without a node.
        hints: the hints about it.
    """
    if not situation.changes:
        return list(hints)
    lost = list(_lost_names(situation, pod))
    facts = [
        Hint(type="lost-name", text=f"{situation.name} leaves no node with {name}, which the pod requires")
        for name in lost
    ]
    kept = [
        hint
        for hint in hints
        if not (lost and _NAMES & set(hint.type.split("+"))) and not _changes_back(situation, hint)
    ]
    return [*facts, *kept]


def _lost_names(situation: Situation, pod: PodInfo) -> Iterator[str]:
    """Yield labels that the pod requires, that nodes had before the scenario, and that none has any more."""
    table = situation.cluster.node_table
    now = [table.objects[row].metadata.labels or {} for row in table.row_of.values()]
    before = [node.metadata.labels or {} for node in situation.nodes_before.values()]
    for key, values in dict.fromkeys(required_labels(pod)):
        had = {labels[key] for labels in before if key in labels}
        has = {labels[key] for labels in now if key in labels}
        required = values or had
        if required & had and not required & has:
            yield f"{key}={' or '.join(sorted(required & had))}" if values else f"label {key}"


def _changes_back(situation: Situation, hint: Hint) -> bool:
    """Return whether a hint is to change a node that the scenario has changed, such as to uncordon it."""
    table = situation.cluster.node_table
    for patch in hint.patches:
        if patch.kind == "Node" and patch.name in table.row_of:
            before = situation.nodes_before.get(patch.name)
            if before is None or table.objects[table.row_of[patch.name]] != before:
                return True
    return False
