"""What is among the manifests and was not judged, or not as it is written: files, workloads, objects of other kinds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from schedctl.policy.situations import JudgedWorkload, Key
from schedctl.reports import counts
from schedctl.reports.checks import NotJudged
from schedctl.simulation.what_ifs import abbreviate
from schedctl.sources import Manifests
from schedctl.workloads.expansion import Skipped

_LISTED = 5
_OURS = "schedctl.dev/"
_NO_CHECK = "no check of the policies applies to it"
_NOT_READ = "scheduling does not read this kind"


def find(
    manifests: Manifests,
    workloads: Iterable[JudgedWorkload],
    judged: Collection[Key],
    skipped: Iterable[Skipped] = (),
) -> list[NotJudged]:
    """Return what was not judged: files first, then workloads, then objects.

    Args:
        manifests: what was to be judged.
        workloads: those that they make.
        judged: which of the workloads a check has judged.
        skipped: objects of which no pods were made.
    """
    found = [NotJudged(kind="File", name=each.file, reason=each.reason) for each in manifests.unread]
    found += [
        NotJudged(kind="Workload", name=each.workload.subject, reason=_NO_CHECK)
        for each in workloads
        if each.key not in judged
    ]
    found += [NotJudged(kind="Workload", name=each.subject, reason=each.reason) for each in skipped]
    for kind, count in sorted(manifests.ignored.items()):
        # Policies and settings of schedctl that stand beside manifests are no part of them.
        if not kind.startswith(_OURS):
            found.append(NotJudged(kind="Object", name=kind, count=count, reason=_NOT_READ))
    found += [
        NotJudged(kind="Resource", name=each.problem.subject, reason=each.problem.message)
        for each in manifests.unmodelled
    ]
    return found


def notes(found: Sequence[NotJudged]) -> Iterator[str]:
    """Yield a note for each reason, with what was not judged for it."""
    for kind, reason in dict.fromkeys((each.kind, each.reason) for each in found):
        same = [each for each in found if (each.kind, each.reason) == (kind, reason)]
        names = [f"{each.count} {each.name}" if kind == "Object" else each.name for each in same]
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        number = counts.of(sum(each.count for each in same), kind.lower())
        yield f"{number} not judged: {', '.join(names[:_LISTED])}{more} ({reason})"


def remarks(workloads: Iterable[JudgedWorkload]) -> Iterator[str]:
    """Yield a note for each thing to know about the number of the pods that were judged, with whom it is about."""
    about: dict[str, list[str]] = {}
    for judged in workloads:
        texts = judged.workload.notes
        if not judged.pods:
            texts = texts or (judged.wants_none,)
            texts = tuple(f"{text}; no pod of it was judged" for text in texts)
        for text in texts:
            about.setdefault(text, []).append(judged.workload.subject)
    for text, subjects in about.items():
        yield f"{abbreviate(subjects)}: {text}"
