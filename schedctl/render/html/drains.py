"""``schedctl drain`` as a page: whether nodes could be drained, what is in the way, and where each pod would go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedctl.render import drains as texts
from schedctl.render.html import node_maps
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Page, Section, doubt
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.simulations import pending_group
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.tables import Column, Value, remainder, table
from schedctl.reports import counts
from schedctl.reports.drains import DrainFate, DrainReport, DrainVerdict, NodeResult
from schedctl.reports.node_maps import NodeMap

_SHOWN = 200
_NAMED = 6
"""How many nodes the title names."""
_GOOD = (DrainVerdict.DRAINED,)
_VERDICTS = {
    DrainVerdict.DRAINED: "drained",
    DrainVerdict.LEAVES_PENDING: "drained, leaves pods pending",
    DrainVerdict.BLOCKED: "blocked by a budget",
    DrainVerdict.REFUSED: "refused by kubectl",
    DrainVerdict.INCONCLUSIVE: "cannot be decided",
    DrainVerdict.INTERRUPTED: "interrupted",
}
_FATES = {
    DrainFate.MOVED: ("moves", "good"),
    DrainFate.PENDING: ("stays pending", "bad"),
    DrainFate.LOST: ("is lost: no controller recreates it", "bad"),
    DrainFate.FOREIGN_SCHEDULER: ("left to another scheduler", "unsure"),
    DrainFate.INCONCLUSIVE: ("cannot be decided", "unsure"),
    DrainFate.TERMINATING: ("is terminating", ""),
    DrainFate.BLOCKED: ("eviction refused", "bad"),
    DrainFate.REFUSED: ("makes kubectl refuse the node", "bad"),
    DrainFate.KEPT: ("stays, since the node is refused", ""),
    DrainFate.IGNORED: ("stays: of a DaemonSet", ""),
    DrainFate.MIRROR: ("stays: of the kubelet", ""),
}


def page(report: DrainReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    answer = [*texts.answer(report)]
    spans = [span.text for span in answer[0].spans]
    one = summary.nodes == 1
    verdict = spans[1]
    numbers = "".join(span.text for line in answer[1:] for span in line.spans)
    good = all(each.verdict in _GOOD for each in report.results)
    data = {}
    if report.node_map is not None:
        found = _answers(report, report.node_map)
        data = {"nodes": node_maps.data(report.node_map), "maps": [node_maps.answers_data(report.node_map, found)]}
    names = [result.node for result in report.results]
    several = f"nodes {', '.join(names)}" if len(names) <= _NAMED else counts.nodes(len(names))
    subject = spans[0].strip() if one else several
    lead = f"{numbers[:1].upper()}{numbers[1:]}." if numbers else ""
    return Page("drain", subject, verdict, "good" if good else "bad", report.metadata, lead, [*_sections(report)], data)


def _sections(report: DrainReport) -> Iterator[Section]:
    known = doubt(report.guesses)
    errors = [error for result in report.results for error in result.errors]
    if errors:
        yield Section("Why kubectl refuses", _refusals(errors))
    if report.pending or known:
        yield Section(
            "Why pods would stay pending",
            [known, *(pending_group(_owners(each.owners), each) for each in report.pending)],
        )
    if report.budgets:
        lead = (
            "A budget allows another eviction once as many of its pods are healthy again as it needs, "
            "so that more can be evicted one after the other than at once."
        )
        yield Section("Disruption budgets", _budgets(report), lead)
    if len(report.results) > 1:
        yield Section("Nodes in the order in which they are drained", _nodes(report.results))
    if report.node_map is not None:
        found = _answers(report, report.node_map)
        lead = "Where the evicted pods would go."
        yield Section(
            "Nodes", [node_maps.figure(report.node_map, found), node_maps.node_list(0), _targets(report)], lead
        )
    for result in report.results[:_SHOWN]:
        yield Section(f"Pods of {result.node}", _pods(result), folded=len(report.results) > 3)
    if report.displaced:
        rows = [[each.pod, each.node, each.by, each.successor_node or "pending"] for each in report.displaced]
        columns = (
            Column("Pod", "name"),
            Column("Node", "name"),
            Column("Makes room for", "name"),
            Column("Then", "name"),
        )
        yield Section(
            "Pods of other nodes that would be preempted", table("Preempted pods", columns, rows, shown=_SHOWN)
        )
    if report.broken_groups:
        groups = [[each.group, str(each.before), str(each.after), str(each.needs)] for each in report.broken_groups]
        numbers = (Column(title, "number") for title in ("Pods before", "Pods after", "Needed"))
        title = "Gangs that would have fewer pods than they need"
        yield Section(title, table(title, (Column("Pod group", "name"), *numbers), groups, shown=_SHOWN))
    yield Section("The same as text", as_text(texts.lines(report)), folded=True)


def _owners(owners: Sequence[object]) -> str:
    return ", ".join(dict.fromkeys(str(getattr(each, "owner", "")) for each in owners[:3]))


def _budgets(report: DrainReport) -> Markup:
    rows: list[Sequence[Content | Value]] = [
        [
            each.budget,
            Value(each.allowed, each.allowed),
            Value(each.evictions, each.evictions),
            Value(element("span", str(each.blocked), class_="tag bad") if each.blocked else 0, each.blocked),
            f"{each.healthy} healthy, {each.desired} needed",
        ]
        for each in report.budgets
    ]
    columns = (
        Column("Budget", "name"),
        Column("Allowed at once, at first", "number"),
        Column("Evicted in all", "number"),
        Column("Refused", "number"),
        Column("Pods in the end"),
    )
    return table("Disruption budgets of the evicted pods", columns, rows, shown=_SHOWN)


def _nodes(results: Sequence[NodeResult]) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for each in results:
        fates = Counter(_FATES[pod.fate][0] for pod in each.pods)
        numbers = ", ".join(f"{number} {fate}" for fate, number in fates.most_common())
        style = "good" if each.verdict in _GOOD else "bad"
        rows.append(
            [
                each.node,
                each.zone,
                element("span", _VERDICTS[each.verdict], class_=f"tag {style}"),
                numbers,
                Value(f"{each.clock:g} s", each.clock),
            ]
        )
    columns = (
        Column("Node", "name"),
        Column("Zone", "name"),
        Column("Verdict"),
        Column("Pods"),
        Column("Takes", "number"),
    )
    return table("Nodes in the order in which they are drained", columns, rows, shown=_SHOWN)


def _pods(result: NodeResult) -> Markup:
    explained = any(pod.message and pod.fate is not DrainFate.PENDING for pod in result.pods)
    rows: list[Sequence[Content | Value]] = []
    for pod in result.pods:
        fate, style = _FATES[pod.fate]
        where = f"{pod.node} ({pod.zone})" if pod.zone else pod.node
        rows.append(
            [
                pod.pod,
                pod.owner,
                element("span", fate, class_=f"tag {style}"),
                where,
                *(["" if pod.fate is DrainFate.PENDING else pod.message] if explained else []),
            ]
        )
    columns = [
        Column("Pod", "name"),
        Column("Owner", "name"),
        Column("Becomes"),
        Column("New node", "name"),
        *([Column("Why")] if explained else []),
    ]
    return table(f"Pods of {result.node}", columns, rows, shown=_SHOWN)


def _targets(report: DrainReport) -> Content:
    arrivals = Counter(pod.node for result in report.results for pod in result.pods if pod.fate is DrainFate.MOVED)
    if not arrivals:
        return None
    most = max(arrivals.values())
    rows: list[Sequence[Content | Value]] = [
        [name, bar(number, most, "good"), Value(number, number)] for name, number in arrivals.most_common()
    ]
    columns = (Column("Node", "name"), Column("Evicted pods it takes", "picture"), Column("Pods", "number"))
    return [
        element("h3", "Where the evicted pods would go"),
        table("Where the evicted pods would go", columns, rows, shown=40),
    ]


def _answers(report: DrainReport, nodes: NodeMap) -> NodeAnswers:
    verdicts = {result.node: result.verdict for result in report.results}
    arrivals = Counter(pod.node for result in report.results for pod in result.pods if pod.fate is DrainFate.MOVED)
    categories = [
        Category("drained", "chosen"),
        Category("not drained", "c1"),
        Category("takes evicted pods", "feasible"),
        Category("unchanged", "unseen"),
    ]
    category_of, details = {}, {}
    for node in nodes.nodes:
        if node.name in verdicts:
            emptied = verdicts[node.name] in (DrainVerdict.DRAINED, DrainVerdict.LEAVES_PENDING)
            category_of[node.name] = 0 if emptied else 1
            details[node.name] = _VERDICTS[verdicts[node.name]]
        elif arrivals[node.name]:
            category_of[node.name] = 2
            details[node.name] = f"+{counts.of(arrivals[node.name], 'pod')}"
    return NodeAnswers(categories, category_of, details)


def _refusals(errors: Sequence[str]) -> Content:
    """Return what kubectl says, once where it says the same of many nodes, with the pods."""
    by_reason: dict[str, list[str]] = {}
    for error in errors:
        reason, found, whose = error.partition("): ")
        by_reason.setdefault(f"{reason}{found.rstrip(': ')}", []).append(whose)
    parts: list[Content] = []
    for reason, pods in by_reason.items():
        if len(pods) <= _NAMED:
            parts += [element("p", f"{reason}: {each}" if each else reason) for each in pods]
            continue
        listed = [element("p", each) for each in pods[:_SHOWN]]
        summary = element("summary", f"on {counts.nodes(len(pods))}: which pods")
        parts += [element("p", reason), element("details", summary, listed, remainder(len(pods) - _SHOWN))]
    return parts
