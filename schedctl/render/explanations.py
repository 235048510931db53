"""The text for people: the answer, the causes with the nearest to a fix first, the fixes, Kubernetes' line, the rest.

What is said of one pod is cut to fit a screen, at any width alike (``-o wide`` and ``--limit`` show more); many answers
begin with a table. ``layout`` folds and colours, and ``notices`` has the lines that other outputs show too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec
from msgspec.structs import replace

from schedctl.api.amounts import on_one_scale
from schedctl.render import bound_pods, node_pictures, notices, pod_groups
from schedctl.render.layout import ALL, BLANK, SCREEN, Block, Cell, Line, Part, ScreenText, Span, Table, line, separate
from schedctl.reports import counts, explanations
from schedctl.reports.metadata import Metadata, describe_unknown
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.reasons import NodeGroup, Reason

_FEW = 5
"""How many names, and how many groups of nodes, are shown before the rest is counted."""
_BESIDE = 3
"""How many names stand beside what is told of them; more stand below it."""
_TOP = 10
"""How many nodes the score table shows."""
_ANSWERS = 10
"""How many distinct answers are shown in full."""
_ROWS = 20
"""How many distinct answers the table has rows for, or as many as are shown in full."""
_FOLDED = ", … (-o wide)"
"""What stands for the rest of a FailedScheduling line."""
_NODE_VERDICTS = {
    explanations.NodeVerdict.FEASIBLE: "feasible",
    explanations.NodeVerdict.REFUSED: "rejected",
    explanations.NodeVerdict.LEFT_OUT: "excluded by PreFilter",
    explanations.NodeVerdict.UNSEEN: "not examined",
}


class Detail(msgspec.Struct, frozen=True):
    """How much is shown.

    Attributes:
        entries: names, victims and other entries of a list.
        groups: groups of nodes below the nearest reason, and below each of the others; with 0 their evidence stands on
            one line.
        scores: scored nodes.
        wide: everything there is, the numbers behind each score and what an expert reads besides.
        evidenced: reasons whose evidence is shown, from the nearest on.
        event: whether the FailedScheduling line is shown in full, and not what one line has room for.
        notes: whether facts to decide by stand below the fixes.
        nodes: the nodes to draw in characters, None for no pictures.
    """

    entries: int = _FEW
    groups: tuple[int, int] = (_FEW, _FEW)
    scores: int = _TOP
    wide: bool = False
    evidenced: int = ALL
    event: bool = True
    notes: bool = True
    nodes: NodeMap | None = None


_LEVELS = (
    Detail(),
    Detail(groups=(_FEW, 3), scores=5),
    Detail(groups=(3, 2), scores=5),
    Detail(entries=3, groups=(3, 0), scores=3),
    Detail(entries=3, groups=(2, 0), scores=3),
    Detail(entries=2, groups=(0, 0), scores=2),
)
"""From much to little: the first that fits the screen is taken; where none does, `_least` goes on."""


def _least(reasons: int) -> Iterator[Detail]:
    """Yield less and less detail of an answer with so many reasons: the evidence goes from the last to the second.

    The FailedScheduling line, which people compare and search for, is folded where nothing else is left.
    """
    for evidenced in range(reasons - 1, 0, -1):
        yield Detail(entries=2, groups=(0, 0), evidenced=evidenced, scores=2)
    least = Detail(entries=1, groups=(0, 0), evidenced=1, scores=2)
    yield from (least, replace(least, notes=False), replace(least, event=False))


def lines(
    report: explanations.ExplainReport,
    *,
    wide: bool = False,
    limit: int = 0,
    headline: bool = True,
    dry_run: bool = True,
) -> Iterator[Part]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every entry of a list and every column.
        limit: show so many answers and so many entries of a list, 0 for what suits.
        headline: whether the answer about one pod begins with its first line, the verdict.
        dry_run: whether nothing could have been changed; otherwise nothing was.
    """
    results = [each for each in report.results if not _is_told_with_group(each, report)]
    for group in report.groups:
        yield from pod_groups.blocks(group, wide=wide, limit=limit)
        yield BLANK
    if wide or limit:
        chosen = Detail(limit or ALL, (limit or ALL,) * 2, limit or ALL, wide, nodes=report.node_map if wide else None)
        levels: tuple[Detail, ...] = (chosen,)
    else:
        levels = _LEVELS
    if not results:
        yield from _bound_not_running(report.summary)
        if report.groups:
            yield from _conditions(report.metadata)
            yield notices.end(report.metadata, wide=wide)
        return
    if len(results) == 1:
        answered = _end(report.metadata, results[0].profile, wide, dry_run=dry_run)
        end = _end_of_bound(wide) if results[0].bound is not None else answered
        # equal pods that all fit one by one may not fit together
        alone = (BLANK, _verdict_counts(report.summary)) if report.summary.pods > 1 and report.summary.scheduled else ()
        after = (*alone, *_bound_not_running(report.summary), *end)
        yield _screen(results[0], levels, (*_conditions(report.metadata), *after), skip=0 if headline else 1)
        return
    shown = results[: limit or (ALL if wide else _ANSWERS)]
    rows = results[: max(len(shown), _ROWS)]
    yield from _table_of_answers(rows)
    if len(rows) < len(results):
        yield line(f"+{len(results) - len(rows)} more: --limit {len(results)}", "faint")
    for result in shown:
        yield BLANK
        yield _screen(result, levels, ())
    yield BLANK
    if len(shown) < len(results):
        yield line(
            f"+{counts.of(len(results) - len(shown), 'more answer')}: --limit {len(results)} shows them", "faint"
        )
    yield from _conditions(report.metadata)
    yield from _tally(report, wide)


