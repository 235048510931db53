"""A simulation for people: the answer, why pods would stay pending, each workload, and what concerns all of them.

Of a workload: the zones and nodes its pods would go to, and what changes. Of all: who would have to make room, what
admission would do, and how full and even the nodes are before and after.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby

import msgspec

from schedctl.api.amounts import amount
from schedctl.render import draws, notices, pending_pods, pod_groups
from schedctl.render.layout import ALL, Block, Cell, Line, Span, Table, line, separate
from schedctl.reports import counts, simulations
from schedctl.reports.pod_groups import PodGroupResult

_FEW = 5
_BAR = 10
"""How many signs a bar has."""
TAKEN, MORE, FREED, FREE = "█", "▒", "░", "·"
"""What a bar is made of: taken before and after, taken now, freed now, free."""
_ALWAYS = ("cpu", "memory")
_FATES = {
    simulations.Fate.UNSCHEDULABLE: "pending",
    simulations.Fate.NOMINATED: "pending, nominated to {node}",
    simulations.Fate.GATED: "gated",
    simulations.Fate.WAITING: "waiting for Permit on {node}",
    simulations.Fate.QUEUED: "still in the queue",
    simulations.Fate.FAILED: "pending after an error",
    simulations.Fate.EVICTED: "lost (no controller recreates it)",
    simulations.Fate.ORPHANED: "never scheduled",
    simulations.Fate.FOREIGN_SCHEDULER: "skipped (belongs to another scheduler)",
    simulations.Fate.INCONCLUSIVE: "inconclusive",
}


class _Detail(msgspec.Struct, frozen=True):
    """How many entries of a list are shown, and whether what tells little is."""

    entries: int
    wide: bool


def lines(report: simulations.SimulationReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every pod, every entry of a list and every resource.
        limit: show so many answers about pending pods and so many entries of a list, 0 for what suits.
    """
    detail = _Detail(limit or (ALL if wide else _FEW), wide)
    yield answer(report)
    if report.draws is not None:
        yield draws.answer(report.draws)
    yield from notices.what_if(report.metadata.what_if)
    in_groups = {key for group in report.groups for key in group.members}
    pending = pending_pods.distinct([(each.namespace, group) for each in report.results for group in each.pending])
    others = [each for each in report.others if each.pod not in in_groups]
    sections = (
        *(tuple(pod_groups.blocks(group, wide=wide, limit=limit)) for group in report.groups[: report.summary.groups]),
        *pending_pods.sections(_beside_groups(pending, in_groups), wide=wide, limit=limit),
        *(_workload(result, detail) for result in report.results if wide or not _is_told_with_group(result, in_groups)),
        _other_groups(report.groups[report.summary.groups :], detail),
        _unmodelled_lines(report.unmodelled, detail),
        _rejected_objects(report.rejected),
        draws.section(report.draws, detail.entries) if report.draws is not None else (),
        _preemptions(report.preemptions, detail),
        _others(others, {each.group.message: each.subject for each in pending}, detail),
        _admission(report.results, detail),
        _utilisation(report, detail),
        _last(report, bool(pending), wide),
    )
    yield from separate(sections)


def _other_groups(groups: Sequence[PodGroupResult], detail: _Detail) -> Iterator[Block]:
    """Yield what would become of groups of the cluster that were pending before, a line each."""
    for group in groups[: detail.entries]:
        yield pod_groups.headline(group)
    yield from notices.rest(len(groups) - detail.entries, 0)


def _beside_groups(pending: Sequence[pending_pods.Answer], in_groups: Set[str]) -> list[pending_pods.Answer]:
    """Return the answers that are not about pods of groups, of which the group says why they are pending."""
    return [answer for answer in pending if not in_groups >= set(answer.names)]


def _is_told_with_group(result: simulations.WorkloadResult, in_groups: Set[str]) -> bool:
    """Return whether a workload is a single pod of a group, where the group says what becomes of it."""
    return result.kind == "Pod" and f"{result.namespace}/{result.name}" in in_groups


def answer(report: simulations.SimulationReport) -> Line:
    """Return the answer on one line."""
    summary = report.summary
    done = summary.placed == summary.pods and not summary.rejected
    first = (
        f"{summary.placed} of {counts.of(summary.pods, 'pod')} would be placed" if summary.pods else "no pods to place"
    )
    more = (
        (summary.pending, "pending"),
        (summary.not_created, "not created"),
        (summary.rejected, "rejected"),
        (summary.inconclusive, "inconclusive"),
        (summary.foreign_scheduler, "skipped (of another scheduler)"),
        (summary.orphaned, "naming a node that does not exist"),
        (summary.groups_waiting, f"of {counts.of(summary.groups, 'group')} would not start"),
        (summary.preempted, "would be preempted"),
        (summary.not_returned, "of those would not be placed again"),
    )
    others = [f"{count} {what}" for count, what in more if count]
    if summary.mistakes:
        others.append(f"{counts.of(summary.mistakes, 'mistake')} in the manifests")
    spans = [
        Span(first, "good" if done else "bad"),
        *(Span(f"; {other}", "strong") for other in others),
        *notices.doubt(report.guesses),
    ]
    return Line(spans)


