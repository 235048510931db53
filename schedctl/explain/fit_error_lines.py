"""Two lines of kube-scheduler side by side: ``0/3 nodes are available: 3 Insufficient cpu. preemption: …``.

A line is taken apart into what it counts, and two lines are compared count by count, since the counts are what a person
looks for: which reason has come, which has gone, whose it is; other words for the same are no difference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from schedctl.scheduler.reason_patterns import reason_patterns

LONGEST = 1024
"""How many bytes of a line an event carries, and what stands at the end of one that is cut."""
CUT = " ..."
PREEMPTION = "DefaultPreemption"

_LINE = re.compile(r"0/(\d+) nodes are available:(.*)", re.DOTALL)
_AFTER = re.compile(r"(?:^|\.) +(?=[a-z])|^(?=preemption: )")
_COUNTED = re.compile(r"(\d+) (.+)", re.DOTALL)
_BETWEEN = re.compile(r", (?=\d+(?: |\Z))")
_PLUGINS = re.compile(r"node\(s\) didn't satisfy plugin(?:\(s\) \[([^\]]*)\]| (\S+))")
_BROKEN = "\ufffd"
"""What stands for each byte of a character that was cut in two."""

_OTHER_WORDS = (
    (re.compile(r"node\(s\) had untolerated taint \{.*\}", re.DOTALL), "node(s) had untolerated taint(s)"),
    (
        re.compile(r"node\(s\) had taint \{.*\}, that the pod didn't tolerate", re.DOTALL),
        "node(s) had untolerated taint(s)",
    ),
    (re.compile(r"node\(s\) had taints that the pod didn't tolerate"), "node(s) had untolerated taint(s)"),
    (
        re.compile(r"node\(s\) didn't match (?:node selector|Pod's node affinity)"),
        "node(s) didn't match Pod's node affinity/selector",
    ),
    (
        re.compile(r"node\(s\) had volume node affinity conflict"),
        "node(s) didn't match PersistentVolume's node affinity",
    ),
)
"""How other versions of kube-scheduler word what this one words as it does."""


class DifferenceKind(StrEnum):
    """In what two lines differ."""

    NODES = "Nodes"
    """They are about clusters of different size."""
    GAINED = "Gained"
    """A reason is ours alone."""
    LOST = "Lost"
    """A reason is theirs alone."""
    COUNT = "Count"
    """A reason stands for another number of nodes."""
    TEXT = "Text"
    """One of the lines counts no reasons, and the other is not the same."""
    PREEMPTION = "Preemption"
    """Preemption came to something else."""


class FitErrorDifference(msgspec.Struct, frozen=True):
    """One way in which two lines differ.

    Attributes:
        kind: in what.
        reason: the reason, in our words; "" for none.
        plugin: whose it is, "" where nobody knows.
        theirs: how many nodes it stands for in their line; where no nodes are counted, what it says.
        ours: likewise.
    """

    kind: DifferenceKind
    reason: str = ""
    plugin: str = ""
    theirs: int | str = 0
    ours: int | str = 0


class FitErrorLine(msgspec.Struct, frozen=True):
    """A line taken apart.

    Attributes:
        nodes: of how many nodes it is about, None where it does not say.
        counts: how many nodes each reason stands for, in our words.
        text: what it says instead of counting, "" where it counts.
        after: what PostFilter achieved, "" for nothing.
        cut: whether its end is missing.
        open: whether the end is missing of what it counts or says, so that there may have been more.
    """

    nodes: int | None = None
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    text: str = ""
    after: str = ""
    cut: bool = False
    open: bool = False


def is_cut(text: str) -> bool:
    """Return whether a line is one that was cut."""
    return text.endswith(CUT) and len(text.replace(_BROKEN, "?").encode()) >= LONGEST


def certain_part(text: str) -> str:
    """Return what a line that was cut still says for sure; another line is returned as it is."""
    return text.removesuffix(CUT).rstrip(_BROKEN) if is_cut(text) else text


def parse(text: str) -> FitErrorLine:
    """Return a line taken apart."""
    return _parse(certain_part(text), is_cut(text))


def _parse(text: str, cut: bool) -> FitErrorLine:
    line = _LINE.match(text)
    if line is None:
        return FitErrorLine(text=text.rstrip("."), cut=cut, open=cut)
    nodes, rest = int(line[1]), line[2].strip()
    behind = _AFTER.search(rest)
    after = rest[behind.end() :] if behind else ""
    counts_text = (rest[: behind.start()] if behind else rest).rstrip(".")
    # kube-scheduler cuts a line for an event at 1,024 bytes: in a number, in a name, in a character. Of a cut line only
    # what is there is compared, and never its last piece.
    unfinished = cut and behind is None
    pieces = _BETWEEN.split(counts_text)
    counted = [_COUNTED.fullmatch(piece) for piece in pieces]
    if counts_text and counted[0] is None and not (unfinished and counts_text.isdecimal()):
        return FitErrorLine(nodes, text=counts_text, after=after, cut=cut, open=unfinished)
    counts: Counter[str] = Counter()
    for piece in counted[:-1] if unfinished else counted:
        if piece is not None:
            counts[normalize_reason(piece[2])] += int(piece[1])
    return FitErrorLine(nodes, counts, after=after, cut=cut, open=unfinished)


def agree(theirs: str, ours: str) -> bool:
    """Return whether two lines say the same, byte for byte; of a cut one as far as it goes."""
    return ours.startswith(certain_part(theirs)) if is_cut(theirs) else theirs == ours


def differences(theirs: str, ours: str) -> list[FitErrorDifference]:
    """Return in what two lines differ; empty where they say the same, if need be in other words."""
    if agree(theirs, ours):
        return []
    one, other = parse(theirs), parse(ours)
    found: list[FitErrorDifference] = []
    if None not in (one.nodes, other.nodes) and one.nodes != other.nodes:
        found.append(FitErrorDifference(DifferenceKind.NODES, theirs=one.nodes or 0, ours=other.nodes or 0))
    found += _count_differences(one, other)
    if one.text != other.text and not (one.open and _text_of(other).startswith(one.text)):
        named = plugin_of(other.text or one.text)
        found.append(FitErrorDifference(DifferenceKind.TEXT, plugin=named, theirs=_text_of(one), ours=_text_of(other)))
    if not one.open and _differ_in_preemption(one, other):
        found.append(
            FitErrorDifference(DifferenceKind.PREEMPTION, plugin=PREEMPTION, theirs=one.after, ours=other.after)
        )
    return found


def _text_of(line: FitErrorLine) -> str:
    return line.text or ", ".join(f"{count} {reason}" for reason, count in line.counts.items())


def _count_differences(one: FitErrorLine, other: FitErrorLine) -> Iterator[FitErrorDifference]:
    if one.text or other.text:
        return
    for reason in sorted({*one.counts, *other.counts}):
        theirs, ours = one.counts.get(reason, 0), other.counts.get(reason, 0)
        if theirs == ours or (one.open and not theirs):
            continue
        kind = DifferenceKind.COUNT if theirs and ours else DifferenceKind.GAINED if ours else DifferenceKind.LOST
        yield FitErrorDifference(kind, reason, plugin_of(reason), theirs, ours)


def _differ_in_preemption(one: FitErrorLine, other: FitErrorLine) -> bool:
    """Return whether preemption came to something else; the size of the cluster and full stops do not count."""
    theirs, ours = _afterwards(one), _afterwards(other)
    if theirs.open and theirs.text:
        return one.nodes == other.nodes and not other.after.startswith(one.after)
    return theirs.text != ours.text or any(_count_differences(theirs, ours))


def _afterwards(line: FitErrorLine) -> FitErrorLine:
    return _parse(line.after.removeprefix("preemption: "), line.cut)


def normalize_reason(reason: str) -> str:
    """Return a reason as this version words it."""
    return next((ours for theirs, ours in _OTHER_WORDS if theirs.fullmatch(reason)), reason)


def plugin_of(reason: str) -> str:
    """Return the plugin that words a reason so, "" where none does; of several the first in the default profile."""
    narrowed = _PLUGINS.match(reason)
    if narrowed:
        return ", ".join((narrowed[1] or narrowed[2]).split())
    return next((plugin for pattern, plugin in reason_patterns() if pattern.fullmatch(reason.removesuffix("."))), "")