def _is_told_with_group(result: explanations.Explanation, report: explanations.ExplainReport) -> bool:
    """Return whether an answer is about pods of a group of which so many were asked about that the group says it."""
    group = next((each for each in report.groups if f"{each.namespace}/{each.name}" == result.pod_group), None)
    listed = sum(max(1, len(each.pods)) for each in report.results if each.pod_group == result.pod_group)
    return group is not None and listed > 1 and listed == group.pods - group.scheduled


def _screen(
    result: explanations.Explanation, levels: Sequence[Detail], end: Sequence[Block], skip: int = 0
) -> ScreenText:
    """Return an answer in as much detail as fits the screen, in the least there is where nothing does.

    So many lines at its beginning are left out.
    """
    if result.matrix is not None or result.node is not None:
        levels = levels[:1]  # who asks for depth wants more than a screen
    elif levels is _LEVELS:
        levels = (*levels, *_least(len(result.reasons)))
    return ScreenText([*_explanation(result, detail), *end][skip:] for detail in levels)


def _conditions(metadata: Metadata) -> tuple[Block, ...]:
    return (*notices.what_if(metadata.what_if), *notices.not_known(metadata.missing))


def _explanation(result: explanations.Explanation, detail: Detail) -> Iterator[Block]:
    """Yield the answer, the causes, the fixes, Kubernetes' own line, and the rest."""
    yield from answer(result)
    if len(result.pods) > 1:
        yield line(f"for example {notices.few(result.pods, detail.entries)}", "faint", indent=2)
    if result.bound is not None:
        node, *rest = bound_pods.sections(result, result.bound, entries=detail.entries, wide=detail.wide)
        yield from (*node, *separate((*rest, tuple(map(notices.warning, result.warnings)))))
        return
    if result.current is not None:
        yield line(result.current.text)
    yield from _takes(result.takes, detail)
    if result.reservation is not None and result.reservation.waits:
        yield line(result.reservation.text)
    sections = (
        *(notices.remark(each, detail.entries) for each in result.remarks),
        _node(result.node, result.verdict, detail) if result.node is not None else (),
        _scores(result, detail),
        _reasons(result, detail),
        _preemption(result.preemption, detail),
        (
            *notices.fixes(result.hints, commands=detail.wide),
            *map(notices.warning, result.warnings),
            *(_notes(result) if detail.notes or not result.message else ()),
        ),
        _scale_up(result.scale_up),
        *_pictures(result, detail.nodes),
        (*_kubernetes_line(result, detail), *_requeue_events(result.wakings, detail)),
        _matrix(result.matrix, result.verdict, detail) if result.matrix is not None else (),
        notices.assumptions(result.guesses),
    )
    yield from separate(sections)


