"""Pods that a run leaves pending: a table where there are several answers, then each distinct answer once.

Runs and drains are told in the same shape as `explain`: the causes with the nearest to a fix first, what was tried and
works, and Kubernetes' own line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from schedctl.render import notices
from schedctl.render.layout import ALL, BLANK, Block, Line, Span, line
from schedctl.reports import counts
from schedctl.reports.simulations import Fate, PendingPods

_ANSWERS = 10
"""How many distinct answers are shown."""
_FEW = 3
"""How many pods are named, and how many fixes."""
_FATES = {
    Fate.UNSCHEDULABLE: "would stay pending",
    Fate.NOMINATED: "would stay pending, nominated to {node}",
    Fate.GATED: "would stay gated",
    Fate.WAITING: "would wait for Permit on {node}",
    Fate.QUEUED: "would still be in the queue",
    Fate.FAILED: "would stay pending after an error",
    Fate.EVICTED: "would be evicted, and no controller recreates it",
    Fate.ORPHANED: "would never be scheduled",
    Fate.FOREIGN_SCHEDULER: "SKIPPED",
    Fate.INCONCLUSIVE: "INCONCLUSIVE",
}

_NOT_TRIED = (Fate.ORPHANED, Fate.FOREIGN_SCHEDULER)
"""Pods that our scheduler is not asked about: the message is the cause, and no line of kube-scheduler's."""


class Answer(msgspec.Struct):
    """One answer and the pods it holds for.

    Attributes:
        group: what is known of them; of several groups, of the largest.
        names: of the pods, with the namespace.
        owners: how many of them belong to which workload; "" for pods without a controller.
    """

    group: PendingPods
    names: list[str] = msgspec.field(default_factory=list)
    owners: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def subject(self) -> str:
        """Whom it is about: a pod, or how many pods of whom."""
        if len(self.names) == 1:
            return f"pod {self.names[0]}"
        owner = next(iter(self.owners)) if len(self.owners) == 1 else ""
        return f"{counts.of(len(self.names), 'pod')}{f' of {owner}' if owner else ''}"


def distinct(groups: Sequence[tuple[str, PendingPods]]) -> list[Answer]:
    """Return each answer once, that of most pods first.

    Args:
        groups: groups of pending pods, each with the namespace of its names, "" where they have it already.
    """
    answers: dict[bytes, Answer] = {}
    for namespace, group in sorted(groups, key=lambda each: -len(each[1].pods)):
        # The line is of a pod's last attempt, and so may differ where causes and fixes, judged at the end, do not.
        line_of_attempt = "" if group.reasons else group.message
        key = msgspec.json.encode(
            (group.fate, group.node, line_of_attempt, group.reasons, group.hints, group.notes, group.remarks)
        )
        answer = answers.setdefault(key, Answer(group))
        answer.names += [f"{namespace}/{name}" if namespace else name for name in group.pods]
        answer.owners.update({each.owner: each.pods for each in group.owners} or {"": len(group.pods)})
    return sorted(answers.values(), key=lambda answer: -len(answer.names))


def fate(of: Fate, node: str) -> str:
    """Return what would become of a pod, after its name."""
    return _FATES.get(of, of.value.lower()).format(node=node)


def sections(answers: Sequence[Answer], *, wide: bool, limit: int) -> Iterator[Sequence[Block]]:
    """Yield the table, where it has more than one row, and then a section for each.

    Args:
        answers: as `distinct` returns them.
        wide: show every one of them, and every entry of a list.
        limit: show so many of them and so many entries of a list, 0 for what suits.
    """
    entries, limit = limit or (ALL if wide else _FEW), limit or (ALL if wide else _ANSWERS)
    rows = [row for answer in answers for row in _rows(answer)]
    if len(rows) > 1:
        yield [notices.answer_table(rows)]
    for answer in answers[:limit]:
        yield list(_block(answer, entries, wide))
    if len(answers) > limit:
        rest = counts.of(len(answers) - limit, "more answer")
        yield [line(f"+{rest}: --limit {len(answers)} shows them", "faint")]


def _rows(answer: Answer) -> Iterator[notices.AnswerRow]:
    group = answer.group
    cause = notices.cause(group.reasons) if group.reasons else group.message or fate(group.fate, group.node)
    bare = answer.subject if len(answer.names) == 1 else "pods without a controller"
    for owner, number in answer.owners.most_common():
        yield notices.AnswerRow(number, owner or bare, cause, notices.best_fix(group.hints))


def _block(answer: Answer, entries: int, wide: bool) -> Iterator[Block]:
    group = answer.group
    yield Line((Span(answer.subject, "strong"), Span(" "), Span(fate(group.fate, group.node), "bad")))
    if len(answer.names) > 1:
        yield line(f"for example {notices.few(answer.names, entries)}", "faint", indent=2)
    explained = [*_causes(group), *notices.fixes(group.hints[:entries], commands=wide)]
    explained += [notices.note(note) for note in group.notes]
    for remark in group.remarks:
        explained += notices.remark(remark, entries)
    if group.fate in _NOT_TRIED:
        explained.insert(0, line(group.message))
        message: list[Block] = []
    else:
        message = list(notices.kubernetes_line(group.message))
    for blocks in (explained, message):
        if blocks:
            yield BLANK
            yield from blocks


def _causes(group: PendingPods) -> Iterator[Block]:
    for reason in group.reasons:
        yield from notices.cause_and_diagnosis(reason)
        for part in notices.parts(reason.detail) if reason.detail else ():
            yield line(part, indent=2)
