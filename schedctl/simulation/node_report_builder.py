"""Makes the `NodesReport` of a plan or of a shrink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from schedctl.api.resources import CPU, MEMORY
from schedctl.autoscaling.detection import NodeGroups
from schedctl.autoscaling.groups import NodeGroup
from schedctl.autoscaling.judgements import GroupJudgement
from schedctl.cache.cluster import Cluster
from schedctl.reports import counts, exit_codes, nodes
from schedctl.reports.metadata import Metadata, ReportedAssumption
from schedctl.reports.nodes import BoundProof, NodesQuestion
from schedctl.simulation.scale_downs.removals import Removal, ScaleDown
from schedctl.simulation.scale_ups.planning import ScaleUp
from schedctl.workloads import ownership


class Conditions(msgspec.Struct, frozen=True):
    """What is the same in both reports.

    Attributes:
        metadata: under which conditions.
        groups: the groups of nodes.
        notes: what is not considered.
        fail: whether a "no" makes the exit code 1 (``--exit-code``).
        guesses: what the answer rests on that is not known.
    """

    metadata: Metadata
    groups: NodeGroups
    notes: Sequence[str] = ()
    fail: bool = False
    guesses: Sequence[ReportedAssumption] = ()

    @property
    def every_note(self) -> list[str]:
        """What is not considered, of groups and otherwise."""
        return list(dict.fromkeys((*self.groups.notes, *self.notes)))


def plan_report(
    facts: ScaleUp,
    cluster: Cluster,
    conditions: Conditions,
    *,
    use: Mapping[str, Mapping[str, float]],
    refusals: Mapping[str, Sequence[GroupJudgement]],
    expander: str = "",
) -> nodes.NodesReport:
    """Return the report of a plan.

    Args:
        facts: the plan.
        cluster: the cluster, with the pods and without new nodes.
        conditions: what is the same in both reports.
        use: how much of each new node is requested in the end, in percent by resource.
        refusals: by key of a pod that stays pending, why new nodes do not help it.
        expander: whose choice it is, "" for the best found.
    """
    placement, minimize = facts.placement, facts.objective
    placed = placement.placed if placement is not None else {}
    new = placement.nodes if placement is not None else {}
    results = [_group(group, facts, use, {}) for group in conditions.groups.groups]
    added = sum(each.count for each in results)
    pending = len(facts.unplaced) + sum(info.key not in placed for info in facts.pods)
    prices = [option.template.price for option, count in zip(facts.options, facts.counts, strict=True) if count]
    known = [price for price in prices if price is not None]
    counted = [count for count in facts.counts if count]
    cost = (
        sum(price * count for price, count in zip(known, counted, strict=True)) if len(known) == len(prices) else None
    )
    nothing = placement is None or not added or facts.interrupted
    summary = nodes.NodesSummary(
        exit_code=_exit_code(conditions, failed=pending > 0, interrupted=facts.interrupted),
        text=_plan_text(results, facts, pending),
        nodes=len(cluster.node_table.row_of),
        added=added,
        pods=facts.fitting + len(facts.pods) + len(facts.unplaced),
        fitting=facts.fitting,
        placed=len(placed),
        pending=pending,
        preempting=facts.preempting,
        cost_per_hour=round(cost, 6) if cost is not None and added else None,
        bound=round(facts.bound.value, 6),
        bound_by=BoundProof.NOTHING if nothing and facts.bound.value == 0 else facts.bound.by,
        gap=round(facts.gap, 4),
        tried=facts.tried,
        interrupted=facts.interrupted,
    )
    return nodes.NodesReport(
        metadata=conditions.metadata,
        question=NodesQuestion.ADD,
        minimize=minimize,
        expander=expander,
        summary=summary,
        groups=results,
        placements=[nodes.PlacedPod(pod=pod, node=node, new=node in new) for pod, node in placed.items()],
        pending=_unplaced(facts, cluster, refusals),
        unpriced=_unpriced(conditions.groups) if minimize == "cost" else [],
        search=[
            nodes.PlanProposal(
                by=each.by, groups=_by_group(facts, each.counts), cost=round(each.cost, 6), complete=each.complete
            )
            for each in facts.proposals
        ],
        notes=conditions.every_note,
        guesses=list(conditions.guesses),
    )


def shrink_report(facts: ScaleDown, cluster: Cluster, conditions: Conditions) -> nodes.NodesReport:
    """Return the report of a shrink.

    Args:
        facts: the shrink.
        cluster: the cluster.
        conditions: what is the same in both reports.
    """
    group_of = {name: group.name for group in conditions.groups.groups for name in group.nodes}
    removed = Counter(group_of.get(each.name, "") for each in facts.removals)
    prices = [each.price for each in facts.removals]
    known = [price for price in prices if price is not None]
    going, moved = len(facts.removals), sum(len(each.moved) for each in facts.removals)
    limited = "so far: " if facts.interrupted else ""
    text = f"{limited}{going} of {counts.nodes(facts.nodes)} can go" if going else f"{limited}no node can go"
    bound = max(facts.bound, going)
    summary = nodes.NodesSummary(
        exit_code=_exit_code(conditions, failed=not going, interrupted=facts.interrupted),
        text=text,
        nodes=facts.nodes,
        removed=going,
        pods=moved + sum(len(each.lost) for each in facts.removals),
        placed=moved,
        waiting=len(cluster.pending),
        cost_per_hour=round(sum(known), 6) if known and len(known) == len(prices) else None,
        bound=bound,
        bound_by=BoundProof.NOTHING if facts.interrupted else facts.bound_by,
        gap=round((bound - going) / bound, 4) if bound else 0.0,
        tried=facts.tried,
        interrupted=facts.interrupted,
    )
    return nodes.NodesReport(
        metadata=conditions.metadata,
        question=NodesQuestion.SHRINK,
        summary=summary,
        groups=[_group(group, None, {}, removed) for group in conditions.groups.groups],
        nodes=[_removal(each, group_of) for each in facts.removals],
        kept=[
            nodes.KeptNode(
                name=name,
                group=group_of.get(name, ""),
                keeper=why.keeper,
                text=why.text,
                pods=list(why.pods),
                message=why.message,
            )
            for name, why in sorted(facts.kept.items())
        ],
        preempted=facts.preempted,
        notes=conditions.every_note,
        guesses=list(conditions.guesses),
    )


def _unpriced(groups: NodeGroups) -> list[str]:
    """Return the groups of which nodes have no price, which the search for the cheapest plan passes over."""
    return [group.name for group in groups.groups if any(each.price is None for each in group.templates)]


def _exit_code(conditions: Conditions, *, failed: bool, interrupted: bool) -> int:
    if interrupted:
        return exit_codes.INTERRUPTED
    unclear = bool(conditions.guesses)
    return exit_codes.of_answer(failed=conditions.fail and failed and not unclear, inconclusive=unclear)


def _plan_text(results: Iterable[nodes.GroupResult], facts: ScaleUp, pending: int) -> str:
    """Return ``add 5 nodes: 5 general``, or that none is needed, or helps."""
    parts = [f"{each.count} {each.name}" for each in results if each.count]
    total = sum(each.count for each in results)
    limited = "so far: " if facts.interrupted else ""
    stays = f"{counts.of(pending, 'pod')} would stay pending"
    if facts.interrupted and facts.placement is None:
        return "interrupted before a plan was found"
    if parts:
        return f"{limited}add {counts.nodes(total)}: {', '.join(parts)}{f'; {stays}' if pending else ''}"
    if not (facts.pods or facts.unplaced or facts.fitting):
        return "no pod is waiting for a node"
    if pending and not facts.fitting:
        return f"{limited}no new node helps: {stays}"
    if pending:
        return f"{limited}no new node helps: {facts.fitting} would be placed without one, {stays}"
    return f"{limited}no new node is needed: {counts.of(facts.fitting, 'pod')} would be placed on the nodes there are"


def _by_group(facts: ScaleUp, plan: Sequence[int]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for option, count in zip(facts.options, plan, strict=True):
        if count:
            found[option.group.name] += count
    return dict(sorted(found.items()))


def _group(
    group: NodeGroup, facts: ScaleUp | None, use: Mapping[str, Mapping[str, float]], removed: Mapping[str, int]
) -> nodes.GroupResult:
    new = _new_nodes(group, facts, use) if facts is not None else []
    first = group.templates[0] if group.templates else None
    return nodes.GroupResult(
        name=group.name,
        origin=group.origin,
        autoscaler=str(group.autoscaler),
        nodes=len(group.nodes),
        count=sum(each.count for each in new),
        remove=removed.get(group.name, 0),
        min_size=group.min_size,
        max_size=group.max_size,
        limits=dict(group.limits),
        new=new,
        template=[nodes.TemplatePart(part=each.name, origin=each.origin) for each in first.fields] if first else [],
        labels=dict(sorted((first.node.metadata.labels or {}).items())) if first else {},
        taints=[_taint(each.key, each.value, each.effect) for each in first.node.spec.taints or ()] if first else [],
        startup_taints=[_taint(each.key, each.value, each.effect) for each in group.startup_taints],
        allocatable={k: str(v) for k, v in (first.node.status.allocatable or {}).items()} if first else {},
        notes=list(group.notes),
    )


def _taint(key: str, value: str, effect: str) -> str:
    return f"{key}{f'={value}' if value else ''}:{effect}"


def _new_nodes(group: NodeGroup, facts: ScaleUp, use: Mapping[str, Mapping[str, float]]) -> list[nodes.NewNodes]:
    placement = facts.placement
    if placement is None:
        return []
    pods = Counter(placement.placed.values())
    found = []
    for number, (option, count) in enumerate(zip(facts.options, placement.counts, strict=True)):
        if option.group.name != group.name or not count:
            continue
        names = [name for name, each in placement.nodes.items() if each == number]
        shares = {
            resource: round(sum(use.get(name, {}).get(resource, 0.0) for name in names) / len(names), 1)
            for resource in (CPU, MEMORY)
        }
        found.append(
            nodes.NewNodes(
                zone=option.template.zone,
                instance_type=option.template.instance_type,
                spot=option.template.spot,
                count=count,
                pods=sum(pods[name] for name in names),
                price_per_hour=option.template.price,
                requests=shares,
                nodes=names,
            )
        )
    return found


def _unplaced(
    facts: ScaleUp, cluster: Cluster, refusals: Mapping[str, Sequence[GroupJudgement]]
) -> list[nodes.UnplacedPods]:
    """Return the pods that no new node helps, those of a workload with the same reasons together."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[nodes.GroupRefusal]] = {}
    for info in facts.unplaced:
        why = [
            nodes.GroupRefusal(group=each.group.name, obstacle=each.obstacle, text=each.text)
            for each in refusals.get(info.key, ())
            if each.obstacle is not None
        ]
        gang = facts.gang_of.get(info.key, "")
        key = (
            f"PodGroup {gang}" if gang else ownership.owner_name(info.key, cluster) or f"Pod {info.key}",
            tuple((each.group, each.text) for each in why),
        )
        found.setdefault(key, []).append(info.key)
        groups[key] = why
    return [nodes.UnplacedPods(owner=key[0], pods=pods, groups=groups[key]) for key, pods in found.items()]


def _removal(removal: Removal, group_of: Mapping[str, str]) -> nodes.RemovedNode:
    return nodes.RemovedNode(
        name=removal.name,
        group=group_of.get(removal.name, ""),
        moved=[nodes.PlacedPod(pod=pod, node=node) for pod, node in sorted(removal.moved.items())],
        lost=list(removal.lost),
        frees=dict(removal.frees),
        price_per_hour=removal.price,
    )
