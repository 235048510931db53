"""Nodes to add or to give back, for people: the answer, the nodes, what was proved, what is in the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedctl.api.amounts import quantity
from schedctl.api.resources import CPU, MEMORY
from schedctl.render import karpenter, notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line, separate
from schedctl.reports import counts
from schedctl.reports.nodes import (
    BoundProof,
    GroupResult,
    KeptNode,
    NodesQuestion,
    NodesReport,
    NodesSummary,
    RemovedNode,
)

_FEW = 10
_PROOFS = {
    BoundProof.SEARCH: "every better answer was tried",
    BoundProof.SOLVER: "by the solver, about resources and limits",
    BoundProof.RESOURCES: "by sums of resources",
    BoundProof.RULES: "by what may be removed",
    BoundProof.NOTHING: "",
}


def lines(report: NodesReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every node and pod, the templates, and the search.
        limit: show so many entries of a list, 0 for what suits.
    """
    entries = limit or (ALL if wide else _FEW)
    adding = report.question is NodesQuestion.ADD
    if report.karpenter is not None:
        yield from karpenter.answer(report)
        yield from separate(karpenter.sections(report, entries, wide=wide))
        yield BLANK
    yield from answer(report)
    sections = _plan(report, entries, wide=wide) if adding else _shrink(report, entries)
    yield from separate(sections)
    yield BLANK
    yield from _last(report, wide=wide)


def answer(report: NodesReport) -> Iterator[Line]:
    """Yield the answer in a line, and what it comes to in another."""
    summary = report.summary
    bad = summary.pending if report.question is NodesQuestion.ADD else not summary.removed
    yield Line((Span(summary.text, "bad" if bad else "good"), *notices.doubt(report.guesses)))
    if summary.interrupted:
        yield line("interrupted: this is the best that was found so far", "warn", indent=2)
    if report.unpriced:
        text = f"passed over, as a price is not known: {notices.few(report.unpriced, 4)}"
        yield line(text, "warn", indent=2)
    adding = report.question is NodesQuestion.ADD
    text = _placed(summary) if adding else _moved(report)
    if text:
        yield line(text, indent=2)
    if summary.preempting:
        whose = f"{counts.of(summary.preempting, 'pod')} would preempt others rather than wait for a new node"
        yield line(f"{whose}{', unless the nodes are there first' if summary.added else ''}", "warn", indent=2)
    if summary.waiting:
        are, them = ("is", "it") if summary.waiting == 1 else ("are", "them")
        less = f"; fewer nodes leave {them} less room" if summary.removed else ""
        waiting = f"{counts.of(summary.waiting, 'pod')} {are} pending already and not considered{less}"
        yield line(waiting, "warn", indent=2)


def _placed(summary: NodesSummary) -> str:
    """``13 pods would be placed: 4 without a new node, 9 with them``; "" where there is nothing to say."""
    if not summary.added:
        return ""
    none = "" if summary.preempting else " and none preempted"
    where = f", {summary.fitting} of them would fit without a new node" if summary.fitting else ""
    return f"{counts.of(summary.placed, 'pod')} would be placed{none}{where}{_cost(summary, 'cost')}"


def _moved(report: NodesReport) -> str:
    summary = report.summary
    if not summary.removed:
        return ""
    lost = summary.pods - summary.placed
    gone = f", {lost} would be lost" if lost else ""
    preempted = f", {counts.of(len(report.preempted), 'pod')} would be preempted" if report.preempted else ""
    return f"{counts.of(summary.placed, 'pod')} would be placed again{gone}{preempted}{_cost(summary, 'save')}"


def _cost(summary: NodesSummary, verb: str) -> str:
    cost = summary.cost_per_hour
    return f"; that would {verb} {counts.price(cost)} per hour" if cost is not None else ""


# -- plans -------------------------------------------------------------------------


def _plan(report: NodesReport, entries: int, *, wide: bool) -> Iterator[Iterator[Block]]:
    yield _new_nodes(report.groups)
    yield proof(report)
    yield _pending(report, entries)
    if wide:
        yield _templates(report.groups)
        yield _search(report)
        yield _placements(report)


