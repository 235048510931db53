"""An explanation for people: the answer, Kubernetes' own line, the reasons, the scores, notes, and hints last.

Lists are cut to what a person reads (``-o wide`` and ``--limit`` show more); numbers are always those of all nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from schedctl.api.amounts import amount
from schedctl.api.kinds import plural
from schedctl.render import notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line, separate
from schedctl.reports import counts, explanations
from schedctl.reports.metadata import Metadata
from schedctl.reports.reasons import NodeGroup, Reason

_FEW = 5
"""How many names, and how many groups of nodes, are shown before the rest is counted."""
_FEWER = 3
"""How many events that wake a pod are shown before the rest is counted; they stand on one line."""
_BESIDE = 3
"""How many names stand beside what is told of them; more stand below it."""
_LONG = 120
"""A line of details that is longer is broken where it goes on to another matter."""
_TOP = 10
"""How many nodes the score table shows."""
_NODE_VERDICTS = {
    explanations.NodeVerdict.FEASIBLE: "will do",
    explanations.NodeVerdict.REFUSED: "will not do",
    explanations.NodeVerdict.LEFT_OUT: "left out by PreFilter",
    explanations.NodeVerdict.UNSEEN: "was not looked at",
}


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is shown: entries of a list, scored nodes, what wakes a pod; whether columns that tell nothing are."""

    entries: int = _FEW
    scores: int = _TOP
    wakings: int = _FEWER
    columns: bool = False


