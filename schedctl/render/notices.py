"""Blocks that stand in many outputs: causes, fixes, Kubernetes' line, what is not known, notes, and the last line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schedctl import shipped
from schedctl.api.defaults import DEFAULT_SCHEDULER
from schedctl.api.gaps import FORBIDDEN
from schedctl.api.kinds import plural
from schedctl.render.layout import SCREEN, Block, Cell, Line, Span, Table, line, width
from schedctl.reports import counts
from schedctl.reports.metadata import (
    ABSENT,
    BUILT_IN,
    AssumedVolumes,
    Metadata,
    MissingKind,
    ReportedAssumption,
    describe_unknown,
    enumerate_names,
)
from schedctl.reports.reasons import Hint, ManifestEdit, Reason, Remark

WORDLESS = "rejected without a reason"
"""What stands for a reason that has no text, as when an extender just leaves a node out."""
_HANG = 6
"""Where the texts of fixes begin."""
_TEMPLATE = "spec.template.spec."
"""Where the pods of a workload are described, which is not told of their fields."""
_PLAIN = re.compile(r"[1-9][0-9]*(m|[kMGTPE]i?|Ki)")
"""Amounts that YAML reads as text without quotes; all other text is quoted."""
_LONG = 120
"""A line of details that is longer is broken where it goes on to another matter."""
_CLAUSES = (", ", ". ", ": ")
"""Where the line of kube-scheduler may be folded: between its reasons."""


class AnswerRow(NamedTuple):
    """A row of the table that many answers begin with: for how many pods of whom, the nearest cause, the best fix."""

    pods: int
    owner: str
    cause: str
    fix: str
    style: str = "bad"


def answer_table(answers: Sequence[AnswerRow], indent: int = 0) -> Table:
    """Return a row for each owner and answer; causes and fixes are folded where the terminal is too narrow."""
    rows: list[Sequence[Cell]] = [
        ((Span(str(each.pods)),), (Span(each.owner),), (Span(each.cause, each.style),), (Span(each.fix),))
        for each in answers
    ]
    return Table(rows, indent, ("PODS", "OWNER", "CAUSE", "FIX"), frozenset((0,)), folding=2)


def cause(reasons: Sequence[Reason]) -> str:
    """Return the nearest of some reasons in the fewest words that tell it from others."""
    nearest = reasons[0]
    text = next(iter(nearest.diagnosis), "") or _first_detail(nearest) or nearest.text or WORDLESS
    return f"{counts.nodes(nearest.count)}: {text}" if nearest.count else text


def _first_detail(reason: Reason) -> str:
    """Return what is told of the nearest nodes, and of how many if the others are told something else."""
    if not reason.details:
        return reason.detail.partition("; ")[0]
    first = reason.details[0]
    some = f" ({first.nodes} of them)" if first.nodes < reason.count else ""
    return f"{first.text.partition('; ')[0]}{some}"


def best_fix(hints: Sequence[Hint]) -> str:
    """Return the first fix that was tried and works, else the first command of a next step, "" where there is none."""
    fix = next((each.text for each in hints if each.fits), "")
    return fix or next((f"next: {each.command}" for each in hints if each.command), "")


def fixes(hints: Sequence[Hint], *, commands: bool = False, indent: int = 0) -> Iterator[Block]:
    """Yield what was tried and works, the best first, and then what else is known to help.

    Below the best that can be pasted stands the command, if a screen can show it on one line, or what to change in the
    manifests. What all of several fixes would cause is said once, below the last of them.

    Args:
        hints: fixes and other next steps.
        commands: whether what to paste stands below each, however long.
        indent: columns before all of it.
    """
    helpful = [each for each in hints if each.fits]
    pasted = next((each for each in helpful if each.command or each.edits), None)
    first, *others = [each.consequences for each in helpful] or [[]]
    shared = [text for text in dict.fromkeys(first) if others and all(text in each for each in others)]
    for number, each in enumerate(helpful):
        yield Line((Span("fix:  " if number == 0 else "  or: ", "hint"), Span(each.text)), indent, hang=_HANG)
        for consequence in dict.fromkeys(each.consequences):
            if consequence not in shared:
                yield Line((Span("then: ", "faint"), Span(consequence)), indent + _HANG, hang=_HANG)
        fits = each is pasted and indent + _HANG + width(each.command) <= SCREEN.columns
        if each.command and (commands or fits):
            yield Line((Span(each.command),), indent + _HANG, whole=True)
        if commands or each is pasted:
            yield from (_manifest_edit(edit, indent + _HANG) for edit in each.edits)
    for consequence in shared:
        yield Line((Span("then, with any of these: ", "faint"), Span(consequence)), indent + _HANG, hang=_HANG)
    for each in hints:
        if not each.fits:
            yield hint(each.text, indent)
            fits = indent + _HANG + width(each.command) <= SCREEN.columns
            if each.command and each.command not in each.text and (commands or fits):
                yield Line((Span(each.command),), indent + _HANG, whole=True)


def _manifest_edit(edit: ManifestEdit, indent: int) -> Line:
    """Return the line of a manifest and what is to stand there, in YAML."""
    place = f"{edit.source}:{edit.line}: " if edit.line else f"{edit.source}: "
    field = edit.field.removeprefix(_TEMPLATE)
    if edit.action == "remove":
        return Line((Span(f"{place}remove {field}"),), indent, hang=2)
    written = edit.value if isinstance(edit.value, str) and _PLAIN.fullmatch(edit.value) else json.dumps(edit.value)
    what = f"add to {field}: " if edit.action == "append" else f"{field}: "
    return Line((Span(f"{place}{what}{written}"),), indent, hang=2)


def kubernetes_line(message: str, indent: int = 0) -> Iterator[Block]:
    """Yield the FailedScheduling line, byte for byte but for where it is folded."""
    if message:
        yield Line((Span(message),), indent, hang=0, fold=_CLAUSES)


def message_of_side(label: str, message: str, indent: int = 2) -> Line:
    """Return the FailedScheduling line of one of several sides or times, after which it is."""
    return Line((Span(label, "strong"), Span(message)), indent, hang=len(label), fold=_CLAUSES)


def reason_head(reason: Reason, indent: int = 0) -> Line:
    """Return how many nodes a reason rejects, Kubernetes' words, and the plugin."""
    plugin = f"  [{reason.plugin}]" if reason.plugin else ""
    return Line((rejection_subject(reason), Span(reason.text or WORDLESS), Span(plugin, "faint")), indent)


