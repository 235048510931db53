"""``schedctl explain`` as a page: the verdict, the cause and the best fix first, then the nodes and the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from schedctl.render import explanations as texts
from schedctl.render import notices
from schedctl.render.html import bound_pods, causes, fixes, node_maps, pod_groups
from schedctl.render.html.markup import Content, Markup, element, whole_words
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Page, Section, doubt
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import bar, stack
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts, explanations
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.reasons import Reason

_SCORES = 20
_NAMES = 200
_VICTIMS = 3
"""How many victims the answer names."""
_SQUARES = 12_000
"""How many squares the maps of a page have together."""
_ALONE = "Each pod is judged alone, on the cluster as it is."
_ANSWERS = 40
"""How many answers have a part of their own."""


def page(report: explanations.ExplainReport) -> Page:
    """Return the page of a report."""
    if report.groups:
        return _page_of_groups(report)
    if len(report.results) == 1:
        return _page_of_one(report, report.results[0])
    return _page_of_many(report)


def _page_of_one(report: explanations.ExplainReport, result: Explanation) -> Page:
    verdict, style, lead = answer(result)
    if len(result.pods) > 1 and result.verdict is explanations.Verdict.SCHEDULED:
        lead = f"{lead} {_ALONE}".strip()
    data: dict[str, Any] = {}
    if report.node_map is not None and result.nodes.total:
        data = {"nodes": node_maps.data(report.node_map), "maps": [_answers_data(result, report.node_map)]}
    return Page(
        "explain",
        subject(result),
        verdict,
        style,
        report.metadata,
        lead,
        [*_sections(result, report.node_map, 0), _text_section(report)],
        data,
    )


def _page_of_groups(report: explanations.ExplainReport) -> Page:
    """Return the page about pod groups, and about pods that were asked about beside them."""
    groups, nodes = report.groups, report.node_map
    subject_of_page, verdict, style = pod_groups.answer(groups[0])
    if len(groups) > 1:
        starting = sum(group.starts for group in groups)
        subject_of_page, verdict = counts.of(len(groups), "pod group"), f"{starting} of {len(groups)} can start"
        style = "good" if starting == len(groups) else "bad"
    parts: list[Section] = []
    for group in groups:
        title = "" if len(groups) == 1 else f"{pod_groups.answer(group)[0]}: "
        parts += [replace(each, title=f"{title}{each.title}") for each in pod_groups.sections(group)]
    data: dict[str, Any] = {}
    if nodes is not None and nodes.nodes:
        answers = pod_groups.nodes(groups)
        data = {"nodes": node_maps.data(nodes), "maps": [node_maps.answers_data(nodes, answers)]}
        parts.append(Section("Nodes", [node_maps.figure(nodes, answers), node_maps.node_list(0)]))
    parts += [_part(result, None, -1) for result in report.results[:_ANSWERS]]
    parts.append(_text_section(report))
    lead = pod_groups.lead(groups[0]) if len(groups) == 1 else ""
    return Page("explain", subject_of_page, verdict, style, report.metadata, lead, parts, data)


def _page_of_many(report: explanations.ExplainReport) -> Page:
    summary, results = report.summary, report.results
    held = summary.pods - summary.scheduled - summary.bound
    verdict = _verdict_on_many(report, held)
    answers: list[list[Content | Value]] = []
    parts: list[Section] = []
    data: dict[str, Any] = {"nodes": node_maps.data(report.node_map), "maps": []} if report.node_map else {}
    room = _SQUARES
    for number, result in enumerate(results):
        words, style, _ = answer(result)
        owners = result.owners or [explanations.OwnerPods("", max(len(result.pods), 1))]
        whose = [element("p", whole_words(each.owner or subject(result))) for each in owners[:5]]
        tag = element("span", words, class_=f"tag {style}")
        answers.append(
            [
                Value(len(result.pods) or 1, len(result.pods) or 1),
                whose,
                tag,
                _cause(result),
                _best_fix(result),
            ]
        )
        if number >= _ANSWERS:
            continue
        drawn = report.node_map if report.node_map is not None and len(report.node_map.nodes) <= room else None
        if drawn is not None and result.nodes.total:
            room -= len(drawn.nodes)
            data["maps"].append(_answers_data(result, drawn))
        parts.append(_part(result, drawn, len(data.get("maps", ())) - 1))
    columns = (Column("Pods", "number"), Column("Owner", "name"), Column("Verdict"), Column("Cause"), Column("Fix"))
    sections = [
        Section("Answers", table("Answers, and for how many pods each holds", columns, answers)),
        *parts,
        _text_section(report),
    ]
    if len(results) > _ANSWERS:
        left = f"{len(results) - _ANSWERS} more answers are in the table only; ask about one pod for its page."
        sections.insert(-1, Section("More answers", element("p", left)))
    return Page(
        "explain",
        counts.of(summary.pods, "pod"),
        verdict,
        "bad" if held or any(each.bound is not None and each.bound.cause for each in results) else "good",
        report.metadata,
        _ALONE,
        sections,
        data,
    )


def _verdict_on_many(report: explanations.ExplainReport, held: int) -> str:
    """Return how many pods would not be placed, and how many have a node already, and do not run there."""
    summary = report.summary
    failing = sum(len(each.pods) or 1 for each in report.results if each.bound is not None and each.bound.cause)
    not_running = f", {failing} of them not running" if failing else ""
    if summary.bound == summary.pods:
        return f"all are bound{not_running}"
    bound = f", {summary.bound} {'is' if summary.bound == 1 else 'are'} bound{not_running}" if summary.bound else ""
    if held:
        return f"{held} of {summary.pods} would not be placed{bound}"
    return f"all others would be placed{bound}" if bound else "all would be placed"


def _best_fix(result: Explanation) -> str:
    hint = fixes.first(result.hints)
    return fixes.text(hint) if hint is not None else notices.best_fix(result.hints)


def _part(result: Explanation, nodes: NodeMap | None, number: int) -> Section:
    verdict, style, lead = answer(result)
    inner = [
        element("div", element("h3", each.title), each.lead and element("p", each.lead), each.content, class_="part")
        for each in _sections(result, nodes, number)
    ]
    head = element("p", element("span", verdict, class_=f"tag {style}"), f" {lead}")
    return Section(subject(result), [head, inner], folded=True)


def subject(result: Explanation) -> str:
    """Return whom the answer is about."""
    return texts.headline(result)[0].text


def answer(result: Explanation) -> tuple[str, str, str]:
    """Return the verdict in a few words, how it is shown, and a sentence about it."""
    nodes = counts.nodes(result.nodes.total)
    match result.verdict:
        case Verdict.SCHEDULED:
            tied = f", {len(result.ties)} tied" if len(result.ties) > 1 else ""
            lead = f"{result.nodes.feasible} of {nodes} feasible; score {result.score}{tied}."
            if result.comparison is not None and result.comparison.difference:
                lead += f" It is that node since {result.comparison.text}."
            return f"would be placed on {result.chosen}", "good", lead
        case Verdict.UNSCHEDULABLE:
            lead = f"None of {nodes} is feasible."
            if result.reasons:
                nearest = "Nearest to a fix: " if len(result.reasons) > 1 else ""
                lead += f" {nearest}{notices.cause(result.reasons)}."
            if result.preemption.nominated_node:
                victims = counts.of(len(result.preemption.victims), "pod")
                lead = f"None of {nodes} is feasible as it is. {_evictions(result)}"
                return f"would preempt {victims} on {result.preemption.nominated_node}", "unsure", lead
            lead += _fix(result)
            if result.reservation is not None and result.reservation.text:
                lead = result.reservation.text
            return "is unschedulable", "bad", lead
        case Verdict.INCONCLUSIVE:
            return "cannot be decided", "unsure", _rest_of_headline(result)
        case Verdict.BOUND:
            if result.bound is None:
                return f"is bound to {result.pod.node_name}", "good", _rest_of_headline(result)
            return *bound_pods.verdict(result, result.bound), bound_pods.lead(result, result.bound)
        case Verdict.GATED:
            return "is gated", "unsure", _rest_of_headline(result)
        case Verdict.DELETING:
            return "is terminating", "unsure", _rest_of_headline(result)
        case Verdict.FOREIGN_SCHEDULER:
            return "belongs to another scheduler", "unsure", _rest_of_headline(result)
        case Verdict.REJECTED:
            return "would be rejected by the API server", "bad", result.error
        case Verdict.ERROR:
            return "ends in an error", "bad", result.error


def _fix(result: Explanation) -> str:
    """Return the best fix in a sentence, "" where none is known."""
    hint = fixes.first(result.hints)
    if hint is None:
        return ""
    found = fixes.text(hint)
    return f" Simulated: it {found}." if found.startswith("would ") else f" Simulated: {found}."


def _evictions(result: Explanation) -> str:
    """Return who would be evicted for a pod and what becomes of them, with the priorities of both."""
    evictions = result.preemption.evictions
    named = [f"{each.pod} ({each.text})" for each in evictions[:_VICTIMS]] or result.preemption.victims[:_VICTIMS]
    rest = len(result.preemption.victims) - len(named)
    victims = f"{', '.join(named)}{f' and {rest} more' if rest > 0 else ''}"
    return f"With its priority {result.pod.priority} it would evict {victims}."


def _rest_of_headline(result: Explanation) -> str:
    text = "".join(span.text for span in texts.headline(result)[1:])
    return text.partition("(")[2].rpartition(")")[0] or text.removeprefix(": ")


def _cause(result: Explanation) -> str:
    if result.verdict is Verdict.UNSCHEDULABLE and result.reasons:
        return notices.cause(result.reasons)
    return answer(result)[2]


def _sections(result: Explanation, nodes: NodeMap | None, number: int) -> Iterator[Section]:
    """Yield the sections about one answer that have anything in them."""
    if result.bound is not None:
        yield from bound_pods.sections(result, result.bound)
    placed = result.verdict is Verdict.SCHEDULED and bool(result.scores)
    if placed:
        yield _score_section(result)
    if result.preemption.nominated_node:
        yield _preemption_section(result.preemption)
    yield from _answer_section(result)
    others = [hint for hint in result.hints if hint is not fixes.first(result.hints)]
    if others and result.bound is None:
        yield Section("Other next steps", fixes.fixes(others))
    if nodes is not None and result.nodes.total:
        title = "Which nodes" if result.verdict is Verdict.SCHEDULED else "Who refuses which node"
        yield Section(title, [node_maps.figure(nodes, _answers(result), number), node_maps.node_list(number)])
    if result.filters:
        lead = "In the order of the filters; the first to refuse a node counts, as kube-scheduler counts."
        yield Section("Nodes left after each filter", funnel(result), lead)
    if result.scores and not placed:
        yield _score_section(result)
    for spread in result.spread:
        yield _spread_section(spread)
    if (result.preemption.candidates or result.preemption.evictions) and not result.preemption.nominated_node:
        yield _preemption_section(result.preemption)
    yield from _details(result)


def _answer_section(result: Explanation) -> Iterator[Section]:
    """Yield the best fix, the causes, and what is not known."""
    content: list[Content] = [doubt(result.guesses)]
    if result.reasons:
        content.append(_reasons(result))
    content.append(fixes.best(result.hints))
    if result.scale_up is not None:
        content.append(element("p", f"Scale-up: {result.scale_up.text}", class_="notice"))
    content += [element("p", each.text, class_="notice unsure") for each in result.warnings]
    title = "Why not the other nodes" if result.verdict is Verdict.SCHEDULED else "Why"
    if any(content):
        yield Section(title if result.reasons else "Answer", content)


def _reasons(result: Explanation) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for reason in result.reasons:
        grounds = (*map(whole_words, reason.diagnosis), causes.numbers(reason))
        evidence = [element("p", each, class_="cause") for each in grounds if each]
        key = element("span", class_=f"key {causes.colour(reason.plugin)}")
        words = element("p", key, f"{reason.plugin}: {reason.text or notices.WORDLESS}", class_="words")
        number = Value("all" if reason.whole_pod else f"{reason.count:,}", reason.count)
        rows.append([number, [evidence, words, _groups(reason)]])
    columns = (Column("Nodes", "number tally"), Column("Cause"))
    return table("Why nodes are refused, the nearest to a fix first", columns, rows)


def _groups(reason: Reason) -> Content:
    """Return the nodes of a reason by what stands behind it, folded."""
    if not reason.groups:
        return None
    items = [
        element(
            "li",
            element("b", group.detail or reason.text),
            f" · {', '.join(group.nodes[:_NAMES])}",
            f", +{len(group.nodes) - _NAMES} more" if len(group.nodes) > _NAMES else None,
        )
        for group in reason.groups[:_SCORES]
    ]
    rest = len(reason.groups) - _SCORES
    more = element("li", f"{rest} more groups in -o json") if rest > 0 else None
    return element("details", element("summary", "Which nodes"), element("ul", items, more))


def funnel(result: Explanation) -> Markup:
    """Return the nodes left after each filter as a table of bars; filters that skip are named below it."""
    total = max(result.nodes.total - result.nodes.unseen, 1)
    rows: list[Sequence[Content | Value]] = [["all nodes", stack([(total, "fill")], total), f"{total:,}", ""]]
    for step in result.filters:
        if not step.skipped:
            picture = stack([(step.left, "good" if step.left else "bad"), (step.refused, "lost")], total)
            rows.append(
                [step.plugin, picture, Value(f"{step.left:,}", step.left), f"{step.refused:,}" if step.refused else ""]
            )
    skipped = [step.plugin for step in result.filters if step.skipped]
    columns = (
        Column("Filter", "name"),
        Column("Nodes", "picture"),
        Column("Left", "number"),
        Column("Refused", "number"),
    )
    more = f"Skipped, since nothing in the pod concerns them: {', '.join(skipped)}." if skipped else ""
    return element(
        "div",
        table("Nodes left after each filter", columns, rows),
        element("p", more, class_="rest") if more else None,
    )


def _score_section(result: Explanation) -> Section:
    best, shown = result.scores[0], result.scores[:_SCORES]
    plugins = [each.plugin for each in best.plugins]
    telling = [
        index for index in range(len(plugins)) if len({score.plugins[index].weighted for score in result.scores}) > 1
    ]
    telling = telling or list(range(len(plugins)))
    most = max(best.total, 1)
    rows: list[Sequence[Content | Value]] = []
    for score in shown:
        parts = [(float(each.weighted), f"p{index % 8}") for index, each in enumerate(score.plugins)]
        lead = best.total - score.total
        name = element("b", score.node) if score.node == result.chosen else score.node
        rows.append(
            [
                name,
                stack(parts, most),
                Value(str(score.total), score.total),
                Value(f"−{lead}" if lead else "best", -lead),
                *(Value(score.plugins[index].weighted, score.plugins[index].weighted) for index in telling),
            ]
        )
    columns = [
        Column("Node", "name"),
        Column("Score", "picture"),
        Column("Total", "number"),
        Column("Behind", "number"),
        *(Column(plugins[index], "number") for index in telling),
    ]
    legend = [
        element("li", element("span", class_=f"key p{index % 8}"), f"{each.plugin} ×{each.weight}")
        for index, each in enumerate(best.plugins)
        if any(score.plugins[index].weighted for score in shown)
    ]
    rest = len(result.scores) - len(shown)
    note = f"{rest:,} more nodes, down to {result.scores[-1].total}." if rest else ""
    return Section(
        "Why there: the scores",
        [
            element("ul", legend, class_="legend"),
            table(f"Scores of the best {len(shown)} nodes, weighted", columns, rows),
            element("p", note, class_="rest") if note else None,
        ],
        "Each part of a bar is a plugin's normalised score times its weight.",
    )


def _spread_section(spread: explanations.DomainSpread) -> Section:
    allowed = spread.minimum + spread.max_skew - spread.adds
    most = max([each.pods for each in spread.domains] + [allowed + 1, 1])
    rows: list[Sequence[Content | Value]] = []
    for each in spread.domains:
        over = each.pods > allowed
        style = "bad" if over and spread.hard else "fill"
        verdict = "no room" if over and spread.hard else "above the skew" if over else "may take one more"
        rows.append(
            [each.domain, bar(each.pods, most, style, mark=allowed + spread.adds), Value(each.pods, each.pods), verdict]
        )
    key = spread.topology_key.rpartition("/")[2]
    what = "rejects nodes (DoNotSchedule)" if spread.hard else "only scores nodes (ScheduleAnyway)"
    lead = (
        f"maxSkew {spread.max_skew} over {spread.topology_key}, counted from {spread.minimum}; {what}. "
        f"The mark is the most that a domain may hold with this pod: {allowed + spread.adds}."
    )
    columns = (
        Column(key.capitalize(), "name"),
        Column("Matching pods", "picture"),
        Column("Pods", "number"),
        Column("For this pod"),
    )
    rest = spread.number - len(spread.domains)
    more = element("p", f"{rest} more domains, between these.", class_="rest") if rest > 0 else None
    return Section(f"Spread by {key}", [table(f"Matching pods by {key}", columns, rows), more], lead)


def _preemption_section(preemption: explanations.Preemption) -> Section:
    rows: list[Sequence[Content | Value]] = []
    for candidate in preemption.candidates[:_SCORES]:
        chosen = candidate.node == preemption.nominated_node
        victims = ", ".join(candidate.victims[:5]) + (
            f", +{len(candidate.victims) - 5} more" if len(candidate.victims) > 5 else ""
        )
        rows.append(
            [
                element("b", candidate.node) if chosen else candidate.node,
                Value(candidate.violations, candidate.violations),
                Value(candidate.highest_priority, candidate.highest_priority),
                Value(len(candidate.victims), len(candidate.victims)),
                victims,
            ]
        )
    columns = (
        Column("Node", "name"),
        Column("Budgets broken", "number"),
        Column("Highest priority", "number"),
        Column("Pods evicted", "number"),
        Column("Which", "name"),
    )
    title = "Nodes on which evictions would make room, the best first"
    where = [element("h3", title), table(title, columns, rows)] if rows else None
    text = f"{preemption.text[:1].upper()}{preemption.text[1:]}."
    return Section(
        "Who would be evicted" if preemption.evictions else "Preemption",
        [_victims(preemption.evictions) if preemption.evictions else None, where],
        text if preemption.text else "",
    )


def _victims(evictions: Sequence[explanations.Victim]) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for each in evictions:
        outlook = {None: "not known", "": "pending: one like it would find no node"}.get(
            each.elsewhere, f"one like it would be placed on {each.elsewhere}"
        )
        becomes = "is terminating already" if each.terminating else outlook
        budget = f"breaks {', '.join(each.budgets)}" if each.breaks_budget else ""
        rows.append([each.pod, Value(each.priority, each.priority), becomes, budget])
    columns = (Column("Pod", "name"), Column("Priority", "number"), Column("What becomes of it"), Column("Budget"))
    return table("Pods that would be evicted", columns, rows, shown=_NAMES)


def _details(result: Explanation) -> Iterator[Section]:
    """Yield kube-scheduler's own line, what requeues the pod, and what else there is to know."""
    content: list[Content] = []
    if result.message:
        content += [element("h3", "FailedScheduling, as kube-scheduler writes it"), fixes.command(result.message)]
    if result.wakings:
        events = "; ".join(each.text for each in result.wakings)
        content += [element("h3", "Requeued when"), element("p", f"{events}.")]
    if result.takes:
        content += [element("h3", "Takes along"), element("ul", [element("li", each.text) for each in result.takes])]
    for remark in result.remarks:
        content += [
            element("p", f"{remark.plugin}: {remark.text}"),
            element("ul", [element("li", each) for each in remark.details]),
        ]
    for recorded in result.history:
        content += [element("h3", "Recorded before"), element("p", recorded.text), fixes.command(recorded.message)]
    if result.current is not None:
        content.append(element("p", result.current.text))
    if result.notes:
        content += [element("h3", "Notes"), element("ul", [element("li", note) for note in result.notes])]
    if content:
        yield Section("For the record", content)