def _new_nodes(groups: Sequence[GroupResult]) -> Iterator[Block]:
    rows: list[Sequence[Cell]] = []
    for group in groups:
        for new in group.new:
            sort = f"{new.instance_type or '-'}{' (spot)' if new.spot else ''}"
            use = f"{new.requests.get(CPU, 0.0):.0f} % / {new.requests.get(MEMORY, 0.0):.0f} %"
            texts = (
                group.name,
                str(new.count),
                new.zone or "-",
                sort,
                str(new.pods),
                use,
                counts.price(new.price_per_hour),
            )
            rows.append([(Span(text),) for text in texts])
    if rows:
        priced = any(row[-1][0].text for row in rows)
        heads = ("GROUP", "ADD", "ZONE", "TYPE", "PODS", "CPU / MEMORY", *(("PER HOUR",) if priced else ()))
        yield Table([row[: len(heads)] for row in rows], 2, heads, frozenset((1, 4, 6)), optional=2)


def proof(report: NodesReport) -> Iterator[Line]:
    """Yield how far from the best the answer may be, never more than is proved."""
    yield from _proof_of_plan(report) if report.question is NodesQuestion.ADD else _proof_of_shrink(report.summary)


def _proof_of_plan(report: NodesReport) -> Iterator[Line]:
    summary = report.summary
    if not summary.added:
        return
    what = "nodes" if report.minimize == "count" else "cost"
    proof = _PROOFS[summary.bound_by]
    tried = counts.of(summary.tried, "plan")
    if report.expander:
        yield line(f"this is what the expander {report.expander} would add", indent=2)
    if summary.gap == 0.0 and summary.bound_by is not BoundProof.NOTHING:
        least = "fewest nodes" if report.minimize == "count" else "least cost"
        least += " of nodes whose price is known" if report.unpriced else ""
        yield line(f"proved: the {least} possible ({proof}; {tried} tried)", "faint", indent=2)
        return
    bound = f"{summary.bound:.0f}" if report.minimize == "count" else counts.price(summary.bound)
    text = (
        f"at most {summary.gap * 100:.1f} % above the least possible {what}: {bound} at least ({proof}; {tried} tried)"
    )
    yield line(text if summary.bound else f"nothing is proved about smaller plans ({tried} tried)", "faint", indent=2)


def _proof_of_shrink(summary: NodesSummary) -> Iterator[Line]:
    """Yield whether another node could go, as far as that is proved."""
    if summary.interrupted:
        return
    bound, proof = int(summary.bound), _PROOFS[summary.bound_by]
    tried = counts.of(summary.tried, "removal")
    if bound <= summary.removed:
        more = "more nodes" if summary.removed else "node"
        yield line(f"proved: no {more} can go ({proof}; {tried} tried)", "faint", indent=2)
    else:
        more = f"no more were found to go ({tried} tried)" if summary.removed else f"{tried} tried"
        yield line(f"{more}; more than {bound} {'is' if bound == 1 else 'are'} impossible ({proof})", "faint", indent=2)


def _pending(report: NodesReport, entries: int) -> Iterator[Block]:
    if not report.pending:
        return
    yield line("no new node would help:", "strong")
    for each in report.pending[:entries]:
        many = "" if each.owner.startswith("Pod ") else f"{counts.of(len(each.pods), 'pod')} of "
        yield Line((Span(f"{many}{each.owner}", "bad"),), 2)
        for refusal in each.groups:
            yield Line((Span(f"{refusal.group}: ", "strong"), Span(refusal.text)), 4)
    yield from notices.rest(len(report.pending) - entries, 2)


def _templates(groups: Sequence[GroupResult]) -> Iterator[Block]:
    if groups:
        yield line("a new node of each group, and where that is from:", "strong")
    for group in groups:
        yield Line((Span(f"{group.name}: ", "strong"), Span(_sizes(group))), 2)
        parts: dict[str, list[str]] = {}
        for part in group.template:
            parts.setdefault(part.origin, []).append(part.part)
        for origin, names in parts.items():
            yield line(f"{', '.join(names)}: {origin}", indent=4)
        if group.allocatable:
            offered = ", ".join(f"{name} {amount}" for name, amount in group.allocatable.items())
            yield line(f"allocatable {offered}", indent=4)
        for name, taints in (("taints", group.taints), ("taints while it starts", group.startup_taints)):
            if taints:
                yield line(f"{name} {', '.join(taints)}", indent=4)