def cause_and_diagnosis(reason: Reason, indent: int = 0) -> Iterator[Line]:
    """Yield a reason, and what schedctl found out about its cause."""
    yield reason_head(reason, indent)
    for sentence in reason.diagnosis:
        yield line(sentence, indent=indent + 2)


def parts(text: str) -> list[str]:
    """Return what is said one after the other, a line each, where it is too much for one."""
    return text.split("; ") if len(text) > _LONG else [text]


def what_if(changes: Sequence[str]) -> Iterator[Block]:
    """Yield what was changed in the cluster before anything was asked."""
    for change in changes:
        yield Line((Span("what if: ", "hint"), Span(change)), hang=9)


def not_known(missing: Sequence[MissingKind]) -> Iterator[Block]:
    """Yield what could not be listed, and whom that weakens."""
    for kind in missing:
        weakens = f": weakens {', '.join(kind.plugins)}" if kind.plugins else ""
        yield Line((Span("not known: ", "hint"), Span(f"{plural(kind.kind)} ({kind.reason}){weakens}")), hang=11)
    if any(kind.reason == FORBIDDEN for kind in missing):
        text = f"the role schedctl-reader in {shipped.roles()} grants the missing permissions"
        yield hint(text)


def assumptions(assumed: Sequence[ReportedAssumption]) -> Iterator[Block]:
    """Yield what an answer rests on that is not known; plugins that were not asked for the same reason are one line."""
    alike: dict[tuple[bool, str], list[str]] = {}
    for each in assumed:
        after = each.text.removeprefix(f"{each.plugin} was ") if each.kind == ABSENT else each.text
        alike.setdefault((each.decides, after), []).extend([each.plugin] if each.kind == ABSENT else [])
    for (decides, text), plugins in alike.items():
        verb = "were" if len(plugins) > 1 else "was"
        whole = f"{enumerate_names(plugins)} {verb} {text}" if plugins else text
        yield Line((Span("guess: ", "hint" if decides else "faint"), Span(whole)), hang=7)


def assumed_volumes(assumed: Sequence[AssumedVolumes]) -> Iterator[Block]:
    """Yield what is assumed of volumes that provisioners would make."""
    for each in assumed:
        yield Line((Span("assumed: ", "faint" if each.certain else "hint"), Span(each.text)), hang=9)


