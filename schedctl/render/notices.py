"""Lines that stand in many outputs: what was changed, what is not known, what plugins remark, notes and hints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl import shipped
from schedctl.api.gaps import FORBIDDEN
from schedctl.api.kinds import plural
from schedctl.render.layout import Block, Line, Span, line
from schedctl.reports import counts
from schedctl.reports.metadata import Metadata, MissingKind, ReportedAssumption
from schedctl.reports.reasons import Reason, Remark


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
        text = f"the role schedctl-reader of {shipped.roles()} allows to read what is forbidden"
        yield hint(text)


def assumptions(assumed: Sequence[ReportedAssumption]) -> Iterator[Block]:
    """Yield what an answer rests on that is not known."""
    for each in assumed:
        yield Line((Span("guess: ", "hint" if each.decides else "faint"), Span(each.text)), hang=7)


def remark(plugin_remark: Remark, entries: int, indent: int = 0) -> Iterator[Line]:
    """Yield what a plugin says of a pod beyond its verdicts."""
    yield Line((Span(f"{plugin_remark.plugin}: ", "strong"), Span(plugin_remark.text)), indent, hang=2)
    for each in plugin_remark.details[:entries]:
        yield line(each, indent=indent + 2)
    yield from rest(len(plugin_remark.details) - entries, indent + 2)


def doubt(assumed: Sequence[ReportedAssumption]) -> tuple[Span, ...]:
    """Return what follows the first line of an answer that is a guess, nothing for one that stands."""
    kinds = dict.fromkeys(plural(each.kind) for each in assumed)
    return (Span(f"; INCONCLUSIVE, a guess without {' and '.join(kinds)}, not known", "bad"),) if kinds else ()


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


def rules(metadata: Metadata, *, profile: str = "", configuration: bool = True, nodes: bool = True) -> str:
    """Return by whose rules an answer was found.

    Args:
        metadata: of the report.
        profile: the profile that answered, "" for none in particular.
        configuration: whether the configuration is named; a comparison has several.
        nodes: whether it is said how many nodes were looked at.
    """
    by_profile = f", profile {profile}" if profile else ""
    origin = f" ({metadata.configuration})" if configuration else ""
    judged = f", {'nodes sampled' if metadata.sampling else 'every node judged'}" if nodes else ""
    return f"by the rules of kube-scheduler {metadata.kubernetes_version}{by_profile}{origin}{judged}"