# -- the map ----------------------------------------------------------------------


def _answers(result: Explanation) -> NodeAnswers:
    """Return what became of each node: chosen, feasible, or refused by whom first."""
    refused = _refused_by(result)
    details: dict[str, str] = {}
    for reason in result.reasons:
        for group in reason.groups:
            for name in group.nodes:
                line = f"{reason.text}: {group.detail}" if group.detail else reason.text
                details[name] = f"{details[name]}; {line}" if name in details else line
    plugins = _refusers(result)
    named = [plugin for plugin in plugins if causes.colour(plugin) != causes.OTHER]
    rest = [plugin for plugin in plugins if plugin not in named]
    categories = [
        Category(_chosen(result, refused), "chosen"),
        Category("feasible", "feasible"),
        *(Category(f"refused by {plugin}", causes.colour(plugin)) for plugin in named),
        Category(f"refused by {' or '.join(rest)}" if rest else "refused by others", causes.OTHER),
        Category("not examined", "unseen"),
    ]
    codes = {plugin: 2 + index for index, plugin in enumerate(named)}
    category_of = {name: codes.get(plugin, len(named) + 2) for name, plugin in refused.items()}
    for score in result.scores:
        category_of[score.node] = 1
        details[score.node] = f"score {score.total}"
    if best := result.chosen or result.preemption.nominated_node:
        category_of[best] = 0
    return NodeAnswers(categories, category_of, details)


def _chosen(result: Explanation, refused: Mapping[str, str]) -> str:
    """Return what the best node is called: that preemption takes is refused until then, and counted so elsewhere."""
    by = refused.get(result.preemption.nominated_node, "")
    return "chosen" if result.chosen or not by else f"refused by {by}, but evictions would make room"


def _refused_by(result: Explanation) -> dict[str, str]:
    """Return by node the plugin that refuses it."""
    refused: dict[str, str] = {}
    for reason in result.reasons:
        for group in reason.groups:
            for name in group.nodes:
                refused.setdefault(name, reason.plugin)
    return refused


def _refusers(result: Explanation) -> list[str]:
    """Return the plugins that refuse nodes, who refuses most first."""
    return [plugin for plugin, _ in Counter(_refused_by(result).values()).most_common()]


def _answers_data(result: Explanation, nodes: NodeMap) -> dict[str, Any]:
    return node_maps.answers_data(nodes, _answers(result))


def _text_section(report: explanations.ExplainReport) -> Section:
    return Section("The same as text", as_text(texts.lines(report)), folded=True)