def remark(plugin_remark: Remark, entries: int, indent: int = 0) -> Iterator[Line]:
    """Yield what a plugin says of a pod beyond its verdicts."""
    yield Line((Span(f"{plugin_remark.plugin}: ", "strong"), Span(plugin_remark.text)), indent, hang=2)
    for each in plugin_remark.details[:entries]:
        yield line(each, indent=indent + 2)
    yield from rest(len(plugin_remark.details) - entries, indent + 2)


def warning(plugin_warning: Remark, indent: int = 0, subject: str = "") -> Line:
    """Return what a plugin finds in the spec of a pod that does not do what was probably meant.

    Args:
        plugin_warning: what it finds.
        indent: of the line.
        subject: whose spec it is, up to the text; "" where that stands above.
    """
    plugin = Span(f"  [{plugin_warning.plugin}]", "faint")
    spans = (Span("warning: ", "bad"), Span(subject, "strong"), Span(plugin_warning.text), plugin)
    return Line(spans, indent, hang=9)


def doubt(assumed: Sequence[ReportedAssumption]) -> tuple[Span, ...]:
    """Return what follows the first line of an answer that is a guess, nothing for one that stands."""
    unknown = describe_unknown(assumed)
    return (Span(f"; INCONCLUSIVE: {unknown}", "bad"),) if unknown else ()


def note(text: str, indent: int = 0) -> Line:
    """Return a line of what a reader must know."""
    return Line((Span("note: ", "faint"), Span(text)), indent, hang=6)


def hint(text: str, indent: int = 0) -> Line:
    """Return a next step."""
    return Line((Span("hint: ", "hint"), Span(text)), indent, hang=6)


def rejection_subject(reason: Reason) -> Span:
    """Return what a reason begins with: how many nodes it rejects, or that it is about the pod as a whole."""
    return Span(f"{'the pod as a whole' if reason.whole_pod else counts.nodes(reason.count)}: ", "strong")


def few(names: Sequence[str], entries: int) -> str:
    """Return the first of some names, and how many more there are."""
    more = f", +{len(names) - entries} more" if len(names) > entries else ""
    return ", ".join(names[:entries]) + more


def rest(number: int, indent: int = 2) -> Iterator[Line]:
    """Yield how many entries of a list are not shown, nothing where all are."""
    if number > 0:
        yield line(f"+{number} more", "faint", indent=indent)


_VERSION_SOURCE = {"APIServer": "as the API server", "Snapshot": "as the snapshot", "Kubelets": "as the newest kubelet"}
_OBVIOUS_SOURCE = {"Option": "as asked", "Newest": "the newest"}
"""What only a wide answer says of a version: that somebody named it, or that nothing says which one the state has."""


def rules(metadata: Metadata, versions: str = "") -> str:
    """Return by which kube-scheduler the answer was found; `versions` as for `end`."""
    gates = "".join(f" {gate}" for gate in metadata.feature_gates)
    judge = f"A {metadata.kubernetes_version}, {versions}" if versions else metadata.kubernetes_version
    return f"kube-scheduler {judge}{gates} rules"


def source_of_version(metadata: Metadata, *, wide: bool = False) -> str:
    """Return where the version of these rules came from, "" for what is obvious in an answer that is not wide."""
    source = metadata.version_source
    return _VERSION_SOURCE.get(source, "") or (_OBVIOUS_SOURCE[source] if wide else "")


def end(
    metadata: Metadata,
    *,
    profile: str = "",
    several: bool = False,
    versions: str = "",
    wide: bool = True,
    dry_run: bool = True,
) -> Line:
    """Return that nothing was changed, by which rules the answer was found, and where there is more.

    Args:
        metadata: of the report.
        profile: the profile that answered, "" for none in particular.
        several: whether configurations are compared, so that none is the one.
        versions: the other kube-schedulers where versions are compared, each behind its letter: ``B v1.37.1``.
        wide: whether everything is shown already, or the output has no wide form.
        dry_run: whether nothing could have been changed.
    """
    usual = several or (profile in ("", DEFAULT_SCHEDULER) and metadata.configuration == BUILT_IN)
    by_profile = f", profile {profile}" if profile else ""
    origin = "" if usual and (several or not wide) else f"{by_profile} ({metadata.configuration})"
    version_source = source_of_version(metadata, wide=wide)
    source = f" ({'A ' if versions else ''}{version_source})" if version_source else ""
    sampled = ", nodes sampled" if metadata.sampling else ""
    more = "" if wide else "; more: -o wide"
    judged = f"{rules(metadata, versions)}{source}{origin}{sampled}"
    return line(f"{'dry run, ' if dry_run else ''}nothing was changed; {judged}{more}", "faint")
