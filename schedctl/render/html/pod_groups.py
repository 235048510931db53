"""Pod groups on a page: whether a group could start, how far it got in each placement, what it lacks and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import notices
from schedctl.render.html import causes, fixes
from schedctl.render.html.fixes import command
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Section
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.pod_groups import GroupTrial, GroupVerdict, MemberCause, PodGroupResult

_SHOWN = 100
_NAMED = 3


def answer(group: PodGroupResult) -> tuple[str, str, str]:
    """Return which group it is, the verdict on it, and how that is shown."""
    verdict = group.text
    if group.verdict is GroupVerdict.WAITS:
        verdict = (
            f"waits: {group.placed} of {counts.of(group.pods, 'pod')} would find a node, it needs {group.min_count}"
        )
    return f"podgroup {group.namespace}/{group.name}", verdict, "good" if group.starts else "bad"


def lead(group: PodGroupResult) -> str:
    """Return how many of its pods have a node, and where there is room for how many."""
    running = f"{group.scheduled or 'none'} of {counts.of(group.pods, 'pod')} has a node"
    if group.scheduled > 1:
        running = f"{group.scheduled} of {counts.of(group.pods, 'pod')} have a node"
    sentences = [running]
    trials = [trial for trial in group.trials if trial.placement]
    if trials and not group.starts:
        key = group.topology_key.rpartition("/")[2]
        best = max(trials, key=lambda trial: trial.placed)
        needed = max(group.min_count - group.scheduled, 0)
        sentences.append(f"the best {key}, {best.placement}, takes {best.placed} of the {needed} that it needs")
        total = sum(trial.placed for trial in trials)
        if len(trials) > 1 and total >= needed:
            sentences.append(f"all {len(trials)} together have room for {total}, but it must be one")
    sentences += [f"missing: {each.text}" for each in group.missing]
    text = "; ".join(sentences)
    return f"{text[:1].upper()}{text[1:]}."


def sections(group: PodGroupResult) -> Iterator[Section]:
    """Yield what there is to show of a group."""
    trials = [trial for trial in group.trials if trial.placement]
    if trials:
        key = group.topology_key.rpartition("/")[2] or "placement"
        text = (
            f"All pods of the group go to nodes of one {key}; the mark is how many have to be placed for it to start."
        )
        yield Section("Placements", _trials(trials, group, key), text)
    if group.causes:
        yield Section("Why pods find no node", [_cause(cause) for cause in group.causes])
    if group.hints:
        yield Section("What would help", fixes.fixes(group.hints))
    facts = [each.text for each in group.scale_up] + group.notes
    if group.victims:
        facts.insert(0, f"it would evict {', '.join(group.victims[:_SHOWN])}")
    if facts:
        yield Section("Notes", element("ul", [element("li", each) for each in facts]))
    if group.message:
        condition = f"PodGroupInitiallyScheduled: {group.reason}"
        yield Section("The condition, as kube-scheduler writes it", [element("p", condition), command(group.message)])


def _cause(cause: MemberCause) -> Markup:
    later = "" if cause.reached else "; kube-scheduler no longer tries them"
    title = f"{counts.of(len(cause.pods), 'pod')}: {notices.few(cause.pods, _NAMED)}{later}"
    message = command(cause.message) if cause.message else None
    return element("div", element("h3", title), causes.causes(cause.reasons), message, class_="part")


def _trials(trials: Sequence[GroupTrial], group: PodGroupResult, key: str) -> Markup:
    needed = max(group.min_count - group.scheduled, 0)
    most = max([trial.placed for trial in trials] + [needed, 1])
    rows: list[Sequence[Content | Value]] = []
    for trial in sorted(trials, key=lambda trial: (not trial.chosen, not trial.feasible, -trial.placed)):
        style = "good" if trial.feasible else "bad"
        verdict = "taken" if trial.chosen else "feasible" if trial.feasible else trial.message
        name = element("b", trial.placement) if trial.chosen else trial.placement
        picture = bar(trial.placed, most, style, mark=needed)
        rows.append([name, Value(trial.nodes, trial.nodes), picture, Value(trial.placed, trial.placed), verdict])
    columns = (
        Column(key.capitalize(), "name"),
        Column("Nodes", "number"),
        Column("Pods that find a node", "picture"),
        Column("Pods", "number"),
        Column("What came of it"),
    )
    return table("How far the group got in each placement", columns, rows, shown=_SHOWN)


def nodes(groups: Sequence[PodGroupResult]) -> NodeAnswers:
    """Return on which nodes the pods of groups are, or would be."""
    category_of: dict[str, int] = {}
    details: dict[str, str] = {}
    for group in groups:
        for name, number in group.nodes.items():
            category_of[name] = 0
            text = f"{counts.of(number, 'pod')} of {group.namespace}/{group.name}"
            details[name] = f"{details[name]}, {text}" if name in details else text
    return NodeAnswers([Category("pods of the group", "feasible"), Category("none", "unseen")], category_of, details)
