"""Causes on a page: how many nodes and why in plain numbers, and below in grey the words of kube-scheduler."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.render import notices
from schedctl.render.html.markup import Content, element, whole_words
from schedctl.reports import counts
from schedctl.reports.reasons import Reason

_WAYS = 4
"""On how many different grounds nodes are refused that are told one by one."""
_LINE = 110
"""Grounds that fit on a line of so many characters stand on one."""

_COLOURS = {
    "NodeResourcesFit": "c1",
    "TaintToleration": "c2",
    "PodTopologySpread": "c3",
    "NodeUnschedulable": "c4",
    "NodeAffinity": "c5",
    "InterPodAffinity": "c6",
    "VolumeBinding": "c8",
    "DynamicResources": "c9",
    "NodePorts": "c10",
}
"""The colour of a plugin, the same on every page."""
OTHER = "c7"
"""The colour of all other plugins."""


def colour(plugin: str) -> str:
    """Return the colour in which the refusals of a plugin are drawn."""
    return _COLOURS.get(plugin, OTHER)


def causes(reasons: Sequence[Reason]) -> Content:
    """Return a list of causes, nothing where there is none."""
    return element("ul", [element("li", cause(each)) for each in reasons]) if reasons else None


def cause(reason: Reason) -> Content:
    """Return one cause: how many nodes it refuses, why, and below it who says so in which words."""
    plugin = f" [{reason.plugin}]" if reason.plugin else ""
    words = element("span", f"{reason.text or notices.WORDLESS}{plugin}", class_="words")
    return [_head(reason), " ", words]


def _head(reason: Reason) -> Content:
    evidence = why(reason) or reason.text or notices.WORDLESS
    number = f"{counts.nodes(reason.count)}: " if reason.count else None
    return [number, whole_words(evidence) if isinstance(evidence, str) else evidence]


def why(reason: Reason) -> Content:
    """Return what stands behind a reason: what it probably is, or the numbers."""
    return next(iter(reason.diagnosis), "") or numbers(reason)


def numbers(reason: Reason) -> Content:
    """Return the numbers behind a reason; where nodes differ, each with the number of its nodes."""
    if not reason.details:
        return whole_words(reason.detail) if reason.detail else None
    shown = reason.details if len(reason.details) <= _WAYS + 1 else reason.details[:_WAYS]
    rest = reason.count - sum(each.nodes for each in shown)
    written = ", ".join([*(f"{each.text} ({each.nodes})" for each in shown), *([f"others ({rest})"] if rest else [])])
    if len(written) <= _LINE:
        return whole_words(written)
    each_line = [f"{counts.nodes(each.nodes)}: {each.text}" for each in shown]
    others = [f"{counts.nodes(rest)}: other numbers"] if rest else []
    return [element("span", whole_words(each), class_="ground") for each in (*each_line, *others)]
