"""The text about nodes: how many pending pods fit, what is free, who fits, and who does not and why.

What is said of one node is cut to fit a screen; of several nodes a table comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.api import resources
from schedctl.api.amounts import amount, on_one_scale
from schedctl.render import notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Part, ScreenText, Span, Table, line, separate
from schedctl.reports import counts
from schedctl.reports.explanations import OwnerPods
from schedctl.reports.node_explanations import (
    FittingPods,
    NodeExplainReport,
    NodeExplanation,
    NodeResource,
    RejectedPods,
)
from schedctl.reports.reasons import Reason

_FEW_GROUPS = 3
"""So many groups of rejected pods need no line that sums up why."""
_NODES = 10
"""How many nodes are shown in full."""


class Detail(msgspec.Struct, frozen=True):
    """How much is shown.

    Attributes:
        groups: groups of pods.
        reasons: causes of each.
        wide: everything else, too.
        brief: neither what the causes add up to nor what fixes would cause.
    """

    groups: int
    reasons: int
    wide: bool = False
    brief: bool = False


_LEVELS = (
    Detail(10, 10),
    Detail(6, 4),
    Detail(5, 3),
    Detail(4, 3),
    Detail(3, 2),
    Detail(4, 1),
    Detail(3, 1),
    Detail(2, 1),
    Detail(1, 1),
    Detail(1, 1, brief=True),
)
"""From much to little: the first that fits the screen is taken."""


def lines(report: NodeExplainReport, *, wide: bool = False, limit: int = 0) -> Iterator[Part]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every entry of a list, the labels of nodes and the pods that stand there.
        limit: show so many nodes and so many entries of a list, 0 for what suits.
    """
    results = report.results
    levels = (Detail(limit or ALL, limit or ALL, wide),) if wide or limit else _LEVELS
    conditions = (*notices.what_if(report.metadata.what_if), *notices.not_known(report.metadata.missing))
    end = (*conditions, BLANK, notices.end(report.metadata, wide=wide))
    if len(results) == 1:
        yield _screen(results[0], report.summary.pending, levels, end)
        return
    yield _table_of_nodes(results)
    shown = results[: limit or (ALL if wide else _NODES)]
    for result in shown:
        yield BLANK
        yield _screen(result, report.summary.pending, levels, ())
    if len(shown) < len(results):
        yield BLANK
        yield line(f"+{counts.nodes(len(results) - len(shown), 'more ')}: --limit {len(results)} shows them", "faint")
    yield from end


def _screen(result: NodeExplanation, pending: int, levels: Sequence[Detail], end: Sequence[Block]) -> ScreenText:
    """Return an answer in as much detail as fits the screen, in the least there is where nothing does."""
    return ScreenText([*_explanation(result, pending, detail), *end] for detail in levels)


def _table_of_nodes(results: Sequence[NodeExplanation]) -> Table:
    heads = ("NODE", "FIT", "TOGETHER", "CPU FREE", "MEMORY FREE", "PODS FREE", "REJECTED FOR")
    rows: list[Sequence[Cell]] = []
    for result in results:
        free = {each.resource: amount(each.resource, each.free) for each in result.resources}
        fitting = _number_fitting(result)
        cause = f"{result.causes[0].pods}: {result.causes[0].text}" if result.causes else ""
        more = f" (+{counts.of(len(result.causes) - 1, 'more cause')})" if len(result.causes) > 1 else ""
        texts = [free.get(resource, "0") for resource in (resources.CPU, resources.MEMORY, resources.PODS)]
        cells = [(Span(text),) for text in (str(len(result.together)), *texts, f"{cause}{more}")]
        rows.append(((Span(result.node),), (Span(str(fitting), "good" if fitting else "bad"),), *cells))
    return Table(rows, 0, heads, frozenset(range(1, 6)), optional=1)


def _number_fitting(result: NodeExplanation) -> int:
    return sum(len(each.pods) for each in result.fitting)