def _scale_up(found: explanations.ScaleUp | None) -> Iterator[Block]:
    """Yield whether a new node would help, and why not of which group."""
    if found is None:
        return
    helps = bool(found.group)
    yield Line((Span("scale-up: ", "hint"), Span(found.text, "" if helps else "bad")), hang=10)
    for each in found.groups:
        if each.group != found.group:
            yield Line((Span(f"{each.group}: ", "strong"), Span(each.text)), 2, hang=2)


def _pictures(result: explanations.Explanation, nodes: NodeMap | None) -> Iterator[Iterator[Block]]:
    if nodes is not None:
        yield node_pictures.funnel(result)
        yield node_pictures.node_map(result, nodes)


def _table_of_answers(results: Sequence[explanations.Explanation]) -> Iterator[Block]:
    """Yield a row for each owner of each answer: how many pods, the nearest cause and the best fix."""
    rows: list[notices.AnswerRow] = []
    for result in results:
        fine = result.verdict is explanations.Verdict.SCHEDULED or (result.bound and not result.bound.cause)
        style = "" if fine else "bad"
        for owner in result.owners or [explanations.OwnerPods("", 1)]:
            bare = _subject(result) if owner.pods == 1 else "pods without a controller"
            rows.append(
                notices.AnswerRow(
                    owner.pods, owner.owner or bare, _cause(result), notices.best_fix(result.hints), style
                )
            )
    yield notices.answer_table(rows)


def _cause(result: explanations.Explanation) -> str:
    """Return the verdict on a pod in a few words."""
    if result.verdict is explanations.Verdict.SCHEDULED:
        return f"would be placed on {result.chosen}"
    if result.bound is not None:
        return f"BOUND {bound_pods.state(result.bound, owners=len(result.owners))}"
    if result.verdict is explanations.Verdict.UNSCHEDULABLE and result.reasons:
        return notices.cause(result.reasons)
    if result.verdict is explanations.Verdict.REJECTED:
        return f"REJECTED by the API server: {result.error}"
    spans = tuple(next(answer(result)).spans)
    return "".join(span.text for span in spans[1:]).removeprefix(": ")


def _notes(result: explanations.Explanation) -> Iterator[Block]:
    for note in result.notes:
        yield notices.note(note)


def _kubernetes_line(result: explanations.Explanation, detail: Detail) -> Iterator[Block]:
    """Yield the FailedScheduling line, byte for byte but for where it is folded, and what was recorded before."""
    if detail.event or len(result.message) <= SCREEN.columns:
        yield from notices.kubernetes_line(result.message)
    else:
        rejections, _, preemption = result.message.partition(" preemption: ")
        shown = rejections[: SCREEN.columns - len(_FOLDED)].rpartition(", ")[0]
        yield Line((Span(f"{shown or rejections}{_FOLDED}"),), hang=0)
        # Why the pod may not preempt stands nowhere else; how many nodes preemption would not help does not matter.
        if preemption and not preemption.startswith("0/") and not result.preemption.nominated_node:
            yield Line((Span(f"preemption: {preemption}"),), hang=0)
    for recorded in result.history:
        yield from _recorded_message(recorded)


def headline(result: explanations.Explanation) -> tuple[Span, ...]:
    """Return the first line of the answer."""
    return tuple(next(answer(result)).spans)