# -- one workload -----------------------------------------------------------------


def _workload(result: simulations.WorkloadResult, detail: _Detail) -> Iterator[Block]:
    yield _head(result)
    yield from _changes(result, detail)
    yield from _places(result.nodes, detail)
    if detail.wide:
        yield from _pods(result)
    # Why they are pending is told above, so that nothing tells pods of one fate apart here.
    by_fate: dict[str, list[str]] = {}
    for pending in result.pending:
        by_fate.setdefault(_fate(pending.fate, pending.node), []).extend(pending.pods)
    for fate, names in by_fate.items():
        yield _names(f"{len(names)} {fate}", names, detail)
    for rejected in result.rejected:
        yield _names(f"{len(rejected.pods)} rejected", rejected.pods, detail)
        yield from notices.kubernetes_line(rejected.message, 4)
    if result.not_created:
        yield _names(f"{len(result.not_created)} not created", result.not_created, detail)
        yield line("the controller waits for the pods before them to be ready", indent=4)
    for each in result.warnings:
        yield notices.warning(each, 2)
    for note in result.notes:
        yield notices.note(note, 2)


def _unmodelled_lines(resources: Sequence[simulations.UnmodelledResource], detail: _Detail) -> Iterator[Block]:
    for each in resources[: detail.entries]:
        spans = (Span(f"{each.subject}: ", "strong"), Span(each.reason), Span(f"  [{each.source}]", "faint"))
        yield Line(spans, hang=2)
    yield from notices.rest(len(resources) - detail.entries, 0)
    if resources:
        yield notices.hint("`customKinds` in the settings says where a kind keeps its pod templates")


def _head(result: simulations.WorkloadResult) -> Line:
    subject = f"{result.kind} {result.namespace}/{result.name}"
    placed = f"{result.placed} of {result.wanted} would be placed" if result.wanted else "no pods"
    kept = f", {result.kept} of them where they run now" if result.kept else ""
    style = "good" if result.placed == result.wanted else "bad"
    how = [change.what for change in result.changes if change.what in ("new", "unchanged")]
    skew = [f"zone skew {result.zone_skew}"] if (result.zone_skew or 0) > 1 else []
    where = ", ".join((*how, *skew, *(place for place in (result.origin or result.source,) if place)))
    spans = (
        Span(f"{subject}: ", "strong"),
        Span(placed, style),
        Span(kept),
        Span(f"  [{where}]" if where else "", "faint"),
    )
    return Line(spans)


def _changes(result: simulations.WorkloadResult, detail: _Detail) -> Iterator[Block]:
    changes = [change.text for change in result.changes if change.what not in ("new", "unchanged")]
    if result.removed:
        changes.append(f"{counts.of(result.removed, 'old pod')} would be removed")
    if result.left:
        changes.append(f"{counts.of(result.left, 'old pod')} would stay, since new pods are not running")
    for text in changes[: detail.entries]:
        yield Line((Span("change: ", "faint"), Span(text)), 2, hang=8)
    if len(changes) > detail.entries:
        yield line(f"+{counts.of(len(changes) - detail.entries, 'more change')}", "faint", indent=2)


def _places(nodes: Sequence[simulations.NodePods], detail: _Detail) -> Iterator[Block]:
    """One row for each zone, with the nodes in it."""
    rows: list[Sequence[Cell]] = []
    for zone, group in groupby(nodes, lambda node: node.zone):
        inside = sorted(group, key=lambda node: (-node.pods, node.name))
        names = [f"{node.name} ×{node.pods}" if node.pods > 1 else node.name for node in inside[: detail.entries]]
        if len(inside) > detail.entries:
            rest = sum(node.pods for node in inside[detail.entries :])
            names.append(f"+{rest} on {counts.nodes(len(inside) - detail.entries, 'more ')}")
        number = str(sum(node.pods for node in inside))
        rows.append(((Span(zone or "no zone"),), (Span(number),), (Span(", ".join(names)),)))
    if rows:
        yield Table(rows, 2, numbers=frozenset((1,)))


def _pods(result: simulations.WorkloadResult) -> Iterator[Block]:
    rows: list[Sequence[Cell]] = []
    for pod in result.pods:
        tied = f"{pod.ties} tied" if pod.ties > 1 else ""
        tried = f"{pod.attempts} attempts" if pod.attempts > 1 else ""
        after = f"instead of {pod.evicted}" if pod.evicted else ""
        circumstances = ", ".join(each for each in (tied, tried, after) if each)
        where = pod.node if pod.fate is simulations.Fate.PLACED else _fate(pod.fate, pod.node)
        rows.append(
            (
                (Span(pod.name),),
                (Span(where, "" if pod.fate is simulations.Fate.PLACED else "bad"),),
                (Span(circumstances),),
            )
        )
    if rows:
        yield Table(rows, 2)