def _explanation(result: NodeExplanation, pending: int, detail: Detail) -> Iterator[Block]:
    yield from _answer(result, pending)
    for text in _circumstances(result):
        yield line(text, indent=2)
    if detail.wide:
        yield line(f"labels {', '.join(f'{key}={value}' for key, value in result.labels.items())}", indent=2)
    yield from separate(
        (
            [_table_of_resources(result.resources)],
            _running_pods(result) if detail.wide else (),
            _fitting_pods(result.fitting, result.node, detail),
            _rejected_pods(result, detail),
            _pods_not_judged(result, detail),
        )
    )


def _answer(result: NodeExplanation, pending: int) -> Iterator[Block]:
    fitting = _number_fitting(result)
    subject = Span(f"node {result.node}: ", "strong")
    if not pending:
        yield Line((subject, Span("no pods are pending")))
        return
    fit = "fits" if fitting == 1 else "fit"
    pods = f"{fitting} of {counts.of(pending, 'pending pod')} {fit} here now"
    alone = ", each judged alone" if pending > 1 else ""
    if fitting > 1:
        together = len(result.together)
        alone = (
            f", all {fitting} together" if together == fitting else f", each judged alone; {together} of them together"
        )
    yield Line((subject, Span(pods, "good" if fitting else "bad"), Span(alone)))


def _circumstances(result: NodeExplanation) -> Iterator[str]:
    """Yield where the node is, and what keeps pods off it."""
    place = (("zone ", result.zone), ("pool ", result.pool), ("", result.instance_type))
    yield ", ".join(f"{name}{value}" for name, value in place if value) or "in no zone and no pool"
    obstacles = ["cordoned"] if result.unschedulable else []
    obstacles += [f"taint {taint}" for taint in result.taints]
    for each in result.conditions:
        obstacles.append(f"condition {each.type}={each.status}{f' ({each.reason})' if each.reason else ''}")
    if obstacles:
        yield ", ".join(obstacles)
    if result.nominated:
        yield f"nominated by preemption for {notices.few(result.nominated, 3)}"


def _table_of_resources(found: Sequence[NodeResource]) -> Table:
    rows: list[Sequence[Cell]] = []
    for each in found:
        values = (each.allocatable, each.used, each.free)
        texts = [*map(on_one_scale(each.resource, values), values)]
        style = "bad" if each.free <= 0 < each.allocatable else ""
        rows.append(((Span(each.resource),), *((Span(text),) for text in texts[:2]), (Span(texts[2], style),)))
    return Table(rows, 2, ("RESOURCE", "ALLOCATABLE", "USED", "FREE"), frozenset((1, 2, 3)))


def _running_pods(result: NodeExplanation) -> Iterator[Block]:
    rows: list[Sequence[Cell]] = []
    cpu = on_one_scale(resources.CPU, [each.cpu for each in result.running])
    memory = on_one_scale(resources.MEMORY, [each.memory for each in result.running])
    for each in result.running:
        texts = (cpu(each.cpu), memory(each.memory))
        owner = each.owner or "pods without a controller"
        rows.append(((Span(str(each.pods)),), *((Span(text),) for text in texts), (Span(owner),)))
    if rows:
        yield Table(rows, 2, ("PODS", "CPU", "MEMORY", "OWNER"), frozenset((0, 1, 2)))


def _fitting_pods(found: Sequence[FittingPods], node: str, detail: Detail) -> Iterator[Block]:
    for each in found[: detail.groups]:
        where = f", would be placed on {each.chosen}" if each.chosen not in ("", node) else ""
        if each.nominated_elsewhere:
            where = f", nominated by preemption to {each.nominated_elsewhere}"
        fit = "fits" if len(each.pods) == 1 else "fit"
        yield Line((Span(_whose(each.pods, each.owners), "strong"), Span(f" {fit} here now", "good"), Span(where)))
    yield from notices.rest(len(found) - detail.groups, 0)