def answer(result: explanations.Explanation) -> Iterator[Line]:
    """Yield the answer on one line.

    A fault that has several lines, as a selector that does not compile does, is shown as it is.
    """
    pod = Span(_subject(result), "strong")
    match result.verdict:
        case explanations.Verdict.SCHEDULED:
            tied = f", {len(result.ties)} tied" if len(result.ties) > 1 else ""
            score = "" if result.score is None else f" (score {result.score}{tied})"
            yield Line((pod, Span(" → "), Span(result.chosen, "good"), Span(score)))
            return
        case _ if result.pod_group_text and result.verdict is not explanations.Verdict.INCONCLUSIVE:
            word, why = result.verdict.value.upper(), result.pod_group_text
        case explanations.Verdict.UNSCHEDULABLE:
            taken_back = result.reservation is not None and result.reservation.text
            word, why = "UNSCHEDULABLE", taken_back or f"0/{result.nodes.total} nodes feasible{_would_preempt(result)}"
        case explanations.Verdict.GATED:
            word, why = "GATED", f"waits for {', '.join(result.gates)}" if result.gates else "kept out of the queue"
        case explanations.Verdict.DELETING:
            word, why = "DELETING", "is not scheduled any more"
        case explanations.Verdict.FOREIGN_SCHEDULER:
            word, why = "SKIPPED", f'schedulerName "{result.pod.scheduler_name}" belongs to another scheduler'
        case explanations.Verdict.ERROR:
            word, why = "ERROR", result.error
        case explanations.Verdict.REJECTED:
            yield Line((pod, Span(": "), Span("REJECTED", "bad"), Span(" by the API server, before any scheduling:")))
            yield Line((Span(result.error),), 2)
            return
        case explanations.Verdict.INCONCLUSIVE:
            word, why = "INCONCLUSIVE", _why_inconclusive(result)
        case explanations.Verdict.BOUND:
            where = bound_pods.state(result.bound) if result.bound is not None else f"on {result.pod.node_name}"
            style = "bad" if result.bound is not None and result.bound.cause else "good"
            yield Line((pod, Span(": "), Span("BOUND", style), Span(f" ({where})")))
            return
    first, *rest = why.split("\n")
    yield Line((pod, Span(": "), Span(word, "bad"), Span(f" ({first})")))
    for each in rest:
        yield Line((Span(each),), 2, whole=True)


def _would_preempt(result: explanations.Explanation) -> str:
    preemption = result.preemption
    if not preemption.nominated_node:
        return ""
    return f"; would preempt {counts.of(len(preemption.victims), 'pod')} on {preemption.nominated_node}"


def _subject(result: explanations.Explanation) -> str:
    """Return whom an answer is about: a pod, or how many pods of whom."""
    if len(result.pods) < 2:
        return f"pod {result.pod.namespace}/{result.pod.name}"
    owners = [each.owner for each in result.owners]
    whose = f" of {owners[0]}" if len(owners) == 1 and owners[0] else ""
    return f"{counts.of(len(result.pods), 'pod')}{whose}"


def _why_inconclusive(result: explanations.Explanation) -> str:
    """What stands in the way of a verdict, and what it would be as far as the cluster is known."""
    if result.apparent is None:
        return result.error
    apparent = f"{result.apparent.value}, {result.error}" if result.error else result.apparent.value
    if result.apparent is explanations.Verdict.SCHEDULED:
        tied = f", {len(result.ties)} tied" if len(result.ties) > 1 else ""
        apparent = f"{result.chosen}, score {result.score}{tied}"
    return f"{describe_unknown(result.guesses)}; without them: {apparent}"


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
        unseen = f", {nodes.unseen} not examined" if nodes.unseen else ""
        rejected = nodes.total - nodes.feasible - nodes.unseen
        yield line(f"{nodes.feasible} of {counts.nodes(nodes.total)} feasible{unseen}; {rejected} rejected:", "faint")
    for number, reason in enumerate(result.reasons):
        if result.matrix is None:
            groups = detail.groups[min(number, 1)] if number < detail.evidenced else None
            yield from _reason(reason, detail, groups)
        else:
            yield notices.reason_head(reason)


def _requeue_events(wakings: Sequence[explanations.RequeueEvent], detail: Detail) -> Iterator[Block]:
    """Yield what brings the pod back into the queue: one line, or with who asks for it where there is room."""
    if not wakings:
        return
    texts: Sequence[str]
    if detail.wide:
        texts = [
            each.text + _share(each) + (f" [{', '.join(each.plugins)}]" if each.plugins else "") for each in wakings
        ]
    else:
        texts = _as_many_as_fit([each.text for each in wakings], SCREEN.columns - len("requeued when: "))
    yield Line((Span("requeued when: ", "faint"), Span("; ".join(texts))), hang=4)


def _share(event: explanations.RequeueEvent) -> str:
    """Return how many of the cluster's objects such an event would bring the pod back for, "" where any would."""
    if event.asked is None or event.counting == event.asked:
        return ""
    what = "a copy of {} of the {} nodes" if event.event == "NodeAdd" else "{} of the {} running pods"
    return f" ({what.format(event.counting or 'none', event.asked)} would count)"