def _fate(fate: simulations.Fate, node: str) -> str:
    return _FATES.get(fate, fate.value.lower()).format(node=node)


def _names(what: str, names: Sequence[str], detail: _Detail) -> Line:
    return Line((Span(f"{what}: ", "bad"), Span(notices.few(names, detail.entries))), 2)


# -- the cluster ------------------------------------------------------------------


def _rejected_objects(messages: Sequence[str]) -> Iterator[Block]:
    for message in messages:
        yield Line((Span("rejected: ", "bad"), Span(message)), hang=10)


def _preemptions(preemptions: Sequence[simulations.Preempted], detail: _Detail) -> Iterator[Block]:
    if not preemptions:
        return
    yield line("would be preempted", "strong")
    rows: list[Sequence[Cell]] = []
    for each in preemptions[: detail.entries]:
        cells = (each.pod, f"priority {each.priority} on {each.node}", f"by {each.by}", _came_back(each))
        rows.append([(Span(text),) for text in cells])
    yield Table(rows, 2)
    yield from notices.rest(len(preemptions) - len(rows))
    lost = [(each.successor, each.message) for each in preemptions if each.fate not in (None, simulations.Fate.PLACED)]
    if lost:
        yield Line((Span(f"{counts.of(len(lost), 'replacement')} would not be placed:", "bad"),), 2)
        yield from _why(lost, {}, detail)


def _came_back(each: simulations.Preempted) -> str:
    if each.fate is None:
        return "lost: no controller recreates it"
    if each.fate is simulations.Fate.PLACED:
        return f"recreated on {each.successor_node}"
    return f"recreated as {each.successor.partition('/')[2]}: {_fate(each.fate, each.successor_node)}"


def _others(others: Sequence[simulations.OtherPod], explained: Mapping[str, str], detail: _Detail) -> Iterator[Block]:
    """Pods of the cluster that were pending before; those that would be placed, by name."""
    placed = [other for other in others if other.fate is simulations.Fate.PLACED]
    if placed:
        yield line(f"{counts.of(len(placed), 'other pending pod')} would be placed", "strong")
        yield Table([[(Span(other.pod),), (Span(other.node),)] for other in placed[: detail.entries]], 2)
        yield from notices.rest(len(placed) - detail.entries)
    still = [(other.pod, other.message) for other in others if other.fate is not simulations.Fate.PLACED]
    if still:
        yield line(f"{counts.of(len(still), 'other pending pod')} would stay pending", "strong")
        yield from _why(still, explained, detail)


def _why(pods: Sequence[tuple[str, str]], explained: Mapping[str, str], detail: _Detail) -> Iterator[Block]:
    """Name pods that are on no node, those together that are so for the same reason, with the reason.

    A reason that was given for other pods is not given again.
    """
    by_message: dict[str, list[str]] = {}
    for pod, message in pods:
        by_message.setdefault(message, []).append(pod)
    for message, names in list(by_message.items())[: detail.entries]:
        yield line(notices.few(names, detail.entries), indent=2)
        if message in explained:
            yield line(f"for the same reasons as {explained[message]}", indent=4)
        else:
            yield from notices.kubernetes_line(message, 4)
    yield from notices.rest(sum(len(names) for names in list(by_message.values())[detail.entries :]))


def _admission(results: Sequence[simulations.WorkloadResult], detail: _Detail) -> Iterator[Block]:
    """Each effect once, with the workloads it concerns."""
    concerned: dict[tuple[str, str], list[simulations.WorkloadResult]] = {}
    for result in results:
        for effect in result.effects:
            concerned.setdefault((effect.plugin, effect.text), []).append(result)
    if not concerned:
        return
    yield line("admission", "strong")
    rows: list[Sequence[Cell]] = []
    for (plugin, text), workloads in concerned.items():
        who = _who(workloads, len(results), detail)
        rows.append(((Span(plugin),), (Span(text),), (Span(who, "faint"),)))
    yield Table(rows, 2)


def _who(workloads: Sequence[simulations.WorkloadResult], total: int, detail: _Detail) -> str:
    if len(workloads) == total:
        return "all" if total > 1 else ""
    names = [f"{result.namespace}/{result.name}" for result in workloads]
    return notices.few(names, detail.entries)