def _rejected_pods(result: NodeExplanation, detail: Detail) -> Iterator[Block]:
    if len(result.rejected) > min(detail.groups, _FEW_GROUPS) and not detail.brief:
        causes = [f"{each.text} ({counts.of(each.pods, 'pod')})" for each in result.causes[: max(detail.reasons, 3)]]
        more = [f"+{len(result.causes) - len(causes)} more"] if len(causes) < len(result.causes) else []
        yield Line((Span("rejected for: ", "faint"), Span("; ".join((*causes, *more)))), hang=4)
    for each in result.rejected[: detail.groups]:
        yield from _rejected_group(each, detail)
    rest = result.rejected[detail.groups :]
    if rest:
        pods = sum(len(each.pods) for each in rest)
        verb = "does" if pods == 1 else "do"
        yield line(f"+{counts.of(pods, 'more pod')} that {verb} not fit: -o wide", "faint")


def _rejected_group(group: RejectedPods, detail: Detail) -> Iterator[Block]:
    fit = "does not fit" if len(group.pods) == 1 else "do not fit"
    subject = (Span(_whose(group.pods, group.owners), "strong"), Span(f" {fit}", "bad"))
    yield Line((*subject, Span(f"{_elsewhere(group)}:")))
    hidden = len(group.reasons) - detail.reasons
    for number, reason in enumerate(group.reasons[: detail.reasons], 1):
        more = f" (+{counts.of(hidden, 'more cause')})" if hidden > 0 and number == detail.reasons else ""
        yield Line(_why(reason, more), 2)
    if group.victims:
        would = "would" if group.preempts else "could"
        evicted = notices.few(group.victims, 3)
        yield line(f"preemption {would} make room here by evicting {evicted}", indent=2)
    if group.fix is not None:
        fix = replace(group.fix, consequences=[]) if detail.brief else group.fix
        yield from notices.fixes([fix], commands=detail.wide, indent=2)
    elif group.fix_tried and not group.victims:
        yield line("no change that was tried makes it fit here", "faint", indent=2)


def _elsewhere(group: RejectedPods) -> str:
    """Return where kube-scheduler would place the pods instead, nothing where it would place none."""
    nodes = notices.few(list(group.elsewhere), 3)
    placed = sum(group.elsewhere.values())
    if placed in (0, len(group.pods)):
        return f", would be placed on {nodes}" if placed else ""
    return f", {placed} would be placed on {nodes}"


def _why(reason: Reason, more: str) -> tuple[Span, ...]:
    details = "; ".join(dict.fromkeys(group.detail for group in reason.groups if group.detail)) or reason.detail
    why = f": {details}" if details else ""
    return Span(f"{reason.text}{why}{more}"), Span(f"  [{reason.plugin}]" if reason.plugin else "", "faint")


def _pods_not_judged(result: NodeExplanation, detail: Detail) -> Iterator[Block]:
    shown = result.not_judged[: detail.groups if detail.wide else 3]
    texts = [f"{_whose(each.pods, each.owners)} ({each.text or each.verdict.value})" for each in shown]
    more = [f"+{len(result.not_judged) - len(shown)} more"] if len(shown) < len(result.not_judged) else []
    if texts:
        yield Line((Span("not judged: ", "faint"), Span("; ".join((*texts, *more)))), hang=4)


def _whose(pods: Sequence[str], owners: Sequence[OwnerPods]) -> str:
    """Return whom an answer is about: a pod and pods without an owner by name, others by how many of whom."""
    if len(pods) == 1 or all(not each.owner for each in owners):
        return f"pod{'' if len(pods) == 1 else 's'} {notices.few(pods, 3)}"
    named = [f"{each.pods} of {each.owner}" if each.owner else f"{each.pods} without a controller" for each in owners]
    if len(owners) == 1:
        return f"{counts.of(len(pods), 'pod')} of {owners[0].owner}"
    return f"{counts.of(len(pods), 'pod')} ({notices.few(named, 3)})"