def _reason(reason: Reason, detail: Detail, groups: int | None) -> Iterator[Block]:
    """Yield a reason and the evidence of so many groups of nodes: with 0 on one line, with None not at all."""
    yield from notices.cause_and_diagnosis(reason)
    if not groups:
        yield from _on_one_line(reason) if groups is not None else ()
        return
    if reason.summary:
        for part in notices.parts(reason.summary):
            yield line(part, indent=2)
    shown = reason.groups[:groups]
    folded = len(reason.groups) > len(shown)
    if folded and len(reason.zones) > 1 and detail.wide:
        yield line(f"by zone: {counts.by_zone(reason.zones)}", indent=2)
    yield from _groups(shown, detail, 2)
    if folded:
        rest = sum(len(group.nodes) for group in reason.groups[groups:])
        yield line(f"+{counts.nodes(rest, 'more ')}", "faint", indent=2)


def _on_one_line(reason: Reason) -> Iterator[Block]:
    """Yield the evidence as far as one line of a screen has room for it, but at least of the nearest nodes."""
    if not reason.details:
        if reason.detail:
            yield line(reason.detail, indent=2)
        return
    counted = [f"{counts.nodes(each.nodes)}: {each.text}" for each in reason.details]
    shown = _number_that_fits(counted, SCREEN.columns - 2 - len(" nodes"))
    rest = reason.count - sum(each.nodes for each in reason.details[:shown])
    more = [f"+{counts.nodes(rest, 'more ')}"] if rest else []
    yield line("; ".join([*counted[:shown], *more]), indent=2)


def _as_many_as_fit(texts: Sequence[str], columns: int) -> Sequence[str]:
    """Return those of some texts that one line has room for, but at least the first, and how many more there are."""
    shown = _number_that_fits(texts, columns)
    return [*texts[:shown], f"+{len(texts) - shown} more"] if shown < len(texts) else texts


def _number_that_fits(texts: Sequence[str], columns: int) -> int:
    """Return how many of some texts one line has room for beside the number of the others, but at least one."""
    room = columns - len("; +99 more")
    return next((n for n in range(len(texts), 1, -1) if len("; ".join(texts[:n])) <= room), 1)


def _groups(groups: Sequence[NodeGroup], detail: Detail, indent: int) -> Iterator[Block]:
    """Few nodes stand beside their detail, many below it."""
    for many, alike in groupby(groups, lambda group: len(group.nodes) > _BESIDE and bool(group.detail)):
        if not many:
            yield Table([row for group in alike for row in _beside(group, detail)], indent)
            continue
        for group in alike:
            first, *rest = notices.parts(group.detail)
            yield line(f"{counts.nodes(len(group.nodes))}: {first}", indent=indent)
            for part in rest:
                yield line(part, indent=indent + 2)
            yield line(_names(group.nodes, detail, group.zones), indent=indent + 2)


def _beside(group: NodeGroup, detail: Detail) -> Iterator[list[Cell]]:
    """The names of a group's nodes and, beside them, what is told of them."""
    names: Cell = (Span(_names(group.nodes, detail, group.zones)),)
    for number, part in enumerate(notices.parts(group.detail)):
        yield [(Span(""),) if number else names, (Span(part),)] if part else [names]


def _names(names: Sequence[str], detail: Detail, zones: Mapping[str, int]) -> str:
    if len(names) <= detail.entries:
        return ", ".join(names)
    where = f" ({counts.by_zone(zones)})" if len(zones) > 1 else ""
    return f"{', '.join(names[: detail.entries])}, +{len(names) - detail.entries} more{where}"


# -- who would have to go --------------------------------------------------------


