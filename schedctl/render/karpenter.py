"""What Karpenter would launch or consolidate, for people: its answer, the nodes, what kube-scheduler makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import notices
from schedctl.render.layout import Block, Cell, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.nodes import KarpenterAnswer, KarpenterStep, LaunchedNode, NodesReport


def answer(report: NodesReport) -> Iterator[Block]:
    """Yield Karpenter's answer in one line, and beside it that of schedctl."""
    found = report.karpenter
    if found is None:
        return
    yield Line((Span(found.text, "bad" if found.pending or found.unplaced else "good"),))
    yield line(verification(found), indent=2)
    yield line(f"by schedctl: {report.summary.text}", indent=2)


def sections(report: NodesReport, entries: int, *, wide: bool) -> Iterator[Iterator[Block]]:
    """Yield what Karpenter would do, section by section.

    Args:
        report: what to tell.
        entries: how many entries of a list are shown.
        wide: show each step and requirement.
    """
    found = report.karpenter
    if found is None:
        return
    yield _launched(found.launched, entries, wide=wide)
    yield _existing(found)
    yield _pending(found.pending, entries)
    yield _commands(found, entries, wide=wide)
    if wide:
        yield _steps(found.steps)
        yield _kept(found)


def verification(found: KarpenterAnswer) -> str:
    """Return what kube-scheduler would make of Karpenter's answer: how many pods it would place."""
    if not found.pods:
        return "no pod would have to be placed"
    where = "again" if found.commands else "on these nodes"
    cost = _cost(found)
    if found.placed == found.pods:
        pods = f"all {found.pods} pods" if found.pods > 1 else "the pod"
        return f"kube-scheduler would place {pods} {where}{cost}"
    left = notices.few(found.unplaced, 3)
    return f"kube-scheduler would place {found.placed} of {counts.of(found.pods, 'pod')} {where}, not {left}{cost}"


def _cost(found: KarpenterAnswer) -> str:
    if found.cost_per_hour is None:
        return ""
    verb = "save" if found.commands else "cost"
    return f"; that would {verb} {counts.price(found.cost_per_hour)} per hour"


def _launched(launched: Sequence[LaunchedNode], entries: int, *, wide: bool) -> Iterator[Block]:
    if not launched:
        return
    yield line("nodes that Karpenter would launch, and the cheapest type of each:", "strong")
    rows: list[Sequence[Cell]] = []
    for each in launched[:entries]:
        more = f" (1 of {len(each.instance_types)})" if len(each.instance_types) > 1 else ""
        sort = f"{each.instance_type or '-'}{' (spot)' if each.spot else ''}{more}"
        texts = (each.name, sort, each.zone or "-", str(len(each.pods)), counts.price(each.price_per_hour))
        rows.append([(Span(text),) for text in texts])
    priced = any(row[-1][0].text for row in rows)
    heads = ("NODE", "TYPE", "ZONE", "PODS", *(("PER HOUR",) if priced else ()))
    yield Table([row[: len(heads)] for row in rows], 2, heads, frozenset((3, 4)), optional=2)
    yield from notices.rest(len(launched) - entries, 2)
    if wide:
        for each in launched:
            yield Line((Span(f"{each.name}: ", "strong"), Span(", ".join(each.pods))), 2)
            yield line(f"instance types {', '.join(each.instance_types)}", indent=4)
            yield line(f"requirements {'; '.join(each.requirements) or 'none'}", indent=4)


def _existing(found: KarpenterAnswer) -> Iterator[Block]:
    if found.existing:
        names = notices.few([each.pod for each in found.existing], 3)
        text = f"Karpenter expects {counts.of(len(found.existing), 'pod')} on nodes that are there: {names}"
        yield line(text, indent=2)


def _pending(pending: Sequence[KarpenterStep], entries: int) -> Iterator[Block]:
    """Yield the pods for which Karpenter launches nothing, those with the same reasons together."""
    if not pending:
        return
    yield line("Karpenter would launch nothing for:", "strong")
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for each in pending:
        alike.setdefault(tuple(each.refusals.items()), []).append(each.pod)
    for refusals, pods in list(alike.items())[:entries]:
        yield Line((Span(notices.few(pods, 3), "bad"),), 2)
        for name, text in refusals:
            yield Line((Span(f"{name}: ", "strong"), Span(text)), 4)
    yield from notices.rest(len(alike) - entries, 2)


def _commands(found: KarpenterAnswer, entries: int, *, wide: bool) -> Iterator[Block]:
    if not found.commands:
        return
    yield line("what Karpenter would do, one after another:", "strong")
    rows: list[Sequence[Cell]] = []
    for each in found.commands[:entries]:
        new = each.replacement
        instead = f"{new.instance_type}{' (spot)' if new.spot else ''} in {new.zone or '-'}" if new else "-"
        names = notices.few(each.nodes, 3)
        texts = (each.method, names, instead, str(len(each.moved)), counts.price(each.saved_per_hour))
        rows.append([(Span(text),) for text in texts])
    priced = any(row[-1][0].text for row in rows)
    heads = ("METHOD", "NODES", "INSTEAD", "PODS", *(("SAVES",) if priced else ()))
    yield Table([row[: len(heads)] for row in rows], 2, heads, frozenset((3, 4)), optional=0)
    yield from notices.rest(len(found.commands) - entries, 2)
    if wide:
        for each in found.commands:
            for pod in each.moved:
                yield line(f"{pod.pod} to {pod.node}", indent=4)


def _steps(steps: Sequence[KarpenterStep]) -> Iterator[Block]:
    if not steps:
        return
    yield line("step by step, the largest pod first:", "strong")
    for each in steps:
        relaxed = f", without {', '.join(each.relaxed)}" if each.relaxed else ""
        left = f", {counts.of(each.instance_types, 'instance type')} left" if each.instance_types else ""
        verb = "launches" if each.launches else "joins"
        where = f"{verb} {each.node}" if each.node else "finds no node"
        yield line(f"{each.pod} {where}{left}{relaxed}", indent=2)


def _kept(found: KarpenterAnswer) -> Iterator[Block]:
    if not found.kept:
        return
    yield line("what keeps Karpenter from the others:", "strong")
    alike: dict[str, list[str]] = {}
    for each in found.kept:
        alike.setdefault(each.text, []).append(each.name)
    for text, names in alike.items():
        yield Line((Span(f"{notices.few(names, 4)}: ", "strong"), Span(text)), 2)