def _sizes(group: GroupResult) -> str:
    size = f"{counts.nodes(group.nodes)}, found by {group.origin}"
    least = f", at least {group.min_size}" if group.min_size else ""
    most = f", at most {group.max_size}" if group.max_size is not None else ""
    limits = "".join(f", {name} at most {quantity(name, amount)}" for name, amount in group.limits.items())
    return f"{size}{least}{most}{limits}"


def _search(report: NodesReport) -> Iterator[Block]:
    if not report.search:
        return
    yield line("plans that were tried:", "strong")
    rows: list[Sequence[Cell]] = []
    for each in report.search:
        plan = ", ".join(f"{count} {name}" for name, count in each.groups.items()) or "none"
        result = "every pod is placed" if each.complete else "pods stay pending"
        rows.append([(Span(each.by),), (Span(plan),), (Span(counts.price(each.cost)),), (Span(result),)])
    yield Table(rows, 2, ("BY", "NODES", report.minimize.upper(), "RESULT"), frozenset((2,)))


def _placements(report: NodesReport) -> Iterator[Block]:
    if not report.placements:
        return
    yield line("where the pods would go:", "strong")
    by_node: dict[str, list[str]] = {}
    for each in report.placements:
        by_node.setdefault(f"{each.node}{' (new)' if each.new else ''}", []).append(each.pod)
    for node, pods in by_node.items():
        yield Line((Span(f"{node}: ", "strong"), Span(", ".join(pods))), 2)


# -- shrinks -----------------------------------------------------------------------


def _shrink(report: NodesReport, entries: int) -> Iterator[Iterator[Block]]:
    yield _removed(report.nodes, entries)
    yield proof(report)
    yield _kept(report.kept, entries, "others" if report.nodes else "nodes")


def _removed(removed: Sequence[RemovedNode], entries: int) -> Iterator[Block]:
    if not removed:
        return
    yield line("drained in this order, after all of them were cordoned:", "strong")
    rows: list[Sequence[Cell]] = []
    for node in removed[:entries]:
        frees = ", ".join(f"{name} {quantity(name, amount)}" for name, amount in node.frees.items())
        texts = (node.name, node.group or "-", str(len(node.moved)), frees, counts.price(node.price_per_hour))
        rows.append([(Span(text),) for text in texts])
    priced = any(row[-1][0].text for row in rows)
    heads = ("NODE", "GROUP", "PODS MOVED", "FREES", *(("PER HOUR",) if priced else ()))
    yield Table([row[: len(heads)] for row in rows], 2, heads, frozenset((2, 4)), optional=1)
    yield from notices.rest(len(removed) - entries, 2)


def _kept(kept: Sequence[KeptNode], entries: int, whom: str) -> Iterator[Block]:
    if not kept:
        return
    yield line(f"what keeps the {whom}:", "strong")
    alike: dict[tuple[str, str], list[KeptNode]] = {}
    for node in kept:
        # nodes with a pod that fits nowhere else are listed together, and the line of one pod stands for all
        key = (str(node.keeper), "") if node.message else (str(node.keeper), node.text)
        alike.setdefault(key, []).append(node)
    for same in list(alike.values())[:entries]:
        first, names = same[0], notices.few([each.name for each in same], 4)
        text = first.text
        if len({each.text for each in same}) > 1:
            text = f"each has a pod that would fit on no other node, e.g. {first.pods[0]}"
        yield Line((Span(f"{names}: ", "strong"), Span(text)), 2)
        yield from notices.kubernetes_line(first.message, 4)
    yield from notices.rest(len(alike) - entries, 2)


def _last(report: NodesReport, *, wide: bool) -> Iterator[Block]:
    metadata = report.metadata
    yield from notices.what_if(metadata.what_if)
    yield from notices.assumptions(report.guesses)
    yield from notices.not_known(metadata.missing)
    about = Counter((note, group.name) for group in report.groups for note in group.notes)
    for note, name in about:
        yield notices.note(f"group {name}: {note}")
    yield from map(notices.note, report.notes)
    yield notices.end(metadata, wide=wide)
