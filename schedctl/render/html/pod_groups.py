"""Pod groups on a page: whether a group could start, how far it got in each placement, what it lacks and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import pod_groups as texts
from schedctl.render.html import fixes
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Section
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.pod_groups import GroupTrial, PodGroupResult

_SHOWN = 100


def answer(group: PodGroupResult) -> tuple[str, str, str]:
    """Return which group it is, the verdict on it, and how that is shown."""
    return f"podgroup {group.namespace}/{group.name}", group.text, "good" if group.starts else "bad"


def sections(group: PodGroupResult) -> Iterator[Section]:
    """Yield what there is to show of a group."""
    best = fixes.best(group.hints)
    others = [hint for hint in group.hints if hint is not next((each for each in group.hints if each.fits), None)]
    yield Section("Answer", [best, as_text(texts.blocks(group, wide=True))])
    if others:
        yield Section("Other next steps", fixes.fixes(others))
    trials = [trial for trial in group.trials if trial.placement]
    if trials:
        key = group.topology_key.rpartition("/")[2] or "placement"
        lead = (
            f"All pods of the group go to nodes of one {key}; the mark is how many have to be placed for it to start."
        )
        yield Section("Placements", _trials(trials, group, key), lead)


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
