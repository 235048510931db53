"""``schedctl simulate`` as a page: what would be placed, what stays pending and why, where pods go, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api.amounts import amount
from schedctl.render import notices
from schedctl.render import simulations as texts
from schedctl.render.html import causes, fixes, node_maps, pod_groups
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Page, Section, doubt
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import bar, change
from schedctl.render.html.svg.timelines import timeline
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts, simulations
from schedctl.reports.metadata import describe_unknown
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.simulations import SimulationReport, WorkloadResult

_SHOWN = 200
_NAMED = 3


def page(report: SimulationReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    done = summary.placed == summary.pods and not summary.rejected
    data = {}
    if report.node_map is not None:
        answers = arrivals(report.node_map)
        data = {"nodes": node_maps.data(report.node_map), "maps": [node_maps.answers_data(report.node_map, answers)]}
    headline = "".join(span.text for span in texts.answer(report).spans)
    first, _, rest = headline.partition("; ")
    lead = ". ".join(_exceptions(report)) or rest
    return Page(
        "simulate",
        _subject(report),
        first,
        "good" if done else "bad",
        report.metadata,
        f"{lead[:1].upper()}{lead[1:]}." if lead else "",
        [*_sections(report)],
        data,
    )


def _exceptions(report: SimulationReport) -> Iterator[str]:
    """Yield whose pods would not be placed, and who would have to make room, a sentence each."""
    pending = {each.subject: sum(len(group.pods) for group in each.pending) for each in report.results}
    rejected = {each.subject: sum(len(group.pods) for group in each.rejected) for each in report.results}
    not_created = {each.subject: len(each.not_created) for each in report.results}
    for tally, what in (
        (pending, "would stay pending"),
        (rejected, "would be rejected by the API server"),
        (not_created, "would not be created"),
    ):
        names = [f"{number} of {subject}" for subject, number in tally.items() if number]
        if names:
            yield f"{notices.few(names, _NAMED)} {what}"
    if report.preemptions:
        victims = notices.few([each.pod for each in report.preemptions], _NAMED)
        lost = report.summary.not_returned
        again = f", {lost} of them not placed again" if len(report.preemptions) > 1 else ", and not placed again"
        yield f"Preempted would be {victims}{again if lost else ', and placed again'}"
    if report.summary.groups_waiting:
        yield f"{report.summary.groups_waiting} of {counts.of(report.summary.groups, 'group')} would not start"
    if report.summary.mistakes:
        yield f"{counts.of(report.summary.mistakes, 'mistake')} in the manifests"
    if report.guesses:
        yield from (text for text in [describe_unknown(report.guesses)] if text)


def _subject(report: SimulationReport) -> str:
    if len(report.results) == 1:
        return report.results[0].subject
    return counts.of(len(report.results), "workload")


def _sections(report: SimulationReport) -> Iterator[Section]:
    yield Section("Workloads", _workloads(report.results))
    if report.preemptions:
        yield Section("Running pods that would be preempted", _preemptions(report.preemptions))
    pending = [(each, group) for each in report.results for group in each.pending]
    known = doubt(report.guesses)
    if pending or known:
        yield Section(
            "Why pods stay pending", [known, *(pending_group(each.subject, group) for each, group in pending)]
        )
    yield from _refused(report)
    if report.mistakes:
        items = [
            element("li", f"{each.source}:{each.line}: {each.subject}: {each.message}") for each in report.mistakes
        ]
        yield Section("Mistakes in the manifests", element("ul", items))
    for group in report.groups[:_SHOWN]:
        subject, verdict, _ = pod_groups.answer(group)
        inner = [element("div", element("h3", each.title), each.content) for each in pod_groups.sections(group)]
        yield Section(subject, inner, verdict)
    if report.node_map is not None:
        lead = "What the run added to each node, or took from it."
        answers = arrivals(report.node_map)
        yield Section("Nodes", [node_maps.figure(report.node_map, answers), node_maps.node_list(0)], lead)
    if report.timeline:
        ending = report.ending
        lead = f"{counts.of(ending.attempts, 'attempt')} in {ending.clock:g} simulated seconds; {ending.text}."
        yield Section(
            "What happens when",
            [timeline(report.timeline) if len(report.timeline) > 2 else None, _steps(report.timeline)],
            lead,
        )
    yield Section("How full the nodes are", [utilisation(report.utilisation), *_balance(report.balance)])
    if report.others:
        rows = [[each.pod, each.fate.value, each.node, each.message] for each in report.others[:_SHOWN]]
        columns = (Column("Pod", "name"), Column("Becomes"), Column("Node", "name"), Column("Why"))
        yield Section("Pods that were pending before", table("Pods that were pending before", columns, rows))
    notes = _notes(report)
    if notes:
        yield Section("Notes", element("ul", [element("li", note) for note in notes[:_SHOWN]]))
    yield Section("The same as text", as_text(texts.lines(report)), folded=True)


def _refused(report: SimulationReport) -> Iterator[Section]:
    """Yield what the API server would refuse, and pods that their controllers do not create for that or other pods."""
    rows: list[Sequence[Content | Value]] = [
        [each.subject, Value(len(group.pods), len(group.pods)), group.plugin, group.message]
        for each in report.results
        for group in each.rejected
    ]
    rows += [
        [
            each.subject,
            Value(len(each.not_created), len(each.not_created)),
            "",
            "not created: waits for pods before them",
        ]
        for each in report.results
        if each.not_created
    ]
    rows += [["", "", "", message] for message in report.rejected]
    if rows:
        columns = (
            Column("Workload", "name"),
            Column("Pods", "number"),
            Column("Admission plugin", "name"),
            Column("Why"),
        )
        title = "What the API server would reject"
        yield Section(title, table(title, columns, rows, shown=_SHOWN))


def _notes(report: SimulationReport) -> list[str]:
    """Return what a reader must know of single workloads, and of what was left out."""
    notes = [
        f"{each.subject}: {text}"
        for each in report.results
        for text in (*(warning.text for warning in each.warnings), *each.notes)
    ]
    notes += [f"{each.subject}: {each.reason} ({each.source})" for each in report.unmodelled]
    notes += [
        f"{number} {kind} not read: scheduling has nothing to do with it" for kind, number in report.passed.items()
    ]
    return notes


def pending_group(subject: str, group: simulations.PendingPods) -> Markup:
    """Return why some pods of one owner are pending, with what would help."""
    number = counts.of(len(group.pods), "pod")
    owner = f" of {subject}" if subject else ""
    return element(
        "div",
        element("h3", f"{number}{owner}"),
        causes.causes(group.reasons),
        fixes.fixes(group.hints),
        fixes.command(group.message) if group.message else None,
        class_="part",
    )


def _workloads(results: Sequence[WorkloadResult]) -> Markup:
    most = max((each.wanted for each in results), default=1) or 1
    rows: list[Sequence[Content | Value]] = []
    for each in results[:_SHOWN]:
        zones = ", ".join(f"{zone or 'no zone'} {number}" for zone, number in each.zones.items())
        skew = f"; skew {each.zone_skew}" if (each.zone_skew or 0) > 1 else ""
        changes = "; ".join(change.text for change in each.changes)
        state = element(
            "span", f"{each.placed} of {each.wanted}", class_=f"tag {'good' if each.placed == each.wanted else 'bad'}"
        )
        rows.append(
            [
                each.subject,
                Value(state, each.wanted - each.placed),
                bar(each.placed, most, "good", mark=each.wanted),
                f"{zones}{skew}",
                changes,
            ]
        )
    columns = (
        Column("Workload", "name"),
        Column("Would be placed"),
        Column("Pods", "picture"),
        Column("Zones"),
        Column("Change"),
    )
    return table("Workloads, and how many of their pods would be placed", columns, rows)


def arrivals(nodes: NodeMap) -> NodeAnswers:
    """Return which nodes gain pods and which lose some."""
    categories = [
        Category("gains pods", "feasible"),
        Category("pods replaced", "c3"),
        Category("loses pods", "c4"),
        Category("unchanged", "unseen"),
    ]
    category_of, details = {}, {}
    for node in nodes.nodes:
        gained = node.pods - node.pods_before
        if gained:
            category_of[node.name] = 0 if gained > 0 else 2
            details[node.name] = f"{gained:+d} {'pod' if abs(gained) == 1 else 'pods'}"
        elif (node.cpu, node.memory) != (node.cpu_before, node.memory_before):
            category_of[node.name] = 1
    return NodeAnswers(categories, category_of, details)


def _preemptions(preemptions: Sequence[simulations.Preempted]) -> Markup:
    rows: list[Sequence[Content | Value]] = [
        [
            each.pod,
            Value(each.priority, each.priority),
            each.node,
            each.by,
            Value(f"{each.at:g} s", each.at),
            each.successor_node or (each.fate.value if each.fate else "lost"),
        ]
        for each in preemptions
    ]
    columns = (
        Column("Pod", "name"),
        Column("Priority", "number"),
        Column("Node", "name"),
        Column("Makes room for", "name"),
        Column("At", "number"),
        Column("Then", "name"),
    )
    return table("Running pods that would be preempted", columns, rows, shown=_SHOWN)


def _steps(steps: Sequence[simulations.RunStep]) -> Markup:
    rows = [
        [Value(f"{each.at:g} s", each.at), *(getattr(each, name) or "" for name in _COUNTED), each.queued]
        for each in steps
    ]
    columns = [
        Column("At", "number"),
        *(Column(name.capitalize(), "number") for name in _COUNTED),
        Column("In the queue", "number"),
    ]
    return element(
        "details", element("summary", "The same in numbers"), table("What happens when", columns, rows, shown=_SHOWN)
    )


_COUNTED = ("attempts", "chosen", "refused", "failed", "waiting", "bound", "evicted", "gone")


def utilisation(used: simulations.Utilisation) -> Markup:
    """Return how full each group of nodes is, before and after, as a table of bars."""
    rows: list[Sequence[Content | Value]] = []
    for group in used.groups:
        for use in group.uses:
            if not (use.before or use.after):
                continue
            before, after = share(use.before, use.allocatable_before), share(use.after, use.allocatable)
            rows.append(
                [
                    group.name or "all nodes",
                    Value(group.nodes, group.nodes),
                    use.resource,
                    change(before, after, 100),
                    Value(f"{before:.0f} %", before),
                    Value(f"{after:.0f} %", after),
                    f"{amount(use.resource, use.after)} of {amount(use.resource, use.allocatable)}",
                ]
            )
    columns = (
        Column("Nodes", "name"),
        Column("Number", "number"),
        Column("Resource", "name"),
        Column("Requested", "picture"),
        Column("Before", "number"),
        Column("After", "number"),
        Column("After, of what is offered"),
    )
    legend = [
        element("li", element("span", class_=f"key {style}"), text)
        for style, text in (("fill", "as before"), ("added", "added"), ("freed", "freed"))
    ]
    return element(
        "div",
        element("ul", legend, class_="legend"),
        table("How full the nodes are before and after", columns, rows, shown=_SHOWN),
    )


def share(taken: int, offered: int) -> float:
    """Return how full something is, in percent."""
    return 100 * taken / offered if offered > 0 else 0.0


def _balance(balance: Sequence[simulations.Balance]) -> Iterator[Content]:
    for each in balance:
        before, after = each.before, each.after
        yield element(
            "p",
            f"{each.resource} of the single nodes: {before.lowest:g} to {before.highest:g} % before, "
            f"{after.lowest:g} to {after.highest:g} % after "
            f"(standard deviation {before.deviation:g}, then {after.deviation:g}).",
            class_="rest",
        )