def _preemption(preemption: explanations.Preemption, detail: Detail) -> Iterator[Block]:
    if not preemption.nominated_node:
        return
    yield line(f"preemption would make room on {preemption.nominated_node} by evicting", "strong")
    evicted = preemption.evictions[: detail.entries]
    yield Table([[(Span(victim.pod),), (Span(victim.text),)] for victim in evicted], 2)
    yield from notices.rest(len(preemption.evictions) - len(evicted))
    if detail.evidenced == ALL:
        yield line(preemption.text)
    if len(preemption.candidates) > 1 and detail.wide:
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
    plugins = [score.plugin for score in result.scores[0].plugins]
    every = detail.wide or len(result.scores) == 1
    equal = [] if every else [index for index in range(len(plugins)) if _same(result.scores, index)]
    telling = sorted(
        (index for index in range(len(plugins)) if index not in equal), key=lambda index: _spread(result.scores, index)
    )
    shown = [index for index in range(len(plugins)) if index not in equal] if every else telling
    numbers = "raw → normalised × weight = product" if every else "normalised × weight; raw: -o wide"
    yield line(f"scores: {numbers}", "faint")
    rows = [_score_row(score, shown, score.node in result.ties, every) for score in result.scores[: detail.scores]]
    heads = ["NODE", "SUM", *(plugins[index] for index in shown)]
    yield Table(rows, 2, heads, frozenset(range(1, len(heads))), optional=0 if every else len(shown))
    if len(result.scores) > detail.scores:
        rest = result.scores[detail.scores :]
        yield line(f"+{counts.nodes(len(rest), 'more ')}, {rest[-1].total} to {rest[0].total}", "faint", indent=2)
    if equal:
        same = ", ".join(f"{plugins[index]} {result.scores[0].plugins[index].weighted}" for index in equal)
        yield line(f"the same for every node: {same}", "faint", indent=2)
    if result.current is None or result.current.comparison != result.comparison:
        yield from _comparison(result.comparison)


def _same(scores: Sequence[explanations.NodeScore], index: int) -> bool:
    return len({score.plugins[index].weighted for score in scores}) == 1


def _spread(scores: Sequence[explanations.NodeScore], index: int) -> int:
    """Return how far the scores of a plugin lie apart, the furthest least, for sorting."""
    values = [score.plugins[index].weighted for score in scores]
    return min(values) - max(values)


def _score_row(score: explanations.NodeScore, shown: Sequence[int], best: bool, products: bool) -> Sequence[Cell]:
    style = "good" if best else ""
    plugins = [score.plugins[index] for index in shown]
    cells = [(Span(_product(plugin) if products else str(plugin.weighted)),) for plugin in plugins]
    return ((Span(score.node, style),), (Span(str(score.total), style or "strong"),), *cells)


def _product(score: explanations.PluginScore) -> str:
    return f"{score.raw} → {score.normalized} × {score.weight} = {score.weighted}"


def _comparison(comparison: explanations.Comparison | None) -> Iterator[Block]:
    if comparison is not None:
        yield line(comparison.text)


# -- every filter, and one node --------------------------------------------------


def _matrix(matrix: explanations.Matrix, verdict: explanations.Verdict, detail: Detail) -> Iterator[Block]:
    if not matrix.patterns:
        yield line("no filter runs on any node: the pod does not enter the scheduling cycle", "faint")
        return
    yield line("verdict of every filter on every node:", "faint")
    rows: list[Sequence[Cell]] = []
    for pattern in matrix.patterns[: detail.entries * 2]:
        refused = (
            (Span(", ".join(pattern.refused_by), "bad"),) if pattern.refused_by else (Span("none (feasible)", "good"),)
        )
        names = _names(pattern.nodes, detail, pattern.zones)
        rows.append(((Span(str(len(pattern.nodes))),), refused, (Span(names),)))
    yield Table(rows, 2, ("NODES", "REJECTED BY", "NAMES"), frozenset((0,)))
    if len(matrix.patterns) > len(rows):
        rest = matrix.patterns[len(rows) :]
        yield line(f"+{counts.nodes(sum(len(pattern.nodes) for pattern in rest), 'more ')}", "faint", indent=2)
    for filtered in matrix.filters:
        for reason in filtered.reasons:
            yield from _reason(reason, detail, detail.entries)
    yield from _silent(matrix.filters, verdict)


_NEVER_FILTERED = (
    explanations.Verdict.GATED,
    explanations.Verdict.DELETING,
    explanations.Verdict.FOREIGN_SCHEDULER,
    explanations.Verdict.REJECTED,
)


def _silent(filters: Sequence[explanations.PluginRefusals], verdict: explanations.Verdict) -> Iterator[Block]:
    if verdict in _NEVER_FILTERED:
        yield line("no filter runs: the pod does not enter the scheduling cycle", "faint")
        return
    content = [each.plugin for each in filters if each.asked and not each.refused]
    skipped = [each.plugin for each in filters if not each.asked]
    if content:
        yield line(f"passed: {', '.join(content)}", "faint")
    if skipped:
        yield line(f"skipped, since nothing in the pod concerns them: {', '.join(skipped)}", "faint")


