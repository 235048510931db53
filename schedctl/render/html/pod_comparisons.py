"""``schedctl explain --compare`` as a page: which pods would move, which become unschedulable, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedctl.render import notices
from schedctl.render import pod_comparisons as texts
from schedctl.render.html import moves, node_maps
from schedctl.render.html.markup import Content, element
from schedctl.render.html.page import Page, Section
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.sides import sides, verdict_of
from schedctl.render.html.tables import Column, table
from schedctl.reports import counts
from schedctl.reports.pod_comparisons import ExplainComparison, PodAnswer, PodDifference, PodEffect

_SHOWN = 500
_NAMED = 3
_STYLES = {PodEffect.BREAKS: "bad", PodEffect.MENDS: "good", PodEffect.UNCLEAR: "unsure"}


def page(report: ExplainComparison) -> Page:
    """Return the page of a report."""
    tallies = report.summary.tallies
    breaks, moved = (sum(getattr(each, name) for each in tallies) for name in ("breaks", "moves"))
    mends = sum(each.mends for each in tallies)
    verdict, style = verdict_of(breaks=breaks, mends=mends, moves=moved + sum(each.may_move for each in tallies))
    data = {}
    if report.node_map is not None:
        maps = [
            node_maps.answers_data(report.node_map, moves.answers(*_pods(report, index))) for index in _others(report)
        ]
        data = {"nodes": node_maps.data(report.node_map), "maps": maps}
    lead = f"{_nowhere(report)}Each pod is judged alone, on the cluster as it is."
    compared = [each.side for each in report.sides]
    subject = f"{counts.of(report.summary.pods, 'pod')} under {len(report.sides)} configurations"
    return Page(
        "explain --compare", subject, verdict, style, report.metadata, lead, [*_sections(report)], data, compared
    )


def _nowhere(report: ExplainComparison) -> str:
    """Return which pods have no node whatever the configuration."""
    pods = [
        f"{each.pod.namespace}/{each.pod.name}"
        for each in report.results
        if not any(outcome.node or outcome.nominated_node for outcome in each.outcomes)
    ]
    find = "finds" if len(pods) == 1 else "find"
    return f"{notices.few(pods, _NAMED)} {find} no node under any of them. " if pods else ""


def _others(report: ExplainComparison) -> range:
    return range(1, len(report.sides))


def _pods(report: ExplainComparison, index: int) -> tuple[Counter[str], Counter[str], str, str]:
    """Return how many pods go to which node under the first side and another, and the letters of the two."""
    first, other = (Counter(each.outcomes[side].node for each in report.results) for side in (0, index))
    del first[""], other[""]
    return first, other, report.sides[0].side.name, report.sides[index].side.name


def _sections(report: ExplainComparison) -> Iterator[Section]:
    yield Section("Configurations", sides([each.side for each in report.sides]))
    differing = [each for each in report.results if any(d.effect is not PodEffect.SAME for d in each.differences)]
    letters = [each.side.name for each in report.sides]
    if differing:
        rows: list[Sequence[Content]] = []
        for each in differing:
            answers = [outcome.node or outcome.message or outcome.verdict.value for outcome in each.outcomes]
            effects = [
                element("p", _effect(d.effect), _why(d, report.sides[0].side.name, each.outcomes))
                for d in each.differences
            ]
            rows.append([f"{each.pod.namespace}/{each.pod.name}", *answers, effects])
        columns = [Column("Pod", "name"), *(Column(f"Under {name}", "name") for name in letters), Column("Effect")]
        yield Section(
            "Pods for which something differs", table("Pods for which something differs", columns, rows, shown=_SHOWN)
        )
    zones = moves.zones_of(report.node_map)
    for number, index in enumerate(_others(report)):
        pairs = [(each.outcomes[0].node, each.outcomes[index].node) for each in report.results]
        first, other, letter, against = _pods(report, index)
        figure = None
        if report.node_map is not None:
            figure = node_maps.figure(report.node_map, moves.answers(first, other, letter, against), number)
        content = [figure, moves.between_zones(pairs, zones), moves.by_node(first, other, letter, against)]
        yield Section(f"Moves between nodes, {letter} to {against}", content)
    yield Section("The same as text", as_text(texts.lines(report)), folded=True)


def _why(difference: PodDifference, first: str, outcomes: Sequence[PodAnswer]) -> Content:
    """Return why a pod goes elsewhere: whom each plugin whose scores differ favours under which side."""
    before = outcomes[0].node
    after = next(each.node for each in outcomes if each.side == difference.side)
    if not difference.shifts or not before or not after:
        return difference.text
    return [
        element(
            "span",
            f"{each.plugin} {_favours(each.before, before, after)} under {first}, "
            f"{_favours(each.after, before, after)} under {difference.side}",
            class_="ground",
        )
        for each in difference.shifts
    ]


def _favours(lead: int | None, node: str, other: str) -> str:
    """Return by how much a plugin favours which of two nodes."""
    if lead is None:
        return "gives no score"
    return f"favours {node if lead > 0 else other} by {abs(lead)}" if lead else "favours neither"


def _effect(effect: PodEffect) -> Content:
    return element("span", texts.word(effect), class_=f"tag {_STYLES.get(effect, '')}".strip())
