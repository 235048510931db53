"""Pictures in characters, for ``-o wide``: the nodes left after each filter, and a map of nodes by zone and pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from schedctl.render.layout import Block, Cell, Span, Table, line
from schedctl.reports.explanations import Explanation
from schedctl.reports.node_maps import MappedNode, NodeMap

_BAR = 30
_CELLS = 22
"""How many signs the nodes of a zone and pool take at most; in a larger group each stands for several nodes."""
_LEVELS = "·░▒█"
"""From empty to full, in steps of a quarter."""
_CHOSEN, _FEASIBLE, _UNSEEN = "*", "+", "?"


def funnel(result: Explanation) -> Iterator[Block]:
    """Yield a bar of the nodes that each filter leaves; those that skip, or refuse no node, are left out."""
    steps = [step for step in result.filters if step.refused]
    if not steps:
        return
    total = max(steps[0].left + steps[0].refused, 1)
    yield line("nodes left after each filter:", "faint")
    rows: list[Sequence[Cell]] = [((Span("all"),), (Span(str(total)),), (Span("█" * _BAR),), ())]
    for step in steps:
        length = max(step.left * _BAR // total, 1 if step.left else 0)
        bar = (Span("█" * length, "good"), Span("·" * (_BAR - length), "faint"))
        rows.append(((Span(step.plugin),), (Span(str(step.left)),), bar, (Span(f"-{step.refused}"),)))
    yield Table(rows, 2, numbers=frozenset((1, 3)))


def node_map(result: Explanation, nodes: NodeMap) -> Iterator[Block]:
    """Yield the nodes by zone and pool, each as a sign for what became of it, and as one for how full it is."""
    refused = {name: reason.plugin for reason in result.reasons for group in reason.groups for name in group.nodes}
    signs, legend = _signs(result, refused)
    places = sorted(nodes.nodes, key=lambda node: (node.zone, node.pool, node.name))
    groups = [(key, [*group]) for key, group in groupby(places, lambda node: (node.zone, node.pool))]
    if not groups or not (refused or result.chosen):
        return
    each = -(-max(len(group) for _, group in groups) // _CELLS)
    pools = any(pool for (_, pool), _ in groups)
    yield line(f"nodes by zone{' and pool' if pools else ''} ({legend}):", "faint")
    rows: list[Sequence[Cell]] = []
    for (zone, pool), group in groups:
        parts = [group[start : start + each] for start in range(0, len(group), each)]
        answers = "".join(_most([signs.get(node.name, _UNSEEN) for node in part]) for part in parts)
        full = "".join(_level(part) for part in parts)
        where = (zone or "none", pool or "none") if pools else (zone or "none",)
        rows.append(tuple((Span(text),) for text in (*where, str(len(group)), answers, full)))
    heads = ("ZONE", *(("POOL",) if pools else ()), "NODES", "ANSWER", "HOW FULL")
    yield Table(rows, 2, heads, frozenset((heads.index("NODES"),)), optional=1)
    several = f"a sign stands for {each} nodes, for what most of them are; " if each > 1 else ""
    yield line(f"{several}how full, of cpu or memory: · under 25 %, ░ 25, ▒ 50, █ 75 or more", "faint", indent=2)


def _signs(result: Explanation, refused: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Return the sign of each node, and what the signs mean."""
    letters: dict[str, str] = {}
    for plugin, _ in Counter(refused.values()).most_common():
        free = [letter for letter in (*plugin.upper(), *"0123456789") if letter.isalnum()]
        letters[plugin] = next((letter for letter in free if letter not in letters.values()), _UNSEEN)
    signs = {name: letters[plugin] for name, plugin in refused.items()}
    signs |= dict.fromkeys((score.node for score in result.scores), _FEASIBLE)
    legend = [f"{letter} {plugin}" for plugin, letter in letters.items()]
    if result.scores:
        legend = [f"{_FEASIBLE} feasible", *legend]
    if result.chosen:
        signs[result.chosen] = _CHOSEN
        legend = [f"{_CHOSEN} chosen", *legend]
    return signs, ", ".join(legend)


def _most(signs: Sequence[str]) -> str:
    """Return the sign of the most nodes; the chosen node is never hidden by others."""
    return _CHOSEN if _CHOSEN in signs else Counter(signs).most_common(1)[0][0]


def _level(nodes: Sequence[MappedNode]) -> str:
    shares = [
        sum(getattr(node, name) for node in nodes) / offered
        for name in ("cpu", "memory")
        if (offered := sum(getattr(node, f"{name}_allocatable") for node in nodes)) > 0
    ]
    return _LEVELS[min(int(max(shares, default=0) * 4), 3)]
