"""The parts of an explanation that are read straight off an attempt: counts, reasons, preemption, matrix, one node.

Nothing is tried or concluded here. All of it must be read before the cluster changes again, since evidence is worked
out when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from schedctl.api import topology
from schedctl.api.resources import CPU, MEMORY, PODS
from schedctl.cache.nodes import NodeInfo
from schedctl.engine import attempts
from schedctl.engine.attempts import Attempt
from schedctl.explain import evidence, groups, scores
from schedctl.explain.allocations import allocations
from schedctl.explain.groups import ZoneOf
from schedctl.explain.plugin_texts import collect
from schedctl.explain.wordings import NODE_SET, find_wording
from schedctl.framework import wording
from schedctl.framework.reasons import kebab
from schedctl.framework.remedies import Rejection
from schedctl.framework.statuses import Cause, Code
from schedctl.reports import explanations
from schedctl.reports.reasons import Reason


def zones(outcome: Attempt) -> ZoneOf:
    """Return how to look up the zone of a node."""
    table = outcome.cluster.node_table
    return lambda name: topology.zone_of(table.labels.maps[table.row_of[name]])


def counts(outcome: Attempt) -> explanations.NodeCounts:
    """Return how many nodes took part."""
    if outcome.filtering is None:
        return explanations.NodeCounts(total=outcome.total_nodes)
    feasible = int(outcome.filtering.feasible.sum())
    seen = feasible + sum(1 for code in outcome.filtering.codes.tolist() if code != Code.SUCCESS)
    left_out = len(_nodes_excluded_by_pre_filter(outcome))
    return explanations.NodeCounts(
        total=outcome.total_nodes,
        judged=seen,
        feasible=feasible,
        left_out=left_out,
        unseen=outcome.total_nodes - seen - left_out,
    )


def pre_filter(outcome: Attempt) -> explanations.PreFilter:
    """Return what PreFilter said of the pod as a whole."""
    status = outcome.pre_filter
    nodes = outcome.pre_filter_nodes
    return explanations.PreFilter(
        code=status.code.label,
        plugin=status.plugin,
        reasons=list(status.reasons),
        nodes=sorted(nodes) if nodes is not None else None,
        narrowing_plugins=sorted(outcome.narrowing_plugins),
    )


def filter_steps(outcome: Attempt, reasons: list[Reason]) -> list[explanations.FilterStep]:
    """Return how many nodes each filter left of those before it, given who refused which node first."""
    if outcome.evaluated_column is None:
        return []
    refused = {reason.plugin: set[str]() for reason in reasons}
    for reason in reasons:
        refused[reason.plugin].update(name for group in reason.groups for name in group.nodes)
    number = counts(outcome)
    left, steps = number.total - number.unseen, []
    filters = [plugin.name for plugin in outcome.profile.filter]
    narrowing = ", ".join(sorted(outcome.narrowing_plugins)) if number.left_out else ""
    extenders = [extender.name for extender in outcome.profile.extenders if extender.filters]
    for position, plugin in enumerate((*([narrowing] if narrowing else ()), *filters, *extenders)):
        narrows = bool(narrowing) and position == 0
        # a plugin that narrows the search and filters as well has both under one name
        rejected = number.left_out if narrows else len(refused.get(plugin, ()))
        if not narrows and plugin == narrowing:
            rejected -= number.left_out
        left -= rejected
        skipped = not narrows and plugin in outcome.cycle.skip_filter
        steps.append(explanations.FilterStep(plugin=plugin, skipped=skipped, refused=rejected, left=left))
    return steps


def reasons(outcome: Attempt) -> list[Reason]:
    """Return why nodes were refused first, nodes that PreFilter left out included; or why the pod was as a whole."""
    status = outcome.pre_filter
    if status.is_rejected:
        plugin = status.plugin or ", ".join(sorted(outcome.narrowing_plugins))
        unnamed = Cause(f"{kebab(status.plugin)}/pre-filter" if status.plugin else NODE_SET, {})
        causes = status.causes or (unnamed,) * len(status.reasons)
        return [
            _whole_pod(outcome, plugin, status.code, text, cause)
            for text, cause in zip(status.reasons, causes, strict=True)
        ]
    return groups.reasons(_first_rejections(outcome), zones(outcome), outcome.profile)


def _whole_pod(outcome: Attempt, plugin: str, code: Code, text: str, cause: Cause) -> Reason:
    known = evidence.camel_case(cause.evidence)
    words = find_wording(outcome.profile, plugin, cause.reference)
    return Reason(
        reference=cause.reference,
        plugin=plugin,
        code=code.label,
        text=text,
        count=0,
        whole_pod=True,
        summary=(detail := words.detail(known) if known else ""),
        detail=detail,
        diagnosis=list(words.diagnosis([known])) if known else [],
        evidence=known,
    )


def reasons_of(outcome: Attempt, node: str) -> list[Reason]:
    """Return why one node was refused first; empty where it was not."""
    if outcome.pre_filter.is_rejected:
        return reasons(outcome)
    return groups.reasons(
        (refused for refused in _first_rejections(outcome) if refused.node == node), zones(outcome), outcome.profile
    )


def nodes_at_fault(outcome: Attempt) -> list[str]:
    """Return the nodes, beside the one at which the cycle ended, on which a filter would have failed as well."""
    filtering = outcome.filtering
    if filtering is None or not outcome.failed_on:
        return []
    return sorted({filtering.nodes.names[position] for position in filtering.faults} - {outcome.failed_on})


def notes(outcome: Attempt) -> list[str]:
    """Return what filters have to say of their answers, such as what they could not judge."""
    found: list[str] = []
    if outcome.filtering is not None:
        for plugin in outcome.profile.filter:
            found += collect(plugin, "notes", partial(plugin.notes, outcome.cycle.scratch()), str, found.append)
    return found


def matrix(outcome: Attempt) -> explanations.Matrix:
    """Return what every filter says of every node that was judged, without nominated pods."""
    if outcome.evaluated_column is None:
        return explanations.Matrix(filters=[], patterns=[])
    nodes, zone_of = outcome.evaluated_column, zones(outcome)
    refusals = {
        plugin: list(evidence.all_rejections(plugin, verdicts, nodes))
        for plugin, verdicts in attempts.matrix(outcome).items()
    }
    every = [refused for found in refusals.values() for refused in found]
    return explanations.Matrix(
        filters=_filters(outcome, refusals),
        patterns=groups.patterns(nodes.names, every, zone_of),
    )


def node(outcome: Attempt, name: str, ranking: list[explanations.NodeScore]) -> explanations.NodeDetail:
    """Return everything about one node."""
    column = outcome.cluster.nodes_named([name])
    info = NodeInfo(column, 0)
    refusals = {
        plugin: list(evidence.rejections_at(plugin, verdicts, column, 0))
        for plugin, verdicts in attempts.matrix(outcome, column).items()
        if verdicts.mask[0]
    }
    score = next((score for score in ranking if score.node == name), None)
    beaten = score is not None and score.node != outcome.chosen
    return explanations.NodeDetail(
        name=name,
        verdict=_verdict(outcome, name, score),
        labels=dict(sorted(info.labels.items())),
        taints=[wording.taint(evidence.plain(taint)) for taint in info.taints],
        unschedulable=info.object.spec.unschedulable,
        pods=len(info.pods),
        resources=_resources(outcome, info),
        filters=_filters(outcome, refusals),
        score=score,
        rank=scores.rank(ranking, score) if score is not None else 0,
        comparison=scores.compare(ranking[0], score) if score is not None and beaten else None,
        takes=allocations(outcome, name) if score is not None else [],
    )


def _first_rejections(outcome: Attempt) -> Iterator[Rejection]:
    if outcome.filtering is None:
        return
    yield from evidence.first_rejections(outcome.filtering)
    plugins = sorted(outcome.narrowing_plugins)
    text = f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}]"
    for name in _nodes_excluded_by_pre_filter(outcome):
        numbers = {"searched": sorted(outcome.pre_filter_nodes or ())}
        yield Rejection(", ".join(plugins), NODE_SET, text, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, name, numbers)


def _nodes_excluded_by_pre_filter(outcome: Attempt) -> list[str]:
    """The nodes that PreFilter left out of the search; none where a nominated node alone was looked at."""
    if outcome.evaluated_column is None or outcome.pre_filter_nodes is None or outcome.nominated_first:
        return []
    searched = set(outcome.evaluated_column.names)
    return [name for name in outcome.cluster.nodes_by_name.names if name not in searched]


def _filters(outcome: Attempt, refusals: dict[str, list[Rejection]]) -> list[explanations.PluginRefusals]:
    """Return what filters refuse, and extenders that filter after them; those were asked about what was left."""
    found = [
        _plugin_refusals(outcome, plugin.name, outcome.evaluated_column is not None, refusals)
        for plugin in outcome.profile.filter
    ]
    called = outcome.consultation.answered if outcome.consultation is not None else ()
    filtering = [extender.name for extender in outcome.profile.extenders if extender.filters]
    return found + [_plugin_refusals(outcome, name, name in called, refusals) for name in filtering]


def _plugin_refusals(
    outcome: Attempt, plugin: str, was_called: bool, refusals: dict[str, list[Rejection]]
) -> explanations.PluginRefusals:
    found = refusals.get(plugin, [])
    return explanations.PluginRefusals(
        plugin=plugin,
        asked=was_called and plugin not in outcome.cycle.skip_filter,
        refused=len({refused.node for refused in found}),
        reasons=groups.reasons(found, zones(outcome), outcome.profile),
    )


def _verdict(outcome: Attempt, name: str, score: explanations.NodeScore | None) -> explanations.NodeVerdict:
    if score is not None:
        return explanations.NodeVerdict.FEASIBLE
    if outcome.filtering is None or outcome.evaluated_column is None:
        return explanations.NodeVerdict.REFUSED if outcome.pre_filter.is_rejected else explanations.NodeVerdict.UNSEEN
    if name not in outcome.evaluated_column.names:
        return explanations.NodeVerdict.UNSEEN if outcome.nominated_first else explanations.NodeVerdict.LEFT_OUT
    refused = outcome.filtering.codes[outcome.evaluated_column.names.index(name)] != Code.SUCCESS
    return explanations.NodeVerdict.REFUSED if refused else explanations.NodeVerdict.UNSEEN


def _resources(outcome: Attempt, info: NodeInfo) -> list[explanations.ResourceUse]:
    requests = {**outcome.pod.demand.fit_requests, PODS: 1}
    uses = []
    for resource in dict.fromkeys((CPU, MEMORY, PODS, *sorted(requests))):
        allocatable = info.allocatable(resource)
        used = len(info.pods) if resource == PODS else info.requested(resource)
        uses.append(
            explanations.ResourceUse(
                resource=resource,
                allocatable=allocatable,
                used=used,
                free=allocatable - used,
                requested=requests.get(resource, 0),
            )
        )
    return uses