def _node(node: explanations.NodeDetail, verdict: explanations.Verdict, detail: Detail) -> Iterator[Block]:
    place = f", rank {node.rank}" if node.rank else ""
    score = f", score {node.score.total}" if node.score is not None else ""
    style = "good" if node.verdict is explanations.NodeVerdict.FEASIBLE else "bad"
    yield Line(
        (Span(f"node {node.name}: ", "strong"), Span(_NODE_VERDICTS[node.verdict], style), Span(f"{score}{place}"))
    )
    cordoned = ["cordoned"] if node.unschedulable else []
    taints = [f"taint {taint}" for taint in node.taints]
    yield line(", ".join([f"{node.pods} pod{'' if node.pods == 1 else 's'}", *cordoned, *taints]), indent=2)
    if detail.wide:
        yield line(f"labels {', '.join(f'{key}={value}' for key, value in node.labels.items())}", indent=2)
    resources = [[(Span(text),) for text in _use(use)] for use in node.resources]
    yield Table(resources, 2, ("RESOURCE", "ALLOCATABLE", "USED", "FREE", "REQUESTED"), frozenset((1, 2, 3, 4)))
    for each in node.filters:
        for reason in each.reasons:
            details = "; ".join(group.detail for group in reason.groups if group.detail)
            why = f": {details}" if details else ""
            yield Line((Span(f"{each.plugin}: ", "strong"), Span(reason.text or notices.WORDLESS, "bad"), Span(why)), 2)
    yield from _silent(node.filters, verdict)
    if node.score is not None:
        for plugin in node.score.plugins:
            yield line(f"{plugin.plugin}: {_product(plugin)}", indent=2)
    yield from _takes(node.takes, detail)
    yield from _comparison(node.comparison)


def _use(use: explanations.ResourceUse) -> list[str]:
    amounts = (use.allocatable, use.used, use.free, use.requested)
    return [use.resource, *map(on_one_scale(use.resource, amounts), amounts)]


# -- the end ---------------------------------------------------------------------


def _end(metadata: Metadata, profile: str, wide: bool, *, dry_run: bool = True) -> Iterator[Block]:
    yield BLANK
    yield notices.end(metadata, profile=profile, wide=wide, dry_run=dry_run)


def _end_of_bound(wide: bool) -> Iterator[Block]:
    """Yield that nothing was changed, and how the question about placement is asked of a pod that has a node."""
    more = "" if wide else "; more: -o wide"
    yield BLANK
    yield line(f"nothing was changed; where it would be placed today: --reconsider{more}", "faint")


def _bound_not_running(summary: explanations.ExplainSummary) -> Iterator[Block]:
    """Yield how many pods wait for their kubelet and not for the scheduler, nothing where none does."""
    number = summary.bound_not_running
    if number:
        verb = "is" if number == 1 else "are"
        yield line(f"{counts.of(number, 'more pod')} {verb} bound but not running", "strong")
        yield line("kubectl get pods lists their status; schedctl explain pod NAME says why", "faint", indent=2)


def _verdict_counts(summary: explanations.ExplainSummary) -> Line:
    """Return how many pods there are of each verdict, and that none takes the room of another."""
    tally = (
        ("would be placed", summary.scheduled),
        ("unschedulable", summary.unschedulable),
        ("gated", summary.gated),
        ("deleting", summary.deleting),
        ("of another scheduler", summary.foreign_scheduler),
        ("in error", summary.error),
        ("inconclusive", summary.inconclusive),
        ("rejected by the API server", summary.rejected),
        ("bound", summary.bound),
    )
    numbers = ", ".join(f"{count} {name}" for name, count in tally if count)
    alone = "; each judged alone on the cluster as it is" if summary.bound < summary.pods else ""
    return line(f"{counts.of(summary.pods, 'pod')}: {numbers}{alone}", "strong")


def _tally(report: explanations.ExplainReport, wide: bool) -> Iterator[Block]:
    yield _verdict_counts(report.summary)
    yield from _bound_not_running(report.summary)
    yield from _end(report.metadata, "", wide)