def _utilisation(report: simulations.SimulationReport, detail: _Detail) -> Iterator[Block]:
    groups = report.utilisation.groups
    resources = _shown_resources(groups, detail)
    if not resources:
        return
    yield line("utilisation, before → after", "strong")
    label = report.utilisation.label.rpartition("/")[2] or "group"
    heads = (label.upper(), "NODES", *(resource.upper() for resource in resources))
    rows: list[Sequence[Cell]] = []
    for group in groups:
        uses = {use.resource: use for use in group.uses}
        cells = [_use(uses.get(resource), detail) for resource in resources]
        rows.append(((Span(group.name or "none"),), (Span(str(group.nodes)),), *cells))
    yield Table(rows, 2, heads, frozenset((1,)))
    yield from _balance(report.balance)


def _shown_resources(groups: Iterable[simulations.GroupUse], detail: _Detail) -> list[str]:
    """Return the resources worth a column: cpu and memory, and others that changed; in ``wide`` all."""
    shown: dict[str, bool] = {}
    for group in groups:
        for use in group.uses:
            # Every pod changes the number of pods, so that a column for it would never be missing.
            changed = use.before != use.after and use.resource not in ("pods", "ephemeral-storage")
            is_shown = use.resource in _ALWAYS or detail.wide or changed
            shown[use.resource] = shown.get(use.resource, False) or is_shown
    return [resource for resource, is_shown in shown.items() if is_shown]


def _use(use: simulations.Use | None, detail: _Detail) -> Cell:
    if use is None:
        return (Span("-"),)
    before, after = percent(use.before, use.allocatable_before), percent(use.after, use.allocatable)
    shares = f"{before}%" if before == after else f"{before}% → {after}%"
    if detail.wide:
        shares += f" ({amount(use.resource, use.after)} of {amount(use.resource, use.allocatable)})"
    return (Span(bar(before, after)), Span(f" {shares}"))


def percent(taken: int, offered: int) -> int:
    """Return a share in percent, rounded half up."""
    # In whole numbers, for bytes of memory are beyond what a float holds exactly once they are multiplied.
    return (200 * taken + offered) // (2 * offered) if offered > 0 else 0


def bar(before: int, after: int) -> str:
    """Return a bar of what is taken, in percent before and after; it never looks empty or full unless it is."""
    old, new = _signs(before), _signs(after)
    both = min(old, new)
    return (TAKEN * both + (MORE if new > old else FREED) * abs(new - old)).ljust(_BAR, FREE)


def _signs(percent: int) -> int:
    if percent <= 0:
        return 0
    if percent >= 100:
        return _BAR
    return min(max(1, (percent * _BAR + 50) // 100), _BAR - 1)


def _balance(balance: Sequence[simulations.Balance]) -> Iterator[Block]:
    rows: list[Sequence[Cell]] = []
    for each in balance:
        one, other = each.before, each.after
        pairs = (
            (one.mean, other.mean),
            (one.deviation, other.deviation),
            (one.lowest, other.lowest),
            (one.highest, other.highest),
        )
        rows.append(((Span(each.resource),), *((Span(_both(*pair)),) for pair in pairs)))
    yield Table(rows, 2, ("BALANCE OF NODES", "AVERAGE", "DEVIATION", "LOWEST", "HIGHEST"))


def _both(before: float, after: float) -> str:
    old, new = math.floor(before + 0.5), math.floor(after + 0.5)
    return f"{old}%" if old == new else f"{old}% → {new}%"


# -- the end ----------------------------------------------------------------------


def _last(report: simulations.SimulationReport, pending: bool, wide: bool) -> Iterator[Block]:
    ending, metadata = report.ending, report.metadata
    yield from notices.assumptions(report.guesses)
    yield from notices.assumed_volumes(report.assumed_volumes)
    yield from notices.not_known(metadata.missing)
    clock = f"simulated {ending.clock:g} s, " if ending.clock else ""
    style = "bad" if ending.reason is simulations.EndReason.INTERRUPTED else "faint"
    attempts = counts.of(ending.attempts, "attempt")
    yield Line((Span("stopped: ", "faint"), Span(f"{ending.text} ({clock}{attempts})", style)), hang=9)
    if pending and ending.clock:
        yield notices.note("causes and fixes of pending pods are judged against the final state")
    tied = sum(pod.ties > 1 for result in report.results for pod in result.pods)
    if tied:
        rule = "the first by name is taken" if metadata.seed is None else f"seed {metadata.seed} draws one"
        yield notices.note(f"{counts.of(tied, 'pod')} had several nodes with the same highest score: {rule}")
    if metadata.skipped_admission:
        yield notices.note(f"admission plugins not run: {', '.join(metadata.skipped_admission)}")
    if report.passed:
        kinds = ", ".join(f"{count} {kind.rpartition(' ')[2]}" for kind, count in report.passed.items())
        yield notices.note(f"ignored, because scheduling does not read them: {kinds}")
    yield notices.end(metadata, wide=wide)