def lines(report: explanations.ExplainReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every entry of a list and every column.
        limit: show so many entries of a list, 0 for what suits.
    """
    entries, scores, wakings = (limit or (ALL if wide else few) for few in (_FEW, _TOP, _FEWER))
    detail = Detail(entries, scores, wakings, wide)
    many = len(report.results) > 1
    for index, result in enumerate(report.results):
        if index:
            yield BLANK
        rules = "" if many else notices.rules(report.metadata, profile=result.profile, nodes=bool(result.nodes.judged))
        yield from _explanation(result, detail, rules, () if many else _conditions(report.metadata))
    if many:
        yield BLANK
        yield from _conditions(report.metadata)
        yield from _tally(report)


def _conditions(metadata: Metadata) -> tuple[Block, ...]:
    return (*notices.what_if(metadata.what_if), *notices.not_known(metadata.missing))


def _explanation(
    result: explanations.Explanation, detail: Detail, rules: str, conditions: Iterable[Block]
) -> Iterator[Block]:
    yield from answer(result)
    if result.message:
        yield Line((Span(result.message),), whole=True)
    for recorded in result.history:
        yield from _recorded_message(recorded)
    if result.current is not None:
        yield line(result.current.text)
    yield from _takes(result.takes, detail)
    if result.reservation is not None and result.reservation.waits:
        yield line(result.reservation.text)
    sections = (
        *(notices.remark(each, detail.entries) for each in result.remarks),
        _node(result.node, result.verdict, detail) if result.node is not None else (),
        (*_reasons(result, detail), *_wakings(result.wakings, detail)),
        _preemption(result.preemption, detail),
        _scores(result, detail),
        _matrix(result.matrix, result.verdict, detail) if result.matrix is not None else (),
        (*notices.assumptions(result.guesses), *conditions, *_last(result, rules)),
    )
    yield from separate(sections)


def headline(result: explanations.Explanation) -> tuple[Span, ...]:
    """Return the first line of the answer."""
    return tuple(next(answer(result)).spans)


def answer(result: explanations.Explanation) -> Iterator[Line]:
    """Yield the answer on one line.

    A fault that has several lines, as a selector that does not compile does, is shown as it is.
    """
    pod = Span(f"pod {result.pod.namespace}/{result.pod.name}", "strong")
    match result.verdict:
        case explanations.Verdict.SCHEDULED:
            tied = f", {len(result.ties)} tied" if len(result.ties) > 1 else ""
            yield Line((pod, Span(" → "), Span(result.chosen, "good"), Span(f" (score {result.score}{tied})")))
            return
        case explanations.Verdict.UNSCHEDULABLE:
            taken_back = result.reservation is not None and result.reservation.text
            word, why = "UNSCHEDULABLE", taken_back or f"0/{result.nodes.total} nodes"
        case explanations.Verdict.GATED:
            word, why = "GATED", f"waits for {', '.join(result.gates)}" if result.gates else "kept out of the queue"
        case explanations.Verdict.DELETING:
            word, why = "DELETING", "is not scheduled any more"
        case explanations.Verdict.FOREIGN_SCHEDULER:
            word, why = "NOT OURS", f"no profile serves schedulerName {result.pod.scheduler_name}"
        case explanations.Verdict.ERROR:
            word, why = "ERROR", result.error
        case explanations.Verdict.INCONCLUSIVE:
            word, why = "INCONCLUSIVE", _why_inconclusive(result)
    first, *rest = why.split("\n")
    yield Line((pod, Span(": "), Span(word, "bad"), Span(f" ({first})")))
    for each in rest:
        yield Line((Span(each),), 2, whole=True)


def _why_inconclusive(result: explanations.Explanation) -> str:
    """What stands in the way of a verdict, and what it would be as far as the cluster is known."""
    if result.apparent is None:
        return result.error
    apparent = f"{result.apparent.value}, {result.error}" if result.error else result.apparent.value
    if result.apparent is explanations.Verdict.SCHEDULED:
        tied = f", {len(result.ties)} tied" if len(result.ties) > 1 else ""
        apparent = f"{result.chosen}, score {result.score}{tied}"
    kinds = dict.fromkeys(plural(guess.kind) for guess in result.guesses if guess.decides)
    return f"{' and '.join(kinds)} not known; without them: {apparent}"


def _recorded_message(recorded: explanations.RecordedMessage) -> Iterator[Block]:
    """What a scheduler said before; its line is repeated where it is not ours."""
    same = recorded.agreement is not explanations.Agreement.DIFFERS
    yield Line((Span("history: ", "faint"), Span(recorded.text, "" if same else "strong")), hang=9)
    if recorded.agreement in (explanations.Agreement.DIFFERS, explanations.Agreement.OTHER_WORDS):
        yield Line((Span(recorded.message),), 2, whole=True)
    for difference in recorded.differences:
        yield Line((Span(difference.text),), 4)
    for circumstance in recorded.circumstances:
        yield Line((Span(circumstance, "faint"),), 4)


def _takes(takes: Sequence[explanations.ClaimAllocation], detail: Detail) -> Iterator[Block]:
    """What the pod takes along, an entry a line."""
    for taking in takes[: detail.entries]:
        yield Line((Span("takes: ", "faint"), Span(taking.text)), 2, hang=7)
    yield from notices.rest(len(takes) - detail.entries)


# -- why not ---------------------------------------------------------------------


def _reasons(result: explanations.Explanation, detail: Detail) -> Iterator[Block]:
    if not result.reasons:
        return
    if (result.apparent or result.verdict) is explanations.Verdict.SCHEDULED:
        nodes = result.nodes
        unseen = f", {nodes.unseen} were not looked at" if nodes.unseen else ""
        yield line(f"{nodes.feasible} of {counts.nodes(nodes.total)} will do{unseen}; the others:", "faint")
    for reason in result.reasons:
        yield from _reason(reason, detail) if result.matrix is None else [_head(reason)]


def _wakings(wakings: Sequence[explanations.RequeueEvent], detail: Detail) -> Iterator[Block]:
    """What brings the pod back into the queue, with who asks for it, and what comes if nothing else does."""
    events = [f"{each.text} ({', '.join(each.plugins)})" for each in wakings if each.plugins]
    more = [f"+{len(events) - detail.wakings} more"] if len(events) > detail.wakings else []
    # What nobody asks for, such as the flush of pods that have waited for long, is said even where the rest is cut.
    parts = [*events[: detail.wakings], *more, *(each.text for each in wakings if not each.plugins)]
    if parts:
        yield Line((Span("wakes up when: ", "faint"), Span("; ".join(parts))), hang=4)


_WORDLESS = "refused without a word of why"
"""What stands for a reason that has no text, as when an extender just leaves a node out."""


def _head(reason: Reason) -> Line:
    plugin = f"  [{reason.plugin}]" if reason.plugin else ""
    return Line((notices.rejection_subject(reason), Span(reason.text or _WORDLESS), Span(plugin, "faint")))


def _reason(reason: Reason, detail: Detail) -> Iterator[Block]:
    yield _head(reason)
    if reason.summary:
        for part in _parts(reason.summary):
            yield line(part, indent=2)
    shown = reason.groups[: detail.entries]
    folded = len(reason.groups) > len(shown)
    if folded and len(reason.zones) > 1:
        yield line(f"by zone: {counts.by_zone(reason.zones)}", indent=2)
    yield from _groups(shown, detail, 2)
    if folded:
        rest = sum(len(group.nodes) for group in reason.groups[detail.entries :])
        yield line(f"+{counts.nodes(rest, 'more ')}", "faint", indent=2)


def _groups(groups: Sequence[NodeGroup], detail: Detail, indent: int) -> Iterator[Block]:
    """Few nodes stand beside their detail, many below it."""
    for below, run in groupby(groups, lambda group: len(group.nodes) > _BESIDE and bool(group.detail)):
        if not below:
            yield Table([row for group in run for row in _beside(group, detail)], indent)
            continue
        for group in run:
            first, *rest = _parts(group.detail)
            yield line(f"{counts.nodes(len(group.nodes))}: {first}", indent=indent)
            for part in rest:
                yield line(part, indent=indent + 2)
            yield line(_names(group.nodes, detail, group.zones), indent=indent + 2)


def _beside(group: NodeGroup, detail: Detail) -> Iterator[list[Cell]]:
    """The names of a group's nodes and, beside them, what is told of them."""
    names: Cell = (Span(_names(group.nodes, detail, group.zones)),)
    for number, part in enumerate(_parts(group.detail)):
        yield [(Span(""),) if number else names, (Span(part),)] if part else [names]


def _parts(text: str) -> list[str]:
    """Return what is said one after the other, a line each, where it is too much for one."""
    return text.split("; ") if len(text) > _LONG else [text]


def _names(names: Sequence[str], detail: Detail, zones: Mapping[str, int]) -> str:
    if len(names) <= detail.entries:
        return ", ".join(names)
    where = f" ({counts.by_zone(zones)})" if len(zones) > 1 else ""
    return f"{', '.join(names[: detail.entries])}, +{len(names) - detail.entries} more{where}"


# -- who would have to go --------------------------------------------------------


def _preemption(preemption: explanations.Preemption, detail: Detail) -> Iterator[Block]:
    if not preemption.nominated_node:
        return
    yield line(f"preemption makes room on {preemption.nominated_node} by evicting", "strong")
    evicted = preemption.evictions[: detail.entries]
    yield Table([[(Span(victim.pod),), (Span(victim.text),)] for victim in evicted], 2)
    yield from notices.rest(len(preemption.evictions) - len(evicted))
    yield line(preemption.text)
    if len(preemption.candidates) > 1:
        yield from _candidates(preemption, detail)


def _candidates(preemption: explanations.Preemption, detail: Detail) -> Iterator[Block]:
    shown = preemption.candidates[: detail.entries]
    heads = ("NODE", "BROKEN BUDGETS", "HIGHEST PRIORITY", "SUM", "VICTIMS", "STARTED")
    rows: list[Sequence[Cell]] = []
    for each in shown:
        numbers = (each.violations, each.highest_priority, each.priority_sum, len(each.victims), each.started or "-")
        style = "good" if each.node in preemption.ties else ""
        rows.append(((Span(each.node, style),), *((Span(str(number)),) for number in numbers)))
    yield Table(rows, 2, heads, frozenset(range(1, 5)))
    if len(preemption.candidates) > len(shown):
        yield line(f"+{counts.nodes(len(preemption.candidates) - len(shown), 'more ')}", "faint", indent=2)


# -- why here --------------------------------------------------------------------


def _scores(result: explanations.Explanation, detail: Detail) -> Iterator[Block]:
    if not result.scores:
        return
    yield line("scores: raw → normalised × weight = product", "faint")
    plugins = [score.plugin for score in result.scores[0].plugins]
    # What a plugin gives to all nodes alike decides nothing between them, and its column would cost width.
    every_column = detail.columns or len(result.scores) == 1
    equal = [] if every_column else [index for index in range(len(plugins)) if _same(result.scores, index)]
    shown = [index for index in range(len(plugins)) if index not in equal]
    rows = [_score_row(score, shown, score.node in result.ties) for score in result.scores[: detail.scores]]
    heads = ["NODE", *(plugins[index] for index in shown), "SUM"]
    yield Table(rows, 2, heads, frozenset(range(1, len(heads))))
    if len(result.scores) > detail.scores:
        rest = result.scores[detail.scores :]
        yield line(f"+{counts.nodes(len(rest), 'more ')}, {rest[-1].total} to {rest[0].total}", "faint", indent=2)
    if equal:
        same = ", ".join(f"{plugins[index]} {result.scores[0].plugins[index].weighted}" for index in equal)
        yield line(f"the same for every node: {same}", "faint", indent=2)
    # The line about the node that the pod is on may have made the same comparison already.
    if result.current is None or result.current.comparison != result.comparison:
        yield from _comparison(result.comparison)


def _same(scores: Sequence[explanations.NodeScore], index: int) -> bool:
    return len({score.plugins[index].weighted for score in scores}) == 1


def _score_row(score: explanations.NodeScore, shown: Sequence[int], best: bool) -> Sequence[Cell]:
    style = "good" if best else ""
    cells = [(Span(_product(score.plugins[index])),) for index in shown]
    return ((Span(score.node, style),), *cells, (Span(str(score.total), style or "strong"),))


def _product(score: explanations.PluginScore) -> str:
    return f"{score.raw} → {score.normalized} × {score.weight} = {score.weighted}"


def _comparison(comparison: explanations.Comparison | None) -> Iterator[Block]:
    if comparison is not None:
        yield line(comparison.text)


# -- every filter, and one node --------------------------------------------------


def _matrix(matrix: explanations.Matrix, verdict: explanations.Verdict, detail: Detail) -> Iterator[Block]:
    if not matrix.patterns:
        yield line("no filter was asked about any node: the pod does not come that far", "faint")
        return
    yield line("every filter about every node:", "faint")
    rows: list[Sequence[Cell]] = []
    for pattern in matrix.patterns[: detail.entries * 2]:
        refused = (Span(", ".join(pattern.refused_by), "bad"),) if pattern.refused_by else (Span("nobody", "good"),)
        names = _names(pattern.nodes, detail, pattern.zones)
        rows.append(((Span(str(len(pattern.nodes))),), refused, (Span(names),)))
    yield Table(rows, 2, ("NODES", "REFUSED BY", "NAMES"), frozenset((0,)))
    if len(matrix.patterns) > len(rows):
        rest = matrix.patterns[len(rows) :]
        yield line(f"+{counts.nodes(sum(len(pattern.nodes) for pattern in rest), 'more ')}", "faint", indent=2)
    for filtered in matrix.filters:
        for reason in filtered.reasons:
            yield from _reason(reason, detail)
    yield from _silent(matrix.filters, verdict)


def _silent(filters: Sequence[explanations.PluginRefusals], verdict: explanations.Verdict) -> Iterator[Block]:
    if verdict in (explanations.Verdict.GATED, explanations.Verdict.DELETING, explanations.Verdict.FOREIGN_SCHEDULER):
        yield line("no filter was asked: the pod does not come that far", "faint")
        return
    accepting = [each.plugin for each in filters if each.asked and not each.refused]
    skipped = [each.plugin for each in filters if not each.asked]
    if accepting:
        yield line(f"no refusals: {', '.join(accepting)}", "faint")
    if skipped:
        yield line(f"not asked, since nothing in the pod concerns them: {', '.join(skipped)}", "faint")


def _node(node: explanations.NodeDetail, verdict: explanations.Verdict, detail: Detail) -> Iterator[Block]:
    place = f", rank {node.rank}" if node.rank else ""
    score = f", score {node.score.total}" if node.score is not None else ""
    style = "good" if node.verdict is explanations.NodeVerdict.FEASIBLE else "bad"
    verdict_text = Span(_NODE_VERDICTS[node.verdict], style)
    yield Line((Span(f"node {node.name}: ", "strong"), verdict_text, Span(f"{score}{place}")))
    cordoned = ["cordoned"] if node.unschedulable else []
    taints = [f"taint {taint}" for taint in node.taints]
    yield line(", ".join([counts.of(node.pods, "pod"), *cordoned, *taints]), indent=2)
    if detail.columns:
        yield line(f"labels {', '.join(f'{key}={value}' for key, value in node.labels.items())}", indent=2)
    resources = [[(Span(text),) for text in _use(use)] for use in node.resources]
    yield Table(resources, 2, ("RESOURCE", "ALLOCATABLE", "USED", "FREE", "REQUESTED"), frozenset((1, 2, 3, 4)))
    for each in node.filters:
        for reason in each.reasons:
            details = "; ".join(group.detail for group in reason.groups if group.detail)
            why = f": {details}" if details else ""
            yield Line((Span(f"{each.plugin}: ", "strong"), Span(reason.text or _WORDLESS, "bad"), Span(why)), 2)
    yield from _silent(node.filters, verdict)
    if node.score is not None:
        for plugin in node.score.plugins:
            yield line(f"{plugin.plugin}: {_product(plugin)}", indent=2)
    yield from _takes(node.takes, detail)
    yield from _comparison(node.comparison)


def _use(use: explanations.ResourceUse) -> list[str]:
    amounts = (use.allocatable, use.used, use.free, use.requested)
    return [use.resource, *(amount(use.resource, each) for each in amounts)]


# -- the end ---------------------------------------------------------------------


def _last(result: explanations.Explanation, rules: str) -> Iterator[Block]:
    for note in (*result.notes, *([rules] if rules else [])):
        yield notices.note(note)
    for hint in result.hints:
        yield notices.hint(hint.text)


def _tally(report: explanations.ExplainReport) -> Iterator[Block]:
    summary = report.summary
    tally = (
        ("would be placed", summary.scheduled),
        ("unschedulable", summary.unschedulable),
        ("gated", summary.gated),
        ("deleting", summary.deleting),
        ("of another scheduler", summary.foreign_scheduler),
        ("in error", summary.error),
        ("inconclusive", summary.inconclusive),
    )
    verdicts = ", ".join(f"{count} {name}" for name, count in tally if count)
    yield line(f"{summary.pods} pods: {verdicts}", "strong")
    yield line("each pod is judged alone, on the cluster as it is")
    yield line(notices.rules(report.metadata), "faint")
